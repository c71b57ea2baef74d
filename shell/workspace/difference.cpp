// Comparison by names, of functions by their lines, of tensors by their elements.
#include "shell/workspace/difference.h"

#include <cmath>
#include <map>
#include <set>

#include <fmt/ranges.h>

#include "ir/printer/printer.h"
#include "shell/script/unread_value.h"
#include "support/interrupt.h"

namespace relish {
namespace {

std::string text_of_function(const GlobalFunction& function) {
  PrintOptions options;
  options.comments = false;  // they make no difference
  if (const auto* graph = std::get_if<FunctionPtr>(&function)) return print(**graph, options);
  if (const auto* loops = std::get_if<PrimFuncPtr>(&function)) return print(**loops, options);
  const ExternFunction& external = *std::get<ExternFunctionPtr>(function);
  return fmt::format("{} = R.ExternFunc(\"{}\")\n", external.name, external.symbol);
}

GlobalFunction with_name(const GlobalFunction& function, const std::string& name) {
  return std::visit(
      [&]<class Held>(const std::shared_ptr<const Held>& held) -> GlobalFunction {
        Held other = *held;
        other.name = name;
        return std::make_shared<const Held>(std::move(other));
      },
      function);
}

std::string entry_name(std::string_view prefix, const std::string& name) {
  return prefix.empty() ? name : fmt::format("{}.{}", prefix, name);
}

class Finder {
 public:
  Difference take() { return std::move(result_); }

  void modules(const Module& before, const Module& after, std::string_view prefix);
  void functions(const GlobalFunction& before, const GlobalFunction& after, const std::string& name);
  void values(const ScriptValue& before, const ScriptValue& after, const std::string& name);
  void removed(const std::string& name) { result_.removed.push_back(name); }
  void added(const std::string& name) { result_.added.push_back(name); }

 private:
  void tensors(const Tensor& before, const Tensor& after, const std::string& name);
  void change(const std::string& name, const ScriptValue& before, const ScriptValue& after, std::string note);
  void dicts(const ScriptDict& before, const ScriptDict& after, const std::string& name);

  Difference result_;
};

void Finder::functions(const GlobalFunction& before, const GlobalFunction& after, const std::string& name) {
  if (before == after) return;
  FunctionDifference found = function_difference(text_of_function(before), text_of_function(after));
  for (auto& [old, now] : found.renamed)
    result_.renamed.emplace_back(entry_name(name, old), entry_name(name, now));
  if (!found.hunks.empty()) {
    result_.changed.push_back({name, std::move(found.hunks), ""});
  } else if (!is_same_function(before, after)) {
    // What the text does not show.
    result_.changed.push_back({name, {}, "differs in what its text does not show"});
  }
}

void Finder::modules(const Module& before, const Module& after, std::string_view prefix) {
  std::map<std::string_view, const GlobalFunction*> old, fresh;
  for (const GlobalFunction& function : before.functions) old[name_of(function)] = &function;
  for (const GlobalFunction& function : after.functions) fresh[name_of(function)] = &function;
  // A function that is there under another name: told by its text without the name.
  std::map<std::string, const GlobalFunction*> gone;
  for (const GlobalFunction& function : before.functions)
    if (!fresh.contains(name_of(function))) gone[text_of_function(with_name(function, "f"))] = &function;
  std::set<const GlobalFunction*> renamed;
  for (const GlobalFunction& function : after.functions) {
    const std::string name = entry_name(prefix, name_of(function));
    if (const auto known = old.find(name_of(function)); known != old.end()) {
      functions(*known->second, function, name);
      continue;
    }
    const auto same = gone.empty() ? gone.end() : gone.find(text_of_function(with_name(function, "f")));
    if (same == gone.end()) {
      added(name);
      continue;
    }
    result_.renamed.emplace_back(entry_name(prefix, name_of(*same->second)), name);
    result_.renamed_function = true;
    renamed.insert(same->second);
    gone.erase(same);
  }
  for (const GlobalFunction& function : before.functions) {
    const bool stays = fresh.contains(name_of(function)) || renamed.contains(old[name_of(function)]);
    if (!stays) removed(entry_name(prefix, name_of(function)));
  }
}

// With as many digits as its dtype tells apart.
std::string element_text(const Tensor& tensor, std::int64_t at) {
  const double value = tensor.get_double(at);
  return tensor.dtype() == DType::Float64 || !is_float(tensor.dtype())
             ? fmt::format("{}", value)
             : fmt::format("{}", static_cast<float>(value));
}

void Finder::tensors(const Tensor& before, const Tensor& after, const std::string& name) {
  if (before.same_storage(after) && before.shape() == after.shape()) return;
  if (before.dtype() != after.dtype() || before.shape() != after.shape())
    return change(name, before, after, "");
  if (identical(before, after)) return;
  std::int64_t count = 0, at = -1;
  double most = -1;
  in_polled_parts(before.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double a = before.get_double(i), b = after.get_double(i);
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      ++count;
      const double difference = std::isnan(a - b) ? HUGE_VAL : std::abs(a - b);
      if (difference > most) most = difference, at = i;
    }
  });
  if (at < 0) return change(name, before, after, "differs in bits only");
  std::vector<std::int64_t> index;
  std::int64_t rest = at;
  for (std::size_t dim = before.shape().size(); dim-- > 0;) {
    index.insert(index.begin(), rest % before.shape()[dim]);
    rest /= before.shape()[dim];
  }
  change(name, before, after,
         fmt::format("{} of {} elements differ, most at ({}): {} -> {}", count, before.size(),
                     fmt::join(index, ", "), element_text(before, at), element_text(after, at)));
}

