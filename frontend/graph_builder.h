// Builds a Relax function from its definition: parameters, blocks, bindings, calls, with inference of every
// type. What a name outside the function means is asked of `Globals`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "frontend/context.h"
#include "frontend/scalar_reader.h"
#include "frontend/type_reader.h"
#include "ir/builder.h"
#include "ir/op.h"

namespace relish {

// A function of the module as its callers see it.
struct GlobalMeaning {
  Expr reference;  // a GlobalRef with the function's type; the error type when its declaration is wrong
  PrimFuncPtr prim_func;  // null for Relax functions, and for prim_funcs that are wrong
  bool is_prim_func = false;
};

class Globals {
 public:
  virtual ~Globals() = default;
  virtual std::optional<GlobalMeaning> find_global(const std::string& name, Span use) = 0;
  // Whether `name` is the module that is being read (`cls = name`, `name.f`).
  virtual bool is_module(const std::string& name) const = 0;
  // Whether `name` is another module of the text or session.
  virtual bool is_other_module(const std::string& name) const = 0;
  // The name under which a function of a loaded module is linked into this one; nothing when `module` is none
  // of those that the text loads.
  virtual std::optional<std::string> linked_function(const std::string& module, const std::string& function,
                                                     Span use) = 0;
  virtual std::vector<std::string> global_names() const = 0;
  // A tensor of the section of large constants; null when it has no such entry.
  virtual const Tensor* find_constant(const std::string& name) = 0;
};

class GraphBuilder : public ScalarScope {
 public:
  GraphBuilder(ReadContext& context, Globals& globals, const ast::FunctionDefinition& definition);

  // The signature alone; called once, before `build`. Reports what is wrong in it.
  void read_header();
  // From the header: complete when the result is annotated.
  FunctionType signature() const;
  bool has_result_annotation() const { return annotated_result_.has_value(); }
  bool header_failed() const { return header_failed_; }

  // Reports what is wrong, statement by statement; null when the function cannot be made at all.
  FunctionPtr build(CommentsPtr comments, bool is_private, bool pure, Attributes attributes);

  ScalarMeaning find(const std::string& name, Span use) override;
  std::vector<std::string> names() const override;

 private:
  struct Bound {
    Var var;
    std::optional<Scalar> scalar;
  };  // scalar: what the variable is as a dimension
  struct ModuleAlias {};
  struct Refused {};  // its binding was wrong: silent
  struct Hidden {     // local to a dataflow block that has ended
    Span behind;      // where R.output would list it: its last name, or its bracket when it lists none
    bool first = false;
  };
  using Meaning = std::variant<Bound, Scalar, ModuleAlias, Refused, Hidden>;
  struct Entry {
    Meaning meaning;
    Span span;
  };
  using Frame = std::map<std::string, Entry>;

  // graph_builder.cpp: the function and its statements.
  void read_param(const ast::Parameter& parameter);
  void declare_symbols();
  void read_block(const ast::Block& body, bool top_level);
  void read_statement(const ast::Statement& statement, bool top_level);
  void read_dataflow(const ast::Statement& statement, const ast::With& with);
  void read_expression(const ast::Statement& statement, const ast::Expr& expr);
  void read_assignment(const ast::Statement& statement, const ast::Assignment& assignment);
  void read_match_cast(const ast::Statement& statement, const ast::Expr& target, const ast::Expr* annotation,
                       const ast::Call& call);
  void bind_target(const ast::Statement& statement, const ast::Expr& target, const ast::Expr* annotation,
                   Expr value, const ast::Expr* written);
  void bind_tuple(const ast::Statement& statement, const ast::TupleValue& names, Expr value, Span at);
  void append_binding(const ast::Statement& statement, const std::string& name, Span name_span, Type type,
                      Expr value, bool annotated);
  void read_return(const ast::Statement& statement, const ast::Return& returned);
  void finish_result_type(Span at);
  void check_symbols();
  Type annotated_type(const ast::Expr& annotation, const Type& inferred, const std::string& name,
                      Span value_span);

  // graph_expressions.cpp: values.
  Expr value(const ast::Expr& expr);
  Expr single_value(const ast::Expr& expr);
  Expr leaf(const ast::Expr& expr);
  Expr name_value(const ast::Expr& expr, const std::string& name);
  Expr call(const ast::Expr& expr, const ast::Call& call);
  Expr call_global(const GlobalMeaning& meaning, const ast::Expr& expr, const ast::Call& call);
  Expr chain(const ast::Expr& expr, const ast::Expr& first, const std::vector<ast::Link>& links);
  Expr combine(const ast::Link& link, const ast::Expr* left_written, Expr left, Span span);
  std::optional<Scalar> known_scalar(const Expr& value);
  Expr prefix(const ast::Expr& expr, const ast::Prefix& prefix);
  Expr subscript(const ast::Expr& expr, const ast::Subscript& subscript);
  Expr tuple_of(const std::vector<ast::ExprPtr>& items, Span at);
  Expr make_op_call(const Op& op, std::vector<Expr> args, Attributes attributes, Span span);
  Expr literal_beside(const ast::Expr& literal, DType dtype);
  std::vector<Expr> call_arguments(const ast::Call& call);
  Expr checked(const std::function<Expr()>& make, Span span, ExprKind kind);

  // graph_calls.cpp: operators and the forms with rules of their own.
  Expr operator_call(const std::string& name, const ast::Expr& expr, const ast::Call& call,
                     const ast::Expr* receiver);
  std::optional<Expr> special_call(const std::string& name, const ast::Expr& expr, const ast::Call& call);
  Expr call_tir(const ast::Expr& expr, const ast::Call& call);
  void read_out_types(const ast::Call& call, const ast::Expr* third, const ast::Expr* dtype,
                      std::vector<Type>& types, bool& tuple_result);
  // `types`: of the result, as written.
  void check_call_tir(const PrimFunc& function, const CallTir& call, Span span, Span types);
  Expr constant_of(const ast::Expr& expr, const ast::Call& call);
  Expr named_constant(const ast::Expr& expr, const ast::Call& call);

  Entry* look_up(const std::string& name);
  std::optional<std::string> module_member(const ast::Expr& callee);
  [[noreturn]] void unknown_name(const std::string& name, Span at);
  [[noreturn]] void type_error(Span at, std::string_view id, std::string message) const {
    fail(ErrorClass::Type, at, id, std::move(message));
  }
  void bind(const std::string& name, Meaning meaning, Span at) {
    frames_.back().insert_or_assign(name, Entry{std::move(meaning), at});
  }
  void refuse_names(const ast::Statement& statement);
  CommentsPtr take_comments(const CommentsPtr& own);
  void open_plain_block();

  ReadContext& context_;
  Globals& globals_;
  const ast::FunctionDefinition& definition_;
  SymbolTable symbols_;
  ScalarReader scalars_;
  TypeReader types_;
  FunctionBuilder builder_;
  std::vector<Frame> frames_;
  std::vector<Var> params_;
  std::optional<Type> annotated_result_;
  bool header_failed_ = false;

  std::unordered_map<const ast::Expr*, Expr> receivers_;  // of the long chain that is being built
  Function function_;
  bool block_open_ = false;
  bool returned_ = false;
  Comments pending_;  // of lines that are no bindings: kept for the next one
  // In a dataflow block: for each output, the statement that binds it last.
  std::map<std::string, const ast::Statement*> outputs_;
  bool in_dataflow_ = false;
  std::vector<std::pair<Span, CommentsPtr>>
      block_comments_;  // of dataflow blocks, by the place of their header
};

}  // namespace relish
