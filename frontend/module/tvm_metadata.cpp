// Object graphs to tensors. Nothing here trusts the text: every index, length and kind is looked at.
#include "frontend/module/tvm_metadata.h"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/base64.h"
#include "support/failure.h"

namespace relish {
namespace {

using Json = nlohmann::json;

constexpr std::string_view constant_kind = "relax.expr.Constant";
// The head of a tensor: magic, reserved, device type and id, rank, dtype code, bits, lanes.
constexpr std::uint64_t tensor_magic = 0xDD5E40F096B4A13F;
constexpr std::size_t head_bytes = 8 + 8 + 4 + 4 + 4 + 1 + 1 + 2;

// "Map" of old texts, "ffi.Map" of new ones.
bool is_kind(const std::string& kind, std::string_view name) {
  return kind == name ||
         (kind.size() > name.size() && kind.ends_with(name) && kind[kind.size() - name.size() - 1] == '.');
}

std::optional<DType> dtype_of(std::uint8_t code, std::uint8_t bits) {
  switch (code) {
    case 0:
      return dtype_from_name(fmt::format("int{}", bits));
    case 1:
      return bits == 1 ? DType::Bool : dtype_from_name(fmt::format("uint{}", bits));
    case 2:
      return dtype_from_name(fmt::format("float{}", bits));
    case 4:
      return dtype_from_name(fmt::format("bfloat{}", bits));
    case 6:
      return bits == 8 ? std::optional(DType::Bool) : std::nullopt;
    default:
      return std::nullopt;
  }
}

template <class T>
T take(const std::string& bytes, std::size_t& at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

class GraphReader {
 public:
  GraphReader(std::string_view text, Span span) : span_(span), graph_(Json::parse(text, nullptr, false)) {
    if (graph_.is_discarded()) refuse("found text that is no JSON; expected what TVM writes");
    if (!graph_.is_object() || !graph_.contains("nodes") || !graph_["nodes"].is_array())
      refuse("found JSON without the list 'nodes'; expected an object graph of TVM");
  }

  std::vector<Tensor> constants() {
    const char* root = graph_.contains("root_index") ? "root_index" : "root";
    if (!graph_.contains(root)) refuse("found an object graph without a root");
    const Json& kinds = node(graph_[root]);
    if (!is_kind(kind_of(kinds), "Map")) refuse("found an object graph whose root is no map");
    const Json* list = entry(kinds, constant_kind);
    if (!list) return {};
    if (!is_kind(kind_of(*list), "Array")) refuse("found constants that are no list");
    std::vector<Tensor> tensors;
    for (const Json& index : data_of(*list)) tensors.push_back(constant(node(index), tensors.size()));
    return tensors;
  }

 private:
  [[noreturn]] void refuse(std::string message) const {
    fail(ErrorClass::Syntax, span_, "metadata.json", std::move(message));
  }

  // A node's number, which old texts write as a string in attributes.
  std::size_t index_of(const Json& json, std::size_t size) const {
    std::uint64_t index = std::numeric_limits<std::uint64_t>::max();
    if (json.is_number_unsigned()) {
      index = json.get<std::uint64_t>();
    } else if (json.is_string()) {
      const std::string& text = json.get_ref<const std::string&>();
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
      if (error != std::errc() || end != text.data() + text.size())
        index = std::numeric_limits<std::uint64_t>::max();
    }
    if (index >= size)
      refuse(fmt::format("found a reference {} in an object graph of {} entries", json.dump(), size));
    return static_cast<std::size_t>(index);
  }

  const Json& node(const Json& index) const {
    const Json& nodes = graph_["nodes"];
    const Json& found = nodes[index_of(index, nodes.size())];
    if (!found.is_object()) refuse("found a node of an object graph that is no object");
    return found;
  }

  static std::string kind_of(const Json& node) {
    const char* key = node.contains("type_key") ? "type_key" : "type";
    return node.contains(key) && node[key].is_string() ? node[key].get<std::string>() : std::string();
  }

  const Json& data_of(const Json& node) const {
    if (!node.contains("data") || !node["data"].is_array())
      refuse("found a container without data in an object graph");
    return node["data"];
  }

  // The value of a map under a key that is a string: keys beside the data, or both in turn among it.
  const Json* entry(const Json& map, std::string_view key) const {
    const Json& data = data_of(map);
    if (map.contains("keys")) {
      const Json& keys = map["keys"];
      for (std::size_t i = 0; keys.is_array() && i < keys.size() && i < data.size(); ++i)
        if (keys[i].is_string() && keys[i].get_ref<const std::string&>() == key) return &node(data[i]);
      return nullptr;
    }
    for (std::size_t i = 0; i + 1 < data.size(); i += 2) {
      const Json& name = node(data[i]);
      if (name.contains("data") && name["data"].is_string() &&
          name["data"].get_ref<const std::string&>() == key)
        return &node(data[i + 1]);
    }
    return nullptr;
  }

  Tensor constant(const Json& node, std::size_t number) {
    const bool old = node.contains("attrs");
    const Json empty = Json::object();
    const Json& fields = old ? node["attrs"] : node.contains("data") ? node["data"] : empty;
    if (kind_of(node) != constant_kind || !fields.is_object() || !fields.contains("data"))
      refuse(fmt::format("found another object in place of constant {}", number));
    const Json* text = nullptr;
    if (old) {
      const Json blobs = Json::array();
      const Json& list = graph_.contains("b64ndarrays") ? graph_["b64ndarrays"] : blobs;
      if (!list.is_array()) refuse("found 'b64ndarrays' that is no list");
      text = &list[index_of(fields["data"], list.size())];
      return tensor(*text, number);
    }
    const Json& holder = this->node(fields["data"]);
    if (!holder.contains("data")) refuse(fmt::format("found no data of constant {}", number));
    return tensor(holder["data"], number);
  }

  Tensor tensor(const Json& text, std::size_t number) {
    const auto damaged = [&](std::string_view what) {
      fail(ErrorClass::Syntax, span_, "metadata.tensor",
           fmt::format("the data of constant {} in the metadata {}", number, what));
    };
    if (!text.is_string()) damaged("is no string");
    const std::string& base64 = text.get_ref<const std::string&>();
    std::string bytes(base64_bytes(base64), '\0');
    Base64Reader reader(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size());
    if (!reader.read(base64) || !reader.done()) damaged("is no base64");
    std::size_t at = 0;
    if (bytes.size() < head_bytes || take<std::uint64_t>(bytes, at) != tensor_magic)
      damaged("does not begin as a tensor of TVM");
    at += 8 + 4 + 4;  // reserved, device
    const auto rank = take<std::int32_t>(bytes, at);
    const auto code = take<std::uint8_t>(bytes, at);
    const auto bits = take<std::uint8_t>(bytes, at);
    const auto lanes = take<std::uint16_t>(bytes, at);
    const std::optional<DType> dtype = dtype_of(code, bits);
    if (!dtype || lanes != 1)
      damaged(
          fmt::format("has a dtype of code {}, {} bits and {} lanes, which is not read", code, bits, lanes));
    const std::size_t left = bytes.size() - at;
    if (rank < 0 || left < 8 || static_cast<std::size_t>(rank) > (left - 8) / 8) damaged("ends in its shape");
    Shape shape;
    std::int64_t wanted = size_of(*dtype);
    bool fits = true;
    for (std::int32_t i = 0; i < rank; ++i) {
      shape.push_back(take<std::int64_t>(bytes, at));
      fits = fits && shape.back() >= 0 && !__builtin_mul_overflow(wanted, shape.back(), &wanted);
    }
    const auto size = take<std::int64_t>(bytes, at);
    if (!fits || size != wanted || static_cast<std::uint64_t>(size) != bytes.size() - at)
      damaged("has not the length of its shape");
    Tensor result = Tensor::empty(*dtype, shape);
    if (size > 0) std::memcpy(result.mutable_data(), bytes.data() + at, static_cast<std::size_t>(size));
    return result;
  }

  Span span_;
  Json graph_;
};

}  // namespace

const ast::StringValue* tvm_metadata(const ast::Statement& statement) {
  const auto* assignment = statement.as<ast::Assignment>();
  if (!assignment || assignment->targets.size() != 1 || !assignment->value) return nullptr;
  const std::string* name = ast::name_of(*assignment->targets[0]);
  const auto* call = assignment->value->as<ast::Call>();
  if (!name || (*name != "metadata" && *name != "meta") || !call || call->arguments.size() != 1)
    return nullptr;
  const std::string callee = ast::dotted_name(*call->callee);
  if (callee != "load_json" && !callee.ends_with(".load_json")) return nullptr;
  return call->arguments[0].name.empty() ? call->arguments[0].value->as<ast::StringValue>() : nullptr;
}

std::vector<Tensor> read_tvm_metadata(std::string_view json, Span span) {
  return GraphReader(json, span).constants();
}

}  // namespace relish
