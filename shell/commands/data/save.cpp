// The command `save`: a value into a data file, a module or a str into a text.
#include <algorithm>
#include <map>

#include "ir/printer/printer.h"
#include "runtime/files.h"
#include "shell/commands/data/tensor_tree.h"
#include "shell/commands/subject.h"
#include "shell/program/text_file.h"
#include "shell/script/convert.h"
#include "shell/script/json_values.h"
#include "shell/script/script.h"
#include "support/atomic_file.h"
#include "support/interrupt.h"
#include "support/render.h"

namespace relish::commands_save {
namespace {

constexpr Option options[] = {
    {"output", OptionKind::OutputFile, "", "file to write: .npz, .safetensors, .npy, .csv or .tsv", 'o',
     in_shell, true},
};

constexpr Example examples[] = {
    {"relish save weights.npz -o weights.safetensors", "save({\"w\": w}, \"weights.npz\")"},
    {"", "save({\"step\": 5, \"params\": params}, \"state.safetensors\")"},
    {"", "save({\"size\": x, \"price\": y}, \"houses.csv\")"},
    {"", "save(M, \"model.relish\")"},
};

[[noreturn]] void refuse_saved(const Invocation& invocation, const std::string& place,
                               const ScriptValue& value, std::string_view expected) {
  fail(ErrorClass::Type, invocation.span, "save.value",
       fmt::format("save: found {}{}; expected {}", describe(value),
                   place.empty() ? "" : fmt::format(" at {}", place), expected));
}

// The leaves of a tree of dicts, lists and tuples under their paths: params.w, states.0.
void add_leaves(const Invocation& invocation, const std::string& path, const ScriptValue& value,
                NamedTensors& into) {
  poll_interrupt(invocation.span);
  const auto below = [&](const std::string& name) { return path.empty() ? name : path + "." + name; };
  if (value.tensor()) {
    into.emplace_back(path.empty() ? "out" : path, *value.tensor());
  } else if (value.is_number() && !path.empty()) {
    into.emplace_back(path, tensor_of(value, std::nullopt, DType::Int64, DType::Float64, invocation.span));
  } else if (const ScriptDict* dict = value.dictionary()) {
    for (const auto& [key, item] : dict->items) {
      if (!key.string() || key.string()->empty())
        refuse_saved(invocation, path, key, "names that are strs with a letter");
      add_leaves(invocation, below(*key.string()), item, into);
    }
  } else if (const ScriptList* list = value.sequence()) {
    for (std::size_t i = 0; i < list->items.size(); ++i)
      add_leaves(invocation, below(std::to_string(i)), list->items[i], into);
  } else {
    refuse_saved(
        invocation, path, value,
        "tensors, numbers, and dicts, lists and tuples of them; a .json file holds strs and None too");
  }
}

// A list of strs as a column of words.
std::optional<CsvColumn> column_of_words(const std::string& name, const ScriptList& list) {
  std::map<std::string, std::int64_t> codes;
  for (const ScriptValue& item : list.items) {
    if (!item.string()) return std::nullopt;
    codes.emplace(*item.string(), 0);
  }
  if (list.items.empty()) return std::nullopt;
  CsvColumn column{name, Tensor::empty(DType::Int64, {static_cast<std::int64_t>(list.items.size())})};
  for (auto& [word, code] : codes) {
    code = static_cast<std::int64_t>(column.words.size());
    column.words.push_back(word);
  }
  std::int64_t row = 0;
  for (const ScriptValue& item : list.items) column.values.set_int(row++, codes.at(*item.string()));
  return column;
}

// Where a column holds something that is neither a number nor a row of them.
void check_column(const Invocation& invocation, const std::string& name, const ScriptList& list) {
  for (std::size_t row = 0; row < list.items.size(); ++row) {
    const ScriptValue& item = list.items[row];
    if (item.is_number() || item.sequence()) continue;
    refuse_saved(invocation, fmt::format("item {} of '{}'", row, name), item,
                 item.is_none() ? "a number: float(\"nan\") is one that is missing, or leave the row out"
                                : "numbers in all of the column, or strs in all of it");
  }
}

void save_table(const Invocation& invocation, const std::string& path) {
  const ScriptValue& value = invocation.value;
  const auto tensor_from = [&](const ScriptValue& from) {
    return tensor_of(from, std::nullopt, DType::Int64, DType::Float64, invocation.span);
  };
  if (value.tensor() || value.sequence())
    return write_csv(path, {{"out", value.tensor() ? *value.tensor() : tensor_from(value)}}, false);
  const ScriptDict* dict = value.dictionary();
  if (!dict) {
    refuse_saved(invocation, "", value,
                 value.string()
                     ? "a matrix or a dict of columns; a str goes into a file of another ending, as "
                       "\"table.txt\", which load knows as a str again"
                     : "a matrix or a dict of columns");
  }
  std::vector<CsvColumn> columns;
  constexpr std::string_view words_suffix = ".words";
  for (const auto& [key, item] : dict->items) {
    if (!key.string()) refuse_saved(invocation, "", key, "names of columns that are strs");
    const std::string& name = *key.string();
    const ScriptList* list = item.sequence();
    // The words of the column in front of it, as load gives them.
    if (list && name.ends_with(words_suffix) && !columns.empty() &&
        columns.back().name + std::string(words_suffix) == name) {
      for (const ScriptValue& word : list->items) {
        if (!word.string()) refuse_saved(invocation, name, word, "words that are strs");
        columns.back().words.push_back(*word.string());
      }
      const Tensor& codes = columns.back().values;
      for (std::int64_t i = 0; i < codes.size(); ++i) {
        const bool known = is_int(codes.dtype()) && codes.get_int(i) >= 0 &&
                           codes.get_int(i) < static_cast<std::int64_t>(list->items.size());
        if (known) continue;
        fail(ErrorClass::Data, invocation.span, "save.words",
             fmt::format("save: item {} of '{}' is no number of one of its {} words", i, columns.back().name,
                         list->items.size()));
      }
      continue;
    }
    std::optional<CsvColumn> words = list ? column_of_words(name, *list) : std::nullopt;
    if (words) {
      columns.push_back(std::move(*words));
    } else if (item.tensor() || list) {
      if (list) check_column(invocation, name, *list);
      columns.push_back({name, item.tensor() ? *item.tensor() : tensor_from(item)});
    } else {
      refuse_saved(invocation, name, item, "a column: a tensor or a list");
    }
  }
  write_csv(path, columns, true);
}

// Whether a file of this name holds tensors.
bool known_as_tensors(const std::string& path) {
  constexpr std::string_view extensions[] = {".npy", ".npz", ".safetensors", ".csv", ".tsv", ".json"};
  return std::any_of(std::begin(extensions), std::end(extensions),
                     [&](std::string_view extension) { return path.ends_with(extension); });
}

void save_with_form(const Invocation& invocation, const std::string& path, const NamedTensors& leaves,
                    const std::string& form) {
  if (path.ends_with(".safetensors"))
    return write_safetensors(path, leaves, {{std::string(tree_form_key), form}});
  if (!path.ends_with(".npz")) return write_tensors(path, leaves);
  const std::string comment = std::string(tree_form_key) + " " + form;
  if (comment.size() > most_npz_comment_bytes) {
    fail(ErrorClass::Usage, invocation.span, "save.tree",
         fmt::format("save: the form of the tree takes {} bytes, for which '{}' has {}; expected "
                     ".safetensors, which keeps every tree",
                     comment.size(), printable(path), most_npz_comment_bytes));
  }
  write_npz(path, leaves, comment);
}

void save_value(const Invocation& invocation, const std::string& path) {
  const ScriptValue& value = invocation.value;
  const auto ends = [&](std::string_view extension) { return path.ends_with(extension); };
  if (value.as<ModulePtr>() || value.as<FunctionReference>()) {
    if (known_as_tensors(path))
      refuse_saved(invocation, "", value, "a path such as \"model.relish\" for a text");
    write_program_text(path, text_of(value) + "\n");
  } else if (ends(".json")) {
    write_file_atomically(path, json_text(value, invocation.span) + "\n");
  } else if (ends(".csv") || ends(".tsv")) {
    save_table(invocation, path);
  } else if (value.string() && !ends(".npz") && !ends(".npy") && !ends(".safetensors")) {
    write_file_atomically(path, *value.string());
  } else {
    NamedTensors leaves;
    add_leaves(invocation, "", value, leaves);
    const bool known = ends(".npz") || ends(".safetensors") || ends(".npy");
    if (!known) {
      const bool torch = ends(".pt") || ends(".pth") || ends(".bin") || ends(".ckpt") || ends(".pkl");
      fail(ErrorClass::Usage, invocation.span, "save.extension",
           fmt::format("save: '{}' has no known extension for {}; expected .npz, .safetensors, .npy, .csv or "
                       ".tsv for tensors, .json for numbers, strs, lists and dicts{}",
                       printable(path), describe(value), torch ? "; PyTorch reads .safetensors too" : ""));
    }
    const std::string form = form_of_tree(value);
    if (!form.empty()) return save_with_form(invocation, path, leaves, form);
    write_tensors(path, leaves);
  }
}

ScriptValue run(Invocation& invocation) {
  if (invocation.surface == Surface::Shell) {
    if (invocation.files.size() != 1) fail(ErrorClass::Usage, {}, "command.subject", "save takes one file");
    const std::string& file = invocation.files.front();
    const std::string output = invocation.text("output");
    const bool has_columns = file_format_of(file) == FileFormat::Csv && csv_has_header(file);
    if (has_columns) {
      const std::vector<CsvColumn> columns = read_csv_columns(file, {});
      if (output.ends_with(".csv") || output.ends_with(".tsv")) {
        write_csv(output, columns, true);
        return {};
      }
      NamedTensors named;
      for (const CsvColumn& column : columns) {
        if (!column.words.empty())
          fail(
              ErrorClass::Data, {}, "save.words",
              fmt::format("save: '{}' is a column of words, for which {} has no place; expected .csv or .tsv",
                          printable(column.name), printable(output)));
        named.emplace_back(column.name, column.values);
      }
      write_tensors(output, named);
      return {};
    }
    NamedTensors tensors = read_tensors(file);
    for (auto& [name, tensor] : tensors) {
      if (name.empty()) name = "out";
    }
    write_tensors(invocation.text("output"), tensors);
    return {};
  }
  const std::string* path = invocation.arguments.size() == 1 ? invocation.arguments[0].string() : nullptr;
  if (!path)
    fail(ErrorClass::Usage, invocation.span, "save.path",
         "save takes a value and a path: save(value, \"out.npz\")");
  save_value(invocation, invocation.script->resolve_path(*path, invocation.span));
  return {};
}

}  // namespace

extern const Command command_save;
const Command command_save{
    .name = "save",
    .summary = "writes a value into a data file, or a module or a str as text",
    .subject = Subject::Files,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "The ending of the path says the format. A tree of dicts, lists and tuples with tensors and numbers goes "
        "into .npz or .safetensors, each leaf under its path (params.w, states.0), and load with tree=True gives "
        "it back: of .npz with tuples for lists, and one that its names cannot tell is refused there. One tensor "
        "goes into .npy too. A "
        "matrix goes into .csv or .tsv without a header, a dict of columns with one (those of a matrix x in it "
        "are x.0, x.1, …); strs, numbers, lists and "
        "dicts of them into .json; a module into a text, and a str into a file of any other ending. In the shell "
        "it converts a data file.",
    .more_arguments = 1,
};

}  // namespace relish::commands_save
