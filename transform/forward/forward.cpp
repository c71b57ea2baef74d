// Tangents of straight-line code.
#include "transform/forward/forward.h"

#include <algorithm>

#include "ir/calls/call_layout.h"
#include "ir/operators/op.h"
#include "ir/rewriting/regions.h"
#include "transform/forward/transposed.h"
#include "transform/gradient/given_gradient.h"
#include "transform/gradient/rules.h"
#include "transform/rebuild.h"

namespace relish {

void Forward::run(const std::vector<Binding>& bindings, const std::vector<Expr>& targets) {
  std::unordered_set<std::uint64_t> needed;
  std::vector<Var> vars;
  for (const Expr& target : targets) collect_leaf_vars(target, vars);
  for (const Var& var : vars) needed.insert(var.id());
  std::vector<bool> on_path(bindings.size(), false);
  for (std::size_t i = bindings.size(); i-- > 0;) {
    const Var& var = bindings[i].var();
    if (!needed.contains(var.id()) || !job_.varied.contains(var.id())) continue;
    on_path[i] = true;
    for (const Var& used : used_vars(bindings[i].value())) needed.insert(used.id());
  }
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    builder_.set_origin(bindings[i].span);
    note_empty_stack(bindings[i]);
    if (on_path[i])
      through(bindings[i]);
    else
      builder_.append(bindings[i]);
  }
}

void Forward::note_empty_stack(const Binding& binding) {
  const Expr& value = binding.value();
  const auto* call = value.as<OpCall>();
  const Var* var = value.as_var();
  if ((call && call->op->name == "stack.new") || (var && empty_stacks_.contains(var->id())))
    empty_stacks_.insert(binding.var().id());
}

void Forward::through(const Binding& binding) {
  const Expr& value = binding.value();
  if (const auto written = job_.written_for(value)) {
    builder_.append(binding);
    return through_written(written->inputs, written->gradient, binding);
  }
  if (const auto* call = value.as<FunctionCall>()) return through_call(*call, binding);
  if (const auto* prim = value.as<CallTir>()) return through_prim_call(*prim, binding);
  if (const auto* branch = value.as<If>()) return through_if(*branch, binding);
  if (const auto* loop = value.as<Loop>()) return through_loop(*loop, binding);
  builder_.append(binding);
  if (const auto* cast = std::get_if<MatchCast>(&binding.kind))
    through_cast(*cast);
  else if (const auto* call = value.as<OpCall>())
    through_operator(*call, binding);
  else
    set(binding.var(), of(value));
}

Adjoint Forward::of(const Expr& leaf) const {
  if (const auto* literal = leaf.as<TupleExpr>()) {
    Adjoint tangent;
    for (const Expr& field : literal->fields) tangent.fields.push_back(of(field));
    return tangent;
  }
  if (const auto* get = leaf.as<TupleGet>()) {
    const Adjoint whole = of(get->tuple);
    const auto index = static_cast<std::size_t>(get->index);
    return index < whole.fields.size() ? whole.fields[index] : Adjoint{};
  }
  const Var* var = leaf.as_var();
  const auto found = var ? tangents_.find(var->id()) : tangents_.end();
  return found == tangents_.end() ? Adjoint{} : found->second;
}

Adjoint Forward::parts_of(const Expr& tangent) {
  if (const auto* literal = tangent.as<TupleExpr>()) {
    Adjoint parts;
    for (const Expr& field : literal->fields) parts.fields.push_back(parts_of(field));
    return parts;
  }
  const Type& type = tangent.type();
  if (const TupleType* tuple = type.tuple()) {
    if (!has_floats(type) && !may_hide_floats(type)) return {};
    const Expr whole = builder_.emit(tangent, "lv");
    Adjoint parts;
    for (int i = 0; i < static_cast<int>(tuple->fields.size()); ++i) {
      const Type& field = tuple->fields[static_cast<std::size_t>(i)];
      const bool counts = has_floats(field) || may_hide_floats(field);
      parts.fields.push_back(counts ? parts_of(tuple_get(whole, i, builder_.origin())) : Adjoint{});
    }
    return parts;
  }
  const bool counts = has_floats(type) || may_hide_floats(type);
  return counts ? Adjoint{builder_.emit(tangent, "lv")} : Adjoint{};
}

Expr Forward::tangent_of(const Expr& leaf, const Type& type) {
  const Var* var = leaf.as_var();
  if (var && empty_stacks_.contains(var->id())) return leaf;
  return zeros_.as_expr(of(leaf), type, leaf);
}

Expr Forward::bound(const Expr& value, const std::string& hint) {
  return value.as<TupleExpr>() ? Expr(builder_.bind(value, hint)) : builder_.emit(value, hint);
}

void Forward::through_cast(const MatchCast& cast) {
  set(cast.var, cast_tangent(of(cast.value), cast.type, cast.var.name()));
}

