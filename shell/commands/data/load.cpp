// The command `load`: the value that a data file holds, or the declarations of another text.
#include "frontend/module/module_links.h"

#include <set>

#include "ir/calls/entry.h"
#include "ir/printer/printer.h"
#include "runtime/files.h"
#include "runtime/files/data_file.h"
#include "shell/commands/data/csv_options.h"
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
     "columns of a CSV file, by name or by place (-1 is the last), that are to be found from the others: the "
     "result is (x, y)",
     0, in_scripts},
    csv_columns_option,
    {"dtype", OptionKind::Text, "by what they hold", "dtype of the columns of a CSV file", 0, in_scripts},
    csv_fill_option,
    {"words", OptionKind::Value, "those of the file, in the order of the alphabet",
     "the words of columns of a CSV file, a dict of lists: their codes are their places in these", 0,
     in_scripts},
    csv_sep_option,
    csv_decimal_option,
    csv_header_option,
    {"matrix", OptionKind::Flag, "", "a CSV file with a header as one matrix of numbers", 0, in_scripts},
    {"tree", OptionKind::Flag, "",
     "entries of a file as the tree that was saved: \"params.w\" is [\"params\"][\"w\"], and \"states.0\", … are a "
     "list or tuple",
     0, in_scripts},
    {"bytes", OptionKind::Flag, "", "the bytes of any file, as a tensor of uint8", 0, in_scripts},
};
constexpr std::string_view csv_options[] = {"target", "columns", "dtype",  "fill",  "words",
                                            "sep",    "decimal", "header", "matrix"};

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

ScriptValue load_csv(const Invocation& invocation, const std::string& path) {
  const CsvOptions csv = csv_options_of(invocation, path);
  const bool matrix = invocation.flag("matrix");
  if (matrix && !csv.targets.empty())
    invocation.refuse_value("matrix", "a matrix has all columns; leave out target, which makes two of it");
  if (!csv.targets.empty()) {
    auto [inputs, targets] = read_csv_pair(path, csv);
    return ScriptValue::tuple({ScriptValue(std::move(inputs)), ScriptValue(std::move(targets))});
  }
  CsvForm quiet = csv;
  quiet.tell = {};
  // Of a file without names the columns are a matrix, unless names are given.
  if (matrix || (are_places(csv.columns) && !csv_has_header(path, quiet))) {
    const bool plain = csv.columns.empty() && !csv.fill && csv.fill_of.empty() && csv.words_of.empty();
    return plain ? read_csv(path, csv.dtype.value_or(DType::Float32), csv).values
                 : read_csv_matrix(path, csv);
  }
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

std::string listing(const Invocation& invocation, const std::string& path) {
  std::string text;
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", name.empty() ? path : name,
                        print(type_of(Value(tensor))));
  };
  const bool csv = file_exists(path) && file_format_of(path) == FileFormat::Csv;
  if (csv) {
    const ScriptValue value = load_csv(invocation, path);
    if (value.tensor()) add("", *value.tensor());
    const ScriptDict* columns = value.dictionary();
    for (std::size_t i = 0; columns && i < columns->items.size(); ++i) {
      const auto& [name, column] = columns->items[i];
      if (column.tensor()) add(*name.string(), *column.tensor());
      if (const ScriptList* words = column.sequence())
        text += fmt::format("  ({} words)", words->items.size());
    }
  } else {
    refuse_csv_options(invocation, path, "none");
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
  if (invocation.surface == Surface::Shell) return listing(invocation, path);
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
        "file, a .dat or .data file of text, and a .txt file that begins with rows of numbers are tables, whose "
        "cells are separated by commas, semicolons, tabs or blanks; lines that begin with # are comments. A table "
        "with a header gives a dict of columns: integers are int64, other numbers float32, words become "
        "their codes in the order of the alphabet, with the words beside them (\"town\" and \"town.words\"; "
        "words={\"town\": [\"Bonn\", \"Trier\"]} gives them, so that two files have the same codes); "
        "without a header it gives a matrix of float32. With target= it gives (x, y): x the matrix of the other "
        "columns, y int64 when all are integers, else float32. \"d.csv:price\" is one column. In the shell it "
        "lists what the file holds.",
};

}  // namespace relish::commands_load
