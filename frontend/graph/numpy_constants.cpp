// Values of NumPy's constructors: what they take is what they take there, without devices, orders and copies.
#include "frontend/graph/numpy_constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "frontend/types/attribute_reader.h"
#include "frontend/types/scalar_reader.h"
#include "support/counted.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {
namespace {

constexpr std::array<std::string_view, 11> constructors = {
    "array", "asarray", "zeros", "ones", "full", "eye", "identity", "arange", "float32", "float64", "int64"};

// "zeros" of np.zeros, numpy.zeros; empty for another expression.
std::string member(const ast::Expr& expr) {
  const std::string name = ast::dotted_name(expr);
  for (std::string_view prefix : {"np.", "numpy."})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return {};
}

// "inf" of math.inf and torch.inf, which are numbers as np.inf is; empty for another expression.
std::string number_elsewhere(const ast::Expr& expr) {
  const std::string name = ast::dotted_name(expr);
  const std::size_t dot = name.find('.');
  if (dot == name.npos || (name.substr(0, dot) != "math" && name.substr(0, dot) != "torch")) return {};
  const std::string word = name.substr(dot + 1);
  return word == "inf" || word == "nan" || word == "pi" || word == "e" ? word : "";
}

class NumPyReader {
 public:
  NumPyReader(const ReadContext& context, const ReadNumbers& numbers)
      : context_(context), numbers_(numbers) {}

  std::optional<Tensor> read(const ast::Expr& expr) const {
    if (const auto* negated = expr.as<ast::Prefix>(); negated && negated->op == ast::PrefixOperator::Minus) {
      if (auto inner = read(*negated->operand)) return negative(std::move(*inner), expr.span);
      return std::nullopt;
    }
    if (const std::string name = member(expr); !name.empty()) return named(name, expr.span);
    if (const std::string name = number_elsewhere(expr); !name.empty()) return named(name, expr.span);
    if (const auto* attribute = expr.as<ast::Attribute>()) return limit(*attribute);
    const auto* call = expr.as<ast::Call>();
    if (!call) return std::nullopt;
    const std::string name = ast::dotted_name(*call->callee);
    if (name == "tvm.runtime.tensor" || name == "tvm.nd.array") return around(*call, expr);
    if (const std::string own = member(*call->callee); !own.empty()) return made(own, *call, expr);
    const auto* method = call->callee->as<ast::Attribute>();
    if (!method) return std::nullopt;
    std::optional<Tensor> object = read(*method->object);
    if (!object) return std::nullopt;
    if (method->name == "astype") {
      expect(*call, expr, 1, 1, "astype");
      return converted(*object, dtype_of(*call->arguments[0].value), expr.span);
    }
    if (method->name == "reshape") return reshaped(*object, *call, expr);
    type_error(
        method->name_span, "const.value",
        fmt::format("found the method {} in R.const; expected reshape or astype", printable(method->name)));
  }

 private:
  static Tensor negative(Tensor value, Span at) {
    if (is_bool(value.dtype()) || is_unsigned_int(value.dtype()))
      type_error(at, "const.value",
                 fmt::format("found the negative of {} in R.const", name_of(value.dtype())));
    Tensor result = Tensor::empty(value.dtype(), value.shape());
    for (std::int64_t i = 0; i < value.size(); ++i) {
      if (is_float(value.dtype()))
        result.set_double(i, -value.get_double(i));
      else
        result.set_int(i, static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(value.get_int(i))));
    }
    return result;
  }

  [[noreturn]] static void unknown(std::string_view name, Span at) {
    type_error(at, "const.value",
               fmt::format("found np.{} in R.const; expected np.array of nested lists, np.zeros, np.ones, "
                           "np.full, np.eye, np.arange or a number",
                           printable(std::string(name))));
  }

  static std::optional<Tensor> named(const std::string& name, Span at) {
    const auto real = [](double value) { return Tensor::scalar(DType::Float64, value); };
    if (name == "inf" || name == "Inf") return real(std::numeric_limits<double>::infinity());
    if (name == "nan" || name == "NaN") return real(std::numeric_limits<double>::quiet_NaN());
    if (name == "pi") return real(std::numbers::pi);
    if (name == "e") return real(std::numbers::e);
    unknown(name, at);
  }

