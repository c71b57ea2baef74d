// Annotations to types.
#include "frontend/types/type_reader.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "support/counted.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

// The type that is meant by one of Python's or of another library; empty for other names.
std::string_view type_of_python(std::string_view name) {
  if (name == "float") return "R.Tensor((), \"float32\")";
  if (name == "int") return "R.Prim(\"int64\"), or R.Tensor((), \"int64\")";
  if (name == "bool") return "R.Tensor((), \"bool\")";
  if (name == "list" || name == "tuple") return "R.Tuple(…) of the types of its fields";
  if (name == "Tensor" || name == "torch.Tensor" || name.ends_with(".ndarray"))
    return "R.Tensor((2, 3), \"float32\")";
  return {};
}

bool is_identifier(std::string_view text) {
  return !text.empty() && is_name_start(text[0]) && std::all_of(text.begin(), text.end(), is_name_part);
}

const ast::Expr* argument_named(const ast::Call& call, std::string_view name) {
  for (const ast::Argument& argument : call.arguments) {
    if (argument.name == name) return argument.value.get();
  }
  return nullptr;
}

std::vector<const ast::Expr*> positional(const ast::Call& call) {
  std::vector<const ast::Expr*> result;
  for (const ast::Argument& argument : call.arguments) {
    if (argument.stars) type_error(argument.value->span, "type.star", "found a starred argument in a type");
    if (argument.name.empty()) result.push_back(argument.value.get());
  }
  return result;
}

void check_names(const ast::Call& call, std::string_view type,
                 std::initializer_list<std::string_view> known) {
  for (const ast::Argument& argument : call.arguments) {
    if (argument.name.empty() || std::find(known.begin(), known.end(), argument.name) != known.end())
      continue;
    std::vector<std::string> candidates(known.begin(), known.end());
    type_error(argument.name_span, "type.argument",
               fmt::format("{} has no argument '{}'{}", type, printable(argument.name),
                           did_you_mean(argument.name, candidates)));
  }
}

bool is_nothing(const ast::Expr& expr) {
  const std::string* name = ast::name_of(expr);
  return expr.as<ast::NoneValue>() || (name && *name == "_");
}

int rank_argument(const ast::Expr& expr) {
  auto* value = expr.as<ast::IntValue>();
  const std::int64_t most = limits().max_rank;
  if (!value || value->value < -1 || value->value > most) {
    type_error(expr.span, "type.rank",
               fmt::format("found {} as a rank; expected a number up to {}{}", ast::describe(expr), most,
                           value && value->value > most ? ", raise --max-rank" : ""));
  }
  return static_cast<int>(value->value);
}

constexpr std::array<std::string_view, 14> known_types = {
    "R.Tensor", "R.Tuple",      "R.Shape", "R.Prim",    "R.Callable", "R.Any",   "R.Stack",
    "R.Object", "R.PackedFunc", "T.int64", "T.float32", "T.bool",     "T.int32", "R.DTensor"};

}  // namespace

// --- Symbols.

void SymbolTable::declare_strings(const ast::Expr& annotation, DType dtype) {
  if (auto* text = annotation.as<ast::StringValue>()) {
    if (is_identifier(text->value) && !dtype_from_name(text->value) &&
        !(outer_ && outer_->count(text->value)))
      declare(text->value, dtype, annotation.span);
  } else if (auto* call = annotation.as<ast::Call>()) {
    for (const ast::Argument& argument : call->arguments) {
      if (argument.name != "dtype" && argument.name != "vdevice") declare_strings(*argument.value, dtype);
    }
  } else if (auto* subscript = annotation.as<ast::Subscript>()) {
    for (const ast::ExprPtr& item : subscript->items) declare_strings(*item, dtype);
  } else if (auto* tuple = annotation.as<ast::TupleValue>()) {
    for (const ast::ExprPtr& item : tuple->items) declare_strings(*item, dtype);
  } else if (auto* list = annotation.as<ast::ListValue>()) {
    for (const ast::ExprPtr& item : list->items) declare_strings(*item, dtype);
  }
}

