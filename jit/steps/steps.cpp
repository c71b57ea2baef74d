// The places of a step.
#include "jit/steps/steps.h"

#include "ir/operators/op.h"
#include "support/overloaded.h"

namespace relish::jit {
namespace {

class Places {
 public:
  explicit Places(const std::function<void(PlaceId, bool)>& visit) : visit_(visit) {}

  void uses(PlaceId place) const { visit_(place, false); }
  void makes(PlaceId place) const { visit_(place, true); }
  void uses(const ValueTree& tree) const {
    for_each_leaf(tree, [&](const ValueTree& leaf) { uses(leaf.place); });
  }
  void makes(const ValueTree& tree) const {
    for_each_leaf(tree, [&](const ValueTree& leaf) { makes(leaf.place); });
  }
  void uses(const std::vector<ValueTree>& trees) const {
    for (const ValueTree& tree : trees) uses(tree);
  }
  void inside(const StepList& steps) const {
    for (const Step& step : steps) for_each_place(step, visit_);
  }
  void told(const step::OperatorFault& fault) const {
    inside(fault.steps);
    uses(fault.args);
  }
  // Of the calls that take values and give one.
  void call(const auto& call) const {
    uses(call.args);
    makes(call.result);
  }

 private:
  const std::function<void(PlaceId, bool)>& visit_;
};

}  // namespace

void for_each_place(const Step& given, const std::function<void(PlaceId, bool made)>& visit) {
  const Places places(visit);
  visit_kind(Overloaded{
                 [](const step::Poll&) {},
                 [&](const step::BindSize& n) { places.uses(n.place); },
                 [&](const step::CheckShape& n) { places.uses(n.place); },
                 [&](const step::CheckSize& n) { places.uses(n.place); },
                 [&](const step::CheckValue& n) {
                   places.uses(n.value);
                   places.uses(n.known);
                   places.makes(n.sizes);
                 },
                 [&](const step::ComputeShape& n) { places.makes(n.result); },
                 [&](const step::ComputeScalar& n) { places.makes(n.result); },
                 [](const step::TakeArena&) {},
                 [](const step::ReturnArena&) {},
                 [&](const step::Allocate& n) {
                   if (n.fault) places.told(*n.fault);
                   places.makes(n.result);
                 },
                 [&](const step::Copy& n) {
                   places.uses(n.from);
                   places.uses(n.to);
                 },
                 [&](const step::Share& n) {
                   places.uses(n.from);
                   places.makes(n.result);
                 },
                 [&](const step::Release& n) { places.uses(n.place); },
                 [&](const step::TakeOver& n) {
                   places.uses(n.from);
                   places.makes(n.result);
                 },
                 [&](const step::CallKernel& n) {
                   for (const PlaceId place : n.args) places.uses(place);
                   if (n.fault) places.told(*n.fault);
                   if (n.result) places.makes(*n.result);
                 },
                 [&](const step::RowsAhead& n) {
                   places.uses(n.table);
                   places.uses(n.at);
                   for (const PlaceId source : n.sources) places.uses(source);
                 },
                 [&](const step::CallFunction& n) { places.call(n); },
                 [&](const step::CallNative& n) { places.call(n); },
                 [&](const step::CallMachine& n) { places.call(n); },
                 [&](const step::EvaluateOperator& n) { places.call(n); },
                 [&](const step::Convert& n) {
                   places.uses(n.from);
                   places.makes(n.result);
                 },
                 [&](const step::Truth& n) {
                   places.uses(n.from);
                   places.makes(n.result);
                 },
                 [&](const step::MakeFunction& n) { places.call(n); },
                 [&](const step::FixArguments& n) { places.call(n); },
                 [&](const step::CallValue& n) { places.call(n); },
                 [&](const step::Branch& n) {
                   places.uses(n.condition);
                   places.inside(n.then);
                   places.uses(n.then_value);
                   places.inside(n.otherwise);
                   places.uses(n.otherwise_value);
                   places.makes(n.result);
                 },
                 [&](const step::Loop& n) {
                   if (n.range)
                     for (const PlaceId place : {n.range->begin, n.range->end, n.range->step})
                       places.uses(place);
                   places.uses(n.initial);
                   places.makes(n.carried);
                   places.inside(n.condition);
                   if (n.goes_on) places.uses(*n.goes_on);
                   places.inside(n.body);
                   places.uses(n.next);
                   places.makes(n.result);
                 },
                 [&](const step::Return& n) { places.uses(n.value); },
             },
             given);
}

bool copies_rows_ahead(const step::CallKernel& kernel, const std::vector<Place>& places) {
  return kernel.args.size() == 3 && kernel.fault && places[kernel.args[2]].copied_ahead &&
         short_name_of(*kernel.fault->call.as<OpCall>()->op) == "take";
}

void for_each_step(const StepList& steps, const std::function<void(const Step&)>& visit) {
  for (const Step& each : steps) {
    visit(each);
    if (const auto* branch = std::get_if<Apart<step::Branch>>(&each.kind)) {
      for_each_step((**branch).then, visit);
      for_each_step((**branch).otherwise, visit);
    } else if (const auto* loop = std::get_if<Apart<step::Loop>>(&each.kind)) {
      for_each_step((**loop).condition, visit);
      for_each_step((**loop).body, visit);
    }
  }
}

}  // namespace relish::jit
