// The call of the operator that a program is made for. It stands in the middle: what it takes comes from
// other operators where that can be, what it gives is used further and is in the function's result. Operands
// have the types of one of its samples, so that operators which random types rarely suit are met too.
#include <algorithm>

#include "runtime/stack.h"
#include "tests/generate/graph_forms.h"
#include "tests/generate/graph_operators.h"
#include "tests/generate/values.h"

namespace relish::generate {
namespace {

// Makes operands of given types from variables in scope.
class Cutter {
 public:
  // `anchored`: floats near those of the sample, which the operator surely takes.
  Cutter(GraphGenerator& g, bool anchored) : g_(g), anchored_(anchored) {}

  Expr operand(const Tensor& sample, bool fixed) {
    if (fixed || sample.size() == 0) return g_.provide(sample, 0);
    const std::optional<Expr> made = is_float(sample.dtype()) ? floats(sample) : integers(sample);
    return made ? *made : g_.provide(sample, 0);
  }

 private:
  std::optional<Expr> floats(const Tensor& sample) {
    std::optional<Expr> value = cut(sample, true);
    if (!value || !anchored_) return value;
    // The sample's values and a little of the variable's.
    value = call("tanh", {*value});
    g_.loosen(static_cast<int>(Agreement::Elementary));
    if (value) value = call("multiply", {*value, constant(scalar_of(sample.dtype(), 0.0625))});
    return value ? call("add", {*value, constant(sample)}) : std::nullopt;
  }

  std::optional<Expr> integers(const Tensor& sample) {
    if (anchored_ || is_bool(sample.dtype())) return std::nullopt;
    return cut(sample, false);
  }

  // A variable with the shape and the dtype of the sample: with elements left out or repeated.
  std::optional<Expr> cut(const Tensor& sample, bool floating) {
    const auto sources = g_.those([&](const Type& type) {
      const TensorType* tensor = type.tensor();
      if (!tensor || !tensor->dtype || !tensor->shape) return false;
      if (is_float(*tensor->dtype) != floating || is_bool(*tensor->dtype)) return false;
      const auto size = product(*tensor->shape).as_int();
      return size && *size > 0;
    });
    if (sources.empty()) return std::nullopt;
    // What came last is computed from the most.
    const std::size_t first = g_.random().chance(0.6) && sources.size() > 3 ? sources.size() - 3 : 0;
    const Var from = sources[first + static_cast<std::size_t>(g_.random().below(
                                         static_cast<std::int64_t>(sources.size() - first)))]
                         ->var;
    const TensorType& type = *from.type().tensor();
    const std::int64_t size = *product(*type.shape).as_int(), wanted = sample.size();
    std::optional<Expr> value(from);
    if (*type.dtype != sample.dtype()) value = call("astype", {*value}, {{"dtype", sample.dtype()}});
    if (value && size != wanted) {
      value = call("reshape", {*value, shape_literal({Scalar(size)})});
      if (value && size > wanted)
        value = slice(*value, wanted);
      else if (value)
        value = repeated(*value, size, wanted);
    }
    if (!value) return std::nullopt;
    std::vector<Scalar> dims(sample.shape().begin(), sample.shape().end());
    if (same_type((*value).type(), type_of(Value(sample)))) return value;
    return call("reshape", {*value, shape_literal(std::move(dims))});
  }

  std::optional<Expr> slice(const Expr& flat, std::int64_t count) {
    const auto number = [](std::int64_t n) { return tuple({scalar_value(Scalar(n))}); };
    return call("strided_slice", {flat, number(0), number(0), number(count), number(1)});
  }

  std::optional<Expr> repeated(const Expr& flat, std::int64_t size, std::int64_t count) {
    if (size == 1) return call("broadcast_to", {flat, shape_literal({Scalar(count)})});
    Tensor indices = Tensor::empty(DType::Int64, {count});
    for (std::int64_t i = 0; i < count; ++i) indices.set_int(i, i % size);
    return call("take", {flat, constant(indices)}, {{"axis", Attribute(std::int64_t{0})}});
  }

  std::optional<Expr> call(const char* name, std::vector<Expr> args, Attributes attributes = {}) {
    const std::optional<Var> var = g_.bind(op_call(name, std::move(args), std::move(attributes)), name);
    if (!var) return std::nullopt;
    g_.state().program.operators.insert(name);
    return Expr(*var);
  }

