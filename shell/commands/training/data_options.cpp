// Columns in memory and in files.
#include "shell/commands/training/data_options.h"

#include <algorithm>
#include <cmath>

#include "ir/calls/own_keys.h"
#include "ir/printer/printer.h"
#include "runtime/files.h"
#include "runtime/philox.h"
#include "runtime/row_files.h"
#include "shell/commands/data/csv_options.h"
#include "shell/commands/training/trainer_options.h"
#include "shell/option_text.h"
#include "shell/script/script_values.h"
#include "support/counted.h"
#include "support/file_access.h"
#include "support/render.h"
#include "support/suggest.h"
#include "transform/epoch_writer.h"
#include "transform/import_function.h"

namespace relish {
namespace {

// From this size on rows stay in their file.
constexpr std::uint64_t bytes_left_in_files = std::uint64_t{64} << 20;

bool is_table(const std::string& path) {
  return file_exists(path) && file_format_of(path) == FileFormat::Csv;
}

Tensor whole_tensor(const Invocation& invocation, std::string_view option, const std::string& path) {
  if (has_csv_options(invocation) && is_table(path))
    return read_csv_matrix(path, csv_options_of(invocation, path));
  NamedTensors entries = read_tensors(path);
  if (entries.size() != 1) {
    invocation.refuse_value(
        option, fmt::format("{} holds {} tensors; name one as FILE:ENTRY", printable(path), entries.size()));
  }
  return entries.front().second;
}

Column column_of(const Invocation& invocation, std::string_view option, const ScriptValue& value);

// Columns stand in the order of the file, so files of one list have the same.
void check_same_columns(const std::string& first, const std::string& path) {
  const auto columns_of = [](const std::string& file) {
    return is_table(file) ? csv_names(file) : std::vector<std::string>();
  };
  const std::vector<std::string> wanted = columns_of(first), found = columns_of(path);
  if (wanted == found) return;
  const auto words = [](const std::vector<std::string>& names) {
    return names.empty() ? std::string("no names") : fmt::format("{}", fmt::join(names, ", "));
  };
  fail_at(
      ErrorClass::Data, path, "csv.column",
      fmt::format("its columns are {}, and those of {} in front of it are {}; expected the same in one order",
                  printable(words(found), 120), printable(first), printable(words(wanted), 120)));
}

// The rows of several parts, one behind the other.
Column joined_column(const Invocation& invocation, std::string_view option, const ScriptList& parts) {
  std::vector<std::shared_ptr<const RowSource>> sources;
  std::vector<std::string> names, paths;
  std::uint64_t bytes = 0;
  for (const ScriptValue& part : parts.items) {
    std::shared_ptr<const RowSource> source;
    if (const std::string* text = part.string()) {
      const std::string path = invocation.allowed_path(option, *text);
      if (!paths.empty()) check_same_columns(paths.front(), path);
      paths.push_back(path);
      source = open_rows(path);
      if (!source) source = rows_of_tensor(whole_tensor(invocation, option, path));
      names.push_back(path);
    } else if (part.tensor() && part.tensor()->rank() > 0) {
      source = rows_of_tensor(*part.tensor());
      names.push_back(fmt::format("{}: part {}", option, names.size()));
    } else {
      invocation.misuse(option, fmt::format("found {} in a list; expected tensors or paths", describe(part)));
    }
    std::uint64_t own = static_cast<std::uint64_t>(size_of(source->dtype()));
    for (const std::int64_t dim : source->shape()) own *= static_cast<std::uint64_t>(dim);
    bytes += own;
    sources.push_back(std::move(source));
  }
  if (sources.empty()) invocation.refuse_value(option, "found an empty list; expected tensors or paths");
  const std::shared_ptr<const RowSource> all = joined_rows(std::move(sources), names);
  if (bytes >= bytes_left_in_files) return Column(all);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(all->shape().front()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
  return Column(Column(all).gather(rows));
}

Tensor with_rows(const Invocation& invocation, std::string_view option, const Tensor& tensor,
                 const std::string& source) {
  if (tensor.rank() == 0)
    fail(ErrorClass::Data, invocation.span_of(option), "data.rows",
         fmt::format("{}: found a tensor of rank 0; expected rows", source));
  return tensor;
}

Column column_of(const Invocation& invocation, std::string_view option, const ScriptValue& value) {
  if (value.tensor())
    return with_rows(invocation, option, *value.tensor(), option_text(invocation.surface, option));
  if (const ScriptList* parts = value.sequence()) return joined_column(invocation, option, *parts);
  if (!value.string())
    invocation.misuse(option,
                      fmt::format("found {} as a column; expected a tensor, a path, or a list of these whose "
                                  "rows follow each other",
                                  describe(value)));
  const std::string path = invocation.allowed_path(option, *value.string());
  if (bytes_of_rows_file(path) >= bytes_left_in_files)
    if (const auto source = open_rows(path)) return Column(source);
  return with_rows(invocation, option, whole_tensor(invocation, option, path), printable(path));
}

// The CSV file of `d.csv:price`, when it is one; `colon`: where its columns begin.
std::optional<std::string> csv_with_targets(const std::string& path, std::size_t& colon) {
  colon = path.rfind(':');
  const std::string file = path.substr(0, colon);
  const bool csv = colon != std::string::npos && !file_exists(path) && is_table(file);
  return csv ? std::optional(file) : std::nullopt;
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "price", or several with commas between them, where no column has that name.
std::vector<std::string> target_names(const std::string& text, const std::vector<std::string>& columns) {
  if (is_among(columns, text)) return {text};
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

// Those of the header, as the options of the call say how it is read.
std::vector<std::string> names_of_table(const Invocation& invocation, const std::string& file) {
  CsvForm form = csv_options_of(invocation, file);
  form.tell = {};
  return csv_names(file, form);
}

// On the command line commas stand between files, and between the targets of one: d.csv:a,b.
std::vector<std::string> with_targets_joined(const Invocation& invocation,
                                             const std::vector<std::string>& given) {
  std::vector<std::string> result;
  for (const std::string& name : given) {
    std::size_t colon = 0;
    const auto file = result.empty() ? std::nullopt : csv_with_targets(result.back(), colon);
    const bool by_place = are_places({name}) && !file_exists(name);
    if (file && (by_place || is_among(names_of_table(invocation, *file), name))) {
      result.back() += "," + name;
    } else {
      result.push_back(name);
    }
  }
  return result;
}

// Options of tables belong to a table.
void check_csv_options(const Invocation& invocation, std::string_view option,
                       const std::vector<std::string>& paths) {
  std::string_view given;
  if (option != "data" || !has_csv_options(invocation, &given)) return;
  for (const std::string& path : paths) {
    std::size_t colon = 0;
    if (is_table(path) || csv_with_targets(path, colon)) return;
  }
  invocation.refuse_value(given, "it is of tables (CSV), and --data names none");
}

// A column, or of d.csv:price two: the other columns of the file, and that one; of d.csv:a,b a matrix of
// them.
void add_columns(const Invocation& invocation, std::string_view option, const ScriptValue& value,
                 std::vector<Column>& into) {
  if (const std::string* text = value.string()) {
    const std::string path = invocation.allowed_path(option, *text);
    std::size_t colon = 0;
    if (const auto file = csv_with_targets(path, colon)) {
      CsvOptions csv = csv_options_of(invocation, *file);
      csv.targets = target_names(path.substr(colon + 1), names_of_table(invocation, *file));
      auto [inputs, targets] = read_csv_pair(*file, csv);
      into.emplace_back(std::move(inputs));
      into.emplace_back(std::move(targets));
      return;
    }
  }
  into.push_back(column_of(invocation, option, value));
}

// Some of the rows of a column that stays in files.
class SelectedRows final : public RowSource {
 public:
  SelectedRows(Column column, std::vector<std::int64_t> rows)
      : column_(std::move(column)), rows_(std::move(rows)), shape_(column_.shape()) {
    shape_.front() = static_cast<std::int64_t>(rows_.size());
  }
  DType dtype() const override { return column_.dtype(); }
  const Shape& shape() const override { return shape_; }
  void read(std::span<const std::int64_t> rows, std::byte* to) const override {
    std::vector<std::int64_t> own;
    own.reserve(rows.size());
    for (const std::int64_t row : rows) own.push_back(rows_.at(static_cast<std::size_t>(row)));
    const Tensor found = column_.gather(own);
    std::copy_n(static_cast<const std::byte*>(found.data()), found.byte_size(), to);
  }

 private:
  Column column_;
  std::vector<std::int64_t> rows_;
  Shape shape_;
};

Column selected(const Column& column, const std::vector<std::int64_t>& rows) {
  if (column.in_memory()) return column.gather(rows);
  return Column(std::make_shared<SelectedRows>(column, rows));
}

// What stands wrong in a function of a batch.
void check_form(const Preparation& prepare, const Function& function, std::size_t columns) {
  std::string found;
  if (prepare.taken == 0) {
    found = "takes no column";
  } else if (prepare.taken > columns) {
    found = fmt::format("takes {}, and the data have {}", counted(prepare.taken, "column"), columns);
  } else if (prepare.given == 0) {
    found = "gives nothing";
  } else if (prepare.given > prepare.taken) {
    found = fmt::format("takes {} and gives {}", counted(prepare.taken, "column"), prepare.given);
  } else {
    return;
  }
  fail(ErrorClass::Type, function.span, "prepare.form",
       fmt::format("prepare: {} {}; expected (columns…[, key]) -> columns: the first of the data, a key of "
                   "type R.Tensor((2,), \"uint32\") behind them where it draws, and those columns anew",
                   function.name, found));
}

}  // namespace

DataColumns data_columns(const Invocation& invocation, std::string_view option, std::size_t least) {
  DataColumns data;
  const ScriptValue* value = invocation.find(option);
  if (!value) invocation.refuse_value(option, "the data are missing");
  if (invocation.surface == Surface::Shell) {
    const std::vector<std::string> paths = with_targets_joined(invocation, invocation.names(option));
    check_csv_options(invocation, option, paths);
    for (const std::string& path : paths) add_columns(invocation, option, path, data.columns);
  } else if (const ScriptDict* dict = value->dictionary()) {
    for (const auto& [name, column] : dict->items) {
      if (!name.string())
        invocation.misuse(option, fmt::format("found {}; expected a name of a parameter", describe(name)));
      data.names.push_back(*name.string());
      data.columns.push_back(column_of(invocation, option, column));
    }
  } else if (const ScriptList* list = value->sequence()) {
    for (const ScriptValue& item : list->items) add_columns(invocation, option, item, data.columns);
  } else if (least == 1 && (value->tensor() || value->string())) {
    add_columns(invocation, option, *value, data.columns);
  } else {
    // A table by its file, as the shell takes it.
    const std::string* path = value->string();
    const std::size_t mark = path ? path->rfind(':') : std::string::npos;
    const std::string target = mark == std::string::npos ? "price" : path->substr(mark + 1);
    const std::string such_as = path
                                    ? fmt::format(" such as load(\"{}\", target=\"{}\")",
                                                  printable(path->substr(0, mark), 60), printable(target, 40))
                                    : "";
    invocation.misuse(option,
                      fmt::format("found {}; expected {}, or a dict by names of parameters", describe(*value),
                                  least == 1 ? "a tensor or a path, a tuple of these"
                                             : "a tuple (inputs…, targets)" + such_as));
  }
  if (data.columns.size() < least) {
    // A table by its file alone: what is to be found in it stands behind a colon.
    std::string such_as;
    if (invocation.surface == Surface::Shell && data.columns.size() == 1 &&
        is_table(invocation.names(option).front())) {
      const std::string file = invocation.names(option).front();
      const std::vector<std::string> names = names_of_table(invocation, file);
      such_as =
          fmt::format(", as {}:{}", printable(file, 60), names.empty() ? "-1" : printable(names.back(), 40));
    }
    invocation.refuse_value(option, fmt::format("found {}; expected inputs and targets{}",
                                                counted(data.columns.size(), "tensor"), such_as));
  }
  return data;
}

DataSet data_set(const Invocation& invocation, std::string_view option, const DataColumns& given,
                 const DataParameters& parameters) {
  DataSet data;
  data.name = option;
  data.place = invocation.span_of(option);
  if (!given.named()) {
    const std::size_t targets = std::min(parameters.targets.size(), given.columns.size());
    const auto cut = given.columns.end() - static_cast<std::ptrdiff_t>(targets);
    data.inputs.assign(given.columns.begin(), cut);
    data.targets.assign(cut, given.columns.end());
    return data;
  }
  std::vector<std::string> known = parameters.inputs;
  known.insert(known.end(), parameters.targets.begin(), parameters.targets.end());
  for (const std::string& name : given.names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    invocation.refuse_value(option, fmt::format("no data go to '{}'; expected {}{}", printable(name),
                                                fmt::join(known, ", "), did_you_mean(name, known)));
  }
  std::vector<std::string> missing;
  const auto take = [&](const std::vector<std::string>& names, std::vector<Column>& into) {
    for (const std::string& name : names) {
      const auto found = std::find(given.names.begin(), given.names.end(), name);
      if (found == given.names.end()) {
        missing.push_back(name);
      } else {
        into.push_back(given.columns[static_cast<std::size_t>(found - given.names.begin())]);
      }
    }
  };
  take(parameters.inputs, data.inputs);
  take(parameters.targets, data.targets);
  if (!missing.empty()) {
    invocation.refuse_value(option, fmt::format("there are no data for '{}', and no value in params",
                                                fmt::join(missing, "', '")));
  }
  return data;
}

DataSet split_validation(DataSet& data, double share, std::uint64_t seed, Span place) {
  // Keeps this key apart from those of epochs and steps: "split".
  constexpr std::uint64_t split_domain = 0x73706C6974;
  const std::int64_t rows = data.rows();
  const auto wanted = static_cast<std::int64_t>(std::llround(share * static_cast<double>(rows)));
  if (wanted < 1 || wanted >= rows) {
    fail(ErrorClass::Data, place, "data.rows",
         fmt::format("validation: a share of {} of {} is {}; expected at least one row for it, and one for "
                     "training",
                     share, counted(rows, "row"), counted(wanted, "row")));
  }
  const RandomKey key = fold_in(key_from_seed(seed), split_domain);
  std::vector<std::int64_t> kept, taken;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto at = permuted_index(key, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(row));
    (static_cast<std::int64_t>(at) < wanted ? taken : kept).push_back(row);
  }
  DataSet validation;
  validation.name = "validation";
  validation.place = place;
  for (const Column& column : data.inputs) validation.inputs.push_back(selected(column, taken));
  for (const Column& column : data.targets) validation.targets.push_back(selected(column, taken));
  for (Column& column : data.inputs) column = selected(column, kept);
  for (Column& column : data.targets) column = selected(column, kept);
  return validation;
}

std::vector<Preparation> prepare_option(const Invocation& invocation, Module& module, std::size_t columns) {
  std::vector<Preparation> result;
  const ScriptValue* value = invocation.find("prepare");
  const bool several = value && (value->sequence() || value->string());
  std::vector<ScriptValue> given;
  if (several)
    given = values_of_option(invocation, "prepare");
  else if (value)
    given = {*value};
  for (const ScriptValue& each : given) {
    const UserFunction own = user_function(invocation, "prepare", each);
    Preparation prepare;
    const std::vector<Var>& params = own.function->params;
    prepare.has_key = !params.empty() && is_random_key(params.back().type());
    prepare.taken = params.size() - (prepare.has_key ? 1 : 0);
    const TupleType* results = own.function->result_type.tuple();
    prepare.given = results ? results->fields.size() : 1;
    prepare.site = static_cast<std::uint64_t>(prepare_site(static_cast<std::int64_t>(result.size())));
    check_form(prepare, *own.function, columns);
    prepare.function = import_function(module, *own.module, *own.function, own.function->name);
    result.push_back(std::move(prepare));
  }
  return result;
}

}  // namespace relish
