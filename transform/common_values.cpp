// Values are found by a text of theirs in which variables, symbols and large constants stand by identity.
#include "transform/common_values.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "transform/binding_replacer.h"
#include "transform/dead_code.h"

namespace relish {
namespace {

// Constants of so many bytes are compared by what they hold, larger ones by where they hold it.
constexpr std::int64_t small_constant = 64;

// The text by which values are equal; nothing for a value that is not looked for.
class ValueKey {
 public:
  static std::optional<std::string> of(const Expr& value) {
    ValueKey key;
    if (!key.add_value(value)) return std::nullopt;
    std::vector<ScalarVar> symbols;
    collect_vars(value.type(), symbols);
    key.add_text(print(value.type()));
    key.add_symbols(symbols);
    return std::move(key.text_);
  }

 private:
  bool add_value(const Expr& value) {
    if (const auto* call = value.as<OpCall>()) {
      add_text(call->op->name);
      for (const auto& [name, attribute] : call->attributes) add_text(name + "=" + print(attribute));
      return add_all(call->args);
    }
    if (const auto* call = value.as<CallTir>()) {
      if (!call->inplace_indices.empty()) return false;
      add_text(call->tuple_result ? "call_tir of several" : "call_tir");
      add_text(call->gradient_name);
      for (const auto& [name, attribute] : call->gradient_arguments) add_text(name + "=" + print(attribute));
      return add_leaf(call->callee) && add_all(call->args);
    }
    if (const auto* call = value.as<FunctionCall>()) {
      add_text("call");
      return add_leaf(call->callee) && add_all(call->args);
    }
    if (const auto* get = value.as<TupleGet>()) {
      add_text(fmt::format("field {}", get->index));
      return add_leaf(get->tuple);
    }
    return false;
  }

  bool add_all(const std::vector<Expr>& leaves) {
    for (const Expr& leaf : leaves)
      if (!add_leaf(leaf)) return false;
    return true;
  }

  bool add_leaf(const Expr& leaf) {
    if (const Var* var = leaf.as_var()) {
      add_text(fmt::format("%{}", var->id()));
    } else if (const auto* held = leaf.as<Constant>()) {
      add_constant(held->value);
    } else if (const auto* made = leaf.as<TupleExpr>()) {
      add_text("(");
      if (!add_all(made->fields)) return false;
      add_text(")");
    } else if (const auto* global = leaf.as<GlobalRef>()) {
      add_text("@" + global->name);
    } else if (const auto* shape = leaf.as<ShapeLiteral>()) {
      for (const Scalar& dim : shape->dims) add_scalar(dim);
      add_text("shape");
    } else if (const auto* scalar = leaf.as<ScalarValueExpr>()) {
      add_scalar(scalar->value);
    } else if (const auto* text = leaf.as<StringLiteral>()) {
      add_text("\"" + text->value);
    } else if (const auto* dtype = leaf.as<DTypeLiteral>()) {
      add_text(name_of(dtype->value));
    } else {
      return false;
    }
    return true;
  }

  void add_constant(const Tensor& value) {
    add_text(fmt::format("{} ({})", name_of(value.dtype()), fmt::join(value.shape(), ", ")));
    const auto* bytes = static_cast<const char*>(value.data());
    if (value.byte_size() <= small_constant)
      add_text({bytes, static_cast<std::size_t>(value.byte_size())});
    else
      add_text(fmt::format("{}", fmt::ptr(bytes)));
  }

  void add_scalar(const Scalar& scalar) {
    std::vector<ScalarVar> symbols;
    collect_vars(scalar, symbols);
    add_text(print(scalar));
    add_symbols(symbols);
  }

  // Names tell symbols apart in a text, but not two of one name.
  void add_symbols(const std::vector<ScalarVar>& symbols) {
    for (const ScalarVar& symbol : symbols) add_text(fmt::format("${}", symbol.id()));
  }

  // With its length, so that no two lists of texts are one.
  void add_text(std::string_view text) {
    text_ += fmt::format("{}:", text.size());
    text_ += text;
  }

  std::string text_;
};

class Finder : public BindingReplacer {
 protected:
  void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    const auto* plain = std::get_if<VarBinding>(&mapped.kind);
    std::optional<std::string> key;
    if (plain && !is_leaf(plain->value) && !has_effects(plain->value)) key = ValueKey::of(plain->value);
    if (!key) return keep(std::move(mapped), into);
    if (const Var* known = find(*key)) return take_over(std::move(mapped), dataflow, Expr(*known), into);
    remember(*key, mapped.var());
    keep(std::move(mapped), into);
  }

  void enter_body(const Function* function) override {
    bodies_.emplace_back();
    of_block_.clear();
    // What stands around a nested function it would have to capture.
    if (function) bodies_.back().around.swap(values_);
    bodies_.back().is_function = function != nullptr;
  }
  void leave_body(const Function*) override {
    Body& body = bodies_.back();
    if (body.is_function)
      values_.swap(body.around);
    else
      for (const std::string& key : body.added) values_.erase(key);
    bodies_.pop_back();
    of_block_.clear();
  }
  void enter_block(const BindingBlock&) override { of_block_.clear(); }

 private:
  using Values = std::unordered_map<std::string, Var>;
  struct Body {
    std::vector<std::string> added;
    Values around;  // of a function: what was known before it
    bool is_function = false;
  };

  const Var* find(const std::string& key) const {
    for (const Values* values : {&of_block_, &values_}) {
      const auto found = values->find(key);
      if (found != values->end()) return &found->second;
    }
    return nullptr;
  }

  void remember(const std::string& key, const Var& var) {
    if (var.dataflow()) {
      of_block_.emplace(key, var);
    } else {
      values_.emplace(key, var);
      bodies_.back().added.push_back(key);
    }
  }

  std::vector<Body> bodies_;  // around what is looked at
  Values values_;             // in sight, but for
  Values of_block_;           // those that only the present dataflow block sees
};

}  // namespace

Module eliminate_common_values(const Module& module) {
  Module result = module;
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    const auto* function = std::get_if<FunctionPtr>(&result.functions[i]);
    if (!function) continue;
    const FunctionPtr mapped = Finder().map(*function);
    if (mapped != *function) result.functions.replace(i, eliminate_dead_bindings(mapped));
  }
  verify_after(result, "cse");
  return result;
}

}  // namespace relish
