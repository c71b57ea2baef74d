// Members of classes, counted over the text: comments and literals are blanked, then the declarations at the
// top of a class's body are cut at their ';' or at the end of a function's body.
#include <algorithm>
#include <cctype>

#include "tests/sizes/blanked.h"
#include "tests/sizes/sizes.h"

namespace relish::sizes {
namespace {

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || !of_word(text[word.size()]));
}

// A declaration without what stands between its brackets: '<' that begins arguments stands behind a name or
// `template`, without them '<' compares.
std::string without_template_arguments(std::string_view declaration) {
  std::string out;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < declaration.size(); ++at) {
    const char c = declaration[at];
    const bool named = !out.empty() && of_word(out.back()) && !out.ends_with("operator");
    if (c == '<' && (depth > 0 || named || trimmed(out).ends_with("template")))
      ++depth;
    else if (c == '>' && depth > 0)
      --depth;
    else if (depth == 0)
      out += c;
  }
  return out;
}

// How many members a declaration is, brackets emptied: "int a = (), b", "void f() const", "using T = X".
std::size_t members_of(std::string_view declaration) {
  const std::string bare = without_template_arguments(declaration);
  std::string_view head = trimmed(bare);
  while (begins_with_word(head, "template")) head = trimmed(head.substr(std::string_view("template").size()));
  if (head.empty()) return 0;
  for (const std::string_view word : {"friend", "using", "typedef", "static_assert"})
    if (begins_with_word(head, word)) return 0;
  for (const std::string_view word : {"class", "struct", "union", "enum"})
    if (begins_with_word(head, word)) {
      const std::size_t body = head.find("{}");
      // "struct A", "struct A {}": a type; "struct A {} a": a member too.
      if (body == std::string_view::npos || trimmed(head.substr(body + 2)).empty()) return 0;
      head = head.substr(body + 2);
    }
  if (head.find("operator") != std::string_view::npos || head.substr(0, head.find('=')).ends_with("()"))
    return 1;
  if (const std::size_t call = head.find("()"), value = head.find_first_of("={");
      call != std::string_view::npos && call < value)
    return 1;
  return 1 + static_cast<std::size_t>(std::count(head.begin(), head.end(), ','));
}

// Whether the '{' behind this declaration opens the body of a function: a value stands behind '=' or directly
// behind a name.
bool opens_function(std::string_view declaration) {
  const std::string bare = without_template_arguments(declaration);
  if (bare.empty() || of_word(bare.back())) return false;
  const std::size_t parameters = bare.find("()");
  return parameters != std::string::npos &&
         (bare.find("operator") != std::string::npos || bare.find('=') > parameters);
}

std::size_t members_in(std::string_view body) {
  std::size_t members = 0;
  std::string declaration;  // what was passed of the current one, brackets emptied
  for (std::size_t at = 0; at < body.size();) {
    const char c = body[at];
    if (c == ';') {
      members += members_of(declaration);
      declaration.clear();
    } else if (c == '{' && opens_function(declaration)) {
      members += members_of(declaration);
      declaration.clear();
      at = behind(body, at);
      continue;
    } else if (c == '(' || c == '[' || c == '{') {
      declaration += c;
      declaration += c == '(' ? ')' : c == '[' ? ']' : '}';
      at = behind(body, at);
      continue;
    } else {
      declaration += c;
      for (const std::string_view access : {"public:", "protected:", "private:"})
        if (trimmed(declaration) == access) declaration.clear();
    }
    ++at;
  }
  return members;
}

// Where the body of the class begins whose keyword ends at `at`, and its name; npos when it is none.
std::size_t body_of(std::string_view text, std::size_t at, std::string& name) {
  const auto skip_blanks = [&] {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  };
  const auto take_word = [&] {
    skip_blanks();
    const std::size_t first = at;
    while (at < text.size() && of_word(text[at])) ++at;
    return text.substr(first, at - first);
  };
  name = take_word();
  skip_blanks();
  if (at < text.size() && text[at] == '<') {  // of a specialization, `struct A<int> {`
    std::size_t depth = 0;
    do depth += text[at] == '<' ? 1 : text[at] == '>' ? -1 : 0;
    while (++at < text.size() && depth > 0);
    skip_blanks();
  }
  if (begins_with_word(text.substr(at), "final")) take_word();
  skip_blanks();
  if (text.substr(at).starts_with("{")) return at;
  const bool bases = text.substr(at).starts_with(":") && !text.substr(at).starts_with("::");
  return bases ? text.find('{', at) : std::string_view::npos;
}

}  // namespace

std::vector<CountedClass> classes_of(std::string_view source) {
  const std::string text = blanked(source);
  struct Open {
    std::string name;
    std::size_t end;
  };
  std::vector<CountedClass> found;
  std::vector<Open> around;
  std::size_t line = 1;
  std::string before;  // the word before the current one
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\n') ++line;
    if (!of_word(text[at])) {
      ++at;
      continue;
    }
    const std::size_t first = at;
    while (at < text.size() && of_word(text[at])) ++at;
    const std::string word = text.substr(first, at - first);
    std::string name;
    const bool keyword = (word == "class" || word == "struct" || word == "union") && before != "enum";
    before = word;
    const std::size_t open = keyword ? body_of(text, at, name) : std::string::npos;
    if (open == std::string::npos) continue;
    while (!around.empty() && around.back().end <= first) around.pop_back();
    if (!around.empty()) name = around.back().name + "::" + name;
    const std::size_t end = behind(text, open);
    found.push_back({name, line, members_in(std::string_view(text).substr(open + 1, end - open - 2))});
    around.push_back({name, end});
  }
  return found;
}

}  // namespace relish::sizes
