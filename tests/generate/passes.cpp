// Transforms on generated programs: the result verifies, keeps the round-trip law, and computes what it
// should.
#include <cmath>
#include <numeric>

#include "ir/calls/entry.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "jit/jit.h"
#include "schedule/fusion/fuse.h"
#include "schedule/schedule.h"
#include "tests/generate/checks.h"
#include "tests/generate/values.h"
#include "tests/golden/tolerance.h"
#include "tests/small_tiles.h"
#include "transform/append_loss.h"
#include "transform/bind_params.h"
#include "transform/canonicalize.h"
#include "transform/common_values.h"
#include "transform/dead_code.h"
#include "transform/dead_parameters.h"
#include "transform/expand_tuples.h"
#include "transform/fold.h"
#include "transform/inline_calls.h"
#include "transform/legalize.h"
#include "transform/lift_bodies.h"
#include "transform/lift_params.h"
#include "transform/normalize.h"
#include "transform/simplify.h"
#include "transform/to_dataflow.h"
#include "transform/topological_sort.h"
#include "transform/unroll.h"

namespace relish::generate {
namespace {

class PassCheck {
 public:
  PassCheck(const Program& program, Tally& tally)
      : program_(program),
        tally_(tally),
        wanted_(outcome_of(reference(), program.module, "main", program.inputs)) {}

  std::vector<std::string> run() {
    if (!wanted_.value) return {};
    check("dce", program_.inputs, true, [&] { return eliminate_dead_code(*program_.module); });
    check("fold", program_.inputs, true, [&] { return fold(*program_.module); });
    check("canonicalize", program_.inputs, true, [&] { return canonicalize(*program_.module); });
    check("cse", program_.inputs, true, [&] { return eliminate_common_values(*program_.module); });
    check("to_dataflow", program_.inputs, true, [&] { return to_dataflow(*program_.module); });
    check("inline", program_.inputs, true, [&] { return inline_calls(*program_.module); });
    check("unroll", program_.inputs, true, [&] { return unroll(*program_.module); });
    check("lambda_lift", program_.inputs, true, [&] { return lambda_lift(*program_.module); });
    check("normalize", program_.inputs, true, [&] { return normalize(*program_.module); });
    for (const TopologicalOrder order : {TopologicalOrder::Depth, TopologicalOrder::Breadth})
      check("topological_sort", program_.inputs, true,
            [&] { return topological_sort(to_dataflow(*program_.module), order); });
    // What is lifted is private and called, as these two want it.
    check("expand_tuples", program_.inputs, true,
          [&] { return expand_tuples(lambda_lift(*program_.module)); });
    check("dead_parameters", program_.inputs, true,
          [&] { return remove_dead_parameters(lambda_lift(*program_.module)); });
    // The sign of a zero may change, and what is made of it.
    check("simplify", program_.inputs, false, [&] { return simplify(*program_.module); });
    check("all that make it plain", program_.inputs, false, [&] {
      return to_dataflow(canonicalize(
          simplify(fold(eliminate_common_values(canonicalize(unroll(inline_calls(*program_.module))))))));
    });
    // The table of the compiled tier, pass by pass.
    check("lift", program_.inputs, true, [&] { return lift_bodies(*program_.module).module; });
    check("legalize", program_.inputs, program_.agreement <= 3, [&] { return legalize(*program_.module); });
    check("fuse", program_.inputs, program_.agreement <= 3, [&] { return fuse(legalize(*program_.module)); });
    check("schedule", program_.inputs, false, [&] { return schedule(fuse(legalize(*program_.module))); });
    check("schedule in small tiles", program_.inputs, false,
          [&] { return schedule(fuse(legalize(*program_.module)), test::small_tiles); });
    check("plan", program_.inputs, false,
          [&] { return planned(program_.module, test::small_tiles, given()); });
    if (tally_.contains("legalize accepted")) ++tally_["compared"];
    bind();
    lift();
    loss();
    return std::move(findings_);
  }

 private:
  // Callers of main give all that they have.
  std::map<std::string, GivenParams> given() const {
    GivenParams all(program_.inputs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return {{"main", std::move(all)}};
  }

  // A pass may refuse a program by its rules; what it accepts must hold. `exact`: to the bit.
  template <class Pass>
  void check(const char* name, const std::vector<Value>& inputs, bool exact, Pass&& pass) {
    Module after;
    try {
      after = pass();
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Internal) throw;
      ++tally_[fmt::format("{} refused {}", name, failure.diagnostics().front().id)];
      return;
    }
    ++tally_[fmt::format("{} accepted", name)];
    examine(name, after);
    const Outcome found = outcome_of(reference(), std::make_shared<const Module>(after), "main", inputs);
    if (!found.value) {
      findings_.push_back(fmt::format("{}: faults afterwards: {}", name, found.fault));
      return;
    }
    if (exact ? !same_bits(*found.value, *wanted_.value) : !is_near(*wanted_.value, *found.value))
      findings_.push_back(fmt::format("{}: computes something else afterwards", name));
  }

