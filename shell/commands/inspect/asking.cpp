// The commands `:info`, `:uses` and `:where`: what something is, where it comes from, who uses it.
#include <algorithm>
#include <cctype>

#include <fmt/ranges.h>

#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "shell/commands/inspect/asking.h"
#include "shell/commands/subject.h"
#include "shell/program/text_pictures.h"
#include "shell/workspace/held_bytes.h"
#include "shell/workspace/makers.h"
#include "shell/workspace/origins.h"
#include "shell/workspace/state_words.h"
#include "support/counted.h"
#include "support/render.h"
#include "support/suggest.h"
#include "support/value_text.h"

namespace relish::commands_asking {
namespace {

// X as the user wrote it, with what it is.
struct Asked {
  std::string text, root;
  std::optional<ScriptValue> value;  // none: nothing is bound to it
  std::string binding;               // `y` of M.main.y, a binding of the function that `value` is then
  std::size_t node = 0;              // the state that it is of: the present one, or that of M@12
};

std::string word_of(const Invocation& invocation) {
  if (invocation.files.empty()) {
    fail(ErrorClass::Usage, {}, "command.subject",
         fmt::format("{} takes a name, such as M.main", shell_name(invocation.command.name)));
  }
  return fmt::format("{}", fmt::join(invocation.files, " "));
}

std::vector<std::string> bindings_of(const Function& function) {
  std::vector<std::string> names;
  for (const Var& param : function.params) names.push_back(param.name());
  for_each_binding(function, [&](const Binding& binding) { names.push_back(binding.var().name()); });
  return names;
}

Asked asked_of(Invocation& invocation) {
  Workspace& workspace = *invocation.workspace;
  Asked asked;
  asked.text = word_of(invocation);
  asked.root = asked.text.substr(0, asked.text.find_first_of(".[(@ "));
  asked.node = workspace.log().present();
  const bool elsewhere = asked.text.size() > asked.root.size() && asked.text[asked.root.size()] == '@' &&
                         is_plain_name(asked.root);
  if (elsewhere) {
    const std::size_t begin = asked.root.size() + 1;
    const std::string state = asked.text.substr(begin, asked.text.find_first_of(".[(@ ", begin) - begin);
    const bool number = !state.empty() && state.find_first_not_of("0123456789") == std::string::npos;
    if (number || workspace.log().named(state)) asked.node = workspace.node_named(state);
  }
  const bool here = asked.node == workspace.log().present();
  if (here && !workspace.script().environment().find(asked.root) && !asked.root.starts_with('_'))
    return asked;
  std::string expression = asked.text;
  // M.main.y is a binding of the function M.main.
  const std::size_t dot = expression.rfind('.');
  if (dot != std::string::npos && std::count(expression.begin(), expression.end(), '.') == 2 &&
      expression.find_first_of("([ ") == std::string::npos) {
    asked.binding = expression.substr(dot + 1);
    expression.resize(dot);
  }
  asked.value = workspace.script().evaluate(
      Sources::instance().add(fmt::format("<in {}>", workspace.next_input() - 1), expression));
  if (asked.binding.empty()) return asked;
  const auto* reference = asked.value->as<FunctionReference>();
  const FunctionPtr function = reference ? reference->module->function(reference->name) : nullptr;
  if (!function) {
    fail(ErrorClass::Type, {}, "command.subject",
         fmt::format("'{}' is {}, which has no bindings", printable(expression), describe(*asked.value)));
  }
  const std::vector<std::string> names = bindings_of(*function);
  if (std::find(names.begin(), names.end(), asked.binding) == names.end()) {
    fail(ErrorClass::Type, {}, "name.unknown",
         fmt::format("'{}' has no binding '{}'{}", printable(expression), printable(asked.binding),
                     did_you_mean(asked.binding, names)));
  }
  return asked;
}

[[noreturn]] void not_bound(const Invocation& invocation, const Asked& asked) {
  fail(ErrorClass::Type, {}, "name.unknown",
       fmt::format("unknown name '{}'{}", printable(asked.root),
                   did_you_mean(asked.root, invocation.workspace->script().environment().names())));
}

std::string place_text(Span span) {
  const SourceFile* source = Sources::instance().find(span.file);
  if (!source) return "made by a command";
  const auto place = source->position(span.begin);
  return fmt::format("{}:{}:{}", source->name(), place.line, place.column);
}

Span span_of(const GlobalFunction& function) {
  return std::visit([](const auto& held) { return held->span; }, function);
}

// "gradient of main in [7], of ..." from the function back to what was written.
std::string origin_text(const GlobalFunction& function) {
  std::string text;
  GlobalFunction at = function;
  constexpr int most_steps = 16;
  for (int step = 0; step < most_steps; ++step) {
    const OriginPtr origin = origin_of(at);
    if (!origin) break;
    text += fmt::format("{}made by {} from {} in [{}]", text.empty() ? "" : ", that ", origin->command,
                        origin->source, origin->input);
    at = origin->source_function;
  }
  return text;
}

std::vector<std::string> callers_of(const Module& module, const std::string& name) {
  std::vector<std::string> callers;
  for (const GlobalFunction& function : module.functions) {
    const auto* graph = std::get_if<FunctionPtr>(&function);
    if (!graph) continue;
    const std::vector<std::string> called = global_references(**graph);
    if (std::find(called.begin(), called.end(), name) != called.end()) callers.push_back(name_of(function));
  }
  return callers;
}

// Whether "lib.f" is the function.
bool is_function_of(const Workspace& workspace, const std::string& path, const FunctionReference& function) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos || path.substr(dot + 1) != function.name) return false;
  const ScriptValue* held = workspace.script().environment().find(path.substr(0, dot));
  const auto* module = held ? held->as<ModulePtr>() : nullptr;
  return module && *module == function.module;
}

