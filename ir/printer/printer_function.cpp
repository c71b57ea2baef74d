// Printing of Relax functions: signatures, blocks, bindings, ifs, loops and nested functions. A variable
// keeps its name as long as the text means it by that name: the name goes to a new variable when nobody reads
// the old one later. What comes out of an if or a loop is printed by its names alone.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/operators/op.h"
#include "ir/printer/printer_internal.h"
#include "ir/printer/reserved_names.h"
#include "ir/printer/use_order.h"
#include "ir/rewriting/rewrite.h"
#include "ir/scalars/symbols.h"
#include "ir/scalars/twice_given.h"
#include "support/interrupt.h"

namespace relish::printing {
namespace {

class FunctionWriter {
 public:
  FunctionWriter(Writer& writer, const Function& function)
      : w_(writer), function_(function), order_(function) {}

  void write() {
    w_.graph_level = true;
    w_.text.uses_graph = true;
    for (const std::string& word : words_with_a_meaning(w_.text))
      if (!w_.kept_words.contains(word)) w_.names.reserve(word);
    if (w_.text.class_name.empty() || w_.text.dialect(Dialect::D2022)) {
      // Functions are called by their plain names: a variable must not hide one that is called here. A
      // parameter keeps its name, and the function is called through the module.
      for (const std::string& name : global_references(function_)) {
        const bool hidden = is_parameter(name);
        hidden ? static_cast<void>(w_.hidden_globals.insert(name)) : w_.names.reserve(name);
      }
    }
    name_parameters();
    w_.comments_before(function_.comments);
    write_signature(function_, identifier(function_.name));

    // The body comes first, as the lines before it depend on what it uses.
    ++w_.indent;
    std::string head = std::move(w_.out);
    w_.out.clear();
    write_body(function_);
    std::string body = std::move(w_.out);
    w_.out = std::move(head);
    for (const ScalarVar& symbol : w_.symbols) {
      w_.text.uses_loops = true;
      std::string_view spelling = w_.text.dialect(Dialect::D2022) ? "{} = T.var(\"{}\")" : "{} = T.{}()";
      w_.line(fmt::format(fmt::runtime(spelling), w_.name(symbol), name_of(symbol.dtype())));
    }
    if (w_.uses_globals) w_.line(fmt::format("{} = {}", w_.module_alias, w_.text.class_name));
    write_attributes(function_);
    w_.out += body;
    --w_.indent;
  }

 private:
  // --- Names.

  bool is_parameter(const std::string& name) const {
    return std::any_of(function_.params.begin(), function_.params.end(),
                       [&](const Var& param) { return identifier(param.name()) == identifier(name); });
  }

  // Callers know parameters by their names, also one that is called as the class is, or `_`.
  void name_parameters() {
    const auto is_alias = [&](const Var& param) { return param.name() == w_.module_alias; };
    const bool taken = std::any_of(function_.params.begin(), function_.params.end(), is_alias);
    if (taken && !w_.text.class_name.empty()) w_.module_alias = w_.text.class_name;
    if (!taken) w_.names.reserve(w_.module_alias);
    for (const Var& param : function_.params) {
      if (param.name() == "_" && !w_.names.holder("_")) w_.names.take(param.id(), "_");
      w_.name(param);
    }
  }

  // Whether the text may mean a new variable by the name from `position` on.
  bool available(const std::string& name, int position) const {
    if (!w_.names.used(name)) return true;
    const auto holder = w_.names.holder(name);
    if (!holder) return pending_.contains(name);
    return !fixed_.contains(*holder) && !order_.used(*holder, position, limit_, skipped_);
  }

  void give(const Var& var, const std::string& name) {
    if (nested_depth_ > 0) taken_.emplace_back(name, w_.names.holder(name));
    w_.names.take(var.id(), name);
  }

