// Values are computed by the reference evaluation of the operator, as the interpreter would.
#include "transform/fold.h"

#include <algorithm>
#include <optional>

#include "ir/operators/op.h"
#include "ir/operators/op_evaluation.h"
#include "ir/operators/value_marks.h"
#include "ir/verify/verify.h"
#include "support/failure.h"
#include "transform/binding_replacer.h"
#include "transform/dead_code.h"

namespace relish {
namespace {

std::size_t bytes_of(const Value& value) {
  if (value.is_tensor()) return static_cast<std::size_t>(value.tensor().byte_size());
  std::size_t sum = 0;
  if (value.is_tuple())
    for (const Value& field : value.fields()) sum += bytes_of(field);
  return sum;
}

// The constant leaf of a value; undefined when there is none.
Expr leaf_of(const Value& value, Span span) {
  if (value.is_tensor()) return constant(value.tensor(), span);
  if (!value.is_tuple()) return {};
  std::vector<Expr> fields;
  for (const Value& field : value.fields()) {
    fields.push_back(leaf_of(field, span));
    if (!fields.back().defined()) return {};
  }
  return tuple(std::move(fields), span);
}

// No constant says where it is.
bool names_device(const Type& type) {
  if (const TupleType* fields = type.tuple())
    return std::any_of(fields->fields.begin(), fields->fields.end(), names_device);
  const TensorType* tensor = type.tensor();
  return tensor && !tensor->vdevice.empty();
}

class Folder : public BindingReplacer {
 public:
  explicit Folder(std::size_t most_growth) : most_growth_(most_growth) {}

 protected:
  void map_binding(const Binding& binding, bool, std::vector<Binding>& into) override {
    keep(map(binding), into);
  }

  Expr leave(const Expr& mapped) override {
    if (const auto* get = mapped.as<TupleGet>()) {
      const Expr whole = get->tuple.as<TupleExpr>() ? get->tuple : value_of(get->tuple);
      const auto* made = whole.as<TupleExpr>();
      if (!made) return mapped;
      const Expr& field = made->fields[static_cast<std::size_t>(get->index)];
      return constant_value(field) ? field : mapped;
    }
    if (marked_tensor(mapped)) return mapped;
    const auto* call = mapped.as<OpCall>();
    return call && call->op->eval && !has_effects(mapped) ? folded(*call, mapped) : mapped;
  }

 private:
  // The value of a leaf that no run changes.
  std::optional<Value> constant_value(const Expr& leaf) const {
    if (const auto* held = leaf.as<Constant>()) return Value(held->value);
    if (const auto* made = leaf.as<TupleExpr>()) {
      std::vector<Value> fields;
      for (const Expr& field : made->fields) {
        std::optional<Value> value = constant_value(field);
        if (!value) return std::nullopt;
        fields.push_back(*std::move(value));
      }
      return Value::tuple(std::move(fields));
    }
    if (const auto* shape = leaf.as<ShapeLiteral>()) {
      ShapeValue value;
      for (const Scalar& dim : shape->dims) {
        const std::optional<std::int64_t> size = dim.as_int();
        if (!size) return std::nullopt;
        value.dims.push_back(*size);
      }
      return Value(std::move(value));
    }
    if (const auto* scalar = leaf.as<ScalarValueExpr>()) return scalar_constant(scalar->value);
    const Expr bound = value_of(leaf);
    return bound.defined() && is_leaf(bound) ? constant_value(bound) : std::nullopt;
  }

  static std::optional<Value> scalar_constant(const Scalar& scalar) {
    if (const auto integer = scalar.as_int()) return Value(ScalarValue::of_int(*integer, scalar.dtype()));
    if (const auto* real = scalar.as<FloatLiteral>())
      return Value(ScalarValue::of_real(real->value, scalar.dtype()));
    return std::nullopt;
  }

  Expr folded(const OpCall& call, const Expr& written) const {
    std::vector<Value> args;
    bool has_tensor = false;
    std::size_t bytes = most_growth_;
    for (const Expr& arg : call.args) {
      std::optional<Value> value = constant_value(arg);
      if (!value) return written;
      const bool holds_elements = value->is_tensor() || value->is_tuple();
      has_tensor = has_tensor || holds_elements;
      bytes += bytes_of(*value);
      args.push_back(*std::move(value));
    }
    // Ones, zeros and their like say more in a word than in numbers.
    if (!has_tensor || names_device(written.type()) || result_bytes(written.type()) > bytes) return written;
    try {
      const Value value = evaluate_operator(call, args, written.span());
      const Expr leaf = bytes_of(value) <= bytes ? leaf_of(value, written.span()) : Expr();
      return leaf.defined() && same_type(leaf.type(), written.type()) ? leaf : written;
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Internal) throw;
      return written;  // the run tells
    }
  }

  // Before it is made; 0 where the type does not tell.
  static std::size_t result_bytes(const Type& type) {
    std::size_t sum = 0;
    if (const TupleType* fields = type.tuple())
      for (const Type& field : fields->fields) sum += result_bytes(field);
    const TensorType* tensor = type.tensor();
    if (!tensor || !tensor->shape || !tensor->dtype) return sum;
    double bytes = size_of(*tensor->dtype);
    for (const Scalar& dim : *tensor->shape) bytes *= static_cast<double>(dim.as_int().value_or(1));
    constexpr double most = 1e18;
    return static_cast<std::size_t>(std::min(bytes, most));
  }

  std::size_t most_growth_;
};

}  // namespace

Module fold(const Module& module, std::size_t most_growth) {
  Module result = module;
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    const auto* function = std::get_if<FunctionPtr>(&result.functions[i]);
    if (!function) continue;
    const FunctionPtr mapped = Folder(most_growth).map(*function);
    if (mapped != *function) result.functions.replace(i, eliminate_dead_bindings(mapped));
  }
  verify_after(result, "fold");
  return result;
}

}  // namespace relish
