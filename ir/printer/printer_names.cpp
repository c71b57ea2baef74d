// Names and lines of the printer.
#include <algorithm>
#include <array>

#include "ir/printer/printer_internal.h"

namespace relish::printing {
namespace {

// Words of Python that no variable may be; "_" is a name that is thrown away.
constexpr std::array<std::string_view, 36> reserved_words = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",    "_"};

std::uint64_t key_of(NameTable::Kind kind, std::uint64_t id) {
  return id * 4 + static_cast<std::uint64_t>(kind);
}

}  // namespace

std::string identifier(std::string_view hint) {
  std::string name;
  for (char c : hint) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    bool digit = c >= '0' && c <= '9';
    if (digit && name.empty()) name += '_';
    name += letter || digit ? c : '_';
  }
  return name.empty() ? "v" : name;
}

NameTable::NameTable() {
  for (std::string_view word : reserved_words) used_.emplace(word);
}

// A variable may be called like a namespace that its function does not use: names of parameters are kept if
// possible.
void NameTable::reserve_graph_names() {
  for (const char* name : {"R", "T", "relish", "float"}) used_.emplace(name);
}

void NameTable::reserve_loop_names() {
  for (const char* name : {"T", "range", "float"}) used_.emplace(name);
}

std::string NameTable::unique(const std::string& base) {
  if (used_.insert(base).second) return base;
  int& suffix = next_suffix_.try_emplace(base, 1).first->second;
  for (;; ++suffix) {
    std::string name = base + "_" + std::to_string(suffix);
    if (used_.insert(name).second) return name;
  }
}

const std::string& NameTable::of(Kind kind, std::uint64_t id, std::string_view hint) {
  std::uint64_t key = key_of(kind, id);
  auto found = names_.find(key);
  if (found != names_.end()) return found->second;
  std::string base = identifier(hint);
  std::string name = unique(base);
  given_.push_back({key, std::move(base), name});
  if (kind == Kind::Graph) holders_[name] = id;
  return names_.emplace(key, std::move(name)).first->second;
}

void NameTable::alias(Kind kind, std::uint64_t id, const std::string& name) {
  names_[key_of(kind, id)] = name;
}

void NameTable::take(std::uint64_t id, const std::string& name) {
  used_.insert(name);
  holders_[name] = id;
  names_[key_of(Kind::Graph, id)] = name;
}

std::optional<std::uint64_t> NameTable::holder(const std::string& name) const {
  auto found = holders_.find(name);
  return found == holders_.end() ? std::nullopt : std::optional(found->second);
}

void NameTable::set_holder(const std::string& name, std::optional<std::uint64_t> id) {
  if (id)
    holders_[name] = *id;
  else
    holders_.erase(name);
}

void NameTable::forget(const ScalarVar& var) {
  auto found = names_.find(key_of(Kind::Scalar, var.id()));
  if (found == names_.end()) return;
  used_.erase(found->second);
  next_suffix_.erase(identifier(var.name()));
  names_.erase(found);
}

std::string NameTable::fresh(std::string_view hint) { return unique(identifier(hint)); }

void NameTable::release(std::size_t mark) {
  while (given_.size() > mark) {
    const Given& last = given_.back();
    names_.erase(last.key);
    used_.erase(last.name);
    holders_.erase(last.name);
    next_suffix_.erase(last.base);
    given_.pop_back();
  }
}

bool is_printed_comment(std::string_view text) {
  return text == "with T.sblock(\"root\"):" || text == "with T.block(\"root\"):" || text == "relish: 1" ||
         text.starts_with("from tvm.script import ") || text.starts_with("from tvm.tirx.layout import ");
}

void Writer::comments_before(const CommentsPtr& comments) {
  if (!comments || !text.options.comments) return;
  for (const std::string& comment : comments->before) {
    if (is_printed_comment(comment)) continue;
    // What stood behind a statement may have further lines.
    std::string_view rest = comment;
    if (rest.starts_with('\n')) rest.remove_prefix(1);
    comment_lines(rest);
  }
}

void Writer::comment_lines(std::string_view text) {
  while (true) {
    const std::size_t end = text.find('\n');
    const std::string_view comment = text.substr(0, end);
    begin_line();
    out += comment.empty() ? "#" : "# ";
    out += comment;
    end_line();
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

void Writer::end_line(const CommentsPtr& comments) {
  if (comments && text.options.comments && !comments->after.empty()) {
    const std::string_view after = comments->after;
    const std::size_t end = after.find('\n');
    if (end != 0) {
      out += "  # ";
      out += after.substr(0, end);
    }
    end_line();
    if (end != std::string_view::npos) comment_lines(after.substr(end + 1));
    return;
  }
  end_line();
}

}  // namespace relish::printing
