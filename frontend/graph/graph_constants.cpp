// Constants of Relax functions: R.const of numbers in nested lists, and entries of the section of large
// constants.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "frontend/graph/graph_calls.h"
#include "frontend/graph/numpy_constants.h"
#include "frontend/types/attribute_reader.h"
#include "runtime/literal.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {
namespace {

// float("inf"), T.float32("nan") and their negatives.
std::optional<double> special_float(const ReadContext& context, const ast::Expr& expr) {
  if (auto* negated = expr.as<ast::Prefix>(); negated && negated->op == ast::PrefixOperator::Minus) {
    auto inner = special_float(context, *negated->operand);
    return inner ? std::optional(-*inner) : std::nullopt;
  }
  auto* call = expr.as<ast::Call>();
  if (!call || call->arguments.size() != 1) return std::nullopt;
  std::string name = context.namespaces.canonical(*call->callee);
  if (name != "float" && name != "T.float16" && name != "T.float32" && name != "T.float64")
    return std::nullopt;
  const ast::Expr& argument = *call->arguments[0].value;
  if (auto* value = argument.as<ast::FloatValue>()) return value->value;
  if (auto* value = argument.as<ast::IntValue>()) return static_cast<double>(value->value);
  auto* text = argument.as<ast::StringValue>();
  if (!text) return std::nullopt;
  if (text->value == "inf") return std::numeric_limits<double>::infinity();
  if (text->value == "-inf") return -std::numeric_limits<double>::infinity();
  if (text->value == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

// Numbers of a nested list in row-major order, with the shape that they have in common.
class ConstantReader {
 public:
  // `what`: in messages, what is read.
  explicit ConstantReader(const ReadContext& context, std::string_view what = "R.const")
      : context_(context), what_(what) {}

  void read(const ast::Expr& expr, std::size_t axis) {
    if (auto* list = expr.as<ast::ListValue>()) return read_items(expr, list->items, axis);
    if (auto* tuple = expr.as<ast::TupleValue>()) return read_items(expr, tuple->items, axis);
    if (auto* numbers = expr.as<ast::NumberListValue>()) {
      open(expr, axis, static_cast<std::int64_t>(numbers->size()));
      for (std::int64_t value : numbers->integers) add_integer(expr, axis + 1, value);
      for (double value : numbers->reals) add_real(expr, axis + 1, value);
      return;
    }
    if (auto* value = expr.as<ast::IntValue>()) return add_integer(expr, axis, value->value);
    if (auto* value = expr.as<ast::FloatValue>()) return add_real(expr, axis, value->value);
    if (auto* value = expr.as<ast::BoolValue>()) {
      any_bool_ = true;
      return add_integer(expr, axis, value->value, true);
    }
    if (auto special = special_float(expr)) return add_real(expr, axis, *special);
    if (auto number = literal_arithmetic(expr)) {
      if (auto* integer = std::get_if<std::int64_t>(&*number)) return add_integer(expr, axis, *integer);
      return add_real(expr, axis, std::get<double>(*number));
    }
    fail(ErrorClass::Type, expr.span, "const.value",
         fmt::format("found {} in {}; expected numbers in nested lists{}", ast::describe(expr), what_,
                     ast::name_of(expr)
                         ? "; what a name holds is no constant and stands where it is wanted, as R.take(x, i)"
                         : ""));
  }

  DType default_dtype() const {
    return any_real_ ? DType::Float32 : any_integer_ || !any_bool_ ? DType::Int32 : DType::Bool;
  }
  // The tensor of that dtype; TypeError for a number that is no value of it.
  Tensor tensor(DType dtype, Span at) const {
    Tensor result = Tensor::empty(dtype, shape_);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      auto index = static_cast<std::int64_t>(i);
      if (is_float(dtype)) {
        result.set_double(index, real_at(i));
        if (std::isfinite(real_at(i)) && !std::isfinite(result.get_double(index)))
          no_such_value(i, dtype, at);
        continue;
      }
      double real = real_at(i);
      bool whole =
          !values_[i].is_real || (std::isfinite(real) && std::trunc(real) == real && std::abs(real) < 9.2e18);
      std::int64_t value = values_[i].is_real && whole ? static_cast<std::int64_t>(real) : values_[i].integer;
      if (whole) {
        result.set_int(index, value);
        whole = result.get_int(index) == value && !(is_unsigned_int(dtype) && value < 0) &&
                !(is_bool(dtype) && value != 0 && value != 1);
      }
      if (!whole) no_such_value(i, dtype, at);
    }
    return result;
  }

  // The numbers beside a tensor of that dtype: each is a value of it, and of its kind.
  Tensor tensor_beside(DType dtype, Span at) const {
    Tensor result = Tensor::empty(dtype, shape_);
    auto* to = static_cast<std::byte*>(result.mutable_data());
    const auto size = static_cast<std::size_t>(size_of(dtype));
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Number& number = values_[i];
      const LiteralNumber literal = number.is_real   ? LiteralNumber(number.real)
                                    : number.is_bool ? LiteralNumber(number.integer != 0)
                                                     : LiteralNumber(number.integer);
      const Tensor one = tensor_of_literal(literal, dtype, at);
      std::memcpy(to + i * size, one.data(), size);
    }
    return result;
  }
  // The numbers as tensor(value, dtype) has them: rounded, but no float is an integer.
  Tensor tensor_given(DType dtype, Span at) const {
    if (any_real_ && !is_float(dtype)) return tensor_beside(dtype, at);
    return tensor(dtype, at);
  }

  // The dtype of the given one's kind that has every number, for one that has not.
  DType large_enough(DType dtype) const {
    if (is_float(dtype)) {
      const bool in_float32 = std::all_of(values_.begin(), values_.end(), [](const Number& number) {
        return !number.is_real || !std::isfinite(number.real) ||
               std::isfinite(static_cast<float>(number.real));
      });
      return in_float32 ? DType::Float32 : DType::Float64;
    }
    const bool whole = std::all_of(values_.begin(), values_.end(), [](const Number& number) {
      return !number.is_real || (std::trunc(number.real) == number.real && std::abs(number.real) < 9.2e18);
    });
    if (!whole) return DType::Float32;
    bool negative = false;
    double largest = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      negative = negative || real_at(i) < 0;
      largest = std::max(largest, std::abs(real_at(i)));
    }
    const bool without_sign = is_unsigned_int(dtype) && !negative;
    for (int bytes = size_of(dtype); bytes < 8; bytes *= 2) {
      const double values = std::ldexp(1, 8 * bytes - (without_sign ? 0 : 1));
      if (largest >= values) continue;
      const auto name = fmt::format("{}int{}", without_sign ? "u" : "", 8 * bytes);
      if (auto found = dtype_from_name(name)) return *found;
    }
    return without_sign ? DType::UInt64 : DType::Int64;
  }

