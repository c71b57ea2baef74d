// Forms are copies of functions with some bindings rewritten. A running statistic is followed along straight
// text: what a batch_norm or a call makes of it is what the next one takes. Keys are folded where they are
// used, from the function's own key, so that no number depends on what stands elsewhere.
#include "transform/model_forms.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"
#include "support/failure.h"
#include "transform/dead_code.h"
#include "transform/model_facts.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

bool holds_bodies(const Expr& value) {
  return value.as<If>() || value.as<Loop>() || value.as<FunctionExpr>();
}

// A reference to the form of a function, of which only the type is known.
Expr form_reference(const GlobalRef& function, ModelMode mode, Type type, Span span) {
  return global_ref(name_of_form(function.name, mode), std::move(type), span);
}

// --- Inference.

class InferenceForm final : public ExprMapper {
 public:
  explicit InferenceForm(const FactsOfModel& facts) : facts_(facts) {}

 private:
  void map_binding(const Binding& binding, bool, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    if (is_dropout(mapped.value()))
      dropped_.insert_or_assign(mapped.var().id(), mapped.value().as<OpCall>()->args[0]);
    into.push_back(std::move(mapped));
  }

  Expr leave(const Expr& mapped) override {
    if (const auto* field = mapped.as<TupleGet>(); field && field->index == 0) {
      const Var* whole = field->tuple.as_var();
      const auto found = whole ? dropped_.find(whole->id()) : dropped_.end();
      if (found != dropped_.end()) return found->second;
    }
    if (!is_training_batch_norm(mapped)) return mapped;
    const auto& call = *mapped.as<OpCall>();
    return op_call(*call.op, call.args, with_attribute(call.attributes, "training", false), mapped.span());
  }

  // The forms take and give what the functions do.
  Expr map_global(const Expr& expr, const GlobalRef& global) override {
    const ModelFacts* facts = facts_.find(global.name);
    if (!facts || !facts->needs_inference_form()) return expr;
    return form_reference(global, ModelMode::Inference, expr.type(), expr.span());
  }

  const FactsOfModel& facts_;
  std::unordered_map<std::uint64_t, Expr> dropped_;  // what went into a dropout, by what came out
};

// --- Training.

// The results of a function that gives its buffers behind them.
std::vector<Type> result_types(const Type& result) {
  const TupleType* fields = result.tuple();
  return fields ? fields->fields : std::vector<Type>{result};
}

[[noreturn]] void refuse_statistic(Span span, const std::string& message) {
  fail(ErrorClass::Type, span, "training.statistics", message);
}

// Writes the training form of one function, which is a copy with variables of its own.
class TrainingForm final : public ExprMapper {
 public:
  TrainingForm(const FactsOfModel& facts, const ModelFacts& own, Function& function)
      : facts_(facts), own_(own), function_(function), aliases_(function) {
    for (const Var& param : function.params) names_.reserve_name(param.name());
    for_each_binding(function, [&](const Binding& binding) { names_.reserve_name(binding.var().name()); });
    if (!own.drops) return;
    key_ = Var(names_.fresh_name("key"), tensor_type({Scalar(2)}, DType::UInt32), false, function.span);
    function.params.push_back(key_);
  }

  void write() { map_blocks(function_.blocks); }

  // What became of a parameter; none when nothing sets it.
  const Var* current(std::size_t parameter) const {
    const auto found = current_.find(parameter);
    return found == current_.end() ? nullptr : &found->second;
  }

  // The fields of what the function returns, each a leaf.
  std::vector<Expr> results() {
    const Expr& result = function_.result;
    if (const auto* literal = result.as<TupleExpr>()) return literal->fields;
    const TupleType* type = result.type().tuple();
    if (!type) return {result};
    BindingBlock block;
    block.span = function_.result_span;
    std::vector<Expr> fields;
    for (std::size_t i = 0; i < type->fields.size(); ++i)
      fields.push_back(
          bind(block.bindings, tuple_get(result, static_cast<int>(i), function_.result_span), "out", false));
    function_.blocks.push_back(std::move(block));
    return fields;
  }

