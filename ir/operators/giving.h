// Calls whose caller gives up tensors: an evaluator that makes use of them writes results over what nobody
// else holds, so that a step of training needs no second copy of what it changes.
#pragma once

#include "ir/operators/evaluator.h"

namespace relish {

// Numbers of the parameters whose tensors the caller gives up, ascending.
using GivenParams = std::vector<std::size_t>;

// What becomes of the arguments when a call fails. Back: as long as nothing of what was given was written to
// or ended, the caller has all of them again; from there on an interrupt waits for the end of the call.
enum class OnFailure : std::uint8_t { Lost, Back };

class GivingEvaluator : public Evaluator {
 public:
  GivingEvaluator* giving() final { return this; }
  // As `call`, with the same bits of results, which may stand in the memory of what was given. `args` is left
  // empty but for what a failure gives back.
  virtual Value call_giving(const ModulePtr& module, std::string_view function, std::vector<Value>& args,
                            const GivenParams& given, OnFailure on_failure) = 0;
  // As `prepare`, for such calls.
  virtual void prepare_giving(const ModulePtr& module, std::string_view function, std::span<const Value> args,
                              const GivenParams& given) = 0;
};

// The same for any evaluator; one that has no use for what is given calls as ever.
Value call_giving(Evaluator& evaluator, const ModulePtr& module, std::string_view function,
                  std::vector<Value>& args, const GivenParams& given, OnFailure on_failure = OnFailure::Back);
Value call_giving(Evaluator& evaluator, const ModulePtr& module, std::string_view function,
                  std::vector<Value>&& args, const GivenParams& given);
void prepare_giving(Evaluator& evaluator, const ModulePtr& module, std::string_view function,
                    std::span<const Value> args, const GivenParams& given);

}  // namespace relish
