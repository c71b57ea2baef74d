// Markdown with tables, and curves as braille characters, which any reader of the file shows.
#include "train/report/report_page.h"

#include <fmt/format.h>

#include "train/report/page_content.h"

namespace relish {
namespace {

// Text in a cell of a table.
std::string markdown_cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result;
}

std::string markdown(const PageText& piece) {
  const std::string text = markdown_cell(piece.text);
  if (text.empty() || piece.style == PageText::Style::Plain) return text;
  return piece.style == PageText::Style::Code ? "`" + text + "`" : "**" + text + "**";
}

class MarkdownWriter {
 public:
  void operator()(const PageHeading& heading) {
    page_ += fmt::format("{} {}\n\n", std::string(static_cast<std::size_t>(heading.level), '#'),
                         markdown_cell(heading.text));
  }
  void operator()(const PageLine& line) {
    for (const PageText& piece : line.pieces) page_ += markdown(piece);
    page_ += "\n\n";
  }
  void operator()(const PageTable& table) {
    std::vector<PageText> head;
    for (const std::string& cell : table.head) head.push_back({cell});
    add_cells(head);
    page_ += "|";
    for (std::size_t i = 0; i < table.head.size(); ++i) page_ += "---|";
    page_ += "\n";
    for (const std::vector<PageText>& row : table.rows) add_cells(row);
    page_ += "\n";
  }
  void operator()(const PageCharts& charts) {
    for (const Chart& chart : charts.charts) page_ += "```text\n" + braille_chart(chart, {}) + "```\n\n";
  }

  std::string take() {
    while (page_.ends_with("\n\n")) page_.pop_back();
    return std::move(page_);
  }

 private:
  void add_cells(const std::vector<PageText>& cells) {
    page_ += "|";
    for (const PageText& cell : cells) {
      const std::string text = markdown(cell);
      page_ += text.empty() ? " |" : " " + text + " |";
    }
    page_ += "\n";
  }

  std::string page_;
};

}  // namespace

std::string report_page(const RunRecord& run, const std::optional<Confusion>& confusion) {
  MarkdownWriter writer;
  for (const PageBlock& block : page_content(run, confusion)) std::visit(writer, block);
  return writer.take();
}

}  // namespace relish
