// Calls of commands in statements: the subject, options by name, and the arguments of a function that the
// command calls, as a call of the function has them; and where the fault of a wrong use is told.
#include <algorithm>

#include "shell/program/program_file.h"
#include "shell/script/convert.h"
#include "shell/script/function_arguments.h"
#include "shell/script/script_calls.h"
#include "shell/script/unfinished_modules.h"
#include "support/choices.h"
#include "support/suggest.h"

namespace relish {
namespace {

// The place of the option that a message is about: of a name that is in the text of one, or by the rule.
Span option_meant(const Diagnostic& diagnostic, const Invocation& invocation) {
  struct Rule {
    std::string_view id, option;
  };
  constexpr Rule rules[] = {
      {"loss.", "loss"},
      {"optimizer.unknown", "optimizer"},
      {"optimizer.lr", "optimizer"},
      {"setup_trainer.reduction", "loss"},
      {"metric.", "metrics"},
      {"append_loss.outputs", "outputs"},
      {"train.early_stopping", "early_stopping"},
      {"bind_symbols.name", "dim"},
  };
  for (const Rule& rule : rules)
    if (diagnostic.id.starts_with(rule.id) && invocation.given(rule.option))
      return invocation.span_of(rule.option);
  // "groups: no trained parameter is called …"
  const std::string& message = diagnostic.message;
  for (const Option& option : invocation.command.options) {
    const bool named =
        message.starts_with(option.name) && message.substr(option.name.size()).starts_with(": ");
    if (named && invocation.given(option.name)) return invocation.span_of(option.name);
  }
  if (!diagnostic.id.starts_with("option.") && diagnostic.id != "catalog.unknown") return {};
  // "adam: betas must be …", "no schedule 'cosin'; …"
  const std::size_t quote = message.find('\'');
  const std::string word = diagnostic.id == "catalog.unknown" && quote != message.npos
                               ? message.substr(quote + 1, message.find('\'', quote + 1) - quote - 1)
                               : message.substr(0, message.find(':'));
  // "adam: clip_norm is 0, …" of clip_norm=0 beside it.
  const std::size_t colon = message.find(": ");
  const std::string own =
      colon == message.npos ? "" : message.substr(colon + 2, message.find(' ', colon + 2) - colon - 2);
  for (const Option& option : invocation.command.options)
    if (option.kind == OptionKind::Real && option.name == own && invocation.given(own))
      return invocation.span_of(own);
  const auto begins_so = [&](const ScriptValue& value) {
    return !word.empty() && value.string() && value.string()->starts_with(word);
  };
  for (const Option& option : invocation.command.options) {
    const ScriptValue* value = option.kind == OptionKind::Spec ? invocation.find(option.name) : nullptr;
    if (!value) continue;
    // init={"w*": "normal(std=-1)"}
    const ScriptDict* patterns = value->dictionary();
    if (begins_so(*value) ||
        (patterns && std::any_of(patterns->items.begin(), patterns->items.end(),
                                 [&](const auto& item) { return begins_so(item.second); })))
      return invocation.span_of(option.name);
  }
  return {};
}

// What a command was asked is wrong where it was asked: the place in the model that it is about is a note.
void blame_call(Failure& failure, const Invocation& invocation) {
  const bool of_model = invocation.command.subject == Subject::Module ||
                        invocation.command.subject == Subject::Function ||
                        invocation.command.subject == Subject::Call;
  Diagnostic& first = failure.diagnostics().front();
  const Span call = invocation.span;
  const bool inside =
      first.span.file == call.file && first.span.begin >= call.begin && first.span.end <= call.end;
  const bool wrt =
      first.id == "gradient.wrt" || first.id == "parameter.unknown" || first.id == "setup_trainer.parameters";
  const bool names_wrt = wrt && invocation.given("wrt");
  const Span option = option_meant(first, invocation);
  if (option.known() && first.place.empty() && (first.span == call || !first.span.known())) {
    first.span = option;
    return;
  }
  const bool asked_wrong = first.error_class == ErrorClass::Usage || names_wrt;
  if (!of_model || !asked_wrong || !call.known() || !first.span.known() || inside) return;
  first.notes.insert(first.notes.begin(), {first.span, "it is about this place of the model"});
  first.span = names_wrt ? invocation.span_of("wrt") : option.known() ? option : call;
}

// The arguments behind the first as they are written; nothing when some of them are not written one by one.
std::optional<std::string> text_of_options(const std::vector<NamedValue>& arguments) {
  std::string text;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const Span span = arguments[i].span;
    const SourceFile* source = Sources::instance().find(span.file);
    if (!source || (span.begin > 0 && source->text()[span.begin - 1] == '*')) return std::nullopt;
    text +=
        fmt::format("{}{}{}{}", i > 1 ? ", " : "", arguments[i].name, arguments[i].name.empty() ? "" : "=",
                    source->text().substr(span.begin, span.end - span.begin));
  }
  return text;
}

TransformCall transform_call(const Invocation& invocation, const ModulePtr& made,
                             std::optional<std::string> options) {
  TransformCall call;
  call.command = invocation.command.name;
  call.whole_module = invocation.command.subject == Subject::Module;
  // Of the functions that it does not make for the first time it changes only the form.
  call.keeps_meaning = call.whole_module || call.command == "passes";
  call.function = invocation.function;
  if (!call.whole_module && call.function.empty())
    call.function = default_function_or_none(*invocation.module);
  call.options = std::move(options);
  call.before = invocation.module;
  call.after = made;
  return call;
}

void take_subject(Invocation& invocation, const NamedValue& argument) {
  const Command& command = invocation.command;
  const ScriptValue& subject = argument.value;
  const auto* module = subject.as<ModulePtr>();
  const auto* function = subject.as<FunctionReference>();
  invocation.value = subject;
  if (module) invocation.module = *module;
  if (function) {
    invocation.module = function->module;
    invocation.function = function->name;
  }
  const bool needs_module = command.subject == Subject::Module || command.subject == Subject::Function ||
                            command.subject == Subject::Call;
  if (needs_module && !module && !function) {
    const bool of_script = subject.as<ScriptFunctionPtr>();
    fail(ErrorClass::Type, argument.span, "command.subject",
         fmt::format("{}: found {}{}; expected {}", command.name, describe(subject),
                     of_script ? ", one of the script" : "",
                     command.subject == Subject::Module ? "a module"
                     : of_script                        ? "an @R.function, whose parameters have types"
                                                        : "a function such as M.main"));
  }
  if (command.subject == Subject::Name || command.subject == Subject::Files) {
    if (const std::string* name = subject.string()) invocation.files = {*name};
  }
}

// Whether the function that a command calls has a parameter of the name.
bool is_own_parameter(const Invocation& invocation, const std::string& name) {
  if (invocation.command.subject != Subject::Call || !invocation.module) return false;
  const std::string function =
      invocation.function.empty() ? default_function_or_none(*invocation.module) : invocation.function;
  if (!invocation.module->find(function)) return false;
  const std::vector<CallParameter> parameters = call_parameters(*invocation.module, function);
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const CallParameter& each) { return each.name == name || each.handle == name; });
}

