// The way back through straight-line code: each operator's rule gives one partial for each argument, and
// partials of one variable are added in reverse program order (the order of TVM, on which float results
// depend).
#include "transform/gradient/reverse.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/regions.h"
#include "support/failure.h"
#include "support/interrupt.h"
#include "transform/gradient/call_pairs.h"
#include "transform/gradient/given_gradient.h"
#include "transform/gradient/kept_stack.h"
#include "transform/gradient/path_account.h"
#include "transform/gradient/rules.h"
#include "transform/gradient/stack_sums.h"
#include "transform/rebuild.h"

namespace relish {

void Reverse::forward(const std::vector<Binding>& bindings, const std::vector<Expr>& targets) {
  std::unordered_set<std::uint64_t> needed, on_path;
  std::vector<Var> vars;
  for (const Expr& target : targets) collect_leaf_vars(target, vars);
  for (const Var& var : vars) needed.insert(var.id());
  for (auto it = bindings.rbegin(); it != bindings.rend(); ++it) {
    if (!needed.contains(it->var().id()) || !job_.varied.contains(it->var().id())) continue;
    on_path.insert(it->var().id());
    for (const Var& used : used_vars(it->value())) needed.insert(used.id());
  }
  for (const Binding& binding : bindings) {
    builder_.set_origin(binding.span);
    const bool passed = on_path.contains(binding.var().id());
    if (job_.account) note_path(job_, binding, passed, recursion_ != nullptr);
    if (passed && append_parts(binding)) continue;
    forward_.push_back(binding);
    const auto* call = passed ? binding.value().as<FunctionCall>() : nullptr;
    if (call && append_call(binding, *call)) continue;
    if (passed) open(binding);
    builder_.append(binding);
  }
}

// Of an operator whose rule would compute again what is dear.
bool Reverse::append_parts(const Binding& binding) {
  if (job_.written_for(binding.value())) return false;
  const std::vector<Binding> parts = written_out(binding, builder_);
  for (const Binding& part : parts) {
    const Var& var = part.var();
    job_.vary(part);
    if (job_.again.contains(binding.var().id())) job_.again.insert(var.id());
    if (job_.account) job_.account->count_with(var, binding.var());
    forward_.push_back(part);
    builder_.append(part);
  }
  return !parts.empty();
}

// A loop, and an if that tapes go through, stand as they are until the way back tells what they keep.
void Reverse::open(const Binding& binding) {
  const Expr& value = binding.value();
  const auto* loop = value.as<Loop>();
  const auto* branch = value.as<If>();
  const bool threaded = recursion_ && (loop || branch) && holds_recursion(job_, value);
  if (!loop && !threaded) return;
  std::vector<Opened>& bodies = opened_[binding.var().id()];
  if (loop) {
    bodies.push_back(opened(*loop->body, threaded ? fresh_tapes(tapes, builder_) : std::vector<Var>()));
  } else {
    bodies.push_back(opened(*branch->then_region, {}));
    bodies.push_back(opened(*branch->else_region, {}));
  }
  builder_.set_origin(binding.span);
  if (!threaded) return;
  threaded_.insert(binding.var().id());
  const std::vector<Var> after = fresh_tapes(tapes, builder_);
  for (Opened& body : bodies) body.tapes_after = after;
  tapes.assign(after.begin(), after.end());
}

// The body of a loop has tapes of its own, which it carries; a branch goes on with those around it.
Reverse::Opened Reverse::opened(const Region& region, std::vector<Var> own_tapes) {
  Opened made;
  made.inner = std::make_unique<Reverse>(job_, builder_, recursion_);
  made.tapes = std::move(own_tapes);
  made.inner->tapes = made.around = tapes;
  if (!made.tapes.empty()) made.inner->tapes.assign(made.tapes.begin(), made.tapes.end());
  builder_.begin_region(region.params);
  builder_.begin_block(false);
  made.inner->forward(all_bindings(region.blocks), region.results);
  builder_.end_block();
  made.ahead = all_bindings(builder_.end_region({}).blocks);
  made.tapes_behind = made.inner->tapes;
  builder_.begin_block(false);
  return made;
}

void Reverse::complete(std::vector<Binding>& appended) const {
  if (completed_.empty()) return;
  std::vector<Binding> result;
  for (Binding& binding : appended) {
    const auto found = completed_.find(binding.var().id());
    if (found == completed_.end())
      result.push_back(std::move(binding));
    else
      result.insert(result.end(), found->second.begin(), found->second.end());
  }
  appended = std::move(result);
}

void Reverse::complete(std::vector<BindingBlock>& appended) const {
  for (BindingBlock& block : appended) complete(block.bindings);
}

void Reverse::backward() {
  for (auto it = forward_.rbegin(); it != forward_.rend(); ++it) {
    poll_interrupt(it->span);
    const auto found = adjoints_.find(it->var().id());
    const bool arrived = found != adjoints_.end() && job_.varied.contains(it->var().id());
    if (!arrived && !threaded_.contains(it->var().id())) continue;
    const Adjoint adjoint = arrived ? found->second : Adjoint{};
    builder_.set_origin(it->span);
    propagate(*it, adjoint);
  }
}

void Reverse::propagate(const Binding& binding, const Adjoint& adjoint) {
  const Expr& value = binding.value();
  if (const auto* literal = value.as<TupleExpr>()) {
    for (std::size_t i = 0; i < literal->fields.size() && i < adjoint.fields.size(); ++i)
      add(literal->fields[i], adjoint.fields[i]);
  } else if (const auto* get = value.as<TupleGet>()) {
    const Var* tuple = get->tuple.as_var();
    if (tuple && job_.varied.contains(tuple->id())) {
      Adjoint& whole = adjoints_[tuple->id()];
      whole.fields.resize(tuple->type().tuple()->fields.size());
      merge(whole.fields[static_cast<std::size_t>(get->index)], adjoint, tuple->name());
    }
  } else if (value.as<VarRef>()) {
    add(value, adjoint);
  } else if (const auto written = job_.written_for(value)) {
    through_written(written->inputs, written->gradient, binding.var(), adjoint);
  } else if (const auto* call = value.as<OpCall>()) {
    through_operator(*call, value, binding.var(), adjoint);
  } else if (const auto* called = value.as<FunctionCall>()) {
    through_call(*called, binding.var(), adjoint);
  } else if (const auto* prim = value.as<CallTir>()) {
    through_prim_call(*prim, binding.var(), adjoint);
  } else if (const auto* branch = value.as<If>()) {
    if (opened_.contains(binding.var().id()))
      through_taped_if(binding, *branch, adjoint);
    else
      through_if(*branch, adjoint);
  } else if (const auto* loop = value.as<Loop>()) {
    through_loop(binding, *loop, adjoint);
  }
}

void Reverse::through_operator(const OpCall& call, const Expr& value, const Var& output,
                               const Adjoint& adjoint) {
  const Expr cotangent = as_expr(adjoint, output.type(), Expr(output));
  if (const auto read = row_read(value, job_.counts)) {
    const auto table = adjoints_.find(read->table.id());
    if (table != adjoints_.end() && table->second.by_rows) {
      table->second.value = job_.rows.with_row_added(table->second.value, cotangent, read->row, builder_);
      return;
    }
  }
  std::vector<bool> arrived;
  if (const TupleType* results = output.type().tuple())
    for (std::size_t i = 0; i < results->fields.size(); ++i)
      arrived.push_back(adjoint.value.defined() ||
                        (i < adjoint.fields.size() &&
                         (adjoint.fields[i].value.defined() || !adjoint.fields[i].fields.empty())));
  std::vector<Partial> partials = rule_partials(call, value, output, cotangent, builder_, std::move(arrived));
  for (std::size_t i = 0; i < partials.size(); ++i) {
    if (!partials[i].value.defined()) continue;
    if (job_.reaches(call.args[i])) add(call.args[i], as_adjoint(partials[i].value));
  }
}

void Reverse::through_prim_call(const CallTir& call, const Var& output, const Adjoint& adjoint) {
  if (!call.gradient_name.empty()) {
    const Expr cotangent = as_expr(adjoint, output.type(), Expr(output));
    const std::vector<Expr> partials = given_partials(job_.module, call, cotangent, builder_);
    for (std::size_t i = 0; i < partials.size(); ++i)
      if (partials[i].defined()) add(call.args[i], as_adjoint(partials[i]));
    return;
  }
  std::vector<Expr> cotangents;
  for (std::size_t i = 0; i < call.out_types.size(); ++i) {
    if (!call.tuple_result)
      cotangents.push_back(adjoint.value);
    else
      cotangents.push_back(i < adjoint.fields.size() ? adjoint.fields[i].value : Expr());
  }
  const auto value = [&](std::size_t i) {
    return call.tuple_result
               ? builder_.emit(tuple_get(Expr(output), static_cast<int>(i), builder_.origin()), "lv")
               : Expr(output);
  };
  const std::vector<Expr> partials = job_.prims.partials(
      call, [&](const Expr& arg) { return job_.reaches(arg); }, cotangents, value, builder_);
  for (std::size_t i = 0; i < partials.size(); ++i)
    if (partials[i].defined()) add(call.args[i], as_adjoint(partials[i]));
}

// The user's gradient takes the inputs, the outputs and their cotangents.
void Reverse::through_written(const std::vector<Expr>& inputs, const FunctionPtr& written, const Var& output,
                              const Adjoint& adjoint) {
  const Expr cotangent = as_expr(adjoint, output.type(), Expr(output));
  const Expr gradients = call_of_written(inputs, written, output, cotangent, builder_);
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i)
    add(inputs[static_cast<std::size_t>(i)],
        as_adjoint(shaped_as(written_partial(gradients, i, builder_),
                             inputs[static_cast<std::size_t>(i)].type(), builder_)));
}

