// From written arguments to an operator's arguments and attributes: matching by position and keyword,
// defaults, and the conversion of each value to what its parameter takes.
#include "ir/operators/op_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ir/operators/foreign_keywords.h"
#include "ir/printer/printer.h"
#include "support/failure.h"
#include "support/fix.h"
#include "support/suggest.h"

namespace relish {
namespace {

// Reads the text of a default: None, True, False, numbers, quoted strings, lists and tuples of these.
class DefaultReader {
 public:
  explicit DefaultReader(std::string_view text) : text_(text) {}

  Attribute read() {
    Attribute value = item();
    skip_blanks();
    RELISH_CHECK(at_ == text_.size(), message());
    return value;
  }

 private:
  std::string message() const { return fmt::format("malformed default '{}'", text_); }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Attribute item() {
    skip_blanks();
    RELISH_CHECK(at_ < text_.size(), message());
    const char c = text_[at_];
    if (c == '[' || c == '(') return list(c == '[' ? ']' : ')');
    if (c == '"' || c == '\'') return quoted(c);
    const std::size_t end = std::min(text_.find_first_of(",]) ", at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    if (word == "None") return {};
    if (word == "True" || word == "False") return word == "True";
    std::int64_t integer = 0;
    auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), integer);
    if (error == std::errc() && stop == word.data() + word.size()) return integer;
    double real = 0;
    auto [real_stop, real_error] = std::from_chars(word.data(), word.data() + word.size(), real);
    RELISH_CHECK(real_error == std::errc() && real_stop == word.data() + word.size(), message());
    return real;
  }

  Attribute list(char close) {
    ++at_;
    AttributeList items;
    while (!take(close)) {
      items.push_back(item());
      take(',');
    }
    return items;
  }

