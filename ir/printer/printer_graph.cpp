// Printing of the values of Relax functions: operands and calls.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/operators/op.h"
#include "ir/operators/op_arguments.h"
#include "ir/printer/printer_internal.h"
#include "runtime/format.h"

namespace relish::printing {
namespace {

constexpr std::int64_t largest_inline_constant = 16;  // elements

// Whether decimal text gives the tensor back bit by bit. Not for payloads of NaN, and not for integers beyond
// int64.
bool has_exact_text(const Tensor& tensor) {
  if (tensor.size() == 0 || tensor.size() > largest_inline_constant) return false;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    if (is_float(tensor.dtype()) && !std::isfinite(tensor.get_double(i))) return false;
    if (tensor.dtype() == DType::UInt64 && tensor.get_int(i) < 0) return false;
  }
  return true;
}

void write_elements(Writer& w, const Tensor& tensor, int axis, std::int64_t& next) {
  if (axis == tensor.rank()) {
    w.out += format_element(tensor, next++);
    return;
  }
  w.out += '[';
  for (std::int64_t i = 0; i < tensor.shape()[static_cast<std::size_t>(axis)]; ++i) {
    if (i > 0) w.out += ", ";
    write_elements(w, tensor, axis + 1, next);
  }
  w.out += ']';
}

void write_global(Writer& w, const std::string& name) {
  if (auto linked = w.text.options.linked.find(name); linked != w.text.options.linked.end()) {
    w.out += linked->second;
    return;
  }
  if (!w.text.class_name.empty() && !w.text.dialect(Dialect::D2022)) {
    w.uses_globals |= w.module_alias != w.text.class_name;
    w.out += w.module_alias;
    w.out += '.';
  } else if (w.hidden_globals.contains(name)) {
    // Functions outside of a class are one module, of this name.
    w.out += w.text.class_name.empty() ? "Module" : w.text.class_name;
    w.out += '.';
  }
  w.out += identifier(name);
}

void write_kind(Writer& w, const VarRef& ref) {
  auto inlined = w.inlined.find(ref.var.id());
  if (inlined != w.inlined.end()) return write_expr(w, inlined->second);
  // A hole has its name by itself: nothing binds it.
  const bool hole = ref.var.name().starts_with('?');
  w.out += hole ? ref.var.name() : w.name(ref.var);
}

void write_kind(Writer& w, const Constant& constant) {
  if (!has_exact_text(constant.value)) {
    w.text.uses_constants = true;
    w.out += fmt::format("relish.constant(\"{}\")", w.text.constants.add(constant.value));
    return;
  }
  w.text.uses_graph = true;
  w.out += "R.const(";
  std::int64_t next = 0;
  write_elements(w, constant.value, 0, next);
  w.out += fmt::format(", \"{}\")", name_of(constant.value.dtype()));
}

void write_kind(Writer& w, const TupleExpr& tuple) {
  if (tuple.fields.empty()) {
    w.text.uses_graph = true;
    w.out += "R.tuple()";
    return;
  }
  write_tuple(w, tuple.fields, [&](const Expr& field) { write_expr(w, field); });
}

void write_kind(Writer& w, const TupleGet& get) {
  write_expr(w, get.tuple);
  w.out += fmt::format("[{}]", get.index);
}

// R.hint_on_device has a form of its own: R.hint_on_device(x, R.device(device_type=1, index=0), "global").
void write_hint_on_device(Writer& w, const OpCall& call) {
  w.out += "R.hint_on_device(";
  write_expr(w, call.args.at(0));
  w.out += ", R.device(device_type=";
  write_attribute(w, call.attributes.at(0).second);
  w.out += ", index=";
  write_attribute(w, call.attributes.at(1).second);
  w.out += "), ";
  write_attribute(w, call.attributes.at(2).second);
  w.out += ')';
}

namespace {

// Whether an attribute's text is that of a lambda, which TVM reads as T.index_map(lambda …).
bool is_index_map(const Op& op, std::string_view attribute) {
  return std::any_of(op.params.begin(), op.params.end(), [&](const Param& param) {
    return param.name == attribute && param.type == "index map";
  });
}

const FloatLiteral* wide_real(const Expr& expr) {
  const auto* scalar = expr.as<ScalarValueExpr>();
  const auto* real = scalar ? scalar->value.as<FloatLiteral>() : nullptr;
  return real && scalar->value.dtype() == DType::Float64 && std::isfinite(real->value) ? real : nullptr;
}

// Whether a real of float64, written plainly, would be read as float32.
bool reads_as_another(const OpCall& call, std::size_t at) {
  if (!wide_real(call.args[at])) return false;
  const Attribute* dtype = find_attribute(call.attributes, "dtype");
  for (const Param& param : call.op->params) {
    if (param.kind == ParamKind::Attribute) continue;
    if (at-- == 0) return plain_real_dtype(param, dtype && !dtype->is_none()) != DType::Float64;
  }
  return false;
}

}  // namespace

void write_kind(Writer& w, const OpCall& call) {
  w.text.uses_graph = true;
  if (call.op->name == "hint_on_device") return write_hint_on_device(w, call);
  if (call.op->name.starts_with("random.") || call.op->name.starts_with("stack."))
    w.text.uses_extensions = true;
  w.out += "R.";
  w.out += call.op->name;
  w.out += '(';
  std::string_view separator = "";
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    w.out += separator;
    if (reads_as_another(call, i)) {
      w.out += "R.prim_value(";
      const bool level = std::exchange(w.graph_level, false);
      write_float(w, DType::Float64, wide_real(call.args[i])->value);
      w.graph_level = level;
      w.out += ')';
    } else {
      write_expr(w, call.args[i]);
    }
    separator = ", ";
  }
  for (const auto& [key, value] : call.attributes) {
    w.out += separator;
    w.out += key;
    w.out += '=';
    const auto* text = value.as<std::string>();
    if (text && is_index_map(*call.op, key)) {
      w.text.uses_loops = true;
      w.out += fmt::format("T.index_map({})", *text);
    } else {
      write_attribute(w, value);
    }
    separator = ", ";
  }
  w.out += ')';
}

