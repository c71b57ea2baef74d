// All transforms on the modules of all golden files: what the line behind each tells is what is different,
// and whatever stands in the result has a place in the user's text or in one of the library.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "frontend/reader.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "shell/command.h"
#include "shell/program/program_file.h"
#include "shell/workspace/transform_summary.h"
#include "support/big_stack.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/reading.h"

using namespace relish;

namespace {

struct TriedTransform {
  std::string_view name;
  std::map<std::string, std::string> options;  // beside defaults
};

const std::vector<TriedTransform>& tried_transforms() {
  static const std::vector<TriedTransform> all = {
      {"append_loss", {{"loss", "mse"}}},
      {"optimizer", {{"optimizer", "adam(lr=0.1)"}}},
      {"setup_trainer", {{"loss", "mse"}, {"optimizer", "sgd(lr=0.1)"}}},
      {"passes", {{"passes", "legalize, fuse, schedule, dce"}}},
      {"passes", {{"passes", "gradient, legalize, dce"}}},
      {"decompose", {{"mode", "training"}}},
      {"decompose", {{"mode", "inference"}}},
      {"gradient", {{"target", "jvp"}}},
  };
  return all;
}

// Every transform as it stands, and those of the list with their options.
std::vector<TriedTransform> all_tried() {
  std::vector<TriedTransform> result = tried_transforms();
  for (const Command* command : all_commands())
    if (command->transforms) result.push_back({command->name, {}});
  return result;
}

std::string text_of_function(const GlobalFunction& function) {
  Module alone;
  alone.functions.push_back(function);
  return print(alone);
}

// Where a thing of the result has no place in a text that somebody wrote.
class PlaceCheck {
 public:
  explicit PlaceCheck(std::uint32_t own) : own_(own) {}

  std::vector<std::string> lost(const Module& module) {
    for (const GlobalFunction& function : module.functions) {
      function_ = name_of(function);
      if (const auto* graph = std::get_if<FunctionPtr>(&function)) {
        for_each_binding(**graph, [&](const Binding& binding) {
          note(binding.span.known() ? binding.span : binding.value().span(), binding.var().name());
        });
      } else if (const auto* loops = std::get_if<PrimFuncPtr>(&function)) {
        // A sequence is where its statements are.
        for_each_stmt((*loops)->body, [&](const Stmt& stmt) {
          if (!stmt.as<SeqStmt>()) note(stmt->span, "a statement");
        });
      }
    }
    return std::move(lost_);
  }

 private:
  void note(Span span, const std::string& what) {
    if (is_place(span)) return;
    const SourceFile* source = span.known() ? Sources::instance().find(span.file) : nullptr;
    lost_.push_back(fmt::format("{}: {} {}", function_, what, source ? source->name() : "nowhere"));
  }
  bool is_place(Span span) const {
    if (!span.known()) return false;
    if (span.file == own_) return true;
    const SourceFile* source = Sources::instance().find(span.file);
    // Of the standard library, or a file that the text loads.
    return source && (source->name().starts_with("<stdlib>/") ||
                      source->name().find("/tests/golden/") != std::string::npos);
  }

  std::uint32_t own_;
  std::string function_;
  std::vector<std::string> lost_;
};

class GoldenTransforms {
 public:
  void add(const std::filesystem::path& path) {
    testing::GoldenFile file;
    try {
      file = testing::read_golden_file(path.string(), path.filename().string());
    } catch (const Failure&) {
      return;
    }
    const std::uint32_t own = testing::add_source(file);
    Diagnostics diagnostics;
    std::vector<ModulePtr> modules;
    try {
      const ReadResult read = read_source(own, testing::reading_options(file), diagnostics);
      if (diagnostics.has_errors()) return;
      modules = read.all_modules();
    } catch (const Failure&) {
      return;
    }
    for (const ModulePtr& module : modules) {
      ++modules_;
      // What is read has places itself.
      complain(path, "reading", PlaceCheck(own).lost(*module));
      for (const TriedTransform& transform : all_tried()) try_on(path, own, module, transform);
    }
  }

  std::size_t modules_ = 0, worked_ = 0;
  std::map<std::string_view, std::size_t> worked_by_;
  std::vector<std::string> problems_;

 private:
  void complain(const std::filesystem::path& path, std::string_view what,
                const std::vector<std::string>& lost) {
    for (const std::string& each : lost)
      problems_.push_back(fmt::format("{} of {}: {}", what, path.filename().string(), each));
  }

