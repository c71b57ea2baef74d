// A loop whose carried values are what a step takes and gives.
#include "transform/epoch_writer.h"

#include <algorithm>
#include <map>

#include "ir/operators/op.h"
#include "support/failure.h"
#include "transform/parts_writer.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

Expr zeros_of_steps(FunctionBuilder& builder, const ScalarVar& steps, DType dtype, const std::string& name) {
  return builder.call("zeros", {shape_literal({Scalar(steps)})}, {{"dtype", Attribute(dtype)}}, name);
}

std::optional<Scalar> first_dim(const Var& param) {
  const TensorType* type = param.type().tensor();
  if (!type || !type->shape || type->shape->empty()) return std::nullopt;
  return type->shape->front();
}

bool has_key(const RoleSignature& roles, const EpochOptions& options) {
  return roles.param(Role::Key).has_value() ||
         std::any_of(options.prepare.begin(), options.prepare.end(),
                     [](const PrepareFunction& each) { return each.has_key; });
}

// Whether a step goes over several batches.
bool has_parts(const EpochOptions& options) { return options.accumulate > 1; }

// How many sums a batch tells of metrics; none where it tells none, or nobody asks for each.
std::optional<Scalar> sums_of_metrics(const Function& step, const RoleSignature& roles,
                                      const EpochOptions& options) {
  const std::optional<std::size_t> at = roles.result(Role::Metrics);
  if (!options.each || !at) return std::nullopt;
  return step.result_type.tuple()->fields[*at].tensor()->shape->front();
}

class EpochWriter {
 public:
  EpochWriter(Module& module, const EpochOptions& options)
      : module_(module),
        options_(options),
        held_(module.function(options.prefix + "train_step")),
        step_(copy_with_fresh_vars(*held_)),
        roles_(roles_of(*held_).value()),
        rows_("rows", DType::Int64),
        steps_("steps", DType::Int64) {}

  void write() {
    made_.name = options_.prefix + options_.name;
    made_.span = step_.span;
    builder_.set_origin(made_.span);
    for (const char* name : {"rows", "steps"}) builder_.reserve_name(name);
    for (const Var& param : step_.params) builder_.reserve_name(param.name());
    choose_columns();
    take_parameters();
    builder_.begin_block(false);
    const Expr results = write_loop();
    write_results(results);
  }

 private:
  bool is_data(std::size_t at) const {
    const Role role = roles_.params[at].role;
    return role == Role::Input || role == Role::Target;
  }

  // Which of the step's parameters are columns, and how many rows a batch has.
  void choose_columns() {
    const auto holds = [&](const std::string& name) {
      return std::find(options_.columns.begin(), options_.columns.end(), name) != options_.columns.end();
    };
    for (std::size_t i = 0; i < step_.params.size(); ++i) {
      if (!is_data(i)) continue;
      const std::optional<Scalar> rows = first_dim(step_.params[i]);
      const bool column = !options_.columns.empty() ? holds(step_.params[i].name())
                                                    : rows && (!batch_ || prove_equal(*rows, *batch_));
      if (!column) continue;
      column_of_param_[i] = columns_.size();
      columns_.push_back(i);
      if (!batch_ && rows) batch_ = rows;
    }
    if (batch_) return;
    batch_ = Scalar(ScalarVar("batch", DType::Int64));
  }

  Var parameter(const std::string& name, Type type, RoleSlot role) {
    made_.params.emplace_back(name, std::move(type));
    made_roles_.params.push_back(std::move(role));
    return made_.params.back();
  }

  // The type of a column: the rows of all data in place of those of a batch.
  Type column_type(std::size_t column) const {
    if (!options_.column_types.empty()) {
      TensorType type = *options_.column_types[column].tensor();
      type.shape->front() = Scalar(rows_);
      return type;
    }
    TensorType type = *step_.params[columns_[column]].type().tensor();
    if (type.shape) type.shape->front() = Scalar(rows_);
    return type;
  }