bool Reverse::append_call(const Binding& binding, const FunctionCall& call) {
  if (job_.user_gradient_of(call)) return false;
  const CallPair& pair = job_.pairs->of(call, [&](const Expr& arg) { return job_.reaches(arg); });
  if (pair.forward.empty()) return false;
  const Span span = binding.value().span();
  std::vector<Expr> args = call.args;
  std::vector<Expr> own;
  if (pair.recursion && !recursion_)
    for (const Type& type : pair.tapes) own.push_back(empty_stack(type, "tape", builder_));
  const std::vector<Expr>& given = recursion_ ? tapes : own;
  if (pair.recursion) args.insert(args.end(), given.begin(), given.end());
  const Expr both = builder_.emit(
      function_call(global_ref(pair.forward, Type(pair.forward_type), span), std::move(args), span), "lv");
  Binding first = binding;
  first.kind = VarBinding{binding.var(), tuple_get(both, 0, span)};
  builder_.append(first);
  std::vector<Expr> behind;
  for (int i = 1; i < static_cast<int>(both.type().tuple()->fields.size()); ++i)
    behind.push_back(builder_.emit(tuple_get(both, i, span), pair.recursion ? "tape" : "lv"));
  if (pair.recursion && recursion_) {
    threaded_.insert(binding.var().id());
    tapes = std::move(behind);
  } else {
    kept_.emplace(binding.var().id(), std::move(behind));
  }
  return true;
}

