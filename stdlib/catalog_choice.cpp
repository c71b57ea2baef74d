// How options choose the functions of a text: suffixes of the options that are on, in the order of the
// catalog, make the function's name; numbers are handed to it by name.
#include <algorithm>
#include <cmath>
#include <functional>

#include "stdlib/catalog.h"
#include "stdlib/embedded.h"
#include "support/choices.h"
#include "support/failure.h"
#include "support/suggest.h"
#include "support/value_text.h"

namespace relish {
namespace {

[[noreturn]] void refuse(std::string_view owner, std::string_view id, std::string message) {
  fail(ErrorClass::Usage, {}, id, fmt::format("{}: {}", owner, std::move(message)));
}

bool has_function(std::string_view text, const std::string& name) {
  return embedded_text(text).value().find("def " + name + "(") != std::string_view::npos;
}

// The options of one entry with the values given for them.
class Options {
 public:
  // Refuses options that the entry lacks, and the lack of those that it needs.
  // `others_with`: "; write …" for one that others have; empty for the rest.
  Options(
      std::string_view owner, std::span<const CatalogOption> options, const Attributes& given,
      const std::function<std::string(std::string_view)>& others_with = [](auto) { return std::string(); })
      : owner_(owner), options_(options), given_(given) {
    for (const auto& [name, value] : given) {
      if (find(name)) continue;
      std::vector<std::string> names;
      for (const CatalogOption& option : options) names.emplace_back(option.name);
      refuse(owner, "option.unknown",
             fmt::format("unknown option '{}'{}{}", name, among_choices(name, names), others_with(name)));
    }
    for (const CatalogOption& option : options) {
      if (option.required && !find_attribute(given, option.name))
        refuse(owner, "option.missing",
               fmt::format("the option {0} is missing; write {1}({0}=…)", option.name, owner));
    }
  }

  bool is_given(const CatalogOption& option) const { return find_attribute(given_, option.name) != nullptr; }

  double number(const CatalogOption& option) const {
    const Attribute* value = find_attribute(given_, option.name);
    const double result = value ? real(option, *value) : declared(option.fallback);
    check_range(option, result);
    if (option.type == "int" && result != std::trunc(result))
      refuse(owner_, "option.value", fmt::format("{} is {}, expected an int", option.name, result));
    return result;
  }

  std::pair<double, double> pair(const CatalogOption& option) const {
    const Attribute* value = find_attribute(given_, option.name);
    if (!value) {
      const std::vector<std::string_view> numbers =
          split_at_commas(option.fallback.substr(1, option.fallback.size() - 2));
      return {declared(numbers.at(0)), declared(numbers.at(1))};
    }
    const auto* list = value->as<AttributeList>();
    if (!list || list->size() != 2)
      refuse(owner_, "option.value", fmt::format("{} must be two numbers (a, b)", option.name));
    const std::pair<double, double> result = {real(option, (*list)[0]), real(option, (*list)[1])};
    check_range(option, result.first);
    check_range(option, result.second);
    return result;
  }

  std::int64_t integer(const CatalogOption& option) const {
    const Attribute* value = find_attribute(given_, option.name);
    if (!value) return static_cast<std::int64_t>(declared(option.fallback));
    if (const auto* whole = value->as<std::int64_t>()) return *whole;
    refuse(owner_, "option.value", fmt::format("{} must be an integer", option.name));
  }

  bool flag(const CatalogOption& option) const {
    const Attribute* value = find_attribute(given_, option.name);
    if (!value) return option.fallback == "True";
    if (const bool* flag = value->as<bool>()) return *flag;
    refuse(owner_, "option.value", fmt::format("{} must be True or False", option.name));
  }

  // One of the words of the option's type.
  std::string word(const CatalogOption& option) const {
    const Attribute* value = find_attribute(given_, option.name);
    if (!value) return std::string(option.fallback);
    // A bare none is read as no value, which is what it means here too.
    const std::string text = value->as<std::string>() ? *value->as<std::string>()
                             : value->is_none()       ? "none"
                                                      : "";
    std::vector<std::string> words;
    for (std::string_view rest = option.type; !rest.empty();) {
      const std::size_t bar = rest.find('|');
      words.emplace_back(rest.substr(0, bar));
      rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
    }
    if (std::find(words.begin(), words.end(), text) != words.end()) return text;
    std::string listed = words[0];
    for (std::size_t i = 1; i < words.size(); ++i)
      listed += (i + 1 < words.size() ? ", " : " or ") + words[i];
    refuse(owner_, "option.value",
           fmt::format("{} must be {}{}", option.name, listed, did_you_mean(text, words)));
  }

  const CatalogOption* find(std::string_view name) const {
    const auto found = std::find_if(options_.begin(), options_.end(),
                                    [&](const CatalogOption& o) { return o.name == name; });
    return found == options_.end() ? nullptr : &*found;
  }

