// The command `doc`: the page of an operator, command, built-in, entry of the catalog, construct, metric,
// format, option, method, dtype, or of a name of another library.
#include <algorithm>
#include <optional>

#include "shell/commands/help/loop_functions.h"
#include "shell/commands/help/operator_page.h"
#include "shell/commands/help/small_pages.h"
#include "shell/commands/manual_topics.h"
#include "shell/commands/subject.h"
#include "shell/commands/word_pages.h"
#include "shell/program/told_table.h"
#include "shell/script/builtins.h"
#include "shell/script/python_names.h"
#include "stdlib/catalog_doc.h"
#include "stdlib/foreign_names.h"
#include "stdlib/op_doc.h"
#include "stdlib/places_of_names.h"
#include "stdlib/python_modules.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish::commands_doc {
namespace {

constexpr Example examples[] = {{"relish doc nn.relu", "doc(\"gradient\")"},
                                {"relish doc adam", "doc(\"cross_entropy\")"},
                                {"relish doc accuracy", "doc(\"if\")"}};

// The nearest of the names; else the first operator of a folder, as nn, whose own name is nearest.
std::string suggestion(const std::string& wanted, const std::vector<std::string>& names) {
  std::string hint = did_you_mean(wanted, names);
  if (!hint.empty()) return hint;
  std::vector<std::string> last_parts;
  for (const std::string& name : names) last_parts.push_back(name.substr(name.rfind('.') + 1));
  const std::optional<std::string> nearest = nearest_name(wanted, last_parts);
  if (!nearest) return "";
  const auto found = std::find(last_parts.begin(), last_parts.end(), *nearest);
  return fmt::format("; did you mean '{}'?", names[static_cast<std::size_t>(found - last_parts.begin())]);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// Operators whose last part the name is: nn.softmax of softmax.
std::vector<std::string> operators_called(std::string_view name) {
  std::vector<std::string> found;
  for (const std::string& each : op_names())
    if (each.substr(each.rfind('.') + 1) == name) found.push_back(each);
  return found;
}

// What speaks of the word in its name or summary, a line each; empty when nothing does.
std::string search(std::string_view word) {
  constexpr std::size_t most_lines = 20, least_characters = 3;
  const std::string wanted = lower(word);
  if (wanted.size() < least_characters) return {};
  std::vector<std::pair<std::string, std::string_view>> entries;
  for (const std::string& name : op_names()) entries.emplace_back("R." + name, find_op(name)->summary);
  for (const Command* command : all_commands())
    entries.emplace_back(shell_name(command->name), command->summary);
  for (const Builtin& builtin : all_builtins())
    entries.emplace_back(builtin.name, builtin.synopsis.substr(0, builtin.synopsis.find('\n')));
  for (const WordPage& page : word_pages())
    entries.emplace_back(page.words.substr(0, page.words.find(' ')),
                         page.text.substr(0, page.text.find('\n')));
  std::string text;
  std::size_t lines = 0;
  for (const auto& [name, summary] : entries) {
    const bool speaks =
        lower(name).find(wanted) != std::string::npos || lower(summary).find(wanted) != std::string::npos;
    if (!speaks || ++lines > most_lines) continue;
    text += fmt::format("\n  {:<28} {}", name, summary);
  }
  if (lines > most_lines) text += fmt::format("\n  and {} more", lines - most_lines);
  return text;
}

// How the calls of a word of other libraries are written here, a line each.
std::string foreign_calls(std::string_view word) {
  std::string text;
  for (const ForeignCallRow* row : foreign_rows_of(word)) {
    if (row->write.empty()) continue;
    text += fmt::format("\n  {:<44} {}{}", call_text_of(*row), written_text_of(*row), row->note);
  }
  return text.empty() ? text : fmt::format("{} is no operator here; it is written so:{}", word, text);
}

// How a built-in is called, and what functions have in its place.
std::string page_of(const Builtin& builtin) {
  const std::string_view instead = written_in_functions(builtin.name);
  return fmt::format("{}\n  A built-in of statements.{}{}\n  manual: docs/language.md, Built-ins",
                     builtin.synopsis, instead.empty() ? "" : " In an R.function: ",
                     instead.empty() ? std::string() : std::string(instead) + ".");
}

// All that is called so: a command and an operator may have one name. With R. before it only the operator is
// meant.
std::vector<std::string> pages_of(const std::string& name, const std::string& short_name,
                                  Invocation& invocation) {
  std::vector<std::string> pages;
  if (name == short_name) {
    if (const Command* command = find_command(name)) pages.push_back(command_help(*command));
    if (const Builtin* builtin = find_builtin(name)) pages.push_back(page_of(*builtin));
    if (auto page = catalog_page(name)) pages.push_back(*page);
  }
  const std::string_view own = written_in_statements(name);
  const std::string_view instead = own.empty() ? written_in_statements("R." + name) : own;
  if (auto page = word_page(name))
    pages.push_back(*page + (instead.empty() ? "" : fmt::format("\n  In a statement: {}.", instead)));
  else if (!own.empty())
    pages.push_back(fmt::format("{}\n  A name of functions. In a statement: {}.", name, own));
  if (const Op* op = find_op(short_name)) pages.push_back(operator_page(*op, invocation.session.settings()));
  if (auto page = dtype_page(name.starts_with("T.") ? name.substr(2) : name)) pages.push_back(*page);
  if (auto page = loop_function_page(name)) pages.push_back(*page);
  if (auto page = method_page(name)) pages.push_back(*page);
  if (!pages.empty()) return pages;
  if (auto page = option_page(name)) pages.push_back(*page);
  return pages;
}

[[noreturn]] void unknown_loop_function(const std::string& name, Span span) {
  // Without "T.", which is no part of what was mistyped.
  constexpr std::size_t before = 2;
  std::vector<std::string> names;
  for (const std::string& each : loop_function_names()) names.push_back(each.substr(before));
  for (const WordPage& page : word_pages()) {
    for (std::size_t at = 0; at < page.words.size();) {
      const std::size_t end = std::min(page.words.find(' ', at), page.words.size());
      if (page.words.substr(at, before) == "T.")
        names.emplace_back(page.words.substr(at + before, end - at - before));
      at = end + 1;
    }
  }
  const auto near = nearest_name(name.substr(before), names);
  fail(ErrorClass::Usage, span, "doc.name",
       fmt::format("nothing is known of '{}'; {}", printable(name),
                   near ? fmt::format("did you mean 'T.{}'?", *near)
                        : "of prim_funcs speaks the manual in docs/language.md, Loop nests"));
}

std::string page_of(Invocation& invocation) {
  start_language();
  if (invocation.files.empty()) {
    fail(ErrorClass::Usage, invocation.span, "doc.name",
         "doc takes the name of an operator, command, built-in, metric, construct or format as a str");
  }
  // As it is typed: doc :save, doc --early-stopping.
  std::string name = invocation.files.front();
  if (name.size() > 1 && name.front() == ':') name.erase(0, 1);
  const std::string short_name = name.starts_with("R.") ? name.substr(2) : name;
  if (const std::vector<std::string> pages = pages_of(name, short_name, invocation); !pages.empty())
    return fmt::format("{}", fmt::join(pages, "\n\n"));
  if (auto successor = successor_of(short_name)) return fmt::format("{} is today {}", short_name, *successor);
  if (const std::vector<std::string> called = operators_called(name); called.size() == 1)
    return operator_page(*find_op(called.front()), invocation.session.settings());
  const std::string word = name.substr(name.rfind('.') + 1);
  if (const auto here = operator_called_elsewhere(word))
    return fmt::format("{} is here R.{}\n\n{}", printable(name), *here,
                       operator_page(*find_op(*here), invocation.session.settings()));
  if (const std::string calls = foreign_calls(word); !calls.empty()) return calls;
  if (const auto instead = written_instead(word); instead && !instead->empty())
    return fmt::format("{} is no operator here; write {}", printable(name), *instead);
  if (const auto constant = written_constant(word))
    return fmt::format("{} is here {}", printable(name), *constant);
  if (const auto instead = written_instead(word))
    return fmt::format("{}: nothing here does what it does", printable(name));
  if (const std::string_view instead = instead_of_python_module(name); !instead.empty())
    return fmt::format("{} is no module here; {}", printable(name), instead);
  if (const std::string advice = python_name_advice(name); !advice.empty())
    return fmt::format("{} is no built-in here{}", printable(name), advice);
  // What is asked of prim_funcs is answered of them.
  if (name.starts_with("T.")) unknown_loop_function(name, invocation.span);
  if (auto topic = manual_topic(name)) {
    const std::string found = search(name);
    return *topic + (found.empty() ? "" : "\nand here" + found);
  }
  if (const std::string found = search(name); !found.empty())
    return fmt::format("nothing is called '{}'; of it speak{}", printable(name), found);
  std::vector<std::string> names = op_names();
  for (const std::string& entry : catalog_names()) names.push_back(entry);
  for (const Command* command : all_commands()) names.emplace_back(command->name);
  for (const Builtin& builtin : all_builtins()) names.emplace_back(builtin.name);
  for (const std::string& each : option_and_method_names()) names.push_back(each);
  for (const WordPage& page : word_pages()) names.emplace_back(page.words.substr(0, page.words.find(' ')));
  fail(ErrorClass::Usage, invocation.span, "doc.name",
       fmt::format("nothing is known of '{}'{}", printable(name), suggestion(short_name, names)));
}

ScriptValue run(Invocation& invocation) {
  std::string page = page_of(invocation);
  tell_page(page);
  return page;
}

}  // namespace

extern const Command command_doc;
const Command command_doc{
    .name = "doc",
    .summary = "shows the page of an operator, command, built-in, loss, metric, construct or format",
    .subject = Subject::Name,
    .run = run,
    .examples = examples,
    .subject_optional = true,
};

}  // namespace relish::commands_doc
