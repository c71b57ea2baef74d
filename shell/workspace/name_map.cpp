// A treap whose priorities are hashes of the names: the same names make the same tree, whatever order they
// came in.
#include "shell/workspace/name_map.h"

#include <cstring>
#include <utility>

#include "shell/script/unread_value.h"

namespace relish {

struct NameMap::Node {
  std::string name;
  ScriptValue value;
  std::size_t priority;
  NodePtr left, right;
};

namespace {

using MapNode = NameMap::Node;
using NodePtr = NameMap::NodePtr;

// Which of two names stands higher; ties of the hash are broken by the names, so the shape stays unique.
bool above(const MapNode& a, const MapNode& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.name < b.name;
}

NodePtr rebuilt(const MapNode& node, NodePtr left, NodePtr right) {
  return std::make_shared<const MapNode>(
      MapNode{node.name, node.value, node.priority, std::move(left), std::move(right)});
}

const MapNode* node_of(const NodePtr& root, std::string_view name) {
  const MapNode* at = root.get();
  while (at && at->name != name) at = (name < at->name ? at->left : at->right).get();
  return at;
}

// The parts of the tree before and behind the name, which is in neither.
std::pair<NodePtr, NodePtr> split(const NodePtr& root, std::string_view name) {
  if (!root) return {};
  if (root->name == name) return {root->left, root->right};
  if (name < root->name) {
    auto [before, behind] = split(root->left, name);
    return {std::move(before), rebuilt(*root, std::move(behind), root->right)};
  }
  auto [before, behind] = split(root->right, name);
  return {rebuilt(*root, root->left, std::move(before)), std::move(behind)};
}

NodePtr merged(const NodePtr& before, const NodePtr& behind) {
  if (!before) return behind;
  if (!behind) return before;
  if (above(*before, *behind)) return rebuilt(*before, before->left, merged(before->right, behind));
  return rebuilt(*behind, merged(before, behind->left), behind->right);
}

// The tree with a node that it may have under that name already.
NodePtr inserted(const NodePtr& root, const MapNode& node) {
  if (!root || (above(node, *root) && node.name != root->name)) {
    auto [before, behind] = split(root, node.name);
    return rebuilt(node, std::move(before), std::move(behind));
  }
  if (node.name == root->name) return rebuilt(node, root->left, root->right);
  if (node.name < root->name) return rebuilt(*root, inserted(root->left, node), root->right);
  return rebuilt(*root, root->left, inserted(root->right, node));
}

NodePtr removed(const NodePtr& root, std::string_view name) {
  if (root->name == name) return merged(root->left, root->right);
  if (name < root->name) return rebuilt(*root, removed(root->left, name), root->right);
  return rebuilt(*root, root->left, removed(root->right, name));
}

void walk(const NodePtr& root,
          const std::function<void(const std::string& name, const ScriptValue& value)>& visit) {
  if (!root) return;
  walk(root->left, visit);
  visit(root->name, root->value);
  walk(root->right, visit);
}

void walk_differences(const NodePtr& here, const NodePtr& there, const NameMap::Difference& visit) {
  if (here == there) return;
  if (!here || !there) {
    walk(here ? here : there, [&](const std::string& name, const ScriptValue& value) {
      visit(name, here ? &value : nullptr, here ? nullptr : &value);
    });
    return;
  }
  // Around the name that stands highest in either.
  const bool here_leads = here->name == there->name || above(*here, *there);
  const MapNode& top = here_leads ? *here : *there;
  const auto [here_before, here_behind] = split(here, top.name);
  const auto [there_before, there_behind] = split(there, top.name);
  walk_differences(here_before, there_before, visit);
  const MapNode* own = node_of(here, top.name);
  const MapNode* other = node_of(there, top.name);
  if (!own || !other || !is_same_value(own->value, other->value))
    visit(top.name, own ? &own->value : nullptr, other ? &other->value : nullptr);
  walk_differences(here_behind, there_behind, visit);
}

void walk_unseen(const NodePtr& root, NameMap::Seen& seen,
                 const std::function<void(const ScriptValue& value)>& visit) {
  if (!root || !seen.insert(root.get())) return;
  walk_unseen(root->left, seen, visit);
  visit(root->value);
  walk_unseen(root->right, seen, visit);
}

}  // namespace

const ScriptValue* NameMap::find(std::string_view name) const {
  const MapNode* node = node_of(root_, name);
  return node ? &node->value : nullptr;
}

NameMap NameMap::with(const std::string& name, ScriptValue value) const {
  NameMap result;
  result.size_ = size_ + (find(name) ? 0 : 1);
  result.root_ = inserted(root_, {name, std::move(value), std::hash<std::string>()(name), nullptr, nullptr});
  return result;
}

NameMap NameMap::without(std::string_view name) const {
  if (!find(name)) return *this;
  NameMap result;
  result.size_ = size_ - 1;
  result.root_ = removed(root_, name);
  return result;
}

void NameMap::for_each(
    const std::function<void(const std::string& name, const ScriptValue& value)>& visit) const {
  walk(root_, visit);
}

void NameMap::for_each_difference(const NameMap& other, const Difference& visit) const {
  walk_differences(root_, other.root_, visit);
}

void NameMap::for_each_unseen(Seen& seen, const std::function<void(const ScriptValue& value)>& visit) const {
  walk_unseen(root_, seen, visit);
}

bool is_same_value(const ScriptValue& first, const ScriptValue& second) {
  const ScriptValue& a = known_value(first);
  const ScriptValue& b = known_value(second);
  if (a.kind().index() != b.kind().index()) return false;
  return std::visit(
      [&]<class Held>(const Held& held) {
        const Held& other = *b.as<Held>();
        if constexpr (std::is_same_v<Held, double>) {
          return std::memcmp(&held, &other, sizeof held) == 0;  // NaN is itself, -0.0 is not 0.0
        } else if constexpr (std::is_same_v<Held, Tensor>) {
          return held.same_storage(other) && held.shape() == other.shape() && held.dtype() == other.dtype();
        } else if constexpr (std::is_same_v<Held, ShapeValue>) {
          return held.dims == other.dims;
        } else if constexpr (std::is_same_v<Held, ScriptRange>) {
          return held.begin == other.begin && held.end == other.end && held.step == other.step;
        } else if constexpr (std::is_same_v<Held, FunctionReference>) {
          return held.module == other.module && held.name == other.name;
        } else {
          return held == other;
        }
      },
      a.kind());
}

}  // namespace relish
