// Arguments of prim_funcs.
#include "ir/calls/prim_arguments.h"

#include <fmt/format.h>

#include "ir/calls/buffer_layout.h"
#include "support/counted.h"
#include "support/failure.h"

namespace relish {
namespace {

std::string what_of(const PrimFunc& function, const PrimParam& param) {
  return fmt::format("{}: {}", function.name, param.name());
}

// What scalars and tensors tell: bare dims first, whatever the order of the parameters; expressions such as
// n * 2 are then checked.
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