 private:
  // A place inside of loops, ifs and nested functions.
  struct Depth {
    std::vector<Expr> rounds;  // the numbers of the loops around
    bool uncounted = false;    // inside of a while loop
    bool nested = false;       // inside of a nested function
    int bodies = 0;
  };

  void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
    aliases_.note(binding);
    const Expr& value = binding.value();
    const GlobalRef* called = called_function(value);
    const ModelFacts* callee = called ? facts_.find(called->name) : nullptr;
    if (holds_bodies(value)) {
      into.push_back(map_inside(binding));
    } else if (is_dropout(value)) {
      drop(binding, dataflow, into);
    } else if (is_training_batch_norm(value)) {
      normalize(binding, into);
    } else if (callee && callee->needs_training_form()) {
      call_form(binding, *called, *callee, dataflow, into);
    } else {
      into.push_back(map(binding));
    }
  }

  Binding map_inside(const Binding& binding) {
    const Depth around = depth_;
    ++depth_.bodies;
    if (const auto* loop = binding.value().as<Loop>()) {
      if (loop->index.defined()) {
        depth_.rounds.push_back(scalar_value(Scalar(loop->index), binding.span));
      } else {
        depth_.uncounted = true;
      }
    }
    if (binding.value().as<FunctionExpr>()) depth_.nested = true;
    Binding mapped = map(binding);
    depth_ = around;
    return mapped;
  }

  // A function that has a form, used other than by a call.
  Expr map_global(const Expr& expr, const GlobalRef& global) override {
    const ModelFacts* facts = facts_.find(global.name);
    if (facts && facts->needs_training_form()) {
      fail(ErrorClass::Type, expr.span(), "training.function",
           fmt::format("'{}' has a dropout or running statistics and stands here as a value; expected a call",
                       global.name));
    }
    return expr;
  }

  Expr bind(std::vector<Binding>& into, Expr value, std::string_view name, bool dataflow) {
    const Span span = value.span();
    const Var var(names_.fresh_name(name), value.type(), dataflow, span);
    Binding binding;
    binding.span = span;
    binding.kind = VarBinding{var, std::move(value)};
    into.push_back(std::move(binding));
    return Expr(var);
  }

  // The key of the next site.
  Expr next_key(Span span, std::string_view what, bool dataflow, std::vector<Binding>& into) {
    if (depth_.nested || depth_.uncounted) {
      fail(ErrorClass::Type, span, "training.dropout",
           fmt::format("{} stands in a {}, whose {} have no number that a key could be made of; expected {}, "
                       "or R.random.dropout with a key of yours",
                       what, depth_.nested ? "nested function" : "while loop",
                       depth_.nested ? "calls" : "rounds",
                       depth_.nested ? "a function of the module" : "a for loop over a range"));
    }
    const Expr site = constant(Tensor::scalar_int(DType::Int64, sites_++), span);
    Expr key = bind(into, op_call("random.fold_in", {Expr(key_), site}, {}, span), "key", dataflow);
    for (const Expr& round : depth_.rounds)
      key = bind(into, op_call("random.fold_in", {key, round}, {}, span), "key", dataflow);
    return key;
  }

  void drop(const Binding& binding, bool dataflow, std::vector<Binding>& into) {
    const auto& call = *binding.value().as<OpCall>();
    const Span span = binding.value().span();
    const Expr key = next_key(span, "R.nn.dropout", dataflow, into);
    Binding dropped = binding;
    dropped.kind =
        VarBinding{binding.var(), op_call("random.dropout", {key, map(call.args[0])}, call.attributes, span)};
    into.push_back(std::move(dropped));
  }

  // The operand, or what its running statistic has become; remembers which parameter it is.
  Expr statistic(const Expr& operand, Span span, std::vector<std::optional<std::size_t>>& places) {
    const auto place = aliases_.parameter_of(operand);
    const bool is_buffer =
        place && std::find(own_.buffers.begin(), own_.buffers.end(), *place) != own_.buffers.end();
    if (is_buffer && depth_.bodies > 0) {
      refuse_statistic(span, fmt::format("the running statistic '{}' is set inside of a branch, a loop or a "
                                         "nested function; expected batch_norm outside of them, or "
                                         "training=False",
                                         function_.params[*place].name()));
    }
    places.push_back(is_buffer ? place : std::nullopt);
    const Var* now = is_buffer ? current(*place) : nullptr;
    return now ? Expr(*now) : map(operand);
  }

  void set_statistic(std::size_t place, const Expr& value, std::vector<Binding>& into) {
    const Var& param = function_.params[place];
    if (!same_type(param.type(), value.type())) {
      refuse_statistic(value.span(), fmt::format("the running statistic '{}' has type {} and becomes {}; "
                                                 "expected the same",
                                                 param.name(), print(param.type()), print(value.type())));
    }
    current_.insert_or_assign(place, *bind(into, value, param.name() + "_new", false).as_var());
  }

  void normalize(const Binding& binding, std::vector<Binding>& into) {
    const auto& call = *binding.value().as<OpCall>();
    const Span span = binding.value().span();
    std::vector<std::optional<std::size_t>> places;
    std::vector<Expr> args;
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const bool is_statistic = i >= first_statistic && i < first_statistic + statistics_count;
      args.push_back(is_statistic ? statistic(call.args[i], span, places) : map(call.args[i]));
    }
    Binding normalized = binding;
    normalized.kind = VarBinding{binding.var(), op_call(*call.op, std::move(args), call.attributes, span)};
    into.push_back(std::move(normalized));
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i])
        set_statistic(*places[i], tuple_get(Expr(binding.var()), static_cast<int>(1 + i), span), into);
  }

  void call_form(const Binding& binding, const GlobalRef& called, const ModelFacts& callee, bool dataflow,
                 std::vector<Binding>& into) {
    const auto& call = *binding.value().as<FunctionCall>();
    const Span span = binding.value().span();
    FunctionType type = *call.callee.type().function();
    std::vector<std::optional<std::size_t>> places;
    std::vector<Expr> args;
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const bool set = std::find(callee.buffers.begin(), callee.buffers.end(), i) != callee.buffers.end();
      args.push_back(set ? statistic(call.args[i], span, places) : map(call.args[i]));
    }
    if (callee.drops) {
      args.push_back(next_key(span, fmt::format("the call of {}", called.name), dataflow, into));
      type.params.push_back(args.back().type());
      if (!type.param_names.empty()) type.param_names.emplace_back("key");
    }
    const std::size_t own_results = result_types(type.result).size();
    const bool was_tuple = type.result.tuple() != nullptr;
    if (!callee.buffers.empty()) {
      std::vector<Type> results = result_types(type.result), buffers;
      for (const std::size_t place : callee.buffers) buffers.push_back(type.params[place]);
      results.emplace_back(TupleType{std::move(buffers)});
      type.result = TupleType{std::move(results)};
    }
    const Expr callee_ref = form_reference(called, ModelMode::Training, Type(type), span);
    Expr value = function_call(callee_ref, std::move(args), span);
    Binding made = binding;
    if (!callee.buffers.empty()) {
      const Expr whole = bind(into, value, called.name + "_results", dataflow);
      std::vector<Expr> fields;
      for (std::size_t i = 0; i < own_results; ++i) {
        const Expr field = tuple_get(whole, static_cast<int>(i), span);
        fields.push_back(was_tuple ? bind(into, field, binding.var().name(), dataflow) : field);
      }
      const Expr news = bind(into, tuple_get(whole, static_cast<int>(own_results), span),
                             called.name + "_statistics", dataflow);
      for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i]) set_statistic(*places[i], tuple_get(news, static_cast<int>(i), span), into);
      value = was_tuple ? tuple(std::move(fields), span) : fields.front();
    }
    made.kind = VarBinding{binding.var(), std::move(value)};
    into.push_back(std::move(made));
  }

  const FactsOfModel& facts_;
  const ModelFacts& own_;
  Function& function_;
  ParameterAliases aliases_;
  FunctionBuilder names_;  // only for names that are free
  Var key_;
  Depth depth_;
  std::int64_t sites_ = 0;
  std::unordered_map<std::size_t, Var> current_;  // of running statistics, by parameter
};

