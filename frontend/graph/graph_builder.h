// Builds a Relax function from its definition: parameters, blocks, bindings, calls, with inference of every
// type. What a name outside the function means is asked of `Globals`.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "frontend/context.h"
#include "frontend/module/decorators.h"
#include "frontend/names/liveness.h"
#include "frontend/types/scalar_reader.h"
#include "frontend/types/type_reader.h"
#include "ir/calls/call_layout.h"
#include "ir/nodes/builder.h"
#include "ir/operators/op.h"
#include "ir/scalars/symbols.h"

namespace relish {

// A function of the module as its callers see it.
struct GlobalMeaning {
  Expr reference;  // a GlobalRef with the function's type; the error type when its declaration is wrong
  PrimFuncPtr prim_func;  // null for Relax functions, and for prim_funcs that are wrong
  bool is_prim_func = false;
  bool is_extern = false;
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

// The type with every shape that mentions a variable outside `known` reduced to its rank.
Type without_hidden_symbols(const Type& type, const SymbolList& known);

class GraphBuilder final : public ScalarScope, public ShapeScope {
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

  ScalarMeaning find(const std::string& name, Span use) override;
  std::vector<std::string> names() const override;
  std::optional<ShapeType> shape_of(const ast::Expr& expr) override;
  std::optional<Type> type_of(const ast::Expr& expr) override;

 private:
  struct Bound {
    Var var;
    std::optional<Scalar> scalar;
  };  // scalar: what the variable is as a dimension
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
  // What a statement stands in.
  enum class Place : std::uint8_t { Function, Dataflow, Branch, Loop };

  // graph_builder.cpp: the function and its statements.
  void read_param(const ast::Parameter& parameter);
  void refuse_lost_values(const ast::Expr& annotation);
  void declare_symbols();
  void read_block(const ast::Block& body, Place place);
  void read_statement(const ast::Statement& statement, Place place);
  void read_dataflow(const ast::Statement& statement, const ast::With& with);
  void read_expression(const ast::Statement& statement, const ast::Expr& expr);
  void read_assignment(const ast::Statement& statement, const ast::Assignment& assignment);
  bool is_untyped_stack(const ast::Expr& annotation);
  std::pair<Expr, Type> new_stack(const ast::Call& call, const ast::Expr* annotation);
  void read_new_stack(const ast::Statement& statement, const ast::Expr& target, const ast::Expr* annotation,
                      const ast::Call& call);
  void read_match_cast(const ast::Statement& statement, const ast::Expr* target, const ast::Expr* annotation,
                       const ast::Call& call);
  void read_match_shape(const ast::Statement& statement, const ast::Expr* target, const ast::Expr* annotation,
                        const ast::Call& call);
  void append_match_cast(const ast::Statement& statement, const ast::Expr* target,
                         const ast::Expr* annotation, Expr from, const Type& type, Span at);
  static bool promises_more(const Type& value, const Type& wanted);
  Expr checked(Expr from, const Type& type, Span span);
  void append_checked(const ast::Statement& statement, const std::string& name, Span name_span,
                      const Expr& from, const Type& type, bool annotated,
                      const std::optional<Type>& bound = std::nullopt);
  void bind_target(const ast::Statement& statement, const ast::Expr& target, const ast::Expr* annotation,
                   const Expr& value, const ast::Expr* written);
  void bind_tuple(const ast::Statement& statement, const ast::TupleValue& names, const Expr& value, Span at);
  void append_binding(const ast::Statement& statement, const std::string& name, Span name_span,
                      const Type& type, const Expr& value, bool annotated);
  void read_augmented(const ast::Statement& statement, const ast::AugmentedAssignment& augmented);
  void read_return(const ast::Statement& statement, const ast::Return& returned);
  void give_back(Expr result, Span at);
  void finish_result_type(Span at);
  // The variable bound last that a function without a return can give back, as a line to add.
  std::vector<DiagnosticNote> missing_return();
  // A tuple with one field given anew, for `target = value`, which assigns to the field.
  std::vector<DiagnosticNote> tuple_with_field(const ast::Expr& target, const ast::Expr& value);
  void check_symbols();
  Type annotated_type(const ast::Expr& annotation, const Type& inferred, const std::string& name,
                      Span value_span);

