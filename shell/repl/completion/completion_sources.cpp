// Lists of candidates.
#include "shell/repl/completion/completion_sources.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "runtime/dtype.h"
#include "runtime/files/selection.h"
#include "shell/commands/help/loop_functions.h"
#include "shell/program/program_file.h"
#include "shell/script/builtins.h"
#include "shell/script/convert.h"
#include "shell/script/methods.h"
#include "shell/workspace/state_words.h"
#include "shell/workspace/value_words.h"
#include "stdlib/catalog_doc.h"
#include "support/value_text.h"

namespace relish {
namespace {

constexpr std::string_view keywords[] = {
    "and", "assert", "break", "class", "continue", "def", "del",  "elif",   "else", "False", "for", "from",
    "if",  "import", "in",    "None",  "not",      "or",  "pass", "return", "True", "while", "with"};

// Names of the namespaces that are no operators, as programs write them.
constexpr std::string_view relax_words[] = {"Any",    "Callable",   "Object",   "Prim",       "Shape",
                                            "Stack",  "Tensor",     "Tuple",    "const",      "dataflow",
                                            "dtype",  "func_attr",  "function", "match_cast", "null_value",
                                            "output", "prim_value", "shape",    "str",        "tuple"};
constexpr std::string_view loop_words[] = {
    "Buffer", "Cast",     "alloc_buffer", "axis",       "float32",  "func_attr", "grid",  "if_then_else",
    "init",   "int64",    "max",          "min",        "parallel", "prim_func", "reads", "sblock",
    "serial", "symbolic", "unroll",       "vectorized", "where",    "writes",    "exp",   "sqrt"};

// "a tensor float32 (2, 3)" without its article.
std::string kind_of(const ScriptValue& value) {
  if (value.is_unread() && kind_name(value) == "tensor") return "tensor " + overview_of(value);
  std::string text = value.tensor() ? describe(value) : std::string(kind_name(value));
  if (text.starts_with("a ")) text.erase(0, 2);
  return text;
}

const ScriptValue* bound_to(const Workspace& workspace, std::string_view name) {
  return workspace.script().environment().find(std::string(name));
}

// Of what a restored session has not read yet the kind is known, and that is enough to list it.
std::string_view kind_bound_to(const Workspace& workspace, std::string_view name) {
  return kind_name(*workspace.script().environment().peek(name));
}

// What a name was bound to in another state, "12" or "before"; null where that is not known. A state that was
// given up is not made again for a list.
const ScriptValue* bound_in(const Workspace& workspace, std::string_view name, const std::string& state) {
  const Log& log = workspace.log();
  const auto input = whole_number<std::size_t>(state);
  const auto node = input ? log.behind(*input) : log.named(state);
  if (!node || !log.node(*node).state) return nullptr;
  const ScriptValue* value = log.node(*node).state->names.find(std::string(name));
  return value && !value->is_unread() ? value : nullptr;
}

// The function that "M.main", "f", "M@12.main", or the only function of "M" is.
FunctionReference function_named(const Workspace& workspace, std::string_view text) {
  text = without_blanks(text);
  const std::size_t dot = text.find('.');
  const std::string_view root = text.substr(0, dot);
  const std::size_t sign = root.find('@');
  const ScriptValue* value = sign == std::string_view::npos ? bound_to(workspace, root)
                                                            : bound_in(workspace, root.substr(0, sign),
                                                                       std::string(root.substr(sign + 1)));
  if (!value) return {};
  if (const auto* reference = value->as<FunctionReference>()) return *reference;
  const auto* module = value->as<ModulePtr>();
  if (!module) return {};
  const std::string name =
      dot == std::string_view::npos ? default_function_or_none(**module) : std::string(text.substr(dot + 1));
  return (*module)->find(name) ? FunctionReference{*module, name} : FunctionReference{};
}

template <class Words>
void add_words(std::vector<Candidate>& into, const Words& words, std::string_view kind,
               std::string_view before = "") {
  for (const auto& word : words) into.push_back({fmt::format("{}{}", before, word), std::string(kind), ""});
}

}  // namespace

bool CompletionSources::is_bound(std::string_view name) const {
  return workspace_.script().environment().peek(name.substr(0, name.find_first_of(".@"))) != nullptr;
}

std::vector<Candidate> CompletionSources::names(bool and_words) const {
  std::vector<Candidate> found;
  const Environment& environment = workspace_.script().environment();
  for (const std::string& name : environment.names())
    found.push_back({name, kind_of(*environment.peek(name)), ""});
  if (!and_words) return found;
  const auto synopsis = [](std::string_view text) { return std::string(text.substr(0, text.find('\n'))); };
  for (const Builtin& builtin : all_builtins())
    found.push_back({std::string(builtin.name), "built-in", synopsis(builtin.synopsis)});
  for (const Command* command : all_commands())
    if (command->surfaces & in_scripts)
      found.push_back({std::string(command->name), "command", std::string(command->summary)});
  add_words(found, keywords, "keyword");
  add_words(found, std::vector<std::string>{"R", "T", "I", "relish"}, "namespace");
  std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    const auto rank = [](const Candidate& c) {
      return c.kind == "keyword" || c.kind == "namespace" || c.kind == "built-in" || c.kind == "command";
    };
    return rank(a) != rank(b) ? rank(b) : a.text < b.text;
  });
  return found;
}

