// The rows of each batch are copied behind those before them, into tensors of all rows.
#include "train/predict.h"

#include <algorithm>
#include <cstring>

#include "support/counted.h"
#include "support/interrupt.h"
#include "train/preparation.h"

namespace relish {
namespace {

class Gathered {
 public:
  Gathered(const Function& function, std::int64_t rows) : function_(function), rows_(rows) {}

  // The first `count` rows of a result for `given` rows, as those from `first` on.
  void add(const Value& result, std::int64_t first, std::int64_t count, std::int64_t given) {
    next_ = 0;
    tuple_ = result.is_tuple();
    if (!tuple_) return add_tensor(result, first, count, given);
    for (const Value& field : result.fields()) add_tensor(field, first, count, given);
  }

  Value value() {
    if (!tuple_) return tensors_.at(0);
    return Value::tuple(std::vector<Value>(tensors_.begin(), tensors_.end()));
  }

 private:
  void add_tensor(const Value& value, std::int64_t first, std::int64_t count, std::int64_t given) {
    if (value.is_tuple() || !value.is_tensor() || value.tensor().rank() == 0 ||
        value.tensor().shape().front() != given)
      refuse(fmt::format("gives {} for {}; expected tensors with a row for each", describe(value),
                         counted(given, "row")));
    const Tensor& part = value.tensor();
    Shape shape = part.shape();
    shape.front() = rows_;
    if (first == 0) tensors_.push_back(Tensor::empty(part.dtype(), shape));
    Tensor& all = tensors_.at(next_++);
    if (all.shape() != shape || all.dtype() != part.dtype())
      refuse(fmt::format("gives {} for the rows from {} on; expected rows as those before", describe(value),
                         first));
    const std::int64_t row_bytes = given == 0 ? 0 : part.byte_size() / given;
    if (row_bytes == 0) return;
    std::memcpy(static_cast<std::byte*>(all.mutable_data()) + first * row_bytes, part.data(),
                static_cast<std::size_t>(count * row_bytes));
  }

  [[noreturn]] void refuse(const std::string& what) const {
    fail(ErrorClass::Type, function_.result_span.known() ? function_.result_span : function_.span,
         "predict.rows", fmt::format("predict: {} {}", function_.name, what));
  }

  const Function& function_;
  std::int64_t rows_;
  bool tuple_ = false;
  std::size_t next_ = 0;
  std::vector<Tensor> tensors_;
};

}  // namespace

Value predict(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
              const DataSet& data, std::int64_t batch_size, Span parameters_place) {
  RELISH_CHECK(batch_size > 0);
  check_data_set(data);
  const std::vector<Column> columns = data.columns();
  const ColumnBinding binding(program.module, program.inference, parameters, data, columns.size());
  const std::optional<std::int64_t> fixed = binding.fixed_rows();
  const std::int64_t step = fixed.value_or(batch_size), total = data.rows();
  const FunctionPtr function = function_to_call(program.module, program.inference);
  Gathered gathered(*function, total);
  for (std::int64_t first = 0; first < total; first += step) {
    poll_interrupt();
    const std::int64_t count = std::min(step, total - first);
    // A function of fixed batches gets its number of rows, the last of the data again and again.
    const std::int64_t given = fixed ? step : count;
    std::vector<std::int64_t> rows(static_cast<std::size_t>(given));
    for (std::int64_t i = 0; i < given; ++i)
      rows[static_cast<std::size_t>(i)] = std::min(first + i, total - 1);
    const std::vector<Tensor> batch = prepared(evaluator, program, gather_batch(columns, rows));
    if (first == 0) binding.check_fit(batch, data, parameters_place);
    gathered.add(evaluator.call(program.module, program.inference, binding.arguments(batch)), first, count,
                 given);
  }
  return gathered.value();
}

}  // namespace relish
