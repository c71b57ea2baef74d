// Names and lines of the printer.
#include <algorithm>
#include <array>
#include <utility>

#include "ir/printer/printer_internal.h"
#include "ir/printer/words.h"

namespace relish::printing {
namespace {

// Words of Python that no variable may be; "_" is a name that is thrown away.
constexpr std::array<std::string_view, 36> reserved_words = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",    "_"};

bool is_word_of_python(std::string_view name) {
  constexpr std::size_t longest =
      std::max_element(reserved_words.begin(), reserved_words.end(),
                       [](std::string_view a, std::string_view b) { return a.size() < b.size(); })
          ->size();
  return name.size() <= longest &&
         std::find(reserved_words.begin(), reserved_words.end(), name) != reserved_words.end();
}

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

}  // namespace relish::printing

namespace relish {

bool prints_as_itself(std::string_view name) {
  return printing::identifier(name) == name && !printing::is_word_of_python(name);
}

}  // namespace relish

namespace relish::printing {

// Reserved words are in no table: many texts, as that of a type, have no names at all.
NameTable::NameTable() = default;

std::vector<std::string> words_with_a_meaning(const TextState& text) {
  std::vector<std::string> words = {"R", "T", "relish", "float"};
  if (!text.class_name.empty()) words.push_back(text.class_name);
  return words;
}

bool means_something(std::string_view text, std::string_view word) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool whole = (at == 0 || !is_part(text[at - 1])) && end < text.size();
    if (whole && (text[end] == '.' || text[end] == '(')) return true;
  }
  return false;
}

void NameTable::reserve_loop_names() {
  for (const char* name : {"T", "range", "float"}) reserve(name);
}

bool NameTable::used(const std::string& name) const {
  if (is_word_of_python(name)) return true;
  auto found = records_.find(name);
  return found != records_.end() && found->second.used;
}

// False: it was used before.
bool NameTable::take_name(const std::string& name) {
  return !is_word_of_python(name) && !std::exchange(records_[name].used, true);
}

void NameTable::free_name(const std::string& name) {
  auto found = records_.find(name);
  if (found == records_.end()) return;
  found.value().used = false;
  found.value().held = false;
}

std::string NameTable::unique(const std::string& base) {
  if (take_name(base)) return base;
  int suffix = records_[base].next_suffix;
  for (;; ++suffix) {
    std::string name = base + "_" + std::to_string(suffix);
    if (!take_name(name)) continue;
    records_[base].next_suffix = suffix;
    return name;
  }
}

const std::string& NameTable::of(Kind kind, std::uint64_t id, std::string_view hint) {
  std::uint64_t key = key_of(kind, id);
  auto [found, added] = names_.try_emplace(key);
  if (!added) return found->second;
  std::string base = identifier(hint);
  found->second = unique(base);
  if (kind == Kind::Graph) set_holder(found->second, id);
  given_.push_back({key, std::move(base), found->second});
  return found->second;
}

void NameTable::alias(Kind kind, std::uint64_t id, const std::string& name) {
  names_[key_of(kind, id)] = name;
}

void NameTable::take(std::uint64_t id, const std::string& name) {
  take_name(name);
  set_holder(name, id);
  names_[key_of(Kind::Graph, id)] = name;
}

std::optional<std::uint64_t> NameTable::holder(const std::string& name) const {
  auto found = records_.find(name);
  if (found == records_.end() || !found->second.held) return std::nullopt;
  return found->second.holder;
}

void NameTable::set_holder(const std::string& name, std::optional<std::uint64_t> id) {
  Record& record = records_[name];
  record.held = id.has_value();
  record.holder = id.value_or(0);
}

void NameTable::forget(const ScalarVar& var) {
  auto found = names_.find(key_of(Kind::Scalar, var.id()));
  if (found == names_.end()) return;
  records_[found->second].used = false;
  records_[identifier(var.name())].next_suffix = 1;
  names_.erase(found);
}

std::string NameTable::fresh(std::string_view hint) { return unique(identifier(hint)); }

void NameTable::release(std::size_t mark) {
  while (given_.size() > mark) {
    const Given& last = given_.back();
    names_.erase(last.key);
    free_name(last.name);
    records_[last.base].next_suffix = 1;
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
