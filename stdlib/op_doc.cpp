// Texts about operators.
#include "stdlib/op_doc.h"

#include <algorithm>
#include <array>

#include "stdlib/coverage.h"

namespace relish {
namespace {

std::string gradient_text(const Op& op) {
  if (op.vjp != nullptr) return std::string(op.gradient_doc);
  return fmt::format("{}: {}", op.zero_gradient ? "zero" : "none", op.no_gradient);
}

std::string example_of(const Op& op, const Sample& sample) {
  return fmt::format("R.{}({})", op.name, sample.args);
}

// `text` broken at blanks into lines of at most `width` columns.
std::string wrapped(std::string_view text, std::size_t width, std::string_view indent) {
  std::string result(indent);
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (column > 0 && column + 1 + word.size() > width) {
      result += "\n";
      result += indent;
      column = 0;
    } else if (column > 0) {
      result += " ";
      ++column;
    }
    result += word;
    column += word.size();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result + "\n";
}

struct Successor {
  std::string_view old_name, today;
};
constexpr std::array successors = std::to_array<Successor>({
    {"cast", "astype"},
    {"collapse_sum_like", "collapse_sum_to(data, shape)"},
    {"copy", "a plain binding y = x"},
    {"full_like", "full"},
    {"identity", "a plain binding y = x"},
    {"nn.bias_add", "add, with the bias reshaped to broadcast"},
    {"nn.dense", "matmul(x, permute_dims(w))"},
    {"nn.global_avg_pool2d", "mean over the spatial axes with keepdims=True"},
    {"nn.matmul", "matmul"},
    {"relu", "nn.relu"},
    {"transpose", "permute_dims"},
});

}  // namespace

std::string op_signature(const Op& op) {
  std::string text = fmt::format("R.{}(", op.name);
  for (const Param& param : op.params) {
    if (&param != op.params.data()) text += ", ";
    if (param.kind == ParamKind::AnyRest) text += '*';
    text += param.name;
    if (param.kind == ParamKind::OptionalTensor)
      text += "=None";
    else if (!param.fallback.empty())
      text += fmt::format("={}", param.fallback);
  }
  return text + ")";
}

std::string op_doc(const Op& op, std::string_view examples) {
  std::string text = op_signature(op) + "\n\n" + wrapped(op.summary, 96, "");
  if (!op.params.empty()) {
    text += "\nParameters\n";
    for (const Param& param : op.params)
      text += fmt::format("  {} ({}): {}\n", param.name, param.type, param.doc);
  }
  text += "\nGradient\n" + wrapped(gradient_text(op), 94, "  ");
  text +=
      fmt::format("\nAgreement of the tiers\n  class {}, {}{}\n", static_cast<int>(op.agreement),
                  name_of(op.agreement), op.agreement_by ? "; closer where the attributes choose so" : "");
  if (!examples.empty()) text += fmt::format("\nExamples\n{}", examples);
  if (!op.aliases.empty()) {
    text += "\nOther names\n  ";
    for (const std::string_view& alias : op.aliases)
      text += fmt::format("{}R.{}", &alias == op.aliases.data() ? "" : ", ", alias);
    text += "\n";
  }
  if (!op.doc.empty()) text += "\nNotes\n" + wrapped(op.doc, 94, "  ");
  return text;
}

std::string operators_markdown() {
  std::string text =
      "# Operators\n\nGenerated from the declarations in `stdlib/ops/`; do not edit. `g` is the cotangent of "
      "the result `y`; "
      "`sum_to(v, x)` is `collapse_sum_to(v, shape of x)`, needed where `x` was stretched.\n\n";
  text += "| operator | does | gradient | agreement |\n| --- | --- | --- | --- |\n";
  for (const Op* op : all_ops()) {
    text += fmt::format(
        "| [`{0}`](#r{1}) | {2} | {3} | {4} |\n", op->name,
        [&] {
          std::string anchor(op->name);
          std::erase(anchor, '.');
          return anchor;
        }(),
        op->summary, coverage_of(*op).gradient, name_of(op->agreement));
  }
  for (const Op* op : all_ops()) {
    text += fmt::format("\n## R.{}\n\n`{}`\n\n{}\n\n", op->name, op_signature(*op), op->summary);
    for (const Param& param : op->params)
      text += fmt::format("- `{}` ({}): {}\n", param.name, param.type, param.doc);
    text += fmt::format("\nGradient: {}.\n", gradient_text(*op));
    if (!op->doc.empty()) text += fmt::format("\n{}\n", op->doc);
    const auto example = std::find_if(op->samples.begin(), op->samples.end(),
                                      [](const Sample& sample) { return !sample.expect.empty(); });
    if (example != op->samples.end()) {
      text += fmt::format("\n```python\n{}\n# {}\n```\n", example_of(*op, *example), example->expect);
    }
  }
  return text;
}

std::optional<std::string_view> successor_of(std::string_view old_name) {
  for (const Successor& successor : successors) {
    if (successor.old_name == old_name) return successor.today;
  }
  return std::nullopt;
}

}  // namespace relish