  void examine(const char* name, const Module& after) {
    Program result;
    result.options = program_.options;
    result.module = std::make_shared<const Module>(after);
    Tally ignored;
    for (const std::string& finding : round_trip_findings(result, ignored))
      findings_.push_back(fmt::format("{}: {}", name, finding));
  }

  // Every other tensor parameter becomes a constant.
  void bind() {
    const FunctionPtr main = program_.module->function("main");
    std::map<std::string, Tensor> values;
    std::vector<Value> rest;
    bool take = true;
    for (std::size_t i = 0; i < main->params.size(); ++i) {
      if (program_.inputs[i].is_tensor() && take)
        values.emplace(main->params[i].name(), program_.inputs[i].tensor());
      else
        rest.push_back(program_.inputs[i]);
      take = !take;
    }
    check("bind_params", rest, true, [&] { return bind_params(*program_.module, "main", values); });
  }

  // The second half of the parameters are weights: what is computed of them alone is called first.
  void lift() {
    Function marked = *program_.module->function("main");
    const std::size_t inputs = marked.params.size() / 2;
    std::map<std::string, Value> given;
    for (std::size_t i = 0; i < marked.params.size(); ++i)
      given.insert_or_assign(marked.params[i].name(), program_.inputs[i]);
    if (given.size() != marked.params.size()) return;
    marked.attributes =
        with_attribute(std::move(marked.attributes), "num_input", static_cast<std::int64_t>(inputs));
    Module before = *program_.module, after;
    before.set(std::make_shared<const Function>(std::move(marked)));
    try {
      after = lift_params(before);
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Internal) throw;
      ++tally_[fmt::format("lift_params refused {}", failure.diagnostics().front().id)];
      return;
    }
    const FunctionPtr transform = after.function("main_transform_params"), rest = after.function("main");
    ++tally_[transform ? "lift_params lifted" : "lift_params left"];
    if (!transform) return;
    examine("lift_params", after);
    const ModulePtr module = std::make_shared<const Module>(after);
    std::vector<Value> weights, args;
    for (const Var& param : transform->params) weights.push_back(given.at(param.name()));
    const Outcome made = outcome_of(reference(), module, transform->name, weights);
    if (!made.value) {
      // What no branch would have reached is computed now.
      ++tally_["lift_params faults ahead"];
      return;
    }
    const std::size_t lifted = made.value->fields().size();
    for (std::size_t i = 0; i + lifted < rest->params.size(); ++i)
      args.push_back(given.at(rest->params[i].name()));
    args.insert(args.end(), made.value->fields().begin(), made.value->fields().end());
    const Outcome found = outcome_of(reference(), module, "main", args);
    if (!found.value || !same_bits(*found.value, *wanted_.value))
      findings_.push_back("lift_params: computes something else afterwards: " + found.fault);
  }

  // The mean square of the first result against targets, computed here in double.
  void loss() {
    const Value& value = *wanted_.value;
    const Value& first = value.is_tuple() && !value.fields().empty() ? value.fields()[0] : value;
    if (!first.is_tensor() || !is_float(first.tensor().dtype()) || first.tensor().size() == 0) return;
    const Tensor& predictions = first.tensor();
    Tensor targets = Tensor::empty(predictions.dtype(), predictions.shape());
    double wanted = 0, largest = 0;
    for (std::int64_t i = 0; i < targets.size(); ++i) {
      targets.set_double(i, 0.5 * static_cast<double>(i % 3) - 0.5);
      const double difference = predictions.get_double(i) - targets.get_double(i);
      wanted += difference * difference / static_cast<double>(targets.size());
      largest = std::max(largest, difference * difference);
    }
    if (predictions.dtype() == DType::Float16 && largest > 65504) return;  // the square is inf there
    AppendLossOptions options;
    options.loss = parse_named_spec("mse");
    Module after;
    try {
      after = append_loss(*program_.module, "main", options);
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Internal) throw;
      ++tally_[fmt::format("append_loss refused {}", failure.diagnostics().front().id)];
      return;
    }
    ++tally_["append_loss accepted"];
    examine("append_loss", after);
    const ModulePtr module = std::make_shared<const Module>(std::move(after));
    const Outcome same = outcome_of(reference(), module, "main", program_.inputs);
    if (!same.value || !same_bits(*same.value, value))
      findings_.push_back("append_loss: main is another function");
    std::vector<Value> args = program_.inputs;
    args.emplace_back(targets);
    const Outcome found = outcome_of(reference(), module, "main_loss", args);
    if (!found.value) {
      findings_.push_back("append_loss: faults: " + found.fault);
      return;
    }
    const Value& scalar = found.value->is_tuple() ? found.value->fields()[0] : *found.value;
    const double relative =
        16 * testing::rounding_unit(predictions.dtype()) * static_cast<double>(targets.size() + 4);
    if (std::abs(scalar.tensor().get_double(0) - wanted) > relative * (wanted + 1)) {
      findings_.push_back(
          fmt::format("append_loss: the loss is {}, expected {}", scalar.tensor().get_double(0), wanted));
    }
  }

  const Program& program_;
  Tally& tally_;
  Outcome wanted_;
  std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> pass_findings(const Program& program, Tally& tally) {
  return PassCheck(program, tally).run();
}

}  // namespace relish::generate