void Finder::change(const std::string& name, const ScriptValue& before, const ScriptValue& after,
                    std::string note) {
  const auto brief = [](const ScriptValue& value) {
    return value.tensor() ? describe(value) : brief_text(value);
  };
  Change result{name, {}, std::move(note)};
  if (result.note.empty()) result.hunks.push_back({1, 1, {brief(before)}, {brief(after)}, false});
  result_.changed.push_back(std::move(result));
}

void Finder::dicts(const ScriptDict& before, const ScriptDict& after, const std::string& name) {
  std::map<std::string, const ScriptValue*> fresh;
  for (const auto& [key, value] : after.items) fresh[text_of(key)] = &value;
  for (const auto& [key, value] : before.items) {
    const std::string entry = entry_name(name, text_of(key));
    const auto found = fresh.find(text_of(key));
    if (found == fresh.end()) {
      removed(entry);
      continue;
    }
    values(value, *found->second, entry);
    fresh.erase(found);
  }
  for (const auto& [key, value] : after.items)
    if (fresh.contains(text_of(key))) added(entry_name(name, text_of(key)));
}

void Finder::values(const ScriptValue& before, const ScriptValue& after, const std::string& name) {
  const auto* module = before.as<ModulePtr>();
  const auto* function = before.as<FunctionReference>();
  if (module && after.as<ModulePtr>()) {
    modules(**module, **after.as<ModulePtr>(), name);
  } else if (function && after.as<FunctionReference>()) {
    const auto* other = after.as<FunctionReference>();
    functions(*function->module->find(function->name), *other->module->find(other->name),
              name.empty() ? function->name : name);
  } else if (before.tensor() && after.tensor()) {
    tensors(*before.tensor(), *after.tensor(), name);
  } else if (before.dictionary() && after.dictionary()) {
    dicts(*before.dictionary(), *after.dictionary(), name);
  } else if (before.sequence() && after.sequence() &&
             before.sequence()->items.size() == after.sequence()->items.size()) {
    for (std::size_t i = 0; i < before.sequence()->items.size(); ++i)
      values(before.sequence()->items[i], after.sequence()->items[i], fmt::format("{}[{}]", name, i));
  } else if (!is_same_value(before, after)) {
    change(name, before, after, "");
  }
}

}  // namespace

Difference difference_of(const ScriptValue& before, const ScriptValue& after, std::string_view name) {
  Finder finder;
  finder.values(before, after, std::string(name));
  return finder.take();
}

Difference difference_of(const State& before, const State& after) {
  Finder finder;
  after.names.for_each_difference(
      before.names, [&](const std::string& name, const ScriptValue* here, const ScriptValue* there) {
        if (!here) return finder.removed(name);
        if (!there) return finder.added(name);
        finder.values(read_value(*there), read_value(*here), name);
      });
  const auto option = [&](std::string_view name, const ScriptValue& was, const ScriptValue& is) {
    finder.values(was, is, fmt::format(":set {}", name));
  };
  const StateOptions& was = before.options;
  const StateOptions& is = after.options;
  option("tier", was.tier, is.tier);
  option("threads", was.threads, is.threads);
  option("seed", static_cast<std::int64_t>(was.seed), static_cast<std::int64_t>(is.seed));
  return finder.take();
}

}  // namespace relish