  // np.finfo(dtype).max, .min, .eps, .tiny; np.iinfo(dtype).max, .min.
  std::optional<Tensor> limit(const ast::Attribute& attribute) const {
    const auto* call = attribute.object->as<ast::Call>();
    const std::string about = call ? member(*call->callee) : "";
    if (about != "finfo" && about != "iinfo") return std::nullopt;
    if (call->arguments.size() != 1) unknown(about, attribute.name_span);
    const DType dtype = dtype_of(*call->arguments[0].value);
    if (about == "iinfo" && is_int(dtype) && (attribute.name == "max" || attribute.name == "min")) {
      const int bits = 8 * size_of(dtype) - (is_unsigned_int(dtype) ? 0 : 1);
      if (attribute.name == "min")
        return Tensor::scalar_int(dtype, is_unsigned_int(dtype) ? 0 : -(std::int64_t{1} << (bits - 1)) * 2);
      const std::uint64_t most = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
      return Tensor::scalar_int(dtype, static_cast<std::int64_t>(most));
    }
    if (about == "finfo" && (dtype == DType::Float32 || dtype == DType::Float64)) {
      const bool wide = dtype == DType::Float64;
      using Wide = std::numeric_limits<double>;
      using Narrow = std::numeric_limits<float>;
      const auto either = [&](double a, double b) { return Tensor::scalar(dtype, wide ? a : b); };
      if (attribute.name == "max") return either(Wide::max(), Narrow::max());
      if (attribute.name == "min") return either(Wide::lowest(), Narrow::lowest());
      if (attribute.name == "eps") return either(Wide::epsilon(), Narrow::epsilon());
      if (attribute.name == "tiny") return either(Wide::min(), Narrow::min());
    }
    type_error(attribute.name_span, "const.value",
               fmt::format("found {} of np.{}({}) in R.const; expected max or min, of np.finfo also eps and "
                           "tiny of float32 and float64",
                           printable(attribute.name), about, name_of(dtype)));
  }

  DType dtype_of(const ast::Expr& expr) const {
    if (const auto* text = expr.as<ast::StringValue>()) return read_dtype(text->value, expr.span);
    if (const std::string name = member(expr); !name.empty()) {
      if (name == "bool_") return DType::Bool;
      return read_dtype(name, expr.span);
    }
    const std::string* plain = ast::name_of(expr);
    if (plain && *plain == "float") return DType::Float64;
    if (plain && *plain == "int") return DType::Int64;
    if (plain && *plain == "bool") return DType::Bool;
    type_error(expr.span, "const.dtype",
               fmt::format("found {}; expected a dtype such as \"float32\"", ast::describe(expr)));
  }

  static void expect(const ast::Call& call, const ast::Expr& expr, std::size_t least, std::size_t most,
                     std::string_view name) {
    const std::size_t given = call.arguments.size();
    if (given < least || given > most)
      type_error(expr.span, "const.arguments",
                 fmt::format("found {} of {} in R.const", counted(given, "argument"), name));
  }

  // tvm.runtime.tensor(np.zeros((2, 2))): the array; a device is none of a constant's.
  std::optional<Tensor> around(const ast::Call& call, const ast::Expr& expr) const {
    expect(call, expr, 1, 1, "tvm.runtime.tensor");
    if (auto found = read(*call.arguments[0].value)) return found;
    return numbers_(*call.arguments[0].value);
  }

  Shape shape_of(const ast::Expr& expr) const {
    const Tensor dims = whole_numbers(expr);
    if (dims.rank() > 1) type_error(expr.span, "const.shape", "found no shape; expected such as (2, 3)");
    Shape shape;
    for (std::int64_t i = 0; i < dims.size(); ++i) shape.push_back(dims.get_int(i));
    return shape;
  }
  // Of a new array, whose dimensions are all said.
  Shape new_shape_of(const ast::Expr& expr) const {
    Shape shape = shape_of(expr);
    for (std::int64_t dim : shape)
      if (dim < 0)
        type_error(expr.span, "const.shape", fmt::format("found the dimension {}; expected 0 or more", dim));
    check_rank(shape.size());
    return shape;
  }
  // Integers, also in a list; the empty tuple is the shape of rank 0.
  Tensor whole_numbers(const ast::Expr& expr) const {
    Tensor found = numbers_(expr);
    if (is_float(found.dtype()) && found.size() > 0)
      type_error(expr.span, "const.shape", "found a number with a fraction; expected integers");
    return found;
  }