  // Names a variable that is bound at `position`.
  const std::string& name_bound(const Var& var, int position) {
    auto wanted = wanted_.find(var.id());
    const std::string hint = wanted != wanted_.end() ? wanted->second : identifier(var.name());
    if (hint != "_" && available(hint, position)) give(var, hint);
    return w_.name(var);
  }

  // A name for a result, which its ways may bind: free when the result is bound.
  std::string result_name(const Var* var, int position, const std::vector<std::string>& siblings) {
    std::string hint = var ? identifier(var->name()) : "gv";
    if (hint == "_") hint = "gv";
    const bool twice = std::find(siblings.begin(), siblings.end(), hint) != siblings.end();
    if (!twice && available(hint, position)) {
      if (!w_.names.used(hint)) {
        w_.names.reserve(hint);
        pending_.insert(hint);
      }
      return hint;
    }
    std::string name = w_.names.fresh(hint);
    pending_.insert(name);
    return name;
  }

  void name_by_parameter(std::uint64_t symbol, const Var& param) {
    w_.names.alias(NameTable::Kind::Scalar, symbol, w_.name(param));
    w_.declared.insert(symbol);
    w_.parameters.insert(symbol);
    fixed_.insert(param.id());
  }

  // A dimension variable that stands for a scalar parameter has its name and is declared by it.
  void name_scalar_parameters(const Function& function) {
    bool any = std::any_of(function.params.begin(), function.params.end(),
                           [](const Var& param) { return param.type().as<ScalarType>() != nullptr; });
    if (!any) return;
    const ScalarParameters scalars(function);
    for_each_symbol(function, [&](const ScalarVar& symbol) {
      if (auto param = scalars.of(symbol)) {
        name_by_parameter(symbol.id(), *param);
      }
    });
    for (const auto& [symbol, at] : twice_given(function.params))
      name_by_parameter(symbol.id(), function.params[at]);
  }

  // --- The function.

  void write_signature(const Function& function, const std::string& name) {
    name_scalar_parameters(function);
    w_.begin_line();
    w_.out += "@R.function";
    std::string options = function.pure ? "" : "pure=False";
    if (function.is_private) options += options.empty() ? "private=True" : ", private=True";
    if (!is_checked(function.attributes))
      options += options.empty() ? "check_well_formed=False" : ", check_well_formed=False";
    if (!options.empty()) w_.out += fmt::format("({})", options);
    w_.end_line();
    w_.begin_line();
    w_.out += fmt::format("def {}(", name);
    w_.signature = true;
    write_list(w_, function.params, [&](const Var& param) {
      w_.out += w_.name(param);
      w_.out += ": ";
      write_type(w_, param.type());
    });
    w_.out += ")";
    if (has_spelling(function.result_type)) {
      w_.out += " -> ";
      write_type(w_, function.result_type);
    }
    w_.signature = false;
    w_.out += ':';
    w_.end_line(function.comments);
  }

  void write_attributes(const Function& function) {
    const Attributes written = without_unchecked(function.attributes);
    if (written.empty()) return;
    w_.begin_line();
    w_.out += "R.func_attr(";
    write_dictionary(w_, written);
    w_.out += ")\n";
  }

  void write_body(const Function& function) {
    write_blocks(function.blocks);
    w_.comments_before(function.result_comments);
    w_.begin_line();
    w_.out += "return ";
    write_expr(w_, function.result);
    w_.end_line(function.result_comments);
  }

  void write_nested(const Binding& binding, const Function& function) {
    const std::string name = name_bound(binding.var(), order_.of(binding).begin);
    w_.line("# from tvm.script import relax as R");
    w_.out += '\n';
    w_.comments_before(function.comments);
    // Names that are only used around it may mean something else inside; afterwards they mean the old again.
    const TextRange range = order_.of(function);
    const int outer_limit = std::exchange(limit_, range.end);
    auto outer_taken = std::exchange(taken_, {});
    auto outer_skipped = std::exchange(skipped_, {});
    ++nested_depth_;
    for (const Var& param : function.params) name_bound(param, range.begin);
    write_signature(function, name);
    ++w_.indent;
    write_attributes(function);
    write_body(function);
    --w_.indent;
    --nested_depth_;
    for (auto taken = taken_.rbegin(); taken != taken_.rend(); ++taken) {
      if (taken->second) w_.names.set_holder(taken->first, taken->second);
    }
    taken_ = std::move(outer_taken);
    skipped_ = std::move(outer_skipped);
    limit_ = outer_limit;
  }

