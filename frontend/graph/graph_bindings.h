// Bindings of Relax functions: assignments, unpacking of tuples, match_cast, stacks.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/graph/graph_calls.h"

namespace relish {

class GraphBindings : public GraphCalls {
 protected:
  using GraphCalls::GraphCalls;

  void read_assignment(const ast::Statement& statement, const ast::Assignment& assignment);
  void read_augmented(const ast::Statement& statement, const ast::AugmentedAssignment& augmented);
  void bind_target(const ast::Statement& statement, const ast::Expr& target, const ast::Expr* annotation,
                   const Expr& value, const ast::Expr* written);
  void bind_tuple(const ast::Statement& statement, const ast::TupleValue& names, const Expr& value,
                  const ast::Expr& written);
  void bind_fields(const ast::Statement& statement, const ast::TupleValue& names, const Expr& value,
                   const ast::Expr& written);
  // `number`: what the value is written as where that is a number.
  void append_binding(const ast::Statement& statement, const std::string& name, Span name_span,
                      const Type& type, const Expr& value, bool annotated, const ast::Expr* number = nullptr);
  Type annotated_type(const ast::Expr& annotation, const Type& inferred, const std::string& name,
                      Span value_span);
  void refuse_unknown_namespace(const ast::Expr& expr);
  // A tuple with one field given anew, for `target = value`, which assigns to the field.
  std::vector<DiagnosticNote> tuple_with_field(const ast::Expr& target, const ast::Expr& value);

  void read_match_cast(const ast::Statement& statement, const ast::Expr* target, const ast::Expr* annotation,
                       const ast::Call& call);
  void read_match_shape(const ast::Statement& statement, const ast::Expr* target, const ast::Expr* annotation,
                        const ast::Call& call);
  void append_match_cast(const ast::Statement& statement, const ast::Expr* target,
                         const ast::Expr* annotation, Expr from, const Type& type, Span at);
  void append_checked(const ast::Statement& statement, const std::string& name, Span name_span,
                      const Expr& from, const Type& type, bool annotated,
                      const std::optional<Type>& bound = std::nullopt);

  void read_new_stack(const ast::Statement& statement, const ast::Expr& target, const ast::Expr* annotation,
                      const ast::Call& call);
};

}  // namespace relish
