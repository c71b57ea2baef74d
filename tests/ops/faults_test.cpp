// Faults that data cause: for every operator that takes integers, each tensor of them holds a number that no
// program means. Whatever becomes of the call, both tiers say the same in the same words, and who reads them
// learns the number.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "ir/operators/op.h"
#include "tests/ops/agreement.h"

namespace relish::testing {
namespace {

// Class, rule, place and words of what a call ends with; "" when it succeeds.
std::string told_by(Evaluator& engine, const BuiltCall& call) {
  try {
    engine.call(call.module, "main", call.values);
    return "";
  } catch (const Failure& failure) {
    const Diagnostic& first = failure.diagnostics().front();
    return fmt::format("{} [{}] {}-{}: {}", name_of(first.error_class), first.id, first.span.begin,
                       first.span.end, first.message);
  }
}

std::vector<std::int64_t> wrong_numbers(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return {};
    case DType::Int8:
      return {INT8_MIN, INT8_MAX, -1, 0};
    case DType::UInt8:
      return {UINT8_MAX, 0};
    case DType::Int16:
      return {INT16_MIN, INT16_MAX, -1, 0};
    default:
      if (is_float(dtype)) return {};
      return {is_signed_int(dtype) ? -101 : 99, INT32_MAX, 0};
  }
}

// Faults of what follows from the number: a quotient, and the shape of a slice beside another.
bool names_none(const std::string& told) {
  return told.find("division by zero") != std::string::npos ||
         told.find("output_grad has shape") != std::string::npos;
}

}  // namespace

TEST_CASE("faults by data have the same words in both tiers", "[ops][faults]") {
  int calls = 0, faults = 0;
  for (const Op* op : operators_under_test()) {
    if (!op->pure) continue;
    for (const Sample& sample : op->samples) {
      const OperatorCase original =
          case_of_sample(*op, sample.args, fmt::format("{}({})", op->name, sample.args));
      OperatorCase changed = original;
      for (std::size_t t = 0; t < changed.tensors().size(); ++t) {
        const Tensor whole = *changed.tensors()[t];
        if (whole.size() == 0) continue;
        for (const std::int64_t number : wrong_numbers(whole.dtype())) {
          Tensor wrong = whole.copy();
          wrong.set_int(whole.size() - 1, number);
          *changed.tensors()[t] = wrong;
          INFO(original.label << " with " << number << " at the end of tensor " << t);
          BuiltCall call;
          try {
            call = build_call(changed);
          } catch (const Failure&) {
            continue;  // the type rule sees it
          }
          const std::string told = told_by(interpreter(), call);
          CHECK(told_by(jit(1), call) == told);
          ++calls;
          if (told.empty()) continue;
          ++faults;
          CHECK(told_by(jit(2), call) == told);
          CHECK(told.find(op->name.substr(op->name.rfind('.') + 1)) != std::string::npos);
          if (!names_none(told)) CHECK(told.find(std::to_string(number)) != std::string::npos);
        }
        *changed.tensors()[t] = whole;
      }
    }
  }
  INFO(calls << " calls, " << faults << " faults");
  CHECK((faults > 5 || std::getenv("RELISH_OPS")));  // in each part of the operators
}

}  // namespace relish::testing
