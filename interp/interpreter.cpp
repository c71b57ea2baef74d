// The interpreter as an Evaluator: keeps what was prepared for the modules called last.
#include "interp/interpreter.h"

#include <list>

#include "interp/graph_evaluator.h"
#include "loops/prim_calls.h"
#include "support/big_stack.h"

namespace relish {
namespace {

class Interpreter final : public Evaluator {
 public:
  std::string_view name() const override { return "interp"; }

  Value call(const ModulePtr& module, std::string_view function, std::vector<Value> args) override {
    interp::GraphEvaluator& evaluator = evaluator_for(with_prim_calls_replaced(module, function));
    Value result;
    with_big_stack([&] { result = evaluator.call(function, std::move(args)); });
    return result;
  }

 private:
  // A session makes new modules all the time; the last few are enough to keep.
  static constexpr std::size_t kept = 16;

  interp::GraphEvaluator& evaluator_for(const ModulePtr& module) {
    for (auto it = evaluators_.begin(); it != evaluators_.end(); ++it) {
      if (it->first == module) {
        evaluators_.splice(evaluators_.begin(), evaluators_, it);
        return *evaluators_.front().second;
      }
    }
    evaluators_.emplace_front(module, std::make_unique<interp::GraphEvaluator>(module));
    if (evaluators_.size() > kept) evaluators_.pop_back();
    return *evaluators_.front().second;
  }

  std::list<std::pair<ModulePtr, std::unique_ptr<interp::GraphEvaluator>>> evaluators_;
};

}  // namespace

std::unique_ptr<Evaluator> make_interpreter() { return std::make_unique<Interpreter>(); }

}  // namespace relish
