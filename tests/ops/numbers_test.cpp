// The files of outside numbers, tests/numbers/operators/*.json, against both tiers: results, and gradients of
// operators that have them.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "stdlib/coverage.h"
#include "tests/golden/tolerance.h"
#include "tests/ops/agreement.h"
#include "tests/ops/gradient_case.h"

namespace relish::testing {
namespace {

nlohmann::json numbers_of(const Op& op) {
  std::ifstream file(fmt::format("{}/tests/numbers/operators/{}.json", RELISH_SOURCE_DIR, op.name));
  if (!file) return nullptr;
  return nlohmann::json::parse(file);
}

// One tensor, or one for each field of a tuple; null for a field of which nobody outside says anything.
// `oracle_rtol`: how far the outside number itself may be from the exact one, where its class has no room for
// it.
void compare_result(const OperatorCase& operator_case, const nlohmann::json& wanted,
                    std::optional<double> oracle_rtol) {
  const BuiltCall call = build_call(operator_case);
  const nlohmann::json expected_fields = wanted.is_array() ? wanted : nlohmann::json::array({wanted});
  for (Evaluator* engine : {&interpreter(), &jit(1), &jit(2)}) {
    INFO(engine->name());
    const Value value = engine->call(call.module, "main", call.values);
    if (wanted.contains("shape_value")) {
      REQUIRE(value.is_shape());
      CHECK(value.shape().dims == wanted["shape_value"].get<std::vector<std::int64_t>>());
      continue;
    }
    if (wanted.contains("scalar")) {
      REQUIRE(value.is_scalar());
      CHECK(value.scalar().integer == wanted["scalar"].get<std::int64_t>());
      continue;
    }
    REQUIRE(value.is_tensor() == wanted.is_object());
    const std::vector<Value> fields = value.is_tensor() ? std::vector<Value>{value} : value.fields();
    REQUIRE(fields.size() == expected_fields.size());
    for (std::size_t k = 0; k < fields.size(); ++k) {
      if (expected_fields[k].is_null()) continue;
      const Tensor expected = tensor_of_json(expected_fields[k]);
      REQUIRE(fields[k].tensor().dtype() == expected.dtype());
      if (oracle_rtol) {
        CHECK(disagreement(fields[k].tensor(), expected, Closeness{*oracle_rtol, 0}) == "");
        continue;
      }
      INFO("result " << k);
      CHECK(disagreement_by_class(operator_case, fields[k], Value(expected)) == "");
    }
  }
}

std::vector<Tensor> cotangents_of(const nlohmann::json& json) {
  std::vector<Tensor> cotangents;
  for (const nlohmann::json& each : json.is_array() ? json : nlohmann::json::array({json}))
    if (!each.is_null()) cotangents.push_back(tensor_of_json(each));
  return cotangents;
}

// |a - b| <= 1e-9 |b| + 1e-12 max |b|, against an outside autograd in float64.
void compare_gradients(const OperatorCase& operator_case, const nlohmann::json& json) {
  const GradientCase gradient = gradient_case(operator_case, cotangents_of(json.at("cotangent")));
  for (Evaluator* engine : {&interpreter(), &jit(1)}) {
    INFO(engine->name());
    const std::vector<Tensor> partials = gradient.partials(*engine, gradient.inputs);
    std::size_t next = 0;
    for (const nlohmann::json& wanted : json.at("gradients")) {
      if (wanted.is_null()) continue;
      REQUIRE(next < partials.size());
      const Tensor expected = tensor_of_json(wanted);
      double largest = 0;
      for (std::int64_t i = 0; i < expected.size(); ++i)
        largest = std::max(largest, std::abs(expected.get_double(i)));
      CHECK(disagreement(partials[next++], expected, Closeness{1e-9, 1e-12 * largest}) == "");
    }
  }
}

// The dtypes of an argument's tensors.
void collect_dtypes(const nlohmann::json& argument, std::set<std::string>& into) {
  if (argument.is_object() && argument.contains("dtype")) into.insert(argument["dtype"].get<std::string>());
  if (argument.is_object() && argument.contains("tuple"))
    for (const nlohmann::json& field : argument["tuple"]) collect_dtypes(field, into);
}

}  // namespace

TEST_CASE("the index of outside numbers tells what the files hold", "[ops]") {
  for (const Op* op : operators_under_test()) {
    const nlohmann::json numbers = numbers_of(*op);
    const OpCoverage row = coverage_of(*op);
    INFO(op->name);
    CHECK(numbers.is_null() == (row.float64_cases + row.float32_cases + row.other_cases == 0));
    if (numbers.is_null()) continue;
    int wide = 0, single = 0, other = 0;
    for (const nlohmann::json& json : numbers.at("cases")) {
      std::set<std::string> dtypes;
      for (const nlohmann::json& argument : json.at("args")) collect_dtypes(argument, dtypes);
      const bool floating = std::any_of(dtypes.begin(), dtypes.end(),
                                        [](const std::string& dtype) { return dtype.starts_with("float"); });
      if (!floating) collect_dtypes(json.at("expect"), dtypes);
      ++(dtypes.contains("float64") ? wide : dtypes.contains("float32") ? single : other);
    }
    CHECK(wide == row.float64_cases);
    CHECK(single == row.float32_cases);
    CHECK(other == row.other_cases);
  }
}

TEST_CASE("operators agree with outside numbers in both tiers", "[ops]") {
  for (const Op* op : operators_under_test()) {
    const nlohmann::json numbers = numbers_of(*op);
    if (numbers.is_null()) continue;  // the test of completeness names it
    for (const nlohmann::json& json : numbers.at("cases")) {
      try {
        const OperatorCase operator_case = case_of_json(*op, json);
        INFO(operator_case.label);
        const auto rtol = json.find("oracle_rtol");
        compare_result(operator_case, json.at("expect"),
                       rtol == json.end() ? std::nullopt : std::optional(rtol->get<double>()));
        if (json.contains("gradients")) compare_gradients(operator_case, json);
      } catch (const Failure& failure) {
        FAIL_CHECK(op->name << " '" << json.at("name").get<std::string>() << "': " << text_of(failure));
      }
    }
  }
}

}  // namespace relish::testing
