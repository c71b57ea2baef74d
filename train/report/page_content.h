// What the page of a job holds, whatever it is written as: headings, lines, tables and curves, in their
// order.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "train/report/chart.h"
#include "train/report/confusion.h"
#include "train/report/run_record.h"

namespace relish {

struct PageText {
  enum class Style : std::uint8_t { Plain, Code, Bold };
  std::string text;
  Style style = Style::Plain;
};

struct PageHeading {
  int level = 1;
  std::string text;
};
// Pieces of text, one behind the other.
struct PageLine {
  std::vector<PageText> pieces;
};
// A head and rows; cells without text are empty.
struct PageTable {
  std::vector<std::string> head;
  std::vector<std::vector<PageText>> rows;
};
struct PageCharts {
  std::vector<Chart> charts;
};
using PageBlock = std::variant<PageHeading, PageLine, PageTable, PageCharts>;

std::vector<PageBlock> page_content(const RunRecord& run, const std::optional<Confusion>& confusion);

}  // namespace relish
