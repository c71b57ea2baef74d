// The reference of operators as text, generated from the table: `relish doc NAME`, docs/operators.md, and the
// rows of `relish ops`. Nothing here is written by hand a second time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op.h"

namespace relish {

// "R.sum(x, axis=None, keepdims=False)".
std::string op_signature(const Op& op);
// Signature, summary, parameters, gradient, agreement, examples and notes, for a terminal.
std::string op_doc(const Op& op);
// All operators as one Markdown page.
std::string operators_markdown();

// One row of `relish ops --json` and `--coverage`.
struct OpCoverage {
  std::string_view name, summary;
  std::string_view agreement;  // "exact"
  int agreement_class;         // 1 ... 7
  std::string_view gradient;   // "rule", "zero" or "none"
  std::string_view reason;     // why there is none
  bool lowering;               // by a rule or a body
  bool body;
  int samples, samples_with_numbers, rejects;
  std::span<const std::string_view> aliases;
};
OpCoverage coverage_of(const Op& op);
std::vector<OpCoverage> op_coverage();
// The coverage as an aligned table with a line of totals.
std::string coverage_table();

// What an operator name of older releases is called or made of today: "nn.dense" -> "matmul(x,
// permute_dims(w))".
std::optional<std::string_view> successor_of(std::string_view old_name);

}  // namespace relish