void Reverse::through_call(const FunctionCall& call, const Var& output, const Adjoint& adjoint) {
  const CallPair& pair = job_.pairs->of(call, [&](const Expr& arg) { return job_.reaches(arg); });
  std::vector<Expr> args;
  for (const std::size_t param : pair.params) args.push_back(call.args[param]);
  const bool threaded = threaded_.contains(output.id());
  if (threaded) {
    args.insert(args.end(), tapes.begin(), tapes.end());
  } else if (const auto kept = kept_.find(output.id()); kept != kept_.end()) {
    for (const Expr& each : kept->second) {
      const TupleType* fields = each.type().tuple();
      if (!fields) args.push_back(each);
      for (int i = 0; fields && i < static_cast<int>(fields->fields.size()); ++i)
        args.push_back(builder_.emit(tuple_get(each, i, builder_.origin()), "lv"));
    }
  }
  const Expr cotangent = as_expr(adjoint, output.type(), Expr(output));
  for (const std::vector<int>& path : pair.outputs) {
    Expr leaf = cotangent;
    for (const int index : path) leaf = leaf.as<TupleExpr>()->fields[static_cast<std::size_t>(index)];
    args.push_back(leaf);
  }
  const Expr callee = global_ref(pair.backward, Type(pair.backward_type), builder_.origin());
  const Expr gradients = builder_.emit(function_call(callee, args, builder_.origin()), "lv");
  for (std::size_t i = 0; i < pair.wrt.size(); ++i)
    add(call.args[pair.wrt[i]], as_adjoint(tuple_get(gradients, static_cast<int>(i), builder_.origin())));
  if (!threaded) return;
  for (std::size_t k = 0; k < tapes.size(); ++k)
    tapes[k] =
        builder_.emit(tuple_get(gradients, static_cast<int>(pair.wrt.size() + k), builder_.origin()), "tape");
}

Adjoint Reverse::as_adjoint(const Expr& value) {
  if (const auto* literal = value.as<TupleExpr>()) {
    Adjoint adjoint;
    for (const Expr& field : literal->fields) adjoint.fields.push_back(as_adjoint(field));
    return adjoint;
  }
  if (const TupleType* type = value.type().tuple()) {
    const Expr whole = builder_.emit(value, "lv");
    Adjoint adjoint;
    for (int i = 0; i < static_cast<int>(type->fields.size()); ++i)
      adjoint.fields.push_back(as_adjoint(tuple_get(whole, i, builder_.origin())));
    return adjoint;
  }
  const bool counts =
      is_float_tensor(value.type()) || (value.type().as<StackType>() && has_floats(value.type()));
  return counts ? Adjoint{value} : Adjoint{};
}

