// The command `load`: the value that a data file holds, or the declarations of another text.
#include "frontend/module/module_links.h"

#include <set>

#include "ir/calls/entry.h"
#include "ir/printer/printer.h"
#include "runtime/files.h"
#include "runtime/files/data_file.h"
#include "shell/commands/data/tensor_tree.h"
#include "shell/commands/subject.h"
#include "shell/program/module_files.h"
#include "shell/script/convert.h"
#include "shell/script/json_values.h"
#include "shell/script/script.h"
#include "support/atomic_file.h"
#include "support/limits.h"
#include "support/memory.h"
#include "support/render.h"

namespace relish::commands_load {
namespace {

constexpr Option options[] = {
    {"target", OptionKind::Names, "",
     "columns of a CSV file that are to be found from the others: the result is (x, y)", 0, in_scripts},
    {"columns", OptionKind::Names, "all",
     "columns of a CSV file that are read; their names where the file has none", 0, in_scripts},
    {"dtype", OptionKind::Text, "by what they hold", "dtype of the columns of a CSV file", 0, in_scripts},
    {"fill", OptionKind::Value, "",
     "what stands for missing cells of a CSV file: a number, a str, or a dict of these by column", 0,
     in_scripts},
    {"words", OptionKind::Value, "those of the file, in the order of the alphabet",
     "the words of columns of a CSV file, a dict of lists: their codes are their places in these", 0,
     in_scripts},
    {"sep", OptionKind::Text, "found in the first line", "what stands between the cells of a CSV file", 0,
     in_scripts},
    {"header", OptionKind::Flag, "whether a cell of it is no number",
     "True, False: the first line of a CSV file has the names of the columns, or their first values", 0,
     in_scripts},
    {"matrix", OptionKind::Flag, "", "a CSV file with a header as one matrix of numbers", 0, in_scripts},
    {"tree", OptionKind::Flag, "",
     "entries of a file as the tree that was saved: \"params.w\" is [\"params\"][\"w\"], and \"states.0\", … are a "
     "list or tuple",
     0, in_scripts},
    {"bytes", OptionKind::Flag, "", "the bytes of any file, as a tensor of uint8", 0, in_scripts},
};
constexpr std::string_view csv_options[] = {"target", "columns", "dtype",  "fill",
                                            "words",  "sep",     "header", "matrix"};

constexpr Example examples[] = {
    {"relish load weights.npz", "p = load(\"weights.npz\")"},
    {"", "x, y = load(\"houses.csv\", target=\"price\")"},
    {"", "layers = load(\"layers.relish\")"},
};

ScriptValue value_of_tensors(NamedTensors tensors) {
  if (tensors.size() == 1 && tensors.front().first.empty()) return tensors.front().second;
  std::vector<std::pair<ScriptValue, ScriptValue>> items;
  for (auto& [name, tensor] : tensors) items.emplace_back(name, std::move(tensor));
  return ScriptValue::dict(std::move(items));
}

// The words of a column stand beside it.
ScriptValue value_of_columns(const std::string& path, std::vector<CsvColumn> columns) {
  std::set<std::string> names;
  for (const CsvColumn& column : columns) names.insert(column.name);
  std::vector<std::pair<ScriptValue, ScriptValue>> items;
  for (CsvColumn& column : columns) {
    if (!column.words.empty() && names.contains(column.name + ".words")) {
      fail_at(ErrorClass::Data, path, "csv.column",
              fmt::format(
                  "the words of '{}' would stand under '{}.words', which is a column too; columns= chooses "
                  "one of them",
                  column.name, column.name));
    }
    items.emplace_back(column.name, std::move(column.values));
    if (column.words.empty()) continue;
    std::vector<ScriptValue> words(column.words.begin(), column.words.end());
    items.emplace_back(column.name + ".words", ScriptValue::list(std::move(words)));
  }
  return ScriptValue::dict(std::move(items));
}

// What stands for a missing cell, as it would stand in the file.
std::string cell_of(const Invocation& invocation, const ScriptValue& fill) {
  if (!fill.is_number() && !fill.string()) {
    invocation.misuse("fill",
                      fmt::format("found {}; expected a number, a str or a dict of these", describe(fill)));
  }
  return fill.as<bool>() ? text_of(ScriptValue(*integer_of(fill))) : text_of(fill);
}

void tell_notes(const Invocation& invocation, const std::string& path,
                const std::vector<CsvColumn>& columns) {
  for (const CsvColumn& column : columns) {
    if (column.note.empty()) continue;
    Diagnostic note;
    note.severity = Severity::Note;
    note.place = path;
    note.message = column.note;
    invocation.session.report(note);
  }
}

// {"town": ["Bonn", "Köln"]}.
std::map<std::string, std::vector<std::string>> words_option(const Invocation& invocation) {
  std::map<std::string, std::vector<std::string>> result;
  const ScriptValue* given = invocation.find("words");
  if (!given) return result;
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
    std::vector<std::string>& into = result[*name.string()];
    for (const ScriptValue& word : list->items) {
      if (!word.string())
        invocation.misuse("words", fmt::format("found {} among words; expected strs", describe(word)));
      into.push_back(*word.string());
    }
  }
  return result;
}

CsvOptions csv_options_of(const Invocation& invocation) {
  CsvOptions result;
  if (invocation.given("sep")) {
    const std::string text = invocation.text("sep");
    if (text.size() != 1 || text == "\"" || text == "\n") {
      invocation.refuse_value(
          "sep", fmt::format("found '{}'; expected one character such as \";\"", printable(text)));
    }
    result.separator = text[0];
  }
  if (invocation.given("dtype")) {
    result.dtype = dtype_of_value(invocation.text("dtype"), invocation.span_of("dtype"));
  }
  if (invocation.given("header")) result.header = invocation.flag("header");
  result.columns = invocation.names("columns");
  result.targets = invocation.names("target");
  for (const std::string_view option : {"columns", "target"}) {
    if (invocation.given(option) && invocation.names(option).empty())
      invocation.refuse_value(option, "found no name; expected those of columns, or leave it out for all");
  }
  const ScriptValue* fill = invocation.find("fill");
  if (fill && fill->dictionary()) {
    for (const auto& [name, value] : fill->dictionary()->items) {
      if (!name.string())
        invocation.misuse("fill", fmt::format("found {}; expected the name of a column", describe(name)));
      result.fill_of[*name.string()] = cell_of(invocation, value);
    }
  } else if (fill) {
    result.fill = cell_of(invocation, *fill);
  }
  result.words_of = words_option(invocation);
  return result;
}

ScriptValue load_csv(const Invocation& invocation, const std::string& path) {
  const CsvOptions csv = csv_options_of(invocation);
  const bool matrix = invocation.flag("matrix");
  if (matrix) {
    for (const std::string_view other : {"target", "columns", "fill", "words"}) {
      if (invocation.given(other))
        invocation.refuse_value("matrix", fmt::format("a matrix has all columns; leave out {}", other));
    }
  }
  if (!csv.targets.empty()) {
    auto [inputs, targets] = read_csv_pair(path, csv);
    return ScriptValue::tuple({ScriptValue(std::move(inputs)), ScriptValue(std::move(targets))});
  }
  if (matrix || (csv.columns.empty() && !csv.fill && csv.fill_of.empty() && csv.words_of.empty() &&
                 !csv.header.value_or(csv_has_header(path, csv.separator))))
    return read_csv(path, csv.dtype.value_or(DType::Float32), csv.separator, csv.header).values;
  std::vector<CsvColumn> columns = read_csv_columns(path, csv);
  tell_notes(invocation, path, columns);
  return value_of_columns(path, std::move(columns));
}

Tensor bytes_of(const std::string& path) {
  const DataFile file(path);
  if (file.size() > memory_limit()) {
    fail_at(ErrorClass::ResourceLimit, path, "memory.limit",
            fmt::format("the file has {} bytes; {} are allowed; --memory-limit raises the limit", file.size(),
                        memory_limit()));
  }
  Tensor bytes = Tensor::empty(DType::UInt8, {static_cast<std::int64_t>(file.size())});
  file.read_at(0, bytes.mutable_data(), file.size());
  return bytes;
}

// `is`: what the file is in place of a table.
void refuse_csv_options(const Invocation& invocation, const std::string& path, std::string_view is) {
  for (const std::string_view option : csv_options) {
    if (!invocation.given(option)) continue;
    fail(ErrorClass::Usage, invocation.span_of(option), "option.value",
         fmt::format("load: {} is of CSV files, and {} is {}{}", option, printable(path), is,
                     option == "dtype" ? "; convert what it holds by astype" : ""));
  }
}

// The tree that was saved: by the form that save wrote, else as the names tell it.
ScriptValue tree_of_file(const Invocation& invocation, const std::string& path, FileFormat format) {
  const bool archive = format == FileFormat::Npz;
  if (!archive && format != FileFormat::Safetensors) {
    invocation.refuse_value(
        "tree", fmt::format("{} is no .npz or .safetensors file, which hold trees", printable(path)));
  }
  std::map<std::string, std::string> texts;
  NamedTensors tensors = archive ? read_npz(path) : read_safetensors(path, &texts);
  const std::string mark = std::string(tree_form_key) + " ";
  if (const std::string comment = archive ? npz_comment(path) : ""; comment.starts_with(mark))
    texts[std::string(tree_form_key)] = comment.substr(mark.size());
  const auto form = texts.find(std::string(tree_form_key));
  const Span span = invocation.span_of("tree");
  return form == texts.end() ? tree_of_tensors(std::move(tensors), span)
                             : tree_of_form(tensors, form->second, span);
}

ScriptValue value_of_file(const Invocation& invocation, const std::string& path) {
  const FileFormat format = invocation.flag("bytes") ? FileFormat::Text : file_format_of(path);
  if (format != FileFormat::Csv)
    refuse_csv_options(invocation, path, invocation.flag("bytes") ? "read as bytes" : "none");
  if (invocation.flag("bytes")) return bytes_of(path);
  if (invocation.flag("tree")) return tree_of_file(invocation, path, format);
  switch (format) {
    case FileFormat::Csv:
      return load_csv(invocation, path);
    case FileFormat::Json:
      return read_json(path);
    case FileFormat::Text: {
      std::string text = read_file(path, memory_limit(), "--memory-limit");
      if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
      check_item_count(static_cast<std::int64_t>(text.size()), invocation.span);
      return text;
    }
    default:
      return value_of_tensors(read_tensors(path));
  }
}

std::string listing(const std::string& path) {
  std::string text;
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", name.empty() ? path : name,
                        print(type_of(Value(tensor))));
  };
  const bool table = file_exists(path) && file_format_of(path) == FileFormat::Csv && csv_has_header(path);
  if (table) {
    for (const CsvColumn& column : read_csv_columns(path, {})) {
      add(column.name, column.values);
      if (!column.words.empty()) text += fmt::format("  ({} words)", column.words.size());
    }
  } else {
    for (const auto& [name, tensor] : read_tensors(path)) add(name, tensor);
  }
  return text;
}

