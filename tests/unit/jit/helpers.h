// Modules made by hand and tensors of small numbers, for tests of the compiled tier.
#pragma once

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

#include "interp/interpreter.h"
#include "ir/nodes/builder.h"
#include "jit/jit.h"
#include "tests/unit/catch_failure.h"

namespace relish::test {

// A place in a source that nobody reads.
inline Span at(std::uint32_t begin) { return {1, begin, begin + 1}; }

inline ModulePtr module_of(std::vector<GlobalFunction> functions) {
  auto module = std::make_shared<Module>();
  for (GlobalFunction& function : functions) module->set(std::move(function));
  return module;
}

inline ModulePtr module_of(PrimFunc function) {
  return module_of({GlobalFunction(std::make_shared<const PrimFunc>(std::move(function)))});
}

// Elements 0.25 * ((7 * i) % 13 - 6): exact in every float dtype, of both signs.
inline Tensor numbers(DType dtype, Shape shape, int offset = 0) {
  Tensor tensor = Tensor::empty(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const std::int64_t k = (7 * (i + offset)) % 13 - 6;
    if (is_float(dtype))
      tensor.set_double(i, 0.25 * static_cast<double>(k));
    else
      tensor.set_int(i, k);
  }
  return tensor;
}

inline Evaluator& compiled_tier() {
  static const std::unique_ptr<Evaluator> evaluator = make_jit({2});
  return *evaluator;
}

// No value, or the empty tuple, which types do not tell apart.
inline bool is_nothing(const Value& value) {
  return value.is_void() || (value.is_tuple() && value.fields().empty());
}

// The results of both tiers; they must be equal bit for bit unless `tolerance` allows a relative difference.
inline Value in_both_tiers(const ModulePtr& module, std::string_view name, const std::vector<Value>& args,
                           double tolerance = 0) {
  const Value expected = make_interpreter()->call(module, name, args);
  const Value found = compiled_tier().call(module, name, args);
  const std::function<void(const Value&, const Value&)> compare = [&](const Value& a, const Value& b) {
    if (is_nothing(a)) {
      REQUIRE(is_nothing(b));
      return;
    }
    if (a.is_tuple()) {
      REQUIRE(b.is_tuple());
      REQUIRE(a.fields().size() == b.fields().size());
      for (std::size_t i = 0; i < a.fields().size(); ++i) compare(a.fields()[i], b.fields()[i]);
      return;
    }
    if (a.is_scalar()) {
      REQUIRE(b.is_scalar());
      REQUIRE(a.scalar().dtype == b.scalar().dtype);
      REQUIRE(a.scalar().integer == b.scalar().integer);
      REQUIRE(a.scalar().real == b.scalar().real);
      return;
    }
    REQUIRE(a.is_tensor());
    REQUIRE(b.is_tensor());
    REQUIRE(a.tensor().shape() == b.tensor().shape());
    REQUIRE(a.tensor().dtype() == b.tensor().dtype());
    if (tolerance == 0) {
      for (std::int64_t i = 0; i < a.tensor().size(); ++i) {
        INFO("element " << i << ": interp " << a.tensor().get_double(i) << ", jit "
                        << b.tensor().get_double(i));
        if (!(std::isnan(a.tensor().get_double(i)) && std::isnan(b.tensor().get_double(i)))) {
          REQUIRE(a.tensor().get_double(i) == b.tensor().get_double(i));
          REQUIRE(std::signbit(a.tensor().get_double(i)) == std::signbit(b.tensor().get_double(i)));
        }
      }
      return;
    }
    for (std::int64_t i = 0; i < a.tensor().size(); ++i) {
      const double x = a.tensor().get_double(i), y = b.tensor().get_double(i);
      INFO("element " << i << ": interp " << x << ", jit " << y);
      if (std::isnan(x))
        REQUIRE(std::isnan(y));
      else if (std::isinf(x))
        REQUIRE(x == y);
      else
        REQUIRE(std::fabs(x - y) <= tolerance * std::fabs(x) + tolerance * 1e-6);
    }
  };
  compare(expected, found);
  return found;
}

// The failure of the call: both tiers must fail alike.
inline Failure failure_in_both_tiers(const ModulePtr& module, std::string_view name,
                                     const std::vector<Value>& args) {
  const auto failure_of = [&](Evaluator& evaluator) -> Failure {
    try {
      evaluator.call(module, name, args);
    } catch (const Failure& failure) {
      return failure;
    }
    FAIL("the call succeeds in " << evaluator.name());
    throw std::logic_error("unreachable");
  };
  const Failure expected = failure_of(*make_interpreter());
  const Failure found = failure_of(compiled_tier());
  REQUIRE(found.diagnostics().size() == expected.diagnostics().size());
  CHECK(found.diagnostics()[0].message == expected.diagnostics()[0].message);
  CHECK(found.diagnostics()[0].id == expected.diagnostics()[0].id);
  CHECK(found.diagnostics()[0].span == expected.diagnostics()[0].span);
  CHECK(found.error_class() == expected.error_class());
  CHECK(found.exit_code() == expected.exit_code());
  return found;
}

inline Type f32(std::vector<Scalar> dims) { return tensor_type(std::move(dims), DType::Float32); }

}  // namespace relish::test
