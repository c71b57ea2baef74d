// Last uses, by steps of the function's own list.
#include "jit/steps/giving_up.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "loops/write_over.h"

namespace relish::jit {
namespace {

class GivingUp {
 public:
  GivingUp(FunctionSteps& made, ProgramSteps& program) : made_(made), program_(program) {}

  void run() {
    for (std::size_t i = 0; i < made_.steps.size(); ++i)
      for_each_place(made_.steps[i], [&](PlaceId place, bool) {
        if (is_owned(place)) last_use_[place] = i;
      });
    if (last_use_.empty()) return;
    prefer_own_places();
    for (at_ = 0; at_ < made_.steps.size(); ++at_) {
      Step& step = made_.steps[at_];
      if (auto* kernel = std::get_if<step::CallKernel>(&step.kind)) write_over(*kernel);
      if (auto* call = std::get_if<Apart<step::CallFunction>>(&step.kind)) *call = donating(**call);
      if (const auto* copy = std::get_if<step::Copy>(&step.kind)) take_over(step::Copy(*copy));
    }
    std::erase_if(made_.steps, [](const Step& step) {
      const auto* copy = std::get_if<step::Copy>(&step.kind);
      return copy && copy->from == copy->to;
    });
  }

 private:
  bool is_owned(PlaceId id) const {
    const Place& place = made_.places[id];
    return place.list == 0 && place.kind == ValueTree::TensorLeaf && !place.given &&
           (place.origin == Place::Returned || (place.origin == Place::Param && place.donated));
  }
  bool ends_here(PlaceId place) const {
    const auto found = last_use_.find(place);
    return found != last_use_.end() && found->second == at_;
  }

  // The allocation of a result just before the step that writes it.
  step::Allocate* allocation_of(PlaceId result, std::size_t& found_at) {
    for (std::size_t i = at_; i-- > 0;) {
      if (std::get_if<step::Poll>(&made_.steps[i].kind)) return nullptr;
      auto* allocate = std::get_if<step::Allocate>(&made_.steps[i].kind);
      if (!allocate || allocate->result != result) continue;
      found_at = i;
      return allocate;
    }
    return nullptr;
  }

  // A result that leaves the function needs memory of its own; the arena holds others.
  bool leaves(PlaceId id) const {
    return made_.places[id].origin == Place::Temporary && made_.places[id].given;
  }

  // A result and a parameter of the same make, such as the parameters of a step of training and what it makes
  // of them, are the same value before and behind the call: it stays where it is.
  void prefer_own_places() {
    std::vector<bool> taken(made_.params.size(), false);
    const auto prefer = [&](const ValueTree& result) {
      for (std::size_t i = 0; i < made_.params.size(); ++i) {
        if (taken[i] || !same_make(result, made_.params[i])) continue;
        taken[i] = true;
        std::vector<PlaceId> params;
        for_each_leaf(made_.params[i], [&](const ValueTree& leaf) { params.push_back(leaf.place); });
        std::size_t next = 0;
        for_each_leaf(result, [&](const ValueTree& leaf) { preferred_.emplace(leaf.place, params[next++]); });
        return;
      }
    };
    if (made_.result.kind != ValueTree::Tuple) return prefer(made_.result);
    for (const ValueTree& field : made_.result.fields) prefer(field);
  }

  static bool same_make(const ValueTree& a, const ValueTree& b) {
    return a.kind == b.kind && a.dtype == b.dtype && a.rank == b.rank &&
           std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(), same_make);
  }

  // The arguments whose place a result may take, by number, in the order in which they are tried.
  std::vector<std::size_t> candidates(const step::CallKernel& kernel, std::size_t result) const {
    std::vector<std::size_t> found(kernel.args.size());
    std::iota(found.begin(), found.end(), std::size_t{0});
    const auto wanted = preferred_.find(kernel.args[result]);
    if (wanted != preferred_.end())
      std::stable_partition(found.begin(), found.end(),
                            [&](std::size_t i) { return kernel.args[i] == wanted->second; });
    return found;
  }

