// The function with all its values as results, and the way down into what it calls.
#include "train/not_finite_origin.h"

#include <unordered_map>

#include "ir/rewriting/observed.h"
#include "train/finite.h"

namespace relish {
namespace {

constexpr int deepest_call = 100;

class OriginSearch {
 public:
  OriginSearch(Evaluator& evaluator, const ModulePtr& module) : evaluator_(evaluator), module_(module) {}

  std::optional<NotFiniteOrigin> search(const std::string& name, const std::vector<Value>& arguments,
                                        int depth) {
    const FunctionPtr source = module_->function(name);
    if (!source || depth > deepest_call) return std::nullopt;
    auto module = std::make_shared<Module>(*module_);
    const std::string observer = module->fresh_name(name + "_values");
    const ObservedFunction made = observed_function(*source, observer);
    if (made.bindings.empty()) return std::nullopt;
    module->set(std::make_shared<const Function>(made.function));
    const Value values = evaluator_.call(module, observer, arguments);
    std::unordered_map<std::uint64_t, Value> known;
    for (std::size_t i = 0; i < arguments.size(); ++i) known[made.function.params[i].id()] = arguments[i];
    for (std::size_t i = 0; i < made.bindings.size(); ++i) {
      const Binding& binding = made.bindings[i];
      const Value& value = values.fields()[i];
      known[binding.var().id()] = value;
      if (!path_of_not_finite(value)) continue;
      if (const auto* call = binding.value().as<FunctionCall>())
        if (auto inner = search_callee(*call, known, depth)) return inner;
      const Span span = binding.value().span().known() ? binding.value().span() : binding.span;
      return NotFiniteOrigin{binding.var().name(), name, span};
    }
    return std::nullopt;
  }

 private:
  std::optional<NotFiniteOrigin> search_callee(const FunctionCall& call,
                                               const std::unordered_map<std::uint64_t, Value>& known,
                                               int depth) {
    const auto* callee = call.callee.as<GlobalRef>();
    if (!callee) return std::nullopt;
    std::vector<Value> arguments;
    for (const Expr& arg : call.args) {
      const std::optional<Value> value = value_of(arg, known);
      if (!value) return std::nullopt;
      arguments.push_back(*value);
    }
    return search(callee->name, arguments, depth + 1);
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
    std::vector<Value> fields;
    for (const Expr& field : literal->fields) {
      std::optional<Value> value = value_of(field, known);
      if (!value) return std::nullopt;
      fields.push_back(std::move(*value));
    }
    return Value::tuple(std::move(fields));
  }

  Evaluator& evaluator_;
  const ModulePtr& module_;
};

}  // namespace

std::optional<NotFiniteOrigin> find_not_finite_origin(Evaluator& evaluator, const ModulePtr& module,
                                                      const std::string& function,
                                                      const std::vector<Value>& arguments) {
  return OriginSearch(evaluator, module).search(function, arguments, 0);
}

}  // namespace relish
