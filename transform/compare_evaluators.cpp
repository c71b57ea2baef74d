// The bindings of a function as functions of the reference's values, in one call of the other evaluator.
#include "transform/compare_evaluators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "ir/calls/entry.h"
#include "ir/nodes/builder.h"
#include "ir/operators/op.h"
#include "ir/rewriting/observed.h"
#include "ir/rewriting/regions.h"
#include "ir/rewriting/rewrite.h"
#include "ir/scalars/scalar_order.h"
#include "runtime/closeness.h"
#include "runtime/format.h"
#include "support/failure.h"
#include "support/interrupt.h"
#include "transform/agreement.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

constexpr int deepest_call = 100;

std::string index_of(const Tensor& tensor, std::int64_t flat) {
  std::vector<std::int64_t> index(tensor.shape().size());
  for (std::size_t i = index.size(); i-- > 0;) {
    index[i] = flat % tensor.shape()[i];
    flat /= tensor.shape()[i];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

// Whether a binding may change what an earlier one gave. Operators have no effect but what they print or
// assert.
bool may_write_to_values(const Function& function) {
  const std::vector<Binding> bindings = all_bindings(function);
  return std::any_of(bindings.begin(), bindings.end(), [](const Binding& binding) {
    return !binding.value().as<OpCall>() && has_effects(binding.value());
  });
}

class Comparison {
 public:
  Comparison(const ModulePtr& module, Evaluator& reference, Evaluator& other)
      : module_(module), reference_(reference), other_(other) {}

  EvaluatorComparison run(const std::string& name, const std::vector<Value>& arguments) {
    const Value wanted = reference_.call(module_, name, arguments);
    const FunctionPtr source = module_->function(name);
    if (source) bindings(*source, arguments, 0);
    if (!result_.first) {
      const GlobalFunction& entry = *module_->find(name);
      const Span span = std::visit([](const auto& held) { return held->span; }, entry);
      const int allowed = source ? class_of_models : agreement_class(*std::get<PrimFuncPtr>(entry));
      // Of one operation or none, as exact as that.
      const bool single = source && loosest_ < class_of_models && compared_ <= 1;
      whole_ = {"", name, source && source->result_span.known() ? source->result_span : span};
      if (source) coarsest_ = coarsest_float(*module_, name);
      const std::optional<Value> found = called(module_, name, arguments);
      const Operation entered{nullptr, name, arguments, wanted};
      const Operation only{only_ ? &only_->first : nullptr, "", only_ ? only_->second : arguments, wanted};
      if (found) {
        compare(wanted, *found, "", single ? loosest_ : allowed,
                !source           ? &entered
                : single && only_ ? &only
                                  : nullptr);
      }
    }
    result_.bindings = compared_;
    return std::move(result_);
  }

 private:
  // A call of the other evaluator; its fault is the difference.
  std::optional<Value> called(const ModulePtr& module, const std::string& name,
                              const std::vector<Value>& arguments) {
    try {
      return other_.call(module, name, arguments);
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Interrupted) throw;
      differ("", "a value", failure.diagnostics().front().message, -1, 0);
      return std::nullopt;
    }
  }

  void bindings(const Function& source, const std::vector<Value>& arguments, int depth) {
    if (depth > deepest_call) return;
    if (may_write_to_values(source)) {
      if (depth == 0) result_.whole_only = true;
      return;
    }
    auto module = std::make_shared<Module>(*module_);
    const std::string observer = module->fresh_name(source.name + "_values");
    const ObservedFunction made = observed_function(source, observer);
    if (made.bindings.empty()) return;
    module->set(std::make_shared<const Function>(made.function));
    const Value values = reference_.call(module, observer, arguments);
    std::vector<Value> given = arguments;
    given.insert(given.end(), values.fields().begin(), values.fields().end());
    const std::string apart = module->fresh_name(source.name + "_bindings");
    module->set(apart_function(made, apart));
    whole_ = {"", source.name, source.span};
    const std::optional<Value> found = called(module, apart, given);
    if (!found) return;
    std::unordered_map<std::uint64_t, Value> known;
    for (std::size_t i = 0; i < arguments.size(); ++i) known[made.function.params[i].id()] = arguments[i];
    const std::unordered_map<std::uint64_t, int> unseen = classes_of_unseen(made);
    for (std::size_t i = 0; i < made.bindings.size() && !result_.first; ++i) {
      const Binding& binding = made.bindings[i];
      poll_interrupt(binding.span);
      const Expr& value = binding.value();
      whole_ = {binding.var().name(), source.name, value.span().known() ? value.span() : binding.span};
      const int allowed = class_beside(value, unseen);
      loosest_ = std::max(loosest_, allowed);
      ++compared_;
      const auto* operation = value.as<OpCall>();
      const auto* loops = value.as<CallTir>();
      const std::vector<Value> operands = operation ? values_of(operation->args, known)
                                          : loops   ? values_of(loops->args, known)
                                                    : std::vector<Value>();
      const Operation of{&value, "", operands, values.fields()[i]};
      if (depth == 0 && (operation || loops)) only_ = {value, operands};
      const EvaluatorComparison before = result_;
      compare(values.fields()[i], found->fields()[i], "", allowed, operation || loops ? &of : nullptr);
      known[binding.var().id()] = values.fields()[i];
      if (const auto* call = value.as<FunctionCall>(); call && result_.first)
        enter(*call, known, before, depth);
    }
  }

  // The binding of a callee where a call differs; the call itself where none does.
  void enter(const FunctionCall& call, const std::unordered_map<std::uint64_t, Value>& known,
             const EvaluatorComparison& before, int depth) {
    const auto* name = call.callee.as<GlobalRef>();
    const FunctionPtr callee = name ? module_->function(name->name) : nullptr;
    if (!callee) return;
    const std::vector<Value> arguments = values_of(call.args, known);
    if (arguments.size() != call.args.size()) return;
    EvaluatorComparison outer = std::exchange(result_, before);
    bindings(*callee, arguments, depth + 1);
    if (!result_.first) result_ = std::move(outer);
  }

  // Every binding as a function of the values that the reference gave, which are further parameters.
  FunctionPtr apart_function(const ObservedFunction& made, const std::string& name) const {
    auto function = std::make_shared<Function>(made.function);
    function->name = name;
    VarMap given;
    std::vector<Expr> results;
    BindingBlock block;
    for (const Binding& binding : made.function.blocks.front().bindings) {
      const Var& old = binding.var();
      const Var var(old.name(), old.type(), false, old.span());
      // A nested function may call itself by its variable.
      if (binding.value().as<FunctionExpr>()) given.insert_or_assign(old.id(), Expr(var));
      Binding copy = binding;
      if (const auto* match = std::get_if<MatchCast>(&binding.kind))
        copy.kind = MatchCast{var, substitute(match->value, given), match->type};
      else
        copy.kind = VarBinding{var, substitute(binding.value(), given)};
      block.bindings.push_back(std::move(copy));
      const bool observed = std::any_of(made.bindings.begin(), made.bindings.end(),
                                        [&](const Binding& each) { return each.var() == old; });
      if (!observed) {
        given.insert_or_assign(old.id(), Expr(var));
        continue;
      }
      results.emplace_back(var);
      const Var value(old.name() + "_value", old.type(), false, old.span());
      function->params.push_back(value);
      given.insert_or_assign(old.id(), Expr(value));
    }
    function->blocks = {std::move(block)};
    function->result = tuple(std::move(results));
    function->result_type = function->result.type();
    return function;
  }

  int class_of_value(const Expr& value) const {
    if (const auto* call = value.as<OpCall>())
      return static_cast<int>(agreement_of(CallView{*call->op, call->args, call->attributes, value.span()}));
    if (const auto* call = value.as<CallTir>()) {
      const auto* name = call->callee.as<GlobalRef>();
      const PrimFuncPtr callee = name ? module_->prim_func(name->name) : nullptr;
      return callee ? agreement_class(*callee) : class_of_models;
    }
    if (value.as<FunctionCall>() || value.as<If>() || value.as<Loop>() || value.as<PackedCall>())
      return class_of_models;
    return class_of_bits;
  }

  // Of values that are not looked at, as a loop's with a stack: they are computed on both sides, and what is
  // taken out of them may differ as they may.
  std::unordered_map<std::uint64_t, int> classes_of_unseen(const ObservedFunction& made) const {
    std::unordered_set<std::uint64_t> seen;
    for (const Binding& binding : made.bindings) seen.insert(binding.var().id());
    std::unordered_map<std::uint64_t, int> classes;
    for (const Binding& binding : made.function.blocks.front().bindings)
      if (!seen.contains(binding.var().id()))
        classes.emplace(binding.var().id(), class_beside(binding.value(), classes));
    return classes;
  }
  int class_beside(const Expr& value, const std::unordered_map<std::uint64_t, int>& unseen) const {
    int loosest = class_of_value(value);
    if (unseen.empty()) return loosest;
    for (const Var& used : used_vars(value))
      if (const auto found = unseen.find(used.id()); found != unseen.end())
        loosest = std::max(loosest, found->second);
    return loosest;
  }

  static std::vector<Value> values_of(const std::vector<Expr>& leaves,
                                      const std::unordered_map<std::uint64_t, Value>& known) {
    std::vector<Value> found;
    for (const Expr& leaf : leaves) {
      std::optional<Value> value = value_of(leaf, known);
      if (!value) return {};
      found.push_back(std::move(*value));
    }
    return found;
  }
  static std::optional<Value> value_of(const Expr& leaf,
                                       const std::unordered_map<std::uint64_t, Value>& known) {
    if (const Var* var = leaf.as_var()) {
      const auto found = known.find(var->id());
      return found == known.end() ? std::nullopt : std::optional<Value>(found->second);
    }
    if (const auto* constant = leaf.as<Constant>()) return Value(constant->value);
    const auto* literal = leaf.as<TupleExpr>();
    if (!literal) return std::nullopt;
    std::vector<Value> fields = values_of(literal->fields, known);
    if (fields.size() != literal->fields.size()) return std::nullopt;
    return Value::tuple(std::move(fields));
  }

  // What a sum is made of, asked for where it decides: an operator or a prim_func, with its operands.
  struct Operation {
    const Expr* call;      // an OpCall or a CallTir
    std::string function;  // where there is none: the prim_func that is called with them
    const std::vector<Value>& operands;
    const Value& result;
  };
  struct Terms {
    Tensor magnitudes;
    std::int64_t count = 1;
  };
  // The sum over absolute values in float64; nothing where the operator has no such form.
  std::optional<Terms> terms_of(const Operation& operation, const Tensor& wanted) {
    const auto* operator_call = operation.call ? operation.call->as<OpCall>() : nullptr;
    if (!operator_call) return terms_of_loops(operation, wanted);
    const OpCall& call = *operator_call;
    if (operation.operands.size() != call.args.size()) return std::nullopt;
    try {
      FunctionBuilder builder;
      Function function;
      function.name = "main";
      std::vector<Expr> args;
      std::vector<Value> values;
      for (std::size_t i = 0; i < call.args.size(); ++i) {
        const Value& operand = operation.operands[i];
        if (!operand.is_tensor()) {
          args.push_back(call.args[i]);
          continue;
        }
        values.emplace_back(absolute(operand.tensor()));
        function.params.emplace_back(fmt::format("x{}", i), type_of(values.back()));
        builder.reserve_name(function.params.back().name());
        args.emplace_back(function.params.back());
      }
      Attributes attributes = call.attributes;
      std::erase_if(attributes, [](const auto& attribute) { return attribute.first == "out_dtype"; });
      builder.begin_block(false);
      function.result = builder.call(call.op->name, args, attributes);
      builder.end_block();
      function.blocks = builder.take_blocks();
      function.result_type = function.result.type();
      auto module = std::make_shared<Module>();
      module->set(std::make_shared<const Function>(std::move(function)));
      const Value sums = reference_.call(module, "main", values);
      if (!sums.is_tensor() || sums.tensor().shape() != wanted.shape()) return std::nullopt;
      Terms terms{sums.tensor(), most_terms(values, wanted)};
      const CallView view{*call.op, args, attributes, {}};
      if (call.op->terms) {
        terms.count = std::max<std::int64_t>(call.op->terms(view, type_of(sums)), 1);
        return terms;
      }
      // As many as the operator gives on ones.
      for (Value& value : values) value = ones_like(value.tensor());
      const Tensor counts = reference_.call(module, "main", values).tensor();
      for (std::int64_t i = 0; i < counts.size(); ++i)
        terms.count = std::max(terms.count, static_cast<std::int64_t>(counts.get_double(i)));
      return terms;
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Interrupted) throw;
      return std::nullopt;
    }
  }
  // Of a prim_func: what it gives for absolute values. Where it does more than add up products, that is a
  // guess at how large what cancels was; it only ever allows more than the class does.
  std::optional<Terms> terms_of_loops(const Operation& operation, const Tensor& wanted) {
    const auto* call = operation.call ? operation.call->as<CallTir>() : nullptr;
    if (call && operation.operands.size() != call->args.size()) return std::nullopt;
    try {
      auto module = std::make_shared<Module>(*module_);
      std::string name = operation.function;
      std::vector<Value> values;
      for (const Value& operand : operation.operands)
        values.push_back(operand.is_tensor() ? Value(absolute(operand.tensor(), operand.tensor().dtype()))
                                             : operand);
      if (call) {
        name = module->fresh_name("terms");
        module->set(function_of_call(*call, values, operation.result, name));
      }
      const Value sums = reference_.call(module, name, values);
      // The field of the result that is compared.
      const bool several = operation.result.is_tuple();
      const std::size_t fields = several ? operation.result.fields().size() : 1;
      if (several && (!sums.is_tuple() || sums.fields().size() != fields)) return std::nullopt;
      for (std::size_t i = 0; i < fields; ++i) {
        const Value& field = several ? operation.result.fields()[i] : operation.result;
        const Value& sum = several ? sums.fields()[i] : sums;
        if (!field.is_tensor() || !sum.is_tensor() || field.tensor().data() != wanted.data()) continue;
        if (sum.tensor().shape() == wanted.shape()) return Terms{sum.tensor(), most_terms(values, wanted)};
      }
      return std::nullopt;
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Interrupted) throw;
      return std::nullopt;
    }
  }
  static FunctionPtr function_of_call(const CallTir& call, const std::vector<Value>& values,
                                      const Value& result, const std::string& name) {
    auto function = std::make_shared<Function>();
    function->name = name;
    CallTir made = call;
    made.args.clear();
    for (std::size_t i = 0; i < values.size(); ++i) {
      function->params.emplace_back(fmt::format("x{}", i), type_of(values[i]));
      made.args.emplace_back(function->params.back());
    }
    for (std::size_t i = 0; i < made.out_types.size(); ++i)
      made.out_types[i] = type_of(call.tuple_result ? result.fields().at(i) : result);
    FunctionBuilder builder;
    for (const Var& param : function->params) builder.reserve_name(param.name());
    builder.begin_block(false);
    function->result = builder.emit(call_tir(std::move(made)));
    builder.end_block();
    function->blocks = builder.take_blocks();
    function->result_type = function->result.type();
    return function;
  }

  static Tensor absolute(const Tensor& tensor, DType dtype = DType::Float64) {
    if (!is_float(tensor.dtype())) return tensor;
    Tensor wide = Tensor::empty(dtype, tensor.shape());
    for (std::int64_t i = 0; i < wide.size(); ++i) wide.set_double(i, std::abs(tensor.get_double(i)));
    return wide;
  }
  static Tensor ones_like(const Tensor& tensor) {
    if (tensor.dtype() != DType::Float64) return tensor;
    Tensor ones = Tensor::empty(DType::Float64, tensor.shape());
    for (std::int64_t i = 0; i < ones.size(); ++i) ones.set_double(i, 1);
    return ones;
  }
  // Of an operator that does not tell: no element has more terms than an operand has elements.
  static std::int64_t most_terms(const std::vector<Value>& operands, const Tensor& result) {
    std::int64_t most = 1;
    for (const Value& operand : operands)
      if (operand.is_tensor())
        most = std::max(most, operand.tensor().size() / std::max<std::int64_t>(result.size(), 1));
    if (operands.size() > 1 && operands.front().is_tensor() && operands.front().tensor().rank() > 0)
      most = std::max(most, operands.front().tensor().shape().back());
    return most;
  }

  // Root mean square of what is finite: elements much smaller than that are what is left of larger terms.
  static double scale_of(const Tensor& tensor) {
    double sum = 0;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      const double value = tensor.get_double(i);
      if (!std::isfinite(value)) continue;
      sum += value * value;
      ++count;
    }
    return count == 0 || !std::isfinite(sum) ? 0 : std::sqrt(sum / static_cast<double>(count));
  }

  void differ(const std::string& place, std::string wanted, std::string found, std::int64_t distance,
              int allowed) {
    if (result_.first) return;
    result_.first = whole_;
    result_.first->place = place;
    result_.first->wanted = std::move(wanted);
    result_.first->found = std::move(found);
    result_.first->distance = distance;
    result_.first->agreement_class = allowed;
  }

  void compare(const Value& wanted, const Value& found, const std::string& place, int allowed,
               const Operation* operation) {
    if (result_.first) return;
    if (wanted.is_tuple() && found.is_tuple() && wanted.fields().size() == found.fields().size()) {
      for (std::size_t i = 0; i < wanted.fields().size(); ++i)
        compare(wanted.fields()[i], found.fields()[i], fmt::format("{}{}.", place, i), allowed, operation);
      return;
    }
    if (wanted.is_tensor() && found.is_tensor())
      return compare_tensors(wanted.tensor(), found.tensor(), place, allowed, operation);
    const std::string a = format_value(wanted), b = format_value(found);
    if (a != b) differ(place, a, b, -1, allowed);
  }

  void compare_tensors(const Tensor& wanted, const Tensor& found, const std::string& place, int allowed,
                       const Operation* operation) {
    if (wanted.dtype() != found.dtype() || wanted.shape() != found.shape())
      return differ(place, describe(wanted), describe(found), -1, allowed);
    std::optional<std::optional<Terms>> terms;
    std::optional<double> scale;
    const bool loops = operation && !(operation->call && operation->call->as<OpCall>());
    const auto agrees = [&](double a, double b, std::int64_t distance, std::int64_t i) {
      if (allowed < class_of_functions || allowed == static_cast<int>(Agreement::Random)) return false;
      if (allowed == class_of_functions) return distance <= most_ulps(wanted.dtype());
      if (allowed == class_of_sums || (allowed == class_of_composites && loops)) {
        if (distance <= 1) return true;
        if (!terms) terms = operation ? terms_of(*operation, wanted) : std::nullopt;
        const bool close = *terms && std::abs(a - b) <= sum_bound(b, (**terms).magnitudes.get_double(i),
                                                                  (**terms).count, wanted.dtype());
        if (close || (*terms && allowed == class_of_sums)) return close;
      }
      const bool coarser = allowed == class_of_models && coarsest_ &&
                           rounding_unit(*coarsest_) > rounding_unit(wanted.dtype());
      const Closeness close = closeness(allowed == class_of_sums ? class_of_composites : allowed,
                                        coarser ? *coarsest_ : wanted.dtype());
      if (std::abs(a - b) <= close.rtol * std::abs(b) + close.atol) return true;
      if (allowed != class_of_models) return false;
      if (!scale) scale = scale_of(wanted);
      return std::abs(a - b) <= close.rtol * *scale + close.atol;
    };
    for (std::int64_t i = 0; i < wanted.size(); ++i) {
      if (!is_float(wanted.dtype())) {
        if (wanted.get_int(i) != found.get_int(i))
          return differ(place + index_of(wanted, i), format_element(wanted, i), format_element(found, i), -1,
                        allowed);
        continue;
      }
      const double a = found.get_double(i), b = wanted.get_double(i);
      if (std::isnan(a) && std::isnan(b)) continue;
      const bool exact = allowed < class_of_functions;
      if (a == b && (!exact || std::signbit(a) == std::signbit(b))) continue;
      const bool finite = std::isfinite(a) && std::isfinite(b);
      const std::int64_t distance = finite ? ulp_distance(a, b, wanted.dtype()) : -1;
      if (!finite || !agrees(a, b, distance, i))
        return differ(place + index_of(wanted, i), format_element(wanted, i), format_element(found, i),
                      distance, allowed);
      if (distance <= result_.largest_distance) continue;
      result_.largest_distance = distance;
      result_.largest_binding = whole_.binding.empty() ? "the result" : whole_.binding;
    }
  }

  const ModulePtr module_;
  Evaluator &reference_, &other_;
  ValueDifference whole_;  // what is compared at present
  EvaluatorComparison result_;
  std::size_t compared_ = 0;
  int loosest_ = 0;
  std::optional<std::pair<Expr, std::vector<Value>>>
      only_;                       // the last call that was compared, with its operands
  std::optional<DType> coarsest_;  // of the whole function, while that is compared
};

}  // namespace

EvaluatorComparison compare_evaluators(const ModulePtr& module, std::string_view function,
                                       const std::vector<Value>& arguments, Evaluator& reference,
                                       Evaluator& other) {
  return Comparison(module, reference, other).run(std::string(function), arguments);
}

}  // namespace relish
