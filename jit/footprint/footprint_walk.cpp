// Steps as an account: what each takes, what it gives back, and the highest sum.
#include "jit/footprint/footprint_walk.h"

#include <fmt/format.h>

#include <algorithm>

#include "jit/footprint/kernel_footprint.h"
#include "support/overloaded.h"

namespace relish::jit {
namespace {

class FunctionWalk {
 public:
  FunctionWalk(FootprintProgram& program, const FunctionSteps& steps)
      : program_(program), steps_(steps), places_(steps.places.size()) {}

  CallFacts run(const LeafList& args) {
    storages_ = args.storages;
    constants();
    std::size_t next = 0;
    for (const ValueTree& param : steps_.params)
      for_each_leaf(param, [&](const ValueTree& leaf) { places_[leaf.place] = args.leaves.at(next++); });
    list(steps_.steps);
    CallFacts facts;
    facts.peak = highest_;
    facts.own_peak = own_highest_;
    facts.scratch = scratch_highest_;
    facts.arena = arena_ + inner_arena_;
    for_each_leaf(steps_.result,
                  [&](const ValueTree& leaf) { facts.results.push_back(places_[leaf.place]); });
    for (std::size_t i = args.storages.size(); i < storages_.size(); ++i)
      facts.made.push_back(storages_[i].bytes);
    return facts;
  }

 private:
  Size size(const Scalar& scalar) const {
    return evaluate_int(scalar, [&](const ScalarVar& var) -> Size {
      const auto known = sizes_.find(var.id());
      return known == sizes_.end() ? Size() : Size(known->second);
    });
  }

  std::vector<Size> sizes(const std::vector<Scalar>& dims) const {
    std::vector<Size> found;
    for (const Scalar& dim : dims) found.push_back(size(dim));
    return found;
  }

  // In whole lines; nothing, and the account is no longer complete, where a size is not known.
  std::int64_t bytes(const std::vector<Size>& dims, DType dtype) {
    std::int64_t total = size_of(dtype);
    for (const Size& dim : dims) {
      if (!dim) program_.found.complete = false;
      total *= std::max<std::int64_t>(0, dim.value_or(0));
    }
    return (total + memory_line - 1) / memory_line * memory_line;
  }

  void take(std::int64_t amount) {
    current_ += amount;
    own_highest_ = std::max(own_highest_, current_);
    highest_ = std::max(highest_, current_ + scratch_highest_);
  }

  // Scratch memory that is given back stays with the stack until the call ends.
  void reach_scratch(std::int64_t amount) {
    scratch_highest_ = std::max(scratch_highest_, scratch_ + amount);
    highest_ = std::max(highest_, current_ + scratch_highest_);
  }

  std::size_t new_storage(std::int64_t amount, bool own) {
    storages_.push_back({amount, 1, own});
    if (own) take(amount);
    return storages_.size() - 1;
  }

  void release(LeafFacts& leaf) {
    if (leaf.storage == no_storage) return;
    Storage& storage = storages_[leaf.storage];
    if (--storage.owners == 0 && storage.own) current_ -= storage.bytes;
    leaf.storage = no_storage;
  }

  void note(PlaceId id, Footprint::Kind kind, std::int64_t amount) {
    const Place& place = steps_.places[id];
    Footprint::Part part{.kind = kind, .bytes = amount, .dtype = place.dtype};
    for (const Size& dim : places_[id].dims) part.shape.push_back(dim.value_or(0));
    part.span = place.span.known() ? place.span : steps_.span;
    part.function = steps_.name;
    program_.add(id, std::move(part));
  }

  void constants() {
    for (PlaceId id = 0; id < places_.size(); ++id) {
      const Place& place = steps_.places[id];
      if (place.origin != Place::Constant) continue;
      for (const std::int64_t dim : place.constant.shape()) places_[id].dims.emplace_back(dim);
      places_[id].made = true;
      const std::int64_t amount = bytes(places_[id].dims, place.dtype);
      places_[id].storage = new_storage(amount, false);
      if (!program_.constants.insert(place.constant.data()).second) continue;
      program_.found.constants += amount;
      note(id, Footprint::Kind::Constant, amount);
    }
  }

  // A value that the program gives, of what its type tells.
  void give(const ValueTree& tree, const Type& type) {
    if (const TupleType* tuple = type.tuple(); tuple && tree.kind == ValueTree::Tuple) {
      for (std::size_t i = 0; i < tree.fields.size() && i < tuple->fields.size(); ++i)
        give(tree.fields[i], tuple->fields[i]);
      return;
    }
    for_each_leaf(tree, [&](const ValueTree& leaf) {
      LeafFacts& facts = places_[leaf.place];
      facts = {.made = true, .dims = std::vector<Size>(static_cast<std::size_t>(leaf.rank))};
      const TensorType* tensor = type.tensor();
      const auto* shape = type.as<ShapeType>();
      if (tensor && tensor->shape) facts.dims = sizes(*tensor->shape);
      if (shape && shape->dims) facts.dims = sizes(*shape->dims);
      if (leaf.kind == ValueTree::TensorLeaf) {
        facts.storage = new_storage(bytes(facts.dims, leaf.dtype), true);
        note(leaf.place, Footprint::Kind::Value, storages_[facts.storage].bytes);
      }
      if (leaf.kind == ValueTree::BoxLeaf) program_.found.complete = false;
    });
  }

