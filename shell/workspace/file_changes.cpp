// Comparison of files with what was read from them, and reading of the difference.
#include "shell/workspace/file_changes.h"

#include <sys/stat.h>

#include <algorithm>

#include "frontend/module/module_links.h"
#include "frontend/text/scanner.h"
#include "frontend/text/syntax_check.h"
#include "ir/rewriting/rewrite.h"
#include "shell/program/function_reading.h"
#include "shell/program/reading.h"
#include "shell/program/text_units.h"
#include "shell/script/libraries.h"
#include "shell/script/redefinition.h"
#include "shell/workspace/transform_summary.h"
#include "shell/workspace/workspace.h"
#include "support/atomic_file.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

std::uint32_t source_of(const GlobalFunction& function) {
  return std::visit([](const auto& held) { return held->span.file; }, function);
}

// Texts of the functions in a class, or at top level, by name.
class UnitTexts {
 public:
  // `units`: those of the text, when it was cut before.
  UnitTexts(std::shared_ptr<const std::string> text, std::string_view owner,
            std::shared_ptr<const std::vector<TextUnit>> units = nullptr)
      : text_(std::move(text)), units_(std::move(units)) {
    if (!units_) units_ = std::make_shared<const std::vector<TextUnit>>(text_units(*text_));
    for (std::size_t i = 0; i < units_->size(); ++i)
      if ((*units_)[i].kind == TextUnit::Kind::Function && (*units_)[i].owner == owner)
        positions_[(*units_)[i].name] = i;
  }

  std::optional<std::size_t> find(std::string_view name) const {
    const auto found = positions_.find(name);
    return found == positions_.end() ? std::nullopt : std::optional<std::size_t>(found->second);
  }
  // Without the blank lines around it.
  std::string_view text_of(std::size_t unit) const {
    const TextUnit& place = (*units_)[unit];
    std::string_view text = std::string_view(*text_).substr(place.begin, place.end - place.begin);
    while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos)
      text.remove_suffix(1);
    while (text.starts_with('\n')) text.remove_prefix(1);
    return text;
  }
  const std::vector<TextUnit>& units() const { return *units_; }
  const std::shared_ptr<const std::vector<TextUnit>>& shared_units() const { return units_; }
  const std::map<std::string_view, std::size_t>& functions() const { return positions_; }

 private:
  std::shared_ptr<const std::string> text_;
  std::shared_ptr<const std::vector<TextUnit>> units_;
  std::map<std::string_view, std::size_t> positions_;
};

// A function that is gone from its file may still be called.
void refuse_missing_callees(const Module& module, const std::vector<std::string>& removed,
                            std::uint32_t source) {
  for (const GlobalFunction& function : module.functions) {
    const auto* graph = std::get_if<FunctionPtr>(&function);
    if (!graph) continue;
    for (const std::string& callee : global_references(**graph)) {
      if (std::find(removed.begin(), removed.end(), callee) == removed.end()) continue;
      fail(ErrorClass::Type, Span{source, 0, 0}, "reload.callee",
           fmt::format("the file has no '{}' any more, and '{}' calls it", printable(callee),
                       name_of(function)));
    }
  }
}

// The text must be one of the language; of a Python file what is read of it.
std::uint32_t refuse_broken_text(const std::string& path, const std::string& text) {
  const std::uint32_t source = Sources::instance().add(path, text);
  Diagnostics diagnostics;
  if (is_python_file(path)) {
    ReadOptions options;
    options.python_file = true;
    Diagnostics all;
    read_source(source, options, all);
    for (const Diagnostic& each : all.all())
      if (each.severity == Severity::Error && each.error_class == ErrorClass::Syntax) diagnostics.add(each);
  } else {
    check_syntax_of(source, diagnostics);
  }
  throw_if_errors(diagnostics);
  return source;
}

