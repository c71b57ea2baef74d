// How a table is read, from the options of a call.
#include "shell/commands/data/csv_options.h"

#include <algorithm>
#include <memory>
#include <set>

#include "shell/script/convert.h"
#include "support/render.h"
#include "support/value_text.h"

namespace relish {
namespace {

constexpr std::string_view csv_option_names[] = {"columns", "fill", "sep", "decimal", "header"};

// What stands for a missing cell, as it would stand in the file.
std::string cell_of(const Invocation& invocation, const ScriptValue& fill) {
  if (!fill.is_number() && !fill.string()) {
    invocation.misuse("fill",
                      fmt::format("found {}; expected a number, a str (\"mean\", \"median\" or a word) or a "
                                  "dict of these by column",
                                  describe(fill)));
  }
  return fill.as<bool>() ? text_of(ScriptValue(*integer_of(fill))) : text_of(fill);
}

// "0" of the shell, or "size=mean".
void add_filling(const Invocation& invocation, const std::string& text, CsvOptions& into) {
  const std::size_t mark = text.find('=');
  if (mark != text.npos && mark > 0) {
    into.fill_of[text.substr(0, mark)] = without_quotes(text.substr(mark + 1));
  } else if (into.fill) {
    invocation.refuse_value("fill", fmt::format("found '{}' and '{}'; expected one value for all columns, or "
                                                "COLUMN=VALUE",
                                                printable(*into.fill), printable(text)));
  } else {
    into.fill = text;
  }
}

void read_fill(const Invocation& invocation, CsvOptions& into) {
  const ScriptValue* fill = invocation.find("fill");
  if (!fill) return;
  if (const ScriptDict* dict = fill->dictionary()) {
    for (const auto& [name, value] : dict->items) {
      const auto place = integer_of(name);
      if (!name.string() && !place)
        invocation.misuse("fill", fmt::format("found {}; expected the name of a column", describe(name)));
      into.fill_of[place ? std::to_string(*place) : *name.string()] = cell_of(invocation, value);
    }
  } else if (fill->sequence()) {
    for (const std::string& text : invocation.names("fill")) add_filling(invocation, text, into);
  } else {
    into.fill = cell_of(invocation, *fill);
  }
}

// {"town": ["Bonn", "Köln"]}.
void read_words(const Invocation& invocation, CsvOptions& into) {
  const ScriptValue* given = invocation.find("words");
  if (!given) return;
  const ScriptDict* dict = given->dictionary();
  if (!dict) {
    invocation.misuse("words",
                      fmt::format("found {}; expected a dict of lists of strs by column", describe(*given)));
  }
  for (const auto& [name, words] : dict->items) {
    const ScriptList* list = words.sequence();
    if (!name.string() || !list || list->items.empty()) {
      invocation.misuse("words", fmt::format("found {}: {}; expected the name of a column and a list of its "
                                             "words",
                                             quoted_text_of(name), describe(words)));
    }
    std::vector<std::string>& column = into.words_of[*name.string()];
    for (const ScriptValue& word : list->items) {
      if (!word.string())
        invocation.misuse("words", fmt::format("found {} among words; expected strs", describe(word)));
      column.push_back(*word.string());
    }
  }
}

// Names of columns, or ints as their places.
std::vector<std::string> columns_option(const Invocation& invocation, std::string_view option) {
  const ScriptValue* value = invocation.find(option);
  if (!value) return {};
  const auto place_of = [](const ScriptValue& item) {
    return item.as<std::int64_t>() ? std::optional(*item.as<std::int64_t>()) : std::nullopt;
  };
  std::vector<std::string> result;
  if (const auto place = place_of(*value)) {
    result.push_back(std::to_string(*place));
  } else if (const ScriptList* list = value->sequence(); list && invocation.surface == Surface::Script) {
    for (const ScriptValue& item : list->items) {
      const auto place_here = place_of(item);
      if (!place_here && !item.string()) {
        invocation.misuse(option, fmt::format("found {} among the columns; expected names, or ints as places",
                                              describe(item)));
      }
      result.push_back(place_here ? std::to_string(*place_here) : *item.string());
    }
  } else if (value->string() || value->sequence()) {
    result = invocation.names(option);
  } else {
    invocation.misuse(option,
                      fmt::format("found {}; expected the name of a column, an int as its place, or a "
                                  "list of these",
                                  describe(*value)));
  }
  if (result.empty())
    invocation.refuse_value(option, "found no name; expected those of columns, or leave it out for all");
  return result;
}

std::optional<char> separator_option(const Invocation& invocation) {
  if (!invocation.given("sep")) return std::nullopt;
  const std::string text = invocation.text("sep");
  if (text == "\\t") return '\t';  // as a shell writes it
  if (text == "\\s+") return ' ';  // as others write any number of blanks
  if (text.size() != 1 || text == "\"" || text == "\n") {
    invocation.refuse_value("sep",
                            fmt::format("found '{}'; expected one character such as \";\", or \" \" for any "
                                        "number of blanks",
                                        printable(text)));
  }
  return text[0];
}

std::optional<char> decimal_option(const Invocation& invocation) {
  if (!invocation.given("decimal")) return std::nullopt;
  const std::string text = invocation.text("decimal");
  if (text != "." && text != ",")
    invocation.refuse_value("decimal", fmt::format("found '{}'; expected \".\" or \",\"", printable(text)));
  return text[0];
}

std::optional<bool> header_option(const Invocation& invocation) {
  const ScriptValue* value = invocation.find("header");
  if (!value) return std::nullopt;
  if (const auto* flag = value->as<bool>()) return *flag;
  if (const std::string* text = value->string()) {
    if (*text == "True" || *text == "true") return true;
    if (*text == "False" || *text == "false") return false;
  }
  invocation.misuse("header", fmt::format("found {}; expected True or False",
                                          value->string() ? brief_text(*value) : describe(*value)));
}

}  // namespace

bool has_csv_options(const Invocation& invocation, std::string_view* first) {
  for (const std::string_view name : csv_option_names) {
    if (!invocation.given(name)) continue;
    if (first) *first = name;
    return true;
  }
  return false;
}

CsvOptions csv_options_of(const Invocation& invocation, const std::string& path) {
  CsvOptions result;
  result.separator = separator_option(invocation);
  result.decimal = decimal_option(invocation);
  if (result.separator && result.separator == result.decimal) {
    invocation.refuse_value("decimal",
                            fmt::format("'{}' stands between the cells; expected another", *result.decimal));
  }
  result.header = header_option(invocation);
  if (invocation.given("dtype"))
    result.dtype = dtype_of_value(*invocation.find("dtype"), invocation.span_of("dtype"));
  result.columns = columns_option(invocation, "columns");
  result.targets = columns_option(invocation, "target");
  read_fill(invocation, result);
  read_words(invocation, result);
  const auto told = std::make_shared<std::set<std::string>>();
  result.tell = [&invocation, path, told](const std::string& text) {
    if (!told->insert(text).second) return;
    Diagnostic note;
    note.severity = Severity::Note;
    note.place = path;
    note.message = text;
    invocation.session.report(note);
  };
  return result;
}

}  // namespace relish