  static Tensor reshaped_to(const Tensor& object, Shape shape, Span at) {
    std::int64_t known = 1;
    std::ptrdiff_t open = -1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == -1 && open < 0) {
        open = static_cast<std::ptrdiff_t>(i);
      } else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known)) {
        type_error(at, "const.shape", "found no size of an array in reshape");
      }
    }
    if (open >= 0 && known > 0 && object.size() % known == 0)
      shape[static_cast<std::size_t>(open)] = object.size() / known;
    if (std::any_of(shape.begin(), shape.end(), [](std::int64_t dim) { return dim < 0; }) ||
        element_count(shape) != object.size()) {
      type_error(at, "const.shape",
                 fmt::format("found the shape ({}) for {} in reshape", fmt::join(shape, ", "),
                             counted(static_cast<std::size_t>(object.size()), "element")));
    }
    check_rank(shape.size());
    return object.reshaped(std::move(shape));
  }
  Tensor reshaped(const Tensor& object, const ast::Call& call, const ast::Expr& expr) const {
    Shape shape;
    for (const ast::Argument& argument : call.arguments) {
      if (!argument.name.empty())
        type_error(argument.name_span, "const.argument",
                   fmt::format("reshape has no argument '{}'", printable(argument.name)));
      const Shape part = shape_of(*argument.value);
      shape.insert(shape.end(), part.begin(), part.end());
    }
    return reshaped_to(object, std::move(shape), expr.span);
  }

  std::optional<Tensor> made(const std::string& name, const ast::Call& call, const ast::Expr& expr) const {
    // A dtype's name makes a number or an array of it.
    if (std::find(constructors.begin(), constructors.end(), name) == constructors.end() &&
        !dtype_from_name(name))
      unknown(name, expr.span);
    if (dtype_from_name(name)) {
      expect(call, expr, 1, 1, "np." + name);
      return converted(array_of(*call.arguments[0].value), *dtype_from_name(name), expr.span);
    }
    std::vector<const ast::Expr*> given;
    const ast::Expr* dtype = nullptr;
    for (const ast::Argument& argument : call.arguments) {
      if (argument.name == "dtype")
        dtype = argument.value.get();
      else if (argument.name.empty())
        given.push_back(argument.value.get());
      else
        type_error(argument.name_span, "const.argument",
                   fmt::format("np.{} in R.const has no argument '{}'", name, printable(argument.name)));
    }
    // np.array(values, "float32"), np.zeros(shape, "float32"), np.full(shape, value, "float32").
    const std::size_t before_dtype = name == "full" ? 2 : name == "arange" || name == "eye" ? 3 : 1;
    if (!dtype && given.size() == before_dtype + 1) {
      dtype = given.back();
      given.pop_back();
    }
    if (given.empty() || given.size() > before_dtype || (name == "full" && given.size() != 2))
      type_error(expr.span, "const.arguments",
                 fmt::format("found {} of np.{} in R.const", counted(given.size(), "argument"), name));
    Tensor plain = constructed(name, given, expr.span);
    return dtype ? converted(plain, dtype_of(*dtype), expr.span) : plain;
  }

  Tensor array_of(const ast::Expr& expr) const {
    if (auto inner = read(expr)) return *inner;
    return numbers_(expr);
  }

  Tensor constructed(const std::string& name, const std::vector<const ast::Expr*>& given, Span at) const {
    if (name == "array" || name == "asarray") return array_of(*given[0]);
    if (name == "eye" || name == "identity") return eye(given, at);
    if (name == "arange") return arange(given, at);
    Shape shape = new_shape_of(*given[0]);
    if (name == "zeros") return Tensor::zeros(DType::Float64, std::move(shape));
    const Tensor value = name == "ones" ? Tensor::scalar(DType::Float64, 1) : array_of(*given[1]);
    if (value.size() != 1) type_error(given[1]->span, "const.value", "found several values in np.full");
    Tensor result = Tensor::empty(value.dtype(), std::move(shape));
    for (std::int64_t i = 0; i < result.size(); ++i)
      is_float(value.dtype()) ? result.set_double(i, value.get_double(0))
                              : result.set_int(i, value.get_int(0));
    return result;
  }

  Tensor eye(const std::vector<const ast::Expr*>& given, Span at) const {
    if (given.size() > 2)
      type_error(at, "const.arguments", "found a diagonal of np.eye; expected rows and columns");
    const std::int64_t rows = one_of(*given[0]), columns = given.size() > 1 ? one_of(*given[1]) : rows;
    if (rows < 0 || columns < 0)
      type_error(at, "const.shape", "found a negative size of np.eye; expected 0 or more");
    Tensor result = Tensor::zeros(DType::Float64, {rows, columns});
    for (std::int64_t i = 0; i < std::min(rows, columns); ++i) result.set_double(i * columns + i, 1);
    return result;
  }
  std::int64_t one_of(const ast::Expr& expr) const {
    const Tensor found = whole_numbers(expr);
    if (found.size() != 1) type_error(expr.span, "const.shape", "found several numbers; expected one");
    return found.get_int(0);
  }

  // As NumPy counts: ceil((end - begin) / step) values begin + i * step.
  Tensor arange(const std::vector<const ast::Expr*>& given, Span at) const {
    std::vector<Tensor> limits;
    bool real = false;
    for (const ast::Expr* expr : given) {
      limits.push_back(array_of(*expr));
      if (limits.back().size() != 1)
        type_error(expr->span, "const.value", "found several numbers; expected one");
      real = real || is_float(limits.back().dtype());
    }
    const auto value = [&](std::size_t i) { return limits[i].get_double(0); };
    const double begin = given.size() > 1 ? value(0) : 0, end = given.size() > 1 ? value(1) : value(0),
                 step = given.size() > 2 ? value(2) : 1;
    const double count = std::max(0.0, std::ceil((end - begin) / step));
    if (step == 0 || !std::isfinite(count) || count > 9e15)
      type_error(at, "const.value", "found no end of np.arange; expected a step that reaches it");
    Tensor result = Tensor::empty(real ? DType::Float64 : DType::Int64, {static_cast<std::int64_t>(count)});
    for (std::int64_t i = 0; i < result.size(); ++i)
      result.set_double(i, begin + static_cast<double>(i) * step);
    return result;
  }

  const ReadContext& context_;
  const ReadNumbers& numbers_;
};

}  // namespace