// A file that is half written has lost functions that nobody has taken out: it must be one of the language,
// and still have one of the module's.
void refuse_cut_off(const Module& module, const std::string& path, const std::string& text,
                    const std::vector<std::string>& removed) {
  const std::uint32_t source = refuse_broken_text(path, text);
  if (removed.size() < module.functions.size()) return;
  fail(ErrorClass::Type, Span{source, 0, 0}, "reload.callee",
       fmt::format("the file has no function of '{}' any more", printable(module.name)));
}

// Functions of the module that call one which is of another type by now.
std::vector<std::string> callers_of_retyped(const Module& module,
                                            const std::vector<GlobalFunction>& functions) {
  std::set<std::string> retyped;
  for (const GlobalFunction& function : functions) {
    const GlobalFunction* before = module.find(name_of(function));
    if (before && !has_same_signature(*before, function)) retyped.insert(name_of(function));
  }
  std::vector<std::string> callers;
  for (const GlobalFunction& function : module.functions) {
    const auto* graph = retyped.empty() ? nullptr : std::get_if<FunctionPtr>(&function);
    if (!graph) continue;
    const std::vector<std::string> callees = global_references(**graph);
    if (std::any_of(callees.begin(), callees.end(),
                    [&](const std::string& callee) { return retyped.contains(callee); }))
      callers.push_back(name_of(function));
  }
  return callers;
}

// With what stands around the functions of the class: imports and constants are read with them, other classes
// and functions are not; but those of Python, as what uses one is left out by its name.
std::vector<bool> with_surroundings(const UnitTexts& texts, std::vector<bool> wanted, std::string_view owner,
                                    bool python) {
  std::set<std::string_view> of_python;
  for (const TextUnit& unit : texts.units())
    if (python && unit.kind == TextUnit::Kind::Class && !unit.decorated) of_python.insert(unit.name);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const TextUnit& unit = texts.units()[i];
    const bool around = unit.kind == TextUnit::Kind::Other && (unit.owner.empty() || unit.owner == owner);
    const bool header = unit.kind == TextUnit::Kind::Class && unit.name == owner;
    const bool helper = (python && unit.kind == TextUnit::Kind::Function && unit.owner.empty()) ||
                        of_python.contains(unit.kind == TextUnit::Kind::Class ? unit.name : unit.owner);
    wanted[i] = wanted[i] || around || header || helper;
  }
  return wanted;
}

// What has the decorator of a macro, or needs something else of Python's, declares nothing, however often it
// is read. `before`: texts that were read, with what is there by now.
template <typename Texts>
bool was_read(const Texts& before, std::string_view name, std::string_view unit) {
  return std::any_of(before.begin(), before.end(), [&](const auto& each) {
    const UnitTexts& texts = each.second;
    const auto old = texts.find(name);
    return old && texts.text_of(*old) == unit;
  });
}

// Whether a line begins so; what stands in a text of several lines there is taken for one.
bool has_class(const std::string& text, const std::string& name) {
  const std::string header = "class " + name;
  for (std::size_t at = text.find(header); at != std::string::npos; at = text.find(header, at + 1)) {
    const char behind = at + header.size() < text.size() ? text[at + header.size()] : ':';
    if ((at == 0 || text[at - 1] == '\n') && !is_name_part(behind)) return true;
  }
  return false;
}

