// Op: all that the system may ask about one operator, declared in one place (stdlib/ops/). Parser, printer,
// help, checker, interpreter, JIT, gradient, tests and documentation read these values; adding an operator
// touches one file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/nodes/builder.h"
#include "runtime/value.h"

namespace relish {

enum class ParamKind : std::uint8_t {
  Tensor,          // a tensor expression
  OptionalTensor,  // may be absent; only at the end of the non-attribute parameters
  TensorTuple,     // a tuple of tensors
  Shape,           // a shape value: tuple, list, R.shape or shape variable
  Scalar,          // a scalar expression (R.Prim)
  Attribute,       // compile-time, printed as a keyword
  Any,             // a value of any type: dtype, string, tuple, function, opaque object
  AnyRest,         // any number of values; only as the last non-attribute parameter
};

struct Param {
  std::string_view name;
  ParamKind kind = ParamKind::Tensor;
  std::string_view type;  // for documentation: "tensor", "int or list[int] or None", "str"
  std::string_view fallback =
      "";  // default of an attribute or scalar as text: "None", "-1", "\"mean\""; "" required
  std::string_view doc = "";
};

// How far the tiers and outside numbers may differ (reliability, section D).
enum class Agreement : std::uint8_t { DataMovement = 1, Exact, Index, Elementary, Sum, Composite, Random };

// A sample call. `args` in script syntax: "[[1.0, 2.0], [3.0, 4.0]], axes=[1, 0]" or "rand((2, 3), float32)";
// `expect` holds outside numbers as a nested list ("" = differential only).
struct Sample {
  std::string_view args;
  std::string_view expect = "";
  bool check_gradient = true;
};
// A call that must be refused: the id of the broken rule and a part of the message.
struct Reject {
  std::string_view constraint;
  std::string_view args;
  std::string_view message;
};

// A call under inference or lowering: arguments with types and the attributes.
struct CallView {
  const Op& op;
  std::span<const Expr> args;
  const Attributes& attributes;
  Span span;
  // In a run the arguments as the text has them, for what a size means that is a number there; else empty.
  std::span<const Expr> written = {};
  // In a run the type that the text gives to the result, with the sizes of the run; null where that is
  // unknown.
  const Type* result_of_text = nullptr;

  bool has(std::size_t i) const { return i < args.size(); }
  const TensorType& tensor(std::size_t i) const;  // TypeError naming the parameter when it is no tensor
  const Attribute& attribute(std::string_view name) const;
  std::int64_t int_attribute(std::string_view name) const;
  std::string string_attribute(std::string_view name) const;
  Span span_of(std::size_t i) const { return args[i].span().known() ? args[i].span() : span; }
  // Throws TypeError "<op short name>: message" with rule id "<op short name>.<constraint>".
  [[noreturn]] void reject(std::string_view constraint, Span at, std::string message) const;
};

struct EvalCall {
  const CallView& call;
  std::span<const Value> args;
  const Type& result_type;  // concrete: every dim is a literal

  const Tensor& in(std::size_t i) const { return args[i].tensor(); }
};

struct LowerCall {
  const CallView& call;
  const Type& result_type;
  std::string name;  // wanted name of the prim_func
};

struct VjpCall {
  const CallView& call;
  const Expr& result;  // the variable bound to the call
  const Expr& cotangent;
  FunctionBuilder& builder;
  // By result of an operator that gives a tuple: whether a cotangent has arrived; else it is zeros. Empty:
  // all.
  std::vector<bool> arrived = {};
};

using InferFn = Type (*)(const CallView&);       // throws Failure(TypeError)
using EvalFn = Value (*)(const EvalCall&);       // slow, obvious
using LowerFn = PrimFunc (*)(const LowerCall&);  // parameters: tensor args in order, then results
using VjpFn = std::vector<std::optional<Expr>> (*)(const VjpCall&);  // one per arg; absent: no gradient
using PartsFn = Expr (*)(const VjpCall&);  // of the call; there is no cotangent, and no variable
using AgreementFn = Agreement (*)(const CallView&);
using TermsFn = std::int64_t (*)(const CallView&, const Type& result);

struct Op {
  std::string_view name;  // without "R.": "add", "nn.relu"
  std::string_view summary;
  std::span<const Param> params = {};
  InferFn infer = nullptr;
  EvalFn eval = nullptr;
  LowerFn lower = nullptr;
  VjpFn vjp = nullptr;
  // The value by other operators, where its vjp would compute again what costs more than to keep it: the way
  // there of a gradient has these instead, and their rules find it.
  PartsFn parts = nullptr;
  std::string_view no_gradient = "";  // reason; required when there is no vjp
  // Floating parameters in which an operator with a vjp has no gradient all the same, for the reason
  // no_gradient: one through them is refused.
  std::span<const std::string_view> fixed_params = {};
  bool zero_gradient = false;          // derivative is zero (almost) everywhere
  std::string_view gradient_doc = "";  // formula for the manual
  bool pure = true;                    // false: has effects; only in functions with pure=False
  Agreement agreement = Agreement::Exact;
  AgreementFn agreement_by = nullptr;  // where attributes choose the class; `agreement` is the loosest
  // Class Sum: how many terms an element of the result has at most, in a call whose types are concrete.
  // Absent: as many as the operator gives on ones.
  TermsFn terms = nullptr;
  std::span<const Sample> samples = {};
  std::span<const Reject> rejects = {};
  std::span<const std::string_view> aliases = {};
  // Names of the attributes in the order of arguments written without keywords, where it is not the order in
  // which they are printed; the parameters that it does not name keep their places.
  std::span<const std::string_view> written_order = {};
  std::string_view doc = "";  // longer text: semantics, kinks, sources
};

// The agreement class of one call.
inline Agreement agreement_of(const CallView& call) {
  return call.op.agreement_by ? call.op.agreement_by(call) : call.op.agreement;
}

// An operator without lowering is called by its evaluation in compiled code too: printing, sorts, shapes that
// depend on data.
inline bool runs_as_call(const Op& op) { return !op.lower; }

// The table of operators, installed once at start by the standard library; sorted by name.
void install_ops(std::span<const Op* const> ops);
std::span<const Op* const> all_ops();
const Op* find_op(std::string_view name);  // by name or alias, without "R."; null when unknown
std::vector<std::string> op_names();

// Splits written arguments into args and attributes by the operator's parameters, fills in defaults; see
// frontend.
struct WrittenArgument {
  std::string name;                     // "" positional
  std::variant<Expr, Attribute> value;  // attributes arrive as either: literals convert both ways
  Span span;
};
struct ArrangedArguments {
  std::vector<Expr> args;
  Attributes attributes;
};
ArrangedArguments arrange_arguments(const Op& op, std::vector<WrittenArgument> written, Span call);
// The parsed default of a parameter.
Attribute default_of(const Param& param);
// What op_call does with arguments that a pass gives: fills in defaults, puts attributes in declared order,
// drops absent optional arguments. InternalError when a required one is missing or an attribute is unknown.
void complete_call(const Op& op, std::vector<Expr>& args, Attributes& attributes);
// The operator's name without its namespace: "conv2d" of "nn.conv2d".
std::string_view short_name_of(const Op& op);

}  // namespace relish
