// Lifting of nested functions and of the bodies of control flow.
#include "transform/lift_bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/nodes/builder.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/regions.h"
#include "ir/rewriting/rewrite.h"
#include "ir/scalars/symbols.h"
#include "ir/verify/verify.h"
#include "support/failure.h"
#include "transform/call_cycles.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

using Ids = std::unordered_set<std::uint64_t>;

// A nested function that has become one of the module.
struct Lifted {
  std::string name;
  Type type;
  std::vector<Expr> captured;  // further arguments: variables, then the shape of symbols
};

// Variables that stand for functions outside the module become these functions: a call knows its symbol, and
// no body captures it.
class SymbolsOfVariables final : public ExprMapper {
 public:
  explicit SymbolsOfVariables(const Module& module) : module_(module) {}

  FunctionPtr rewrite(const FunctionPtr& function) {
    for_each_binding(*function, [&](const Binding& each) { note(each); });
    return symbols_.empty() ? function : map(function);
  }

 private:
  void note(const Binding& binding) {
    const Expr& value = binding.value();
    const auto* global = value.as<GlobalRef>();
    const Var* alias = value.as_var();
    const auto known = alias ? symbols_.find(alias->id()) : symbols_.end();
    if (known != symbols_.end())
      symbols_.insert_or_assign(binding.var().id(), Expr(known->second));
    else if (value.as<ExternFunc>() || (global && module_.extern_function(global->name)))
      symbols_.insert_or_assign(binding.var().id(), value);
  }

  Expr map_var(const Expr& expr, const Var& var) override {
    const auto found = symbols_.find(var.id());
    return found == symbols_.end() ? expr : found->second;
  }

  const Module& module_;
  std::unordered_map<std::uint64_t, Expr> symbols_;
};

enum class Lifting { Functions, FunctionsAndRegions };

class Lifter {
 public:
  Lifter(const Module& module, Lifting what) : result_(module), what_(what) {}

  LiftedModule run() {
    for (const std::string& name : result_.names()) {
      FunctionPtr function = result_.function(name);
      if (!function) continue;
      if (lifts_regions()) {
        const FunctionPtr plain = SymbolsOfVariables(result_).rewrite(function);
        if (plain != function) result_.set(plain);
        function = plain;
      }
      if (!has_bodies(*function)) continue;
      Function copy = *function;
      lifted_.clear();
      note_values(copy);
      Ids symbols;
      note_params(copy, symbols);
      BodyLifter bodies(*this, symbols, copy.name);
      bodies.map_blocks(copy.blocks);
      copy.result = bodies.map(copy.result);
      result_.set(std::make_shared<const Function>(std::move(copy)));
    }
    mark_values();
    mark_recursive();
    return {std::move(result_), std::move(known_)};
  }

 private:
  bool lifts_regions() const { return what_ == Lifting::FunctionsAndRegions; }

  bool has_bodies(const Function& function) const {
    bool found = false;
    for_each_expr(function, [&](const Expr& expr) {
      found = found || expr.as<FunctionExpr>() || (lifts_regions() && (expr.as<If>() || expr.as<Loop>()));
    });
    return found;
  }

  // The variables of functions that are used other than as the callee of a call.
  void note_values(const Function& function) {
    values_.clear();
    std::unordered_map<std::uint64_t, std::int64_t> uses;
    for_each_expr(function, [&](const Expr& expr) {
      if (const Var* var = expr.as_var()) ++uses[var->id()];
      if (const auto* call = expr.as<FunctionCall>())
        if (const Var* callee = call->callee.as_var()) --uses[callee->id()];
    });
    for (const auto& [id, count] : uses)
      if (count > 0) values_.insert(id);
  }

  bool is_value(const Var& var) const { return values_.contains(var.id()); }

  Binding function_value(const Var& var, Span span) const {
    const Lifted& lifted = lifted_.at(var.id());
    PackedCall made{PackedForm::MakeClosure, global_ref(lifted.name, lifted.type, span), lifted.captured, {}};
    made.out_types = {var.type()};
    return Binding{VarBinding{var, packed_call(std::move(made), span)}, span, nullptr, false};
  }

  static void note(const Type& type, Ids& symbols) {
    std::vector<ScalarVar> vars;
    collect_vars(type, vars);
    for (const ScalarVar& var : vars) symbols.insert(var.id());
  }

  static void note_params(const Function& function, Ids& symbols) {
    for (const Var& param : function.params) note(param.type(), symbols);
    for_each_symbol(function, [&](const ScalarVar& symbol) {
      if (scalar_parameter_of(function, symbol)) symbols.insert(symbol.id());
    });
  }

