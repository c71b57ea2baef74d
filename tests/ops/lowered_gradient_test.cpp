// Gradients of loop nests: the lowering of every operator, differentiated as a prim_func, against the
// operator's own rule.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <set>

#include "tests/ops/agreement.h"
#include "tests/ops/gradient_case.h"
#include "transform/gradient.h"
#include "transform/legalize.h"

namespace relish::testing {
namespace {

// Products, scans, scatters, and searches for a place: their nests set elements again, or compute them one
// from another.
const std::set<std::string> computes_from_what_it_overwrites{"cumprod",
                                                             "cumsum",
                                                             "grad.linear_scan",
                                                             "grad.max_pool1d_backward",
                                                             "index_put",
                                                             "grad.max_pool2d_backward",
                                                             "layout_transform",
                                                             "grad.max_pool3d_backward",
                                                             "prod",
                                                             "grad.max_pool_select",
                                                             "random.dropout",
                                                             "scatter_elements",
                                                             "scatter_nd",
                                                             "slice_scatter"};

// The same case with the operator lowered before its gradient is taken; nothing, and the reason, where that
// is refused.
std::optional<GradientCase> lowered_case(const GradientCase& gradient, std::string& why) {
  Module plain;
  plain.set(gradient.module->function("main"));
  const Module lowered = legalize(plain);
  GradientOptions options;
  for (const std::size_t i : gradient.wrt) options.wrt.push_back(lowered.function("main")->params[i].name());
  try {
    GradientCase result = gradient;
    result.module = std::make_shared<const Module>(relish::gradient(lowered, "main", options));
    return result;
  } catch (const Failure& failure) {
    if (failure.error_class() != ErrorClass::Type) throw;
    why = text_of(failure);
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("the gradient of a lowered operator is the one of its rule", "[ops]") {
  int compared = 0;
  std::set<std::string> refused;
  for (const Op* op : operators_under_test()) {
    if (!op->vjp || !op->lower) continue;
    int number = 0;
    for (const Sample& sample : op->samples) {
      const std::string label = fmt::format("{} #{}: {}", op->name, ++number, sample.args);
      if (!sample.check_gradient || op->name == "std") continue;  // at 0 the root of its nest has no slope
      INFO(label);
      try {
        const std::optional<OperatorCase> wide = float64_case(*op, sample, label);
        if (!wide) continue;
        const GradientCase by_rule = gradient_case(*wide);
        std::string why;
        const std::optional<GradientCase> by_loops = lowered_case(by_rule, why);
        if (!by_loops) {
          if (std::getenv("RELISH_OPS")) WARN(why);
          refused.insert(std::string(op->name));
          continue;
        }
        const std::vector<Tensor> wanted = by_rule.partials(interpreter(), by_rule.inputs);
        const std::vector<Tensor> found = by_loops->partials(interpreter(), by_loops->inputs);
        REQUIRE(found.size() == wanted.size());
        for (std::size_t k = 0; k < wanted.size(); ++k) {
          REQUIRE(found[k].shape() == wanted[k].shape());
          double largest = 1;
          for (std::int64_t i = 0; i < wanted[k].size(); ++i)
            largest = std::max(largest, std::abs(wanted[k].get_double(i)));
          for (std::int64_t i = 0; i < wanted[k].size(); ++i) {
            INFO("input " << k << " element " << i);
            CHECK(found[k].get_double(i) ==
                  Approx(wanted[k].get_double(i)).epsilon(1e-9).margin(1e-11 * largest));
          }
        }
        ++compared;
      } catch (const Failure& failure) {
        FAIL_CHECK(text_of(failure));
      }
    }
  }
  CHECK((compared > 100 || std::getenv("RELISH_OPS")));
  for (const std::string& name : refused) {
    INFO(name);
    CHECK(computes_from_what_it_overwrites.contains(name));
  }
}

}  // namespace relish::testing