  Attribute quoted(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    RELISH_CHECK(end != std::string_view::npos, message());
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

[[noreturn]] void refuse(const Op& op, std::string_view constraint, Span span, std::string message) {
  const std::string_view name = short_name_of(op);
  fail(ErrorClass::Type, span, fmt::format("{}.{}", name, constraint), fmt::format("{}: {}", name, message));
}

[[noreturn]] void refuse_kind(const Op& op, const Param& param, Span span, const std::string& found,
                              std::string_view expected) {
  refuse(op, param.name, span, fmt::format("{} is {}; expected {}", param.name, found, expected));
}

std::vector<std::string_view> alternatives_of(std::string_view type) {
  std::vector<std::string_view> words;
  while (!type.empty()) {
    const std::size_t end = std::min(type.find(" or "), type.size());
    words.push_back(type.substr(0, end));
    type.remove_prefix(std::min(end + 4, type.size()));
  }
  return words;
}

bool all_ints(const Attribute& value) {
  const auto* list = value.as<AttributeList>();
  return list &&
         std::all_of(list->begin(), list->end(), [](const Attribute& a) { return a.as<std::int64_t>(); });
}

// The value as one documented type names it; nullopt when it is of another. A word that names no simple type
// takes anything: the operator's own rule checks it.
std::optional<Attribute> as_documented(std::string_view word, const Attribute& value) {
  if (word == "None") return value.is_none() ? std::optional(value) : std::nullopt;
  if (word == "int") {
    if (const auto* flag = value.as<bool>()) return Attribute(std::int64_t{*flag});
    return value.as<std::int64_t>() ? std::optional(value) : std::nullopt;
  }
  if (word == "float") {
    if (const auto* integer = value.as<std::int64_t>()) return Attribute(static_cast<double>(*integer));
    return value.as<double>() ? std::optional(value) : std::nullopt;
  }
  if (word == "bool") {
    const auto* integer = value.as<std::int64_t>();
    if (integer && (*integer == 0 || *integer == 1)) return Attribute(*integer == 1);
    return value.as<bool>() ? std::optional(value) : std::nullopt;
  }
  if (word == "str") {
    if (const auto* dtype = value.as<DType>()) return Attribute(std::string(name_of(*dtype)));
    return value.as<std::string>() ? std::optional(value) : std::nullopt;
  }
  if (word == "list[int]") return all_ints(value) ? std::optional(value) : std::nullopt;
  if (word == "dtype") {
    if (value.as<DType>()) return value;
    const auto* name = value.as<std::string>();
    std::optional<DType> dtype = name ? dtype_from_name(*name) : std::nullopt;
    return dtype ? std::optional(Attribute(*dtype)) : std::nullopt;
  }
  return value;
}

Expr expr_of(const Op& op, const Param& param, const Attribute& value, Span span) {
  if (const auto* v = value.as<bool>()) return scalar_value(bool_literal(*v, span), span);
  if (const auto* v = value.as<std::int64_t>())
    return scalar_value(int_literal(DType::Int64, *v, span), span);
  if (const auto* v = value.as<double>()) return scalar_value(float_literal(DType::Float64, *v, span), span);
  const bool any = param.kind == ParamKind::Any || param.kind == ParamKind::AnyRest;
  const std::string_view expected = any                               ? "a value"
                                    : param.kind == ParamKind::Scalar ? "a scalar"
                                                                      : "a tensor";
  refuse_kind(op, param, span, print(value), expected);
}

bool is_open(const Expr& expr) { return expr.type().as<AnyType>() || expr.type().is_error(); }

Expr shape_of(const Op& op, const Param& param, const WrittenArgument& written) {
  std::vector<Scalar> dims;
  auto refuse_value = [&](const std::string& found) {
    refuse_kind(op, param, written.span, found, "a shape");
  };
  if (const auto* value = std::get_if<Attribute>(&written.value)) {
    if (!value->as<std::int64_t>() && !all_ints(*value)) refuse_value(print(*value));
    for (std::int64_t dim : int_list(*value)) dims.emplace_back(dim);
    return shape_literal(std::move(dims), written.span);
  }
  const Expr& expr = std::get<Expr>(written.value);
  if (expr.type().as<ShapeType>() || is_open(expr)) return expr;
  if (const auto* scalar = expr.as<ScalarValueExpr>()) return shape_literal({scalar->value}, written.span);
  const auto* fields = expr.as<TupleExpr>();
  if (!fields) refuse_value(print(expr.type()));
  for (const Expr& field : fields->fields) {
    const auto* scalar = field.as<ScalarValueExpr>();
    if (!scalar) refuse_value(print(expr.type()));
    dims.push_back(scalar->value);
  }
  return shape_literal(std::move(dims), written.span);
}

// A literal as a value of its own kind; a list is a tuple.
Expr value_of(const Op& op, const Param& param, const Attribute& value, Span span) {
  if (const auto* text = value.as<std::string>()) return string_literal(*text, span);
  if (const auto* dtype = value.as<DType>()) return dtype_literal(*dtype, span);
  const auto* list = value.as<AttributeList>();
  if (!list) return expr_of(op, param, value, span);
  std::vector<Expr> fields;
  for (const Attribute& item : *list) fields.push_back(value_of(op, param, item, span));
  return tuple(std::move(fields), span);
}

// A value of any type. What the parameter's documented type says refines literals: lists of dimensions are
// shapes for "shape", names are dtypes for "dtype".
Expr any_value_of(const Op& op, const Param& param, const WrittenArgument& written) {
  const std::vector<std::string_view> words = alternatives_of(param.type);
  const auto documented = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  const auto* literal = std::get_if<Attribute>(&written.value);
  if (!literal) {
    const Expr& expr = std::get<Expr>(written.value);
    const auto* fields = expr.as<TupleExpr>();
    return documented("shape") && fields && !fields->fields.empty() ? shape_of(op, param, written) : expr;
  }
  if (const auto* list = literal->as<AttributeList>(); list && !list->empty() && documented("shape"))
    return shape_of(op, param, written);
  if (const auto* name = literal->as<std::string>(); name && documented("dtype")) {
    const std::optional<DType> dtype = dtype_from_name(*name);
    if (!dtype) refuse_kind(op, param, written.span, print(*literal), "a dtype");
    return dtype_literal(*dtype, written.span);
  }
  return value_of(op, param, *literal, written.span);
}

Expr argument_of(const Op& op, const Param& param, const WrittenArgument& written) {
  if (param.kind == ParamKind::Shape) return shape_of(op, param, written);
  if (param.kind == ParamKind::Any || param.kind == ParamKind::AnyRest)
    return any_value_of(op, param, written);
  const auto* value = std::get_if<Attribute>(&written.value);
  if (param.kind == ParamKind::TensorTuple) {
    const auto* list = value ? value->as<AttributeList>() : nullptr;
    if (list && list->empty()) return tuple({}, written.span);
    if (value) refuse_kind(op, param, written.span, print(*value), "a tuple of tensors");
    const Expr& expr = std::get<Expr>(written.value);
    if (!expr.type().tuple() && !is_open(expr)) {
      refuse_kind(op, param, written.span, print(expr.type()), "a tuple of tensors");
    }
    return expr;
  }
  if (value) return expr_of(op, param, *value, written.span);
  const Expr& expr = std::get<Expr>(written.value);
  if (param.kind == ParamKind::Scalar && !expr.type().as<ScalarType>() && !is_open(expr)) {
    refuse_kind(op, param, written.span, print(expr.type()), "a scalar");
  }
  return expr;
}

bool is_none(const WrittenArgument& written) {
  const auto* value = std::get_if<Attribute>(&written.value);
  return value && value->is_none();
}

// The written argument of each parameter, or null. `rest`: those of a parameter that takes any number.
std::vector<const WrittenArgument*> match_parameters(const Op& op,
                                                     const std::vector<WrittenArgument>& written, Span call,
                                                     std::vector<const WrittenArgument*>& rest) {
  std::vector<const WrittenArgument*> given(op.params.size(), nullptr);
  std::size_t position = 0;
  for (const WrittenArgument& argument : written) {
    const Span at = argument.span.known() ? argument.span : call;
    std::size_t index = parameter_at(op, position);
    if (argument.name.empty()) {
      if (position < op.params.size() && op.params[position].kind == ParamKind::AnyRest) {
        rest.push_back(&argument);
        continue;
      }
      if (position++ >= op.params.size()) {
        const auto count =
            std::count_if(written.begin(), written.end(), [](const auto& w) { return w.name.empty(); });
        // What goes is the argument with the ',' before it.
        const std::size_t which = static_cast<std::size_t>(&argument - written.data());
        std::vector<DiagnosticNote> notes;
        if (which > 0 && written[which - 1].span.known() && argument.span.known())
          notes.push_back(remove_this({at.file, written[which - 1].span.end, at.end}));
        fail(ErrorClass::Type, at, fmt::format("{}.surplus", short_name_of(op)),
             fmt::format("{}: {} arguments are given; it takes at most {}", short_name_of(op), count,
                         op.params.size()),
             std::move(notes));
      }
    } else {
      auto found = std::find_if(op.params.begin(), op.params.end(),
                                [&](const Param& param) { return param.name == argument.name; });
      if (found == op.params.end()) {
        std::vector<std::string> names;
        for (const Param& param : op.params) names.emplace_back(param.name);
        const auto same = same_keyword(argument.name, names);
        if (!same) {
          refuse(op, "keyword", at,
                 fmt::format("unknown argument '{}'{}", argument.name, meant_keyword(argument.name, names)));
        }
        found = std::find_if(op.params.begin(), op.params.end(),
                             [&](const Param& param) { return param.name == *same; });
      }
      index = static_cast<std::size_t>(found - op.params.begin());
    }
    if (given[index]) {
      // The one with the name stays.
      std::vector<DiagnosticNote> notes;
      const auto earlier = static_cast<std::size_t>(given[index] - written.data());
      if (given[index]->name.empty() && earlier > 0 && written[earlier - 1].span.known() &&
          written[earlier].span.known())
        notes.push_back(remove_this({at.file, written[earlier - 1].span.end, written[earlier].span.end}));
      fail(ErrorClass::Type, at, fmt::format("{}.duplicate", short_name_of(op)),
           fmt::format("{}: argument '{}' is given twice", short_name_of(op), op.params[index].name),
           std::move(notes));
    }
    given[index] = &argument;
  }
  return given;
}

// The default of a scalar or shape parameter as an expression; nullopt for None.
std::optional<Expr> default_argument(const Op& op, const Param& param, Span span) {
  Attribute value = default_of(param);
  if (value.is_none()) return std::nullopt;
  return argument_of(op, param, WrittenArgument{"", std::move(value), span});
}

// An argument, where a real that is written plainly may be float32.
Expr with_plain_real(const Op& op, const Param& param, const WrittenArgument& written,
                     const std::vector<const WrittenArgument*>& given) {
  const auto* literal = std::get_if<Attribute>(&written.value);
  const double* real = literal ? literal->as<double>() : nullptr;
  if (!real) return argument_of(op, param, written);
  bool dtype_given = false;
  for (std::size_t i = 0; i < op.params.size(); ++i)
    dtype_given |= op.params[i].name == "dtype" && given[i] && !is_none(*given[i]);
  const DType dtype = plain_real_dtype(param, dtype_given);
  if (dtype == DType::Float64) return argument_of(op, param, written);
  const double rounded = Tensor::scalar(dtype, *real).get_double(0);
  if (std::isfinite(*real) && !std::isfinite(rounded)) {
    refuse(op, param.name, written.span,
           fmt::format("{} is no value of float32; write dtype=\"float64\" or R.prim_value(T.float64(…))",
                       print(*literal)));
  }
  return scalar_value(float_literal(dtype, rounded, written.span), written.span);
}

// Appends arguments in order; an absent one is only allowed after the last that is given.
class ArgumentList {
 public:
  ArgumentList(const Op& op, Span call) : op_(op), call_(call) {}

  void add(const Param& param, std::optional<Expr> value) {
    if (!value) {
      if (absent_.empty()) absent_ = param.name;
      return;
    }
    if (!absent_.empty()) {
      refuse(op_, "missing", call_, fmt::format("{} is given without {}", param.name, absent_));
    }
    args_.push_back(std::move(*value));
  }
  std::vector<Expr> take() { return std::move(args_); }

 private:
  const Op& op_;
  Span call_;
  std::string_view absent_;
  std::vector<Expr> args_;
};

}  // namespace

std::size_t parameter_at(const Op& op, std::size_t position) {
  const auto named = [&](const Param& param) {
    return std::find(op.written_order.begin(), op.written_order.end(), param.name) != op.written_order.end();
  };
  if (position >= op.params.size() || !named(op.params[position])) return position;
  const auto before =
      std::count_if(op.params.begin(), op.params.begin() + static_cast<std::ptrdiff_t>(position), named);
  const std::string_view name = op.written_order[static_cast<std::size_t>(before)];
  const auto found = std::find_if(op.params.begin(), op.params.end(),
                                  [&](const Param& param) { return param.name == name; });
  RELISH_CHECK(found != op.params.end(), fmt::format("{} has no parameter {}", op.name, name));
  return static_cast<std::size_t>(found - op.params.begin());
}

const Param* written_parameter(const Op& op, std::string_view name, std::size_t position) {
  if (name.empty() && !op.written_order.empty()) {
    const std::size_t index = parameter_at(op, position);
    return index < op.params.size() ? &op.params[index] : nullptr;
  }
  if (name.empty()) {
    for (std::size_t i = 0; i < std::min(position + 1, op.params.size()); ++i) {
      if (i == position || op.params[i].kind == ParamKind::AnyRest) return &op.params[i];
    }
    return nullptr;
  }
  const auto named = [&](std::string_view wanted) -> const Param* {
    for (const Param& param : op.params)
      if (param.name == wanted) return &param;
    return nullptr;
  };
  if (const Param* param = named(name)) return param;
  std::vector<std::string> names;
  for (const Param& param : op.params) names.emplace_back(param.name);
  const auto same = same_keyword(name, names);
  return same ? named(*same) : nullptr;
}

std::optional<DType> number_dtype(const Op& op, const Param& param,
                                  const std::function<std::optional<DType>(const Param&)>& dtype_at) {
  const auto declared = [](const Param& one) -> std::optional<DType> {
    const auto says = [&](std::string_view words) { return one.type.find(words) != std::string_view::npos; };
    if (says("of integers") || says("of int64")) return DType::Int64;
    if (says("of bool")) return DType::Bool;
    return std::nullopt;
  };
  if (const std::optional<DType> dtype = declared(param)) return dtype;
  for (const Param& other : op.params) {
    const bool tensors = other.kind == ParamKind::Tensor || other.kind == ParamKind::OptionalTensor ||
                         other.kind == ParamKind::TensorTuple;
    if (!tensors || declared(other)) continue;
    if (const std::optional<DType> dtype = dtype_at(other)) return dtype;
  }
  return std::nullopt;
}

DType plain_real_dtype(const Param& param, bool dtype_given) {
  const bool narrow = param.type.find("reals are float32") != std::string_view::npos;
  return narrow && !dtype_given ? DType::Float32 : DType::Float64;
}

std::optional<Attribute> attribute_of_literals(const Expr& expr) {
  if (const auto* scalar = expr.as<ScalarValueExpr>()) {
    if (const auto* real = scalar->value.as<FloatLiteral>()) return Attribute(real->value);
    if (is_float(scalar->value.dtype())) return std::nullopt;
    const std::optional<std::int64_t> integer = canonical(scalar->value).as_int();
    if (!integer) return std::nullopt;
    return is_bool(scalar->value.dtype()) ? Attribute(*integer != 0) : Attribute(*integer);
  }
  if (const auto* text = expr.as<StringLiteral>()) return Attribute(text->value);
  if (const auto* dtype = expr.as<DTypeLiteral>()) return Attribute(dtype->value);
  AttributeList items;
  if (const auto* shape = expr.as<ShapeLiteral>()) {
    for (const Scalar& dim : shape->dims) {
      const std::optional<std::int64_t> value = canonical(dim).as_int();
      if (!value) return std::nullopt;
      items.emplace_back(*value);
    }
    return Attribute(std::move(items));
  }
  if (const auto* fields = expr.as<TupleExpr>()) {
    for (const Expr& field : fields->fields) {
      std::optional<Attribute> item = attribute_of_literals(field);
      if (!item) return std::nullopt;
      items.push_back(std::move(*item));
    }
    return Attribute(std::move(items));
  }
  return std::nullopt;
}

Attribute coerce_attribute(const Op& op, const Param& param, Attribute value, Span span) {
  if (value.is_none() && (param.fallback == "None" || param.type.empty())) return value;
  const std::vector<std::string_view> words = alternatives_of(param.type);
  if (words.empty()) return value;
  const bool optional_dtype =
      std::find(words.begin(), words.end(), "dtype") != words.end() &&
      (param.fallback == "None" || std::find(words.begin(), words.end(), "None") != words.end());
  // TVM writes an absent dtype as "" or "void".
  if (const auto* name = value.as<std::string>();
      optional_dtype && name && (name->empty() || *name == "void"))
    return {};
  // An exact kind first, so that "int or float" keeps an int.
  const bool takes_int = std::find(words.begin(), words.end(), "int") != words.end();
  if (takes_int && value.as<std::int64_t>()) return value;
  const bool takes_bool = std::find(words.begin(), words.end(), "bool") != words.end();
  if (takes_bool && value.as<bool>()) return value;
  for (std::string_view word : words) {
    if (std::optional<Attribute> converted = as_documented(word, value)) return *converted;
  }
  std::vector<DiagnosticNote> notes;
  if (const auto* name = value.as<std::string>();
      name && std::find(words.begin(), words.end(), "dtype") != words.end() && span.known()) {
    std::vector<std::string> dtypes;
    for (int i = 0; i < dtype_count; ++i) dtypes.emplace_back(name_of(static_cast<DType>(i)));
    auto nearest = nearest_name(*name, dtypes);
    if (const auto here = dtype_called_elsewhere(*name)) nearest = std::string(*here);
    if (nearest) notes.push_back(write_here(span, fmt::format("\"{}\"", *nearest)));
  }
  fail(ErrorClass::Type, span, fmt::format("{}.{}", short_name_of(op), param.name),
       fmt::format("{}: {} is {}; expected {}", short_name_of(op), param.name, print(value), param.type),
       std::move(notes));
}

Attribute default_of(const Param& param) { return DefaultReader(param.fallback).read(); }

void complete_call(const Op& op, std::vector<Expr>& args, Attributes& attributes) {
  while (!args.empty() && !args.back().defined()) args.pop_back();
  Attributes complete;
  std::size_t position = 0, used = 0;
  for (const Param& param : op.params) {
    if (param.kind != ParamKind::Attribute) {
      if (param.kind == ParamKind::AnyRest) position = std::max(position, args.size());
      if (param.kind == ParamKind::AnyRest) continue;
      if (position++ < args.size() || param.kind == ParamKind::OptionalTensor) continue;
      RELISH_CHECK(!param.fallback.empty(), fmt::format("{} is called without {}", op.name, param.name));
      std::optional<Expr> value = default_argument(op, param, Span{});
      if (value) args.push_back(std::move(*value));
      continue;
    }
    const Attribute* given = find_attribute(attributes, param.name);
    if (given) ++used;
    RELISH_CHECK(given || !param.fallback.empty(),
                 fmt::format("{} is called without {}", op.name, param.name));
    complete.emplace_back(std::string(param.name),
                          coerce_attribute(op, param, given ? *given : default_of(param), Span{}));
  }
  RELISH_CHECK(args.size() <= position, fmt::format("{} is called with {} arguments", op.name, args.size()));
  RELISH_CHECK(used == attributes.size(), fmt::format("{} is called with an unknown attribute", op.name));
  attributes = std::move(complete);
}

ArrangedArguments arrange_arguments(const Op& op, std::vector<WrittenArgument> written, Span call) {
  std::vector<const WrittenArgument*> rest;
  const std::vector<const WrittenArgument*> given = match_parameters(op, written, call, rest);
  ArgumentList args(op, call);
  Attributes attributes;
  for (std::size_t i = 0; i < op.params.size(); ++i) {
    const Param& param = op.params[i];
    const WrittenArgument* argument = given[i];
    if (param.kind == ParamKind::AnyRest) {
      if (argument) args.add(param, argument_of(op, param, *argument));
      for (const WrittenArgument* more : rest) args.add(param, argument_of(op, param, *more));
      continue;
    }
    const bool optional = param.kind == ParamKind::OptionalTensor;
    if (!argument && !optional && param.fallback.empty()) {
      refuse(op, "missing", call,
             fmt::format("argument '{}' is missing{}", param.name,
                         missing_argument(short_name_of(op), param.name)));
    }
    if (param.kind != ParamKind::Attribute) {
      const bool none = argument && is_none(*argument) && (optional || param.fallback == "None");
      const bool default_of_any =
          argument && is_none(*argument) && param.kind == ParamKind::Any && !param.fallback.empty();
      if (argument && !none && !default_of_any)
        args.add(param, with_plain_real(op, param, *argument, given));
      else if (optional || none)
        args.add(param, std::nullopt);
      else
        args.add(param, default_argument(op, param, call));
      continue;
    }
    Attribute value;
    if (!argument) {
      value = default_of(param);
    } else if (const auto* attribute = std::get_if<Attribute>(&argument->value)) {
      value = *attribute;
    } else {
      const Expr& expr = std::get<Expr>(argument->value);
      std::optional<Attribute> literal = attribute_of_literals(expr);
      if (!literal) {
        refuse(
            op, param.name, argument->span,
            fmt::format("{} is not a constant; expected {}, spelt out in the text", param.name, param.type));
      }
      value = std::move(*literal);
    }
    attributes.emplace_back(std::string(param.name),
                            coerce_attribute(op, param, std::move(value), argument ? argument->span : call));
  }
  return {args.take(), std::move(attributes)};
}

}  // namespace relish