  // --- Blocks and bindings.

  void write_blocks(const std::vector<BindingBlock>& blocks) {
    for (const BindingBlock& block : blocks) write_block(block);
  }

  void write_block(const BindingBlock& block) {
    if (!block.dataflow) {
      for (std::size_t i = 0; i < block.bindings.size();) i += write_binding(block, i);
      return;
    }
    w_.comments_before(block.comments);
    w_.begin_line();
    w_.out += "with R.dataflow():";
    w_.end_line(block.comments);
    ++w_.indent;
    std::vector<Var> outputs;
    for (std::size_t i = 0; i < block.bindings.size();) i += write_binding(block, i);
    for (const Binding& binding : block.bindings) {
      if (!binding.var().dataflow()) outputs.push_back(binding.var());
    }
    w_.comments_before(block.end_comments);
    w_.begin_line();
    w_.out += "R.output(";
    write_list(w_, outputs, [&](const Var& var) { w_.out += w_.name(var); });
    w_.out += ')';
    w_.end_line(block.end_comments);
    --w_.indent;
  }

  bool unused(const Var& var) const { return order_.uses(var.id()) == 0; }

  // A void call that nobody refers to stands as a statement. An output of a dataflow block must have its
  // name.
  bool is_statement(const Binding& binding, bool dataflow) const {
    const Var& var = binding.var();
    bool listed = dataflow && !var.dataflow();
    const Expr& value = binding.value();
    return std::holds_alternative<VarBinding>(binding.kind) && var.type().is_void() && unused(var) &&
           !listed &&
           (value.as<OpCall>() || value.as<FunctionCall>() || value.as<CallTir>() || value.as<PackedCall>());
  }

  bool needs_annotation(const Binding& binding) const {
    const Type& type = binding.var().type();
    if (!has_spelling(type)) return false;
    const PackedCall* packed = binding.value().as<PackedCall>();
    const bool shows_type = binding.value().as<CallTir>() || (packed && packed->form == PackedForm::Dps);
    return !shows_type || !same_type(type, binding.value().type());
  }

  // Writes the binding, with the fields behind it that belong to it; returns how many bindings these are.
  std::size_t write_binding(const BindingBlock& block, std::size_t at) {
    const Binding& binding = block.bindings[at];
    poll_interrupt(binding.span);
    const Expr& value = binding.value();
    if (value.as<If>() || value.as<Loop>()) return write_control(block, at);
    if (const auto* nested = value.as<FunctionExpr>()) {
      write_nested(binding, *nested->function);
      return 1;
    }
    w_.comments_before(binding.comments);
    w_.begin_line();
    const Var& var = binding.var();
    // The value is written first: it may use the variable that gives its name away.
    std::string line = std::exchange(w_.out, {});
    if (const MatchCast* cast = std::get_if<MatchCast>(&binding.kind)) {
      w_.out += "R.match_cast(";
      write_expr(w_, cast->value);
      w_.out += ", ";
      write_type(w_, cast->type);
      w_.out += ')';
    } else {
      write_expr(w_, value);
    }
    std::string written = std::exchange(w_.out, std::move(line));
    if (!is_statement(binding, block.dataflow)) {
      bool thrown_away = var.name() == "_" && unused(var) && !w_.names.holder("_");
      w_.out += thrown_away ? "_" : name_bound(var, order_.of(binding).begin);
      if (needs_annotation(binding)) {
        w_.out += ": ";
        write_type(w_, var.type());
      }
      w_.out += " = ";
    }
    w_.out += written;
    w_.end_line(binding.comments);
    return 1;
  }