 private:
  struct Number {
    bool is_real;
    std::int64_t integer;
    double real;
    bool is_bool = false;
  };

  [[noreturn]] void no_such_value(std::size_t i, DType dtype, Span at) const {
    fail(ErrorClass::Type, at, "const.value",
         fmt::format(
             "found {} in a constant of {}, which has no such value",
             values_[i].is_real ? fmt::format("{}", values_[i].real) : fmt::format("{}", values_[i].integer),
             name_of(dtype)));
  }

  double real_at(std::size_t i) const {
    return values_[i].is_real ? values_[i].real : static_cast<double>(values_[i].integer);
  }

  std::optional<double> special_float(const ast::Expr& expr) const {
    return relish::special_float(context_, expr);
  }

  void read_items(const ast::Expr& expr, const std::vector<ast::ExprPtr>& items, std::size_t axis) {
    open(expr, axis, static_cast<std::int64_t>(items.size()));
    const auto* around = std::exchange(siblings_, &items);
    for (const ast::ExprPtr& item : items) read(*item, axis + 1);
    siblings_ = around;
  }

  void open(const ast::Expr& expr, std::size_t axis, std::int64_t length) {
    if (axis == shape_.size() && !closed_) {
      shape_.push_back(length);
    } else if (axis >= shape_.size() || shape_[axis] != length) {
      ragged(expr);
    }
  }
  void add(const ast::Expr& expr, std::size_t axis, Number number) {
    if (axis != shape_.size()) ragged(expr);
    closed_ = true;
    values_.push_back(number);
  }
  void add_integer(const ast::Expr& expr, std::size_t axis, std::int64_t value, bool truth = false) {
    any_integer_ |= !truth;
    add(expr, axis, {false, value, 0, truth});
  }
  void add_real(const ast::Expr& expr, std::size_t axis, double value) {
    any_real_ = true;
    add(expr, axis, {true, 0, value});
  }
  [[noreturn]] void ragged(const ast::Expr& expr) const {
    fail(ErrorClass::Type, expr.span, "const.shape",
         fmt::format("found lists of unequal length in {}; expected a regular nesting", what_),
         unwrapped_items());
  }
  // Of a list that has numbers and lists of one number: the numbers of these lists.
  std::vector<DiagnosticNote> unwrapped_items() const {
    bool numbers = false;
    std::vector<DiagnosticNote> notes;
    if (!siblings_) return notes;
    for (const ast::ExprPtr& item : *siblings_) {
      const auto* list = item->as<ast::ListValue>();
      const auto* one = item->as<ast::NumberListValue>();
      if (!list && !one && !item->as<ast::TupleValue>()) numbers = true;
      const Span span = item->span;
      if (list && list->items.size() == 1 && !list->items[0]->as<ast::ListValue>())
        notes.push_back(write_here(span, context_.text_of(list->items[0]->span)));
      else if (one && !one->tuple && one->size() == 1)
        notes.push_back(write_here(span, context_.text_of({span.file, span.begin + 1, span.end - 1})));
    }
    if (!numbers) notes.clear();
    return notes;
  }

