// Encoding of values.
#include "shell/workspace/saved/value_encoder.h"

#include <bit>
#include <cmath>

#include "ir/printer/printer.h"
#include "shell/script/unread_value.h"
#include "shell/workspace/saved/archive_lines.h"
#include "shell/workspace/value_statement.h"
#include "support/interrupt.h"
#include "support/value_text.h"

namespace relish {
namespace {

// A str of more bytes stands on a line of its own.
constexpr std::size_t most_inline_bytes = 256;

const void* handle_of(const GlobalFunction& function) {
  return std::visit([](const auto& held) -> const void* { return held.get(); }, function);
}

Json encoded_real(double value) {
  if (std::isfinite(value)) return Json(value);
  return Json{{"bits", fmt::format("{:016x}", std::bit_cast<std::uint64_t>(value))}};
}

// JSON holds texts in UTF-8.
bool fits_json(const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

Json encoded_text(const std::string& text) {
  if (fits_json(text)) return Json(text);
  std::string digits;
  for (const char c : text) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return Json{{"bytes", std::move(digits)}};
}

// What a module says besides its functions.
std::string head_of(Module module) {
  module.functions = {};
  return print(module);
}

}  // namespace

std::optional<Json> ValueEncoder::encode(const ScriptValue& held) {
  poll_interrupt();
  const ScriptValue& value = read_value(held);
  if (value.is_none()) return Json(nullptr);
  if (const auto* flag = value.as<bool>()) return Json(*flag);
  if (const auto* integer = value.as<std::int64_t>()) return Json(*integer);
  if (const auto* real = value.as<double>()) return encoded_real(*real);
  if (const std::string* text = value.string()) {
    if (text->size() <= most_inline_bytes) return encoded_text(*text);
    lines_ += line_text("part", parts_, Json{{"text", encoded_text(*text)}}.dump());
    return Json{{"part", parts_++}};
  }
  if (const auto* shape = value.as<ShapeValue>()) return Json{{"shape", shape->dims}};
  if (const auto* range = value.as<ScriptRange>())
    return Json{{"range", {range->begin, range->end, range->step}}};
  if (const Tensor* tensor = value.tensor()) return Json{{"tensor", tensor_number(*tensor)}};
  if (const auto* module = value.as<ModulePtr>()) return Json{{"module", module_number(*module)}};
  if (const auto* function = value.as<FunctionReference>()) {
    return Json{{"function", function->name}, {"of", module_number(function->module)}};
  }
  if (const ScriptFunction* function = value.script_function()) return encode_function(*function);
  if (value.sequence() || value.dictionary()) return encode_items(value);
  return std::nullopt;
}

std::optional<Json> ValueEncoder::encode_items(const ScriptValue& value) {
  const ScriptList* list = value.sequence();
  const ScriptDict* dict = value.dictionary();
  const void* place = list ? static_cast<const void*>(list) : dict;
  if (const auto known = part_of_.find(place); known != part_of_.end()) return Json{{"part", known->second}};
  Json items = Json::array();
  const auto add = [&](const ScriptValue& item) {
    auto encoded = encode(item);
    if (encoded) items.push_back(std::move(*encoded));
    return encoded.has_value();
  };
  if (list) {
    for (const ScriptValue& item : list->items)
      if (!add(item)) return std::nullopt;
  } else {
    for (const auto& [key, item] : dict->items)
      if (!add(key) || !add(item)) return std::nullopt;
  }
  const char* kind = dict ? "dict" : list->tuple ? "tuple" : "list";
  lines_ += line_text("part", parts_, Json{{kind, std::move(items)}}.dump());
  part_of_[place] = parts_;
  return Json{{"part", parts_++}};
}

std::optional<Json> ValueEncoder::encode_function(const ScriptFunction& function) {
  if (function.method) {
    const auto self = encode(function.self);
    if (!self) return std::nullopt;
    return Json{{"method", function.name}, {"self", *self}};
  }
  const auto [name, text] = statement_of_function(function);
  if (text.empty() || !fits_json(text)) return std::nullopt;
  return Json{{"def", text}, {"name", name}};
}

std::size_t ValueEncoder::tensor_number(const Tensor& tensor) {
  std::string key = fmt::format("{} {} {}", tensor.data(), name_of(tensor.dtype()),
                                text_of(ScriptValue(ShapeValue{tensor.shape()})));
  const auto [known, fresh] = tensor_of_.emplace(std::move(key), tensors_.size());
  if (fresh) tensors_.push_back(tensor);
  return known->second;
}

std::size_t ValueEncoder::module_number(const ModulePtr& module) {
  if (const auto known = number_of_.find(module.get()); known != number_of_.end()) return known->second;
  WrittenModule written;
  written.module = module;
  // Functions that stand in another module already need no text of their own.
  const auto before = last_named_.find(module->name);
  Module part = *module;
  if (before != last_named_.end() && head_of(*module) == head_of(*modules_[before->second].module)) {
    const Module& base = *modules_[before->second].module;
    part.functions = {};
    for (const GlobalFunction& function : module->functions) {
      const GlobalFunction* there = base.find(name_of(function));
      if (!there || handle_of(*there) != handle_of(function)) part.functions.push_back(function);
    }
    if (part.functions.size() < module->functions.size()) {
      written.base = before->second;
    } else {
      part = *module;
    }
  }
  if (!written.base || !part.functions.empty()) written.text = print(part);
  const std::size_t number = modules_.size();
  for (const GlobalFunction& function : module->functions) module_of_.emplace(handle_of(function), number);
  number_of_[module.get()] = number;
  last_named_[module->name] = number;
  modules_.push_back(std::move(written));
  return number;
}

std::optional<std::size_t> ValueEncoder::module_of(const GlobalFunction& function) const {
  const auto found = module_of_.find(handle_of(function));
  return found == module_of_.end() ? std::nullopt : std::optional<std::size_t>(found->second);
}

}  // namespace relish
