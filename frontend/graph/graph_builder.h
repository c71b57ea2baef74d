// Builds a Relax function from its definition: parameters, statements, result, with inference of every type.
// What a name outside the function means is asked of `Globals`. The upmost of the layers that begin with
// graph_names.h.
#pragma once

#include <optional>
#include <vector>

#include "frontend/graph/graph_control.h"
#include "frontend/module/decorators.h"

namespace relish {

class GraphBuilder final : public GraphControl {
 public:
  // `outer`: of the function that this one is nested in, or null.
  GraphBuilder(ReadContext& context, Globals& globals, const ast::FunctionDefinition& definition,
               GraphBuilder* outer = nullptr);

  // The signature alone; called once, before `build`. Reports what is wrong in it.
  void read_header();
  // From the header: complete when the result is annotated.
  FunctionType signature() const;
  bool has_result_annotation() const { return annotated_result_.has_value(); }
  bool header_failed() const { return header_failed_; }

  // Reports what is wrong, statement by statement; null when the function cannot be made at all.
  FunctionPtr build(CommentsPtr comments, const FunctionOptions& options);

 private:
  // graph_builder.cpp: header, result, symbols.
  void declare_symbols();
  void read_param(const ast::Parameter& parameter);
  void refuse_lost_values(const ast::Expr& annotation);
  void read_return(const ast::Statement& statement, const ast::Return& returned);
  void give_back(Expr result, Span at);
  void finish_result_type(Span at);
  // The variable bound last that a function without a return can give back, as a line to add.
  std::vector<DiagnosticNote> missing_return();
  void check_symbols();

  // graph_statements.cpp
  void read_block(const ast::Block& body, Place place) override;
  void read_statement(const ast::Statement& statement, Place place);
  void read_one_statement(const ast::Statement& statement, Place place);
  void read_dataflow(const ast::Statement& statement, const ast::With& with);
  void read_expression(const ast::Statement& statement, const ast::Expr& expr);
  void read_returning_if(const ast::Statement& statement, const ast::If& branches);
  Expr returned_by(const ast::Statement& statement, const ast::If& branches, std::size_t at);
  Expr returned_by(const ast::Block& body);

  // graph_functions.cpp: nested functions, purity.
  void read_nested(const ast::Statement& statement, const ast::FunctionDefinition& definition);
  void check_purity();
  void check_effects(const std::vector<BindingBlock>& blocks, bool pure);

  std::vector<Var> params_;
  std::optional<Type> annotated_result_;
  bool header_failed_ = false;
  Function function_;
  bool returned_ = false;
};

}  // namespace relish