std::vector<std::string> derived_from(const FunctionReference& function) {
  std::vector<std::string> derived;
  for (const GlobalFunction& other : function.module->functions) {
    const OriginPtr origin = origin_of(other);
    if (origin && origin->source == function.name && name_of(other) != function.name)
      derived.push_back(name_of(other));
  }
  return derived;
}

// Of the modules that other names stand for, in which the very function stands too: who calls it there, and
// what was made from it, as "N.f".
struct Elsewhere {
  std::vector<std::string> callers, derived;
};

Elsewhere uses_elsewhere(const Workspace& workspace, const FunctionReference& function) {
  Elsewhere found;
  const GlobalFunction& asked = *function.module->find(function.name);
  const Environment& environment = workspace.script().environment();
  for (const std::string& name : environment.names()) {
    if (kind_name(*environment.peek(name)) != "module") continue;
    const ModulePtr module = *environment.find(name)->as<ModulePtr>();
    if (module == function.module) continue;
    const GlobalFunction* same = module->find(function.name);
    if (same && *same == asked)
      for (const std::string& caller : callers_of(*module, function.name))
        found.callers.push_back(name + "." + caller);
    for (const GlobalFunction& other : module->functions) {
      const OriginPtr origin = origin_of(other);
      const GlobalFunction* own = function.module->find(name_of(other));
      if (origin && origin->source_function == asked && !(own && *own == other))
        found.derived.push_back(name + "." + name_of(other));
    }
  }
  // Free functions have those of modules by copies.
  const ModulePtr& free = workspace.script().free_functions();
  const auto& around = workspace.state().around;
  for (const std::string& name : free&& around ? free->names() : std::vector<std::string>()) {
    const auto linked = around->linked.find(name);
    if (linked == around->linked.end() || !is_function_of(workspace, linked->second, function)) continue;
    for (const std::string& caller : callers_of(*free, name)) found.callers.push_back(caller);
  }
  return found;
}

bool is_stale(const Module& module, const std::string& name) {
  const std::vector<GlobalFunction> stale = stale_functions(module);
  return std::any_of(stale.begin(), stale.end(),
                     [&](const GlobalFunction& function) { return name_of(function) == name; });
}

// The input that bound the name.
std::string maker_text(const Workspace& workspace, const Asked& asked) {
  const auto makers = makers_of(workspace, asked.node);
  const auto found = makers.find(asked.root);
  if (found == makers.end()) return {};
  const LogNode& node = workspace.log().node(found->second);
  return fmt::format("bound by [{}] {}", node.input, title_of(node));
}

std::string function_info(const FunctionReference& reference) {
  const GlobalFunction& function = *reference.module->find(reference.name);
  std::string text;
  if (const auto* graph = std::get_if<FunctionPtr>(&function)) {
    std::size_t bindings = 0;
    for (const BindingBlock& block : (*graph)->blocks) bindings += block.bindings.size();
    text += "\n" + counted(bindings, "binding");
  }
  const std::string origin = origin_text(function);
  text += "\n" + (origin.empty() ? "written at " + place_text(span_of(function)) : origin);
  if (is_stale(*reference.module, reference.name))
    text += "\nstale: what it was made from is another one by now";
  const std::vector<std::string> callers = callers_of(*reference.module, reference.name);
  if (!callers.empty()) text += fmt::format("\ncalled by {}", fmt::join(callers, ", "));
  const std::vector<std::string> derived = derived_from(reference);
  if (!derived.empty()) text += fmt::format("\nsource of {}", fmt::join(derived, ", "));
  return text;
}

