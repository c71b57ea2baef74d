// Reading of einsum's subscripts.
#include "stdlib/families/shapes/einsum.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace relish::einsum {
namespace {

// One list of labels as written: letters, and where the ellipsis stands.
struct Written {
  std::string before, after;
  bool ellipsis = false;
};

Written read(const CallView& call, std::string_view text) {
  Written result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("...") && !result.ellipsis) {
      result.ellipsis = true;
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      (result.ellipsis ? result.after : result.before) += text[i];
    } else {
      call.reject("subscripts", call.span,
                  fmt::format("'{}' is no label in the subscripts \"{}\"", text[i],
                              call.string_attribute("subscripts")));
    }
  }
  return result;
}

Labels labels_of(const Written& written, int ellipsis) {
  Labels labels(written.before.begin(), written.before.end());
  for (int d = ellipsis; d-- > 0;) labels.push_back(first_ellipsis + d);
  labels.insert(labels.end(), written.after.begin(), written.after.end());
  return labels;
}

}  // namespace

bool has(const Labels& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Labels Equation::summed() const {
  Labels found;
  for (const Labels& operand : operands) {
    for (Label label : operand) {
      if (!has(result, label) && !has(found, label)) found.push_back(label);
    }
  }
  return found;
}

Equation parse(const CallView& call, const std::vector<int>& ranks) {
  std::string text = call.string_attribute("subscripts");
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const std::string inputs = text.substr(0, arrow);
  Equation equation;
  int widest = 0;
  std::map<Label, int> uses;
  std::size_t begin = 0;
  while (begin <= inputs.size()) {
    const std::size_t end = std::min(inputs.find(',', begin), inputs.size());
    const Written written = read(call, std::string_view(inputs).substr(begin, end - begin));
    const std::size_t operand = equation.operands.size();
    begin = end + 1;
    if (operand >= ranks.size()) {
      equation.operands.emplace_back();
      continue;
    }
    const int named = static_cast<int>(written.before.size() + written.after.size());
    const int ellipsis = ranks[operand] - named;
    if (ellipsis < 0 || (ellipsis > 0 && !written.ellipsis)) {
      call.reject("subscripts", call.span,
                  fmt::format("operand {} has rank {}, and {} labels in \"{}\"", operand, ranks[operand],
                              named, text));
    }
    widest = std::max(widest, ellipsis);
    equation.operands.push_back(labels_of(written, ellipsis));
    for (Label label : equation.operands.back()) ++uses[label];
  }
  if (equation.operands.size() != ranks.size()) {
    call.reject("subscripts", call.span,
                fmt::format("\"{}\" has {} operands, and the tuple {}", text, equation.operands.size(),
                            ranks.size()));
  }
  if (arrow == std::string::npos) {
    // The ellipsis, then what occurs once, in alphabetical order.
    for (int d = widest; d-- > 0;) equation.result.push_back(first_ellipsis + d);
    for (const auto& [label, count] : uses) {
      if (label < first_ellipsis && count == 1) equation.result.push_back(label);
    }
    return equation;
  }
  const Written written = read(call, std::string_view(text).substr(arrow + 2));
  equation.result = labels_of(written, written.ellipsis ? widest : 0);
  for (std::size_t i = 0; i < equation.result.size(); ++i) {
    const Label label = equation.result[i];
    const bool twice = std::count(equation.result.begin(), equation.result.end(), label) > 1;
    if (!uses.contains(label) || twice) {
      call.reject("subscripts", call.span,
                  fmt::format("the label '{}' of the result {} in \"{}\"", static_cast<char>(label),
                              twice ? "stands twice" : "is of no operand", text));
    }
  }
  return equation;
}

std::string letters(const std::vector<Labels>& operands, const Labels& result) {
  const auto text = [](const Labels& labels) {
    std::string word;
    for (Label label : labels) word += static_cast<char>(label < 26 ? 'a' + label : 'A' + label - 26);
    return word;
  };
  std::string joined;
  for (std::size_t i = 0; i < operands.size(); ++i) joined += (i ? "," : "") + text(operands[i]);
  return joined + "->" + text(result);
}

}  // namespace relish::einsum
