// The rows of each batch are copied behind those before them, into tensors of all rows.
#include "train/predict.h"

#include <algorithm>
#include <cstring>

#include "ir/printer/printer.h"
#include "support/counted.h"
#include "support/interrupt.h"
#include "train/preparation.h"

namespace relish {
namespace {

[[noreturn]] void refuse_result(const Function& function, const std::string& what) {
  fail(ErrorClass::Type, function.result_span.known() ? function.result_span : function.span, "predict.rows",
       fmt::format("predict: {} {}", function.name, what));
}

// A part of the result that has no row for each of the data, as the type says it.
const Type* part_without_rows(const Type& type) {
  if (const TupleType* tuple = type.tuple()) {
    for (const Type& field : tuple->fields)
      if (const Type* part = part_without_rows(field)) return part;
    return nullptr;
  }
  const TensorType* tensor = type.tensor();
  const bool known_otherwise = type.as<ShapeType>() || type.as<ScalarType>();
  return known_otherwise || (tensor && tensor->rank == 0) ? &type : nullptr;
}

class Gathered {
 public:
  Gathered(const Function& function, std::int64_t rows) : function_(function), rows_(rows) {}

  // The first `count` rows of a result for `given` rows, as those from `first` on.
  void add(const Value& result, std::int64_t first, std::int64_t count, std::int64_t given) {
    next_ = 0;
    if (first == 0) form_ = result;
    add_value(result, first, count, given);
  }

  // All rows, in tuples as the function gives them.
  Value value() {
    next_ = 0;
    return formed(form_);
  }

 private:
  void add_value(const Value& value, std::int64_t first, std::int64_t count, std::int64_t given) {
    if (!value.is_tuple()) return add_tensor(value, first, count, given);
    for (const Value& field : value.fields()) add_value(field, first, count, given);
  }

  Value formed(const Value& form) {
    if (!form.is_tuple()) return tensors_.at(next_++);
    std::vector<Value> fields;
    for (const Value& field : form.fields()) fields.push_back(formed(field));
    return Value::tuple(std::move(fields));
  }

  void add_tensor(const Value& value, std::int64_t first, std::int64_t count, std::int64_t given) {
    if (!value.is_tensor() || value.tensor().rank() == 0 || value.tensor().shape().front() != given)
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

  [[noreturn]] void refuse(const std::string& what) const { refuse_result(function_, what); }

  const Function& function_;
  std::int64_t rows_;
  Value form_;  // the first result
  std::size_t next_ = 0;
  std::vector<Tensor> tensors_;  // of all rows, in the order of the form
};

// The rows from `first` on; those behind the last of the data are that one again.
std::vector<Tensor> rows_from(const std::vector<Column>& columns, std::int64_t first, std::int64_t count,
                              std::int64_t total) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) rows[static_cast<std::size_t>(i)] = std::min(first + i, total - 1);
  return gather_batch(columns, rows);
}

// Tells of the size of the batch, which a function may refuse as it runs.
[[noreturn]] void tell_batch(Failure& failure, std::int64_t step) {
  failure.note({}, fmt::format("predict gave it a batch of {}; batch_size chooses another number",
                               counted(step, "row")));
  throw std::move(failure);
}

}  // namespace

void check_gives_rows(const Function& function) {
  if (const Type* part = part_without_rows(function.result_type))
    refuse_result(function,
                  fmt::format("gives {}; expected tensors with a row for each of the data", print(*part)));
}

Value predict(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
              const DataSet& data, std::int64_t batch_size, Span parameters_place) {
  RELISH_CHECK(batch_size > 0);
  check_data_set(data);
  const std::vector<Column> columns = data.columns();
  const ColumnBinding binding(program.module, program.inference, parameters, data, columns.size());
  const std::optional<std::int64_t> fixed = binding.fixed_rows();
  const std::int64_t step = fixed.value_or(batch_size), total = data.rows();
  const FunctionPtr function = function_to_call(program.module, program.inference);
  check_gives_rows(*function);
  Gathered gathered(*function, total);
  const auto call = [&](std::int64_t first, std::int64_t rows) {
    const std::vector<Tensor> batch = prepared(evaluator, program, rows_from(columns, first, rows, total));
    if (first == 0) binding.check_fit(batch, data, parameters_place);
    return evaluator.call(program.module, program.inference,
                          judged_arguments(binding, program, batch, first));
  };
  for (std::int64_t first = 0; first < total; first += step) {
    poll_interrupt();
    const std::int64_t count = std::min(step, total - first);
    // A function of fixed batches gets its number of rows, the last of the data again and again.
    std::int64_t given = fixed ? step : count;
    Value result;
    try {
      result = call(first, given);
    } catch (Failure& failure) {
      if (failure.error_class() != ErrorClass::Runtime || fixed) throw;
      if (first == 0) tell_batch(failure, given);
      if (given == step) throw;
      // The function finds its number of rows fixed as it runs, by a match_cast or a reshape: the batches
      // before had it.
      given = step;
      result = call(first, given);
    }
    gathered.add(result, first, count, given);
  }
  return gathered.value();
}

}  // namespace relish