  void try_on(const std::filesystem::path& path, std::uint32_t own, const ModulePtr& module,
              const TriedTransform& transform) {
    const Command& command = *find_command(transform.name);
    std::vector<std::string> functions = {""};
    if (command.subject == Subject::Function) {
      functions.clear();
      for (const GlobalFunction& function : module->functions)
        if (std::holds_alternative<FunctionPtr>(function)) functions.push_back(name_of(function));
    }
    for (const std::string& function : functions) {
      Invocation call(session_, command, Surface::Script, Span{own, 0, 1});
      call.module = module;
      call.function = function;
      for (const auto& [name, value] : transform.options) call.set(name, ScriptValue(value));
      ModulePtr after;
      try {
        after = *command.run(call).as<ModulePtr>();
      } catch (const Failure&) {
        continue;
      }
      ++worked_;
      ++worked_by_[transform.name];
      TransformCall told{std::string(transform.name),
                         function,
                         command.subject == Subject::Module,
                         false,
                         std::nullopt,
                         module,
                         after};
      if (!told.whole_module && told.function.empty()) told.function = default_function_or_none(*module);
      told.after = with_origins(told, 1);
      check_changes(path, told);
      check_origins(path, told);
      complain(path, transform.name, PlaceCheck(own).lost(*after));
    }
  }

  void check_changes(const std::filesystem::path& path, const TransformCall& call) {
    ModuleChanges wanted;
    std::set<std::string> had;
    for (const std::string& name : call.before->names()) had.insert(name);
    for (const GlobalFunction& function : call.after->functions) {
      const std::string& name = name_of(function);
      if (!had.contains(name)) {
        wanted.added.push_back(name);
        continue;
      }
      const GlobalFunction& before = *call.before->find(name);
      if (before != function && text_of_function(before) != text_of_function(function) &&
          !is_same_function(before, function))
        wanted.replaced.push_back(name);
    }
    for (const std::string& name : call.before->names())
      if (!call.after->find(name)) wanted.removed.push_back(name);
    const ModuleChanges found = changes_between(*call.before, *call.after);
    const std::string line = transform_summary(call);
    const bool none = wanted.added.empty() && wanted.replaced.empty() && wanted.removed.empty();
    // Of long lists the line tells the first names.
    const auto tells = [&](const std::vector<std::string>& names) {
      return std::all_of(names.begin(),
                         names.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(8, names.size())),
                         [&](const std::string& name) { return line.find(name) != std::string::npos; });
    };
    if (found.added != wanted.added || found.replaced != wanted.replaced || found.removed != wanted.removed ||
        !tells(wanted.added) || !tells(wanted.replaced) || !tells(wanted.removed) ||
        (line == "no function changed") != none)
      problems_.push_back(fmt::format("{}({}) of {} tells '{}'", call.command, call.function,
                                      path.filename().string(), line));
  }

  // What a command made of a function says so, and means and prints the same with it.
  void check_origins(const std::filesystem::path& path, const TransformCall& call) {
    for (const GlobalFunction& function : call.after->functions) {
      const GlobalFunction* before = call.before->find(name_of(function));
      const OriginPtr origin = origin_of(function);
      const GlobalFunction* source = call.whole_module ? nullptr : call.after->find(call.function);
      const bool made = source && name_of(function) != call.function && (!before || *before != function) &&
                        !std::holds_alternative<ExternFunctionPtr>(function);
      const bool told = origin && origin->command == call.command && origin->source == call.function &&
                        origin->source_function == *source && origin->input == 1;
      if (made != told)
        problems_.push_back(fmt::format("{}({}) of {} gives {} no origin", call.command, call.function,
                                        path.filename().string(), name_of(function)));
    }
  }

  Session session_{quiet_settings(), std::make_unique<StringOutput>()};

  static Settings quiet_settings() {
    Settings settings;
    settings.tier = "interp";
    settings.quiet = true;
    return settings;
  }
};

// Every `step`-th file, or all.
void check_golden_transforms(std::size_t step) {
  start_language();
  GoldenTransforms all;
  std::size_t number = 0;
  for (const char* folder : {"check", "loops", "pass", "print", "run", "steps", "surface", "train"}) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(RELISH_SOURCE_DIR) + "/tests/golden/" + folder))
      if (entry.path().extension() == ".relish") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const std::filesystem::path& path : paths)
      if (number++ % step == 0) with_big_stack([&] { all.add(path); });
  }
  std::map<std::string, std::size_t> kinds;
  for (const std::string& problem : all.problems_) {
    UNSCOPED_INFO(problem);
    ++kinds[problem.substr(0, problem.find(' '))];
  }
  std::string table =
      fmt::format("{} files, {} modules, {} transforms ran\n", number, all.modules_, all.worked_);
  for (const auto& [name, count] : all.worked_by_) table += fmt::format("{}: {} times\n", name, count);
  if (step == 1) WARN(table);
  CHECK(all.problems_.empty());
  CHECK(all.worked_ * step > 5000);
}

}  // namespace

TEST_CASE("what transforms tell and where their results stand, on golden files") {
  check_golden_transforms(40);
}
TEST_CASE("what transforms tell and where their results stand, on all golden files", "[.][full]") {
  check_golden_transforms(1);
}