void SymbolTable::declare_bare_names(const ast::Expr& annotation, DType dtype) {
  auto* call = annotation.as<ast::Call>();
  if (!call) return;
  const std::string* callee = ast::name_of(*call->callee);
  if (callee && *callee == "Tensor") {
    for (const ast::Argument& argument : call->arguments) {
      if (!argument.name.empty() && argument.name != "shape") continue;
      auto* tuple = argument.value->as<ast::TupleValue>();
      auto* list = argument.value->as<ast::ListValue>();
      if (!tuple && !list) continue;
      for (const ast::ExprPtr& item : tuple ? tuple->items : list->items) {
        const std::string* name = ast::name_of(*item);
        if (name && *name != "_" && !declares(*name)) declare(*name, dtype, item->span);
      }
    }
    return;
  }
  for (const ast::Argument& argument : call->arguments) declare_bare_names(*argument.value, dtype);
}

ScalarMeaning SymbolTable::find(const std::string& name, Span) {
  auto found = vars_.find(name);
  if (found == vars_.end()) {
    auto declared = declared_.find(name);
    if (declared == declared_.end() && !declares(name)) return std::monostate{};
    const Declared& from = declared == declared_.end() ? outer_declared_ : declared->second;
    found = vars_.emplace(name, ScalarVar(name, from.dtype, from.span)).first;
  }
  return Scalar(found->second);
}

std::vector<std::string> SymbolTable::names() const {
  std::vector<std::string> result;
  for (auto& [name, declared] : declared_) result.push_back(name);
  for (auto& [name, var] : vars_) result.push_back(name);
  if (outer_) result.insert(result.end(), outer_->begin(), outer_->end());
  return result;
}

// --- Types.

// The canonical name of the type's constructor: old texts write `Tensor` without a namespace.
std::string TypeReader::type_name(const ast::Expr& expr) const {
  std::string name = context_.namespaces.canonical(expr);
  static constexpr std::array<std::string_view, 8> bare = {"Tensor",   "Tuple", "Shape", "Object",
                                                           "Callable", "Any",   "Prim",  "PackedFunc"};
  if (std::find(bare.begin(), bare.end(), name) != bare.end()) name = "R." + name;
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> old = {
      {{"R.TensorType", "R.Tensor"},
       {"R.DynTensorType", "R.Tensor"},
       {"R.TupleType", "R.Tuple"},
       {"R.ShapeType", "R.Shape"},
       {"R.FuncType", "R.Callable"},
       {"R.AnyType", "R.Any"},
       {"R.ObjectType", "R.Any"},
       {"R.TensorStructInfo", "R.Tensor"},
       {"R.TupleStructInfo", "R.Tuple"},
       {"R.ShapeStructInfo", "R.Shape"},
       {"R.PrimStructInfo", "R.Prim"},
       {"R.FuncStructInfo", "R.Callable"},
       {"R.ObjectStructInfo", "R.Any"},
       {"R.Object", "R.Any"}}};
  for (auto [from, to] : old) {
    if (name == from) return std::string(to);
  }
  return name;
}

// x.ty, in earlier years x.struct_info.
std::optional<Type> TypeReader::type_of_value(const ast::Expr& expr) const {
  auto* attribute = expr.as<ast::Attribute>();
  const bool asks = attribute && (attribute->name == "ty" || attribute->name == "struct_info" ||
                                  attribute->name == "struct_info_");
  return asks && shapes_ ? shapes_->type_of(*attribute->object) : std::nullopt;
}

bool TypeReader::is_type(const ast::Expr& expr) const {
  if (type_of_value(expr)) return true;
  if (auto* call = expr.as<ast::Call>()) {
    std::string name = type_name(*call->callee);
    return std::find(known_types.begin(), known_types.end(), name) != known_types.end() &&
           !(name.substr(0, 2) == "T." && !call->arguments.empty());
  }
  std::string name = type_name(expr);
  return std::find(known_types.begin(), known_types.end(), name) != known_types.end() ||
         (name.substr(0, 2) == "T." && dtype_from_name(name.substr(2)));
}