  // graph_control.cpp: ifs and loops.
  struct OpenRegion {
    std::vector<BindingBlock> outer;
    std::size_t determined;
  };
  struct Arm {
    Region region;
    Frame names;
  };
  // A name that comes out of an if.
  struct BranchResult {
    std::uint64_t order;  // of the results, as the branches bind them
    std::string name;
    Expr then_value, else_value;
  };
  struct LoopText;
  OpenRegion open_region();
  Arm close_region(OpenRegion outer);
  std::vector<BindingBlock> take_blocks();
  const Liveness& liveness();
  std::optional<Expr> value_before(const std::string& name, Span at);
  void read_if(const ast::Statement& statement, const ast::If& branches);
  void read_branches(const ast::Statement& statement, const ast::If& branches, std::size_t at);
  std::optional<Expr> value_in(const Arm& arm, const std::string& name, Span at);
  std::vector<BranchResult> branch_results(const ast::Statement& statement, const ast::If& branches,
                                           std::size_t at, const Arm& then_arm, const Arm& else_arm);
  std::optional<Type> branch_type(const ast::Statement& statement, const BranchResult& result, bool& failed);
  void read_returning_if(const ast::Statement& statement, const ast::If& branches);
  Expr returned_by(const ast::Statement& statement, const ast::If& branches, std::size_t at);
  Expr returned_by(const ast::Block& body);
  void read_for(const ast::Statement& statement, const ast::For& loop);
  void read_while(const ast::Statement& statement, const ast::While& loop);
  void read_loop(const ast::Statement& statement, LoopText text);
  bool read_loop_body(const ast::Statement& statement, const LoopText& text,
                      const std::vector<std::string>& names, std::vector<Type>& types, Loop& loop);
  Expr range_bound(const ast::Expr& expr);
  [[noreturn]] void refuse_in_dataflow(Span at, std::string_view id, std::string_view what);
  void bind_results(const ast::Statement& statement, const std::vector<std::string>& names,
                    const std::vector<Type>& types, const Expr& value, CommentsPtr comments);

  // graph_functions.cpp: nested functions, purity.
  void read_nested(const ast::Statement& statement, const ast::FunctionDefinition& definition);
  void check_purity();
  void check_effects(const std::vector<BindingBlock>& blocks, bool pure);

  // graph_expressions.cpp: values.
  Expr value(const ast::Expr& expr);
  Expr single_value(const ast::Expr& expr);
  Expr leaf(const ast::Expr& expr);
  Expr name_value(const ast::Expr& expr, const std::string& name);
  Expr call(const ast::Expr& expr, const ast::Call& call);
  Expr call_global(const GlobalMeaning& meaning, const ast::Expr& expr, const ast::Call& call);
  Expr chain(const ast::Expr& expr, const ast::Expr& first, const std::vector<ast::Link>& links);
  Expr concatenation(const Expr& left, const Expr& right, Span span);
  void check_prim_func_argument(const PrimFunc& function, std::size_t at, const Expr& value);
  // An operand as written and its value, which is undefined for a number: that takes the dtype beside it.
  struct Operand {
    const ast::Expr* written;
    Expr value;
  };
  Operand operand(const ast::Expr& written);
  Expr combine(ast::Operator op, Span op_span, Operand left, Operand right, Span span);
  // A value as a leaf: what computes it is bound before.
  Expr as_leaf(Expr value);
  std::optional<Scalar> known_scalar(const Expr& value);
  Expr prefix(const ast::Expr& expr, const ast::Prefix& prefix);
  Expr subscript(const ast::Expr& expr, const ast::Subscript& subscript);
  // graph_logic.cpp: and, or, not, chained comparisons, a if c else b.
  Expr comparison(const ast::Expr& expr, const ast::Comparison& comparison);
  Expr logic(const ast::Expr& expr, const ast::Logic& logic);
  Expr conjunction(ast::Operator op, const Expr& left, const Expr& right, Span span);
  void require_truth(const Expr& value, std::string_view op, Span at);
  Expr conditional(const ast::Expr& expr, const ast::Conditional& conditional);
  Expr chosen_scalar(const Expr& condition, const Expr& a, const Expr& b, Span span);
  Expr beside(const Operand& operand, const Operand& other);
  // graph_inspection.cpp: x.ndim, x.dtype.bits, x.shape[0].
  std::optional<Expr> inspected_value(const ast::Expr& expr, const ast::Attribute& attribute);
  std::optional<Expr> inspected_axis(const ast::Expr& expr, const ast::Subscript& subscript);
  bool is_value(const ast::Expr& expr);
  Expr tuple_of(const std::vector<ast::ExprPtr>& items, Span at);
  void add_items(const std::vector<ast::ExprPtr>& items, std::vector<Expr>& into);
  Expr make_op_call(const Op& op, std::vector<Expr> args, Attributes attributes, Span span);
  Expr literal_beside(const ast::Expr& literal, DType dtype);
  std::vector<Expr> call_arguments(const ast::Call& call);
  // Undefined when inference failed, which is reported.
  Expr attempted(const std::function<Expr()>& make, Span span);
  Expr checked(const std::function<Expr()>& make, Span span, ExprKind kind);

