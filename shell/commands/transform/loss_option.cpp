// The option `loss`: which function judges, and what it says about predictions.
#include "shell/commands/transform/loss_option.h"

#include <algorithm>
#include <cmath>

#include "shell/commands/subject.h"
#include "shell/commands/training/trainer_options.h"
#include "shell/program/reading.h"
#include "stdlib/catalog.h"
#include "support/render.h"
#include "support/value_text.h"

namespace relish {
namespace {

// A function of the user's, but for a plain name that the library has.
bool find_user_loss(const Invocation& invocation, const std::string& text, AppendLossOptions& into) {
  const std::vector<std::string> known = loss_names();
  if (std::find(known.begin(), known.end(), text) != known.end()) return false;
  const UserFunction found = find_user_function(invocation, text);
  into.loss_function = found.function;
  into.loss_module = found.module;
  return into.loss_function != nullptr;
}

bool are_alike(const Type& a, const Type& b) {
  const TensorType *first = a.tensor(), *second = b.tensor();
  return first && second && first->rank == second->rank && first->dtype == second->dtype;
}

// A loss of the user's that could take all results of the model, where it is given the first.
void tell_other_results(const Invocation& invocation, const Function& loss) {
  const FunctionPtr model = invocation.module->function(function_of(invocation));
  const TupleType* results = model ? model->result_type.as<TupleType>() : nullptr;
  const std::size_t count = results ? results->fields.size() : 0;
  if (count < 2 || loss.params.size() <= count) return;
  for (std::size_t i = 0; i < count; ++i)
    if (!are_alike(results->fields[i], loss.params[i].type())) return;
  Diagnostic note;
  note.severity = Severity::Note;
  note.span = invocation.span_of("loss");
  note.message =
      fmt::format("the loss '{0}' takes the first of the {1} results of '{2}'; outputs={1} gives it all",
                  loss.name, count, model->name);
  invocation.session.report(note);
}

// No function returns so many results.
constexpr std::int64_t most_outputs = 1 << 20;

}  // namespace

bool is_plain_name(const std::string& text) {
  try {
    ast::ExprPtr read = read_one_expression(Sources::instance().add("<name>", text + "\n"));
    return ast::name_of(*read) && *ast::name_of(*read) == text;
  } catch (const Failure&) {
    return false;  // not even an expression
  }
}

namespace {

// A function of a module is named by dots, and would have been found where the text reaches it.
void refuse_function_elsewhere(const Invocation& invocation, std::string_view option,
                               const std::string& text) {
  const std::size_t bracket = text.find('(');
  const std::string name = text.substr(0, bracket), module = name.substr(0, name.find('.'));
  if (module.size() == name.size() || !is_plain_name(module) ||
      !is_plain_name(name.substr(module.size() + 1)))
    return;
  std::string why = fmt::format("there is no function '{}'", name);
  if (invocation.surface != Surface::Shell) {
    why += fmt::format(" in the module of the model; one of another module is given as it is, {}={}", option,
                       name);
    if (option == "optimizer" && bracket != std::string::npos)
      why += fmt::format(", {}", text.substr(bracket + 1, text.rfind(')') - bracket - 1));
  }
  invocation.refuse_value(option, std::move(why));
}

}  // namespace

NamedSpec spec_in_option(const Invocation& invocation, std::string_view option, const std::string& text) {
  refuse_function_elsewhere(invocation, option, text);
  const bool shell = invocation.surface == Surface::Shell;
  const std::string what =
      shell ? fmt::format("{}: --{}", shell_name(invocation.command.name), shell_name(option))
            : fmt::format("{}: {}", invocation.command.name, option);
  try {
    return parse_named_spec(text, what);
  } catch (Failure& failure) {
    throw failure.at(invocation.span_of(option));
  }
}

NamedSpec spec_option(const Invocation& invocation, std::string_view option) {
  if (!invocation.given(option)) return {};
  return spec_in_option(invocation, option, invocation.text(option));
}

AppendLossOptions loss_options(const Invocation& invocation) {
  AppendLossOptions result;
  const ScriptValue* loss = invocation.find("loss");
  if (!loss) invocation.refuse_value("loss", "a loss is missing");
  if (const auto* function = loss->as<FunctionReference>()) {
    result.loss_function = function->module->function(function->name);
    result.loss_module = function->module;
    if (!result.loss_function)
      invocation.misuse("loss", fmt::format("'{}' is no Relax function", function->name));
  } else {
    std::string text = invocation.text("loss");
    if (!find_user_loss(invocation, text, result)) result.loss = spec_in_option(invocation, "loss", text);
  }
  const std::int64_t outputs = invocation.integer("outputs", 1);
  if (outputs < 1 || outputs > most_outputs) {
    invocation.refuse_value("outputs", fmt::format("found {}; expected an int of at least 1", outputs));
  }
  result.outputs = static_cast<int>(outputs);
  if (result.loss_function && !invocation.given("outputs"))
    tell_other_results(invocation, *result.loss_function);
  result.new_name = invocation.text("name");
  if (result.new_name.empty()) return result;
  if (!is_plain_name(result.new_name)) {
    invocation.refuse_value("name", fmt::format("found '{}'; expected a name", printable(result.new_name)));
  }
  if (invocation.module->find(result.new_name)) {
    invocation.refuse_value(
        "name",
        fmt::format("'{}' is a function of the module already; expected a new name", result.new_name));
  }
  return result;
}

Judgement judgement_of(const AppendLossOptions& options) {
  Judgement judgement;
  const LossEntry* entry = options.loss_function ? nullptr : find_loss(options.loss.name);
  if (!entry) return judgement;
  if (!std::isnan(entry->threshold)) judgement.threshold = entry->threshold;
  for (const CatalogOption& option : entry->options) {
    if (option.name != "ignore_index") continue;
    const Attribute* given = find_attribute(options.loss.options, option.name);
    const std::int64_t* label = given ? given->as<std::int64_t>() : nullptr;
    judgement.ignored_label = label ? *label : *whole_number<std::int64_t>(option.fallback);
  }
  return judgement;
}

}  // namespace relish
