// Calls of prepare functions, one behind the other.
#include "train/preparation.h"

#include "ir/calls/argument_fault.h"
#include "support/failure.h"

namespace relish {

Tensor tensor_of_key(const RandomKey& key) {
  Tensor tensor = Tensor::empty(DType::UInt32, {2});
  for (std::int64_t i = 0; i < 2; ++i) tensor.set_int(i, key.words[static_cast<std::size_t>(i)]);
  return tensor;
}

RandomKey key_of_tensor(const Tensor& tensor) {
  RandomKey key;
  for (std::int64_t i = 0; i < 2; ++i)
    key.words[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(tensor.get_int(i));
  return key;
}

std::vector<Value> judged_arguments(const ColumnBinding& binding, const TrainingProgram& program,
                                    std::span<const Tensor> batch, std::int64_t first_row) {
  // Keeps these keys apart from those of epochs and steps: "judge".
  constexpr std::uint64_t judged_domain = 0x6A75646765;
  const RandomKey of_rows =
      fold_in(fold_in(key_from_seed(program.seed), judged_domain), static_cast<std::uint64_t>(first_row));
  const RoleValue given[] = {{Role::Key, tensor_of_key(of_rows)}};
  return binding.arguments(batch, given);
}

std::vector<Tensor> prepared(Evaluator& evaluator, const TrainingProgram& program,
                             std::vector<Tensor> columns, std::optional<RandomKey> step_key) {
  for (std::size_t p = 0; p < program.prepare.size(); ++p) {
    const Preparation& own = program.prepare[p];
    if (own.has_key && !step_key) continue;
    const FunctionPtr function = function_to_call(program.module, own.function);
    RELISH_CHECK(own.taken <= columns.size() && own.given <= own.taken);
    std::vector<Value> args(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(own.taken));
    if (own.has_key) args.emplace_back(tensor_of_key(fold_in(*step_key, own.site)));
    if (auto fault = find_argument_fault(own.function, function->params, args))
      throw std::move(fault->failure);
    const Value made = evaluator.call(program.module, own.function, std::move(args));
    for (std::size_t i = 0; i < own.given; ++i) {
      const Value& value = made.is_tuple() ? made.fields()[i] : made;
      if (!value.is_tensor() || value.tensor().rank() == 0 ||
          value.tensor().shape().front() != columns[i].shape().front()) {
        fail(ErrorClass::Type, function->span, "prepare.rows",
             fmt::format("prepare: {} makes {} of {} rows; expected a tensor of as many rows", own.function,
                         describe(value), columns[i].shape().front()));
      }
      columns[i] = value.tensor();
    }
  }
  return columns;
}

}  // namespace relish