Tensor converted(const Tensor& from, DType dtype, Span at) {
  if (from.dtype() == dtype) return from;
  Tensor result = Tensor::empty(dtype, from.shape());
  for (std::int64_t i = 0; i < from.size(); ++i) {
    const bool real = is_float(from.dtype());
    if (is_float(dtype)) {
      const double value = from.get_double(i);
      result.set_double(i, value);
      const bool lost = std::isfinite(value) &&
                        (!std::isfinite(result.get_double(i)) || (value != 0 && result.get_double(i) == 0));
      if (lost) {
        type_error(
            at, "const.value",
            fmt::format("found {} in a constant of {}, which has no such value", value, name_of(dtype)));
      }
    } else if (is_bool(dtype)) {
      result.set_int(i, from.get_double(i) != 0);
    } else {
      const double value = real ? std::trunc(from.get_double(i)) : 0;
      const std::int64_t whole = real ? 0 : from.get_int(i);
      real ? result.set_double(i, value) : result.set_int(i, whole);
      const bool same = real ? std::isfinite(value) && result.get_double(i) == value
                             : result.get_int(i) == whole && !(is_unsigned_int(dtype) && whole < 0);
      if (!same) {
        const std::string found = real ? fmt::format("{}", from.get_double(i)) : fmt::format("{}", whole);
        type_error(
            at, "const.value",
            fmt::format("found {} in a constant of {}, which has no such value", found, name_of(dtype)));
      }
    }
  }
  return result;
}

std::optional<Tensor> numpy_constant(const ReadContext& context, const ast::Expr& expr,
                                     const ReadNumbers& numbers) {
  return NumPyReader(context, numbers).read(expr);
}

}  // namespace relish