ScriptValue run(Invocation& invocation) {
  if (invocation.files.empty()) {
    fail(ErrorClass::Type, invocation.span, "command.subject",
         fmt::format("load: found {}; expected a path", describe(invocation.value)));
  }
  std::string path = invocation.files.front();
  if (is_program_path(path) && !invocation.flag("bytes")) {
    refuse_csv_options(invocation, path, "a module");
    if (invocation.script) return invocation.script->load_module(invocation.files.front(), invocation.span);
    LoadedModule loaded =
        load_module_file(path, path_rules(invocation.session, "", false), {}, invocation.span);
    invocation.session.report(loaded.warnings);
    const ModulePtr& module = loaded.module;
    std::string text = fmt::format("module {}", module->name);
    for (const std::string& name : module->names()) text += "\n  " + name;
    return text;
  }
  if (invocation.script) path = invocation.script->resolve_path(path, invocation.span);
  if (invocation.surface == Surface::Shell) return listing(path);
  if (!file_exists(path) && !invocation.flag("bytes")) {
    NamedTensors one = read_tensors(path);  // FILE:ENTRY
    refuse_csv_options(invocation, path, "one column or entry of a file");
    return value_of_tensors(std::move(one));
  }
  return value_of_file(invocation, path);
}

}  // namespace

extern const Command command_load;
const Command command_load{
    .name = "load",
    .summary = "reads the value of a data file, or the declarations of another text",
    .subject = Subject::Files,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "A file is known by its first bytes and its ending. npy and IDX give a tensor, npz and safetensors a "
        "dict of tensors (with tree=True the tree of dicts, lists and tuples that was saved), JSON a dict or list, .relish and .py a module, any other text a str. A CSV or TSV "
        "file with a header gives a dict of columns: integers are int64, other numbers float32, words become "
        "their codes in the order of the alphabet, with the words beside them (\"town\" and \"town.words\"; "
        "words={\"town\": [\"Bonn\", \"Trier\"]} gives them, so that two files have the same codes); "
        "without a header it gives a matrix of float32. With target= it gives (x, y): x the matrix of the other "
        "columns, y int64 when all are integers, else float32. \"d.csv:price\" is one column. In the shell it "
        "lists what the file holds.",
};

}  // namespace relish::commands_load
