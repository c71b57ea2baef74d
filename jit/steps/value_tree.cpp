// Trees of values, and what types say of them.
#include "jit/steps/value_tree.h"

namespace relish::jit {

std::size_t slot_count(const ValueTree& tree) {
  switch (tree.kind) {
    case ValueTree::TensorLeaf:
      return 1 + static_cast<std::size_t>(tree.rank);
    case ValueTree::ShapeLeaf:
      return static_cast<std::size_t>(tree.rank);
    case ValueTree::ScalarLeaf:
    case ValueTree::BoxLeaf:
      return 1;
    case ValueTree::TextLeaf:
      return 0;
    case ValueTree::Tuple:
      break;
  }
  std::size_t count = 0;
  for (const ValueTree& field : tree.fields) count += slot_count(field);
  return count;
}

std::size_t slot_count(const std::vector<ValueTree>& trees) {
  std::size_t count = 0;
  for (const ValueTree& tree : trees) count += slot_count(tree);
  return count;
}

bool is_boxed(const Type& type) {
  if (const TensorType* tensor = type.tensor()) return !tensor->dtype || (!tensor->shape && tensor->rank < 0);
  if (const auto* shape = type.as<ShapeType>()) return !shape->dims && shape->rank < 0;
  // A text that is no literal is known when it is there.
  return !type.as<ScalarType>() && !type.tuple();
}

ValueTree tree_of(const Type& type, const std::function<std::size_t(const ValueTree& leaf)>& place_of) {
  ValueTree tree;
  if (const TupleType* fields = type.tuple()) {
    for (const Type& field : fields->fields) tree.fields.push_back(tree_of(field, place_of));
    return tree;
  }
  if (is_boxed(type)) {
    tree.kind = ValueTree::BoxLeaf;
  } else if (const TensorType* tensor = type.tensor()) {
    tree.kind = ValueTree::TensorLeaf;
    tree.rank = tensor->shape ? static_cast<int>(tensor->shape->size()) : tensor->rank;
    tree.dtype = *tensor->dtype;
  } else if (const auto* shape = type.as<ShapeType>()) {
    tree.kind = ValueTree::ShapeLeaf;
    tree.rank = shape->dims ? static_cast<int>(shape->dims->size()) : shape->rank;
  } else {
    tree.kind = ValueTree::ScalarLeaf;
    tree.dtype = type.as<ScalarType>()->dtype;
  }
  tree.place = place_of(tree);
  return tree;
}

bool needs_conversion(const ValueTree& from, const Type& type) {
  if (is_boxed(type)) return from.kind != ValueTree::BoxLeaf;
  if (const TensorType* tensor = type.tensor()) {
    const int rank = tensor->shape ? static_cast<int>(tensor->shape->size()) : tensor->rank;
    return from.kind != ValueTree::TensorLeaf || from.dtype != *tensor->dtype || from.rank != rank;
  }
  if (const auto* shape = type.as<ShapeType>()) {
    const int rank = shape->dims ? static_cast<int>(shape->dims->size()) : shape->rank;
    return from.kind != ValueTree::ShapeLeaf || from.rank != rank;
  }
  if (const auto* scalar = type.as<ScalarType>())
    return from.kind != ValueTree::ScalarLeaf || from.dtype != scalar->dtype;
  return from.kind != ValueTree::Tuple || type.tuple()->fields.size() != from.fields.size();
}

bool is_made_as(const ValueTree& tree, const Type& type) {
  if (tree.kind == ValueTree::BoxLeaf || type.as<AnyType>()) return true;
  if (needs_conversion(tree, type)) return false;
  const TupleType* tuple = type.tuple();
  for (std::size_t i = 0; i < tree.fields.size(); ++i)
    if (!is_made_as(tree.fields[i], tuple->fields[i])) return false;
  return true;
}

bool has_box_of(const ValueTree& tree, const Type& type) {
  if (tree.kind == ValueTree::BoxLeaf) return !type.as<AnyType>();
  const TupleType* tuple = type.tuple();
  if (!tuple || tuple->fields.size() != tree.fields.size()) return false;
  for (std::size_t i = 0; i < tree.fields.size(); ++i)
    if (has_box_of(tree.fields[i], tuple->fields[i])) return true;
  return false;
}

}  // namespace relish::jit
