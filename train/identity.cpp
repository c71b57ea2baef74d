// Texts are told apart by SHA-256, the numbers of data by CRC-32: they are compared with what the same user
// gave before, not with what somebody forged.
#include "train/identity.h"

#include <fmt/format.h>
#include <zlib.h>

#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "runtime/format.h"
#include "support/interrupt.h"
#include "support/render.h"
#include "support/sha256.h"

namespace relish {
namespace {

// Goes on with the sum of what stands before the tensor.
uLong add_checksum(uLong sum, const Tensor& tensor) {
  const auto* bytes = static_cast<const unsigned char*>(tensor.data());
  in_polled_parts(tensor.byte_size(), [&](std::int64_t begin, std::int64_t end) {
    sum = crc32(sum, bytes + begin, static_cast<uInt>(end - begin));
  });
  return sum;
}

std::string checksum_text(DType dtype, const Shape& shape, uLong sum) {
  return fmt::format("{} {} {:08x}", name_of(dtype), format_shape(shape), sum);
}

std::string checksum_of(const Tensor& tensor) {
  return checksum_text(tensor.dtype(), tensor.shape(), add_checksum(crc32(0, nullptr, 0), tensor));
}

// Of rows that stay in files: of some of them, evenly spread, since all are too many to read; a few at a
// time, since they may be too large to hold.
std::string checksum_of(const Column& column) {
  if (column.in_memory()) return checksum_of(column.tensor());
  constexpr std::int64_t most_rows = 4096;
  constexpr std::uint64_t most_bytes = 1 << 20;
  const std::int64_t step = std::max<std::int64_t>(column.rows() / most_rows, 1);
  const auto at_once =
      static_cast<std::size_t>(most_bytes / std::max<std::uint64_t>(column.bytes_of_row(), 1));
  uLong sum = crc32(0, nullptr, 0);
  std::vector<std::int64_t> rows;
  Shape shape = column.shape();
  shape.front() = 0;
  for (std::int64_t row = 0; row < column.rows(); row += step) {
    rows.push_back(row);
    if (rows.size() < at_once && row + step < column.rows()) continue;
    sum = add_checksum(sum, column.gather(rows));
    shape.front() += static_cast<std::int64_t>(rows.size());
    rows.clear();
  }
  return fmt::format("{} of {} rows", checksum_text(column.dtype(), shape, sum), column.rows());
}

std::string checksum_of(const DataSet& data) {
  std::string text;
  for (const Column& column : data.columns()) text += (text.empty() ? "" : ", ") + checksum_of(column);
  return text;
}

// The text of one function, with the constants that it holds.
std::string text_of_function(const GlobalFunction& function) {
  Module alone;
  alone.functions.push_back(function);
  PrintOptions options;
  options.comments = false;
  return print(alone, options);
}

std::map<std::string, std::string> functions_of(const TrainingProgram& program) {
  std::vector<std::string> pending = {program.step, program.optimizer_init, program.inference};
  for (const std::string* name : {&program.loss, &program.learning_rate, &program.initial_params,
                                  &program.add_gradients, &program.apply_gradients})
    if (!name->empty()) pending.push_back(*name);
  for (const Preparation& prepare : program.prepare) pending.push_back(prepare.function);
  std::map<std::string, std::string> functions;
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const GlobalFunction* function = program.module->find(pending[i]);
    if (function == nullptr || functions.contains(pending[i])) continue;
    functions[pending[i]] = sha256_of(text_of_function(*function));
    const auto* graph = std::get_if<FunctionPtr>(function);
    if (graph == nullptr) continue;
    for (std::string& name : global_references(**graph)) pending.push_back(std::move(name));
  }
  return functions;
}

void append_clause(std::string& text, const std::string& clause) {
  text += (text.empty() ? "" : "; ") + clause;
}

}  // namespace

JobIdentity identity_of(const Trainer& trainer) {
  const TrainingSteps& steps = trainer.steps();
  const TrainOptions& options = steps.options();
  JobIdentity identity;
  identity.functions = functions_of(steps.program());
  auto& texts = identity.options;
  texts["tier"] = steps.tier();
  texts["batch_size"] = fmt::to_string(steps.batch_size());
  if (options.accumulate > 1) texts["accumulate"] = fmt::to_string(options.accumulate);
  texts["seed"] = fmt::to_string(options.seed);
  texts["lr"] = format_double(options.learning_rate);
  texts["shuffle"] = options.shuffle ? "True" : "False";
  // A rate that follows a schedule depends on where the job ends.
  if (!steps.program().learning_rate.empty()) texts["steps"] = fmt::to_string(steps.total_steps());
  texts["data"] = checksum_of(steps.data());
  texts["validation"] = options.validation ? checksum_of(*options.validation) : "none";
  std::string metrics;
  for (const Metric& metric : options.metrics) {
    metrics += (metrics.empty() ? "" : ", ") + metric.name;
    if (metric.name == "top_k") metrics += fmt::format("(k={})", metric.k);
  }
  texts["metrics"] = metrics.empty() ? "none" : metrics;
  if (const auto& stopping = options.early_stopping) {
    texts["early_stopping"] = fmt::format("{}(patience={}, min_delta={})", stopping->metric,
                                          stopping->patience, format_double(stopping->min_delta));
  }
  if (options.skip_not_finite) texts["nan"] = "skip";
  for (const auto& [name, text] : options.function_options) texts[name] = text;
  std::string params;
  for (const auto& [name, tensor] : options.parameters)
    params += (params.empty() ? "" : ", ") + name + " " + checksum_of(tensor);
  texts["params"] = params.empty() ? "none" : params;
  return identity;
}

namespace {

// Settings that are not as they were, before what they may have changed.
std::string difference_of_settings(const JobIdentity& saved, const JobIdentity& now) {
  std::string text;
  for (const auto& [name, value] : now.settings) {
    const auto before = saved.settings.find(name);
    if (before != saved.settings.end() && before->second != value)
      append_clause(text, fmt::format("setting {} is {}, the checkpoint has {}", printable(name),
                                      printable(value), printable(before->second)));
  }
  return text;
}

}  // namespace

std::string difference(const JobIdentity& saved, const JobIdentity& now) {
  std::string text;
  for (const auto& [name, value] : now.options) {
    const auto before = saved.options.find(name);
    const std::string had = before == saved.options.end() ? "none" : before->second;
    if (had != value)
      append_clause(text, fmt::format("option {} is {}, the checkpoint has {}", name, value, had));
  }
  for (const auto& [name, value] : saved.options) {
    if (!now.options.contains(name))
      append_clause(text, fmt::format("option {} is not given, the checkpoint has {}", name, value));
  }
  for (const auto& [name, hash] : now.functions) {
    const auto before = saved.functions.find(name);
    if (before == saved.functions.end()) {
      append_clause(text, fmt::format("the function {} is new", name));
    } else if (before->second != hash) {
      append_clause(text, fmt::format("the function {} has another text", name));
    }
  }
  for (const auto& [name, hash] : saved.functions) {
    if (!now.functions.contains(name))
      append_clause(text, fmt::format("the function {} of the checkpoint is not there", name));
  }
  const std::string settings = difference_of_settings(saved, now);
  if (text.empty() || settings.empty()) return text;
  return settings + "; " + text;
}

}  // namespace relish
