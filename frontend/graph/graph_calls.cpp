// Calls with rules of their own: devices, shapes, tuples, operators by their names.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/graph/graph_calls.h"
#include "frontend/names/borrowed_call.h"
#include "frontend/types/attribute_reader.h"
#include "ir/operators/op_arguments.h"
#include "ir/printer/printer.h"
#include "stdlib/surface.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/render.h"
#include "support/source.h"

namespace relish {
namespace {

struct Refusal {
  std::string_view name;
  std::string_view reason;
  bool misplaced = false;  // a fault of the text, not something that is not to be had here
};
constexpr std::array<Refusal, 8> refusals = {{
    {"R.match_cast", "found R.match_cast inside an expression; expected y = R.match_cast(x, type)", true},
    {"R.match_shape", "found R.match_shape inside an expression; expected y = R.match_shape(x, dims)", true},
    {"R.func_attr", "found R.func_attr inside an expression; expected it as a statement", true},
    {"R.output", "found R.output inside an expression; expected it as a statement", true},
    {"R.dataflow", "found R.dataflow inside an expression; expected with R.dataflow():", true},
    {"R.emit_te", "R.emit_te needs Python, which Relish does not run; expected a prim_func and R.call_tir"},
    {"R.call_py_func", "R.call_py_func needs Python, which Relish does not run"},
    {"R.rewriter", "R.rewriter needs Python, which Relish does not run"},
}};

struct Packed {
  std::string_view name;
  PackedForm form;
};
constexpr std::array<Packed, 9> packed_forms = {{
    {"R.call_dps_packed", PackedForm::Dps},
    {"R.call_pure_packed", PackedForm::Pure},
    {"R.call_packed", PackedForm::Impure},
    {"R.call_inplace_packed", PackedForm::Inplace},
    {"R.call_builtin_with_ctx", PackedForm::Builtin},
    {"R.make_closure", PackedForm::MakeClosure},
    {"R.invoke_closure", PackedForm::InvokeClosure},
    {"R.invoke_pure_closure", PackedForm::InvokePureClosure},
    {"R.vm.call_tir_dyn", PackedForm::CallTirDyn},
}};

}  // namespace

// R.equal(n, 0) and its kin on scalars that the text can name, as n == 0.
std::optional<Expr> GraphCalls::scalar_operator(std::string_view op, const std::vector<Expr>& args,
                                                Span span) {
  static constexpr std::array<std::pair<std::string_view, ast::Operator>, 9> operators = {
      {{"add", ast::Operator::Add},
       {"subtract", ast::Operator::Sub},
       {"multiply", ast::Operator::Mul},
       {"equal", ast::Operator::Eq},
       {"not_equal", ast::Operator::Ne},
       {"less", ast::Operator::Lt},
       {"less_equal", ast::Operator::Le},
       {"greater", ast::Operator::Gt},
       {"greater_equal", ast::Operator::Ge}}};
  const auto found =
      std::find_if(operators.begin(), operators.end(), [&](const auto& each) { return each.first == op; });
  if (found == operators.end() || args.size() != 2) return std::nullopt;
  const auto a = known_scalar(args[0]), b = known_scalar(args[1]);
  if (!a || !b) return std::nullopt;
  return scalar_value(scalars_.combine(found->second, {*a, false}, {*b, false}, span).value, span);
}

// I.vdevice("llvm", 0, "global") and tvm.ir.VDevice, or a name for one, as the text of annotations.
std::optional<std::string> GraphCalls::device_text(const ast::Expr& expr) {
  if (const std::string* name = ast::name_of(expr)) {
    Entry* entry = look_up(*name);
    auto* device = entry ? std::get_if<Device>(&entry->meaning) : nullptr;
    return device ? std::optional(device->text) : std::nullopt;
  }
  auto* call = expr.as<ast::Call>();
  const std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (name != "I.vdevice" && name != "I.VDevice") return std::nullopt;
  std::array<std::string, 3> parts = {"", "0", "global"};
  static constexpr std::array<std::string_view, 3> names = {"target", "vdevice_id", "memory_scope"};
  for (std::size_t i = 0; i < call->arguments.size(); ++i) {
    const ast::Argument& argument = call->arguments[i];
    const auto named = std::find(names.begin(), names.end(), argument.name);
    const std::size_t at = argument.name.empty() ? i : static_cast<std::size_t>(named - names.begin());
    if (at >= parts.size() || argument.stars) {
      type_error(argument.value->span, "device.arguments",
                 "found an argument that I.vdevice has not; expected I.vdevice(\"llvm\", 0, \"global\")");
    }
    Attribute value = read_attribute(context_, *argument.value);
    if (const auto* target = value.as<Attributes>()) {
      const Attribute* kind = find_attribute(*target, "kind");
      value = kind ? *kind : Attribute();
    }
    const auto* text = value.as<std::string>();
    const auto* number = value.as<std::int64_t>();
    if (at == 1 ? !number : !text) {
      type_error(argument.value->span, "device.arguments",
                 fmt::format("found {} in I.vdevice; expected I.vdevice(\"llvm\", 0, \"global\")",
                             ast::describe(*argument.value)));
    }
    parts[at] = at == 1 ? fmt::format("{}", *number) : *text;
  }
  return fmt::format("{}:{}:{}", parts[0], parts[1], parts[2]);
}

// The number of a kind of device: of tvm.cpu(), tvm.cuda(0) and the like.
std::optional<std::int64_t> device_number(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 8> kinds = {{{"cpu", 1},
                                                                                      {"llvm", 1},
                                                                                      {"cuda", 2},
                                                                                      {"opencl", 4},
                                                                                      {"vulkan", 7},
                                                                                      {"metal", 8},
                                                                                      {"rocm", 10},
                                                                                      {"webgpu", 15}}};
  for (const auto& [known, number] : kinds)
    if (known == name) return number;
  return std::nullopt;
}

std::optional<std::int64_t> GraphCalls::device_kind(const ast::Call& call) const {
  const std::string name = context_.namespaces.canonical(*call.callee);
  const bool plain = call.arguments.size() < 2 && (call.arguments.empty() || call.arguments[0].name.empty());
  if (!plain || !name.starts_with("tvm.")) return std::nullopt;
  return device_number(std::string_view(name).substr(4));
}

// Dimensions in a tuple or list as a shape.
Expr GraphCalls::shape_of_dims(const ast::Expr& written) {
  std::vector<Scalar> dims;
  for (Scalar& dim : scalars_.read_list(written)) {
    if (dim.defined() && !is_int(dim.dtype())) {
      type_error(written.span, "shape.dtype",
                 fmt::format("found a dimension of dtype {}; expected int64", name_of(dim.dtype())));
    }
    if (!dim.defined()) throw ReadContext::Silent{};
    dims.push_back(dim);
  }
  return shape_literal(std::move(dims), written.span);
}

// R.emit_with_ty("relax.builtin.alloc_tensor", (shape, dtype), (type,)): the operator by its name, its
// arguments, and the type of what it gives.
Expr GraphCalls::named_call(const std::string& name, const ast::Expr& expr, const ast::Call& call) {
  const std::size_t count = call.arguments.size();
  bool plain = count == 2 || count == 3;
  for (const ast::Argument& argument : call.arguments)
    plain &= !argument.stars && (argument.name.empty() || argument.name.ends_with("_args"));
  auto* op = plain ? call.arguments[0].value->as<ast::StringValue>() : nullptr;
  const ast::Expr* given = op ? call.arguments[1].value.get() : nullptr;
  auto* arguments = given ? given->as<ast::TupleValue>() : nullptr;
  auto* listed = given ? given->as<ast::ListValue>() : nullptr;
  if (!op || !op->value.starts_with("relax.") || (!arguments && !listed)) {
    type_error(expr.span, "call.arguments",
               fmt::format("{} takes the name of an operator such as \"relax.add\", its arguments in a tuple "
                           "and perhaps the type of what it gives",
                           printable(name)));
  }
  const std::string called = "R." + op->value.substr(std::string_view("relax.").size());
  BorrowedCall made(*call.callee);
  for (const ast::ExprPtr& item : arguments ? arguments->items : listed->items) made.add(*item);
  const ast::Expr* types = count == 3 ? call.arguments[2].value.get() : nullptr;
  const bool packed = std::any_of(packed_forms.begin(), packed_forms.end(),
                                  [&](const Packed& form) { return form.name == called; });
  if (packed) {
    if (types) made.add(*types, "ty_args");
    return *special_call(called, expr, made.call());
  }
  Expr result = operator_call(called, expr, made.call(), nullptr);
  if (!types) return result;
  auto* tuple = types->as<ast::TupleValue>();
  auto* list = types->as<ast::ListValue>();
  const std::vector<ast::ExprPtr>* items = tuple ? &tuple->items : list ? &list->items : nullptr;
  const Type wanted = types_.read(items && items->size() == 1 ? *items->front() : *types);
  if (!result.type().is_error() && fits(result.type(), wanted) == Fit::Never) {
    type_error(types->span, "binding.annotation",
               fmt::format("found the type {}; {} gives {}", print(wanted), printable(called),
                           print(result.type())));
  }
  if (!promises_more(result.type(), wanted)) return result;
  return checked_type(as_leaf(result), wanted, expr.span);
}

std::optional<Expr> GraphCalls::special_call(const std::string& name, const ast::Expr& expr,
                                             const ast::Call& call) {
  auto expect = [&](std::size_t least, std::size_t most) {
    if (call.arguments.size() < least || call.arguments.size() > most) {
      type_error(
          expr.span, "call.arguments",
          fmt::format("found {} of {}; expected {}", counted(call.arguments.size(), "argument"),
                      printable(name),
                      least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most)));
    }
  };
  if (name == "R.call_tir" || name == "R.call_tir_inplace" || name == "R.call_tir_with_grad")
    return call_tir(name, expr, call);
  if (name == "R.emit_with_ty" || name == "R.emit_with_type" || name == "R.emit_with_sinfo")
    return named_call(name, expr, call);
  for (const Packed& packed : packed_forms) {
    if (packed.name == name) return packed_call(packed.form, name, expr, call);
  }
  if (name == "R.ExternFunc") {
    auto* symbol = call.arguments.empty() ? nullptr : call.arguments[0].value->as<ast::StringValue>();
    if (!symbol || symbol->value.empty() || call.arguments.size() > 2)
      type_error(expr.span, "native.symbol", "R.ExternFunc takes the symbol of a native function");
    return extern_func(symbol->value, expr.span);
  }
  if (name == "R.const") return constant_of(expr, call);
  if (name == "relish.constant") return named_constant(expr, call);
  if (name == "R.shape" || name == "R.ShapeExpr") {
    expect(1, 1);
    const ast::Expr& dims = *call.arguments[0].value;
    if (dims.as<ast::Name>())
      if (auto known = known_dims(leaf(dims))) return shape_literal(std::move(*known), dims.span);
    if (!dims.as<ast::TupleValue>() && !dims.as<ast::ListValue>() && !dims.as<ast::NumberListValue>())
      type_error(dims.span, "shape.dims",
                 fmt::format("found {} in {}; expected a list of dimensions", ast::describe(dims), name));
    return shape_of_dims(dims);
  }
  if (name == "R.stack.new" && !call.arguments.empty()) {
    const auto [empty, type] = new_stack(call, nullptr);
    Var var(builder_.fresh_name(in_dataflow_ ? "lv" : "gv"), type, in_dataflow_, expr.span);
    builder_.append(Binding{MatchCast{var, empty, type}, expr.span, nullptr, false});
    return Expr(var);
  }
  if (name == "R.prim_value" || name == "R.PrimValue") {
    expect(1, 1);
    return scalar_value(scalars_.read(*call.arguments[0].value), expr.span);
  }
  if (name == "R.tuple" || name == "R.Tuple") {
    std::vector<Expr> fields = call_arguments(call, Type());
    return tuple(std::move(fields), expr.span);
  }
  if (name == "R.TupleGetItem") {
    expect(2, 2);
    auto* index = call.arguments[1].value->as<ast::IntValue>();
    if (!index || index->value < 0 || index->value > INT32_MAX) {
      type_error(call.arguments[1].value->span, "subscript.index", "found an index that is no plain integer");
    }
    return tuple_get(leaf(*call.arguments[0].value), static_cast<int>(index->value), expr.span);
  }
  if (name == "R.str" || name == "R.dtype") {
    expect(1, 1);
    auto* text = call.arguments[0].value->as<ast::StringValue>();
    if (!text)
      type_error(
          expr.span, "call.arguments",
          fmt::format("found {} in {}; expected a string", ast::describe(*call.arguments[0].value), name));
    if (name == "R.str") return string_literal(text->value, expr.span);
    return dtype_literal(read_dtype(text->value, call.arguments[0].value->span), expr.span);
  }
  for (const Refusal& refusal : refusals) {
    if (refusal.name != name) continue;
    type_error(expr.span, refusal.misplaced ? "expression.value" : "unsupported.operator",
               std::string(refusal.reason));
  }
  if (name.substr(0, 7) == "R.dist.") {
    type_error(expr.span, "unsupported.operator",
               fmt::format("{}: distributed tensors are not supported", printable(name)));
  }
  return std::nullopt;
}

