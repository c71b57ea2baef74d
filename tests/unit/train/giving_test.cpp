// Steps that are given the tensors of the state: what they lose is had again where somebody needs it.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/catch_failure.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/train/linear_model.h"

namespace relish {
namespace {

using testing::failure_of;
using testing::linear_data;
using testing::linear_program;
using testing::LinearEvaluator;

// Writes over all that it is given and that nobody else has.
class RuiningEvaluator final : public GivingEvaluator {
 public:
  std::string_view name() const override { return "interp"; }
  Value call(const ModulePtr& module, std::string_view function, std::vector<Value> args) override {
    return inner.call(module, function, std::move(args));
  }
  Value call_giving(const ModulePtr& module, std::string_view function, std::vector<Value>& args,
                    const GivenParams& given, OnFailure on_failure) override {
    CHECK(on_failure == OnFailure::Back);
    CHECK(given == GivenParams{0, 1});
    const Value result = inner.call(module, function, args);  // a failure gives back what was given
    Tensor first = args[0].fields()[0].tensor();
    args.clear();
    if (first.unique()) {
      ++ruined;
      first.set_double(0, NAN);
    }
    ++calls;
    return result;
  }
  void prepare_giving(const ModulePtr&, std::string_view, std::span<const Value>,
                      const GivenParams&) override {}

  LinearEvaluator inner;
  int calls = 0, ruined = 0;
};

struct Ran {
  std::string words;  // of the failure
  TrainResult result;
  NamedTensors left;  // in the newest checkpoint
};

Ran run_job(Evaluator& evaluator, const DataSet& data, const TrainOptions& options, std::int64_t newest) {
  testing::TemporaryFolder folder;
  RunRequest request;
  request.folder.directory = folder.file("run");
  Ran ran;
  ran.words = failure_of([&] {
    ran.result = train(evaluator, linear_program(ScalarVar("n", DType::Int64)), data, options, &request);
  });
  ran.left =
      read_safetensors(request.folder.directory + fmt::format("/checkpoints/step-{:09}.safetensors", newest));
  return ran;
}

bool same(const NamedTensors& a, const NamedTensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && identical(x.second, y.second);
  });
}

TrainOptions ten_steps() {
  TrainOptions options;
  options.batch_size = 4;
  options.steps = 10;
  options.learning_rate = 0.2;
  return options;
}

}  // namespace

TEST_CASE("steps that are given the state end with the same bytes") {
  LinearEvaluator keeps;
  RuiningEvaluator gives;
  const Ran kept = run_job(keeps, linear_data(40), ten_steps(), 10);
  const Ran given = run_job(gives, linear_data(40), ten_steps(), 10);
  CHECK(gives.calls == 10);
  CHECK(gives.ruined == 10);
  CHECK(same(given.result.parameters, kept.result.parameters));
  CHECK(same(given.left, kept.left));
  // Who leaves steps out needs the state before them, and without a folder there is nothing to go back to.
  TrainOptions skipping = ten_steps();
  skipping.skip_not_finite = true;
  run_job(gives, linear_data(40), skipping, 10);
  train(gives, linear_program(ScalarVar("n", DType::Int64)), linear_data(40), ten_steps());
  CHECK(gives.calls == 10);
}

TEST_CASE("a state that a step has lost is had again, from the newest checkpoint or the beginning") {
  DataSet data = linear_data(40);
  TrainOptions options = ten_steps();
  options.shuffle = false;
  data.inputs[0].tensor().set_double(2 * 30, NAN);  // in step 8
  for (const std::int64_t every : {100, 3}) {
    options.checkpoint_every = {every, 0};
    LinearEvaluator keeps;
    RuiningEvaluator gives;
    const Ran kept = run_job(keeps, data, options, 7), given = run_job(gives, data, options, 7);
    CHECK(given.words == kept.words);
    CHECK(given.words.starts_with("NumericStop: step 8: the loss is nan"));
    CHECK(same(given.left, kept.left));
    // 8 steps, those behind the checkpoint once more, and the last to tell what went wrong.
    CHECK(keeps.batch_rows.size() == 8);
    CHECK(gives.inner.batch_rows.size() == 8 + (every == 3 ? 1 : 7) + 1);
  }
}

TEST_CASE("a step that is interrupted gives the state back") {
  LinearEvaluator keeps;
  RuiningEvaluator gives;
  keeps.interrupt_in_step = gives.inner.interrupt_in_step = 6;
  const Ran kept = run_job(keeps, linear_data(40), ten_steps(), 5);
  const Ran given = run_job(gives, linear_data(40), ten_steps(), 5);
  CHECK(given.result.status == RunStatus::Interrupted);
  CHECK(given.result.steps == 5);
  CHECK(same(given.left, kept.left));
  CHECK(gives.inner.batch_rows.size() == 5);
}

}  // namespace relish