std::optional<DType> TypeReader::scalar_dtype(const ast::Expr& annotation) const {
  auto* call = annotation.as<ast::Call>();
  std::string name = type_name(call ? *call->callee : annotation);
  if (name.substr(0, 2) == "T." && (!call || call->arguments.empty())) return dtype_from_name(name.substr(2));
  if (name != "R.Prim" || !call || call->arguments.empty()) return std::nullopt;
  auto* text = call->arguments[0].value->as<ast::StringValue>();
  return text && call->arguments[0].name != "value" ? dtype_from_name(text->value) : std::nullopt;
}

std::optional<std::string> TypeReader::named_value(const ast::Expr& annotation) const {
  auto* call = annotation.as<ast::Call>();
  const ast::Expr* value =
      call && type_name(*call->callee) == "R.Prim" ? argument_named(*call, "value") : nullptr;
  if (!value) return std::nullopt;
  auto* text = value->as<ast::StringValue>();
  const std::string* name = text ? &text->value : ast::name_of(*value);
  return name && is_identifier(*name) ? std::optional(*name) : std::nullopt;
}

Type TypeReader::read(const ast::Expr& expr) {
  if (auto type = type_of_value(expr)) return *type;
  auto* call = expr.as<ast::Call>();
  std::string name = type_name(call ? *call->callee : expr);
  if (expr.as<ast::NoneValue>()) return void_type();
  if (name == "R.Tensor") return tensor(expr, call);
  if (name == "R.Tuple") return call ? tuple(*call) : void_type();
  if (name == "R.Shape") return shape(expr, call);
  if (name == "R.Any") return Type();
  if (name == "R.Prim" && call) return scalar(expr, *call);
  if (name == "R.PackedFunc" || (name == "R.Callable" && !call)) {
    FunctionType function;
    function.pure = false;
    function.opaque = true;
    return Type(std::move(function));
  }
  if (name == "R.Callable") return callable(*call);
  if (name == "R.Stack") return stack(expr, call);
  if (name.substr(0, 2) == "T.") {
    if (auto dtype = dtype_from_name(name.substr(2)); dtype && (!call || call->arguments.empty())) {
      return Type(ScalarType{*dtype});
    }
  }
  if (name == "R.DTensor" || name.substr(0, 7) == "R.dist.")
    type_error(expr.span, "type.unsupported", "R.DTensor: distributed tensors are not supported");
  if (expr.as<ast::StringValue>()) {
    type_error(expr.span, "type.string",
               "found a string as a type; expected one such as R.Tensor((2, 3), \"float32\")");
  }
  if (name.empty()) {
    type_error(
        expr.span, "type.unknown",
        fmt::format("found {}; expected a type such as R.Tensor((2, 3), \"float32\")", ast::describe(expr)));
  }
  std::vector<std::string> candidates(known_types.begin(), known_types.end());
  const std::string_view advice = type_of_python(name);
  Span at = call ? call->callee->span : expr.span;
  type_error(
      at, "type.unknown",
      fmt::format("found '{}', which is no type{}", printable(name),
                  advice.empty() ? did_you_mean(name, candidates) : fmt::format("; write {}", advice)));
}