  bool tvm() const {
    const CatalogOption* compat = find("compat");
    return compat && word(*compat) == "tvm";
  }

  std::string_view owner() const { return owner_; }

 private:
  // A default. The texts are ours: what is no number is a defect of them.
  static double declared(std::string_view text) {
    const std::optional<double> value = real_number(text);
    RELISH_CHECK(value.has_value(), std::string(text));
    return *value;
  }

  double real(const CatalogOption& option, const Attribute& value) const {
    if (const auto* real = value.as<double>(); real && std::isfinite(*real)) return *real;
    if (const auto* integer = value.as<std::int64_t>()) return static_cast<double>(*integer);
    if (const auto* real = value.as<double>())
      refuse(owner_, "option.value", fmt::format("{} is {}, expected a finite number", option.name, *real));
    refuse(owner_, "option.value", fmt::format("{} must be a finite number", option.name));
  }

  void check_range(const CatalogOption& option, double value) const {
    if (option.positive ? value <= 0 : value < 0 && !option.any_sign) {
      refuse(owner_, "option.value",
             fmt::format("{} is {}, expected {}", option.name, value,
                         option.positive ? "more than 0" : "at least 0"));
    }
    if (option.below ? value >= option.most : value > option.most) {
      refuse(owner_, "option.value",
             fmt::format("{} is {}, expected {} {}", option.name, value,
                         option.below ? "less than" : "at most", option.most));
    }
  }