  void write_over(step::CallKernel& kernel) {
    const PrimFuncPtr written = program_.unscheduled(*kernel.callee);
    if (!written) return;
    std::vector<WrittenOver> pairs;
    std::vector<bool> taken(kernel.args.size(), false);
    // The words for a fault are found with arguments that are whole.
    std::optional<bool> known;
    const auto whole = [&] {
      if (!known) known = !kernel.fault || never_faults(*written);
      return *known;
    };
    for (std::size_t result = 0; result < kernel.args.size(); ++result) {
      std::size_t allocated = 0;
      if (!leaves(kernel.args[result])) continue;
      const step::Allocate* allocation = allocation_of(kernel.args[result], allocated);
      if (!allocation || allocation->clear) continue;
      for (const std::size_t argument : candidates(kernel, result)) {
        const PlaceId from = kernel.args[argument];
        if (taken[argument] || !ends_here(from) ||
            std::count(kernel.args.begin(), kernel.args.end(), from) != 1 ||
            !may_write_over(*written, {argument, result}) || !whole())
          continue;
        taken[argument] = true;
        pairs.push_back({argument, result});
        take_over(from, kernel.args[result], allocated);
        break;
      }
    }
    if (pairs.empty()) return;
    kernel.callee = program_.written_over(*kernel.callee, pairs);
    kernel.fault = nullptr;
    std::vector<bool> joined(kernel.args.size(), false);
    for (const WrittenOver& pair : pairs) {
      kernel.args[pair.argument] = kernel.args[pair.result];
      joined[pair.result] = true;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < joined.size(); ++i)
      if (!joined[i]) kernel.args[kept++] = kernel.args[i];
    kernel.args.resize(kept);
  }

  step::CallFunction donating(step::CallFunction call) {
    if (lifted_function(program_.functions(), call.callee->name).recursive) return call;
    std::unordered_map<PlaceId, int> uses;
    for (const ValueTree& arg : call.args)
      for_each_leaf(arg, [&](const ValueTree& leaf) { ++uses[leaf.place]; });
    // What the callee hands through is used behind the call.
    for_each_leaf(call.result, [&](const ValueTree& leaf) { uses[leaf.place] += 2; });
    step::Donated donated;
    std::vector<PlaceId> places;
    bool any = false;
    for (const ValueTree& arg : call.args) {
      for_each_leaf(arg, [&](const ValueTree& leaf) {
        if (!leaf.has_storage()) return;
        const bool given = ends_here(leaf.place) && uses[leaf.place] == 1;
        donated.push_back(given);
        places.push_back(leaf.place);
        any = any || given;
      });
    }
    if (!any) return call;
    call.donated = program_.of_use(*call.callee, donated);
    for (std::size_t i = 0; i < call.donated.size(); ++i)
      if (call.donated[i]) made_.places[places[i]].given = true;
    return call;
  }

  // The copy of what ends with it, for a kernel that works in place.
  void take_over(const step::Copy copy) {
    std::size_t allocated = 0;
    if (!ends_here(copy.from) || !allocation_of(copy.to, allocated)) return;
    made_.places[copy.to].origin = Place::Returned;
    take_over(copy.from, copy.to, allocated);
    std::get<step::Copy>(made_.steps[at_].kind).from = copy.to;
  }

  // In the place of the allocation of the result.
  void take_over(PlaceId from, PlaceId result, std::size_t allocated) {
    const Span span = made_.steps[allocated].span;
    made_.steps[allocated] = {span, step::TakeOver{from, result}};
    made_.places[from].given = true;
  }

  FunctionSteps& made_;
  ProgramSteps& program_;
  std::unordered_map<PlaceId, std::size_t> last_use_;  // of what is owned
  std::unordered_map<PlaceId, PlaceId> preferred_;     // by result: the parameter whose place it takes
  std::size_t at_ = 0;
};

}  // namespace

void give_up_last_uses(FunctionSteps& made, ProgramSteps& program) { GivingUp(made, program).run(); }

}  // namespace relish::jit