  const ReadContext& context_;
  std::string_view what_;
  Shape shape_;
  std::vector<Number> values_;
  const std::vector<ast::ExprPtr>* siblings_ = nullptr;  // the items of the list that is being read
  bool closed_ = false;                                  // a number was seen: the rank is fixed
  bool any_real_ = false, any_integer_ = false, any_bool_ = false;
};

// Of R.const without a dtype, as TVM has it: wide arrays of NumPy become narrow ones.
DType constant_dtype(DType numpy) {
  return numpy == DType::Float64 ? DType::Float32 : numpy == DType::Int64 ? DType::Int32 : numpy;
}

}  // namespace

bool GraphLiterals::is_number(const ast::Expr& expr) {
  if (expr.as<ast::IntValue>() || expr.as<ast::FloatValue>() || expr.as<ast::BoolValue>()) return true;
  if (expr.as<ast::Chain>() || expr.as<ast::Prefix>()) {
    return literal_arithmetic(expr) || special_float(context_, expr);
  }
  // T.float32("inf") has a dtype of its own.
  const auto* call = expr.as<ast::Call>();
  const std::string* callee = call ? ast::name_of(*call->callee) : nullptr;
  return callee && *callee == "float" && !look_up(*callee) && special_float(context_, expr);
}

const ast::Expr* GraphLiterals::single_number(const ast::Expr& name) {
  if (const std::string* id = ast::name_of(name)) {
    Entry* entry = look_up(*id);
    const auto* bound = entry ? std::get_if<Bound>(&entry->meaning) : nullptr;
    return bound ? bound->number : nullptr;
  }
  const auto* subscript = name.as<ast::Subscript>();
  const auto* shape = subscript ? subscript->object->as<ast::Attribute>() : nullptr;
  const std::string* tensor = shape && shape->name == "shape" ? ast::name_of(*shape->object) : nullptr;
  if (!tensor || subscript->items.size() != 1) return nullptr;
  const auto axis = literal_arithmetic(*subscript->items[0]);
  const auto* at = axis ? std::get_if<std::int64_t>(&*axis) : nullptr;
  const Scalar dimension = at ? dimension_of(*tensor, *at) : Scalar();
  const auto value = dimension.defined() ? dimension.as_int() : std::nullopt;
  return value ? integer_at(*value, name.span) : nullptr;
}