  // What stands in one body: its nested functions go, branches and loop bodies become calls, and calls of
  // lifted functions become calls of their globals.
  class BodyLifter final : public ExprMapper {
   public:
    // `symbols`: those that have a value where the body begins; grows by what match_casts bind.
    BodyLifter(Lifter& lifter, Ids& symbols, const std::string& owner)
        : lifter_(lifter), symbols_(symbols), owner_(owner) {}

   private:
    void map_binding(const Binding& binding, bool, std::vector<Binding>& into) override {
      const Expr& value = binding.value();
      const Var& var = binding.var();
      if (const auto* nested = value.as<FunctionExpr>()) {
        // As a value it is a closure, which texts cannot tell the type of.
        if (!lifter_.lifts_regions() && lifter_.is_value(var)) {
          note_params(*nested->function, symbols_);
          into.push_back(map(binding));
          return;
        }
        lifter_.lift_function(*nested->function, var, symbols_, owner_);
        if (lifter_.is_value(var)) into.push_back(lifter_.function_value(var, binding.span));
        return;
      }
      const Var* alias = value.as_var();
      if (const auto known = alias ? lifter_.lifted_.find(alias->id()) : lifter_.lifted_.end();
          known != lifter_.lifted_.end()) {
        lifter_.lifted_.insert_or_assign(var.id(), Lifted(known->second));
        if (lifter_.is_value(var)) into.push_back(binding);
        return;
      }
      if (lifter_.lifts_regions() && (value.as<If>() || value.as<Loop>())) {
        Binding lifted = binding;
        std::get<VarBinding>(lifted.kind).value = lifter_.lift_regions(value, symbols_, owner_);
        into.push_back(std::move(lifted));
        return;
      }
      if (const auto* cast = std::get_if<MatchCast>(&binding.kind)) note(cast->type, symbols_);
      if (const auto* loop = value.as<Loop>(); loop && loop->index.defined())
        symbols_.insert(loop->index.id());
      into.push_back(map(binding));
    }

    Expr leave(const Expr& mapped) override {
      const auto* call = mapped.as<FunctionCall>();
      const Var* callee = call ? call->callee.as_var() : nullptr;
      const auto found = callee ? lifter_.lifted_.find(callee->id()) : lifter_.lifted_.end();
      if (found == lifter_.lifted_.end()) return mapped;
      std::vector<Expr> args = call->args;
      args.insert(args.end(), found->second.captured.begin(), found->second.captured.end());
      return function_call(global_ref(found->second.name, found->second.type, mapped.span()), std::move(args),
                           mapped.span());
    }

    Lifter& lifter_;
    Ids& symbols_;
    const std::string& owner_;
  };

  Expr lift_regions(const Expr& value, const Ids& symbols, const std::string& owner) {
    if (const auto* branch = value.as<If>()) {
      std::vector<Type> joined;
      const std::size_t count = branch->then_region->results.size();
      for (std::size_t i = 0; i < count; ++i)
        joined.push_back(count == 1 ? value.type() : value.type().tuple()->fields[i]);
      const auto outlined_branch = [&](const Region& region, RegionRole role) {
        const std::string_view what = role == RegionRole::Then ? "then" : "else";
        return outlined(region, joined, symbols, owner, what, value.span());
      };
      return with_regions(*branch, outlined_branch, value.span());
    }
    const Loop& loop = *value.as<Loop>();
    Ids inside = symbols;
    if (loop.index.defined()) inside.insert(loop.index.id());
    const auto outlined_body = [&](const Region& region, RegionRole role) {
      return role == RegionRole::Condition
                 ? outlined(region, types_of(region.results), symbols, owner, "condition", value.span())
                 : outlined(region, types_of(region.params), inside, owner, "body", value.span());
    };
    const Expr lifted = with_regions(loop, outlined_body, value.span());
    const FunctionCall& body = lifted_call(*lifted.as<Loop>()->body);
    known_[body.callee.as<GlobalRef>()->name].effects = has_effects(lifted);
    return lifted;
  }

  template <class Typed>
  static std::vector<Type> types_of(const std::vector<Typed>& all) {
    std::vector<Type> types;
    for (const Typed& each : all) types.push_back(each.type());
    return types;
  }