std::shared_ptr<const std::string> text_of_file(const std::string& path) {
  std::string text = read_file(path, limits().max_source_bytes, "--max-source-size");
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

std::optional<FileChanges::FileText> FileChanges::file_of(std::uint32_t source) const {
  if (const auto whole = whole_.find(source); whole != whole_.end())
    return whole->second.path.empty() ? std::nullopt : std::optional(whole->second);
  const SourceFile* file = Sources::instance().find(source);
  if (!file || !is_program_path(file->name()) || file->name().starts_with('<')) return std::nullopt;
  // The text lives as long as the process.
  return FileText{file->name(),
                  std::shared_ptr<const std::string>(std::shared_ptr<const void>(), &file->text())};
}

std::optional<FileChanges::FileText> FileChanges::file_of(const GlobalFunction& function) const {
  auto file = file_of(source_of(function));
  if (file && file->names && !file->names->contains(name_of(function))) return std::nullopt;
  return file;
}

std::optional<FileFunctions> FileChanges::functions_of_file(const Module& module) const {
  std::optional<FileFunctions> functions;
  std::uint32_t newest = 0;
  for (const GlobalFunction& function : module.functions) {
    if (origin_of(function)) continue;
    const auto file = file_of(function);
    if (!file || (functions && functions->path != file->path)) continue;
    if (!functions) functions = FileFunctions{file->path, file->text, {}};
    // What was read again has the newest text, in which the others stand as they did.
    if (source_of(function) >= newest) functions->text = file->text;
    newest = std::max(newest, source_of(function));
    functions->names.insert(name_of(function));
  }
  return functions;
}

void FileChanges::take_saved(std::uint32_t source, std::optional<FileFunctions> functions) {
  FileText& file = whole_[source];
  file = {};
  if (!functions) return;
  file.path = std::move(functions->path);
  file.text = std::move(functions->text);
  file.names = std::make_shared<const std::set<std::string>>(std::move(functions->names));
}

// Functions that a command made come from other functions, and from no file.
bool FileChanges::is_own(const GlobalFunction& function, const std::string& path) const {
  if (origin_of(function)) return false;
  const auto file = file_of(function);
  return file && file->path == path;
}

std::optional<FileChanges::FileText> FileChanges::file_of_module(const ModulePtr& module) const {
  for (const GlobalFunction& function : module->functions) {
    if (origin_of(function)) continue;
    if (auto file = file_of(function)) return file;
  }
  return std::nullopt;
}

// --- Reading.

// A text is cut once, however often the file changes.
FileChanges::FileText FileChanges::cut_file_of(std::uint32_t source) {
  FileText file = *file_of(source);
  if (!file.units) {
    file.units = std::make_shared<const std::vector<TextUnit>>(text_units(*file.text));
    whole_[source] = file;
  }
  return file;
}

ModulePtr FileChanges::read_changed(const ModulePtr& module, const FileText& file,
                                    const std::shared_ptr<const std::string>& now) {
  const UnitTexts fresh(now, module->name);
  std::map<std::uint32_t, UnitTexts> before;  // by source
  std::vector<bool> wanted(fresh.units().size());
  std::vector<std::string> removed;
  bool any = false;
  for (const GlobalFunction& function : module->functions) {
    if (!is_own(function, file.path)) continue;
    const std::uint32_t source = source_of(function);
    auto known = before.find(source);
    if (known == before.end()) {
      const FileText cut = cut_file_of(source);
      known = before.emplace(source, UnitTexts(cut.text, module->name, cut.units)).first;
    }
    const auto old = known->second.find(name_of(function));
    if (!old) continue;  // it was linked in
    const auto unit = fresh.find(name_of(function));
    if (!unit) {
      removed.push_back(name_of(function));
    } else if (fresh.text_of(*unit) != known->second.text_of(*old)) {
      wanted[*unit] = any = true;
    }
  }
  const bool python = is_python_file(file.path);
  std::vector<std::string> missing;
  for (const auto& [name, unit] : fresh.functions()) {
    if (module->find(name)) continue;
    missing.emplace_back(name);
    any = any || !python ||
          !(declared_nothing(fresh.text_of(unit)) || was_read(before, name, fresh.text_of(unit)));
  }
  if (!any && removed.empty()) return module;
  if (any)
    for (const std::string& name : missing) wanted[*fresh.find(name)] = true;
  if (!removed.empty()) refuse_cut_off(*module, file.path, *now, removed);
  Module result = *module;
  for (const std::string& name : removed) result.remove(name);
  std::vector<GlobalFunction> functions;
  std::uint32_t source = 0;
  for (bool more = true; more;) {
    const std::vector<bool> read_units = with_surroundings(fresh, wanted, module->name, python);
    source = Sources::instance().add(file.path, text_of_units(*now, fresh.units(), read_units));
    whole_[source] = {file.path, now, fresh.shared_units()};
    if (any) {
      const SomeFunctions read = read_some_functions(source, result, file.path, workspace_.session());
      functions.clear();
      if (read.module) functions.assign(read.module->functions.begin(), read.module->functions.end());
      workspace_.session().report(read.warnings);
    }
    more = false;
    // What calls a function of another type now may be of another type itself.
    for (const std::string& caller : callers_of_retyped(result, functions)) {
      const auto unit = fresh.find(caller);
      if (!unit || wanted[*unit] || !is_own(*module->find(caller), file.path)) continue;
      wanted[*unit] = more = true;
    }
  }
  for (const std::string& name : missing)
    if (std::none_of(functions.begin(), functions.end(),
                     [&](const GlobalFunction& function) { return name_of(function) == name; }))
      declaring_nothing_.emplace(fresh.text_of(*fresh.find(name)));
  if (functions.empty() && removed.empty()) return module;
  const ModulePtr made = with_functions(result, functions, Span{source, 0, 0});
  if (!removed.empty()) refuse_missing_callees(*made, removed, source);
  return made;
}

// A file of free functions is read as it was loaded; what prints the same stays the very same.
ModulePtr FileChanges::read_whole(const ModulePtr& module, const FileText& file, const std::string& now) {
  if (now == *file.text) return module;
  const ModulePtr read = with_known_functions(workspace_.script().load_module(file.path, {}, true), *module);
  std::vector<GlobalFunction> changed;
  for (const GlobalFunction& function : read->functions) {
    const GlobalFunction* before = module->find(name_of(function));
    if (!before || *before != function) changed.push_back(function);
  }
  Module rest = *module;
  std::vector<std::string> removed;
  for (const GlobalFunction& function : module->functions) {
    if (!is_own(function, file.path) || read->find(name_of(function))) continue;
    removed.push_back(name_of(function));
    rest.remove(name_of(function));
  }
  if (changed.empty() && removed.empty()) return module;
  const std::uint32_t source = read->functions.empty() ? 0 : source_of(read->functions.front());
  const ModulePtr made = with_functions(rest, changed, Span{source, 0, 0});
  if (!removed.empty()) refuse_missing_callees(*made, removed, source);
  return made;
}

// The module as its file says it by now; the same one where nothing changed, null where no file says it.
ModulePtr FileChanges::read_again(const ModulePtr& module) {
  const auto file = file_of_module(module);
  if (!file) return nullptr;
  const auto text = text_of_file(file->path);
  if (library_of(module)) {
    // Its functions of the script are bound to the text as a whole.
    return *text == *file->text ? module : workspace_.script().load_module(file->path, {}, true);
  }
  if (!has_class(*text, module->name) && !has_class(*file->text, module->name))
    return read_whole(module, *file, *text);
  return read_changed(module, *file, text);
}

void FileChanges::note_run(const std::string& path, std::string text) {
  ran_[path] = std::make_shared<const std::string>(std::move(text));
}

// Whether the file has declared one of the modules that names stand for.
bool FileChanges::has_module_of(const std::string& path) const {
  const Environment& environment = workspace_.script().environment();
  const std::vector<std::string> names = environment.names();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    if (kind_name(*environment.peek(name)) != "module") return false;
    const auto file = file_of_module(*environment.find(name)->as<ModulePtr>());
    return file && file->path == path;
  });
}

