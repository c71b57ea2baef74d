// Entry of a call: the values of symbolic dims, and the check of every value against its type.
#include "ir/calls/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/calls/argument_fault.h"
#include "ir/printer/printer.h"
#include "ir/scalars/symbols.h"
#include "ir/scalars/twice_given.h"
#include "runtime/format.h"
#include "runtime/stack.h"
#include "support/failure.h"

namespace relish {
namespace {

// Where a symbol got its value, for the note of a conflict.
struct SymbolOrigin {
  std::string place;  // "dimension 0 of x"
  Span span;
};
using SymbolOrigins = std::unordered_map<std::uint64_t, SymbolOrigin>;

std::string found_words(const Value& value) {
  if (value.is_tensor()) {
    const Tensor& tensor = value.tensor();
    return fmt::format("{} {}", name_of(tensor.dtype()), format_shape(tensor.shape()));
  }
  return describe(value);
}

// Matches one value with its type. `bind` takes bare dims that have no value yet, `check` then compares all.
// Words are made when something does not fit: a call that fits takes no memory for them.
class Matcher {
 public:
  Matcher(SymbolValues& symbols, SymbolOrigins& origins, ErrorClass error_class, std::string_view expectation)
      : symbols_(symbols), origins_(origins), error_class_(error_class), expectation_(expectation) {}

  // `function` and `name` name the value in messages, `place` in notes; they live as long as this looks at
  // it.
  void begin(const Value& value, const Type& type, Span span, std::string_view function,
             std::string_view name, std::string_view place) {
    value_ = &value;
    type_ = &type;
    span_ = span;
    function_ = function;
    name_ = name;
    place_ = place;
  }

  void bind() { walk(*value_, *type_, {}, true); }
  void check() { walk(*value_, *type_, {}, false); }

 private:
  // A field of a tuple, by the tuple that it is in; the whole value has neither.
  struct Place {
    const Place* tuple = nullptr;
    std::size_t field = 0;
  };
  std::string words_of(const Place& place) const {
    return place.tuple ? fmt::format("{}[{}]", words_of(*place.tuple), place.field) : std::string(place_);
  }
  std::string what() const {
    return function_.empty() ? std::string(name_) : fmt::format("{}: {}", function_, name_);
  }

  void walk(const Value& value, const Type& type, const Place& place, bool binding) {
    if (const TensorType* tensor = type.tensor()) {
      if (!value.is_tensor()) mismatch();
      const Tensor& held = value.tensor();
      if (tensor->dtype && *tensor->dtype != held.dtype()) mismatch();
      return walk_dims(held.shape(), tensor->shape, tensor->rank, place, binding);
    }
    if (const auto* shape = type.as<ShapeType>()) {
      if (!value.is_shape()) mismatch();
      return walk_dims(value.shape().dims, shape->dims, shape->rank, place, binding);
    }
    if (const TupleType* fields = type.tuple()) {
      if (fields->fields.empty() && value.is_void()) return;
      if (!value.is_tuple() || value.fields().size() != fields->fields.size()) mismatch();
      for (std::size_t i = 0; i < fields->fields.size(); ++i) {
        walk(value.fields()[i], fields->fields[i], {&place, i}, binding);
      }
      return;
    }
    if (const auto* scalar = type.as<ScalarType>()) {
      if (!value.is_scalar() || value.scalar().dtype != scalar->dtype) mismatch();
    } else if (type.as<StringType>() || type.as<DTypeType>()) {
      if (!value.is_string()) mismatch();
    } else if (type.as<StackType>()) {
      // What lies on it is checked when it is taken off.
      if (!stack_of(value)) mismatch();
    } else if (type.function()) {
      if (!std::holds_alternative<std::shared_ptr<const ObjectValue>>(value.kind())) mismatch();
    }
  }

  void walk_dims(const std::vector<std::int64_t>& found, const std::optional<std::vector<Scalar>>& dims,
                 int rank, const Place& place, bool binding) {
    if (rank >= 0 && static_cast<std::size_t>(rank) != found.size()) mismatch();
    if (!dims) return;
    for (std::size_t i = 0; i < dims->size(); ++i) {
      const Scalar& dim = (*dims)[i];
      if (const auto number = dim.as_int(); number && (binding || *number == found[i])) continue;
      const std::optional<ScalarVar> var = dim.as_var();
      if (binding) {
        if (var && symbols_.try_emplace(var->id(), found[i]).second) {
          origins_[var->id()] = {fmt::format("dimension {} of {}", i, words_of(place)), span_};
        }
        continue;
      }
      const std::optional<std::int64_t> wanted =
          evaluate_int(dim, [&](const ScalarVar& v) -> std::optional<std::int64_t> {
            auto held = symbols_.find(v.id());
            return held == symbols_.end() ? std::nullopt : std::optional(held->second);
          });
      if (!wanted) {
        fail(error_class_, span_, "entry.dimension",
             fmt::format("{}: dimension {} is {}, whose value is not known", what(), i, print(dim)));
      }
      if (*wanted != found[i]) conflict(dim, *wanted, place, i);
    }
  }