  void list(const StepList& steps) {
    for (const Step& each : steps) step(each);
  }

  void step(const Step& given) {
    visit_kind(
        Overloaded{
            [](const step::Poll&) {},
            [&](const step::BindSize& n) { bind(n); },
            [](const step::CheckShape&) {},
            [](const step::CheckSize&) {},
            [&](const step::CheckValue& n) {
              for_each_leaf(n.sizes, [&](const ValueTree& leaf) {
                places_[leaf.place] = {.made = true,
                                       .dims = std::vector<Size>(static_cast<std::size_t>(leaf.rank))};
              });
            },
            [&](const step::ComputeShape& n) { places_[n.result] = {.made = true, .dims = sizes(n.dims)}; },
            [&](const step::ComputeScalar& n) {
              places_[n.result] = {.made = true,
                                   .integer = is_float(n.value.dtype()) ? Size() : size(n.value)};
            },
            [&](const step::TakeArena& n) { take_arena(n); },
            [&](const step::ReturnArena&) { scratch_ -= arena_; },
            [&](const step::Allocate& n) { allocate(n.result); },
            [](const step::Copy&) {},
            [&](const step::Share& n) { share(n); },
            [&](const step::Release& n) { release(places_[n.place]); },
            [&](const step::TakeOver& n) { take_over(n); },
            [&](const step::CallKernel& n) { kernel(n); },
            [](const step::RowsAhead&) {},
            [&](const step::CallFunction& n) { call(n); },
            [&](const step::CallNative& n) { give(n.result, n.type); },
            [&](const step::CallMachine& n) { give(n.result, n.type); },
            [&](const step::EvaluateOperator& n) { give(n.result, n.call.type()); },
            [&](const step::Convert& n) { give(n.result, n.type); },
            [&](const step::Truth& n) { places_[n.result] = {.made = true}; },
            [&](const step::MakeFunction& n) { give(n.result, Type()); },
            [&](const step::FixArguments& n) { give(n.result, Type()); },
            [&](const step::CallValue& n) { give(n.result, n.type); },
            [&](const step::Branch& n) { branch(n); },
            [&](const step::Loop& n) { loop(n); },
            [](const step::Return&) {},
        },
        given);
  }

  void bind(const step::BindSize& bound) {
    const LeafFacts& facts = places_[bound.place];
    const Size found = bound.dim == step::BindSize::scalar
                           ? facts.integer
                           : facts.dims.at(static_cast<std::size_t>(bound.dim));
    sizes_.erase(bound.symbol.id());
    if (found) sizes_.emplace(bound.symbol.id(), *found);
  }

  void take_arena(const step::TakeArena& arena) {
    for (const std::vector<PlaceId>& slot : arena.slots) {
      std::int64_t largest = memory_line;
      for (const PlaceId id : slot)
        largest = std::max(largest, bytes(sizes(steps_.places[id].dims), steps_.places[id].dtype));
      arena_ += largest;
    }
    reach_scratch(arena_);
    scratch_ += arena_;
  }

  void allocate(PlaceId id) {
    const Place& place = steps_.places[id];
    places_[id] = {.made = true, .dims = sizes(place.dims)};
    const std::int64_t amount = bytes(places_[id].dims, place.dtype);
    // What lies in the arena was taken with it.
    places_[id].storage = new_storage(place.slot ? 0 : amount, !place.slot);
    note(id, place.slot ? Footprint::Kind::Temporary : Footprint::Kind::Value, amount);
  }

  void share(const step::Share& shared) {
    const LeafFacts from = places_[shared.from];
    LeafFacts& result = places_[shared.result];
    result = from;
    if (from.storage == no_storage) return;
    if (storages_[from.storage].own && (!shared.to_write || storages_[from.storage].owners == 1)) {
      ++storages_[from.storage].owners;
      return;
    }
    if (steps_.places[shared.from].kind == ValueTree::BoxLeaf) return;
    result.storage = new_storage(bytes(from.dims, steps_.places[shared.from].dtype), true);
    note(shared.result, Footprint::Kind::Value, storages_[result.storage].bytes);
  }