  // --- Ifs and loops.

  // What an if or a loop gives: the variables of its results, null for those that nobody takes.
  struct Results {
    std::vector<const Var*> vars;
    std::vector<std::string> names;
    std::size_t bindings = 1;  // with those that take fields
    bool whole = false;        // the tuple of all is used besides
  };

  Results results_of(const BindingBlock& block, std::size_t at, std::size_t count) {
    Results results;
    const Binding& binding = block.bindings[at];
    results.vars.assign(count, nullptr);
    if (count == 1) {
      results.vars[0] = &binding.var();
    } else if (count > 1) {
      std::size_t taken = 0;
      for (std::size_t i = at + 1; i < block.bindings.size(); ++i) {
        const auto* bound = std::get_if<VarBinding>(&block.bindings[i].kind);
        const auto* field = bound ? bound->value.as<TupleGet>() : nullptr;
        const Var* tuple = field ? field->tuple.as_var() : nullptr;
        if (!tuple || !(*tuple == binding.var()) || results.vars[static_cast<std::size_t>(field->index)])
          break;
        results.vars[static_cast<std::size_t>(field->index)] = &bound->var;
        ++taken;
      }
      results.bindings += taken;
      results.whole = order_.uses(binding.var().id()) > taken;
    }
    const int end = order_.of(binding).end;
    for (const Var* var : results.vars) results.names.push_back(result_name(var, end, results.names));
    return results;
  }

  std::size_t write_control(const BindingBlock& block, std::size_t at) {
    const Binding& binding = block.bindings[at];
    const If* branch = binding.value().as<If>();
    const Loop* loop = binding.value().as<Loop>();
    Results results =
        results_of(block, at, branch ? branch->then_region->results.size() : loop->initial.size());
    if (branch)
      write_if(binding, *branch, results.names, "if ");
    else
      write_loop(binding, *loop, results.names);
    finish(binding, results);
    return results.bindings;
  }

  // From here on the results have their names.
  void finish(const Binding& binding, const Results& results) {
    for (std::size_t i = 0; i < results.vars.size(); ++i) {
      pending_.erase(results.names[i]);
      if (results.vars[i]) give(*results.vars[i], results.names[i]);
    }
    if (!results.whole) return;
    w_.begin_line();
    w_.out += name_bound(binding.var(), order_.of(binding).end) + " = (";
    write_list(w_, results.names, [&](const std::string& name) { w_.out += name; });
    w_.out += ")\n";
  }

  void write_if(const Binding& binding, const If& branch, const std::vector<std::string>& names,
                std::string_view word) {
    w_.comments_before(binding.comments);
    w_.begin_line();
    w_.out += word;
    write_expr(w_, branch.condition);
    w_.out += ':';
    w_.end_line(binding.comments);
    // A way that keeps the value from before says nothing, if the other way binds the name.
    auto keeps = [&](const Region& region, std::size_t i) {
      const Var* var = region.results[i].as_var();
      return var && w_.names.holder(names[i]) == std::optional(var->id());
    };
    std::vector<bool> implicit(names.size());
    for (std::size_t i = 0; i < names.size(); ++i)
      implicit[i] = keeps(*branch.then_region, i) != keeps(*branch.else_region, i);
    std::vector<std::optional<std::uint64_t>> holders;
    for (const std::string& name : names) holders.push_back(w_.names.holder(name));
    skipped_.push_back(order_.of(*branch.else_region));
    write_region(*branch.then_region, names, implicit);
    skipped_.pop_back();
    for (std::size_t i = 0; i < names.size(); ++i) w_.names.set_holder(names[i], holders[i]);
    const Region& other = *branch.else_region;
    if (other.blocks.empty() && !other.end_comments &&
        std::equal(implicit.begin(), implicit.end(), other.results.begin(),
                   [&](bool is_implicit, const Expr& result) { return is_implicit && result.as_var(); }) &&
        all_kept(other, names)) {
      return;
    }
    if (write_elif(other, names)) return;
    w_.line("else:");
    write_region(other, names, implicit);
  }