// The parameters that training sets: by batch_norm, and by the marks of the model itself.
std::vector<std::size_t> buffer_places(const Module& module, const Function& function,
                                       const ModelFacts& facts) {
  std::vector<std::size_t> places = facts.buffers;
  const std::vector<std::string> marked = marked_buffers(function);
  const auto counts = backbone_counts(module, function);
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const bool counted = counts && i >= function.params.size() - counts->states;
    const bool named = std::find(marked.begin(), marked.end(), function.params[i].name()) != marked.end();
    if ((counted || named) && std::find(places.begin(), places.end(), i) == places.end()) places.push_back(i);
  }
  std::sort(places.begin(), places.end());
  return places;
}

// The new values of the buffers: those that nothing in the body sets are the last results, in order.
std::vector<Expr> new_values(const TrainingForm& form, const Function& function,
                             const std::vector<std::size_t>& buffers, bool all_returned,
                             std::vector<Expr>& results) {
  std::vector<std::size_t> returned;
  for (const std::size_t place : buffers)
    if (all_returned || !form.current(place)) returned.push_back(place);
  const Span span = function.result_span.known() ? function.result_span : function.span;
  if (results.size() <= returned.size() && !returned.empty()) {
    refuse_statistic(span,
                     fmt::format("no batch_norm sets '{}', and the function returns {} results; "
                                 "expected the new values of {} buffers behind the model's results",
                                 function.params[returned.front()].name(), results.size(), returned.size()));
  }
  const std::vector<Expr> tail(results.end() - static_cast<std::ptrdiff_t>(returned.size()), results.end());
  results.resize(results.size() - returned.size());
  std::vector<Expr> values;
  std::size_t next = 0;
  for (const std::size_t place : buffers) {
    const Var& param = function.params[place];
    const bool is_returned = next < returned.size() && returned[next] == place;
    const Expr value = is_returned ? tail[next++] : Expr(*form.current(place));
    if (!same_type(param.type(), value.type())) {
      refuse_statistic(span, fmt::format("the buffer '{}' has type {} and becomes {}; expected the same",
                                         param.name(), print(param.type()), print(value.type())));
    }
    values.push_back(value);
  }
  return values;
}

