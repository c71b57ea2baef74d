// Values as a saved session holds them: small ones in JSON, lists and dicts as lines of their own, each once
// however many hold it; of modules only what differs from the one before under that name; tensors by number.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include "shell/script/script_value.h"

namespace relish {

using Json = nlohmann::ordered_json;

class ValueEncoder {
 public:
  // Nothing for what no text says: a function that others around it made, an object.
  std::optional<Json> encode(const ScriptValue& value);
  std::size_t module_number(const ModulePtr& module);
  std::size_t tensor_number(const Tensor& tensor);

  // Where a function of a module that has a number stands: that module's number.
  std::optional<std::size_t> module_of(const GlobalFunction& function) const;

  struct WrittenModule {
    ModulePtr module;
    std::string text;                 // of the functions that the base does not have
    std::optional<std::size_t> base;  // an earlier one
  };
  const std::vector<WrittenModule>& modules() const { return modules_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  // Lines of lists and dicts.
  const std::string& lines() const { return lines_; }

 private:
  std::optional<Json> encode_items(const ScriptValue& value);
  std::optional<Json> encode_function(const ScriptFunction& function);

  std::string lines_;
  std::size_t parts_ = 0;
  std::unordered_map<const void*, std::size_t> part_of_;
  std::vector<Tensor> tensors_;
  std::map<std::string, std::size_t> tensor_of_;  // by place, dtype and shape
  std::vector<WrittenModule> modules_;
  std::unordered_map<const Module*, std::size_t> number_of_;
  std::map<std::string, std::size_t> last_named_;
  std::unordered_map<const void*, std::size_t> module_of_;  // by the handle of a function
};

}  // namespace relish