void write_kind(Writer& w, const FunctionCall& call) {
  write_expr(w, call.callee);
  w.out += '(';
  write_list(w, call.args, [&](const Expr& arg) { write_expr(w, arg); });
  w.out += ')';
}

// The result types of a call_tir: a keyword; in 2022 the shape as a tuple and the dtype, which name no
// device.
void write_out_types(Writer& w, const CallTir& call) {
  const TensorType* only =
      call.out_types.size() == 1 && !call.tuple_result ? call.out_types[0].tensor() : nullptr;
  const bool plain = call.inplace_indices.empty() && call.gradient_name.empty();
  if (plain && w.text.dialect(Dialect::D2022)) {
    if (only && only->shape && only->dtype && only->vdevice.empty()) {
      write_tuple(w, *only->shape, [&](const Scalar& dim) { write_scalar(w, dim); });
      w.out += fmt::format(", dtype=\"{}\"", name_of(*only->dtype));
      return;
    }
  } else {
    w.out += w.text.dialect(Dialect::D026) ? "out_ty=" : "out_sinfo=";
  }
  if (call.out_types.size() == 1 && !call.tuple_result) {
    write_type(w, call.out_types[0]);
    return;
  }
  w.out += '[';
  write_list(w, call.out_types, [&](const Type& type) { write_type(w, type); });
  w.out += ']';
}

void write_inplace(Writer& w, const std::vector<std::int64_t>& indices) {
  w.out += "inplace_indices=[";
  write_list(w, indices, [&](std::int64_t index) { w.out += std::to_string(index); });
  w.out += ']';
}

void write_kind(Writer& w, const CallTir& call) {
  w.text.uses_graph = true;
  w.out += !call.inplace_indices.empty() ? "R.call_tir_inplace("
           : !call.gradient_name.empty() ? "R.call_tir_with_grad("
                                         : "R.call_tir(";
  write_expr(w, call.callee);
  w.out += ", ";
  write_kind(w, TupleExpr{call.args});
  w.out += ", ";
  if (!call.inplace_indices.empty()) {
    write_inplace(w, call.inplace_indices);
    w.out += ", ";
  }
  write_out_types(w, call);
  if (!call.gradient_name.empty()) {
    w.out += ", te_grad_name=";
    write_string(w, call.gradient_name);
    if (!call.gradient_arguments.empty()) {
      w.out += ", te_grad_kwargs=";
      write_dictionary(w, call.gradient_arguments);
    }
  }
  w.out += ')';
}

void write_kind(Writer& w, const ExternFunc& external) {
  w.text.uses_graph = true;
  w.out += "R.ExternFunc(";
  write_string(w, external.symbol);
  w.out += ')';
}

