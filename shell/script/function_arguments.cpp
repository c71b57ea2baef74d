// Arguments by name and by place.
#include "shell/script/function_arguments.h"

#include <algorithm>

#include "shell/foreign_options.h"
#include "shell/script/call_arguments.h"
#include "support/choices.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/suggest.h"

namespace relish {
namespace {

// "3: x, w, b": how many parameters, and which.
std::string listed(const std::vector<CallParameter>& parameters) {
  constexpr std::size_t most = 12;
  std::string text = std::to_string(parameters.size());
  for (std::size_t i = 0; i < std::min(parameters.size(), most); ++i)
    text += (i == 0 ? ": " : ", ") + parameters[i].name;
  return parameters.size() > most ? text + ", …" : text;
}

// Which argument was left out where all stand by their places: the first whose place holds a tensor of
// another rank, else the one behind them.
std::size_t left_out(const std::vector<CallParameter>& parameters, const std::vector<NamedValue>& arguments,
                     std::size_t missing) {
  if (arguments.size() + 1 != parameters.size() || missing != arguments.size()) return missing;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const TensorType* wanted = parameters[i].type.tensor();
    const Tensor* found = arguments[i].value.tensor();
    if (!arguments[i].name.empty()) return missing;
    if (wanted && found && wanted->rank >= 0 && wanted->rank != found->rank()) return i;
  }
  return missing;
}

}  // namespace

std::vector<const NamedValue*> placed_arguments(const std::string& function,
                                                const std::vector<CallParameter>& parameters,
                                                const std::vector<NamedValue>& arguments, Span span) {
  std::vector<const NamedValue*> given(parameters.size(), nullptr);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::size_t at = i;
    if (!arguments[i].name.empty()) {
      auto found = std::find_if(parameters.begin(), parameters.end(),
                                [&](const CallParameter& p) { return p.name == arguments[i].name; });
      if (found == parameters.end()) {
        found = std::find_if(parameters.begin(), parameters.end(),
                             [&](const CallParameter& p) { return p.handle == arguments[i].name; });
      }
      at = static_cast<std::size_t>(found - parameters.begin());
    }
    if (at >= parameters.size()) {
      std::vector<std::string> names;
      for (const CallParameter& parameter : parameters) names.push_back(parameter.name);
      fail(ErrorClass::Usage, arguments[i].span, "call.arguments",
           arguments[i].name.empty() ? fmt::format("{}: found {}; expected {}", function,
                                                   counted(arguments.size(), "argument"), listed(parameters))
                                     : fmt::format("{}: unknown argument '{}'{}", function, arguments[i].name,
                                                   among_choices(arguments[i].name, names)));
    }
    if (given[at]) {
      fail(ErrorClass::Usage, arguments[i].span, "call.arguments",
           fmt::format("{}: '{}' is given twice", function, parameters[at].name));
    }
    given[at] = &arguments[i];
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (given[i]) continue;
    // f(x, params): the parameters as they come from a training.
    const bool dict = std::any_of(arguments.begin(), arguments.end(), [](const NamedValue& each) {
      return each.name.empty() && each.value.dictionary();
    });
    fail(ErrorClass::Usage, span, "call.arguments",
         fmt::format("{}: the argument '{}' is missing; it takes {}{}", function,
                     parameters[left_out(parameters, arguments, i)].name, listed(parameters),
                     dict ? "; ** before a dict gives its entries by name" : ""));
  }
  return given;
}

void refuse_starred_names(const std::string& function, const std::vector<CallParameter>& parameters,
                          const std::vector<NamedValue>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const NamedValue& argument = arguments[i];
    const SourceFile* source = Sources::instance().find(argument.span.file);
    if (!argument.name.empty() || !argument.value.string() || !source || argument.span.begin == 0) continue;
    const bool starred = source->text()[argument.span.begin - 1] == '*';
    const bool takes_it = i < parameters.size() && parameters[i].type.as<AnyType>();
    if (!starred || takes_it) continue;
    const std::string_view written = written_at(argument.span);
    fail(ErrorClass::Type, argument.span, "call.argument",
         fmt::format("{}: *{} gives the names of a dict, found {}; **{} gives what they hold, by name",
                     function, written, brief_text(argument.value), written));
  }
}

void unknown_option(std::string_view command, const std::vector<std::string>& options,
                    const std::string& given, Span span, const ScriptValue* value) {
  const bool short_value = value && (value->as<std::int64_t>() || value->as<double>() || value->string());
  std::string hint = foreign_option_hint(given, options, short_value ? brief_text(*value) : std::string());
  if (hint.empty()) hint = takes_words(options) + did_you_mean(given, options);
  fail(ErrorClass::Usage, span, "command.option",
       fmt::format("{}: unknown option '{}'{}", command, given, hint));
}

}  // namespace relish