  // The region as one call of a made function, whose results have the types that whoever takes them expects.
  Region outlined(const Region& region, std::vector<Type> result_types, const Ids& symbols,
                  const std::string& owner, std::string_view what, Span span) {
    Function made;
    made.name = result_.fresh_name(fmt::format("{}_{}", owner, what));
    made.span = span;
    made.result_span = span;
    made.is_private = true;
    made.params = region.params;
    made.blocks = region.blocks;
    // The name is taken while inner bodies are lifted.
    result_.set(std::make_shared<const Function>(made));
    Ids inside = symbols;
    BodyLifter bodies(*this, inside, owner);
    bodies.map_blocks(made.blocks);
    std::vector<Expr> results;
    for (const Expr& each : region.results) results.push_back(bodies.map(each));
    made.result = tuple(std::move(results), span);
    made.result_type = Type(TupleType{std::move(result_types)});
    const std::vector<Expr> captured = capture(made, nullptr, symbols);
    if (what == "body") known_[made.name].carried = region.params.size();
    finish(made);

    // The call and the taking apart of its results.
    std::vector<Var> params;
    for (const Var& param : region.params)
      params.emplace_back(param.name(), param.type(), false, param.span());
    std::vector<Expr> args(params.begin(), params.end());
    args.insert(args.end(), captured.begin(), captured.end());
    const FunctionPtr callee = result_.function(made.name);
    FunctionBuilder builder;
    builder.set_origin(span);
    builder.begin_region(std::move(params));
    const Expr whole =
        builder.emit(function_call(global_ref(GlobalFunction(callee), span), std::move(args), span));
    std::vector<Expr> fields;
    for (std::size_t i = 0; i < region.results.size(); ++i)
      fields.push_back(builder.emit(tuple_get(whole, static_cast<int>(i), span)));
    return builder.end_region(std::move(fields));
  }

  void lift_function(const Function& nested, const Var& self, const Ids& symbols, const std::string& owner) {
    Function made = nested;
    made.name = result_.fresh_name(fmt::format("{}_{}", owner, nested.name));
    made.is_private = true;
    result_.set(std::make_shared<const Function>(made));
    Ids inside = symbols;
    note_params(made, inside);
    // While its own body is read, the function calls itself with what it captured: first what that is.
    Function probe = nested;
    const std::vector<Expr> captured = capture(probe, &self, symbols);
    FunctionType type = function_type_of(probe);
    lifted_.insert_or_assign(self.id(), Lifted{made.name, Type(type), captured});
    BodyLifter bodies(*this, inside, made.name);
    bodies.map_blocks(made.blocks);
    made.result = bodies.map(made.result);
    made.params = probe.params;
    if (is_value(self)) {
      BindingBlock first;
      first.bindings.push_back(function_value(self, nested.span));
      made.blocks.insert(made.blocks.begin(), std::move(first));
    }
    known_[made.name].written_name = nested.name;
    finish(made);
    lifted_.insert_or_assign(
        self.id(), Lifted{made.name, Type(function_type_of(*result_.function(made.name))), captured});
  }

  // Appends parameters for what the function uses and does not bind: the variables themselves (renamed when
  // the function is finished), a shape of the symbols that are sizes, and the others one by one. The
  // arguments for them.
  std::vector<Expr> capture(Function& made, const Var* self, const Ids& symbols) {
    BodyVars vars = vars_of(made);
    if (self) vars.bound.insert(self->id());
    std::vector<Expr> args;
    Ids taken;
    const auto take = [&](const Var& var) {
      if (vars.bound.contains(var.id()) || !taken.insert(var.id()).second) return;
      made.params.push_back(var);
      args.push_back(Expr(var));
    };
    for (const Var& var : vars.free) {
      // A lifted function that is called inside needs what it captured.
      if (const auto known = lifted_.find(var.id()); known != lifted_.end()) {
        for (const Expr& each : known->second.captured)
          if (const Var* outer = each.as_var()) take(*outer);
        if (is_value(var)) take(var);
        continue;
      }
      take(var);
    }
    std::vector<ScalarVar> used;
    for_each_symbol(made, [&](const ScalarVar& symbol) {
      if (!symbols.contains(symbol.id())) return;
      if (is_int(symbol.dtype())) {
        used.push_back(symbol);
        return;
      }
      // A float or bool is no dimension: a scalar parameter of its name.
      made.params.emplace_back(symbol.name(), Type(ScalarType{symbol.dtype()}), false, made.span);
      args.push_back(scalar_value(Scalar(symbol), made.span));
    });
    if (!used.empty()) {
      std::vector<Scalar> dims(used.begin(), used.end());
      made.params.emplace_back("sizes", Type(ShapeType{.dims = dims, .rank = -1}), false, made.span);
      args.push_back(shape_literal(dims, made.span));
    }
    return args;
  }

