// The law of the printer and the reader.
#include <algorithm>

#include "frontend/reader.h"
#include "ir/equality/equal.h"
#include "ir/printer/older_locals.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"
#include "support/render.h"
#include "tests/generate/checks.h"
#include "tests/generate/surface.h"
#include "tests/generate/variants.h"

namespace relish::generate {
namespace {

struct NamedDialect {
  Dialect dialect;
  const char* name;
};
constexpr NamedDialect dialects[] = {
    {Dialect::D026, "today"}, {Dialect::D2023, "2023"}, {Dialect::D2022, "2022"}};

void collect(const CommentsPtr& comments, std::vector<std::string>& into) {
  if (!comments) return;
  into.insert(into.end(), comments->before.begin(), comments->before.end());
  if (!comments->after.empty()) into.push_back(comments->after);
}

// All comments of a module, sorted: some move to the line above or behind, none vanishes.
std::vector<std::string> comments_of(const Module& module) {
  std::vector<std::string> result;
  collect(module.comments, result);
  for (const GlobalFunction& global : module.functions) {
    if (const auto* function = std::get_if<FunctionPtr>(&global)) {
      collect((*function)->comments, result);
      collect((*function)->result_comments, result);
      for (const BindingBlock& block : (*function)->blocks) {
        collect(block.comments, result);
        for (const Binding& binding : block.bindings) collect(binding.comments, result);
      }
    } else if (const auto* external = std::get_if<ExternFunctionPtr>(&global)) {
      collect((*external)->comments, result);
    } else {
      const PrimFunc& prim_func = *std::get<PrimFuncPtr>(global);
      collect(prim_func.comments, result);
      if (prim_func.body.defined())
        for_each_stmt(prim_func.body, [&](const Stmt& stmt) { collect(stmt->comments, result); });
    }
  }
  // The printer's own lines are none of the program's comments.
  std::erase_if(result, [](const std::string& comment) {
    return comment.starts_with("from tvm.script import ") || comment.starts_with("with T.sblock(\"root\")") ||
           comment.starts_with("with T.block(\"root\")") || comment == "relish: 1";
  });
  std::sort(result.begin(), result.end());
  return result;
}

std::string first_difference_of(const std::string& a, const std::string& b) {
  std::size_t start = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size() && a[i] == b[i]; ++i) {
    if (a[i] == '\n') start = i + 1;
  }
  const auto line = [&](const std::string& text) {
    return start < text.size() ? text.substr(start, text.find('\n', start) - start) : std::string("<end>");
  };
  return fmt::format("'{}' and '{}'", line(a), line(b));
}

}  // namespace

std::string text_of(const Failure& failure) {
  const Diagnostic& first = failure.diagnostics().front();
  return fmt::format("{}: {} [{}]", name_of(first.error_class), first.message, first.id);
}

ModulePtr read_back(const std::string& text, const std::string& what, std::vector<std::string>& findings) {
  Diagnostics diagnostics;
  const ReadResult result = read_source(Sources::instance().add("<printed>", text), {}, diagnostics);
  if (diagnostics.has_errors()) {
    const std::string all = render(diagnostics.all(), Sources::instance(), {});
    findings.push_back(
        fmt::format("{} does not read back: {}", what, all.substr(0, all.find('\n', all.find('\n') + 1))));
    return nullptr;
  }
  const std::vector<ModulePtr> modules = result.all_modules();
  if (modules.size() == 1) return modules.front();
  findings.push_back(fmt::format("{} reads back as {} modules", what, modules.size()));
  return nullptr;
}

namespace {

// Of a program that was written as text: no comment is lost, and the same in other spellings is the same.
void judge_text(const Program& program, std::vector<std::string>& findings) {
  const std::string printed = print(*program.module);
  for (const std::string& comment : surface_text(program.options, 0).comments) {
    const std::size_t at = printed.find("# " + comment + "\n");
    if (at == std::string::npos)
      findings.push_back("printing loses the comment '" + comment + "'");
    else if (printed.find("# " + comment + "\n", at + 1) != std::string::npos)
      findings.push_back("printing repeats the comment '" + comment + "'");
  }
  for (std::uint64_t spelling = 1; spelling <= 2; ++spelling) {
    const std::string what = fmt::format("spelling {}", spelling);
    const ModulePtr other = read_back(surface_text(program.options, spelling).text, what, findings);
    if (other && !equal_modulo_names(*program.module, *other))
      findings.push_back(what + " reads different: " + first_difference(*program.module, *other));
  }
}

}  // namespace

std::vector<std::string> round_trip_findings(const Program& program, Tally& tally) {
  std::vector<std::string> findings;
  const Module& module = *program.module;
  Diagnostics verification;
  verify(module, verification);
  if (verification.has_errors()) findings.push_back("does not verify: " + verification.all().front().message);
  const std::vector<std::string> comments = comments_of(module);
  if (program.options.surface && !program.text.empty()) judge_text(program, findings);
  for (const NamedDialect& each : dialects) {
    const PrintOptions options{.dialect = each.dialect};
    std::string text;
    try {
      text = print(module, options);
    } catch (const Failure& failure) {
      // An older dialect has no spelling for some of today's constructs, and says so.
      if (each.dialect == Dialect::D026 || failure.error_class() == ErrorClass::Internal) throw;
      ++tally[fmt::format("not sayable in {}", each.name)];
      continue;
    }
    const ModulePtr back = read_back(text, fmt::format("the text of {}", each.name), findings);
    if (!back) continue;
    const Module said = each.dialect == Dialect::D026 ? module : as_older_dialects_say(module);
    if (!equal_modulo_names(said, *back)) {
      findings.push_back(
          fmt::format("the text of {} reads back different: {}", each.name, first_difference(said, *back)));
    }
    const std::string twice = print(*back, options);
    if (twice != text) {
      findings.push_back(fmt::format("the text of {} prints anew as another: {}", each.name,
                                     first_difference_of(text, twice)));
    }
    if (each.dialect == Dialect::D026) {
      Random random(program.options.seed ^ 0x76617269);
      const std::string variant =
          variant_of(text, random, !program.options.loose && !program.options.surface);
      const ModulePtr respelt = read_back(variant, "another spelling", findings);
      if (respelt && !equal_modulo_names(module, *respelt))
        findings.push_back("another spelling reads different: " + first_difference(module, *respelt));
      // The docstrings that it adds are comments of their functions.
      std::vector<std::string> kept;
      if (respelt) kept = comments_of(*respelt);
      std::erase_if(kept,
                    [](const std::string& line) { return line.find("What it does.") != std::string::npos; });
      if (respelt && kept != comments) findings.push_back("another spelling loses comments");
    }
    const std::vector<std::string> kept = comments_of(*back);
    if (kept != comments) {
      const auto [lost, found] = std::mismatch(comments.begin(), comments.end(), kept.begin(), kept.end());
      findings.push_back(fmt::format("the text of {} has other comments: '{}' and '{}'", each.name,
                                     lost == comments.end() ? "" : *lost, found == kept.end() ? "" : *found));
    }
  }
  return findings;
}

}  // namespace relish::generate
