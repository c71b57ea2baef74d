// What a script knows: arguments of the command line, the files that it may name, modules of files, and what
// its names may be.
#include "shell/script/script_state.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "frontend/names/foreign_texts.h"
#include "shell/command.h"
#include "shell/program/literal_text.h"
#include "shell/program/module_files.h"
#include "shell/program/reading.h"
#include "shell/script/builtins.h"
#include "shell/script/constant_values.h"
#include "shell/script/methods.h"
#include "shell/script/python_names.h"
#include "shell/script/unfinished_modules.h"
#include "stdlib/python_modules.h"
#include "stdlib/surface.h"
#include "support/render.h"
#include "support/suggest.h"
#include "support/value_text.h"
#include "train/run_folder.h"

namespace relish {
namespace {

[[noreturn]] void bad_value(const std::string& name, const std::string& text, std::string_view expected) {
  fail(ErrorClass::Usage, {}, "arg.value",
       fmt::format("--set {}: found '{}'; expected {}", name, printable(text), expected));
}

// A value of `--set` as the default's kind.
ScriptValue converted(const std::string& name, const std::string& text, const ScriptValue& fallback) {
  if (fallback.as<bool>()) {
    if (text == "True" || text == "true" || text == "1") return true;
    if (text == "False" || text == "false" || text == "0") return false;
    bad_value(name, text, "True or False");
  }
  if (fallback.as<std::int64_t>()) {
    const auto value = whole_number<std::int64_t>(text);
    if (!value) bad_value(name, text, "an int");
    return *value;
  }
  if (fallback.as<double>()) {
    const auto value = real_number(text);
    if (!value) bad_value(name, text, "a number");
    return *value;
  }
  if (fallback.string()) return text;
  if (fallback.sequence()) {
    ScriptValue value = parse_literal(text, "--set " + name);
    if (!value.sequence()) bad_value(name, text, "a list such as [64, 32]");
    return value;
  }
  // Without a default the text decides.
  bool literal =
      !text.empty() && (std::string_view("[(\"'-+.0123456789").find(text[0]) != std::string_view::npos ||
                        text == "True" || text == "False" || text == "None");
  return literal ? parse_literal(text, "--set " + name) : ScriptValue(text);
}

// A value that stands for a type of arg(); null for other words.
const ScriptValue* value_of_type(std::string_view type) {
  static const std::vector<std::pair<std::string_view, ScriptValue>> kinds = {
      {"str", ""}, {"int", 0}, {"float", 0.0}, {"bool", false}, {"list", ScriptValue::list({})}};
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& each) { return each.first == type; });
  return found == kinds.end() ? nullptr : &found->second;
}

// Each declaration makes a new list of the free functions, to which the references to all of them are bound
// anew; those to functions that it left alone are no change.
bool is_same_own_function(const ScriptValue& known, const ScriptValue& value, const ModulePtr& functions) {
  const auto* reference = value.as<FunctionReference>();
  return reference && reference->module == functions && is_same_free_function(known, value);
}

// Names of free functions whose own values are the same in two states mean functions of two lists.
void bind_free_functions_of(const State& state, Environment& environment) {
  if (!state.free_functions) return;
  for (const GlobalFunction& function : state.free_functions->functions) {
    const std::string& name = name_of(function);
    const ScriptValue* bound = environment.peek(name);
    if (!bound || kind_name(*bound) != "function") continue;
    try {
      environment.set(name, value_in(state, name, *bound));
    } catch (const Failure& failure) {
      // A file does not have it as it was written; who uses it is told.
      if (failure.error_class() == ErrorClass::Interrupted) throw;
    }
  }
}

}  // namespace

ScriptState::ScriptState(Session& session, ScriptOptions options)
    : session_(session), options_(std::move(options)), operators_(session) {
  start_language();
}

State ScriptState::state_since(const State& before) {
  State state = before;
  for (const std::string& name : environment_.take_changed()) {
    const ScriptValue* value = environment_.find(name);
    const ScriptValue* known = state.names.find(name);
    if (!value) {
      state.names = state.names.without(name);
    } else if (!known ||
               !(is_same_value(*known, *value) || is_same_own_function(*known, *value, free_functions_))) {
      state.names = state.names.with(name, *value);
    }
  }
  state.free_functions = free_functions_;
  Surroundings around{namespaces_, earlier_.linked, earlier_.constants};
  if (!state.around || !(*state.around == around))
    state.around = std::make_shared<const Surroundings>(std::move(around));
  const Settings& settings = session_.settings();
  state.options = {settings.tier, settings.threads, settings.seed, settings.draws};
  return state;
}