  void take_parameters() {
    made_roles_ = {options_.name, {}, {}, true};
    for (std::size_t i = 0; i < step_.params.size(); ++i) {
      const Var& param = step_.params[i];
      const RoleSlot& slot = roles_.params[i];
      if (slot.role == Role::Key || is_data(i)) continue;
      if (slot.role == Role::LearningRate) {
        const DType dtype = *param.type().tensor()->dtype;
        rate_ = options_.each
                    ? parameter("learning_rates", tensor_type({Scalar(steps_)}, dtype), {Role::LearningRates})
                    : parameter(param.name(), param.type(), slot);
        continue;
      }
      carried_.push_back(i);
      firsts_.push_back(Expr(parameter(param.name(), param.type(), slot)));
    }
    if (has_parts(options_)) {
      const DType dtype = *rate_.type().tensor()->dtype;
      weights_ =
          parameter(builder_.fresh_name("weights"),
                    tensor_type({Scalar(steps_), Scalar(options_.accumulate + 1)}, dtype), {Role::Weight});
    }
    if (has_key(roles_, options_)) {
      key_ = parameter("key", tensor_type({Scalar(2)}, DType::UInt32), {Role::Key});
      first_step_ = parameter(builder_.fresh_name("step"), tensor_type({}, DType::Int64), {Role::Step});
    }
    for (std::size_t i = 0; i < step_.params.size(); ++i) {
      if (!is_data(i)) continue;
      const auto column = column_of_param_.find(i);
      const Type type =
          column == column_of_param_.end() ? step_.params[i].type() : column_type(column->second);
      data_.insert_or_assign(i, parameter(step_.params[i].name(), type, roles_.params[i]));
    }
    std::vector<Scalar> order = {Scalar(steps_), *batch_};
    if (has_parts(options_)) order.insert(order.begin() + 1, Scalar(options_.accumulate));
    order_ =
        parameter(builder_.fresh_name("order"), tensor_type(std::move(order), DType::Int64), {Role::Order});
  }

  // The batch of a round, prepared.
  std::vector<Expr> write_batch(const ScalarVar& round, const Expr& key) {
    const Expr at = scalar_value(Scalar(round));
    const Attributes along = {{"axis", Attribute(std::int64_t{0})}};
    Expr rows = builder_.call("take", {Expr(*order_), at}, along, "batch_rows");
    if (has_parts(options_))
      rows = builder_.call("reshape", {rows, shape_literal({*batch_ * Scalar(options_.accumulate)})});
    std::vector<Expr> batch;
    for (const std::size_t param : columns_) {
      batch.push_back(
          builder_.call("take", {Expr(data_.at(param)), rows}, along, step_.params[param].name() + "_rows"));
    }
    for (std::size_t p = 0; p < options_.prepare.size(); ++p) {
      const PrepareFunction& prepare = options_.prepare[p];
      const FunctionPtr function = module_.function(prepare.name);
      std::vector<Expr> args;
      std::size_t next = 0;
      for (const Var& param : function->params) {
        const TensorType* type = param.type().tensor();
        const bool is_key = prepare.has_key && type && type->dtype == DType::UInt32 && next == prepare.taken;
        if (is_key) {
          const Expr site =
              constant(Tensor::scalar_int(DType::Int64, prepare_site(static_cast<std::int64_t>(p))));
          args.push_back(builder_.call("random.fold_in", {key, site}, {}, "prepare_key"));
        } else {
          args.push_back(batch[next++]);
        }
      }
      // Inlined for the types that the data have, which it may leave open.
      const Expr made = inline_call(builder_, module_, module_, *function, args);
      const auto* literal = made.as<TupleExpr>();
      if (!made.type().tuple()) batch[0] = made;
      for (std::size_t i = 0; made.type().tuple() && i < prepare.given; ++i) {
        batch[i] =
            literal ? literal->fields[i] : builder_.emit(tuple_get(made, static_cast<int>(i)), "prepared");
      }
    }
    return batch;
  }

