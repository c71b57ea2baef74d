// What names mean while a Relax function is read: the lowest of the layers that GraphBuilder is made of
// (names, blocks, values, calls, bindings, control, the function). Each is a page that needs those below
// only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/context.h"
#include "frontend/graph/globals.h"
#include "frontend/types/scalar_reader.h"
#include "frontend/types/type_reader.h"
#include "ir/scalars/symbols.h"

namespace relish {

// The type with every shape that mentions a variable outside `known` reduced to its rank.
Type without_hidden_symbols(const Type& type, const SymbolList& known);

class GraphNames : public ScalarScope {
 public:
  ScalarMeaning find(const std::string& name, Span use) override;
  std::vector<std::string> names() const override;
  Scalar dimension_of(const std::string& tensor, std::int64_t axis) override;
  Scalar dimension_in(const std::string& shape, std::int64_t axis) override;

 protected:
  // `outer`: of the function that this one is nested in, or null.
  GraphNames(ReadContext& context, Globals& globals, const ast::FunctionDefinition& definition,
             GraphNames* outer);

  struct Bound {
    Var var;
    std::optional<Scalar> scalar;                            // what the variable is as a dimension
    const ast::Expr* number = nullptr;                       // the plain number that it was bound to
    std::optional<std::vector<Scalar>> dims = std::nullopt;  // what the fields of a tuple are as dimensions
  };
  struct ModuleAlias {};
  struct Device {  // `d = I.vdevice("llvm")`: a name for a device, of which there are no values
    std::string text;
  };
  struct Refused {};  // its binding was wrong: silent
  struct Hidden {     // local to a dataflow block that has ended
    Span behind;      // where R.output would list it: its last name, or its bracket when it lists none
    bool first = false;
    bool missing = false;  // the block has no R.output: `behind` is all that stands in it
  };
  // Bound in the text, but not for this use; `why` completes "found 'y', ".
  struct Unavailable {
    std::string why;
    std::string note;
  };
  using Meaning = std::variant<Bound, Scalar, ModuleAlias, Refused, Hidden, Unavailable, Device>;
  struct Entry {
    Meaning meaning;
    Span span;
  };
  using Frame = std::map<std::string, Entry>;

  Entry* look_up(const std::string& name);
  void bind(const std::string& name, Meaning meaning, Span at) {
    frames_.back().insert_or_assign(name, Entry{std::move(meaning), at});
  }
  // Those that the statement would have bound.
  void refuse_names(const ast::Statement& statement);
  [[noreturn]] void unknown_name(const std::string& name, Span at);
  // The function that `cls.f` names.
  std::optional<std::string> module_member(const ast::Expr& callee);
  // Symbols with a value where the function stands that this one is nested in.
  const std::vector<ScalarVar>& determined_around() const;
  [[noreturn]] void type_error(Span at, std::string_view id, std::string message) const {
    fail(ErrorClass::Type, at, id, std::move(message));
  }

  ReadContext& context_;
  Globals& globals_;
  const ast::FunctionDefinition& definition_;
  GraphNames* const outer_;
  SymbolTable own_symbols_;
  SymbolTable& symbols_;  // nested functions share those of the outermost
  std::vector<Frame> frames_;
  std::vector<ScalarVar> determined_;  // symbols with a value at this place of the text
};

}  // namespace relish
