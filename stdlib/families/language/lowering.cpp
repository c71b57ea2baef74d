// Building of loop nests for operators.
#include "stdlib/families/language/lowering.h"

#include <algorithm>

#include "ir/printer/printer.h"

namespace relish {
namespace {

// Dims and dtype of a type, or a rejection that names what lacks them.
TensorType lowered_type(const CallView& call, const Type& type, std::string_view what, Span span) {
  const TensorType* tensor = type.tensor();
  if (tensor == nullptr || !known_dims(*tensor) || !tensor->dtype) {
    call.reject("lowering", span,
                fmt::format("{} has type {}; lowering needs its shape and dtype, which match_cast can give",
                            what, print(type)));
  }
  TensorType known = *tensor;
  known.shape = known_dims(*tensor);
  return known;
}

}  // namespace

DType compute_dtype(DType dtype) {
  return dtype == DType::Float16 || dtype == DType::BFloat16 ? DType::Float32 : dtype;
}

Lowering::Lowering(const LowerCall& call) : call_(call), loops_(call.call.span) {
  if (const TupleType* tuple = call.result_type.tuple()) {
    for (std::size_t k = 0; k < tuple->fields.size(); ++k)
      results_.push_back(
          lowered_type(call.call, tuple->fields[k], fmt::format("result {}", k), call.call.span));
  } else {
    results_.push_back(lowered_type(call.call, call.result_type, "the result", call.call.span));
  }
}

Buffer Lowering::input(std::size_t i) {
  const std::string_view name = call().op.params[i].name;
  const TensorType type = lowered_type(call(), call().args[i].type(), name, call().span_of(i));
  return loops_.input(name, type);
}

std::vector<Buffer> Lowering::inputs(std::size_t i) {
  const std::string_view name = call().op.params[i].name;
  const TupleType* tuple = call().args[i].type().tuple();
  if (tuple == nullptr) {
    call().reject(
        "lowering", call().span_of(i),
        fmt::format("{} has type {}, expected a tuple of tensors", name, print(call().args[i].type())));
  }
  std::vector<Buffer> buffers;
  for (std::size_t k = 0; k < tuple->fields.size(); ++k) {
    const std::string field = fmt::format("{}_{}", name, k);
    buffers.push_back(loops_.input(field, lowered_type(call(), tuple->fields[k], field, call().span_of(i))));
  }
  return buffers;
}

Buffer Lowering::output() { return output(0, "result"); }

Buffer Lowering::output(std::size_t k, std::string_view name) {
  return loops_.output(name, tensor_type(result_dims(k), result_dtype(k)));
}

Scalar Lowering::load_as(DType dtype, const Buffer& buffer, const Dims& index) const {
  return cast(dtype, loops_.load(buffer, index));
}

Stmt Lowering::store_as(const Buffer& buffer, const Dims& index, const Scalar& value) const {
  return loops_.store(buffer, index, cast(buffer.dtype(), value));
}

Dims Lowering::broadcast_index(const Buffer& buffer, const Dims& result, const Dims& index) {
  const std::size_t missing = result.size() - buffer.shape().size();
  Dims indices;
  for (std::size_t i = 0; i < buffer.shape().size(); ++i) {
    const Scalar& from = buffer.shape()[i];
    const Scalar& to = result[missing + i];
    if (is_one(from)) {
      indices.push_back(0);
    } else if (prove_equal(from, to)) {
      indices.push_back(index[missing + i]);
    } else {
      require(logical(LogicalOp::Or, equal(from, 1), equal(from, to)),
              fmt::format("{}: dimension {} of {} must be 1 or equal to that of the result", call().op.name,
                          i, buffer.name()));
      indices.push_back(select(equal(from, 1), 0, index[missing + i]));
    }
  }
  return indices;
}

void Lowering::require(const Scalar& condition, std::string message) {
  requirements_.push_back(make_stmt(AssertStmt{condition, std::move(message)}, call().span));
}

void Lowering::require_equal(const Scalar& a, const Scalar& b, std::string message) {
  if (!prove_equal(a, b)) require(equal(a, b), std::move(message));
}

void Lowering::reduce(std::string_view block, const Buffer& target, const Dims& spatial, const Dims& reduce,
                      const Term& term, const Combine& combine, std::optional<Scalar> start) {
  const Scalar first = start ? *start : zero(target.dtype());
  const LoopBuilder::Init init = [&](const Dims& s) { return loops_.store(target, s, first); };
  const LoopBuilder::Body body = [&](const Dims& s, const Dims& r) {
    const Scalar accumulated = loops_.load(target, s);
    const Scalar value = term(s, r);
    return loops_.store(target, s, combine ? combine(accumulated, value) : accumulated + value);
  };
  const bool never_empty = std::all_of(reduce.begin(), reduce.end(),
                                       [](const Scalar& extent) { return extent.as_int().value_or(0) > 0; });
  if (never_empty) {
    loops_.spatial_reduce(block, spatial, reduce, body, init);
  } else {
    loops_.spatial(std::string(block) + "_init", spatial, init);
    loops_.spatial_reduce(block, spatial, reduce, body);
  }
}

void Lowering::map(std::string_view block, const Buffer& target,
                   const std::function<Scalar(const Dims&)>& value) {
  loops_.spatial(block, target.shape(),
                 [&](const Dims& index) { return store_as(target, index, value(index)); });
}

PrimFunc Lowering::finish() {
  PrimFunc function = loops_.finish(call_.name);
  if (!requirements_.empty()) {
    std::vector<Stmt> body = std::move(requirements_);
    body.push_back(function.body);
    function.body = seq(std::move(body), call().span);
  }
  return function;
}

}  // namespace relish