  // The value of the loop: what is carried, then the sum of losses, or all losses and faults.
  Expr write_loop() {
    const DType dtype =
        *held_->result_type.tuple()->fields[roles_.result(Role::Loss).value()].tensor()->dtype;
    Loop loop;
    loop.index = ScalarVar(builder_.fresh_name("i"), DType::Int64);
    loop.begin = scalar_value(Scalar(0));
    loop.end = scalar_value(Scalar(steps_));
    loop.step = scalar_value(Scalar(1));
    loop.initial = firsts_;
    std::vector<std::string> names;
    for (const std::size_t param : carried_) names.push_back(step_.params[param].name());
    if (key_) {
      loop.initial.push_back(Expr(*first_step_));
      names.emplace_back("step_number");
    }
    kept_ = loop.initial.size();
    if (options_.each) {
      loop.initial.push_back(builder_.call("zeros",
                                           {shape_literal({Scalar(steps_) * Scalar(options_.accumulate)})},
                                           {{"dtype", Attribute(dtype)}}, "losses"));
      names.emplace_back("losses");
      if (!options_.faults_last) {
        loop.initial.push_back(zeros_of_steps(builder_, steps_, dtype, "faults"));
        names.emplace_back("faults");
      }
      if (tells_norms()) {
        loop.initial.push_back(zeros_of_steps(builder_, steps_, dtype, "gradient_norms"));
        names.emplace_back("gradient_norms");
      }
      if (const auto sums = sums_of_metrics(*held_, roles_, options_)) {
        loop.initial.push_back(
            builder_.call("zeros", {shape_literal({Scalar(steps_) * Scalar(options_.accumulate), *sums})},
                          {{"dtype", Attribute(DType::Float64)}}, "metrics"));
        names.emplace_back("metrics");
      }
    } else {
      for (const char* name : {"sum", "count"}) {
        loop.initial.push_back(constant_of(dtype, 0));
        names.emplace_back(name);
      }
    }
    std::vector<Var> params;
    for (std::size_t i = 0; i < loop.initial.size(); ++i)
      params.emplace_back(builder_.fresh_name(names[i]), loop.initial[i].type());
    builder_.begin_region(params);
    builder_.begin_block(false);
    const std::vector<Expr> results = write_round(loop.index, params, dtype);
    builder_.end_block();
    loop.body = std::make_shared<const Region>(builder_.end_region(results));
    builder_.begin_block(false);
    return builder_.emit(loop_expr(std::move(loop)), "carried");
  }

  std::vector<Expr> write_round(const ScalarVar& round, const std::vector<Var>& carried, DType dtype) {
    const Expr at = scalar_value(Scalar(round));
    Expr key;
    if (key_)
      key = builder_.call("random.fold_in", {Expr(*key_), Expr(carried[carried_.size()])}, {}, "step_key");
    if (has_parts(options_)) return write_round_of_parts(round, carried, key);
    const std::vector<Expr> batch = write_batch(round, key);
    Expr rate(rate_);
    if (options_.each)
      rate = builder_.call("take", {Expr(rate_), at}, {{"axis", Attribute(std::int64_t{0})}}, "lr");
    std::vector<Expr> args;
    std::size_t next = 0;
    for (std::size_t i = 0; i < step_.params.size(); ++i) {
      const Role role = roles_.params[i].role;
      const auto column = column_of_param_.find(i);
      args.push_back(role == Role::LearningRate         ? rate
                     : role == Role::Key                ? key
                     : column != column_of_param_.end() ? batch[column->second]
                     : is_data(i)                       ? Expr(data_.at(i))
                                                        : Expr(carried[next++]));
    }
    const Expr done =
        builder_.emit(function_call(global_ref(GlobalFunction(held_)), std::move(args)), "step_results");
    const Expr loss = field(done, Role::Loss, "loss");
    std::vector<Expr> results;
    for (const std::size_t param : carried_) {
      const Role role = roles_.params[param].role;
      results.push_back(field(done, role, step_.params[param].name()));
    }
    if (key_) {
      const Expr one = constant(Tensor::scalar_int(DType::Int64, 1));
      results.push_back(builder_.call("add", {Expr(carried[carried_.size()]), one}, {}, "step_number"));
    }
    if (!options_.each) {
      results.push_back(builder_.call("add", {Expr(carried[kept_]), loss}, {}, "sum"));
      results.push_back(builder_.call("add", {Expr(carried[kept_ + 1]), constant_of(dtype, 1)}, {}, "count"));
      return results;
    }
    std::size_t told = kept_;
    const auto tell = [&](const Expr& value, const std::string& name) {
      results.push_back(stored(Expr(carried[told++]), value, round, name));
    };
    if (options_.faults_last) {
      tell(loss, "losses");
    } else {
      const Expr fault =
          fault_of(builder_.call("multiply", {loss, constant_of(dtype, 0)}, {}, "fault"), results);
      tell(loss, "losses");
      tell(fault, "faults");
    }
    if (tells_norms()) tell(field(done, Role::GradientNorm, "gradient_norm"), "gradient_norms");
    if (sums_of_metrics(*held_, roles_, options_)) tell(field(done, Role::Metrics, "metrics"), "metrics");
    return results;
  }

