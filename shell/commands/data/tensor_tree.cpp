// Names are put into a tree of nodes, which become values from the leaves up. A form is a JSON value: a leaf
// is null, a container an object of its kind, as {"tuple": [null, {"list": []}]} and
// {"dict": [["states", {"tuple": 2}], "w"]}, where leaves alone are their number or their name.
#include "shell/commands/data/tensor_tree.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "support/failure.h"
#include "support/render.h"

namespace relish {
namespace {

using Form = nlohmann::ordered_json;

constexpr int most_levels = 256;  // of names

bool is_leaf(const ScriptValue& value) { return !value.dictionary() && !value.sequence(); }

std::string below(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

class FormWriter {
 public:
  Form form(const ScriptValue& value, int levels) {
    needed_ |= levels == most_levels;
    const ScriptDict* dict = value.dictionary();
    const ScriptList* list = value.sequence();
    needed_ |= dict ? dict->items.empty() && levels > 0 : !list->tuple || list->items.empty();
    if (list && std::all_of(list->items.begin(), list->items.end(), is_leaf))
      return Form{{list->tuple ? "tuple" : "list", list->items.size()}};
    Form items = Form::array();
    if (list) {
      for (const ScriptValue& item : list->items)
        items.push_back(is_leaf(item) ? Form() : form(item, levels + 1));
      return Form{{list->tuple ? "tuple" : "list", std::move(items)}};
    }
    bool places = !dict->items.empty();
    for (std::size_t i = 0; i < dict->items.size() && places; ++i)
      places = *dict->items[i].first.string() == std::to_string(i);
    needed_ |= places;
    for (const auto& [key, item] : dict->items) {
      const std::string& name = *key.string();
      needed_ |= name.find('.') != name.npos;
      items.push_back(is_leaf(item) ? Form(name) : Form::array({name, form(item, levels + 1)}));
    }
    return Form{{"dict", std::move(items)}};
  }

  bool needed() const { return needed_; }

 private:
  bool needed_ = false;
};

// The value of a form, each tensor of which is used once.
class FormReader {
 public:
  FormReader(const NamedTensors& tensors, Span span) : span_(span) {
    for (const auto& [name, tensor] : tensors) tensors_.emplace(name, &tensor);
  }

  ScriptValue value(const Form& form, const std::string& path, std::uint32_t levels) {
    if (form.is_null()) return leaf(path);
    if (form.is_string()) return leaf(form.get<std::string>());  // as forms were written before
    const bool container = form.is_object() && form.size() == 1 && levels < most_value_nesting;
    if (!container) refuse();
    const std::string kind = form.begin().key();
    if (kind == "dict") return dict(form.front(), path, levels);
    if (kind != "list" && kind != "tuple") refuse();
    std::vector<ScriptValue> items = sequence(form.front(), path, levels);
    return kind == "list" ? ScriptValue::list(std::move(items)) : ScriptValue::tuple(std::move(items));
  }

  void refuse_rest() const {
    if (!tensors_.empty()) refuse();
  }

 private:
  ScriptValue leaf(const std::string& path) {
    const auto found = tensors_.find(path);
    if (found == tensors_.end()) refuse();
    ScriptValue tensor(*found->second);
    tensors_.erase(found);
    return tensor;
  }

  ScriptValue dict(const Form& form, const std::string& path, std::uint32_t levels) {
    if (!form.is_array()) refuse();
    std::vector<std::pair<ScriptValue, ScriptValue>> items;
    for (const Form& item : form) {
      const bool pair = item.is_array() && item.size() == 2 && item[0].is_string();
      if (!pair && !item.is_string()) refuse();
      const std::string name = (pair ? item[0] : item).get<std::string>();
      ScriptValue held = pair ? value(item[1], below(path, name), levels + 1) : leaf(below(path, name));
      items.emplace_back(name, std::move(held));
    }
    return ScriptValue::dict(std::move(items));
  }

  std::vector<ScriptValue> sequence(const Form& form, const std::string& path, std::uint32_t levels) {
    std::vector<ScriptValue> items;
    if (form.is_number_unsigned()) {
      const auto count = form.get<std::uint64_t>();
      if (count > tensors_.size()) refuse();
      for (std::uint64_t i = 0; i < count; ++i) items.push_back(leaf(below(path, std::to_string(i))));
      return items;
    }
    if (!form.is_array()) refuse();
    for (std::size_t i = 0; i < form.size(); ++i)
      items.push_back(value(form[i], below(path, std::to_string(i)), levels + 1));
    return items;
  }

  [[noreturn]] void refuse() const {
    fail(ErrorClass::Data, span_, "load.form",
         fmt::format("load: the form of the tree ('{}' of the file) is not of its tensors; leave out tree",
                     tree_form_key));
  }

  std::map<std::string, const Tensor*, std::less<>> tensors_;
  Span span_;
};

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

std::string form_of_tree(const ScriptValue& tree) {
  if (is_leaf(tree)) return {};
  if (const ScriptDict* dict = tree.dictionary()) {
    const auto item_is_leaf = [](const auto& item) { return is_leaf(item.second); };
    if (std::all_of(dict->items.begin(), dict->items.end(), item_is_leaf)) return {};
  }
  FormWriter writer;
  const Form form = writer.form(tree, 0);
  return writer.needed() ? form.dump(-1, ' ', false, Form::error_handler_t::replace) : std::string();
}

ScriptValue tree_of_form(const NamedTensors& tensors, std::string_view form, Span span) {
  FormReader reader(tensors, span);
  const ScriptValue tree = reader.value(Form::parse(form, nullptr, false), "", 0);
  reader.refuse_rest();
  return tree;
}

ScriptValue tree_of_tensors(NamedTensors tensors, Span span) {
  TreeNode root;
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
