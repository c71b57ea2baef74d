// The same page as HTML: no script, no other file, and nothing of the job's texts that is read as HTML.
#include <fmt/format.h>

#include "train/report/markup.h"
#include "train/report/page_content.h"
#include "train/report/report_page.h"

namespace relish {
namespace {

constexpr std::string_view page_style =
    "body{font-family:sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
    "table{border-collapse:collapse;margin:1rem 0}"
    "td,th{border:1px solid #ccc;padding:.2rem .6rem;text-align:left}"
    "svg{max-width:100%;height:auto}";

std::string html(const PageText& piece) {
  const std::string text = as_markup(piece.text);
  if (text.empty() || piece.style == PageText::Style::Plain) return text;
  const std::string_view tag = piece.style == PageText::Style::Code ? "code" : "b";
  return fmt::format("<{0}>{1}</{0}>", tag, text);
}

class HtmlWriter {
 public:
  void operator()(const PageHeading& heading) {
    if (title_.empty()) title_ = as_markup(heading.text);
    body_ += fmt::format("<h{0}>{1}</h{0}>\n", heading.level, as_markup(heading.text));
  }
  void operator()(const PageLine& line) {
    body_ += "<p>";
    for (const PageText& piece : line.pieces) body_ += html(piece);
    body_ += "</p>\n";
  }
  void operator()(const PageTable& table) {
    body_ += "<table>\n";
    bool named = false;
    for (const std::string& cell : table.head) named = named || !cell.empty();
    if (named) {
      body_ += "<tr>";
      for (const std::string& cell : table.head) body_ += fmt::format("<th>{}</th>", as_markup(cell));
      body_ += "</tr>\n";
    }
    for (const std::vector<PageText>& row : table.rows) {
      body_ += "<tr>";
      for (const PageText& cell : row) body_ += fmt::format("<td>{}</td>", html(cell));
      body_ += "</tr>\n";
    }
    body_ += "</table>\n";
  }
  void operator()(const PageCharts& charts) { body_ += svg_charts(charts.charts); }

  std::string page() const {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n"
        "<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
        title_, page_style, body_);
  }

 private:
  std::string title_, body_;
};

}  // namespace

std::string report_html(const RunRecord& run, const std::optional<Confusion>& confusion) {
  HtmlWriter writer;
  for (const PageBlock& block : page_content(run, confusion)) std::visit(writer, block);
  return writer.page();
}

}  // namespace relish
