// The top level of a text, read line by line and without a word about its faults.
#include "frontend/names/top_level_names.h"

#include <algorithm>

#include "frontend/module/decorators.h"
#include "frontend/names/binding_names.h"
#include "frontend/names/namespaces.h"
#include "frontend/text/line_parser.h"
#include "frontend/text/scanner.h"
#include "frontend/text/statement_reader.h"

namespace relish {
namespace {

// The end of a string or comment that begins at `at`; `at` itself where none does.
std::size_t behind_text(std::string_view text, std::size_t at) {
  if (text[at] == '#') return std::min(text.find('\n', at), text.size());
  if (text[at] != '"' && text[at] != '\'') return at;
  const std::string three(3, text[at]);
  const std::string_view mark =
      text.substr(at).starts_with(three) ? std::string_view(three) : text.substr(at, 1);
  for (std::size_t end = at + mark.size(); end < text.size(); ++end) {
    if (text.substr(end).starts_with(mark)) return end + mark.size();
    if (text[end] == '\\') ++end;
  }
  return text.size();
}

void collect_names(std::string_view text, std::set<std::string>& into) {
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t end = behind_text(text, at); end != at) {
      at = end;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_name_part(text[at])) ++at;
    const bool attribute = begin > 0 && text[begin - 1] == '.';
    if (at > begin && !attribute && is_name_start(text[begin])) into.emplace(text.substr(begin, at - begin));
    if (at == begin) ++at;
  }
}

class TopLevelReader {
 public:
  TopLevelReader(std::uint32_t file, std::string_view text)
      : file_(file), text_(text), parser_(file, text, faults_) {}

  TopLevel read() {
    const std::vector<Line> lines = scan_source(file_, text_, faults_).lines;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::size_t begin = i;
      bool declaration = false;
      for (; i < lines.size() && lines[i].first_word == "@"; ++i) declaration |= declares(lines[i]);
      if (i == lines.size()) break;
      if (lines[i].first_word == "def" || lines[i].first_word == "class") {
        bind_definition(lines[i]);
        declared_ |= declaration;
        if (!declaration) hold(lines[begin].span, lines[i]);
      } else {
        statement(lines[i]);
      }
    }
    result_.damaged = faults_.has_errors();
    return std::move(result_);
  }

 private:
  bool declares(const Line& decorator) {
    if (decorator.damaged) return false;
    const ast::ExprPtr parsed = parser_.decorator(decorator);
    return parsed && !decorator_kind(namespaces_, *parsed).empty();
  }

  void hold(Span from, const Line& line) {
    const std::uint32_t end = end_of(line);
    result_.others.push_back({file_, from.begin, end});
    collect_names(text_.substr(from.begin, end - from.begin), result_.used);
  }

  void bind_definition(const Line& line) {
    std::string_view rest = text_.substr(line.span.begin + line.first_word.size());
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_name_part);
    result_.names[std::string(rest.begin(), end)].clear();
  }

  void statement(const Line& line) {
    if (line.header || line.damaged) return hold(line.span, line);
    const auto parsed = parser_.simple(line);
    if (!parsed) return hold(line.span, line);
    if (const auto* import = parsed->as<ast::Import>()) return imported(*import, line);
    for_each_bound_name(*parsed, [&](const std::string& name, Span) { result_.names[name].clear(); });
    const auto* value = parsed->as<ast::ExpressionStatement>();
    const bool alone = value && (value->value->as<ast::StringValue>() || value->value->as<ast::Name>());
    if (!alone) hold(line.span, line);
  }

  void imported(const ast::Import& import, const Line& line) {
    bool known = true;
    for (const ast::Import::Bound& bound : import.bound) {
      const bool ours =
          bound.name == "*" ? bound.target.starts_with("tvm") : namespaces_.bind(bound.name, bound.target);
      known &= ours;
      if (bound.name != "*") result_.names[bound.name] = bound.target;
    }
    if (!known) return hold(line.span, line);
    if (!declared_) result_.last_import = line.span;
  }

  std::uint32_t file_;
  std::string_view text_;
  Diagnostics faults_;
  LineParser parser_;
  Namespaces namespaces_;
  TopLevel result_;
  bool declared_ = false;
};

}  // namespace

TopLevel top_level_of(std::uint32_t file, std::string_view text) { return TopLevelReader(file, text).read(); }

}  // namespace relish