  [[noreturn]] void mismatch() { fail(error_class_, span_, "entry.type", message()); }

  // A dim that other arguments fix: the message gives the expected extent, the notes the places that fixed
  // it.
  [[noreturn]] void conflict(const Scalar& dim, std::int64_t wanted, const Place& place, std::size_t index) {
    std::vector<DiagnosticNote> notes;
    std::vector<ScalarVar> vars;
    collect_vars(dim, vars);
    for (const ScalarVar& var : vars) {
      auto held = symbols_.find(var.id());
      if (held == symbols_.end()) continue;  // in the branch of a select that was not taken
      auto origin = origins_.find(var.id());
      if (origin == origins_.end())
        notes.push_back({{}, fmt::format("{} is {}", var.name(), held->second)});
      else
        notes.push_back({origin->second.span,
                         fmt::format("{} is {}, from {}", var.name(), held->second, origin->second.place)});
    }
    std::string text = message();
    if (name_.ends_with(scalar_size_mark))
      text = fmt::format("{} is {}; expected {}", what(), value_->shape().dims[index], wanted);
    else if (!vars.empty())
      text += fmt::format("; dimension {} of {} must be {}", index, words_of(place), wanted);
    fail(error_class_, span_, "entry.dimension", std::move(text), std::move(notes));
  }

  std::string message() const {
    return fmt::format("{} has {}; {} {}", what(), found_words(*value_), expectation_, print(*type_));
  }