// Of a file that was loaded as its one class: the free functions that it has by now, which no name holds.
std::optional<std::string> FileChanges::told_of_others(const ModulePtr& module) {
  const auto file = file_of_module(module);
  if (!file || ran_.contains(file->path) || library_of(module)) return std::nullopt;
  const auto now = text_of_file(file->path);
  if (*now == *file->text || !has_class(*now, module->name)) return std::nullopt;
  const UnitTexts before(file->text, ""), fresh(now, "");
  std::string names;
  for (const auto& [name, unit] : fresh.functions())
    if (is_declaration(*now, fresh.units()[unit]) && !before.find(name))
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  if (names.empty()) return std::nullopt;
  return fmt::format(
      "{}: {} outside of the class {}, which load gave, and not read; a file of its own can be loaded",
      printable(file->path), names.find(',') == std::string::npos ? names + " stands" : names + " stand",
      printable(module->name));
}

// They are declared anew, as a text that is typed declares them.
std::optional<std::string> FileChanges::reload_free_functions(const std::set<std::string>& names) {
  const ModulePtr held = workspace_.script().free_functions();
  const ModulePtr functions = held ? held : std::make_shared<const Module>();
  std::map<std::string, std::set<std::string>> by_path;
  // Of a file that the session ran the first free function comes in as any later one.
  for (const auto& [path, text] : ran_)
    if (names.empty() && has_module_of(path)) by_path[path];
  for (const GlobalFunction& function : functions->functions) {
    if (!names.empty() && !names.contains(name_of(function))) continue;
    if (const auto file = file_of(function); file && is_own(function, file->path))
      by_path[file->path].insert(name_of(function));
  }
  std::string told;
  for (const auto& [path, own] : by_path) {
    const auto now = text_of_file(path);
    const UnitTexts fresh(now, "");
    std::map<const std::string*, UnitTexts> read;  // texts of the file that were read before, each cut once
    const auto cut = [&](const std::shared_ptr<const std::string>& text) -> const UnitTexts& {
      const auto known = read.find(text.get());
      return known != read.end() ? known->second
                                 : read.emplace(text.get(), UnitTexts(text, "")).first->second;
    };
    if (const auto ran = ran_.find(path); ran != ran_.end()) cut(ran->second);
    std::vector<bool> wanted(fresh.units().size());
    std::vector<std::string> changed, missing;
    for (const std::string& name : own) {
      const UnitTexts& before = cut(file_of(*functions->find(name))->text);
      const auto old = before.find(name), unit = fresh.find(name);
      if (!old || !unit || before.text_of(*old) == fresh.text_of(*unit)) continue;
      wanted[*unit] = true;
      changed.push_back(name);
    }
    // What declares nothing is read again beside something that is another one by now.
    bool any = !changed.empty();
    for (const auto& [unit_name, unit] : fresh.functions()) {
      if (!names.empty() || !fresh.units()[unit].decorated || functions->find(unit_name)) continue;
      missing.emplace_back(unit_name);
      any = any || !(declared_nothing(fresh.text_of(unit)) || was_read(read, unit_name, fresh.text_of(unit)));
    }
    if (!any) continue;
    for (const std::string& name : missing) wanted[*fresh.find(name)] = true;
    workspace_.run(path, text_of_units(*now, fresh.units(), wanted));
    const ModulePtr declared_now = workspace_.script().free_functions();
    const ModulePtr after = declared_now ? declared_now : functions;
    for (const auto& [mark, group] : {std::pair("~ ", &changed), std::pair("+ ", &missing)}) {
      for (const std::string& name : *group) {
        const GlobalFunction *declared = after->find(name), *before = functions->find(name);
        if (!declared) declaring_nothing_.emplace(fresh.text_of(*fresh.find(name)));
        if (!declared || (before && *before == *declared)) continue;
        whole_[source_of(*declared)] = {path, now};
        told += (told.empty() ? "" : ", ") + (mark + name);
      }
    }
  }
  return told.empty() ? std::nullopt : std::optional<std::string>(told);
}