  // As write_round, of a step over several batches.
  std::vector<Expr> write_round_of_parts(const ScalarVar& round, const std::vector<Var>& carried,
                                         const Expr& key) {
    const Expr at = scalar_value(Scalar(round));
    const Attributes along = {{"axis", Attribute(std::int64_t{0})}};
    PartsWriter::Step step;
    step.parts = options_.accumulate;
    step.rows = *batch_;
    for (std::size_t i = 0; i < carried_.size(); ++i)
      step.state[roles_.params[carried_[i]].role] = Expr(carried[i]);
    step.rate = builder_.call("take", {Expr(rate_), at}, along, "lr");
    step.weights = builder_.call("take", {Expr(*weights_), at}, along, "weights_of_parts");
    step.key = key;
    for (const auto& [param, own] : data_)
      if (!column_of_param_.contains(param)) step.whole[step_.params[param].name()] = Expr(own);
    if (options_.prepare.empty()) {
      step.order = builder_.call("take", {Expr(*order_), at}, along, "rows_of_parts");
      for (const std::size_t param : columns_)
        step.columns[step_.params[param].name()] = Expr(data_.at(param));
    } else {
      const std::vector<Expr> batch = write_batch(round, key);
      for (std::size_t c = 0; c < columns_.size(); ++c)
        step.columns[step_.params[columns_[c]].name()] = batch[c];
    }
    const PartsWriter::Done done = PartsWriter(builder_, module_, options_.prefix).write(step);
    std::vector<Expr> results;
    for (const std::size_t param : carried_) results.push_back(done.state.at(roles_.params[param].role));
    if (key_) {
      const Expr one = constant(Tensor::scalar_int(DType::Int64, 1));
      results.push_back(builder_.call("add", {Expr(carried[carried_.size()]), one}, {}, "step_number"));
    }
    std::size_t told = kept_;
    const Scalar begin = Scalar(round) * Scalar(options_.accumulate);
    const auto stored_of_parts = [&](const Expr& all, const Expr& parts, const char* name) {
      return builder_.call("slice_scatter",
                           {all, parts, scalar_value(begin),
                            scalar_value(begin + Scalar(options_.accumulate)), scalar_value(Scalar(1))},
                           along, name);
    };
    results.push_back(stored_of_parts(Expr(carried[told++]), done.losses, "losses"));
    if (!options_.faults_last) {
      const Expr sum = builder_.call("sum", {done.losses});
      const DType dtype = *sum.type().tensor()->dtype;
      const Expr fault =
          fault_of(builder_.call("multiply", {sum, constant_of(dtype, 0)}, {}, "fault"), results);
      results.push_back(stored(Expr(carried[told++]), fault, round, "faults"));
    }
    if (tells_norms())
      results.push_back(stored(Expr(carried[told++]), done.gradient_norm, round, "gradient_norms"));
    if (sums_of_metrics(*held_, roles_, options_))
      results.push_back(stored_of_parts(Expr(carried[told++]), done.metrics, "metrics"));
    return results;
  }

  bool tells_norms() const { return options_.each && roles_.result(Role::GradientNorm).has_value(); }

  // 0, or NaN when `fault` or one of the carried values is not finite. Averages are as finite as parameters.
  Expr fault_of(Expr fault, const std::vector<Expr>& values) {
    const DType dtype = *fault.type().tensor()->dtype;
    for (std::size_t i = 0; i < carried_.size(); ++i)
      if (roles_.params[carried_[i]].role != Role::Averages) add_faults(values[i], dtype, fault);
    return fault;
  }

