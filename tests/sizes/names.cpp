// Names of namespaces: a walk over declarations, with bodies passed over.
#include <algorithm>
#include <cctype>

#include "tests/sizes/blanked.h"
#include "tests/sizes/sizes.h"

namespace relish::sizes {
namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Blanks between words become one, others none.
std::string squeezed(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_blank(text[at])) {
      out += text[at];
      continue;
    }
    while (at + 1 < text.size() && is_blank(text[at + 1])) ++at;
    if (!out.empty() && of_word(out.back()) && at + 1 < text.size() && of_word(text[at + 1])) out += ' ';
  }
  return out;
}

// A parameter without its name and default: "const A& a = {}" is "const A&".
std::string type_of_parameter(std::string_view parameter) {
  std::string text = squeezed(parameter.substr(0, parameter.find('=')));
  std::size_t word = text.size();
  while (word > 0 && of_word(text[word - 1])) --word;
  const bool named =
      word > 0 && word < text.size() && text[word - 1] != ':' && text.substr(0, word) != "const ";
  if (named) text.erase(word);
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

// "int a, std::map<A, B> b" as "int,std::map<A,B>".
std::string types_of_parameters(std::string_view parameters) {
  std::string out, one;
  std::size_t depth = 0;
  for (const char c : parameters) {
    if (std::string_view("([{<").find(c) != std::string_view::npos) ++depth;
    if (std::string_view(")]}>").find(c) != std::string_view::npos && depth > 0) --depth;
    if (c == ',' && depth == 0) {
      out += type_of_parameter(one) + ",";
      one.clear();
    } else {
      one += c;
    }
  }
  return out + type_of_parameter(one);
}

std::string_view last_word(std::string_view text) {
  text = trimmed(text);
  std::size_t begin = text.size();
  while (begin > 0 && of_word(text[begin - 1])) --begin;
  return text.substr(begin);
}

std::string_view first_word(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && of_word(text[end])) ++end;
  return text.substr(0, end);
}

// The first `c` that no <> or earlier bracket holds; npos where there is none.
std::size_t find_outside(std::string_view text, std::string_view wanted) {
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (depth == 0 && wanted.find(text[at]) != std::string_view::npos) return at;
    if (text[at] == '<') ++depth;
    if (text[at] == '>' && depth > 0) --depth;
    if (text[at] == '(' || text[at] == '[' || text[at] == '{') at = behind(text, at) - 1;
  }
  return std::string_view::npos;
}

// What a declaration without its body declares; empty for what is no name of the namespace.
std::string key_of(std::string_view declaration, bool has_body) {
  declaration = trimmed(declaration);
  while (declaration.starts_with("[[")) declaration = trimmed(declaration.substr(behind(declaration, 0)));
  if (first_word(declaration) == "template") {
    std::size_t depth = 0, at = declaration.find('<');
    if (at == std::string_view::npos) return {};  // an instantiation
    do depth += declaration[at] == '<' ? 1 : declaration[at] == '>' ? -1 : 0;
    while (++at < declaration.size() && depth > 0);
    return key_of(declaration.substr(at), has_body);
  }
  const std::string_view word = first_word(declaration);
  if (word.empty() || word == "friend" || word == "static_assert" || word == "extern") return {};
  const std::size_t open = find_outside(declaration, "(");
  const std::size_t value = find_outside(declaration, "={");
  if (word == "using" || word == "typedef" || word == "namespace")
    return value == std::string_view::npos ? std::string()
                                           : std::string(last_word(declaration.substr(0, value)));
  if ((word == "class" || word == "struct" || word == "union" || word == "enum") &&
      open == std::string_view::npos) {
    if (!has_body) return {};
    std::string_view head = declaration.substr(word.size());
    if (const std::size_t bases = find_outside(head, ":"); bases != std::string_view::npos)
      head = head.substr(0, bases);
    head = trimmed(head);
    if (head.ends_with(" final")) head.remove_suffix(6);
    return head.find('<') != std::string_view::npos ? std::string() : std::string(last_word(head));
  }
  const bool function = open != std::string_view::npos && open < value;
  const std::string_view head = declaration.substr(0, std::min(function ? open : value, declaration.size()));
  std::string_view array = head.substr(0, std::min(head.find('['), head.size()));
  const std::string_view name = last_word(array);
  const std::size_t before = static_cast<std::size_t>(name.data() - declaration.data());
  if (name.empty() || before == 0 || (before > 1 && declaration.substr(before - 2, 2) == "::") ||
      head.find("operator") != std::string_view::npos)
    return {};
  if (!function) return std::string(name);
  const std::size_t close = behind(declaration, open);
  return std::string(name) + "(" + types_of_parameters(declaration.substr(open + 1, close - open - 2)) + ")";
}