// Lines of the printed function in which the binding stands on the right.
std::string lines_with(const FunctionReference& reference, const std::string& binding) {
  const FunctionPtr function = reference.module->function(reference.name);
  std::string text;
  for_each_binding(*function, [&](const Binding& other) {
    bool uses = false;
    for_each_expr(other.value(), [&](const Expr& expr) {
      const auto* var = expr.as<VarRef>();
      uses |= var && var->var.name() == binding;
    });
    if (uses)
      text += fmt::format("{}{} at {}", text.empty() ? "" : "\n", other.var().name(), place_text(other.span));
  });
  return text;
}

// The variable and the place of the binding that is asked for.
struct FoundBinding {
  std::optional<Var> var;
  Span span;
  bool is_parameter = false;
};

FoundBinding found_binding(const Asked& asked) {
  const auto& reference = *asked.value->as<FunctionReference>();
  const FunctionPtr function = reference.module->function(reference.name);
  FoundBinding found;
  for (const Var& param : function->params)
    if (param.name() == asked.binding) found = {param, function->span, true};
  for_each_binding(*function, [&](const Binding& binding) {
    if (binding.var().name() == asked.binding) found = {binding.var(), binding.span, false};
  });
  return found;
}

std::string binding_info(const Asked& asked) {
  const FoundBinding found = found_binding(asked);
  std::string text = fmt::format("{}: {}\n{} at {}", asked.binding, print(found.var->type()),
                                 found.is_parameter ? "a parameter of the function written" : "written",
                                 place_text(found.span));
  const std::string uses = lines_with(*asked.value->as<FunctionReference>(), asked.binding);
  std::string users;
  for (std::size_t at = 0; at < uses.size();) {
    const std::size_t end = std::min(uses.find('\n', at), uses.size());
    const std::string line = uses.substr(at, end - at);
    users += (users.empty() ? "" : ", ") + line.substr(0, line.find(" at "));
    at = end + 1;
  }
  return text + (users.empty() ? std::string() : "\nused by " + users);
}

ScriptValue run_info(Invocation& invocation) {
  const Asked asked = asked_of(invocation);
  Workspace& workspace = *invocation.workspace;
  if (!asked.value) {
    // An operator, a command, a built-in, a loss.
    Invocation page(invocation.session, *find_command("doc"), Surface::Shell, {});
    page.files = {asked.text};
    return find_command("doc")->run(page);
  }
  if (!asked.binding.empty()) return binding_info(asked);
  Invocation type(invocation.session, *find_command("type"), Surface::Script, {});
  type.value = *asked.value;
  std::string text = *find_command("type")->run(type).string();
  if (const auto* function = asked.value->as<FunctionReference>()) text += function_info(*function);
  if (const Tensor* tensor = asked.value->tensor()) {
    if (const std::string line = overview_line_of(*tensor); !line.empty()) text += "\n" + line;
  }
  if (const ScriptFunction* function = asked.value->script_function(); function && function->text)
    text += "\nwritten at " + place_text(function->span);
  if (const auto* module = asked.value->as<ModulePtr>()) {
    for (const GlobalFunction& function : stale_functions(**module)) {
      const OriginPtr origin = origin_of(function);
      text +=
          fmt::format("\nstale: {} (made from {} in [{}])", name_of(function), origin->source, origin->input);
    }
  }
  if (const std::uint64_t bytes = held_bytes(*asked.value); bytes > 0) text += "\n" + counted(bytes, "byte");
  if (const std::string maker = maker_text(workspace, asked); !maker.empty()) text += "\n" + maker;
  return text;
}

