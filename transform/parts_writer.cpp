// Calls of add_gradients and apply_gradients, with the values of train/accumulation.cpp: part i has the key
// fold_in(key of the step, i).
#include "transform/parts_writer.h"

#include "support/failure.h"
#include "transform/loss_scaling.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

const Attributes along_rows = {{"axis", Attribute(std::int64_t{0})}};

}  // namespace

PartsWriter::Done PartsWriter::write(const Step& step) {
  const Sums sums = write_parts(step);
  const FunctionPtr apply = module_.function(prefix_ + "apply_gradients");
  const RoleSignature roles = roles_of(*apply).value();
  std::vector<Expr> args;
  for (const RoleSlot& slot : roles.params) {
    if (slot.role == Role::Gradients) {
      args.push_back(sums.gradients);
    } else if (slot.role == Role::LearningRate) {
      args.push_back(step.rate);
    } else if (slot.role == Role::Weight) {
      args.push_back(
          builder_.call("take", {step.weights, scalar_value(Scalar(step.parts))}, along_rows, "weight"));
    } else {
      args.push_back(step.state.at(slot.role));
    }
  }
  const Expr done =
      builder_.emit(function_call(global_ref(GlobalFunction(apply)), std::move(args)), "applied");
  Done result;
  for (const auto& [role, before] : step.state)
    result.state[role] = role == Role::Buffers ? sums.buffers : field(done, roles, role, "new_state");
  result.losses = sums.losses;
  result.metrics = sums.metrics;
  if (roles.result(Role::GradientNorm))
    result.gradient_norm = field(done, roles, Role::GradientNorm, "gradient_norm");
  return result;
}

PartsWriter::Sums PartsWriter::write_parts(const Step& step) {
  const FunctionPtr add = module_.function(prefix_ + "add_gradients");
  const RoleSignature roles = roles_of(*add).value();
  const Expr& params = step.state.at(Role::Parameters);
  const Type& loss_type = add->result_type.tuple()->fields[roles.result(Role::Loss).value()];
  const DType dtype = *loss_type.tensor()->dtype;
  std::vector<Expr> zeros;
  for (int i = 0; i < static_cast<int>(params.type().tuple()->fields.size()); ++i)
    zeros.push_back(builder_.call("zeros_like", {builder_.emit(tuple_get(params, i))}));
  Loop loop;
  loop.index = ScalarVar(builder_.fresh_name("part"), DType::Int64);
  loop.begin = scalar_value(Scalar(0));
  loop.end = scalar_value(Scalar(step.parts));
  loop.step = scalar_value(Scalar(1));
  const Expr no_gradients = builder_.emit(tuple(std::move(zeros)), "no_gradients");
  const Expr no_losses = builder_.call("zeros", {shape_literal({Scalar(step.parts)})},
                                       {{"dtype", Attribute(dtype)}}, "part_losses");
  loop.initial = {no_gradients, no_losses};
  const auto buffers = step.state.find(Role::Buffers);
  const bool has_buffers = buffers != step.state.end();
  if (has_buffers) loop.initial.push_back(buffers->second);
  const std::optional<std::size_t> metrics = roles.result(Role::Metrics);
  const std::size_t metrics_at = loop.initial.size();
  std::vector<Var> carried;
  std::vector<const char*> names = {"gradients", "losses_of_parts"};
  if (has_buffers) names.push_back("buffers");
  if (metrics) {
    const Type& sums = add->result_type.tuple()->fields[*metrics];
    loop.initial.push_back(builder_.call("zeros",
                                         {shape_literal({Scalar(step.parts), sums.tensor()->shape->front()})},
                                         {{"dtype", Attribute(DType::Float64)}}, "no_metrics"));
    names.push_back("metrics_of_parts");
  }
  for (std::size_t i = 0; i < loop.initial.size(); ++i)
    carried.emplace_back(builder_.fresh_name(names[i]), loop.initial[i].type());
  builder_.begin_region(carried);
  builder_.begin_block(false);
  const Sums before{Expr(carried[0]), has_buffers ? Expr(carried[2]) : Expr(), Expr(carried[1]), {}};
  const Expr done = builder_.emit(
      function_call(global_ref(GlobalFunction(add)), arguments_of_part(step, loop.index, before)), "added");
  const Expr loss = field(done, roles, Role::Loss, "loss");
  const Scalar at(loop.index);
  const auto stored = [&](const Expr& all, const Expr& one, std::vector<Scalar> dims, const char* name) {
    const Expr row = builder_.call("reshape", {one, shape_literal(std::move(dims))});
    return builder_.call("slice_scatter",
                         {all, row, scalar_value(at), scalar_value(at + Scalar(1)), scalar_value(Scalar(1))},
                         along_rows, name);
  };
  const Expr losses = stored(before.losses, loss, {Scalar(1)}, "losses_of_parts");
  std::vector<Expr> results = {field(done, roles, Role::Gradients, "gradients"), losses};
  if (has_buffers) results.push_back(field(done, roles, Role::Buffers, "buffers"));
  if (metrics) {
    const Expr sums = field(done, roles, Role::Metrics, "metrics");
    results.push_back(stored(Expr(carried[metrics_at]), sums,
                             {Scalar(1), sums.type().tensor()->shape->front()}, "metrics_of_parts"));
  }
  builder_.end_block();
  loop.body = std::make_shared<const Region>(builder_.end_region(results));
  builder_.begin_block(false);
  const Expr all = builder_.emit(loop_expr(std::move(loop)), "sums");
  Sums sums;
  sums.gradients = builder_.emit(tuple_get(all, 0), "gradients");
  sums.losses = builder_.emit(tuple_get(all, 1), "losses_of_parts");
  if (has_buffers) sums.buffers = builder_.emit(tuple_get(all, 2), "buffers");
  if (metrics) sums.metrics = builder_.emit(tuple_get(all, static_cast<int>(metrics_at)), "metrics_of_parts");
  return sums;
}