void FileChanges::check_known(const std::string& name) const {
  const Environment& environment = workspace_.script().environment();
  const ScriptValue* value = environment.find(name);
  const auto* module = value ? value->as<ModulePtr>() : nullptr;
  const auto* function = value ? value->as<FunctionReference>() : nullptr;
  const bool known =
      (module && file_of_module(*module)) || (function && file_of(*function->module->find(function->name)));
  if (known) return;
  fail(ErrorClass::Usage, {}, "reload.subject",
       fmt::format("reload: '{}' is {}; expected a module or free function that a file declares{}",
                   printable(name), value ? describe(*value) : "not bound",
                   value ? "" : did_you_mean(name, environment.names())));
}

// All files are read before any name is bound anew, and all that changed is one state.
std::vector<std::string> FileChanges::reload(const std::optional<std::string>& name) {
  if (name) check_known(*name);
  Environment& environment = workspace_.script().environment();
  std::vector<std::pair<std::string, ModulePtr>> changed;
  std::vector<std::string> told, others;
  bool functions = !name;
  for (const std::string& each : name ? std::vector<std::string>{*name} : environment.names()) {
    const bool holds_module = kind_name(*environment.peek(each)) == "module";
    functions |= name && !holds_module;
    if (!holds_module) continue;
    TransformCall call;
    call.command = "reload";
    call.whole_module = true;
    call.before = *environment.find(each)->as<ModulePtr>();
    // What goes by two names goes by both of them afterwards.
    const auto same =
        std::find_if(changed.begin(), changed.end(), [&](const std::pair<std::string, ModulePtr>& other) {
          return *environment.find(other.first)->as<ModulePtr>() == call.before;
        });
    call.after = same == changed.end() ? read_again(call.before) : same->second;
    if (auto line = told_of_others(call.before);
        line && std::find(others.begin(), others.end(), *line) == others.end())
      others.push_back(std::move(*line));
    if (!call.after || call.after == call.before) continue;
    changed.emplace_back(each, call.after);
    told.push_back(fmt::format("{}: {}", each, transform_summary(call)));
  }
  if (functions) {
    auto line = reload_free_functions(name ? std::set<std::string>{*name} : std::set<std::string>());
    if (line) told.push_back(std::move(*line));
  }
  if (told.empty()) refuse_broken_files(name);
  if (!told.empty()) workspace_.rebind_modules(changed, name ? ":reload " + *name : ":reload");
  told.insert(told.end(), others.begin(), others.end());
  return told;
}

