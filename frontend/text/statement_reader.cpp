// Lines to statements.
#include "frontend/text/statement_reader.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "support/suggest.h"

namespace relish {
namespace {

// Statements of Python that have no place here, with the nearest thing that has one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> refused_words = {{
    {"try", "errors end the statement that caused them; check the condition with if"},
    {"except", "errors end the statement that caused them; check the condition with if"},
    {"finally", "errors end the statement that caused them; check the condition with if"},
    {"raise", "use fail(\"message\"), or assert condition, \"message\""},
    {"global", "a function sees the names of the script and binds its own; return the new value"},
    {"nonlocal", "a function sees the names around it and binds its own; return the new value"},
    {"yield", "a function returns its whole result, such as a list"},
    {"async", "statements run one after another"},
    {"await", "statements run one after another"},
}};

const std::vector<std::string> definition_words = {"def", "class"};

// Names that the text of a line seems to bind; for lines that could not be parsed.
void guess_names(const ReadContext& context, const Line& line, std::set<std::string>& names) {
  std::string_view text = context.text_of(line.span);
  auto word_at = [&](std::size_t& at) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '(')) ++at;
    std::size_t begin = at;
    while (at < text.size() && is_name_part(text[at])) ++at;
    return std::string(text.substr(begin, at - begin));
  };
  std::size_t at = 0;
  std::string first = word_at(at);
  const bool misspelt = line.header && nearest_name(first, definition_words).has_value();
  if (first == "def" || first == "class" || first == "for" || misspelt) {
    std::string name = word_at(at);
    if (!name.empty()) names.insert(name);
  } else if (!first.empty()) {
    std::vector<std::string> found{first};
    while (at < text.size() && (text[at] == ' ' || text[at] == ')')) ++at;
    while (at < text.size() && text[at] == ',') {
      ++at;
      found.push_back(word_at(at));
      while (at < text.size() && (text[at] == ' ' || text[at] == ')')) ++at;
    }
    if (at < text.size() && (text[at] == '=' || text[at] == ':')) names.insert(found.begin(), found.end());
  }
  for (const Line& inner : line.body) guess_names(context, inner, names);
}

// The text that describes a function or module becomes comments of what follows it, so that no printed text
// lacks it.
void keep_description(ast::Block& body) {
  if (body.size() < 2) return;
  auto* first = body[0].as<ast::ExpressionStatement>();
  auto* text = first ? first->value->as<ast::StringValue>() : nullptr;
  if (!text) return;
  Comments joined = body[0].comments ? *body[0].comments : Comments{};
  std::string_view rest = text->value;
  std::vector<std::string> lines;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t begin = line.find_first_not_of(" \t\r");
    const std::size_t end = line.find_last_not_of(" \t\r");
    lines.emplace_back(begin == line.npos ? std::string_view() : line.substr(begin, end + 1 - begin));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  joined.before.insert(joined.before.end(), lines.begin(), lines.end());
  if (!joined.after.empty()) joined.before.push_back(std::move(joined.after));
  joined.after.clear();
  const std::size_t added = joined.before.size();
  if (const CommentsPtr& next = body[1].comments) {
    joined.before.insert(joined.before.end(), next->before.begin(), next->before.end());
    joined.after = next->after;
  }
  body[1].comments_above += added;
  body[1].comments = std::make_shared<const Comments>(std::move(joined));
  body.erase(body.begin());
}

}  // namespace

std::uint32_t end_of(const Line& line) {
  return line.body.empty() ? line.span.end : end_of(line.body.back());
}

namespace {

// The same with the comment lines that stand below it in its block.
std::uint32_t end_below(const Line& line, std::string_view text) {
  if (!line.body.empty()) return end_below(line.body.back(), text);
  std::size_t end = line.span.end;
  auto below = std::count(line.trailing_comment.begin(), line.trailing_comment.end(), '\n');
  for (std::size_t at = end; below > 0 && (at = text.find('\n', at)) != std::string_view::npos;) {
    const std::size_t word = text.find_first_not_of(" \t\f", ++at);
    if (word == std::string_view::npos || text[word] != '#') continue;
    end = std::min(text.find('\n', word), text.size());
    if (text[end - 1] == '\r') --end;
    --below;
  }
  return static_cast<std::uint32_t>(end);
}

}  // namespace

CommentsPtr comments_of(const Line& line) {
  if (line.comments.empty() && line.trailing_comment.empty()) return nullptr;
  return std::make_shared<const Comments>(Comments{line.comments, line.trailing_comment});
}

ast::Block StatementReader::read(std::span<const Line> lines) {
  Pending outer = std::exchange(pending_, {});
  ast::Block block;
  block.reserve(lines.size());
  for (const Line& line : lines) read_line(line, block);
  if (!pending_.decorators.empty()) {
    context_.diagnostics.error(ErrorClass::Syntax, pending_.span, "syntax.decorator",
                               "found a decorator without a function or class behind it");
  }
  pending_ = std::move(outer);
  return block;
}

ast::Statement StatementReader::damaged(const Line& line) {
  context_.unresolved = true;
  std::set<std::string> names;
  guess_names(context_, line, names);
  return {line.span, ast::Damaged{{names.begin(), names.end()}}, nullptr, line.span};
}

bool StatementReader::refuse_by_name(const Line& line) {
  if (line.header && line.first_word == "match") {
    context_.diagnostics.error(ErrorClass::Syntax, line.span, "refused.match",
                               "'match' is not supported: use if and elif");
    return true;
  }
  for (auto [word, advice] : refused_words) {
    if (line.first_word != word) continue;
    if (word != "except" && word != "finally") {
      Span at{line.span.file, line.span.begin, static_cast<std::uint32_t>(line.span.begin + word.size())};
      context_.diagnostics.error(ErrorClass::Syntax, at, "refused." + std::string(word),
                                 fmt::format("'{}' is not supported: {}", word, advice));
    }
    return true;
  }
  return false;
}

