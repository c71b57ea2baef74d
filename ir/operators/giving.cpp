// The way to evaluators that make use of what is given up.
#include "ir/operators/giving.h"

#include <utility>

namespace relish {

Value call_giving(Evaluator& evaluator, const ModulePtr& module, std::string_view function,
                  std::vector<Value>& args, const GivenParams& given, OnFailure on_failure) {
  if (GivingEvaluator* giving = evaluator.giving())
    return giving->call_giving(module, function, args, given, on_failure);
  if (on_failure == OnFailure::Lost) return evaluator.call(module, function, std::exchange(args, {}));
  Value result = evaluator.call(module, function, args);
  args.clear();
  return result;
}

Value call_giving(Evaluator& evaluator, const ModulePtr& module, std::string_view function,
                  std::vector<Value>&& args, const GivenParams& given) {
  std::vector<Value> own = std::move(args);
  return call_giving(evaluator, module, function, own, given, OnFailure::Lost);
}

void prepare_giving(Evaluator& evaluator, const ModulePtr& module, std::string_view function,
                    std::span<const Value> args, const GivenParams& given) {
  if (GivingEvaluator* giving = evaluator.giving())
    return giving->prepare_giving(module, function, args, given);
  evaluator.prepare(module, function, args);
}

}  // namespace relish