// In place of an earlier form. What trainers made of one that took or returned other types goes with it.
void put_form(Module& module, Function&& made, const RoleSignature& roles) {
  const FunctionPtr before = module.function(made.name);
  if (before && has_role(*before, roles.kind) && !same_signature(*before, made))
    remove_made_callers(module, made.name);
  set_role(module, std::move(made), roles);
}

void add_training_form(Module& module, const FactsOfModel& facts, const std::string& name) {
  const FunctionPtr source = module.function(name);
  const ModelFacts& own = *facts.find(name);
  const bool is_root = name == facts.order().front();
  const auto counts = is_root ? backbone_counts(module, *source) : std::nullopt;
  const std::vector<std::size_t> buffers = is_root ? buffer_places(module, *source, own) : own.buffers;

  if (is_root && buffers != own.buffers) {
    for (const std::string& caller : facts.order()) {
      const std::vector<std::string> called = global_references(*module.function(caller));
      if (std::find(called.begin(), called.end(), name) == called.end()) continue;
      refuse_statistic(source->span,
                       fmt::format("{} has buffers that it returns, and {} calls it; expected a "
                                   "model that nothing of its own calls",
                                   name, caller));
    }
  }

  Function made = copy_with_fresh_vars(*source);
  made.name = name_of_form(name, ModelMode::Training);
  TrainingForm form(facts, own, made);
  form.write();
  std::vector<Expr> results = form.results();
  const bool was_tuple = made.result.type().tuple() != nullptr;
  std::vector<Expr> values;
  if (!buffers.empty()) values = new_values(form, made, buffers, counts && counts->states > 0, results);

  RoleSignature roles{"training_form",
                      {},
                      std::vector<RoleSlot>(results.size(), {Role::Output}),
                      was_tuple || !buffers.empty()};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < made.params.size(); ++i) {
    const bool is_buffer = std::find(buffers.begin(), buffers.end(), i) != buffers.end();
    const bool is_key = i >= source->params.size();
    roles.params.push_back({is_buffer ? Role::Buffer : is_key ? Role::Key : Role::Input});
    if (is_buffer) names.push_back(made.params[i].name());
  }
  if (!buffers.empty()) {
    results.push_back(tuple(values));
    roles.results.push_back({Role::Buffers, names});
  }
  if (roles.tuple_result) made.result = tuple(std::move(results), made.result.span());
  made.result_type = made.result.type();
  made.attributes = attributes_of_derived(*source, made.name, made.params);
  // The roles say it here.
  std::erase_if(made.attributes, [](const auto& attribute) { return attribute.first == buffers_attribute; });
  put_form(module, std::move(made), roles);
}