std::vector<Candidate> CompletionSources::tensors() const {
  std::vector<Candidate> found = names(false);
  std::erase_if(found,
                [&](const Candidate& name) { return kind_bound_to(workspace_, name.text) != "tensor"; });
  return found;
}

std::vector<Candidate> CompletionSources::modules() const {
  std::vector<Candidate> found = names(false);
  std::erase_if(found,
                [&](const Candidate& name) { return kind_bound_to(workspace_, name.text) != "module"; });
  return found;
}

std::vector<Candidate> CompletionSources::functions() const {
  std::vector<Candidate> found;
  for (const Candidate& name : names(false)) {
    const ScriptValue& value = *workspace_.script().environment().peek(name.text);
    if (value.as<FunctionReference>()) found.push_back(name);
    const auto* module = value.as<ModulePtr>();
    if (!module) continue;
    for (const std::string& function : (*module)->names())
      found.push_back({name.text + "." + function, "function", ""});
  }
  return found;
}

std::vector<Candidate> CompletionSources::members(const std::string& object) const {
  std::vector<Candidate> found;
  const std::string before = object + ".";
  if (const ScriptValue* value = bound_to(workspace_, object)) {
    if (const auto* module = value->as<ModulePtr>()) add_words(found, (*module)->names(), "function", before);
    for (const std::string& name : method_names(*value)) {
      const ValueMethod* method = find_method(*value, name);
      found.push_back({before + name, "member", method ? std::string(method->synopsis) : ""});
    }
    return found;
  }
  const std::string root = object.substr(0, object.find('.'));
  if (is_bound(root)) return found;
  if (root == "R") {
    for (const std::string& name : op_names())
      found.push_back({"R." + name, "operator", std::string(find_op(name)->summary)});
    add_words(found, relax_words, "word of programs", "R.");
  } else if (root == "T") {
    add_words(found, loop_words, "word of programs", "T.");
  } else if (root == "I") {
    found.push_back({"I.ir_module", "decorator", "a module of functions"});
  } else if (root == "relish") {
    for (const Command* command : all_commands())
      if (command->surfaces & in_scripts)
        found.push_back({before + std::string(command->name), "command", std::string(command->summary)});
  }
  return found;
}

std::vector<Candidate> CompletionSources::members_at(std::string_view name, std::string_view state) const {
  std::vector<Candidate> found;
  const std::string word(state);
  const ScriptValue* value = word.find('.') == std::string::npos ? bound_in(workspace_, name, word) : nullptr;
  const auto* module = value ? value->as<ModulePtr>() : nullptr;
  if (module) add_words(found, (*module)->names(), "function", word + ".");
  return found;
}

