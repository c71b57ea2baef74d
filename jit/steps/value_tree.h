// How a value of a graph function is laid out in compiled code: a tree whose leaves are tensors, shapes,
// scalars and boxes. Each leaf has a place of its function, by number; tuples and aliases cost nothing when
// it runs, since they are resolved before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/nodes/type.h"

namespace relish::jit {

struct ValueTree {
  // A BoxLeaf is a value whose make only the run shows: of type R.Any, a function, a stack, a storage, a
  // tensor or a shape of unknown rank.
  enum Kind : std::uint8_t { TensorLeaf, ShapeLeaf, ScalarLeaf, TextLeaf, BoxLeaf, Tuple } kind = Tuple;
  DType dtype = DType::Float32;  // of tensor and scalar leaves
  int rank = 0;                  // of tensor and shape leaves
  std::size_t place = 0;         // of all leaves but texts
  std::string text;              // of a text leaf
  std::vector<ValueTree> fields;

  // Whether it has an address: of elements, or of a value that the program keeps for compiled code.
  bool has_storage() const { return kind == TensorLeaf || kind == BoxLeaf; }
  bool is_leaf() const { return kind != Tuple; }
};

// Slots of 8 bytes that a value takes in an argument or result list: a tensor its address and dims, a shape
// its dims, a scalar and a box one; text none.
std::size_t slot_count(const ValueTree& tree);
std::size_t slot_count(const std::vector<ValueTree>& trees);

// Calls `visit` for every leaf that has a place, in the order of slots.
template <class F>
void for_each_leaf(const ValueTree& tree, const F& visit) {
  if (tree.is_leaf() && tree.kind != ValueTree::TextLeaf) visit(tree);
  for (const ValueTree& field : tree.fields) for_each_leaf(field, visit);
}

// Whether values of the type travel in boxes.
bool is_boxed(const Type& type);
// The tree of a type; `place_of` gives each leaf, otherwise complete, its place.
ValueTree tree_of(const Type& type, const std::function<std::size_t(const ValueTree& leaf)>& place_of);
// Whether a value of the tree must be boxed or taken out of its box to be one of the type, or cannot be one
// at all, which the conversion then says when it runs. Of a tuple: as a whole, not field by field.
bool needs_conversion(const ValueTree& from, const Type& type);
// Whether a value of the tree is made as one of the type, as far as this is known without its sizes: what is
// in boxes is.
bool is_made_as(const ValueTree& tree, const Type& type);
// Whether it is in a box, or holds a box, of which the type says something.
bool has_box_of(const ValueTree& tree, const Type& type);

}  // namespace relish::jit