  bool all_kept(const Region& region, const std::vector<std::string>& names) const {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Var* var = region.results[i].as_var();
      if (!var || w_.names.holder(names[i]) != std::optional(var->id())) return false;
    }
    return true;
  }

  // An else that is nothing but an if with the same results.
  bool write_elif(const Region& region, const std::vector<std::string>& names) {
    if (region.blocks.size() != 1 || region.blocks[0].dataflow || region.end_comments) return false;
    const std::vector<Binding>& bindings = region.blocks[0].bindings;
    const If* inner = bindings[0].value().as<If>();
    if (!inner || inner->then_region->results.size() != names.size()) return false;
    if (bindings.size() != (names.size() > 1 ? names.size() + 1 : 1)) return false;
    std::vector<const Var*> vars;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Binding& taker = bindings[names.size() > 1 ? i + 1 : 0];
      const auto* field = taker.value().as<TupleGet>();
      if (names.size() > 1 && (!field || field->index != static_cast<int>(i))) return false;
      const Var* result = region.results[i].as_var();
      if (!result || !(*result == taker.var())) return false;
      vars.push_back(&taker.var());
    }
    if (names.empty() && !bindings[0].var().type().is_void()) return false;
    write_if(bindings[0], *inner, names, "elif ");
    for (std::size_t i = 0; i < names.size(); ++i) give(*vars[i], names[i]);
    return true;
  }