  Expr field(const Expr& whole, Role role, const std::string& name) {
    return builder_.emit(tuple_get(whole, static_cast<int>(roles_.result(role).value())), name);
  }

  // 0 times the sum of all its elements: NaN where one is not finite.
  void add_faults(const Expr& value, DType dtype, Expr& fault) {
    if (const TupleType* fields = value.type().tuple()) {
      for (int i = 0; i < static_cast<int>(fields->fields.size()); ++i)
        add_faults(builder_.emit(tuple_get(value, i)), dtype, fault);
      return;
    }
    const TensorType* type = value.type().tensor();
    if (!type || !type->dtype || !is_float(*type->dtype)) return;
    Expr nothing = builder_.call("multiply", {value, constant_of(*type->dtype, 0)});
    if (type->rank != 0) nothing = builder_.call("sum", {nothing});
    if (*type->dtype != dtype) nothing = builder_.call("astype", {nothing}, {{"dtype", Attribute(dtype)}});
    fault = builder_.call("add", {fault, nothing}, {}, "fault");
  }

  Expr stored(const Expr& all, const Expr& one, const ScalarVar& round, const std::string& name) {
    std::vector<Scalar> dims = *all.type().tensor()->shape;
    dims.front() = Scalar(1);
    const Expr row = builder_.call("reshape", {one, shape_literal(std::move(dims))});
    const Scalar at(round);
    return builder_.call("slice_scatter",
                         {all, row, scalar_value(at), scalar_value(at + Scalar(1)), scalar_value(Scalar(1))},
                         {{"axis", Attribute(std::int64_t{0})}}, name);
  }

  // The fault behind the last step, for each of them.
  Expr last_fault(const std::vector<Expr>& fields) {
    const DType dtype = *fields[kept_].type().tensor()->dtype;
    const Expr fault = fault_of(constant_of(dtype, 0), fields);
    return builder_.call("add", {zeros_of_steps(builder_, steps_, dtype, "zeros"), fault}, {}, "faults");
  }

  void write_results(const Expr& carried) {
    std::vector<Expr> fields;
    for (int i = 0; i < static_cast<int>(carried.type().tuple()->fields.size()); ++i)
      fields.push_back(builder_.emit(tuple_get(carried, i)));
    std::vector<Expr> results;
    if (options_.each) {
      results = {fields[kept_], options_.faults_last ? last_fault(fields) : fields[kept_ + 1]};
      made_roles_.results = {{Role::Losses}, {Role::Faults}};
      std::size_t told = kept_ + (options_.faults_last ? 1 : 2);
      const auto tell = [&](Role role) {
        results.push_back(fields[told++]);
        made_roles_.results.push_back({role});
      };
      if (tells_norms()) tell(Role::GradientNorms);
      if (sums_of_metrics(*held_, roles_, options_)) tell(Role::Metrics);
    } else {
      results = {builder_.call("divide", {fields[kept_], fields[kept_ + 1]}, {}, "mean_loss")};
      made_roles_.results = {{Role::Loss}};
    }
    for (std::size_t i = 0; i < carried_.size(); ++i) {
      results.push_back(fields[i]);
      made_roles_.results.push_back({roles_.params[carried_[i]].role});
    }
    builder_.end_block();
    close_function(made_, builder_.take_bindings(), tuple(std::move(results)));
    set_role(module_, std::move(made_), made_roles_);
  }

  Module& module_;
  const EpochOptions& options_;
  const FunctionPtr held_;
  const Function step_;
  const RoleSignature roles_;
  const ScalarVar rows_, steps_;
  std::optional<Scalar> batch_;
  std::vector<std::size_t> columns_;  // parameters of the step
  std::map<std::size_t, std::size_t> column_of_param_;
  Function made_;
  RoleSignature made_roles_;
  FunctionBuilder builder_;
  std::vector<std::size_t> carried_;  // parameters of the step
  std::vector<Expr> firsts_;
  std::size_t kept_ = 0;             // carried values that stand before what is told
  std::map<std::size_t, Var> data_;  // by parameter of the step
  Var rate_;
  std::optional<Var> weights_, key_, first_step_, order_;
};

}  // namespace

void write_epoch(Module& module, const EpochOptions& options) { EpochWriter(module, options).write(); }

}  // namespace relish