  // graph_calls.cpp: operators and the forms with rules of their own.
  Expr operator_call(const std::string& name, const ast::Expr& expr, const ast::Call& call,
                     const ast::Expr* receiver);
  std::optional<Expr> scalar_operator(std::string_view op, const std::vector<Expr>& args, Span span);
  std::optional<std::string> device_text(const ast::Expr& expr);
  std::optional<std::int64_t> device_kind(const ast::Call& call) const;
  std::optional<Expr> special_call(const std::string& name, const ast::Expr& expr, const ast::Call& call);
  Expr named_call(const std::string& name, const ast::Expr& expr, const ast::Call& call);
  Expr call_tir(const std::string& name, const ast::Expr& expr, const ast::Call& call);
  std::optional<GlobalMeaning> call_tir_callee(const std::string& name, const ast::Expr& callee,
                                               bool native_allowed);
  // graph_packed.cpp: calls of functions outside the module, and closures of the virtual machine.
  Expr packed_call(PackedForm form, const std::string& name, const ast::Expr& expr, const ast::Call& call);
  Expr packed_callee(const ast::Expr& callee, std::string_view name);
  Expr checked_packed(PackedCall call, Span span);
  static std::optional<PackedForm> machine_form(const Expr& callee);
  Expr machine_call(PackedForm form, const std::string& name, const ast::Expr& expr,
                    const std::vector<const ast::Expr*>& positional, const ast::Expr* results);
  void check_dynamic_call(PackedCall& call, Span span);
  std::vector<Type> result_types(const ast::Expr& written);
  std::vector<Expr> argument_tuple(const ast::Expr& given);
  std::vector<Expr> fields_of(const Expr& tuple, Span span);
  std::vector<std::int64_t> inplace_indices(const ast::Expr& written, std::size_t args, std::size_t results);
  Attribute attribute_argument(const ast::Expr& value);
  std::optional<Expr> metadata_constant(const ast::Expr& expr, const ast::Subscript& subscript);
  void take_dtypes(std::vector<Type>& types, const PrimFunc& function) const;
  void read_out_types(const ast::Call& call, const ast::Expr* third, const ast::Expr* dtype,
                      std::vector<Type>& types, bool& tuple_result);
  // `types`: of the result, as written.
  void check_call_tir(const PrimFunc& function, const CallTir& call, Span span, Span types);
  void check_call_tir_sizes(const PrimFunc& function, const CallTir& call,
                            const std::vector<ParamSource>& layout, Span span);
  Expr shape_of_dims(const ast::Expr& written);
  Expr constant_of(const ast::Expr& expr, const ast::Call& call);
  Expr named_constant(const ast::Expr& expr, const ast::Call& call);

  Entry* look_up(const std::string& name);
  bool is_output(const std::string& name, const ast::Statement& statement) const {
    auto output = outputs_.find(name);
    return output != outputs_.end() && output->second == &statement;
  }
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
  // Comments of a line that is no binding go to the next that is one.
  void hand_on(const CommentsPtr& comments);
  void open_plain_block();

  ReadContext& context_;
  Globals& globals_;
  const ast::FunctionDefinition& definition_;
  GraphBuilder* const outer_;
  SymbolTable own_symbols_;
  SymbolTable& symbols_;  // nested functions share those of the outermost
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
  const ast::Statement* commented_ = nullptr;  // whose comments a binding has
  Comments pending_;                           // of lines that are no bindings: kept for the next one
  // In a dataflow block: for each output, the statement that binds it last.
  std::map<std::string, const ast::Statement*> outputs_;
  bool in_dataflow_ = false;
  const ast::Statement* dataflow_ = nullptr;  // the block that is being read, while in_dataflow_
  bool unwrapping_proposed_ = false;          // of that block
  std::vector<ScalarVar> determined_;         // symbols with a value at this place of the text
  std::vector<BindingBlock> blocks_;          // of the region that is being read
  std::unique_ptr<Liveness> liveness_;
  std::map<const ast::Statement*, std::vector<Type>>
      loop_types_;  // of carried variables, from earlier rounds
  struct BlockComments {
    Span header;  // the place of the block
    CommentsPtr own, end;
  };
  std::vector<BlockComments> block_comments_;  // of dataflow blocks
  CommentsPtr output_comments_;                // of R.output, of the block that is being read
};

}  // namespace relish
