// Counting by lowering.
#include "transform/gradient/value_work.h"

#include <algorithm>

#include "ir/operators/op.h"
#include "loops/work.h"
#include "support/failure.h"
#include "transform/gradient/cut.h"

namespace relish {
namespace {

// An operation for each element, whatever its dtype.
double elements_of(const Type& type) {
  if (const TupleType* tuple = type.tuple()) {
    double sum = 0;
    for (const Type& field : tuple->fields) sum += elements_of(field);
    return sum;
  }
  const TensorType* tensor = type.tensor();
  const auto bytes = tensor && tensor->dtype ? bytes_of(type) : std::nullopt;
  return bytes ? static_cast<double>(*bytes) / static_cast<double>(size_of(*tensor->dtype)) : 0;
}

double work_of(const PrimFunc& function, const Type& given) {
  const auto counted = constant_work(function.body);
  return counted ? static_cast<double>(*counted) : elements_of(given);
}

double work_of(const OpCall& call, const Expr& value) {
  if (runs_as_call(*call.op)) return elements_of(value.type());
  try {
    const CallView view{*call.op, call.args, call.attributes, value.span()};
    return work_of(call.op->lower(LowerCall{view, value.type(), "counted"}), value.type());
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Internal) throw;
    return elements_of(value.type());
  }
}

// The rounds of a loop between numbers; of others one.
double rounds_of(const Loop& loop) {
  const auto number = [](const Expr& bound) {
    const auto* scalar = bound.defined() ? bound.as<ScalarValueExpr>() : nullptr;
    return scalar ? scalar->value.as_int() : std::nullopt;
  };
  const auto begin = number(loop.begin), end = number(loop.end), step = number(loop.step);
  if (!begin || !end || !step || *step == 0) return 1;
  return std::max(0.0, static_cast<double>(*end - *begin) / static_cast<double>(*step));
}

// Elements that a call may look at: of the arguments and results, but for what is changed in its place.
double elements_of_call(const CallTir& call, const Expr& value) {
  if (call.inplace_indices.empty()) return elements_of(value.type());
  double sum = 0;
  for (std::size_t i = 0; i < call.out_types.size(); ++i)
    if (call.inplace_indices[i] < 0) sum += elements_of(call.out_types[i]);
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const auto& places = call.inplace_indices;
    if (std::find(places.begin(), places.end(), static_cast<std::int64_t>(i)) == places.end())
      sum += elements_of(call.args[i].type());
  }
  return sum;
}

}  // namespace

double ValueWork::of(const Expr& value) {
  if (const auto* call = value.as<OpCall>()) return work_of(*call, value);
  if (const auto* prim = value.as<CallTir>()) {
    const auto* global = prim->callee.as<GlobalRef>();
    const PrimFuncPtr function = global ? module_.prim_func(global->name) : nullptr;
    const auto counted = function ? constant_work(function->body) : std::nullopt;
    return counted ? static_cast<double>(*counted) : elements_of_call(*prim, value);
  }
  if (const auto* call = value.as<FunctionCall>()) {
    const auto* global = call->callee.as<GlobalRef>();
    return global ? of_function(global->name) : elements_of(value.type());
  }
  if (const auto* branch = value.as<If>())
    return std::max(of_blocks(branch->then_region->blocks), of_blocks(branch->else_region->blocks));
  if (const auto* loop = value.as<Loop>()) return rounds_of(*loop) * of_blocks(loop->body->blocks);
  return value.as<PackedCall>() ? elements_of(value.type()) : 0;
}

double ValueWork::of_blocks(const std::vector<BindingBlock>& blocks) {
  double sum = 0;
  for (const BindingBlock& block : blocks)
    for (const Binding& binding : block.bindings) sum += of(binding.value());
  return sum;
}

double ValueWork::of_function(const std::string& name) {
  const auto [known, first] = functions_.try_emplace(name, 0);
  if (!first) return known->second;  // one that calls itself counts once
  const FunctionPtr function = module_.function(name);
  const double found = function ? of_blocks(function->blocks) : 0;
  return functions_[name] = found;
}

}  // namespace relish