std::vector<Candidate> CompletionSources::bindings(std::string_view function) const {
  std::vector<Candidate> found;
  const FunctionReference reference = function_named(workspace_, function);
  const FunctionPtr graph = reference.module ? reference.module->function(reference.name) : nullptr;
  if (!graph) return found;
  for (const Var& param : graph->params)
    found.push_back({fmt::format("{}.{}", function, param.name()), "parameter", print(param.type())});
  for_each_binding(*graph, [&](const Binding& binding) {
    found.push_back({fmt::format("{}.{}", function, binding.var().name()), "binding", ""});
  });
  return found;
}

std::vector<Candidate> CompletionSources::transforms() const {
  std::vector<Candidate> found;
  for (const Command* command : all_commands())
    if (command->transforms)
      found.push_back({std::string(command->name), "transform", std::string(command->summary)});
  return found;
}

std::vector<Candidate> CompletionSources::kinds() const {
  std::set<std::string> kinds;
  const Environment& environment = workspace_.script().environment();
  for (const std::string& name : environment.names()) kinds.emplace(kind_name(*environment.peek(name)));
  std::vector<Candidate> found;
  add_words(found, kinds, "kind");
  return found;
}

std::vector<Candidate> CompletionSources::keys(std::string_view dict) const {
  std::vector<Candidate> found;
  const ScriptValue* value = bound_to(workspace_, dict);
  const auto* entries = value ? value->dictionary() : nullptr;
  if (!entries) return found;
  for (const auto& [key, held] : entries->items)
    if (key.string()) found.push_back({*key.string(), "key", kind_of(held)});
  return found;
}

// Of "t.sum(axis=None, keepdims=False)": what has a value of its own.
std::vector<Candidate> CompletionSources::synopsis_keywords(std::string_view callee, std::size_t from) const {
  std::string_view synopsis;
  if (const std::size_t dot = callee.rfind('.'); dot != std::string_view::npos) {
    const ScriptValue* value = bound_to(workspace_, callee.substr(0, dot));
    const ValueMethod* method = value ? find_method(*value, callee.substr(dot + 1)) : nullptr;
    if (method) synopsis = method->synopsis;
  } else if (const Builtin* builtin = is_bound(callee) ? nullptr : find_builtin(callee)) {
    synopsis = builtin->synopsis;
  }
  std::vector<Candidate> found;
  const std::size_t open = synopsis.find('('), close = synopsis.find(')', std::min(open, synopsis.size()));
  if (close == std::string_view::npos) return found;
  const std::string_view list = synopsis.substr(open + 1, close - open - 1);
  const std::vector<std::string_view> parts = split_at_commas(list);
  for (std::size_t i = from; i < parts.size(); ++i) {
    const std::string_view part = without_blanks(parts[i]);
    const std::size_t sign = part.find('=');
    if (sign == std::string_view::npos || !is_plain_name(part.substr(0, sign))) continue;
    found.push_back({std::string(part.substr(0, sign + 1)), "argument", std::string(synopsis)});
  }
  return found;
}

std::vector<Candidate> CompletionSources::decorators() const {
  return {{"R.function", "decorator", "a function of graphs"},
          {"I.ir_module", "decorator", "a module of functions"},
          {"T.prim_func", "decorator", "a loop nest"},
          {"R.gradient", "decorator", "the gradient of a function"}};
}

std::vector<Candidate> CompletionSources::parameters(std::string_view function,
                                                     std::string_view behind) const {
  std::vector<Candidate> found;
  const FunctionReference reference = function_named(workspace_, function);
  if (!reference.module) return found;
  if (const FunctionPtr graph = reference.module->function(reference.name)) {
    for (const Var& param : graph->params)
      found.push_back({fmt::format("{}{}", param.name(), behind), "parameter", print(param.type())});
  } else if (const PrimFuncPtr loops = reference.module->prim_func(reference.name)) {
    for (const PrimParam& param : loops->params)
      found.push_back({fmt::format("{}{}", param.name(), behind), "parameter", ""});
  }
  return found;
}