bool GraphLiterals::mentions_number(const ast::Expr& expr) {
  if (const auto* prefix = expr.as<ast::Prefix>()) return mentions_number(*prefix->operand);
  const auto* chain = expr.as<ast::Chain>();
  if (!chain) return single_number(expr) != nullptr;
  return mentions_number(*chain->first) ||
         std::any_of(chain->links.begin(), chain->links.end(),
                     [&](const ast::Link& link) { return mentions_number(*link.operand); });
}

const ast::Expr* GraphLiterals::named_number(const ast::Expr& expr) {
  if (!expr.as<ast::Prefix>() && !expr.as<ast::Chain>()) return single_number(expr);
  if (!mentions_number(expr)) return nullptr;
  const auto number = literal_arithmetic(expr, [this](const ast::Expr& name) { return single_number(name); });
  if (!number) return nullptr;
  if (const auto* integer = std::get_if<std::int64_t>(&*number)) return integer_at(*integer, expr.span);
  return &made_.emplace_back(ast::Expr{expr.span, ast::FloatValue{std::get<double>(*number)}});
}

const ast::Expr* GraphLiterals::named_numbers(const ast::Expr& list) {
  std::vector<ast::ExprPtr> numbers;
  if (const std::string* id = ast::name_of(list)) {  // `axes = (0, 1)` before
    Entry* entry = look_up(*id);
    const auto* bound = entry ? std::get_if<Bound>(&entry->meaning) : nullptr;
    if (!bound || !bound->dims) return nullptr;
    for (const Scalar& dim : *bound->dims) {
      const auto number = dim.as_int();
      if (!number) return nullptr;
      numbers.push_back(std::make_unique<ast::Expr>(ast::Expr{list.span, ast::IntValue{*number}}));
    }
    return &made_.emplace_back(ast::Expr{list.span, ast::ListValue{std::move(numbers)}});
  }
  const std::vector<ast::ExprPtr>* items = ast::items_of(list);
  if (!items) return nullptr;
  bool any = false;
  for (const ast::ExprPtr& item : *items) {
    const ast::Expr* named = named_number(*item);
    any = any || named;
    const auto number = literal_arithmetic(named ? *named : *item);
    if (!number) return nullptr;
    numbers.push_back(std::make_unique<ast::Expr>(
        std::holds_alternative<std::int64_t>(*number)
            ? ast::Expr{item->span, ast::IntValue{std::get<std::int64_t>(*number)}}
            : ast::Expr{item->span, ast::FloatValue{std::get<double>(*number)}}));
  }
  if (!any) return nullptr;
  return &made_.emplace_back(ast::Expr{list.span, ast::ListValue{std::move(numbers)}});
}

bool GraphLiterals::is_number_list(const ast::Expr& expr) {
  if (expr.as<ast::NumberListValue>()) return true;
  const auto* list = expr.as<ast::ListValue>();
  const auto* tuple = expr.as<ast::TupleValue>();
  if (!list && !tuple) return false;
  const std::vector<ast::ExprPtr>& items = list ? list->items : tuple->items;
  return !items.empty() && std::all_of(items.begin(), items.end(), [&](const ast::ExprPtr& item) {
    return is_number(*item) || is_number_list(*item);
  });
}

Expr GraphLiterals::literal_beside(const ast::Expr& literal, DType dtype) {
  ConstantReader reader(context_, "a list");
  reader.read(literal, 0);
  return constant(reader.tensor_beside(dtype, literal.span), literal.span);
}

Expr GraphLiterals::literal_argument(const ast::Expr& literal, DType dtype) {
  ConstantReader reader(context_, "a list");
  reader.read(literal, 0);
  return constant(reader.tensor_given(dtype, literal.span), literal.span);
}

