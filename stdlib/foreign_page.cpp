// Sections of the page of names.
#include "stdlib/foreign_page.h"

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "ir/operators/foreign_keywords.h"
#include "stdlib/foreign_calls.h"
#include "stdlib/foreign_names.h"

namespace relish {
namespace {

constexpr std::string_view head =
    "# From PyTorch, NumPy, JAX, Keras and TVM\n\n"
    "Generated from the tables that messages use (`./dev docs`); do not edit. A name is looked up by its last word:\n"
    "`torch.nn.functional.relu` by `relu`. Names that are the same here do not stand in the tables. What differs in its\n"
    "defaults is told in [Coming from another library](coming-from.md).\n\n"
    "`relish ops WORD` searches these names too, `relish doc NAME` answers each, and a message about one says what\n"
    "stands here.\n";

// In a cell of a table a bar would end it.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

void add_rows(std::string& text, std::initializer_list<ForeignRow::Kind> kinds, bool with_text) {
  text += "\n| there | here |\n| --- | --- |\n";
  for (const ForeignRow& row : foreign_rows()) {
    const bool wanted = std::find(kinds.begin(), kinds.end(), row.kind) != kinds.end();
    if (!wanted || row.write.empty() == with_text) continue;
    std::string here = fmt::format("`{}`", cell(row.write));
    if (row.kind == ForeignRow::Kind::Operator) here = fmt::format("`R.{}`", row.write);
    if (row.kind == ForeignRow::Kind::Statement) here += ", in statements";
    if (row.kind == ForeignRow::Kind::Words) here = cell(row.write);
    text += fmt::format("| `{}` | {} |\n", row.word, here);
  }
}

}  // namespace

std::string foreign_markdown() {
  std::string text(head);
  text += "\n## Other names of the same\n\nA message about one proposes the operator.\n";
  add_rows(text, {ForeignRow::Kind::Operator}, true);
  text += "\n## Written otherwise\n\n`x`, `y` are tensors, `v`, `w` vectors, `images` is (N, C, H, W).\n";
  add_rows(text, {ForeignRow::Kind::Expression, ForeignRow::Kind::Statement, ForeignRow::Kind::Words}, true);
  text +=
      "\n## Calls\n\nWhat a message writes for a call, with its own arguments: `x?` may be missing, `x=2` is given so,\n"
      "`*shape` is given one by one, and `v/1` is known to be a vector, or vectors.\n\n| there | here |\n| --- | --- |\n";
  for (const ForeignCallRow& row : foreign_call_rows()) {
    if (row.write.empty()) continue;
    text += fmt::format("| `{}` | `{}`{} |\n", call_text_of(row), cell(written_text_of(row)), row.note);
  }
  text +=
      "\n## Names of arguments\n\nThese are taken with the same meaning, in functions and in statements.\n";
  text += "\n| there | here |\n| --- | --- |\n";
  for (const auto& [word, here] : keywords_taken()) text += fmt::format("| `{}=` | {} |\n", word, here);
  text += "\n## What there is not\n\nNothing here does what these do:\n\n";
  std::string names;
  for (const ForeignRow& row : foreign_rows())
    if (row.kind == ForeignRow::Kind::Words && row.write.empty())
      names += fmt::format("{}`{}`", names.empty() ? "" : ", ", row.word);
  return text + names + ".\n";
}

}  // namespace relish