// Whether the annotation is R.Stack(R.Any), which R.stack.new() is without a cast.
bool GraphCalls::is_untyped_stack(const ast::Expr& annotation) {
  symbols_.declare_strings(annotation, DType::Int64);
  const Type type = types_.read(annotation);
  const auto* stack = type.as<StackType>();
  return stack && stack->element->as<AnyType>();
}

// The empty stack that R.stack.new(T) gives, as a value of unknown elements, and its type R.Stack(T).
std::pair<Expr, Type> GraphCalls::new_stack(const ast::Call& call, const ast::Expr* annotation) {
  const ast::Argument* given = call.arguments.empty() ? nullptr : &call.arguments[0];
  if (call.arguments.size() > 1 || (given && (given->stars || !given->name.empty()))) {
    type_error(call.callee->span, "stack.new",
               "R.stack.new takes the type of the elements, as in R.stack.new(R.Tensor((2,), \"float32\"))");
  }
  const ast::Expr& written = given ? *given->value : *annotation;
  symbols_.declare_strings(written, DType::Int64);
  Type type = types_.read(written);
  if (given) {
    type = StackType{std::make_shared<const Type>(std::move(type))};
  } else if (!type.as<StackType>()) {
    type_error(annotation->span, "annotation.type",
               fmt::format("found a stack, which is never {}", print(type)));
  }
  if (!in_dataflow_) open_plain_block();
  return {builder_.emit(op_call("stack.new", {}, {}, call.callee->span)), type};
}

}  // namespace relish
