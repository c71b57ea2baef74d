// The rows of coverage and their gaps.
#include "stdlib/coverage.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stdlib/surface.h"

namespace relish {
namespace {

struct OutsideNumbers {
  std::string_view name;
  int float64_cases, float32_cases, other_cases;
};
constexpr OutsideNumbers outside_numbers[] = {
#include "generated/outside_numbers.inc"
};

constexpr int least_cases =
    5;  // of float64 and of float32, or of other dtypes where there is no floating one

bool takes_tensors(const Op& op) {
  return std::any_of(op.params.begin(), op.params.end(), [](const Param& param) {
    return param.kind == ParamKind::Tensor || param.kind == ParamKind::OptionalTensor ||
           param.kind == ParamKind::TensorTuple;
  });
}

std::vector<std::string> gaps_of(const Op& op, const OpCoverage& row) {
  std::vector<std::string> gaps;
  if (!op.infer) gaps.emplace_back("type rule");
  if (!row.evaluation) gaps.emplace_back("evaluation");
  if (!op.vjp && op.no_gradient.empty()) gaps.emplace_back("gradient or reason");
  if (op.vjp && op.gradient_doc.empty()) gaps.emplace_back("formula of the gradient");
  if (row.samples == 0) gaps.emplace_back("samples");
  const bool floating = row.float64_cases + row.float32_cases > 0;
  if (op.pure && takes_tensors(op) && row.rejects == 0) gaps.emplace_back("rejects");
  if (op.pure && (takes_tensors(op) || floating)) {
    const bool enough =
        floating ? row.float64_cases >= least_cases && row.float32_cases >= least_cases
                 : row.other_cases > 0 && row.other_cases + row.samples_with_numbers >= least_cases;
    if (!enough) {
      gaps.push_back(fmt::format("outside numbers ({} float64, {} float32, {} other)", row.float64_cases,
                                 row.float32_cases, row.other_cases + row.samples_with_numbers));
    }
  }
  return gaps;
}

bool must_be_whole(std::string_view group) {
  return group == "core" || group == "nn" || group == "ext" || group == "own";
}

}  // namespace

std::string_view name_of(Agreement agreement) {
  switch (agreement) {
    case Agreement::DataMovement:
      return "data movement";
    case Agreement::Exact:
      return "exact";
    case Agreement::Index:
      return "index";
    case Agreement::Elementary:
      return "elementary";
    case Agreement::Sum:
      return "sum";
    case Agreement::Composite:
      return "composite";
    case Agreement::Random:
      return "random";
  }
  return "";
}

OpCoverage coverage_of(const Op& op) {
  OpCoverage row{};
  row.name = op.name;
  row.summary = op.summary;
  row.group = group_of_operator(op.name);
  row.agreement = name_of(op.agreement);
  row.agreement_class = static_cast<int>(op.agreement);
  row.gradient = op.vjp != nullptr ? "rule" : op.zero_gradient ? "zero" : "none";
  row.reason = op.no_gradient;
  row.evaluation = op.eval != nullptr;
  row.lowering = op.lower != nullptr;
  row.samples = static_cast<int>(op.samples.size());
  row.samples_with_numbers = static_cast<int>(std::count_if(
      op.samples.begin(), op.samples.end(), [](const Sample& sample) { return !sample.expect.empty(); }));
  row.rejects = static_cast<int>(op.rejects.size());
  for (const OutsideNumbers& numbers : outside_numbers) {
    if (numbers.name != op.name) continue;
    row.float64_cases = numbers.float64_cases;
    row.float32_cases = numbers.float32_cases;
    row.other_cases = numbers.other_cases;
  }
  row.aliases = op.aliases;
  row.gaps = gaps_of(op, row);
  return row;
}

CoverageReport coverage_report() {
  CoverageReport report;
  std::string& text = report.table;
  text = fmt::format("{:<34} {:<6} {:<14} {:<9} {:<9} {:>7} {:>7} {:>7} {:>7}\n", "operator", "group",
                     "agreement", "gradient", "lowering", "samples", "float64", "float32", "rejects");
  int operators = 0, with_rule = 0, lowered = 0, samples = 0, gaps = 0;
  std::string missing;
  const auto tell = [&](std::string_view group, std::string_view name, std::string_view what) {
    const bool counts = must_be_whole(group);
    missing += fmt::format("{}: {} ({})\n", counts ? "gap" : "without", name, what);
    gaps += counts;
  };
  for (const Op* op : all_ops()) {
    const OpCoverage row = coverage_of(*op);
    text += fmt::format("{:<34} {:<6} {:<14} {:<9} {:<9} {:>7} {:>7} {:>7} {:>7}\n", row.name, row.group,
                        row.agreement, row.gradient, row.lowering ? "rule" : "call", row.samples,
                        row.float64_cases, row.float32_cases, row.rejects);
    if (!row.gaps.empty()) tell(row.group, row.name, fmt::format("{}", fmt::join(row.gaps, ", ")));
    ++operators;
    with_rule += row.gradient == "rule";
    lowered += row.lowering;
    samples += row.samples;
  }
  for (const OperatorGroup& group : operator_groups()) {
    if (group.name == "language") continue;
    for (std::string_view name : group.names)
      if (!find_op(name)) tell(group.name, name, "absent");
  }
  for (const FormerOperator& former : operators_of_2019())
    if (!find_op(former.today)) tell("core", former.name, fmt::format("of 2019: {} is absent", former.today));
  text += missing + fmt::format("{} operators, {} with a gradient rule, {} lowered, {} samples, {} gaps",
                                operators, with_rule, lowered, samples, gaps);
  report.complete = gaps == 0;
  return report;
}

}  // namespace relish
