// Printing of Relax functions: signatures, blocks, bindings and operands.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/op.h"
#include "ir/printer_internal.h"
#include "ir/rewrite.h"
#include "ir/symbols.h"
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
    w.uses_globals = true;
    w.out += "cls.";
  }
  w.out += identifier(name);
}

void write_kind(Writer& w, const VarRef& ref) { w.out += w.name(ref.var); }

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

void write_kind(Writer& w, const OpCall& call) {
  w.text.uses_graph = true;
  w.out += "R.";
  w.out += call.op->name;
  w.out += '(';
  std::string_view separator = "";
  for (const Expr& arg : call.args) {
    w.out += separator;
    write_expr(w, arg);
    separator = ", ";
  }
  for (const auto& [key, value] : call.attributes) {
    w.out += separator;
    w.out += key;
    w.out += '=';
    write_attribute(w, value);
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

// The result types of a call_tir: a keyword; in 2022 the shape as a tuple and the dtype.
void write_out_types(Writer& w, const CallTir& call) {
  const TensorType* only =
      call.out_types.size() == 1 && !call.tuple_result ? call.out_types[0].tensor() : nullptr;
  if (w.text.dialect(Dialect::D2022)) {
    if (only && only->shape && only->dtype) {
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

void write_kind(Writer& w, const CallTir& call) {
  w.text.uses_graph = true;
  w.out += "R.call_tir(";
  write_expr(w, call.callee);
  w.out += ", ";
  write_kind(w, TupleExpr{call.args});
  w.out += ", ";
  write_out_types(w, call);
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
  if (call.form == PackedForm::MakeClosure) {
    w.out.resize(w.out.size() - 2);
    w.out += ')';
    return;
  }
  if (!call.inplace_indices.empty()) {
    w.out += "inplace_indices=[";
    write_list(w, call.inplace_indices, [&](std::int64_t index) { w.out += std::to_string(index); });
    w.out += "], ";
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
  if (w.text.dialect(Dialect::D026)) {
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

class FunctionWriter {
 public:
  FunctionWriter(Writer& writer, const Function& function) : w_(writer), function_(function) {}

  void write() {
    w_.graph_level = true;
    w_.text.uses_graph = true;
    w_.names.reserve_graph_names();
    if (!w_.text.class_name.empty()) w_.names.reserve(w_.text.class_name);
    if (w_.text.class_name.empty() || w_.text.dialect(Dialect::D2022)) {
      for (const std::string& name : w_.text.function_names) w_.names.reserve(name);
    }
    collect_uses();
    w_.comments_before(function_.comments);
    write_signature();

    // The body comes first, as the lines before it depend on what it uses.
    ++w_.indent;
    std::string head = std::move(w_.out);
    w_.out.clear();
    for (const BindingBlock& block : function_.blocks) write_block(block);
    w_.comments_before(function_.result_comments);
    w_.begin_line();
    w_.out += "return ";
    write_expr(w_, function_.result);
    w_.end_line(function_.result_comments);
    std::string body = std::move(w_.out);
    w_.out = std::move(head);
    write_declarations();
    w_.out += body;
    --w_.indent;
  }

 private:
  void collect_uses() {
    for_each_expr(function_, [&](const Expr& expr) {
      if (const Var* var = expr.as_var()) used_.insert(var->id());
    });
  }

  // A dimension variable that stands for a scalar parameter has its name and is declared by it.
  void name_scalar_parameters() {
    bool any = std::any_of(function_.params.begin(), function_.params.end(),
                           [](const Var& param) { return param.type().as<ScalarType>() != nullptr; });
    if (!any) return;
    const ScalarParameters scalars(function_);
    for_each_symbol(function_, [&](const ScalarVar& symbol) {
      if (auto param = scalars.of(symbol)) {
        w_.names.alias(NameTable::Kind::Scalar, symbol.id(), w_.name(*param));
        w_.declared.insert(symbol.id());
      }
    });
  }

  void write_signature() {
    for (const Var& param : function_.params) w_.name(param);
    name_scalar_parameters();
    w_.begin_line();
    w_.out += "@R.function";
    if (!function_.pure || function_.is_private) {
      w_.out += fmt::format("({}{}{})", function_.pure ? "" : "pure=False",
                            !function_.pure && function_.is_private ? ", " : "",
                            function_.is_private ? "private=True" : "");
    }
    w_.end_line();
    w_.begin_line();
    w_.out += fmt::format("def {}(", identifier(function_.name));
    w_.signature = true;
    write_list(w_, function_.params, [&](const Var& param) {
      w_.out += w_.name(param);
      w_.out += ": ";
      write_type(w_, param.type());
    });
    w_.out += ")";
    if (has_spelling(function_.result_type)) {
      w_.out += " -> ";
      write_type(w_, function_.result_type);
    }
    w_.signature = false;
    w_.out += ':';
    w_.end_line(function_.comments);
  }

  void write_declarations() {
    for (const ScalarVar& symbol : w_.symbols) {
      w_.text.uses_loops = true;
      std::string_view spelling = w_.text.dialect(Dialect::D2022) ? "{} = T.var(\"{}\")" : "{} = T.{}()";
      w_.line(fmt::format(fmt::runtime(spelling), w_.name(symbol), name_of(symbol.dtype())));
    }
    if (w_.uses_globals) w_.line(fmt::format("cls = {}", w_.text.class_name));
    if (!function_.attributes.empty()) {
      w_.begin_line();
      w_.out += "R.func_attr(";
      write_dictionary(w_, function_.attributes);
      w_.out += ")\n";
    }
  }

  void write_block(const BindingBlock& block) {
    if (!block.dataflow) {
      for (const Binding& binding : block.bindings) write_binding(binding, false);
      return;
    }
    w_.comments_before(block.comments);
    w_.begin_line();
    w_.out += "with R.dataflow():";
    w_.end_line(block.comments);
    ++w_.indent;
    std::vector<Var> outputs;
    for (const Binding& binding : block.bindings) {
      write_binding(binding, true);
      if (!binding.var().dataflow()) outputs.push_back(binding.var());
    }
    w_.begin_line();
    w_.out += "R.output(";
    write_list(w_, outputs, [&](const Var& var) { w_.out += w_.name(var); });
    w_.out += ")\n";
    --w_.indent;
  }

  // A void call that nobody refers to stands as a statement. An output of a dataflow block must have its
  // name.
  bool is_statement(const Binding& binding, bool dataflow) const {
    const Var& var = binding.var();
    bool listed = dataflow && !var.dataflow();
    const Expr& value = binding.value();
    return std::holds_alternative<VarBinding>(binding.kind) && var.type().is_void() &&
           !used_.contains(var.id()) && !listed &&
           (value.as<OpCall>() || value.as<FunctionCall>() || value.as<CallTir>() || value.as<PackedCall>());
  }

  bool needs_annotation(const Binding& binding) const {
    const Type& type = binding.var().type();
    if (!has_spelling(type)) return false;
    return !binding.value().as<CallTir>() || !same_type(type, binding.value().type());
  }

  void write_binding(const Binding& binding, bool dataflow) {
    w_.comments_before(binding.comments);
    w_.begin_line();
    const Var& var = binding.var();
    if (!is_statement(binding, dataflow)) {
      bool thrown_away = var.name() == "_" && !used_.contains(var.id()) && !(dataflow && !var.dataflow());
      w_.out += thrown_away ? "_" : w_.name(var);
      if (needs_annotation(binding)) {
        w_.out += ": ";
        write_type(w_, var.type());
      }
      w_.out += " = ";
    }
    if (const MatchCast* cast = std::get_if<MatchCast>(&binding.kind)) {
      w_.out += "R.match_cast(";
      write_expr(w_, cast->value);
      w_.out += ", ";
      write_type(w_, cast->type);
      w_.out += ')';
    } else {
      write_expr(w_, binding.value());
    }
    w_.end_line(binding.comments);
  }

  Writer& w_;
  const Function& function_;
  std::unordered_set<std::uint64_t> used_;
};

}  // namespace

void write_expr(Writer& w, const Expr& expr) {
  std::visit([&](const auto& kind) { write_kind(w, kind); }, expr.node().kind);
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

void write_function(Writer& w, const Function& function) { FunctionWriter(w, function).write(); }

}  // namespace relish::printing
