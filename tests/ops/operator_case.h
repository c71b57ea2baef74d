// One call of an operator as test data: its arguments as values, and the module of one binding that makes the
// call. Cases come from the samples of the declarations and from the files of outside numbers; variants
// change dtype or size.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "ir/nodes/module.h"
#include "ir/operators/evaluator.h"
#include "ir/operators/op.h"
#include "runtime/value.h"

namespace relish::testing {

// An argument as written: a tensor, a tuple of tensors, a shape, a scalar, a compile-time value, or an object
// that an operator gave.
struct CaseArgument {
  std::string name;  // empty: positional
  std::variant<Tensor, std::vector<Tensor>, Shape, ScalarValue, Attribute, std::shared_ptr<const ObjectValue>>
      value;
};

struct OperatorCase {
  const Op* op = nullptr;
  std::string label;  // "add #3 float64", for reports
  std::vector<CaseArgument> arguments;

  // All tensors, those of tuples too, in order.
  std::vector<Tensor*> tensors();
  std::vector<const Tensor*> tensors() const;
  // Sizes of their dimensions.
  std::set<std::int64_t> extents() const;
};

// The module `Case` with `main(x0, x1, …) -> result` of one binding, and the tensors for its parameters.
struct BuiltCall {
  ModulePtr module;
  std::vector<Var> params;
  std::vector<Value> values;
  Type type;  // inferred for the result
};

// Whether outside numbers can say anything of the operator: not when all that it takes are values of any
// type, which it only moves.
bool computes_numbers(const Op& op);

// A sample's arguments, in the syntax of scripts: "[[1.0, 2.0]], axis=0" or "rand((2, 3), \"float32\")".
OperatorCase case_of_sample(const Op& op, std::string_view arguments, std::string label);
// The value of `expect` as text: of results that are no tensors.
std::string text_of_sample(std::string_view text);
// The value of `expect` as a tensor of that dtype.
Tensor tensor_of_text(std::string_view text, DType dtype);
// A case of tests/numbers/operators/<operator>.json.
OperatorCase case_of_json(const Op& op, const nlohmann::json& json);
Tensor tensor_of_json(const nlohmann::json& json);

// The same call with every floating tensor converted; nothing when there is none.
std::optional<OperatorCase> with_dtype(const OperatorCase& original, DType dtype);
// Every dimension `from`, of tensors and shapes, becomes `to`; elements are repeated. Nothing when a tensor
// is empty.
std::optional<OperatorCase> with_extent(const OperatorCase& original, std::int64_t from, std::int64_t to);

// Infers; Failure(TypeError) for a call that is refused. The dimensions in `symbolic` become symbolic.
BuiltCall build_call(const OperatorCase& operator_case, const std::set<std::int64_t>& symbolic = {});

// The type that is inferred for the call when dimension `dimension` of its tensor number `tensor` is
// `extent`; there need be no memory for such a tensor.
Type infer_with_dimension(const OperatorCase& operator_case, std::size_t tensor, std::size_t dimension,
                          std::int64_t extent);

// The attributes of the call in declared order, the defaults of those that are not written included.
Attributes attributes_of(const OperatorCase& operator_case);

// The engines under test, made once.
Evaluator& interpreter();
Evaluator& jit(int threads);

// Operators with the part of their name given in RELISH_OPS, or all; of those the part that RELISH_OPS_PART
// ("0/2", "1/2") gives this process.
std::vector<const Op*> operators_under_test();

}  // namespace relish::testing