  SymbolValues& symbols_;
  SymbolOrigins& origins_;
  ErrorClass error_class_;
  std::string_view expectation_;
  const Value* value_ = nullptr;
  const Type* type_ = nullptr;
  Span span_;
  std::string_view function_, name_, place_;
};

Type concrete(const Type& type, const SymbolValues& symbols) {
  auto replace = [&](std::vector<Scalar> dims) {
    for (Scalar& dim : dims) {
      if (dim.as<IntLiteral>()) continue;
      std::optional<std::string> missing;
      const std::optional<std::int64_t> value =
          evaluate_int(dim, [&](const ScalarVar& var) -> std::optional<std::int64_t> {
            auto held = symbols.find(var.id());
            if (held != symbols.end()) return held->second;
            missing = var.name();
            return std::nullopt;
          });
      if (!value) {
        fail(ErrorClass::Runtime, dim.span(), "entry.symbol",
             fmt::format("dimension {} has no value{}", print(dim),
                         missing ? fmt::format("; {} is not known", *missing) : std::string()));
      }
      dim = int_literal(DType::Int64, *value, dim.span());
    }
    return dims;
  };
  if (const TensorType* tensor = type.tensor(); tensor && tensor->shape) {
    return TensorType{.dtype = tensor->dtype, .shape = replace(*tensor->shape), .rank = tensor->rank};
  }
  if (const auto* shape = type.as<ShapeType>(); shape && shape->dims) {
    return ShapeType{.dims = replace(*shape->dims), .rank = shape->rank};
  }
  if (const TupleType* fields = type.tuple()) {
    TupleType result;
    for (const Type& field : fields->fields) result.fields.push_back(concrete(field, symbols));
    return result;
  }
  return type;
}

// Dimensions of the parameters' types that are still open take the value of the scalar parameter of their
// name.
void bind_by_scalars(std::span<const Var> params, std::span<const Value> args, SymbolValues& symbols,
                     SymbolOrigins& origins) {
  std::vector<ScalarVar> mentioned;
  for (const Var& param : params) collect_vars(param.type(), mentioned);
  for (const ScalarVar& var : mentioned) {
    if (symbols.contains(var.id())) continue;
    for (std::size_t i = 0; i < params.size(); ++i) {
      const auto* scalar = params[i].type().as<ScalarType>();
      if (!scalar || scalar->dtype != var.dtype() || params[i].name() != var.name()) continue;
      symbols.emplace(var.id(), args[i].scalar().integer);
      origins[var.id()] = {params[i].name(), params[i].span()};
      break;
    }
  }
}

// `at` is the argument that is looked at, so that it is known which one failed.
SymbolValues bind_all(std::string_view function_name, std::span<const Var> params,
                      std::span<const Value> args, SymbolValues symbols, ErrorClass error_class,
                      std::size_t& at) {
  SymbolOrigins origins;
  Matcher matcher(symbols, origins, error_class,
                  error_class == ErrorClass::Data ? "parameter is" : "expected");
  for (const bool binding : {true, false}) {
    for (at = 0; at < params.size(); ++at) {
      matcher.begin(args[at], params[at].type(), params[at].span(), function_name, params[at].name(),
                    params[at].name());
      binding ? matcher.bind() : matcher.check();
    }
    if (binding) bind_by_scalars(params, args, symbols, origins);
  }
  for (const auto& [symbol, twice] : twice_given(params)) {
    at = twice;
    match_value(ShapeValue{{args[twice].scalar().integer}}, size_type(symbol), symbols, error_class,
                params[twice].span(), scalar_size_words(function_name, symbol.name()));
  }
  return symbols;
}

}  // namespace

SymbolValues bind_arguments(std::string_view function_name, std::span<const Var> params,
                            std::span<const Value> args, SymbolValues symbols, ErrorClass error_class) {
  if (params.size() != args.size()) {
    fail(error_class, {}, "entry.count",
         fmt::format("{}: {} argument{} given; it takes {}", function_name, args.size(),
                     args.size() == 1 ? " is" : "s are", params.size()));
  }
  std::size_t at = 0;
  return bind_all(function_name, params, args, std::move(symbols), error_class, at);
}

std::optional<ArgumentFault> find_argument_fault(std::string_view function_name, std::span<const Var> params,
                                                 std::span<const Value> args) {
  RELISH_CHECK(params.size() == args.size());
  std::size_t at = 0;
  try {
    bind_all(function_name, params, args, {}, ErrorClass::Data, at);
  } catch (Failure& failure) {
    return ArgumentFault{at, std::move(failure)};
  }
  return std::nullopt;
}

SymbolValues bind_arguments(const Function& function, std::span<const Value> args, SymbolValues known,
                            ErrorClass error_class) {
  SymbolValues symbols = bind_arguments(function.name, function.params, args, std::move(known), error_class);
  const bool has_scalars = std::any_of(function.params.begin(), function.params.end(), [](const Var& param) {
    return param.type().as<ScalarType>() != nullptr;
  });
  if (!has_scalars) return symbols;  // the common case is spared the walk through the body
  for_each_symbol(function, [&](const ScalarVar& symbol) {
    if (symbols.contains(symbol.id())) return;
    const std::optional<Var> param = scalar_parameter_of(function, symbol);
    if (!param) return;
    const auto position =
        std::find(function.params.begin(), function.params.end(), *param) - function.params.begin();
    const ScalarValue& given = args[static_cast<std::size_t>(position)].scalar();
    symbols.emplace(symbol.id(),
                    is_float(given.dtype) ? std::bit_cast<std::int64_t>(given.real) : given.integer);
  });
  return symbols;
}

void match_value(const Value& value, const Type& type, SymbolValues& symbols, ErrorClass error_class,
                 Span span, std::string_view what) {
  SymbolOrigins origins;
  Matcher matcher(symbols, origins, error_class, "expected");
  matcher.begin(value, type, span, {}, what, "the value");
  matcher.bind();
  matcher.check();
}

Type concrete_type(const Type& type, const SymbolValues& symbols) { return concrete(type, symbols); }

Shape concrete_shape(const TensorType& type) {
  RELISH_CHECK(type.shape.has_value());
  Shape shape;
  shape.reserve(type.shape->size());
  for (const Scalar& dim : *type.shape) {
    const std::optional<std::int64_t> value = dim.as_int();
    RELISH_CHECK(value.has_value(), print(dim));
    shape.push_back(*value);
  }
  return shape;
}

bool condition_of(const Value& value, Span span) {
  if (value.is_scalar() && is_bool(value.scalar().dtype)) return value.scalar().integer != 0;
  if (value.is_tensor() && is_bool(value.tensor().dtype()) && value.tensor().rank() == 0)
    return value.tensor().get_int(0) != 0;
  fail(ErrorClass::Runtime, span, "control.condition",
       fmt::format("the condition is {}; expected a bool scalar or a 0-d bool tensor", describe(value)));
}

Type type_of(const Value& value) {
  struct Typer {
    Type operator()(std::monostate) const { return void_type(); }
    Type operator()(const Tensor& t) const {
      return tensor_type(std::vector<Scalar>(t.shape().begin(), t.shape().end()), t.dtype());
    }
    Type operator()(const std::shared_ptr<const TupleValue>& t) const {
      TupleType type;
      for (const Value& field : t->fields) type.fields.push_back(type_of(field));
      return type;
    }
    Type operator()(const ShapeValue& s) const {
      return ShapeType{.dims = std::vector<Scalar>(s.dims.begin(), s.dims.end()), .rank = -1};
    }
    Type operator()(const ScalarValue& s) const { return ScalarType{s.dtype}; }
    Type operator()(const std::string&) const { return TypeKind(StringType{}); }
    Type operator()(const std::shared_ptr<const ObjectValue>& object) const {
      const auto stack = std::dynamic_pointer_cast<const StackValue>(object);
      if (!stack) return Type();
      Type element;
      for (const StackValue* at = stack.get(); at->size() > 0; at = at->below().get())
        element = at == stack.get() ? type_of(at->top()) : join(element, type_of(at->top()));
      return StackType{std::make_shared<const Type>(std::move(element))};
    }
  };
  return std::visit(Typer{}, value.kind());
}

}  // namespace relish
