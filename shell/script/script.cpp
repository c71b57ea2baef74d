// A script's life: reading and running of texts, arguments of the command line, and the files that it may
// name.
#include "shell/script/script.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include <sys/stat.h>

#include "shell/program/literal_text.h"
#include "shell/program/reading.h"
#include "support/big_stack.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void bad_value(const std::string& name, const std::string& text, std::string_view expected) {
  fail(ErrorClass::Usage, {}, "arg.value",
       fmt::format("--set {}: found '{}'; expected {}", name, printable(text), expected));
}

// A value of `--set` as the default's kind.
ScriptValue converted(const std::string& name, const std::string& text, const ScriptValue& fallback) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (fallback.as<bool>()) {
    if (text == "True" || text == "true" || text == "1") return true;
    if (text == "False" || text == "false" || text == "0") return false;
    bad_value(name, text, "True or False");
  }
  if (fallback.as<std::int64_t>()) {
    std::int64_t value = 0;
    auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc{} || stop != end || text.empty()) bad_value(name, text, "an int");
    return value;
  }
  if (fallback.as<double>()) {
    double value = 0;
    auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc{} || stop != end || text.empty()) bad_value(name, text, "a number");
    return value;
  }
  if (fallback.string()) return text;
  if (fallback.sequence()) {
    ScriptValue value = parse_literal(text, "--set " + name);
    if (!value.sequence()) bad_value(name, text, "a list");
    return value;
  }
  // Without a default the text decides.
  bool literal =
      !text.empty() && (std::string_view("[(\"'-+.0123456789").find(text[0]) != std::string_view::npos ||
                        text == "True" || text == "False" || text == "None");
  return literal ? parse_literal(text, "--set " + name) : ScriptValue(text);
}

bool is_below(const fs::path& path, const fs::path& folder) {
  auto [rest, mark] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return rest == folder.end() || (std::next(rest) == folder.end() && rest->empty());
}

// No component below `folder` is a symlink, and the file is a regular one with one name.
void check_components(const fs::path& folder, const fs::path& relative, const std::string& shown, Span span) {
  fs::path walked = folder.empty() ? fs::path(".") : folder;
  for (auto part = relative.begin(); part != relative.end(); ++part) {
    walked /= *part;
    struct stat info{};
    bool last = std::next(part) == relative.end();
    bool found = lstat(walked.c_str(), &info) == 0;
    if (!found && last) {
      // FILE:ENTRY
      std::string name = part->string();
      walked.replace_filename(name.substr(0, name.rfind(':')));
      found = lstat(walked.c_str(), &info) == 0;
    }
    if (!found) return;  // opening it will say why
    if (S_ISLNK(info.st_mode)) {
      fail(ErrorClass::Policy, span, "path.symlink",
           fmt::format("'{}' leads through a symlink; name its folder with --root", printable(shown)));
    }
    bool ordinary = S_ISREG(info.st_mode) && info.st_nlink == 1;
    if (last && !ordinary && !S_ISDIR(info.st_mode)) {
      fail(ErrorClass::Policy, span, "path.kind",
           fmt::format("'{}' is no regular file with one name; name its folder with --root",
                       printable(shown)));
    }
  }
}

}  // namespace

Script::Script(Session& session, ScriptOptions options)
    : session_(session), options_(std::move(options)), operators_(session) {
  start_language();
}

ReadingContext Script::reading_context() const {
  ReadingContext context;
  context.free_functions = free_functions_;
  for (const std::string& name : environment_.names()) {
    const ScriptValue& value = *environment_.find(name);
    if (value.as<ModulePtr>()) context.modules.push_back(name);
    bool declared = free_functions_ && value.as<FunctionReference>() && free_functions_->find(name);
    if (!value.as<ModulePtr>() && !declared) context.names.push_back(name);
  }
  return context;
}

void Script::run_text(std::string name, std::string text) {
  run(Sources::instance().add(std::move(name), std::move(text)));
}

void Script::run(std::uint32_t file) {
  with_big_stack([&] {
    text_functions_.clear();
    std::vector<Diagnostic> warnings;
    ast::Block statements = read_statements(file, reading_context(), warnings);
    session_.report(warnings);
    declare_arguments(statements);
    if (!options_.interactive) {
      for (const auto& [name, value] : session_.settings().sets) {
        if (declared_arguments_.count(name)) continue;
        std::vector<std::string> known(declared_arguments_.begin(), declared_arguments_.end());
        fail(ErrorClass::Usage, {}, "arg.unknown",
             fmt::format("--set: the script declares no argument '{}'{}", printable(name),
                         did_you_mean(name, known)));
      }
    }
    std::size_t group_end = 0;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (i == group_end) group_end = begin_functions(statements, i);
      // The text that opens a file describes it; it is no value to show.
      const auto* expression = statements[i].as<ast::ExpressionStatement>();
      bool description =
          i == 0 && statements.size() > 1 && expression && expression->value->as<ast::StringValue>();
      if (!description) run_statement(statements[i]);
    }
  });
}

// Functions may call each other up to the first that is defined anew; returns its position, or the end.
std::size_t Script::begin_functions(const ast::Block& statements, std::size_t begin) {
  text_functions_.clear();
  std::set<std::string> names;
  for (std::size_t i = begin; i < statements.size(); ++i) {
    const auto* node = statements[i].as<ast::DeclareFunction>();
    if (!node) continue;
    if (!names.insert(name_of(node->function)).second) return i;
    text_functions_.push_back(node->function);
  }
  return statements.size();
}

ScriptValue Script::evaluate(std::uint32_t file) {
  ScriptValue result;
  with_big_stack([&] {
    ast::ExprPtr expr = read_one_expression(file);
    try {
      result = value_of(*expr);
    } catch (Failure& failure) {
      failure.at(expr->span);
      throw;
    }
  });
  return result;
}

ScriptValue Script::argument(const std::string& name, const ScriptValue& fallback, Span) {
  // The last of repeated flags holds.
  const std::string* given = nullptr;
  for (const auto& [set_name, text] : session_.settings().sets) {
    if (set_name == name) given = &text;
  }
  return given ? converted(name, *given, fallback) : fallback;
}

std::string Script::resolve_path(const std::string& path, bool for_writing, Span span) {
  // A path may carry an entry, FILE:ENTRY; the policy is about the file.
  fs::path written(path);
  fs::path resolved =
      written.is_absolute() || options_.folder.empty() ? written : fs::path(options_.folder) / written;
  if (!options_.confined) return resolved.string();
  // What the command line gave is named by the user.
  for (const auto& [name, text] : session_.settings().sets) {
    if (!text.empty() && is_below(written, fs::path(text))) return written.string();
  }
  fs::path normal = fs::absolute(resolved).lexically_normal();
  for (const std::string& root : session_.settings().roots) {
    if (is_below(normal, fs::absolute(root).lexically_normal())) return resolved.string();
  }
  bool climbs = std::find(written.begin(), written.end(), fs::path("..")) != written.end();
  if (written.is_absolute() || climbs) {
    fail(ErrorClass::Policy, span, "path.outside",
         fmt::format("'{}' may lie outside the script's folder; name its folder with --root",
                     printable(path)));
  }
  if (!for_writing) check_components(options_.folder, written, path, span);
  return resolved.string();
}

}  // namespace relish