void ScriptState::go_to(const State& from, const State& to) {
  from.names.for_each_difference(
      to.names, [&](const std::string& name, const ScriptValue* here, const ScriptValue* there) {
        if (there) {
          environment_.set(name, *there);
        } else if (here && environment_.peek(name)) {
          environment_.remove(name);
        }
      });
  if (free_functions_ != to.free_functions) {
    free_functions_ = to.free_functions;
    bind_free_functions_of(to, environment_);
  }
  environment_.take_changed();
  if (to.around) {
    namespaces_ = to.around->namespaces;
    earlier_.linked = to.around->linked;
    earlier_.constants = to.around->constants;
  }
  Settings& settings = session_.settings();
  settings.tier = to.options.tier;
  settings.threads = to.options.threads;
  settings.seed = to.options.seed;
  settings.draws = to.options.draws;
}

ReadOptions ScriptState::reading_options() {
  ReadOptions options;
  earlier_.sound = free_functions_;
  if (free_functions_) {
    // A name that is bound to a function with holes means no other.
    for (const std::string& name : free_functions_->names()) {
      const ScriptValue* bound = environment_.peek(name);
      const auto* reference = bound ? bound->as<FunctionReference>() : nullptr;
      if (!reference || !unfinished_modules().holds(reference->module)) continue;
      Module sound = *earlier_.sound;
      sound.remove(name);
      earlier_.sound = std::make_shared<const Module>(std::move(sound));
    }
  }
  options.session_functions = earlier_.sound.get();
  options.namespaces = namespaces_;
  options.session_links = earlier_.linked;
  for (const std::string& name : environment_.names()) {
    // What is not read yet need not be for this; a module is read when a function of the text calls one of
    // it.
    const ScriptValue& value = *environment_.peek(name);
    const bool module = kind_name(value) == "module";
    if (module) {
      options.session_modules.push_back(name);
      options.session_loads.emplace_back(name, [this, name] {
        const ModulePtr loaded = *environment_.find(name)->as<ModulePtr>();
        unfinished_modules().refuse(loaded, {});
        return loaded;
      });
    }
    if (value.is_unread()) {
      const bool is_declared =
          kind_name(value) == "function" && free_functions_ && free_functions_->find(name);
      if (!module && !is_declared) options.session_names.push_back(name);
      continue;
    }
    if (earlier_.constants.contains(name)) {
      if (auto literal = literal_of(value)) options.session_constants.emplace(name, std::move(literal));
    }
    bool declared = free_functions_ && value.as<FunctionReference>() && free_functions_->find(name);
    if (!module && !declared) options.session_names.push_back(name);
  }
  options.constant_value = constant_values(session_.settings().sets);
  options.is_change = is_change;
  options.makes_no_module = makes_no_module;
  options.load_module = [this](const std::string& path, Span span) {
    ModulePtr& module = earlier_.read_ahead[path];
    if (!module) module = read_module_file(path, span);
    return module;
  };
  return options;
}

ModulePtr ScriptState::read_module_file(const std::string& path, Span span) {
  LoadedModule loaded =
      load_module_file(path, path_rules(), inside_.library ? inside_.library->chain : files_.chain, span);
  session_.report(loaded.warnings);
  if (loaded.text) take_library(loaded.module, *loaded.text);
  return loaded.module;
}

ModulePtr ScriptState::load_module(const std::string& path, Span span, bool again) {
  if (inside_.library || again) return read_module_file(path, span);
  auto ahead = earlier_.read_ahead.find(path);
  return ahead != earlier_.read_ahead.end() && ahead->second ? ahead->second : read_module_file(path, span);
}

PathRules ScriptState::path_rules() const {
  PathRules rules = relish::path_rules(session_, inside_.library ? inside_.library->folder : options_.folder,
                                       options_.confined);
  // What the command line gave is named by the user.
  for (const auto& [name, text] : session_.settings().sets) {
    if (!text.empty()) rules.given.push_back(text);
  }
  // And what a job of this script says of its folder is a path as it is: t["run_dir"] + "/metrics.csv".
  const std::vector<std::string>& jobs = session_.settings().job_folders;
  rules.given.insert(rules.given.end(), jobs.begin(), jobs.end());
  rules.jobs.push_back(RunFolderOptions().base);
  for (const auto& [name, text] : session_.settings().job_flags) {
    if (name == "run_dir") {
      rules.given.push_back(text);
      rules.jobs.push_back(text);
    }
    if (name == "resume" && text != resume_newest) {
      rules.given.push_back(text);
      rules.jobs.push_back(run_folder_of(text));
    }
  }
  return rules;
}

std::string ScriptState::resolve_path(const std::string& path, Span span) {
  return resolve(path_rules(), path, span);
}

bool is_argument_type(std::string_view type) { return value_of_type(type) != nullptr; }

