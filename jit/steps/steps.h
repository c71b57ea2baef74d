// What compiled code of a graph function does, as a list of steps: the whole of its analysis, before any code
// and without LLVM. Operands are places, by number; a place is made once, by the step that names it as its
// result, and belongs to the list in which that step stands. Steps hold lists of their own where control does
// (step::Branch, step::Loop). The kinds are closed: a visitor that forgets one does not compile.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/nodes/module.h"
#include "jit/steps/value_tree.h"
#include "runtime/tensor.h"

namespace relish::jit {

using PlaceId = std::size_t;

// Where a leaf of a value is.
struct Place {
  enum Origin : std::uint8_t {
    Param,      // of an argument; `leaf` numbers the tensors and boxes of the parameters
    Constant,   // a constant of the program
    Temporary,  // a tensor that a step::Allocate of this function makes
    Returned,   // made by a called function, a branch, a loop or the runtime; tensors and boxes are owned
    Carried,    // of a value that a loop carries, in its lists
    Computed,   // a shape or a scalar that this function computes
  } origin = Computed;
  ValueTree::Kind kind = ValueTree::TensorLeaf;
  DType dtype = DType::Float32;
  int rank = 0;
  // It goes to somebody else: the caller, the next round of a loop, what stands behind a branch.
  bool given = false;
  // Of a Param: the caller has given it up, so it is this function's to end or to write to.
  bool donated = false;
  std::uint32_t list = 0;           // in which it is made: 0 the function's, others in order of their begin
  Span span;                        // of the value for which it is made
  std::size_t leaf = 0;             // of a Param
  std::vector<Scalar> dims;         // of a Temporary: as its type says
  Tensor constant;                  // of a Constant
  std::optional<std::size_t> slot;  // of a Temporary in the arena
  // Of a Temporary: rows that a kernel copies, and that may be copied before it runs (step::RowsAhead).
  bool copied_ahead = false;