  // What others own too is copied.
  void take_over(const step::TakeOver& taken) {
    LeafFacts& from = places_[taken.from];
    LeafFacts& result = places_[taken.result];
    result = from;
    if (from.storage != no_storage && storages_[from.storage].own && storages_[from.storage].owners == 1) {
      from.storage = no_storage;
      return;
    }
    result.storage = new_storage(bytes(from.dims, steps_.places[taken.from].dtype), true);
    note(taken.result, Footprint::Kind::Value, storages_[result.storage].bytes);
    release(from);
  }

  void kernel(const step::CallKernel& called) {
    const PrimFunc& function = *called.callee;
    std::unordered_map<std::uint64_t, std::int64_t> known;
    std::string key = function.name;
    for (std::size_t i = 0; i < function.params.size() && i < called.args.size(); ++i) {
      const LeafFacts& facts = places_[called.args[i]];
      if (const ScalarVar* scalar = function.params[i].scalar()) {
        if (facts.integer) known.emplace(scalar->id(), *facts.integer);
        continue;
      }
      const std::vector<Scalar>& shape = function.params[i].buffer()->shape();
      for (std::size_t d = 0; d < shape.size() && d < facts.dims.size(); ++d) {
        const auto var = shape[d].as_var();
        if (!var || !facts.dims[d]) continue;
        if (known.emplace(var->id(), *facts.dims[d]).second) key += fmt::format(" {}", *facts.dims[d]);
      }
    }
    const auto [counted, fresh] = program_.kernels.try_emplace(key, 0);
    if (fresh) {
      const KernelFootprint footprint =
          footprint_of_kernel(function, program_.threads, [&](const ScalarVar& var) -> Size {
            const auto found = known.find(var.id());
            return found == known.end() ? Size() : Size(found->second);
          });
      counted->second = footprint.bytes;
      program_.found.complete = program_.found.complete && footprint.complete;
      program_.found.buffers = std::max(program_.found.buffers, footprint.bytes);
      for (std::size_t i = 0; i < footprint.buffers.size(); ++i) program_.add(i, footprint.buffers[i]);
    }
    reach_scratch(counted->second);
    if (called.result) places_[*called.result] = {.made = true};
  }

  // Leaves of the result that were made before stay as they are.
  void call(const step::CallFunction& called) {
    LeafList args;
    std::vector<std::size_t> ours;  // storages here, by their number there
    std::unordered_map<std::size_t, std::size_t> theirs;
    for (const ValueTree& arg : called.args) {
      for_each_leaf(arg, [&](const ValueTree& leaf) {
        LeafFacts facts = places_[leaf.place];
        if (facts.storage != no_storage) {
          const auto [number, fresh] = theirs.try_emplace(facts.storage, ours.size());
          if (fresh) {
            ours.push_back(facts.storage);
            args.storages.push_back(storages_[facts.storage]);
          }
          facts.storage = number->second;
        }
        args.leaves.push_back(std::move(facts));
      });
    }
    const CallFacts facts = facts_of_call(program_, *called.callee, args, called.donated);
    own_highest_ = std::max(own_highest_, current_ + facts.own_peak);
    highest_ =
        std::max(highest_, current_ + std::max(scratch_highest_ + facts.own_peak, scratch_ + facts.peak));
    scratch_highest_ = std::max(scratch_highest_, scratch_ + facts.scratch);
    inner_arena_ = std::max(inner_arena_, facts.arena);
    std::unordered_map<std::size_t, std::size_t> made;
    std::size_t next = 0;
    for_each_leaf(called.result, [&](const ValueTree& leaf) {
      LeafFacts result = next < facts.results.size() ? facts.results[next] : LeafFacts{.made = true};
      ++next;
      if (places_[leaf.place].made) return;
      if (result.storage != no_storage && result.storage < ours.size()) {
        result.storage = ours[result.storage];
        ++storages_[result.storage].owners;
      } else if (result.storage != no_storage) {
        const auto [here, fresh] = made.try_emplace(result.storage, 0);
        if (fresh)
          here->second = new_storage(facts.made.at(result.storage - ours.size()), true);
        else
          ++storages_[here->second].owners;
        result.storage = here->second;
      }
      places_[leaf.place] = std::move(result);
      if (places_[leaf.place].storage != no_storage)
        note(leaf.place, Footprint::Kind::Value, storages_[places_[leaf.place].storage].bytes);
    });
    // What the callee got is ended, or part of its result.
    std::size_t stored = 0;
    for (const ValueTree& arg : called.args) {
      for_each_leaf(arg, [&](const ValueTree& leaf) {
        if (!leaf.has_storage()) return;
        if (stored < called.donated.size() && called.donated[stored]) release(places_[leaf.place]);
        ++stored;
      });
    }
  }

  std::vector<LeafFacts> leaves(const ValueTree& tree) const {
    std::vector<LeafFacts> found;
    for_each_leaf(tree, [&](const ValueTree& leaf) { found.push_back(places_[leaf.place]); });
    return found;
  }