ScriptValue ScriptState::argument(const std::string& name, const ScriptValue* fallback,
                                  const std::string* type, Span span) {
  // The last of repeated flags holds. They are the script's, not those of a file that it loads.
  const std::string* given = nullptr;
  if (inside_.library && fallback) return *fallback;
  for (const auto& [set_name, text] : session_.settings().sets) {
    if (set_name == name) given = &text;
  }
  // The kind is that of the default, or of a value that stands for the type.
  ScriptValue kind = fallback ? *fallback : ScriptValue();
  if (type) {
    const ScriptValue* found = value_of_type(*type);
    if (!found) {
      fail(ErrorClass::Type, span, "arg.type",
           fmt::format("arg: found the type '{}'; expected str, int, float, bool or list", printable(*type)));
    }
    kind = *found;
  }
  const auto keep = [&](ScriptValue value) {
    session_.settings().arguments[name] = text_of(value);
    return value;
  };
  if (given) return keep(converted(name, *given, kind));
  if (fallback) return keep(*fallback);
  missing_argument(options_, name, span);
}

void missing_argument(const ScriptOptions& options, const std::string& name, Span span) {
  fail(ErrorClass::Usage, span, "arg.missing",
       options.interactive
           ? fmt::format(
                 "the argument '{0}' has no value in a session; write arg(\"{0}\", VALUE), or begin the "
                 "session with relish repl --set {0}=VALUE",
                 printable(name))
           : fmt::format("the argument '{}' is missing; give it with --set {}=VALUE", printable(name), name));
}

NameSlot* ScriptState::slot_of(const ast::Name& name) const {
  if (name.place.kind == ast::NamePlace::Kind::Local) return &frame_->slots[name.place.index];
  if (name.place.kind == ast::NamePlace::Kind::Cell) return frame_->cells[name.place.index].get();
  return nullptr;
}

const ScriptValue* ScriptState::variable(const ast::Name& name) const {
  if (const NameSlot* slot = slot_of(name)) return slot->bound ? &slot->value : nullptr;
  const bool placed = name.place.kind == ast::NamePlace::Kind::Script && name.place.owner == names().number();
  return placed ? names().at(name.place.index) : names().find(name.id);
}

void ScriptState::set_script_name(const ast::Name& name, ScriptValue value, Span span) {
  if (name.place.owner == names().number() && names().is_bound(name.place.index)) {
    names().set_at(name.place.index, std::move(value));
  } else {
    set_name(name.id, std::move(value), span);
  }
}

void ScriptState::set_name(const std::string& name, ScriptValue value, Span span) {
  // An alias is hidden without a word.
  const Command* command = names().peek(name) || inside_.library ? nullptr : find_command(name);
  bool hides = command && command->name == name && (command->surfaces & in_scripts);
  names().set(name, std::move(value));
  if (!hides) return;
  Diagnostic note;
  note.severity = Severity::Note;
  note.span = span;
  note.message =
      fmt::format("'{0}' hides the command of that name, which stays reachable as relish.{0}", name);
  session_.report(note);
}

void ScriptState::unknown_name(const std::string& name, Span span) {
  if (inside_.library && inside_.library->left_out.contains(name)) {
    fail(ErrorClass::Type, span, "name.left_out",
         fmt::format("'{}' is made by a statement of '{}', which load does not run; its functions see the "
                     "file's constants, functions and loads; pass it as a parameter",
                     printable(name),
                     printable(std::filesystem::path(inside_.library->file).filename().string())));
  }
  std::vector<std::string> candidates = names().names();
  for (const Builtin& builtin : all_builtins()) candidates.emplace_back(builtin.name);
  for (const Command* command : all_commands()) {
    if (command->surfaces & in_scripts) candidates.emplace_back(command->name);
  }
  // An operator of that very name is meant before another name that is like it.
  const auto op = exact_operator(name);
  std::string advice = python_name_advice(name);
  const bool known = !advice.empty();
  if (const std::string_view module = instead_of_python_module(name); !known && !module.empty())
    advice = fmt::format("; {}", module);
  if (advice.empty()) advice = op ? fmt::format("; the operator is R.{}", *op) : foreign_word_advice(name);
  if (advice.empty()) advice = did_you_mean(name, candidates);
  if (advice.empty()) advice = foreign_page_advice(name);
  if (const Command* command = find_command(name); command && !known && !(command->surfaces & in_scripts))
    advice = command->surfaces & in_session
                 ? fmt::format("; it is a command of a session: :{}", shell_name(command->name))
                 : fmt::format("; it is a command of the shell: relish {}", shell_name(command->name));
  fail(ErrorClass::Type, span, "name.unknown", fmt::format("unknown name '{}'{}", printable(name), advice));
}

std::string ScriptState::namespace_path(const ast::Expr& expr) const {
  const ast::Expr* root = &expr;
  while (const auto* attribute = root->as<ast::Attribute>()) root = attribute->object.get();
  const auto* name = root->as<ast::Name>();
  if (!name || slot_of(*name) || variable(*name) || !namespaces().known(name->id)) return {};
  return namespaces().canonical(ast::dotted_name(expr));
}

}  // namespace relish