  static Tensor scalar_of(DType dtype, double value) {
    Tensor result = Tensor::empty(dtype, {});
    result.set_double(0, value);
    return result;
  }

  GraphGenerator& g_;
  bool anchored_;
};

const GraphGenerator::Known& known_of(GraphGenerator& g, const Var& var) {
  const auto found = std::find_if(g.known().begin(), g.known().end(),
                                  [&](const GraphGenerator::Known& each) { return each.var == var; });
  RELISH_CHECK(found != g.known().end());
  return *found;
}

// Puts all that `var` holds into the function's result; tensors whose dims only the value tells get them from
// a cast. Gives the tensors.
void keep_results(GraphGenerator& g, const Var& var, std::vector<Var>& tensors) {
  const GraphGenerator::Known known = known_of(g, var);
  const Value& value = *known.value;
  if (value.is_void()) return g.forget(var);
  if (value.is_tuple()) {
    for (std::size_t i = 0; i < value.fields().size(); ++i) {
      if (const auto field = g.bind(tuple_get(var, static_cast<int>(i)), known.maker))
        keep_results(g, *field, tensors);
    }
    if (!fully_known(var.type())) g.forget(var);
    return;
  }
  if (var.type().as<StackType>()) {
    const bool empty = stack_of(value)->size() == 0;
    const Expr length = op_call("stack.length", {Expr(var)});
    if (const auto size = g.bind(length, "stack.length")) g.keep(*size);
    // The rest of the stack is not looked at: it may be empty.
    if (!empty && fully_known(var.type())) {
      if (const auto popped = g.bind(op_call("stack.pop", {Expr(var)}), "stack.pop")) {
        if (const auto top = g.bind(tuple_get(*popped, 1), "stack.pop")) keep_results(g, *top, tensors);
        g.forget(*popped);
      }
    }
    return g.forget(var);
  }
  if (std::holds_alternative<std::shared_ptr<const ObjectValue>>(value.kind())) {
    // A storage is seen through a tensor in it.
    const auto zero = scalar_value(Scalar(std::int64_t{0}));
    const auto inside =
        g.bind(op_call("memory.alloc_tensor", {Expr(var), zero, shape_literal({Scalar(std::int64_t{0})}),
                                               dtype_literal(DType::Float32), zero}),
               "memory.alloc_tensor");
    if (inside) keep_results(g, *inside, tensors);
    return g.forget(var);
  }
  if (!value.is_tensor() && !value.is_shape()) return g.keep(var);
  Var seen = var;
  if (!fully_known(var.type())) {
    const auto cast = g.bind_cast(var, type_of(value), {});
    g.forget(var);
    if (!cast) return;
    seen = *cast;
  }
  g.keep(seen);
  if (value.is_tensor()) tensors.push_back(seen);
}

}  // namespace

bool make_target(GraphGenerator& g) {
  const Op& op = *find_op(g.options().target);
  constexpr int attempts = 30;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const GraphGenerator::Mark mark = g.mark();
    g.set_exposed(true);
    const bool freely = attempt % 3 == 2 && takes_what_is_found(op) &&
                        (!g.options().differentiable || op.fixed_params.empty());
    const bool leaves = attempt >= attempts - 6;
    Cutter cutter(g, attempt % 2 == 1);
    const std::optional<Var> var =
        freely ? call_freely(g, op) : call_as_sample(g, op, [&](const Tensor& sample, bool fixed) {
          return leaves ? g.provide(sample, 0) : cutter.operand(sample, fixed);
        });
    std::vector<Var> tensors;
    if (var) keep_results(g, *var, tensors);
    g.set_exposed(false);
    // What a gradient is to come from holds floats.
    const bool floating = std::any_of(tensors.begin(), tensors.end(), [](const Var& tensor) {
      return tensor.type().tensor()->dtype == DType::Float64;
    });
    if (!var || (g.options().differentiable && !floating)) {
      g.go_back(mark);
      continue;
    }
    g.cover("target");
    // What uses the results.
    for (std::size_t i = 0; i < tensors.size() && i < 3; ++i) {
      for (int turn = 0; turn < 6; ++turn) {
        g.set_exposed(true);
        const std::optional<Var> user = call_freely(g, some_operator(g), tensors[i]);
        g.set_exposed(false);
        if (!user) continue;
        if (fully_known(user->type()))
          g.keep(*user);
        else
          g.forget(*user);
        break;
      }
    }
    return true;
  }
  return false;
}

}  // namespace relish::generate