Type TypeReader::tensor(const ast::Expr& expr, const ast::Call* call) {
  TensorType result;
  if (!call) return Type(std::move(result));
  check_names(*call, "R.Tensor", {"shape", "dtype", "ndim", "vdevice"});
  std::vector<const ast::Expr*> given = positional(*call);
  const ast::Expr* shape = argument_named(*call, "shape");
  const ast::Expr* dtype = argument_named(*call, "dtype");
  std::size_t next = 0;
  // R.Tensor("float32") gives the dtype alone.
  if (!shape && next < given.size() && !given[next]->as<ast::StringValue>()) shape = given[next++];
  if (!dtype && next < given.size()) dtype = given[next++];
  const ast::Expr* device = argument_named(*call, "vdevice");
  if (!device && shape && next < given.size()) device = given[next++];
  if (device && !device->as<ast::NoneValue>()) {
    auto* text = device->as<ast::StringValue>();
    if (!text) {
      type_error(
          device->span, "type.device",
          fmt::format("found {} as a device; expected a string such as \"llvm:0\"", ast::describe(*device)));
    }
    if (context_.check_device) context_.check_device(text->value, device->span);
    result.vdevice = text->value;
  }
  if (next < given.size()) {
    type_error(given[next]->span, "type.argument",
               "found one argument too many; expected a shape, a dtype and a device");
  }
  if (dtype && !is_nothing(*dtype)) {
    auto* name = dtype->as<ast::StringValue>();
    if (!name) {
      type_error(dtype->span, "type.dtype",
                 fmt::format("found {}; expected a dtype such as \"float32\"", ast::describe(*dtype)));
    }
    if (!name->value.empty()) result.dtype = read_dtype(name->value, dtype->span);
  }
  if (shape && !is_nothing(*shape)) {
    if (auto whole = shapes_ ? shapes_->shape_of(*shape) : std::nullopt) {
      // A variable of shape type: its dims, as far as they are known.
      result.shape = whole->dims;
      result.rank = whole->rank;
    } else if (!shape->as<ast::TupleValue>() && !shape->as<ast::ListValue>() &&
               !shape->as<ast::NumberListValue>()) {
      type_error(shape->span, "type.shape",
                 fmt::format("found {} as a shape; expected a tuple of dimensions such as (2, 3)",
                             ast::describe(*shape)));
    } else {
      result.shape = read_dims(*shape);
      result.rank = static_cast<int>(result.shape->size());
    }
  }
  if (const ast::Expr* rank = argument_named(*call, "ndim")) {
    int given_rank = rank_argument(*rank);
    if (result.shape && given_rank >= 0 && given_rank != result.rank) {
      type_error(
          rank->span, "type.rank",
          fmt::format("found ndim={} beside a shape of {}", given_rank, counted(result.rank, "dimension")));
    }
    if (!result.shape) result.rank = given_rank;
  }
  (void)expr;
  return Type(std::move(result));
}

Scalar TypeReader::read_dim(const ast::Expr& expr, DType plain_integer) {
  ScalarReader reader(context_, scope_, plain_integer);
  Scalar dim;
  if (auto* text = expr.as<ast::StringValue>()) {
    // The string's inside is an expression of the same source.
    std::string_view written = context_.text_of(expr.span);
    if (written.size() < 2 || written.substr(1, written.size() - 2) != text->value) {
      type_error(expr.span, "type.dimension",
                 "found a dimension in a string with escapes; expected plain text");
    }
    ast::ExprPtr inside = context_.parser.expression(expr.span.begin + 1, expr.span.end - 1);
    if (!inside) throw ReadContext::Silent{};
    dim = reader.read(*inside);
  } else {
    dim = reader.read(expr);
  }
  if (!is_int(dim.dtype()) || (plain_integer == DType::Int64 && dim.dtype() != DType::Int64)) {
    type_error(expr.span, "type.dimension",
               fmt::format("found a dimension of dtype {}; expected {}", name_of(dim.dtype()),
                           plain_integer == DType::Int64 ? "int64" : "an integer"));
  }
  // Arithmetic on numbers alone is done: (1 + 1, 3) is (2, 3).
  std::vector<ScalarVar> vars;
  collect_vars(dim, vars);
  if (vars.empty() && !dim.as_int()) {
    if (auto value = evaluate_int(dim, [](const ScalarVar&) { return std::optional<std::int64_t>(); }))
      dim = int_literal(dim.dtype(), *value, expr.span);
  }
  if (auto value = dim.as_int(); value && *value < 0) {
    type_error(
        expr.span, "type.dimension",
        fmt::format("found the dimension {}; expected one that is not negative, or a symbol such as \"n\"",
                    *value));
  }
  return dim;
}