// An option, or an argument of the function that the command calls, by its parameter's name.
void take_named(Invocation& invocation, NamedValue argument, const std::vector<std::string>& options) {
  const Command& command = invocation.command;
  if (std::find(options.begin(), options.end(), argument.name) == options.end()) {
    if (is_own_parameter(invocation, argument.name)) {
      invocation.call_arguments.emplace_back(std::move(argument.name), std::move(argument.value));
      return;
    }
    unknown_option(command.name, options, argument.name, argument.span, &argument.value);
  }
  if (invocation.given(argument.name)) {
    fail(ErrorClass::Usage, argument.span, "command.option",
         fmt::format("{}: '{}' is given twice", command.name, argument.name));
  }
  const auto option = std::find_if(command.options.begin(), command.options.end(),
                                   [&](const Option& each) { return each.name == argument.name; });
  const bool is_flag = option != command.options.end() && option->kind == OptionKind::Flag;
  invocation.set(argument.name, std::move(argument.value), argument.span);
  // Also one that nothing asks for in this call: who writes "no" is told at once.
  if (is_flag) invocation.flag(option->name);
}

}  // namespace

ScriptValue ScriptCalls::call_command(const Command& command, std::vector<NamedValue> arguments, Span span) {
  Invocation invocation(session_, command, Surface::Script, span);
  invocation.script = &script();
  std::optional<std::string> options_text;
  if (command.transforms && options_.observer) options_text = text_of_options(arguments);
  std::vector<std::string> option_names;
  for (const Option& option : command.options) {
    if (option.surfaces & in_scripts) option_names.emplace_back(option.name);
  }
  if (command.subject == Subject::Module || command.subject == Subject::Function ||
      command.subject == Subject::Call)
    for (const NamedValue& argument : arguments) unfinished_modules().refuse(argument.value, argument.span);
  bool subject_wanted = command.subject != Subject::None;
  for (NamedValue& argument : arguments) {
    if (!argument.name.empty()) {
      take_named(invocation, std::move(argument), option_names);
    } else if (subject_wanted) {
      subject_wanted = false;
      take_subject(invocation, argument);
    } else if (command.subject == Subject::Call) {
      invocation.call_arguments.emplace_back("", std::move(argument.value));
    } else {
      if (invocation.arguments.size() == command.more_arguments) {
        const auto next = std::find_if(option_names.begin(), option_names.end(),
                                       [&](const std::string& name) { return !invocation.given(name); });
        fail(ErrorClass::Usage, argument.span, "command.arguments",
             fmt::format("{}: found {} without a name{}{}", command.name, describe(argument.value),
                         next == option_names.end() ? "" : fmt::format("; write {}=… if it is that", *next),
                         takes_words(option_names)));
      }
      invocation.arguments.push_back(std::move(argument.value));
    }
  }
  if (subject_wanted && !command.subject_optional) {
    fail(ErrorClass::Usage, span, "command.subject",
         fmt::format("{}: the first argument is missing{}", command.name,
                     command.subject == Subject::Function || command.subject == Subject::Call
                         ? "; expected a function such as M.main"
                     : command.subject == Subject::Module ? "; expected a module such as M"
                                                          : ""));
  }
  for (const Option& option : command.options) {
    if (option.required && (option.surfaces & in_scripts) && !invocation.given(option.name)) {
      fail(ErrorClass::Usage, span, "command.option",
           fmt::format("{}: the option '{}' is missing", command.name, option.name));
    }
  }
  try {
    ScriptValue result = command.run(invocation);
    if (const auto* made = result.as<ModulePtr>(); made && command.transforms && options_.observer) {
      return options_.observer->transformed(transform_call(invocation, *made, options_text));
    }
    return result;
  } catch (Failure& failure) {
    blame_call(failure, invocation);
    failure.at(span);
    // What is wrong with a file is told by the file's name; the line that names it comes with it.
    const Diagnostic& first = failure.diagnostics().front();
    bool told = !first.notes.empty() && first.notes.back().span == span;
    if (!first.place.empty() && !told) failure.note(span, "in the call made here");
    throw;
  }
}

}  // namespace relish
