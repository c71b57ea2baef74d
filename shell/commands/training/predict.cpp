// The command `predict`.
#include "train/predict.h"

#include <cstring>

#include "ir/calls/own_keys.h"
#include "runtime/files.h"
#include "runtime/format.h"
#include "shell/commands/data/csv_options.h"
#include "shell/commands/subject.h"
#include "shell/commands/training/data_types.h"
#include "shell/commands/training/training.h"
#include "shell/program/call_values.h"
#include "shell/script/convert.h"
#include "support/atomic_file.h"
#include "support/counted.h"
#include "support/render.h"
#include "transform/model_forms.h"

namespace relish::commands_predict {
namespace {

constexpr Option options[] = {
    {"data", OptionKind::Value, "",
     "the inputs: a tensor, a path, a tuple of them, or a dict by names of parameters; columns behind those that "
     "the model takes are left out; in the shell FILE[:ENTRY],FILE[:ENTRY]",
     0, everywhere, true},
    csv_option(csv_columns_option, in_shell),
    csv_option(csv_fill_option, in_shell),
    csv_option(csv_sep_option, in_shell),
    csv_option(csv_decimal_option, in_shell),
    csv_option(csv_header_option, in_shell),
    {"params", OptionKind::Tensors, "", params_doc},
    {"dim", OptionKind::Assignments, "", dims_doc},
    {"ignore_extra", OptionKind::Flag, "", ignore_extra_doc},
    {"prepare", OptionKind::Names, "", prepare_doc},
    {"cast", OptionKind::Flag, "", cast_doc},
    {"batch_size", OptionKind::Integer, "256",
     "rows of one call; a model whose types fix them keeps its own number"},
    {"out", OptionKind::OutputFile, "",
     "file for the results: .csv, .npz, .safetensors, or .npy for one tensor"},
};

constexpr Example examples[] = {
    {"relish predict m.relish --params final.safetensors --data xt.npy --out pred.csv",
     "p = predict(M.main, params=t[\"params\"], data=xt)"},
};

// The columns for the parameters without a value; what stands behind them, as the targets of `evaluate`, is
// of no use.
DataSet inputs_of(const Invocation& invocation, const Function& model, const TensorsByName& values,
                  DataParameters& wanted) {
  const DataColumns columns = data_columns(invocation, "data", 1);
  for (const Var& param : model.params)
    if (!values.contains(param.name()) && !is_random_key(param.type())) wanted.inputs.push_back(param.name());
  DataSet data = data_set(invocation, "data", columns, wanted);
  if (data.inputs.size() <= wanted.inputs.size() || wanted.inputs.empty()) return data;
  write_error_text(
      fmt::format("note: the model takes {} of the {} that are given; those behind are left out\n",
                  counted(wanted.inputs.size(), "column"), data.inputs.size()));
  data.inputs.resize(wanted.inputs.size());
  return data;
}

bool is_csv(const std::string& path) { return path.ends_with(".csv") || path.ends_with(".tsv"); }

// A column for each number of a row: `out`, or `out.0`, `out.1` of a matrix, under a head.
std::vector<CsvColumn> csv_columns(const NamedTensors& named) {
  std::vector<CsvColumn> columns;
  for (const auto& [name, tensor] : named) {
    const std::int64_t rows = tensor.shape().front(), width = rows == 0 ? 1 : tensor.size() / rows;
    // Of a rank that no type told.
    if (tensor.rank() > 2) {
      fail(ErrorClass::Usage, {}, "call.csv",
           fmt::format(
               "the result {} has the shape {}; a .csv or .tsv takes vectors and matrices; expected an "
               "output .npz or .safetensors",
               name, format_shape(tensor.shape())));
    }
    for (std::int64_t at = 0; at < width; ++at) {
      Tensor column = Tensor::empty(tensor.dtype(), {rows});
      const auto item = static_cast<std::size_t>(size_of(tensor.dtype()));
      for (std::int64_t row = 0; row < rows; ++row) {
        std::memcpy(
            static_cast<std::byte*>(column.mutable_data()) + static_cast<std::size_t>(row) * item,
            static_cast<const std::byte*>(tensor.data()) + static_cast<std::size_t>(row * width + at) * item,
            item);
      }
      columns.push_back({width == 1 ? name : fmt::format("{}.{}", name, at), std::move(column)});
    }
  }
  return columns;
}

ScriptValue run(Invocation& invocation) {
  const std::string function = function_of(invocation);
  bind_dims(invocation);
  TrainingProgram program;
  Module module = *invocation.module;
  program.inference = function;
  program.seed = invocation.session.settings().seed;
  if (const FunctionPtr model = module.function(function); model && has_forms(module, *model)) {
    module = decompose(module, function, ModelMode::Inference);
    program.inference = name_of_form(function, ModelMode::Inference);
  }
  const std::int64_t batch_size = invocation.integer("batch_size", 256);
  if (batch_size < 1)
    invocation.refuse_value("batch_size", fmt::format("found {}; expected at least 1", batch_size));
  const FunctionPtr model = module.function(program.inference);
  if (!model) invocation.refuse_value("data", fmt::format("'{}' is no Relax function", function));
  check_gives_rows(*model);  // no other file would take what has no rows
  const std::string path = invocation.given("out") ? invocation.output_path("out") : "";
  if (!path.empty()) {  // before much is computed for it
    check_results_path(path, module, program.inference, invocation.span_of("out"));
    check_can_be_written(path);
  }
  TensorsByName values = parameter_values(invocation);
  std::vector<std::string> known;
  for (const Var& param : model->params) known.push_back(param.name());
  leave_out_extra(invocation, known, values);
  DataParameters parameters;
  DataSet data = inputs_of(invocation, *model, values, parameters);
  program.prepare = prepare_option(invocation, module, data.inputs.size());
  program.module = std::make_shared<const Module>(std::move(module));
  fit_dtypes(invocation, data, program, *model, parameters);
  const Value result = predict(invocation.session.evaluator(), program, values, data, batch_size,
                               invocation.span_of("params"));
  const NamedTensors named = flatten_result(result);
  if (is_csv(path)) {
    write_csv(path, csv_columns(named), true);
  } else if (!path.empty()) {
    write_tensors(path, named);
  }
  if (invocation.surface == Surface::Script) return from_runtime(result);
  if (!path.empty()) return {};
  std::string text;
  for (const auto& [name, tensor] : named)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", name, format_tensor(tensor, {}));
  return text.empty() ? ScriptValue() : ScriptValue(text);
}

}  // namespace

extern const Command command_predict;
const Command command_predict{
    .name = "predict",
    .summary = "results of a model for the rows of data",
    .subject = Subject::Function,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "The inference form of the model is called batch by batch, as by `decompose`: dropout leaves its data as "
        "they are, and batch_norm uses the running statistics. The result has a row for each row of the data, in "
        "their order; a tensor is named `out` in a file, the fields of a tuple `out.0`, …; a CSV file has a head and a column for "
        "each number of a row, `out.0`, `out.1`, … of a matrix. A model whose types fix the number of "
        "rows, or that refuses a short last batch as it runs, gets that one filled up with copies of the last row: what mixes "
        "rows sees them too.",
};

}  // namespace relish::commands_predict