  // What a nested function captured of a dataflow block is a parameter like any other.
  static Function with_plain_params(Function made) {
    VarMap plain;
    for (Var& param : made.params) {
      if (!param.dataflow()) continue;
      const Var own(param.name(), param.type(), false, param.span());
      plain.emplace(param.id(), Expr(own));
      param = own;
    }
    return plain.empty() ? made : *substitute(std::make_shared<const Function>(std::move(made)), plain);
  }

  // Names of parameters are part of a text: what was captured may have the name of another parameter.
  static Function with_own_names(Function made) {
    FunctionBuilder names;
    reserve_names(made, names);
    std::unordered_set<std::string> taken;
    VarMap renamed;
    for (Var& param : made.params) {
      if (taken.insert(param.name()).second) continue;
      const Var own(names.fresh_name(param.name()), param.type(), false, param.span());
      renamed.emplace(param.id(), Expr(own));
      param = own;
    }
    return renamed.empty() ? made : *substitute(std::make_shared<const Function>(std::move(made)), renamed);
  }

  void finish(Function made) {
    if (!lifts_regions()) made = with_own_names(std::move(made));
    if (known_[made.name].written_name.empty()) regions_.insert(made.name);
    for (BindingBlock& block : made.blocks)
      for (Binding& binding : block.bindings) made.pure = made.pure && !has_effects(binding.value());
    known_[made.name].owns_results = true;
    const std::string name = made.name;
    Function copy = copy_with_fresh_vars(with_plain_params(std::move(made)));
    copy.name = name;
    result_.set(std::make_shared<const Function>(std::move(copy)));
  }

  // Functions of the module that are used other than as callees.
  void mark_values() {
    std::unordered_map<std::string, std::int64_t> uses;
    for (const GlobalFunction& global : result_.functions) {
      const auto* function = std::get_if<FunctionPtr>(&global);
      if (!function) continue;
      for_each_expr(**function, [&](const Expr& expr) {
        if (const auto* used = expr.as<GlobalRef>()) ++uses[used->name];
        if (const auto* call = expr.as<FunctionCall>())
          if (const auto* callee = call->callee.as<GlobalRef>()) --uses[callee->name];
      });
    }
    for (const auto& [name, count] : uses) {
      if (count > 0 && result_.function(name)) known_[name].owns_results = true;
    }
  }

  // Functions that can come to call themselves.
  void mark_recursive() {
    CallGraph calls;
    for (const GlobalFunction& global : result_.functions)
      if (const auto* function = std::get_if<FunctionPtr>(&global))
        calls[(*function)->name] = global_references(**function);
    for (const std::string& name : on_cycles(calls)) {
      if (!calls.contains(name)) continue;
      known_[name].owns_results = true;
      known_[name].recursive = !regions_.contains(name);
    }
  }

  Module result_;
  Lifting what_;
  std::unordered_map<std::uint64_t, Lifted> lifted_;
  Ids values_;  // variables of functions that are used as values
  LiftedFunctions known_;
  std::unordered_set<std::string> regions_;  // functions made of branches and loop bodies
};

}  // namespace

LiftedModule lift_bodies(const Module& module) {
  LiftedModule lifted = Lifter(module, Lifting::FunctionsAndRegions).run();
  verify_after(lifted.module, "lift_bodies");
  return lifted;
}

Module lambda_lift(const Module& module) {
  Module lifted = Lifter(module, Lifting::Functions).run().module;
  verify_after(lifted, "lambda_lift");
  return lifted;
}

const LiftedFunction& lifted_function(const LiftedFunctions& functions, std::string_view name) {
  static const LiftedFunction nothing;
  const auto found = functions.find(std::string(name));
  return found == functions.end() ? nothing : found->second;
}

std::string written_name(const LiftedFunctions& functions, std::string_view name) {
  const std::string& written = lifted_function(functions, name).written_name;
  return written.empty() ? std::string(name) : written;
}

const FunctionCall& lifted_call(const Region& region) {
  RELISH_CHECK(!region.blocks.empty() && !region.blocks[0].bindings.empty());
  const auto* call = region.blocks[0].bindings[0].value().as<FunctionCall>();
  RELISH_CHECK(call != nullptr, "a region is not lifted");
  return *call;
}

}  // namespace relish