bool mentions_name(std::string_view text, const std::string& name) {
  const auto is_part = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string_view::npos; ++at) {
    const bool begins = at == 0 || (!is_part(text[at - 1]) && text[at - 1] != '.');
    const std::size_t end = at + name.size();
    if (begins && (end >= text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

// The statements of a text without what is declared: functions of tensors know nothing of a script's tensors,
// and their parameters have names of their own.
std::string without_declarations(std::string_view text) {
  std::string rest;
  bool declares = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    const bool goes_on =
        line.find_first_of(" \t)\n") == 0 || line.starts_with("def ") || line.starts_with("class ");
    declares = line.starts_with('@') || (declares && goes_on);
    if (!declares) rest += line;
  }
  return rest;
}

// The inputs on the way here whose statements mention the name, also those that only showed something.
std::string mentions_of(const Workspace& workspace, const std::string& name, bool in_functions) {
  constexpr std::size_t most_characters = 60;
  std::string text;
  const auto add = [&](const std::string& line) { text += (text.empty() ? "" : "\n") + line; };
  const auto add_shown = [&](const LogNode& node) {
    const std::string shown = node.shown.plain().value_or("");
    for (std::size_t at = 0; at < shown.size();) {
      const std::size_t end = std::min(shown.find('\n', at), shown.size());
      const std::string_view line = std::string_view(shown).substr(at, end - at);
      if (!line.starts_with('#') && mentions_name(line, name))
        add(fmt::format("behind [{}] {}", node.input, printable(line, most_characters)));
      at = end + 1;
    }
  };
  const Log& log = workspace.log();
  add_shown(log.node(Log::root));
  for (const std::size_t id : log.way_to(log.present())) {
    const LogNode& node = log.node(id);
    const std::string made_by = node.made_by.plain().value_or("");
    if (mentions_name(in_functions ? made_by : without_declarations(made_by), name))
      add(fmt::format("[{}] {}", node.input, title_of(node)));
    add_shown(node);
  }
  return text;
}

ScriptValue run_uses(Invocation& invocation) {
  const Asked asked = asked_of(invocation);
  if (!asked.value) not_bound(invocation, asked);
  const Workspace& workspace = *invocation.workspace;
  const auto* function = asked.value->as<FunctionReference>();
  if (!asked.binding.empty()) {
    const std::string lines = lines_with(*function, asked.binding);
    return lines.empty() ? fmt::format("no binding uses {}", asked.binding) : lines;
  }
  std::string text;
  const auto add = [&](std::string_view what, std::vector<std::string> names,
                       const std::vector<std::string>& more) {
    names.insert(names.end(), more.begin(), more.end());
    if (!names.empty())
      text += fmt::format("{}{} {}", text.empty() ? "" : "\n", what, fmt::join(names, ", "));
  };
  if (function) {
    const Elsewhere elsewhere = uses_elsewhere(workspace, *function);
    add("called by", callers_of(*function->module, function->name), elsewhere.callers);
    add("source of", derived_from(*function), elsewhere.derived);
  }
  const std::string mentioned = mentions_of(workspace, function ? asked.text : asked.root,
                                            !asked.value->tensor() && !asked.value->dictionary());
  if (!mentioned.empty()) text += (text.empty() ? "" : "\n") + mentioned;
  if (!text.empty()) return text;
  return function ? fmt::format("nothing calls {}", asked.text) : std::string("no statement mentions it");
}

ScriptValue run_where(Invocation& invocation) {
  const Asked asked = asked_of(invocation);
  if (!asked.value) not_bound(invocation, asked);
  const Workspace& workspace = *invocation.workspace;
  std::string text;
  if (const auto* reference = asked.value->as<FunctionReference>()) {
    const GlobalFunction& function = *reference->module->find(reference->name);
    text = place_text(asked.binding.empty() ? span_of(function) : found_binding(asked).span);
    if (const std::string origin = origin_text(function); !origin.empty()) text += "\n" + origin;
    // A binding was there before its function came into the module.
    if (!asked.binding.empty()) return text;
  } else if (const auto* module = asked.value->as<ModulePtr>()) {
    text = place_text((*module)->span);
  }
  const std::string maker = maker_text(workspace, asked);
  if (!maker.empty()) text += (text.empty() ? "" : "\n") + maker;
  return text;
}

constexpr Example info_examples[] = {{"", ":info M.main"}, {"", ":info R.nn.relu"}};
constexpr Example uses_examples[] = {{"", ":uses M.main"}, {"", ":uses M.main.y"}};
constexpr Example where_examples[] = {{"", ":where M.main_adjoint"}, {"", ":where x"}};

}  // namespace

extern const Command command_info;
const Command command_info{
    .name = "info",
    .summary = "tells what something is, what made it and who uses it",
    .run = run_info,
    .examples = info_examples,
    .doc =
        "Of a value, a module, a function; of a name that is not bound the page of the operator, command or "
        "built-in.",
    .surfaces = in_session,
    .arguments = "X",
};

extern const Command command_uses;
const Command command_uses{
    .name = "uses",
    .summary = "lists who uses a function, a binding of one, or a name",
    .run = run_uses,
    .examples = uses_examples,
    .surfaces = in_session,
    .arguments = "X",
};

extern const Command command_where;
const Command command_where{
    .name = "where",
    .summary = "tells the line, the command and the input that something comes from",
    .run = run_where,
    .examples = where_examples,
    .surfaces = in_session,
    .arguments = "X",
};

}  // namespace relish::commands_asking

namespace relish {

std::optional<std::string> type_of_binding(Workspace& workspace, const std::string& words) {
  using namespace commands_asking;
  const auto dots = std::count(words.begin(), words.end(), '.');
  if (dots != 2 || words.find_first_of("([ ") != std::string::npos) return std::nullopt;
  Invocation invocation(workspace.session(), *find_command("info"), Surface::Shell, {});
  invocation.workspace = &workspace;
  invocation.files = {words};
  const Asked asked = asked_of(invocation);
  if (asked.binding.empty()) return std::nullopt;
  return fmt::format("{}: {}", asked.binding, print(found_binding(asked).var->type()));
}

}  // namespace relish