  // A body, then a line for each result that its bindings have not given its name.
  void write_region(const Region& region, const std::vector<std::string>& names,
                    const std::vector<bool>& implicit) {
    std::unordered_set<std::uint64_t> inside;
    for (const BindingBlock& block : region.blocks) {
      for (const Binding& binding : block.bindings) inside.insert(binding.var().id());
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Var* var = region.results[i].as_var();
      const std::string& name = names[i];
      const bool named_so =
          var && inside.contains(var->id()) &&
          (name == identifier(var->name()) || name.starts_with(identifier(var->name()) + "_"));
      if (named_so) wanted_[var->id()] = name;
    }
    ++w_.indent;
    const std::size_t before = w_.out.size();
    write_blocks(region.blocks);
    w_.comments_before(region.end_comments);
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Var* var = region.results[i].as_var();
      const bool named = var && w_.names.holder(names[i]) == std::optional(var->id());
      if (!named || (!inside.contains(var->id()) && !implicit[i])) missing.push_back(i);
    }
    write_aliases(missing, names, region.results);
    if (w_.out.size() == before) w_.line("pass");
    --w_.indent;
  }

  // `a = x` lines; all at once when one would change what another reads.
  void write_aliases(const std::vector<std::size_t>& which, const std::vector<std::string>& names,
                     const std::vector<Expr>& values) {
    bool clash = false;
    for (std::size_t later = 1; later < which.size(); ++later) {
      for_each_expr(values[which[later]], [&](const Expr& expr) {
        const Var* var = expr.as_var();
        for (std::size_t i = 0; var && i < later; ++i) clash |= w_.name(*var) == names[which[i]];
      });
    }
    if (clash) {
      w_.begin_line();
      write_list(w_, which, [&](std::size_t i) { w_.out += names[i]; });
      w_.out += " = ";
      write_list(w_, which, [&](std::size_t i) { write_expr(w_, values[i]); });
      w_.end_line();
      return;
    }
    for (const std::size_t i : which) {
      w_.begin_line();
      w_.out += names[i];
      if (has_spelling(values[i].type())) {
        w_.out += ": ";
        write_type(w_, values[i].type());
      }
      w_.out += " = ";
      write_expr(w_, values[i]);
      w_.end_line();
    }
  }

  void write_loop(const Binding& binding, const Loop& loop, std::vector<std::string>& names) {
    w_.text.uses_extensions = true;
    const TextRange range = order_.of(binding);
    // The carried names must mean the initial values when the loop begins.
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Var* initial = loop.initial[i].as_var();
      const auto holder = w_.names.holder(names[i]);
      const bool own = initial && holder == std::optional(initial->id()) && !fixed_.contains(*holder) &&
                       !order_.used(*holder, range.begin, limit_, skipped_);
      if (own) continue;
      if (!pending_.contains(names[i]) && !available(names[i], range.begin - 1)) {
        names[i] = w_.names.fresh(names[i]);
        pending_.insert(names[i]);
      }
      missing.push_back(i);
    }
    write_aliases(missing, names, loop.initial);
    w_.comments_before(binding.comments);
    w_.begin_line();
    if (loop.condition) {
      for (std::size_t i = 0; i < names.size(); ++i)
        w_.names.alias(NameTable::Kind::Graph, loop.condition->params[i].id(), names[i]);
      for (const BindingBlock& block : loop.condition->blocks) {
        for (const Binding& inner : block.bindings) w_.inlined.emplace(inner.var().id(), inner.value());
      }
      w_.out += "while ";
      write_expr(w_, loop.condition->results[0]);
    } else {
      w_.out += "for " + w_.name(loop.index) + " in range(";
      w_.declared.insert(loop.index.id());
      const auto is = [](const Expr& bound, std::int64_t value) {
        const auto* literal = bound.as<ScalarValueExpr>();
        return literal && literal->value.as_int() == value;
      };
      write_bound(loop.begin, is(loop.begin, 0) && is(loop.step, 1));
      write_bound(loop.end, false);
      write_bound(loop.step, is(loop.step, 1));
      w_.out.resize(w_.out.size() - 2);
      w_.out += ')';
    }
    w_.out += ':';
    w_.end_line(binding.comments);
    for (std::size_t i = 0; i < names.size(); ++i) give(loop.body->params[i], names[i]);
    write_region(*loop.body, names, std::vector<bool>(names.size(), false));
    if (loop.index.defined()) w_.names.forget(loop.index);
  }

  void write_bound(const Expr& bound, bool left_out) {
    if (left_out) return;
    const auto* literal = bound.as<ScalarValueExpr>();
    if (literal && !is_named_by_parameter(w_, literal->value))
      write_scalar(w_, literal->value);
    else
      write_expr(w_, bound);
    w_.out += ", ";
  }

  Writer& w_;
  const Function& function_;
  UseOrder order_;
  int limit_ = std::numeric_limits<int>::max();
  int nested_depth_ = 0;
  std::vector<TextRange> skipped_;                         // ways not taken from here
  std::unordered_set<std::string> pending_;                // names given to results that are not bound yet
  std::unordered_set<std::uint64_t> fixed_;                // variables whose name a symbol shares
  std::unordered_map<std::uint64_t, std::string> wanted_;  // names of results for the variables of regions
  std::vector<std::pair<std::string, std::optional<std::uint64_t>>> taken_;  // inside a nested function
};

}  // namespace

// A parameter that is called like one of the words keeps its name where the text does without the word.
void write_function(Writer& w, const Function& function) {
  Writer attempt(w.text);
  attempt.indent = w.indent;
  for (const std::string& word : words_with_a_meaning(w.text)) {
    const auto is_word = [&](const Var& param) { return param.name() == word; };
    if (std::any_of(function.params.begin(), function.params.end(), is_word)) attempt.kept_words.insert(word);
  }
  if (attempt.kept_words.empty()) return FunctionWriter(w, function).write();
  FunctionWriter(attempt, function).write();
  const bool names_class = attempt.uses_globals && attempt.kept_words.contains(w.text.class_name);
  const bool needed =
      names_class || std::any_of(attempt.kept_words.begin(), attempt.kept_words.end(),
                                 [&](const std::string& word) { return means_something(attempt.out, word); });
  if (needed) return FunctionWriter(w, function).write();
  w.out += attempt.out;
}

}  // namespace relish::printing
