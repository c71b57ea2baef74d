// The value that stands for an absent object.
#include "stdlib/families/shapes/shapes.h"

namespace relish::ops_null_value {
namespace {

Type infer(const CallView&) { return Type(); }
Value evaluate(const EvalCall&) { return {}; }

constexpr Sample samples[] = {{"", "()", false}};

}  // namespace

extern const Op op_null_value{.name = "null_value",
                              .summary = "The value of an absent object.",
                              .params = {},
                              .infer = infer,
                              .eval = evaluate,
                              .no_gradient = "the result is no tensor",
                              .agreement = Agreement::DataMovement,
                              .samples = samples,
                              .doc =
                                  "Its type is R.Any. As an argument of an operator it is the same as "
                                  "leaving that argument out; functions "
                                  "outside the module get no value."};

}  // namespace relish::ops_null_value
