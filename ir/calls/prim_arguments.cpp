// Arguments of prim_funcs.
#include "ir/calls/prim_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/calls/buffer_layout.h"
#include "support/checked.h"
#include "support/counted.h"
#include "support/failure.h"

namespace relish {
namespace {

std::string what_of(const PrimFunc& function, const PrimParam& param) {
  return fmt::format("{}: {}", function.name, param.name());
}

// The one unknown of an integer expression, from the expression's value: of n + 1, n * 2 and the like. Where
// no size gives the value, the nearest lower one is taken or 0: the check of the shapes says what is
// expected.
class Inversion {
 public:
  explicit Inversion(SymbolValues& symbols) : symbols_(symbols) {}

  // Whether a variable was found.
  bool operator()(const Scalar& dim, std::int64_t value) {
    std::vector<ScalarVar> unknown;
    collect_vars(dim, unknown);
    std::erase_if(unknown, [&](const ScalarVar& var) { return symbols_.contains(var.id()); });
    // Like terms are one in the canonical form: n + n.
    return unknown.size() == 1 && solve(canonical(dim), value);
  }

 private:
  std::optional<std::int64_t> known(const Scalar& scalar) const {
    return evaluate_int(scalar, [&](const ScalarVar& var) -> std::optional<std::int64_t> {
      const auto held = symbols_.find(var.id());
      return held == symbols_.end() ? std::nullopt : std::optional(held->second);
    });
  }

  bool solve(const Scalar& scalar, std::int64_t value) {
    if (const auto var = scalar.as_var())
      return symbols_.emplace(var->id(), std::max<std::int64_t>(value, 0)).second;
    if (const auto* inner = scalar.as<Cast>()) return !is_float(inner->a.dtype()) && solve(inner->a, value);
    const auto* node = scalar.as<Binary>();
    if (!node) return false;
    if (const auto b = known(node->b)) return solve(node->op, node->a, value, *b);
    const auto a = known(node->a);
    if (!a) return false;
    if (node->op == BinaryOp::Sub) {
      const auto difference = checked_sub(*a, value);
      return difference && solve(node->b, *difference);
    }
    const bool turns = node->op == BinaryOp::Add || node->op == BinaryOp::Mul;
    return turns && solve(node->op, node->b, value, *a);
  }

  // x op other == value.
  bool solve(BinaryOp op, const Scalar& x, std::int64_t value, std::int64_t other) {
    if (op == BinaryOp::Mul) return other > 0 && solve(x, value / other);
    const auto rest = op == BinaryOp::Add   ? checked_sub(value, other)
                      : op == BinaryOp::Sub ? checked_add(value, other)
                                            : std::nullopt;
    return rest && solve(x, *rest);
  }

  SymbolValues& symbols_;
};

// Dims with one unknown each, until no further one is found.
void invert(const PrimFunc& function, std::span<const Value> all, SymbolValues& symbols) {
  Inversion inversion(symbols);
  for (bool found = true; found;) {
    found = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Buffer* buffer = function.params[i].buffer();
      if (!buffer || !all[i].is_tensor()) continue;
      const Shape& shape = all[i].tensor().shape();
      for (std::size_t d = 0; d < buffer->shape().size() && d < shape.size(); ++d) {
        const Scalar& dim = buffer->shape()[d];
        if (!dim.as_int() && !dim.as_var()) found = inversion(dim, shape[d]) || found;
      }
    }
  }
}

// What scalars and tensors tell: bare dims first, whatever the order of the parameters; then expressions such
// as n * 2, which are checked where their variables are known and else give them.
SymbolValues solve(const PrimFunc& function, std::span<const Value> all, ErrorClass error_class, Span call) {
  SymbolValues symbols;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ScalarVar* scalar = function.params[i].scalar();
    if (!scalar) continue;
    match_value(all[i], ScalarType{scalar->dtype()}, symbols, error_class, call,
                what_of(function, function.params[i]));
    if (!is_float(scalar->dtype())) symbols[scalar->id()] = all[i].scalar().integer;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Buffer* buffer = function.params[i].buffer();
    if (!buffer || !all[i].is_tensor()) continue;
    const Shape& shape = all[i].tensor().shape();
    for (std::size_t d = 0; d < buffer->shape().size() && d < shape.size(); ++d)
      if (const auto var = buffer->shape()[d].as_var()) symbols.emplace(var->id(), shape[d]);
    bind_layout(*buffer, shape, symbols);
  }
  invert(function, all, symbols);
  return symbols;
}

void check(const PrimFunc& function, std::span<const Value> all, SymbolValues& symbols,
           ErrorClass error_class, Span call) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Buffer* buffer = function.params[i].buffer();
    if (!buffer) continue;
    const std::string what = what_of(function, function.params[i]);
    match_value(all[i], tensor_type(buffer->shape(), buffer->dtype()), symbols, error_class, call, what);
    check_layout(*buffer, all[i].tensor().shape(), symbols, error_class, call, what);
  }
}

}  // namespace

Value PrimArguments::result() const {
  if (results.size() == 1) return all[results[0]];
  std::vector<Value> fields;
  for (const std::size_t i : results) fields.push_back(all[i]);
  return Value::tuple(std::move(fields));
}

PrimArguments bind_prim_func(const PrimFunc& function, std::vector<Value> given, bool cleared) {
  const std::vector<ParamAccess> accesses = param_accesses(function);
  PrimArguments bound;
  std::size_t next = 0;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const PrimParam& param = function.params[i];
    const bool written = param.buffer() && accesses[i].written;
    if (written) bound.results.push_back(i);
    if (written && !accesses[i].read) {
      bound.all.emplace_back();
      continue;
    }
    if (next >= given.size()) {
      fail(ErrorClass::Usage, function.span, "call.arity",
           fmt::format("{}: missing argument '{}'", function.name, param.name()));
    }
    Value value = std::move(given[next++]);
    // Values are immutable: what is written is a copy.
    if (written && value.is_tensor()) value = value.tensor().copy();
    bound.all.push_back(std::move(value));
  }
  if (next != given.size()) {
    fail(ErrorClass::Usage, function.span, "call.arity",
         fmt::format("{} is given {}; it takes {}", function.name, counted(given.size(), "argument"), next));
  }
  bound.symbols = solve(function, bound.all, ErrorClass::Data, function.span);
  for (const std::size_t i : bound.results) {
    if (!bound.all[i].is_void()) continue;
    const Buffer& buffer = *function.params[i].buffer();
    const Type type = concrete_type(tensor_type(buffer.shape(), buffer.dtype()), bound.symbols);
    const Shape shape = concrete_shape(*type.tensor());
    bound.all[i] = cleared ? Tensor::zeros(buffer.dtype(), shape) : Tensor::empty(buffer.dtype(), shape);
    bound.made.push_back(i);
  }
  check(function, bound.all, bound.symbols, ErrorClass::Data, function.span);
  return bound;
}

SymbolValues bind_prim_func(const PrimFunc& function, std::span<const Value> all, ErrorClass error_class,
                            Span call) {
  SymbolValues symbols = solve(function, all, error_class, call);
  check(function, all, symbols, error_class, call);
  return symbols;
}

}  // namespace relish