std::vector<Expr> PartsWriter::arguments_of_part(const Step& step, const ScalarVar& part, const Sums& sums) {
  const FunctionPtr add = module_.function(prefix_ + "add_gradients");
  const RoleSignature roles = roles_of(*add).value();
  const Expr at = scalar_value(Scalar(part));
  const auto part_of = [&](const Expr& rows) {
    std::vector<Scalar> dims = *rows.type().tensor()->shape;
    dims.front() = step.rows;
    dims.insert(dims.begin(), Scalar(step.parts));
    return builder_.call("take", {builder_.call("reshape", {rows, shape_literal(dims)}), at}, along_rows);
  };
  Expr rows;
  if (step.order.defined()) rows = builder_.call("take", {step.order, at}, along_rows, "rows_of_part");
  std::vector<Expr> args;
  for (std::size_t i = 0; i < roles.params.size(); ++i) {
    const std::string& name = add->params[i].name();
    switch (roles.params[i].role) {
      case Role::Gradients:
        args.push_back(sums.gradients);
        break;
      case Role::Buffers:
        args.push_back(sums.buffers);
        break;
      case Role::Weight:
        args.push_back(builder_.call("take", {step.weights, at}, along_rows, "weight"));
        break;
      case Role::LossScale:
        args.push_back(loss_scale_of(builder_, step.state.at(Role::States)));
        break;
      case Role::Key:
        args.push_back(builder_.call("random.fold_in", {step.key, at}, {}, "part_key"));
        break;
      case Role::Input:
      case Role::Target:
        if (const auto whole = step.whole.find(name); whole != step.whole.end()) {
          args.push_back(whole->second);
        } else if (step.order.defined()) {
          args.push_back(builder_.call("take", {step.columns.at(name), rows}, along_rows, name + "_rows"));
        } else {
          args.push_back(part_of(step.columns.at(name)));
        }
        break;
      default:
        args.push_back(step.state.at(roles.params[i].role));
    }
  }
  return args;
}

Expr PartsWriter::field(const Expr& whole, const RoleSignature& roles, Role role, const std::string& name) {
  return builder_.emit(tuple_get(whole, static_cast<int>(roles.result(role).value())), name);
}

}  // namespace relish