// The dims of a list, or of a variable of shape type.
std::vector<Scalar> TypeReader::starred_dims(const ast::Expr& expr, DType plain_integer) {
  if (expr.as<ast::TupleValue>() || expr.as<ast::ListValue>()) return read_dims(expr, plain_integer);
  std::vector<Scalar> dims;
  if (auto* numbers = expr.as<ast::NumberListValue>(); numbers && numbers->reals.empty()) {
    for (std::int64_t number : numbers->integers)
      dims.push_back(int_literal(plain_integer, number, expr.span));
    return dims;
  }
  const auto whole = shapes_ ? shapes_->shape_of(expr) : std::nullopt;
  if (!whole || !whole->dims) {
    type_error(expr.span, "type.star",
               fmt::format("found {} behind '*' in a shape; expected a list of dimensions, or a variable of "
                           "shape type whose dimensions are known",
                           ast::describe(expr)));
  }
  return *whole->dims;
}

std::vector<Scalar> TypeReader::read_dims(const ast::Expr& expr, DType plain_integer) {
  std::vector<Scalar> dims;
  auto read_all = [&](const std::vector<ast::ExprPtr>& items) {
    for (const ast::ExprPtr& item : items) {
      if (auto* starred = item->as<ast::Starred>()) {
        const std::vector<Scalar> inner = starred_dims(*starred->value, plain_integer);
        dims.insert(dims.end(), inner.begin(), inner.end());
      } else {
        dims.push_back(read_dim(*item, plain_integer));
      }
    }
  };
  if (auto* tuple = expr.as<ast::TupleValue>()) {
    read_all(tuple->items);
  } else if (auto* list = expr.as<ast::ListValue>()) {
    read_all(list->items);
  } else if (auto* call = expr.as<ast::Call>();
             call && !call->arguments.empty() &&
             (context_.namespaces.canonical(*call->callee) == "R.shape" ||
              context_.namespaces.canonical(*call->callee) == "R.ShapeExpr")) {
    return read_dims(*call->arguments[0].value, plain_integer);
  } else if (expr.as<ast::NumberListValue>()) {
    fail(ErrorClass::ResourceLimit, expr.span, "limit.rank",
         fmt::format("found a shape of more than {} dimensions; raise --max-rank", limits().max_rank));
  } else {
    dims.push_back(read_dim(expr, plain_integer));
  }
  if (dims.size() > limits().max_rank) {
    fail(ErrorClass::ResourceLimit, expr.span, "limit.rank",
         fmt::format("found {} dimensions; expected at most {}, raise --max-rank", dims.size(),
                     limits().max_rank));
  }
  return dims;
}

std::vector<Type> TypeReader::read_types(const ast::Expr& expr) {
  std::vector<Type> types;
  if (auto* tuple = expr.as<ast::TupleValue>()) {
    for (const ast::ExprPtr& item : tuple->items) types.push_back(read(*item));
  } else if (auto* list = expr.as<ast::ListValue>()) {
    for (const ast::ExprPtr& item : list->items) types.push_back(read(*item));
  } else {
    types.push_back(read(expr));
  }
  return types;
}

Type TypeReader::tuple(const ast::Call& call) {
  check_names(call, "R.Tuple", {"fields"});
  TupleType result;
  std::vector<const ast::Expr*> given = positional(call);
  if (const ast::Expr* fields = argument_named(call, "fields")) given.push_back(fields);
  if (given.size() == 1 && (given[0]->as<ast::ListValue>() || given[0]->as<ast::TupleValue>())) {
    result.fields = read_types(*given[0]);
  } else {
    for (const ast::Expr* field : given) result.fields.push_back(read(*field));
  }
  return Type(std::move(result));
}