// A file that changed beside its functions, and is none of the language any more, is not as it was.
void FileChanges::refuse_broken_files(const std::optional<std::string>& name) const {
  for (const auto& [path, text] : files_of(name))
    if (const auto now = text_of_file(path); *now != *text) refuse_broken_text(path, *now);
}

// --- Watching.

FileChanges::Seen FileChanges::seen_of(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return {};
  constexpr std::int64_t second = 1'000'000'000;
  return {info.st_mtim.tv_sec * second + info.st_mtim.tv_nsec, static_cast<std::uint64_t>(info.st_size)};
}

std::map<std::string, std::shared_ptr<const std::string>> FileChanges::files_of(
    const std::optional<std::string>& name) const {
  std::map<std::string, std::shared_ptr<const std::string>> files;
  const Environment& environment = workspace_.script().environment();
  for (const std::string& each : environment.names()) {
    const std::string_view kind = kind_name(*environment.peek(each));
    if ((name && each != *name) || (kind != "module" && kind != "function")) continue;
    const ScriptValue& value = *environment.find(each);
    std::optional<FileText> file;
    if (const auto* module = value.as<ModulePtr>()) file = file_of_module(*module);
    if (const auto* function = value.as<FunctionReference>())
      file = file_of(*function->module->find(function->name));
    if (file) files.emplace(file->path, file->text);
  }
  return files;
}

void FileChanges::watch(const std::optional<std::string>& name) {
  if (std::find(watched_.begin(), watched_.end(), name) == watched_.end()) watched_.push_back(name);
  for (const auto& [path, text] : files_of(name)) seen_[path] = seen_of(path);
}

bool FileChanges::changed() {
  bool any = false;
  for (const auto& name : watched_) {
    for (const auto& [path, text] : files_of(name)) {
      const Seen now = seen_of(path);
      const auto [known, fresh] = seen_.emplace(path, now);
      any |= !fresh && !(known->second == now);
      known->second = now;
    }
  }
  return any;
}

std::vector<std::optional<std::string>> FileChanges::watched() const { return watched_; }

}  // namespace relish