  static std::vector<Size> joined(const std::vector<Size>& a, const std::vector<Size>& b) {
    std::vector<Size> both = a;
    for (std::size_t d = 0; d < both.size(); ++d)
      if (d >= b.size() || both[d] != b[d]) both[d] = std::nullopt;
    return both;
  }

  // Both ways are walked; of what they leave the larger counts.
  void branch(const step::Branch& branch) {
    const auto way = [&](const StepList& steps, const ValueTree& value) {
      list(steps);
      std::vector<std::pair<LeafFacts, std::int64_t>> left;
      for_each_leaf(value, [&](const ValueTree& leaf) {
        LeafFacts& facts = places_[leaf.place];
        left.emplace_back(facts, facts.storage == no_storage ? 0 : storages_[facts.storage].bytes);
        release(facts);
      });
      return left;
    };
    const auto then = way(branch.then, branch.then_value);
    const auto otherwise = way(branch.otherwise, branch.otherwise_value);
    std::size_t next = 0;
    for_each_leaf(branch.result, [&](const ValueTree& leaf) {
      if (next >= then.size() || next >= otherwise.size()) return;
      const auto& [a, a_bytes] = then[next];
      const auto& [b, b_bytes] = otherwise[next];
      ++next;
      LeafFacts& facts = places_[leaf.place];
      facts = {.made = true, .dims = joined(a.dims, b.dims)};
      if (a.integer == b.integer) facts.integer = a.integer;
      if (leaf.has_storage()) facts.storage = new_storage(std::max(a_bytes, b_bytes), true);
    });
  }

  // One round tells what all do: a value that is carried has one size, or one that is not known.
  void loop(const step::Loop& loop) {
    const std::vector<LeafFacts> initial = leaves(loop.initial);
    std::size_t next = 0;
    for_each_leaf(loop.carried, [&](const ValueTree& leaf) {
      places_[leaf.place] = initial.at(next++);
      places_[leaf.place].integer.reset();  // another one in each round
    });
    if (loop.range) sizes_.erase(loop.range->index.id());
    list(loop.condition);
    list(loop.body);
    const std::vector<LeafFacts> last = leaves(loop.next);
    next = 0;
    for_each_leaf(loop.result, [&](const ValueTree& leaf) {
      LeafFacts& facts = places_[leaf.place];
      facts = last.at(next);
      facts.dims = joined(facts.dims, initial.at(next).dims);
      facts.integer.reset();
      ++next;
    });
  }

  FootprintProgram& program_;
  const FunctionSteps& steps_;
  std::vector<LeafFacts> places_;
  std::vector<Storage> storages_;                          // those of the arguments first
  std::unordered_map<std::uint64_t, std::int64_t> sizes_;  // of symbols, by id
  std::int64_t current_ = 0, own_highest_ = 0;             // tensors with memory of their own
  std::int64_t scratch_ = 0, scratch_highest_ = 0;         // arenas and buffers
  std::int64_t highest_ = 0;                               // of both together
  std::int64_t arena_ = 0, inner_arena_ = 0;
};

std::string key_of(const Function& function, const LeafList& args, const step::Donated& donated) {
  std::string key = function.name;
  for (const bool given : donated) key += given ? '+' : '-';
  for (const LeafFacts& leaf : args.leaves) {
    key += fmt::format("|{}", static_cast<std::int64_t>(leaf.storage));
    if (leaf.storage != no_storage) {
      const Storage& storage = args.storages[leaf.storage];
      key += storage.own ? (storage.owners == 1 ? "o" : "s") : "g";
    }
    for (const Size& dim : leaf.dims) key += fmt::format(" {}", dim.value_or(-1));
    if (leaf.integer) key += fmt::format("={}", *leaf.integer);
  }
  return key;
}

}  // namespace

void FootprintProgram::add(std::size_t number, Footprint::Part part) {
  const auto [place, fresh] = parts.try_emplace({part.function, number}, found.parts.size());
  if (fresh)
    found.parts.push_back(std::move(part));
  else if (found.parts[place->second].bytes < part.bytes)
    found.parts[place->second] = std::move(part);
}

CallFacts facts_of_call(FootprintProgram& program, const Function& function, const LeafList& args,
                        const step::Donated& donated) {
  const std::string key = key_of(function, args, donated);
  if (const auto known = program.calls.find(key); known != program.calls.end()) return known->second;
  if (!program.entered.insert(&function).second) {
    program.found.complete = false;  // how deep it goes only the run shows
    return {};
  }
  CallFacts facts = FunctionWalk(program, program.steps.of(function, donated)).run(args);
  program.entered.erase(&function);
  return program.calls.emplace(key, std::move(facts)).first->second;
}

}  // namespace relish::jit
