// The command `ops`: the table of operators.
#include <nlohmann/json.hpp>

#include "shell/commands/help/operator_page.h"
#include "shell/commands/subject.h"
#include "stdlib/coverage.h"
#include "stdlib/foreign_names.h"
#include "stdlib/foreign_page.h"
#include "stdlib/op_doc.h"
#include "stdlib/surface.h"
#include "support/render.h"

namespace relish::commands_ops {
namespace {

constexpr Option options[] = {
    {"json", OptionKind::Flag, "", "one JSON object an operator"},
    {"coverage", OptionKind::Flag, "", "what every operator has, and what is missing; a gap exits 1"},
    {"markdown", OptionKind::Flag, "", "the manual's page of all operators", 0, in_shell},
    {"elsewhere", OptionKind::Flag, "", "the manual's page of names of other libraries", 0, in_shell},
};

constexpr Example examples[] = {{"relish ops conv", "ops(\"matmul\")"}};

std::string operator_json(const Op& op) {
  OpCoverage coverage = coverage_of(op);
  nlohmann::ordered_json json;
  json["name"] = std::string(op.name);
  json["summary"] = std::string(op.summary);
  json["params"] = nlohmann::ordered_json::array();
  for (const Param& param : op.params) {
    nlohmann::ordered_json fallback;
    if (!param.fallback.empty()) fallback = std::string(param.fallback);
    json["params"].push_back({{"name", std::string(param.name)},
                              {"type", std::string(param.type)},
                              {"default", fallback},
                              {"attribute", param.kind == ParamKind::Attribute},
                              {"doc", std::string(param.doc)}});
  }
  json["group"] = std::string(coverage.group);
  json["class"] = coverage.agreement_class;
  json["gradient"] = std::string(coverage.gradient);
  json["reason"] = std::string(coverage.reason);
  json["lowering"] = coverage.lowering;
  json["samples"] = coverage.samples;
  json["aliases"] = nlohmann::ordered_json::array();
  for (std::string_view alias : coverage.aliases) json["aliases"].push_back(std::string(alias));
  return json.dump();
}

// The operators in whose name, aliases or summary the word stands, and those that others call so.
std::string operators_about(const std::string& word) {
  constexpr std::size_t shortest = 3;
  if (word.size() < shortest) return {};
  std::vector<std::pair<const Op*, std::string>> found;
  const std::vector<ForeignRow> rows = foreign_rows();
  const auto holds = [&](std::string_view text) { return text.find(word) != std::string_view::npos; };
  for (const Op* op : all_ops()) {
    std::string why;
    for (const std::string_view alias : op->aliases)
      if (why.empty() && holds(alias)) why = fmt::format(" (also {})", alias);
    for (const ForeignRow& row : rows) {
      const bool leads_here = row.kind == ForeignRow::Kind::Operator
                                  ? row.write == op->name
                                  : row.write.starts_with(fmt::format("R.{}(", op->name));
      if (why.empty() && leads_here && holds(row.word)) why = fmt::format(" (elsewhere {})", row.word);
    }
    for (const ForeignCallRow& row : foreign_call_rows()) {
      const bool calls_it = why.empty() && row.word.starts_with(word) && !holds(op->name) &&
                            row.write.starts_with(fmt::format("R.{}(", op->name));
      if (calls_it) why = fmt::format(" (elsewhere {})", row.word);
    }
    if (holds(op->name) || holds(op->summary) || !why.empty())
      found.emplace_back(op, holds(op->name) ? "" : why);
  }
  std::size_t width = 0;
  for (const auto& [op, why] : found) width = std::max(width, op->name.size());
  std::string text;
  for (const auto& [op, why] : found)
    text += fmt::format("{}{:<{}}  {}{}", text.empty() ? "" : "\n", op->name, width, op->summary, why);
  return text;
}

ScriptValue run(Invocation& invocation) {
  start_language();
  if (!invocation.files.empty()) {
    std::string name = invocation.files.front();
    if (name.starts_with("R.")) name = name.substr(2);
    const Op* op = find_op(name);
    if (!op) {
      if (auto successor = successor_of(name)) return fmt::format("{} is today {}", name, *successor);
      if (std::string found = operators_about(name); !found.empty() && !invocation.flag("json")) return found;
      const auto instead = written_instead(name.substr(name.rfind('.') + 1));
      if (instead && !instead->empty() && !invocation.flag("json"))
        return fmt::format("{} is no operator here; write {}", printable(name), *instead);
      const std::optional<std::string> nearest = meant_operator(name);
      fail(ErrorClass::Usage, invocation.span, "op.unknown",
           fmt::format("unknown operator '{}'{}", printable(name),
                       nearest ? fmt::format("; did you mean '{}'?", *nearest) : ""));
    }
    return invocation.flag("json") ? operator_json(*op) : operator_page(*op, invocation.session.settings());
  }
  if (invocation.flag("coverage")) {
    CoverageReport report = coverage_report();
    if (!report.complete) invocation.exit_code = 1;
    return std::move(report.table);
  }
  if (invocation.flag("markdown")) return operators_markdown();
  if (invocation.flag("elsewhere")) return foreign_markdown();
  std::string text;
  std::size_t width = 0;
  for (const Op* op : all_ops()) width = std::max(width, op->name.size());
  for (const Op* op : all_ops()) {
    if (!text.empty()) text += '\n';
    text += invocation.flag("json") ? operator_json(*op)
                                    : fmt::format("{:<{}}  {}", op->name, width, op->summary);
  }
  return text;
}

}  // namespace

extern const Command command_ops;
const Command command_ops{
    .name = "ops",
    .summary = "lists the operators, or shows one",
    .subject = Subject::Name,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "A name shows the page of that operator; another word lists those in whose name, aliases or summary it "
        "stands, and those that other libraries call so.",
    .subject_optional = true,
};

}  // namespace relish::commands_ops