std::vector<Candidate> CompletionSources::dimensions(std::string_view function,
                                                     std::string_view behind) const {
  std::vector<Candidate> found;
  const FunctionReference reference = function_named(workspace_, function);
  if (!reference.module) return found;
  for (const CallParameter& parameter : call_parameters(*reference.module, reference.name)) {
    std::vector<ScalarVar> symbols;
    collect_vars(parameter.type, symbols);
    for (const ScalarVar& symbol : symbols) {
      std::string text = fmt::format("{}{}", symbol.name(), behind);
      const bool known =
          std::any_of(found.begin(), found.end(), [&](const Candidate& each) { return each.text == text; });
      if (!known) found.push_back({std::move(text), "dimension", fmt::format("of {}", parameter.name)});
    }
  }
  return found;
}

std::vector<Candidate> CompletionSources::tensor_parameters(std::string_view function) const {
  std::vector<Candidate> found;
  const FunctionReference reference = function_named(workspace_, function);
  if (!reference.module) return found;
  if (const FunctionPtr graph = reference.module->function(reference.name)) {
    for (const Var& param : graph->params)
      if (param.type().tensor()) found.push_back({param.name(), "parameter", ""});
  } else if (const PrimFuncPtr loops = reference.module->prim_func(reference.name)) {
    for (const PrimParam& param : loops->params)
      if (param.buffer()) found.push_back({param.name(), "parameter", ""});
  }
  return found;
}

std::vector<Candidate> CompletionSources::operator_keywords(const Op& op, std::size_t from) const {
  std::vector<Candidate> found;
  for (std::size_t i = from; i < op.params.size(); ++i) {
    const Param& param = op.params[i];
    if (param.kind != ParamKind::Tensor || i > 0)
      found.push_back({fmt::format("{}=", param.name), std::string(param.type), std::string(param.doc)});
  }
  return found;
}

std::vector<Candidate> CompletionSources::command_keywords(const Command& command) const {
  std::vector<Candidate> found;
  for (const Option& option : command.options)
    if (option.surfaces & in_scripts)
      found.push_back({fmt::format("{}=", option.name), "option", std::string(option.doc)});
  return found;
}

std::vector<Candidate> CompletionSources::commands() const {
  std::vector<Candidate> found = {{":quit", "command", "leaves"}};
  for (const Command* command : all_commands())
    if (is_session_command(*command))
      found.push_back({":" + shell_name(command->name), "command", std::string(command->summary)});
  std::sort(found.begin(), found.end(),
            [](const Candidate& a, const Candidate& b) { return a.text < b.text; });
  return found;
}

std::vector<Candidate> CompletionSources::command_options(const Command& command) const {
  std::vector<Candidate> found;
  for (const Option& option : command.options)
    if (option.surfaces & (in_scripts | in_session))
      found.push_back({"--" + shell_name(option.name), "option", std::string(option.doc)});
  if (command.transforms) found.push_back({"--as", "option", "the name that the result is bound to"});
  return found;
}

std::vector<Candidate> CompletionSources::catalog(std::string_view option) const {
  std::vector<Candidate> found;
  const std::string_view kind = option == "init" ? "initialiser" : option;
  if (kind == "loss" || kind == "optimizer" || kind == "schedule" || kind == "initialiser")
    add_words(found, catalog_names(kind), kind);
  return found;
}

std::vector<Candidate> CompletionSources::catalog_options(std::string_view entry) const {
  std::vector<Candidate> found;
  for (const std::string& name : catalog_option_names(entry)) found.push_back({name + "=", "option", ""});
  return found;
}