  std::string_view owner_;
  std::span<const CatalogOption> options_;
  const Attributes& given_;
};

// Name and numbers of a function, as the options are gathered.
struct Gathered {
  std::string suffixes;
  std::vector<std::string> states;
  std::vector<std::string> on;  // options that chose something
  std::vector<std::pair<std::string, double>> constants;
};

void turn_on(const CatalogOption& option, Gathered& into) {
  if (!option.suffix.empty()) into.on.emplace_back(option.name);
  into.suffixes += option.suffix;
  if (!option.state.empty()) into.states.emplace_back(option.state);
}

void gather(const Options& options, const CatalogOption& option, Gathered& into) {
  if (option.use == OptionUse::Variant) {
    if (options.flag(option)) turn_on(option, into);
  } else if (option.use == OptionUse::Constant) {
    const double value = options.number(option);
    // Without the term that it scales, so that the numbers are those of the plain rule.
    if (value == 0 && !option.suffix.empty()) return;
    turn_on(option, into);
    into.constants.emplace_back(option.name, value);
  } else if (option.use == OptionUse::Pair) {
    const auto [first, second] = options.pair(option);
    const std::size_t space = option.suffix.find(' ');
    into.constants.emplace_back(option.suffix.substr(0, space), first);
    into.constants.emplace_back(option.suffix.substr(space + 1), second);
  }
}

[[noreturn]] void refuse_together(const Options& options, std::vector<std::string> names) {
  if (options.tvm()) names.emplace_back("compat=tvm");
  refuse(options.owner(), "option.together",
         fmt::format("the options {} do not go together", fmt::join(names, " and ")));
}

// The function of that name, which is `base` with suffixes, as TVM means it when that is asked for and the
// text tells them apart.
std::string chosen_function(const Options& options, std::string_view text, const std::string& base,
                            const std::string& name, const Gathered& gathered) {
  if (options.tvm() && has_function(text, name + "_tvm")) return name + "_tvm";
  const bool differs = options.tvm() && has_function(text, base + "_tvm");
  if (has_function(text, name) && !differs) return name;
  refuse_together(options, gathered.on);
}

}  // namespace

LossChoice choose_loss(const LossEntry& loss, const Attributes& given, int rank) {
  const Options options(loss.name, loss.options, given);
  LossChoice choice;
  choice.text = loss.text;
  choice.extra = {"targets"};
  Gathered gathered;
  std::string reduction;
  for (const CatalogOption& option : loss.options) {
    gather(options, option, gathered);
    if (option.use == OptionUse::Reduction) reduction = options.word(option);
    if (option.use == OptionUse::Attribute)
      choice.call_attributes.emplace_back(std::string(option.name), options.integer(option));
    if (option.name == "weights" && options.flag(option)) choice.extra.emplace_back("weights");
  }
  // TVM's losses have no such terms.
  for (const CatalogOption& option : loss.options) {
    const bool term = option.use == OptionUse::Constant && !option.suffix.empty();
    if (term && options.tvm() && options.number(option) != 0)
      refuse_together(options, {std::string(option.name)});
  }
  choice.scalar = reduction != "none";
  choice.constants = gathered.constants;

  std::string name = std::string(loss.name) + gathered.suffixes;
  constexpr int operator_rank = 4;  // of the predictions of nn.nll_loss, the most
  if (loss.classes && rank > 2) {
    const bool positions = has_function(loss.text, name + "_positions") ||
                           has_function(loss.text, name + "_positions_" + reduction);
    choice.flatten = positions ? rank > 3 : loss.parts == LossParts::Operator && rank > operator_rank;
    if (positions) name += "_positions";
  }
  if (loss.classes && rank > 0)
    choice.call_attributes.emplace_back("axis", rank > 2 && !options.tvm() ? 1 : -1);
  // A text may have a function for each reduction, where they differ by more than the last step.
  if (has_function(loss.text, name + "_" + reduction)) {
    choice.function = name + "_" + reduction;
    return choice;
  }
  choice.function = chosen_function(options, loss.text, std::string(loss.name), name, gathered);
  if (loss.parts == LossParts::Operator) {
    choice.call_attributes.emplace_back("reduction", reduction);
  } else if (reduction != "none") {
    choice.join = reduction;
    if (loss.parts == LossParts::Rows && reduction == "mean") {
      if (rank < 0) refuse(loss.name, "option.value", "the mean needs predictions of known rank");
      if (rank > 1) choice.rows = "rows";
    }
  }
  return choice;
}

// Which optimizer has the option that another one lacks: that of its name, else the first.
std::string optimizer_with(std::string_view option) {
  const OptimizerEntry* found = find_optimizer(option);
  for (const OptimizerEntry& entry : optimizer_entries()) {
    const bool has = std::any_of(entry.options.begin(), entry.options.end(),
                                 [&](const CatalogOption& each) { return each.name == option; });
    if (has && !found) found = &entry;
  }
  return found ? fmt::format("; the optimizer {} has it: {}(lr=…, {}=…)", found->name, found->name, option)
               : "";
}

OptimizerChoice choose_optimizer(const OptimizerEntry& optimizer, const Attributes& given) {
  const Options options(optimizer.name, optimizer.options, given, optimizer_with);
  const std::string name(optimizer.name);
  OptimizerChoice choice;
  choice.text = optimizer.text;
  choice.start = name + "_start";
  choice.step = name + "_step";
  Gathered gathered;
  for (const CatalogOption& option : optimizer.options) {
    gather(options, option, gathered);
    const bool known = options.is_given(option) || !option.fallback.empty();
    if (option.use == OptionUse::Rate && known) choice.lr = options.number(option);
    if (option.use == OptionUse::Gradient && known) {
      const double value = options.number(option);
      if (value == 0) continue;
      choice.gradient_steps.emplace_back(option.name);
      gathered.constants.emplace_back(option.name, value);
    }
  }
  const std::string update = name + "_update";
  choice.update = chosen_function(options, optimizer.text, update, update + gathered.suffixes, gathered);
  choice.constants = std::move(gathered.constants);
  choice.parameter_states.assign(optimizer.parameter_states.begin(), optimizer.parameter_states.end());
  choice.parameter_states.insert(choice.parameter_states.end(), gathered.states.begin(),
                                 gathered.states.end());
  for (const std::string& state : choice.parameter_states) {
    const std::string start = choice.start + "_" + state;
    choice.starts.push_back(has_function(optimizer.text, start) ? start : "");
  }
  return choice;
}

RuleChoice choose_rule(std::string_view kind, std::span<const RuleEntry> entries, std::string_view name,
                       const Attributes& given) {
  const auto entry =
      std::find_if(entries.begin(), entries.end(), [&](const RuleEntry& e) { return e.name == name; });
  if (entry == entries.end()) {
    std::vector<std::string> names;
    for (const RuleEntry& known : entries) names.emplace_back(known.name);
    fail(ErrorClass::Usage, {}, "catalog.unknown",
         fmt::format("no {0} '{1}'; {0}s are {2}{3}", kind, name, fmt::join(names, ", "),
                     did_you_mean_choice(name, names)));
  }
  const Options options(entry->name, entry->options, given);
  RuleChoice choice;
  choice.function = entry->function;
  Gathered gathered;
  for (const CatalogOption& option : entry->options) {
    if (option.name == "warmup") {
      choice.warmup = options.number(option);
    } else if (option.use == OptionUse::Word) {
      choice.fan_out = options.word(option) == "fan_out";
    } else if (option.use == OptionUse::Length && !options.is_given(option)) {
      choice.lengths.emplace_back(option.name);
    } else if (option.use == OptionUse::Length) {
      gathered.constants.emplace_back(option.name, options.number(option));
    } else {
      gather(options, option, gathered);
    }
  }
  choice.constants = std::move(gathered.constants);
  if (entry->interval) {
    const auto value = [&](std::string_view option) {
      return std::find_if(choice.constants.begin(), choice.constants.end(),
                          [&](const auto& constant) { return constant.first == option; })
          ->second;
    };
    if (!(value("a") < value("b"))) {
      refuse(entry->name, "option.value",
             fmt::format("a is {} and b is {}; expected a below b", value("a"), value("b")));
    }
  }
  return choice;
}

}  // namespace relish
