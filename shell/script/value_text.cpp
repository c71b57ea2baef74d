// Text of script values, as print and a bare expression show them.
#include <fmt/format.h>

#include "ir/printer.h"
#include "runtime/format.h"
#include "shell/script/script_value.h"

namespace relish {
namespace {

// A string in quotes, as it may be written in a script.
std::string quoted(const std::string& text) {
  char quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string result(1, quote);
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\r') {
      result += "\\r";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result + quote;
}

std::string function_text(const FunctionReference& function) {
  if (FunctionPtr graph = function.module->function(function.name)) return print(*graph);
  if (PrimFuncPtr loops = function.module->prim_func(function.name)) return print(*loops);
  return "function " + function.name;
}

std::string sequence_text(const ScriptList& list, bool full) {
  std::string result(1, list.tuple ? '(' : '[');
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    if (i > 0) result += ", ";
    result += quoted_text_of(list.items[i], full);
  }
  if (list.tuple && list.items.size() == 1) result += ',';
  return result + (list.tuple ? ')' : ']');
}

std::string dict_text(const ScriptDict& dict, bool full) {
  std::string result = "{";
  for (std::size_t i = 0; i < dict.items.size(); ++i) {
    if (i > 0) result += ", ";
    result += quoted_text_of(dict.items[i].first, full) + ": " + quoted_text_of(dict.items[i].second, full);
  }
  return result + "}";
}

}  // namespace

std::string text_of(const ScriptValue& value, bool full) {
  struct Text {
    bool full;
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool v) const { return v ? "True" : "False"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return format_double(v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const std::shared_ptr<const ScriptList>& v) const {
      return sequence_text(*v, full);
    }
    std::string operator()(const std::shared_ptr<const ScriptDict>& v) const { return dict_text(*v, full); }
    std::string operator()(const ScriptRange& v) const {
      return v.step == 1 ? fmt::format("range({}, {})", v.begin, v.end)
                         : fmt::format("range({}, {}, {})", v.begin, v.end, v.step);
    }
    std::string operator()(const Tensor& v) const {
      FormatOptions options;
      options.full = full;
      return format_tensor(v, options);
    }
    std::string operator()(const ShapeValue& v) const { return format_value(v); }
    std::string operator()(const ModulePtr& v) const {
      std::string text = print(*v);
      while (text.ends_with('\n')) text.pop_back();
      return text;
    }
    std::string operator()(const FunctionReference& v) const {
      std::string text = function_text(v);
      while (text.ends_with('\n')) text.pop_back();
      return text;
    }
    std::string operator()(const std::shared_ptr<const ObjectValue>& v) const { return v->describe(); }
  };
  return std::visit(Text{full}, value.kind());
}

std::string quoted_text_of(const ScriptValue& value, bool full) {
  if (const std::string* text = value.string()) return quoted(*text);
  // Inside a container a module or function is named, not printed.
  if (value.as<ModulePtr>() || value.as<FunctionReference>()) return "<" + describe(value) + ">";
  return text_of(value, full);
}

}  // namespace relish