void Reverse::add(const Expr& leaf, const Adjoint& contribution) {
  if (const auto* literal = leaf.as<TupleExpr>()) {
    for (std::size_t i = 0; i < literal->fields.size() && i < contribution.fields.size(); ++i)
      add(literal->fields[i], contribution.fields[i]);
    return;
  }
  const Var* var = leaf.as_var();
  if (!var || !job_.varied.contains(var->id()) || contribution.empty()) return;
  merge(adjoints_[var->id()], contribution, var->name());
}

void Reverse::begin_with(const Expr& leaf, const Adjoint& adjoint) {
  const Var* var = leaf.as_var();
  const bool first = var && adjoint.value.defined() && adjoint.value.as_var() &&
                     job_.varied.contains(var->id()) && adjoints_[var->id()].empty();
  if (first)
    adjoints_[var->id()] = adjoint;
  else
    add(leaf, adjoint);
}

void Reverse::merge(Adjoint& into, const Adjoint& contribution, const std::string& name) {
  if (!contribution.fields.empty()) {
    into.fields.resize(contribution.fields.size());
    for (std::size_t i = 0; i < contribution.fields.size(); ++i)
      merge(into.fields[i], contribution.fields[i], name);
    return;
  }
  if (!contribution.value.defined()) return;
  if (!into.value.defined()) {
    const Var named = builder_.bind(contribution.value, name + "_adjoint");
    if (contribution.value.as_var()) job_.aliases.emplace(named.id(), contribution.value);
    into.value = Expr(named);
    return;
  }
  const Expr partial = builder_.emit(contribution.value, "lv");
  if (into.value.type().as<StackType>()) {
    into.value = sum_of(into.value, partial, builder_);
    return;
  }
  into.value =
      Expr(builder_.bind(op_call("add", {into.value, partial}, {}, builder_.origin()), name + "_adjoint"));
}

namespace {

// Whether the type does not tell its zeros.
bool needs_like(const Type& type) {
  if (const TupleType* tuple = type.tuple())
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), needs_like);
  if (type.as<ScalarType>()) return false;
  const TensorType* tensor = type.tensor();
  return !tensor || !tensor->shape || !tensor->dtype;
}

}  // namespace

Expr Reverse::as_expr(const Adjoint& adjoint, const Type& type, const Expr& like) {
  if (const TupleType* tuple_type = type.tuple()) {
    std::vector<Expr> fields;
    for (std::size_t i = 0; i < tuple_type->fields.size(); ++i) {
      const Adjoint arrived = i < adjoint.fields.size() ? adjoint.fields[i] : Adjoint{};
      const auto* literal = like.as<TupleExpr>();
      Expr field;
      if (literal)
        field = literal->fields[i];
      else if (!arrived.value.defined() && like.defined() && needs_like(tuple_type->fields[i]))
        field = builder_.emit(tuple_get(like, static_cast<int>(i), builder_.origin()), "lv");
      fields.push_back(as_expr(arrived, tuple_type->fields[i], field));
    }
    return tuple(std::move(fields), builder_.origin());
  }
  if (adjoint.value.defined()) return adjoint.value;
  if (const auto* scalar = type.as<ScalarType>()) return scalar_value(zero(scalar->dtype), builder_.origin());
  if (!needs_like(type)) {
    const TensorType& tensor = *type.tensor();
    return builder_.emit(
        op_call("zeros", {shape_literal(*tensor.shape)},
                {{"dtype", Attribute(std::string(name_of(*tensor.dtype)))}}, builder_.origin()),
        "lv");
  }
  RELISH_CHECK(like.defined(), "zeros of a type that does not tell them");
  if (type.as<StackType>()) {  // as high as `like`
    const Type element = *like.type().as<StackType>()->element;
    return restacked(
        {like}, "zeros", [&](const std::vector<Expr>& tops) { return as_expr({}, element, tops[0]); },
        builder_);
  }
  if (type.tensor()) return builder_.emit(op_call("zeros_like", {like}, {}, builder_.origin()), "lv");
  return like;  // a shape, a text: it has no cotangent, and this one is never looked at
}

// A variable for a value that must not be a tuple literal.
Expr Reverse::bound(const Expr& value, const std::string& hint) {
  return value.as<TupleExpr>() ? Expr(builder_.bind(value, hint)) : builder_.emit(value, hint);
}

}  // namespace relish