std::string_view name_of(PackedForm form) {
  switch (form) {
    case PackedForm::Dps:
      return "R.call_dps_packed(";
    case PackedForm::Pure:
      return "R.call_pure_packed(";
    case PackedForm::Impure:
      return "R.call_packed(";
    case PackedForm::Inplace:
      return "R.call_inplace_packed(";
    case PackedForm::Builtin:
      return "R.call_builtin_with_ctx(";
    case PackedForm::MakeClosure:
      return "R.make_closure(";
    case PackedForm::InvokeClosure:
      return "R.invoke_closure(";
    case PackedForm::InvokePureClosure:
      return "R.invoke_pure_closure(";
    case PackedForm::CallTirDyn:
      return "R.vm.call_tir_dyn(";
  }
  return "";
}

void write_kind(Writer& w, const PackedCall& call) {
  w.text.uses_graph = true;
  w.out += name_of(call.form);
  if (const auto* external = call.callee.as<ExternFunc>())
    write_string(w, external->symbol);
  else
    write_expr(w, call.callee);
  const bool separate = call.form == PackedForm::Pure || call.form == PackedForm::Impure ||
                        call.form == PackedForm::Inplace;  // arguments one by one, else a tuple
  w.out += ", ";
  if (separate) {
    for (const Expr& arg : call.args) {
      write_expr(w, arg);
      w.out += ", ";
    }
  } else {
    write_kind(w, TupleExpr{call.args});
    w.out += ", ";
  }
  if (call.form == PackedForm::MakeClosure || call.form == PackedForm::CallTirDyn) {
    w.out.resize(w.out.size() - 2);
    w.out += ')';
    return;
  }
  if (!call.inplace_indices.empty()) {
    write_inplace(w, call.inplace_indices);
    w.out += ", ";
  }
  const bool current = w.text.dialect(Dialect::D026);
  w.out += call.form == PackedForm::Dps ? (current ? "out_ty=" : "out_sinfo=")
                                        : (current ? "ty_args=" : "sinfo_args=");
  if (call.tuple_result) {
    w.out += '[';
    write_list(w, call.out_types, [&](const Type& type) { write_type(w, type); });
    w.out += ']';
  } else {
    write_type(w, call.out_types.empty() ? void_type() : call.out_types[0]);
  }
  for (const auto& [key, value] : call.attributes) {
    w.out += fmt::format(", {}=", key);
    write_attribute(w, value);
  }
  w.out += ')';
}

// Within a line, as messages show them; as statements they are written by FunctionWriter.
void write_kind(Writer& w, const FunctionExpr& nested) { w.out += nested.function->name; }
void write_kind(Writer& w, const If& branch) {
  w.out += "if ";
  write_expr(w, branch.condition);
}
void write_kind(Writer& w, const Loop& loop) {
  if (!loop.index.defined()) {
    w.out += "while";
    return;
  }
  w.out += fmt::format("for {} in range(", w.name(loop.index));
  write_expr(w, loop.begin);
  w.out += ", ";
  write_expr(w, loop.end);
  w.out += ", ";
  write_expr(w, loop.step);
  w.out += ')';
}

void write_kind(Writer& w, const ShapeLiteral& shape) {
  w.text.uses_graph = true;
  w.out += "R.shape([";
  write_dims(w, shape.dims);
  w.out += "])";
}

void write_kind(Writer& w, const ScalarValueExpr& scalar) {
  if (w.text.dialect(Dialect::D026) && !is_named_by_parameter(w, scalar.value)) {
    write_scalar(w, scalar.value);
    return;
  }
  w.text.uses_graph = true;
  w.out += "R.prim_value(";
  write_scalar(w, scalar.value);
  w.out += ')';
}

void write_kind(Writer& w, const StringLiteral& string) {
  w.text.uses_graph = true;
  w.out += "R.str(";
  write_string(w, string.value);
  w.out += ')';
}

void write_kind(Writer& w, const DTypeLiteral& dtype) {
  w.text.uses_graph = true;
  w.out += fmt::format("R.dtype(\"{}\")", name_of(dtype.value));
}

void write_kind(Writer& w, const GlobalRef& global) { write_global(w, global.name); }

}  // namespace

void write_expr(Writer& w, const Expr& expr) {
  visit_kind([&](const auto& kind) { write_kind(w, kind); }, expr);
}

void write_extern_function(Writer& w, const ExternFunction& function) {
  w.text.uses_graph = true;
  w.comments_before(function.comments);
  w.begin_line();
  w.out += identifier(function.name) + " = R.ExternFunc(";
  write_string(w, function.symbol);
  if (function.type) {
    w.out += ", ";
    write_type(w, *function.type);
  }
  w.out += ')';
  w.end_line(function.comments);
}

}  // namespace relish::printing