  bool has_storage() const { return kind == ValueTree::TensorLeaf || kind == ValueTree::BoxLeaf; }
};

struct Step;
using StepList = std::vector<Step>;

namespace step {

// A binding begins: interrupts are seen here, and very long code may be cut.
struct Poll {
  Var bound;
};
// The symbol has the value of a dim of the place, or of the scalar in it.
struct BindSize {
  static constexpr int scalar = -1;
  ScalarVar symbol;
  PlaceId place;
  int dim;
};
// The dims of a tensor or shape must be those of the type.
struct CheckShape {
  PlaceId place;
  Type type;
  std::string what;  // is told
};
// A scalar parameter with the name of a dimension must have its value.
struct CheckSize {
  PlaceId place;
  ScalarVar symbol;
  std::string what;
};
// The program looks at a value with boxes in it: what it must be. `known` holds the values of the symbols
// `known_symbols`; `sizes` receives those of `found_symbols`.
struct CheckValue {
  ValueTree value;
  Type type;
  std::string what;
  std::vector<ScalarVar> known_symbols, found_symbols;
  ValueTree known, sizes;
};
struct ComputeShape {
  PlaceId result;
  std::vector<Scalar> dims;
};
struct ComputeScalar {
  PlaceId result;
  Scalar value;
};
// One block of memory for all temporaries whose sizes are known at entry; those of one slot are never alive
// together.
struct TakeArena {
  std::vector<std::vector<PlaceId>> slots;
};
struct ReturnArena {};
// What tells the fault of an operator's kernel, or of a result that no tensor can be: the operator's
// evaluation on the same arguments, whose words are the interpreter's. Its steps run only then.
struct OperatorFault {
  Expr call;
  StepList steps;
  std::vector<ValueTree> args;
  bool fused = false;  // the kernel stands for other calls, too
};
// The memory of a temporary: in the arena, or of its own where it has no slot. `fault`: where a dim may be
// negative, or divided by zero.
struct Allocate {
  PlaceId result;
  bool clear;
  std::shared_ptr<const OperatorFault> fault = nullptr;
};
struct Copy {
  PlaceId from, to;
};
// A tensor or box for an owner of its own: shared where that can be, else copied. `to_write`: the owner
// writes to it, so a tensor is shared only with whoever has lent it, who does not look at it again.
struct Share {
  PlaceId from, result;
  bool to_write = false;
};
struct Release {
  PlaceId place;
};
// The memory of a tensor whose owner ends here, with its elements, for the result; a copy where somebody else
// sees it still.
struct TakeOver {
  PlaceId from, result;
};
// A prim_func on tensors and scalars, one for each parameter, destinations among them. Their shapes are
// checked.
struct CallKernel {
  PrimFuncPtr callee;
  std::vector<PlaceId> args;
  std::optional<PlaceId> result;  // the scalar that it returns
  std::shared_ptr<const OperatorFault> fault;
  const ExprNode* origin = nullptr;  // the call in the function's text
};
// Which stored leaves of the arguments of a function, in order, its caller gives up; empty: none.
using Donated = std::vector<bool>;
// The round of a loop takes row `at` of the table of row numbers; the next one, it is guessed, takes the row
// behind that, and reads the rows of the sources that it names. `copied`: of those sources the round does
// nothing but copy them into places that are `copied_ahead`.
struct RowsAhead {
  PlaceId table, at;
  std::vector<PlaceId> sources;
  std::vector<bool> copied;
};
// A Relax function. Leaves of the result that were made before stay as they are.
struct CallFunction {
  FunctionPtr callee;
  std::vector<ValueTree> args;
  ValueTree result;
  Donated donated = {};
  const ExprNode* origin = nullptr;  // the call in the function's text
};
// A function of a native library. Destinations stand among the arguments; `result` is what it returns.
struct CallNative {
  std::string name;
  std::vector<ValueTree> args;
  ValueTree result;
  Type type;  // of the result
};
// A function of TVM's virtual machine.
struct CallMachine {
  std::string name;
  std::vector<ValueTree> args;
  ValueTree result;
  Type type;
};
// An operator without a loop nest, by its evaluation.
struct EvaluateOperator {
  Expr call;
  std::vector<ValueTree> args;
  ValueTree result;
};
// A value into a box, or out of it, as one of `type`; `whole` is the type of the tuple that it is a field of.
struct Convert {
  ValueTree from, result;
  Type type, whole;
  std::string what;
};
// The truth of what an if or a while asks, as a bool.
struct Truth {
  ValueTree from;
  PlaceId result;
};
// A function of the module as a value, with what it captured, which stands behind the arguments of its calls.
struct MakeFunction {
  FunctionPtr callee;
  std::vector<ValueTree> args;
  ValueTree result;
};
// A function value with its last arguments given: args[0] with the others.
struct FixArguments {
  std::vector<ValueTree> args;
  ValueTree result;
};
// Calls the function value args[0] with the others.
struct CallValue {
  std::vector<ValueTree> args;
  ValueTree result;
  Type type;
};
// One of two lists, each with its value. `result` is the value behind both.
struct Branch {
  PlaceId condition;
  StepList then, otherwise;
  ValueTree then_value, otherwise_value;
  ValueTree result;
};
// Rounds over a range, or while `goes_on`, which `condition` computes in each, holds. The values that are
// carried belong to the loop: `initial` is given to it, `carried` names them in the lists, `next` is what a
// round gives to the next one, and `result` is what is left.
struct Loop {
  struct Range {
    ScalarVar index;
    PlaceId begin, end, step;
  };
  std::optional<Range> range;
  StepList condition;
  std::optional<PlaceId> goes_on;
  StepList body;
  ValueTree initial, carried, next, result;
};
// The result of the function goes to the caller. The last step.
struct Return {
  ValueTree value;
};

using Kind = std::variant<Poll, BindSize, CheckShape, CheckSize, Apart<CheckValue>, ComputeShape,
                          ComputeScalar, TakeArena, ReturnArena, Allocate, Copy, Share, Release, TakeOver,
                          CallKernel, RowsAhead, Apart<CallFunction>, Apart<CallNative>, Apart<CallMachine>,
                          Apart<EvaluateOperator>, Apart<Convert>, Apart<Truth>, Apart<MakeFunction>,
                          Apart<FixArguments>, Apart<CallValue>, Apart<Branch>, Apart<Loop>, Apart<Return>>;

}  // namespace step

struct Step {
  Span span;  // of the value that is bound
  step::Kind kind;
};
static_assert(sizeof(Step) <= 104, "a kind that is as large as this stands apart");

// Calls `visit` with the kind itself, wherever it stands.
template <class Visit>
decltype(auto) visit_kind(const Visit& visit, const Step& step) {
  return std::visit([&](const auto& kind) -> decltype(auto) { return visit(kind_itself(kind)); }, step.kind);
}

struct FunctionSteps {
  std::string name;  // in the text
  Span span;
  std::vector<Place> places;
  std::vector<ValueTree> params;
  StepList steps;
  ValueTree result;
  bool owns_results = false;  // each tensor of the result is made for the caller alone (LiftedFunction)
  bool recursive = false;     // it may come to call itself
  step::Donated donated = {};
};

// What callers of the whole need to know of it.
struct FunctionLayout {
  std::vector<Place> places;
  std::vector<ValueTree> params;
  ValueTree result;
  step::Donated donated = {};
};

// Calls `visit` for every place that the step uses or makes, those of the lists in it too, in the order in
// which they run.
void for_each_place(const Step& step, const std::function<void(PlaceId, bool made)>& visit);

// Whether the kernel copies rows that may be there before it runs: rows args[1] of args[0] to args[2].
bool copies_rows_ahead(const step::CallKernel& kernel, const std::vector<Place>& places);

// Calls `visit` for every step of the list and of the lists inside of it, in order.
void for_each_step(const StepList& steps, const std::function<void(const Step&)>& visit);

}  // namespace relish::jit
