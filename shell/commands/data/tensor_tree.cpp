// Names are put into a tree of nodes, which become values from the leaves up.
#include "shell/commands/data/tensor_tree.h"

#include <map>
#include <memory>

#include "support/failure.h"
#include "support/render.h"

namespace relish {
namespace {

struct TreeNode {
  std::optional<Tensor> tensor;
  std::vector<std::string> order;  // of the children, as the file has them
  std::map<std::string, std::unique_ptr<TreeNode>> children;

  TreeNode& child(const std::string& name) {
    std::unique_ptr<TreeNode>& place = children[name];
    if (!place) {
      order.push_back(name);
      place = std::make_unique<TreeNode>();
    }
    return *place;
  }
};

ScriptValue value_of_node(TreeNode& node) {
  if (node.tensor) return std::move(*node.tensor);
  bool places = true;
  for (std::size_t i = 0; i < node.order.size() && places; ++i)
    places = node.children.contains(std::to_string(i));
  if (places) {
    std::vector<ScriptValue> items;
    for (std::size_t i = 0; i < node.order.size(); ++i)
      items.push_back(value_of_node(*node.children.at(std::to_string(i))));
    return ScriptValue::tuple(std::move(items));
  }
  std::vector<std::pair<ScriptValue, ScriptValue>> items;
  for (const std::string& name : node.order) items.emplace_back(name, value_of_node(*node.children.at(name)));
  return ScriptValue::dict(std::move(items));
}

}  // namespace

ScriptValue tree_of_tensors(NamedTensors tensors, Span span) {
  TreeNode root;
  constexpr int most_levels = 256;
  for (auto& [name, tensor] : tensors) {
    TreeNode* node = &root;
    int levels = 0;
    for (std::size_t at = 0; at <= name.size();) {
      const std::size_t end = std::min(name.find('.', at), name.size());
      if (node->tensor || ++levels > most_levels) break;
      node = &node->child(name.substr(at, end - at));
      at = end + 1;
    }
    if (node->tensor || !node->order.empty() || levels > most_levels) {
      fail(ErrorClass::Data, span, "load.tree",
           levels > most_levels
               ? fmt::format("load: the name '{}' has more than {} parts; leave out tree",
                             printable(name, 60), most_levels)
               : fmt::format("load: '{}' is a tensor beside others above or below it in the tree; leave out "
                             "tree",
                             printable(name, 60)));
    }
    node->tensor = std::move(tensor);
  }
  return value_of_node(root);
}

}  // namespace relish
