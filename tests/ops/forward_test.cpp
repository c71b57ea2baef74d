// Every operator's samples forward: inferred type, interpreter against the declared numbers, compiled code
// against the interpreter on one and two threads, printed and read back, symbolic dimensions, awkward sizes,
// every float dtype.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "ir/calls/entry.h"
#include "ir/printer/printer.h"
#include "schedule/fuse.h"
#include "schedule/schedule.h"
#include "shell/script/script_value.h"
#include "tests/golden/reading.h"
#include "tests/golden/tolerance.h"
#include "tests/ops/agreement.h"
#include "tests/small_tiles.h"
#include "transform/legalize.h"

namespace relish::testing {
namespace {

// Runs `work`; a Failure is a finding under `label`.
template <class Work>
void expect_success(const std::string& label, Work&& work) {
  INFO(label);
  try {
    work();
  } catch (const Failure& failure) {
    FAIL_CHECK(text_of(failure));
  }
}

// Interpreter, compiled on one and on two threads; gives the interpreter's value.
Value run_all(const OperatorCase& operator_case, const BuiltCall& call) {
  const Value wanted = interpreter().call(call.module, "main", call.values);
  CHECK(fits(type_of(wanted), call.type) != Fit::Never);
  const Value one = jit(1).call(call.module, "main", call.values);
  CHECK(same_type(type_of(one), type_of(wanted)));
  CHECK(disagreement_by_class(operator_case, one, wanted) == "");
  const Value two = jit(2).call(call.module, "main", call.values);
  CHECK(disagreement(two, one, 1) == "");
  return wanted;
}

template <class Visit>
void for_each_checked_sample(Visit&& visit) {
  for (const Op* op : operators_under_test()) {
    int number = 0;
    for (const Sample& sample : op->samples) {
      const std::string label = fmt::format("{} #{}: {}", op->name, ++number, sample.args);
      expect_success(label, [&] { visit(case_of_sample(*op, sample.args, label), sample); });
    }
  }
}

}  // namespace

TEST_CASE("samples agree with their numbers and between the tiers", "[ops]") {
  for_each_checked_sample([](const OperatorCase& operator_case, const Sample& sample) {
    const BuiltCall call = build_call(operator_case);
    const Value value = run_all(operator_case, call);
    // Every dimension of a sample is known, but where it is the data of a tensor; of values that are only
    // moved less may be.
    const bool moved = !computes_numbers(*operator_case.op) && fits(type_of(value), call.type) != Fit::Never;
    if (fully_known(call.type)) CHECK((moved || same_type(type_of(value), call.type)));
    if (sample.expect.empty()) return;
    if (!value.is_tensor()) {
      CHECK(text_of(from_runtime(value)) == text_of_sample(sample.expect));
      return;
    }
    const Tensor expected = tensor_of_text(sample.expect, value.tensor().dtype());
    CHECK(disagreement_by_class(operator_case, value, expected) == "");
  });
}

TEST_CASE("calls print as text that reads back", "[ops]") {
  for_each_checked_sample([](const OperatorCase& operator_case, const Sample&) {
    const BuiltCall call = build_call(operator_case);
    for (const std::string& problem : round_trip_problems(*call.module, operator_case.label))
      FAIL_CHECK(problem);
  });
}

TEST_CASE("the loops that run compiled print, read back and run in the interpreter", "[ops]") {
  for_each_checked_sample([](const OperatorCase& operator_case, const Sample&) {
    const BuiltCall call = build_call(operator_case);
    const auto scheduled =
        std::make_shared<const Module>(schedule(fuse(legalize(*call.module)), test::small_tiles));
    for (const std::string& problem : round_trip_problems(*scheduled, operator_case.label))
      FAIL_CHECK(problem);
    const Value wanted = interpreter().call(call.module, "main", call.values);
    CHECK(disagreement_by_class(operator_case, interpreter().call(scheduled, "main", call.values), wanted) ==
          "");
  });
}

TEST_CASE("samples run with symbolic dimensions", "[ops]") {
  int ran = 0, refused = 0;
  for_each_checked_sample([&](const OperatorCase& operator_case, const Sample&) {
    std::vector<std::set<std::int64_t>> choices;
    for (std::int64_t extent : operator_case.extents()) choices.push_back({extent});
    if (choices.size() > 1) choices.push_back(operator_case.extents());
    const Value wanted =
        interpreter().call(build_call(operator_case).module, "main", build_call(operator_case).values);
    for (const std::set<std::int64_t>& symbolic : choices) {
      INFO("symbolic: " << fmt::format("{}", fmt::join(symbolic, ", ")));
      BuiltCall call;
      try {
        call = build_call(operator_case, symbolic);
      } catch (const Failure& failure) {
        // A call whose meaning needs the number may refuse, by its own name.
        CHECK(failure.error_class() == ErrorClass::Type);
        ++refused;
        continue;
      }
      ++ran;
      CHECK(disagreement(interpreter().call(call.module, "main", call.values), wanted, 1) == "");
      try {
        const Value compiled = jit(1).call(call.module, "main", call.values);
        CHECK(disagreement_by_class(operator_case, compiled, wanted) == "");
        CHECK(disagreement(jit(2).call(call.module, "main", call.values), compiled, 1) == "");
      } catch (const Failure& failure) {
        // Lowering may need to know a dimension (whether it is summed, whether it stretches), and then says
        // so.
        INFO(text_of(failure));
        const std::string& rule = failure.diagnostics().front().id;
        CHECK((rule.ends_with(".lowering") || rule == "legalize.shape"));
        ++refused;
      }
    }
  });
  INFO(ran << " ran, " << refused << " refused");
  CHECK((ran > refused || std::getenv("RELISH_OPS")));
}

namespace {

// Both tiers at one size, by `call`, or the same refusal of both. Whether it ran.
bool run_at_size(const OperatorCase& resized, const BuiltCall& call) {
  INFO(resized.label);
  Value wanted;
  std::string refusal;
  try {
    wanted = interpreter().call(call.module, "main", call.values);
  } catch (const Failure& failure) {
    refusal = text_of(failure);
  }
  if (refusal.empty()) {
    run_all(resized, call);
    return true;
  }
  std::string compiled = "success";
  try {
    jit(1).call(call.module, "main", call.values);
  } catch (const Failure& failure) {
    compiled = text_of(failure);
  }
  CHECK(compiled == refusal);
  return false;
}

// The call with the extent as a symbol, compiled; nothing when the type rule or the lowering wants the
// number.
std::optional<BuiltCall> symbolic_call(const OperatorCase& operator_case, std::int64_t extent) {
  try {
    BuiltCall call = build_call(operator_case, {extent});
    jit(1).call(call.module, "main", call.values);
    return call;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

}  // namespace

// Sizes around the vector width by one compiled function with a symbolic size; two of them also by code for
// that size alone, and all of them so where the size cannot be a symbol.
TEST_CASE("samples run at awkward sizes", "[ops]") {
  int ran = 0;
  for_each_checked_sample([&](const OperatorCase& operator_case, const Sample&) {
    const std::set<std::int64_t> extents = operator_case.extents();
    if (extents.empty()) return;
    const std::int64_t from = *extents.rbegin();
    std::optional<BuiltCall> symbolic = symbolic_call(operator_case, from);
    for (std::int64_t to : {0, 1, 7, 8, 9, 15, 16, 17, 33}) {
      const std::optional<OperatorCase> resized = with_extent(operator_case, from, to);
      if (!resized) continue;
      BuiltCall call;
      try {
        call = build_call(*resized);
      } catch (const Failure&) {
        continue;  // the call holds only at its own size
      }
      if (!symbolic || to == 1 || to == 17) ran += run_at_size(*resized, call);
      if (symbolic) {
        symbolic->values = call.values;
        ran += run_at_size(*resized, *symbolic);
      }
    }
  });
  CHECK((ran > 100 || std::getenv("RELISH_OPS")));
}

TEST_CASE("samples run in every float dtype", "[ops]") {
  for_each_checked_sample([](const OperatorCase& operator_case, const Sample&) {
    for (DType dtype : {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64}) {
      const std::optional<OperatorCase> converted = with_dtype(operator_case, dtype);
      if (!converted) return;
      BuiltCall call;
      try {
        call = build_call(*converted);
      } catch (const Failure& failure) {
        CHECK(failure.error_class() == ErrorClass::Type);
        continue;
      }
      INFO(converted->label);
      run_all(*converted, call);
    }
  });
}

}  // namespace relish::testing