Expr GraphCalls::constant_of(const ast::Expr& expr, const ast::Call& call) {
  const ast::Expr* written = nullptr;
  const ast::Expr* dtype = nullptr;
  for (const ast::Argument& argument : call.arguments) {
    if (argument.name == "dtype" || (argument.name.empty() && written))
      dtype = argument.value.get();
    else if (argument.name.empty() || argument.name == "value")
      written = argument.value.get();
    else
      type_error(argument.name_span, "const.argument",
                 fmt::format("R.const has no argument '{}'", printable(argument.name)));
  }
  if (!written || call.arguments.size() > 2)
    type_error(expr.span, "const.arguments",
               fmt::format("found {} of R.const; expected a value and a dtype",
                           counted(call.arguments.size(), "argument")));
  const auto numbers = [&](const ast::Expr& list) {
    ConstantReader reader(context_);
    reader.read(list, 0);
    const DType narrow = reader.default_dtype();
    return reader.tensor(is_float(narrow)  ? DType::Float64
                         : is_bool(narrow) ? narrow
                                           : DType::Int64,
                         list.span);
  };
  const std::optional<Tensor> array = numpy_constant(context_, *written, numbers);
  ConstantReader reader(context_);
  if (!array) reader.read(*written, 0);
  DType element = array ? constant_dtype(array->dtype()) : reader.default_dtype();
  if (dtype && !dtype->as<ast::NoneValue>()) {
    auto* text = dtype->as<ast::StringValue>();
    if (!text)
      type_error(dtype->span, "const.dtype",
                 fmt::format("found {}; expected a dtype such as \"float32\"", ast::describe(*dtype)));
    element = read_dtype(text->value, dtype->span);
  }
  try {
    if (array) return constant(converted(*array, element, written->span), expr.span);
    return constant(reader.tensor(element, written->span), expr.span);
  } catch (Failure& failure) {
    if (dtype && !array && failure.diagnostics()[0].id == "const.value")
      failure.diagnostics()[0].notes.push_back(
          write_here(dtype->span, fmt::format("\"{}\"", name_of(reader.large_enough(element)))));
    throw;
  }
}

// metadata["relax.expr.Constant"][k], meta[relax.Constant][k] of 2022; nothing for another subscript.
std::optional<Expr> GraphValues::metadata_constant(const ast::Expr& expr, const ast::Subscript& subscript) {
  auto* table = subscript.object->as<ast::Subscript>();
  const std::string* name = table ? ast::name_of(*table->object) : nullptr;
  if (!name || (*name != "metadata" && *name != "meta") || look_up(*name)) return std::nullopt;
  if (table->items.size() != 1 || subscript.items.size() != 1) return std::nullopt;
  auto* key = table->items[0]->as<ast::StringValue>();
  std::string kind = key ? key->value : ast::dotted_name(*table->items[0]);
  if (kind != "relax.expr.Constant" && kind != "relax.Constant" && kind != "relay.Constant") {
    type_error(table->items[0]->span, "metadata.kind",
               fmt::format("found the metadata of '{}'; only relax.expr.Constant is read", printable(kind)));
  }
  if (!context_.has_metadata) {
    type_error(expr.span, "metadata.missing",
               "found a constant in metadata, which the text does not have: it was printed without "
               "show_meta=True");
  }
  if (context_.metadata_damaged) throw ReadContext::Silent{};
  auto* index = subscript.items[0]->as<ast::IntValue>();
  if (!index || index->value < 0 ||
      static_cast<std::size_t>(index->value) >= context_.metadata_constants.size()) {
    type_error(subscript.items[0]->span, "metadata.index",
               fmt::format("found {} as the index of a constant; the metadata has {}",
                           ast::describe(*subscript.items[0]), context_.metadata_constants.size()));
  }
  return constant(context_.metadata_constants[static_cast<std::size_t>(index->value)], expr.span);
}

Expr GraphCalls::named_constant(const ast::Expr& expr, const ast::Call& call) {
  auto* name = call.arguments.size() == 1 ? call.arguments[0].value->as<ast::StringValue>() : nullptr;
  if (!name)
    type_error(expr.span, "constants.name", "relish.constant takes the name of an entry as a string");
  const Tensor* tensor = globals_.find_constant(name->value);
  if (!tensor && context_.constants_damaged) throw ReadContext::Silent{};
  if (!tensor) {
    type_error(expr.span, "constants.unknown",
               fmt::format("found no entry '{}' in the section of constants at the end of the text",
                           printable(name->value)));
  }
  return constant(*tensor, expr.span);
}

}  // namespace relish