void StatementReader::read_line(const Line& line, ast::Block& into) {
  if (line.first_word == "@") {
    if (pending_.decorators.empty() && !pending_.damaged) {
      pending_.span = line.span;
      pending_.comments_above = line.comments.size();
    }
    ast::ExprPtr decorator = line.damaged ? nullptr : context_.parser.decorator(line);
    if (decorator) {
      pending_.decorators.push_back(std::move(decorator));
    } else {
      pending_.damaged = true;
    }
    pending_.comments.insert(pending_.comments.end(), line.comments.begin(), line.comments.end());
    if (!line.trailing_comment.empty()) pending_.comments.push_back(line.trailing_comment);
    return;
  }
  Pending before = std::exchange(pending_, {});
  bool decorated = !before.decorators.empty() || before.damaged;
  bool definition = line.first_word == "def" || line.first_word == "class";
  // A header whose first word is nearly one of those that a decorator wants is told of as that.
  const bool misspelt = line.header && nearest_name(line.first_word, definition_words).has_value();
  if (decorated && !definition && !misspelt) {
    context_.diagnostics.error(ErrorClass::Syntax, before.span, "syntax.decorator",
                               "found a decorator without a function or class behind it");
    context_.unresolved = true;
  }
  if (line.damaged || refuse_by_name(line) || before.damaged) {
    // The body is still read for its own errors, unless it belongs to something foreign.
    if (definition && !line.damaged) {
      auto header = context_.parser.header(line);
    }
    into.push_back(damaged(line));
    return;
  }
  if (line.first_word == "elif" || line.first_word == "else") return read_branch(line, into);
  auto statement = line.header ? context_.parser.header(line) : context_.parser.simple(line);
  if (!statement) {
    if (line.header && !definition) read(line.body);  // more errors in one run
    into.push_back(damaged(line));
    return;
  }
  statement->whole = {line.span.file, decorated ? before.span.begin : line.span.begin,
                      end_below(line, context_.text)};
  statement->comments = comments_of(line);
  statement->comments_above = decorated ? before.comments_above : line.comments.size();
  if (!before.comments.empty()) {
    Comments all{before.comments, line.trailing_comment};
    all.before.insert(all.before.end(), line.comments.begin(), line.comments.end());
    statement->comments = std::make_shared<const Comments>(std::move(all));
  }
  if (auto* function = statement->as<ast::FunctionDefinition>()) {
    function->decorators = std::move(before.decorators);
  } else if (auto* module = statement->as<ast::ClassDefinition>()) {
    module->decorators = std::move(before.decorators);
  }
  if (line.header) attach_body(line, *statement);
  into.push_back(std::move(*statement));
}

void StatementReader::attach_body(const Line& line, ast::Statement& statement) {
  // Definitions at the top level and in its classes become functions, whose chains are flattened; what stands
  // in other blocks stays as it is written.
  const bool long_chains = context_.parser.long_chains();
  const bool outside = outside_;
  if (!statement.as<ast::ClassDefinition>()) {
    const auto* function = statement.as<ast::FunctionDefinition>();
    if (outside && function && !function->decorators.empty()) context_.parser.set_long_chains(true);
    outside_ = false;
  }
  ast::Block body = read(line.body);
  outside_ = outside;
  context_.parser.set_long_chains(long_chains);
  if (auto* function = statement.as<ast::FunctionDefinition>()) {
    if (!function->decorators.empty()) keep_description(body);
    function->body = std::move(body);
  } else if (auto* module = statement.as<ast::ClassDefinition>()) {
    keep_description(body);
    module->body = std::move(body);
  } else if (auto* loop = statement.as<ast::For>()) {
    loop->body = std::move(body);
  } else if (auto* conditional = statement.as<ast::While>()) {
    conditional->body = std::move(body);
  } else if (auto* with = statement.as<ast::With>()) {
    with->body = std::move(body);
  } else if (auto* choice = statement.as<ast::If>()) {
    choice->branches.back().body = std::move(body);
  }
}

// elif and else go into the if before them.
void StatementReader::read_branch(const Line& line, ast::Block& into) {
  auto* branches = into.empty() ? nullptr : into.back().as<ast::If>();
  auto header = context_.parser.header(line);
  ast::Block body = read(line.body);
  if (!header) return;
  if (into.empty() || (!branches && !into.back().as<ast::Damaged>()) || (branches && branches->has_else)) {
    std::string_view why =
        !into.empty() && (into.back().as<ast::For>() || into.back().as<ast::While>())
            ? "found '{}' behind a loop; expected it behind an if, which asks what the loop has set"
            : "found '{}' without an if before it";
    context_.diagnostics.error(ErrorClass::Syntax, line.span, "syntax.else",
                               fmt::format(fmt::runtime(why), line.first_word));
    context_.unresolved = true;
    return;
  }
  if (!branches) return;
  into.back().whole.end = end_below(line, context_.text);
  ast::Branch& read_header = header->as<ast::If>()->branches.front();
  if (!read_header.condition) {
    branches->has_else = true;
    branches->else_body = std::move(body);
    branches->else_comments = comments_of(line);
  } else {
    branches->branches.push_back(
        {std::move(read_header.condition), std::move(body), line.span, comments_of(line)});
  }
}

}  // namespace relish