class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  std::vector<NamespaceName> run() {
    walk(0, text_.size(), "", false);
    return std::move(found_);
  }

 private:
  void walk(std::size_t at, std::size_t end, const std::string& room, bool hidden) {
    std::size_t begin = at;
    while (at < end) {
      const char c = text_[at];
      if (c == ';' || c == '{') {
        const std::string_view declaration = text_.substr(begin, at - begin);
        if (c == '{' && enter(declaration, at, room, hidden)) {
          begin = at = behind(text_, at);
          continue;
        }
        // A value in braces belongs to the declaration, as what stands behind a type's body does.
        note(declaration, room, hidden, c == '{');
        if (c == '{') at = behind(text_, at) - 1;
        const std::size_t next = text_.find_first_not_of(" \n", at + 1);
        const bool goes_on = c == '{' && next < end && text_[next] != '}' && ends_later(declaration);
        if (goes_on) at = std::min(text_.find(';', at), end - 1);
        begin = ++at;
        continue;
      }
      at = c == '(' || c == '[' ? behind(text_, at) : at + 1;
    }
  }

  // Whether the declaration ends at a ';' behind its braces: a type or a value, not a function.
  static bool ends_later(std::string_view declaration) {
    const std::string_view text = trimmed(declaration);
    const std::size_t open = find_outside(text, "("), value = find_outside(text, "=");
    return open == std::string_view::npos || value < open;
  }

  // Goes into a namespace or `extern "C"`; false for what else has a body.
  bool enter(std::string_view declaration, std::size_t open, const std::string& room, bool hidden) {
    const std::string_view text = trimmed(declaration);
    const std::size_t inner = open + 1, end = behind(text_, open) - 1;
    if (text == "extern") {
      walk(inner, end, room, hidden);
      return true;
    }
    if (first_word(text) != "namespace") return false;
    const std::string name(trimmed(text.substr(std::string_view("namespace").size())));
    walk(inner, end, name.empty() ? room : room.empty() ? name : room + "::" + name, hidden || name.empty());
    return true;
  }

  void note(std::string_view declaration, const std::string& room, bool hidden, bool has_body) {
    std::string key = key_of(declaration, has_body);
    if (key.empty()) return;
    const std::size_t first = declaration.find_first_not_of(" \n");
    const std::size_t at = static_cast<std::size_t>(declaration.data() - text_.data()) + first;
    const auto line = 1 + static_cast<std::size_t>(std::count(
                              text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    const bool local = first_word(trimmed(declaration)) == "static";
    const std::string_view first_of = first_word(trimmed(declaration));
    const bool alias = first_of == "using" || first_of == "namespace";
    found_.push_back({std::move(key), room, line, hidden || local, alias ? squeezed(declaration) : ""});
  }

  std::string_view text_;
  std::vector<NamespaceName> found_;
};

}  // namespace

std::vector<NamespaceName> namespace_names(std::string_view source) {
  const std::string text = blanked(source);
  return Walk(text).run();
}

}  // namespace relish::sizes
