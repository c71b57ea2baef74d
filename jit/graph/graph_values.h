// What the values of a graph function are made of, before any code: a tree of leaves for each variable, and
// for each tensor leaf the storage that holds it. Tuples and aliases cost nothing at run time because they
// are resolved here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/calls/call_layout.h"
#include "ir/nodes/module.h"
#include "transform/lift_bodies.h"

namespace relish::jit {

// Storage of tensor elements, or of a boxed value.
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
  bool boxed = false;    // a handle of a value that the program keeps for compiled code
};

struct ValueTree {
  // A BoxLeaf is a value whose make only the run shows: of type R.Any, a function, a stack, a storage, a
  // tensor or a shape of unknown rank.
  enum Kind { TensorLeaf, ShapeLeaf, ScalarLeaf, TextLeaf, BoxLeaf, Tuple } kind = Tuple;
  std::size_t storage = 0;       // of a tensor leaf or a box
  int rank = 0;                  // of tensor and shape leaves
  DType dtype = DType::Float32;  // of tensor and scalar leaves
  std::string text;              // of a text leaf
  std::vector<ValueTree> fields;

  bool has_storage() const { return kind == TensorLeaf || kind == BoxLeaf; }
};

// Slots of 8 bytes that a value takes in an argument or result list: a tensor its address and dims, a shape
// its dims, a scalar and a box one; text none.
std::size_t slot_count(const ValueTree& tree);

// The analysed values of one function.
struct GraphValues {
  std::vector<Storage> storages;
  std::vector<ValueTree> params;
  std::unordered_map<std::uint64_t, ValueTree> vars;               // by variable id
  std::map<std::pair<const void*, Shape>, std::size_t> constants;  // the first storage, by memory and shape
  ValueTree result;
  // By binding position: storages that the binding makes, in order of its results; then copies of arguments
  // that a prim_func overwrites.
  std::vector<std::vector<std::size_t>> made;
  std::vector<ValueTree> bound;  // by binding position: the tree of its value
  // By binding position, the result's last: the trees of values that are boxed or taken out of their boxes
  // there, in the order in which they are used.
  std::vector<std::vector<ValueTree>> converted;
  // Each tensor of the result is made for the caller alone (LiftedFunction).
  bool owns_results = false;
};

// Analyses a legalized function with lifted bodies; `callee` gives the values of a Relax function that it
// calls. TypeError for what is not compiled.
using CalleeValues = std::function<const GraphValues*(const Function&)>;
// The text of a string or dtype literal.
std::string text_of(const Expr& literal);
// The symbol of the native function that a packed call names; none when the callee is a value.
std::optional<std::string> packed_symbol(const Module& module, const Expr& callee);

GraphValues analyse(const LiftedModule& lifted, const Function& function, const CalleeValues& callee);

// Whether values of the type travel in boxes.
bool is_boxed(const Type& type);
// The tree of a type; tensor leaves and boxes (null) get storages from `make_storage`.
ValueTree tree_of(const Type& type, const std::function<std::size_t(const TensorType*)>& make_storage);
// Whether a value of the tree must be boxed or taken out of its box to be one of the type, or cannot be one
// at all, which the conversion then says when it runs.
bool needs_conversion(const ValueTree& from, const Type& type);
// Whether a value of the tree is made as one of the type, as far as this is known without its sizes: what is
// in boxes is.
bool is_made_as(const ValueTree& tree, const Type& type);
// Whether it is in a box, or holds a box, of which the type says something.
bool has_box_of(const ValueTree& tree, const Type& type);
// `from` as a value of `type`: what must be converted is, which `convert` does for the two trees' leaves, in
// order.
ValueTree converted_tree(const ValueTree& from, const Type& type,
                         const std::function<ValueTree(const ValueTree& from, const Type& type)>& convert);

// The parameter that takes argument number `argument` of a call_tir, and what the argument must be: `given`
// where none takes it.
const PrimParam* taking(const PrimFunc& callee, const std::vector<ParamSource>& layout, std::size_t argument);
Type argument_type(const PrimFunc& callee, const std::vector<ParamSource>& layout, std::size_t argument,
                   const Type& given);
// What the condition of an if or a while is taken as: a 0-d bool tensor, or else a bool scalar.
Type condition_type(const Type& given);

}  // namespace relish::jit
