// The account of memory of one function: its steps in order, with the sizes that a call gives it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "jit/footprint.h"
#include "jit/steps/program_steps.h"

namespace relish::jit {

using Size = std::optional<std::int64_t>;  // none: only the run shows it

// Memory of a tensor or a box.
struct Storage {
  std::int64_t bytes = 0;
  int owners = 1;
  bool own = false;  // made by compiled code, which can share it; what is not is copied for another owner
};
inline constexpr std::size_t no_storage = static_cast<std::size_t>(-1);

// What is known of a leaf of a value: dims of a tensor or a shape, the value of an integer, its storage.
struct LeafFacts {
  bool made = false;
  std::vector<Size> dims = {};
  Size integer = {};
  std::size_t storage = no_storage;
};

// What calls of a function with such arguments do.
struct CallFacts {
  // Above what is held when it is entered: together, of tensors with memory of their own, and of scratch
  // memory. What was reached of this stays held, so that the sum may be reached after it was needed.
  std::int64_t peak = 0, own_peak = 0, scratch = 0;
  std::int64_t arena = 0;               // its own and its callees'
  std::vector<LeafFacts> results = {};  // storages: of arguments by their number, others behind those
  std::vector<std::int64_t> made = {};  // bytes of those others
};

// Of one call of the whole: what all functions in it share.
struct FootprintProgram {
  ProgramSteps& steps;
  int threads;
  Footprint& found;
  std::map<std::string, CallFacts> calls = {};                            // by function and arguments
  std::unordered_set<const Function*> entered = {};                       // to see recursion
  std::unordered_set<const void*> constants = {};                         // by address
  std::map<std::pair<std::string, std::size_t>, std::size_t> parts = {};  // in found, by function and number
  std::map<std::string, std::int64_t> kernels = {};                       // bytes by kernel and sizes

  // Of what has several sizes in its life, the largest is told.
  void add(std::size_t number, Footprint::Part part);
};

// The facts of leaves in the order of for_each_leaf, with the storages that they name.
struct LeafList {
  std::vector<LeafFacts> leaves;
  std::vector<Storage> storages;
};

// `donated`: the leaves of the arguments that the caller gives up.
CallFacts facts_of_call(FootprintProgram& program, const Function& function, const LeafList& args,
                        const step::Donated& donated);

}  // namespace relish::jit