std::vector<Candidate> CompletionSources::pages() const {
  std::vector<Candidate> found;
  for (const Command* command : all_commands())
    found.push_back({shell_name(command->name), "command", std::string(command->summary)});
  for (const std::string& name : op_names()) {
    const std::string summary(find_op(name)->summary);
    found.push_back({name, "operator", summary});
    found.push_back({"R." + name, "operator", summary});
    // By the last part of its name too.
    const std::size_t dot = name.rfind('.');
    if (dot != std::string::npos) found.push_back({name.substr(dot + 1), "operator", summary});
  }
  add_words(found, catalog_names(), "entry of the catalog");
  add_words(found, loop_function_names(), "function of prim_funcs");
  for (const Builtin& builtin : all_builtins()) found.push_back({std::string(builtin.name), "built-in", ""});
  return found;
}

std::vector<Candidate> CompletionSources::states() const {
  std::vector<Candidate> found;
  const Log& log = workspace_.log();
  for (const auto& [name, node] : log.snapshots())
    found.push_back({name, "snapshot", place_of(workspace_, node)});
  for (const auto& [name, node] : log.branches())
    found.push_back({name, "branch", place_of(workspace_, node)});
  std::vector<std::size_t> way = log.way_to(log.present());
  std::reverse(way.begin(), way.end());
  for (const std::size_t id : way)
    found.push_back({std::to_string(log.node(id).input), "state", place_of(workspace_, id)});
  return found;
}

std::vector<Candidate> CompletionSources::files(std::string_view begun) const {
  constexpr std::size_t most_files = 1000;
  std::vector<Candidate> found;
  // FILE:ENTRY of a file that is there.
  const std::size_t mark = begun.find(':');
  const std::string file(begun.substr(0, mark));
  if (mark != std::string_view::npos && (file.ends_with(".npz") || file.ends_with(".safetensors"))) {
    try {
      for (const std::string& each : entry_names(file)) found.push_back({file + ":" + each, "tensor", ""});
    } catch (const Failure&) {
      found.clear();  // it is not there, or none of these
    }
    return found;
  }
  const std::size_t slash = begun.rfind('/');
  const std::string folder(slash == std::string_view::npos ? "" : begun.substr(0, slash + 1));
  const std::string_view name = begun.substr(folder.size());
  std::error_code ignored;
  std::filesystem::directory_iterator entries(folder.empty() ? "." : folder, ignored), end;
  for (; !ignored && entries != end && found.size() < most_files; entries.increment(ignored)) {
    std::string entry = entries->path().filename().string();
    if (!entry.starts_with(name) || (entry.starts_with('.') && name.empty())) continue;
    const bool is_folder = entries->is_directory(ignored);
    found.push_back({folder + entry + (is_folder ? "/" : ""), is_folder ? "folder" : "file", ""});
  }
  std::sort(found.begin(), found.end(),
            [](const Candidate& a, const Candidate& b) { return a.text < b.text; });
  return found;
}

std::vector<Candidate> CompletionSources::dtypes() const {
  std::vector<Candidate> found;
  for (int i = 0; i < dtype_count; ++i)
    found.push_back({std::string(name_of(static_cast<DType>(i))), "dtype", ""});
  return found;
}

std::vector<Candidate> CompletionSources::choices(std::string_view doc) const {
  // Words, or numbers of versions, with commas and "or" between them and nothing else.
  const auto listed = [](std::string_view text) {
    std::vector<Candidate> found;
    std::string list(text.substr(0, text.find_first_of(";:(")));
    if (const std::size_t last = list.find(" or "); last != std::string::npos) list.replace(last, 4, ",");
    for (const std::string_view part : split_at_commas(list)) {
      std::string_view word = without_blanks(part);
      if (!is_plain_name(word) && (word.empty() || word.find_first_not_of("0123456789.") != word.npos))
        return std::vector<Candidate>();
      found.push_back({std::string(word), "choice", ""});
    }
    if (found.size() < 2) found.clear();
    return found;
  };
  std::vector<Candidate> found = listed(doc);
  // Or with what they are before them: the last pass that is done: fuse or schedule.
  const std::size_t colon = doc.find(": ");
  if (found.empty() && colon != doc.npos) found = listed(doc.substr(colon + 2));
  return found;
}

}  // namespace relish
