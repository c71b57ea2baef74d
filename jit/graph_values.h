// What the values of a graph function are made of, before any code: a tree of leaves for each variable, and
// for each tensor leaf the storage that holds it. Tuples and aliases cost nothing at run time because they
// are resolved here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/module.h"

namespace relish::jit {

// Storage of tensor elements.
struct Storage {
  enum Kind {
    Param,      // of a tensor argument; `param` numbers the tensor leaves of the parameters
    Constant,   // a constant of the program
    Temporary,  // made by a call_tir of this function
    Returned,   // made by a called function, a branch, a loop or the runtime
  } kind = Temporary;
  DType dtype = DType::Float32;
  std::vector<Scalar> dims;  // of a Temporary: as its type says
  std::size_t param = 0;
  Tensor constant;
  std::int64_t made = 0;  // position of the binding
  std::int64_t last_use = 0;
  bool escapes = false;  // part of the function's result
};

struct ValueTree {
  enum Kind { TensorLeaf, ShapeLeaf, ScalarLeaf, TextLeaf, Tuple } kind = Tuple;
  std::size_t storage = 0;       // of a tensor leaf
  int rank = 0;                  // of tensor and shape leaves
  DType dtype = DType::Float32;  // of tensor and scalar leaves
  std::string text;              // of a text leaf
  std::vector<ValueTree> fields;
};

// Slots of 8 bytes that a value takes in an argument or result list: a tensor its address and dims, a shape
// its dims, a scalar one; text none.
std::size_t slot_count(const ValueTree& tree);

// The analysed values of one function.
struct GraphValues {
  std::vector<Storage> storages;
  std::vector<ValueTree> params;
  std::unordered_map<std::uint64_t, ValueTree> vars;  // by variable id
  ValueTree result;
  // By binding position: storages that the binding makes, in order of its results; then copies of arguments
  // that a prim_func overwrites.
  std::vector<std::vector<std::size_t>> made;
  std::vector<ValueTree> bound;  // by binding position: the tree of its value
  // Each tensor of the result is made for the caller alone (the function has the attribute owns_results).
  bool owns_results = false;
};

// Analyses a legalized function with lifted bodies; `callee` gives the values of a Relax function that it
// calls. TypeError for what is not compiled: unknown rank or dtype, function
// values.
using CalleeValues = std::function<const GraphValues*(const Function&)>;
// The text of a string or dtype literal.
std::string text_of(const Expr& literal);
// The symbol of the native function that a packed call names; none when the callee is a value.
std::optional<std::string> packed_symbol(const Module& module, const Expr& callee);

GraphValues analyse(const Module& module, const Function& function, const CalleeValues& callee);

// The tree of a type; tensor leaves get storages from `make_storage`.
ValueTree tree_of(const Type& type, Span span,
                  const std::function<std::size_t(const TensorType&)>& make_storage);

}  // namespace relish::jit