Adjoint Forward::cast_tangent(const Adjoint& tangent, const Type& type, const std::string& name) {
  if (tangent.value.defined()) {
    Binding made;
    made.kind = MatchCast{Var(builder_.fresh_name(name + "_dot"), type, false, builder_.origin()),
                          tangent.value, type};
    made.span = builder_.origin();
    builder_.append(made);
    return parts_of(Expr(made.var()));
  }
  Adjoint result;
  const TupleType* tuple = type.tuple();
  for (std::size_t i = 0; tuple && i < tangent.fields.size(); ++i)
    result.fields.push_back(cast_tangent(tangent.fields[i], tuple->fields[i], name));
  return result;
}

void Forward::through_operator(const OpCall& call, const Binding& binding) {
  const Var& output = binding.var();
  if (through_stack(call, output) || !call.op->vjp) return;
  std::vector<Adjoint> tangents;
  for (const Expr& arg : call.args) tangents.push_back(of(arg));
  const auto partials = [&](const Expr& cotangent, FunctionBuilder& builder) {
    std::vector<Expr> values;
    for (Partial& partial : rule_partials(call, binding.value(), output, cotangent, builder))
      values.push_back(partial.value);
    return values;
  };
  set(output, transposed(job_, output, tangents, partials, builder_));
}

// A stack of tangents goes beside a stack of values. Gives whether the operator is one of stacks.
bool Forward::through_stack(const OpCall& call, const Var& output) {
  const std::string_view name = call.op->name;
  if (!name.starts_with("stack.")) return false;
  const Span span = builder_.origin();
  if (name == "stack.push") {
    const Expr stack = tangent_of(call.args[0], call.args[0].type());
    const Expr top = tangent_of(call.args[1], call.args[1].type());
    set(output, {builder_.emit(op_call("stack.push", {stack, top}, {}, span), output.name() + "_dot")});
  } else if (name == "stack.pop") {
    const Adjoint stack = of(call.args[0]);
    if (stack.value.defined()) set(output, parts_of(op_call("stack.pop", {stack.value}, {}, span)));
  }
  return true;
}

void Forward::through_call(const FunctionCall& call, const Binding& binding) {
  if (!has_floats(binding.var().type())) return builder_.append(binding);
  const JvpFunction& made = functions_.of(call);
  std::vector<Expr> args = call.args;
  for (const std::size_t i : made.wrt) args.push_back(tangent_of(call.args[i], call.args[i].type()));
  const Span span = builder_.origin();
  const Expr callee = global_ref(made.name, Type(made.type), span);
  const Expr both = builder_.emit(function_call(callee, std::move(args), span), "lv");
  Binding value = binding;
  value.kind = VarBinding{binding.var(), tuple_get(both, 0, span)};
  builder_.append(value);
  set(binding.var(), parts_of(tuple_get(both, 1, span)));
}

// A gradient that the user wrote says all there is to say: its transpose gives the tangent.
void Forward::through_written(const std::vector<Expr>& inputs, const FunctionPtr& written,
                              const Binding& binding) {
  const Var& output = binding.var();
  std::vector<Adjoint> tangents;
  for (const Expr& input : inputs) tangents.push_back(of(input));
  const auto partials = [&](const Expr& cotangent, FunctionBuilder& builder) {
    const Expr gradients = call_of_written(inputs, written, output, cotangent, builder);
    std::vector<Expr> values;
    for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
      const Expr partial = written_partial(gradients, i, builder);
      values.push_back(has_floats(partial.type()) ? partial : Expr());
    }
    return values;
  };
  set(output, transposed(job_, output, tangents, partials, builder_));
}

void Forward::through_prim_call(const CallTir& call, const Binding& binding) {
  if (!call.gradient_name.empty()) {
    builder_.append(binding);
    std::vector<Adjoint> tangents;
    for (const Expr& arg : call.args) tangents.push_back(of(arg));
    const auto partials = [&](const Expr& cotangent, FunctionBuilder& builder) {
      return given_partials(job_.module, call, cotangent, builder);
    };
    return set(binding.var(), transposed(job_, binding.var(), tangents, partials, builder_));
  }
  const std::optional<PrimTangentCall> made = job_.prim_tangents.call_with_tangents(
      call, [&](const Expr& arg) { return job_.reaches(arg); },
      [&](const Expr& arg) { return tangent_of(arg, arg.type()); }, builder_.origin());
  if (!made) return builder_.append(binding);
  const Span span = builder_.origin();
  const Expr both = builder_.emit(made->call, "lv");
  const std::size_t count = call.out_types.size();
  std::vector<Expr> values;
  for (std::size_t i = 0; i < count; ++i) {
    const Expr field = tuple_get(both, static_cast<int>(i), span);
    values.push_back(call.tuple_result ? builder_.emit(field, "lv") : field);
  }
  Binding value = binding;
  value.kind = VarBinding{binding.var(), call.tuple_result ? tuple(values, span) : values[0]};
  builder_.append(value);
  Adjoint tangent;
  tangent.fields.resize(count);
  for (std::size_t k = 0; k < made->outputs.size(); ++k)
    tangent.fields[made->outputs[k]] = parts_of(tuple_get(both, static_cast<int>(count + k), span));
  set(binding.var(), call.tuple_result ? tangent : tangent.fields[0]);
}

}  // namespace relish