void add_inference_form(Module& module, const FactsOfModel& facts, const std::string& name) {
  const FunctionPtr source = module.function(name);
  Function made = copy_with_fresh_vars(*source);
  made.name = name_of_form(name, ModelMode::Inference);
  made.attributes = attributes_of_derived(*source, made.name, made.params);
  InferenceForm form(facts);
  form.map_blocks(made.blocks);
  made.result = form.map(made.result);
  made = *eliminate_dead_bindings(std::make_shared<const Function>(std::move(made)));
  const TupleType* fields = made.result_type.tuple();
  const RoleSignature roles{"inference_form", std::vector<RoleSlot>(made.params.size(), {Role::Input}),
                            std::vector<RoleSlot>(fields ? fields->fields.size() : 1, {Role::Output}),
                            fields != nullptr};
  put_form(module, std::move(made), roles);
}

std::optional<std::int64_t> count_attribute(const Module& module, std::string_view name) {
  const Attribute* value = find_attribute(module.attributes, name);
  if (!value) return std::nullopt;
  const std::int64_t* count = value->as<std::int64_t>();
  if (!count || *count < 0) {
    fail(ErrorClass::Type, module.span, "attribute.param_num",
         fmt::format("{}: expected an int of at least 0 as {}", module.name, name));
  }
  return *count;
}

}  // namespace

std::optional<BackboneCounts> backbone_counts(const Module& module, const Function& function) {
  const auto trained = count_attribute(module, "param_num"), states = count_attribute(module, "state_num");
  if (function.name != "backbone" || (!trained && !states)) return std::nullopt;
  const auto total = static_cast<std::int64_t>(function.params.size());
  const std::int64_t of_states = states.value_or(0);
  if (of_states > total || trained.value_or(0) > total - of_states) {
    fail(ErrorClass::Type, function.span, "attribute.param_num",
         fmt::format("backbone has {} parameters; param_num is {} and state_num {}", total,
                     trained.value_or(0), of_states));
  }
  return BackboneCounts{static_cast<std::size_t>(trained.value_or(0)), static_cast<std::size_t>(of_states)};
}

std::vector<std::string> buffers_of_model(const Module& module, const Function& function) {
  const FactsOfModel facts(module, function);
  std::vector<std::string> names;
  for (const std::size_t place : buffer_places(module, function, facts.of_root()))
    names.push_back(function.params[place].name());
  return names;
}

bool has_running_means_alone(const Module& module, const Function& function) {
  return marked_buffers(function).empty() && !backbone_counts(module, function);
}

bool has_forms(const Module& module, const Function& function) {
  const FactsOfModel facts(module, function);
  return facts.of_root().needs_inference_form() || !buffer_places(module, function, facts.of_root()).empty();
}

std::string name_of_form(std::string_view function, ModelMode mode) {
  return fmt::format("{}_{}", function, mode == ModelMode::Training ? "training" : "inference");
}

Module decompose(const Module& module, std::string_view name, ModelMode mode) {
  const FunctionPtr root = relax_function(module, name);
  const FactsOfModel facts(module, *root);
  const bool training = mode == ModelMode::Training;
  std::vector<std::string> changed;
  for (const std::string& function : facts.order()) {
    const ModelFacts& own = *facts.find(function);
    if (function == root->name || (training ? own.needs_training_form() : own.needs_inference_form()))
      changed.push_back(function);
  }
  Module result = module;
  for (const std::string& function : changed) {
    if (training)
      add_training_form(result, facts, function);
    else
      add_inference_form(result, facts, function);
  }
  verify_after(result, "decompose");
  return result;
}

}  // namespace relish