Type TypeReader::shape(const ast::Expr&, const ast::Call* call) {
  ShapeType result;
  if (!call) return Type(std::move(result));
  check_names(*call, "R.Shape", {"values", "ndim"});
  std::vector<const ast::Expr*> given = positional(*call);
  if (const ast::Expr* values = argument_named(*call, "values")) given.push_back(values);
  if (!given.empty() && !is_nothing(*given[0])) {
    const ast::Expr& values = *given[0];
    if (!values.as<ast::TupleValue>() && !values.as<ast::ListValue>() && !values.as<ast::NumberListValue>()) {
      type_error(values.span, "type.shape",
                 fmt::format("found {} in R.Shape; expected a list of dimensions such as [2, 3]",
                             ast::describe(values)));
    }
    result.dims = read_dims(values);
    result.rank = static_cast<int>(result.dims->size());
  }
  if (const ast::Expr* rank = argument_named(*call, "ndim")) {
    const int given_rank = rank_argument(*rank);
    if (result.dims && given_rank >= 0 && given_rank != result.rank) {
      type_error(rank->span, "type.rank",
                 fmt::format("found ndim={} beside a shape of {} dimensions", given_rank, result.rank));
    }
    if (!result.dims) result.rank = given_rank;
  }
  return Type(std::move(result));
}

Type TypeReader::scalar(const ast::Expr& expr, const ast::Call& call) {
  // R.Prim(value=n) of 2023 to 2025: the dtype of the expression; that the value is this one is not kept.
  if (const ast::Expr* value = argument_named(call, "value")) {
    check_names(call, "R.Prim", {"value"});
    Scalar known = read_dim(*value);
    return Type(ScalarType{known.defined() ? known.dtype() : DType::Int64});
  }
  check_names(call, "R.Prim", {"dtype"});
  std::vector<const ast::Expr*> given = positional(call);
  if (const ast::Expr* dtype = argument_named(call, "dtype")) given.push_back(dtype);
  auto* name = given.size() == 1 ? given[0]->as<ast::StringValue>() : nullptr;
  if (!name) type_error(expr.span, "type.prim", "R.Prim takes one dtype, as in R.Prim(\"int64\")");
  return Type(ScalarType{read_dtype(name->value, given[0]->span)});
}

Type TypeReader::stack(const ast::Expr& expr, const ast::Call* call) {
  if (!call || call->arguments.size() != 1 || !call->arguments[0].name.empty())
    type_error(expr.span, "type.stack",
               "R.Stack takes the type of its elements, as in R.Stack(R.Tensor((2,), \"float32\"))");
  return Type(StackType{std::make_shared<const Type>(read(*call->arguments[0].value))});
}

Type TypeReader::callable(const ast::Call& call) {
  if (const ast::Expr* rule = argument_named(call, "derive_func")) {
    type_error(rule->span, "unsupported.derive_func",
               "found derive_func, which is a rule inside TVM; expected ret= with the type of the result");
  }
  check_names(call, "R.Callable", {"params", "ret", "purity"});
  std::vector<const ast::Expr*> given = positional(call);
  FunctionType result;
  const ast::Expr* params = given.empty() ? argument_named(call, "params") : given[0];
  const ast::Expr* ret = given.size() > 1 ? given[1] : argument_named(call, "ret");
  const ast::Expr* purity = given.size() > 2 ? given[2] : argument_named(call, "purity");
  if (params && !params->as<ast::NoneValue>()) {
    result.params = read_types(*params);
  } else {
    result.opaque = true;
    result.pure = false;  // unless it is said
  }
  if (given.size() > 3) type_error(given[3]->span, "type.argument", "found a fourth argument of R.Callable");
  if (ret) result.result = read(*ret);
  if (purity) {
    auto* value = purity->as<ast::BoolValue>();
    if (!value) type_error(purity->span, "type.purity", "found a purity that is neither True nor False");
    result.pure = value->value;
  }
  return Type(std::move(result));
}

}  // namespace relish
