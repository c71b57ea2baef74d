// Canonical names of what TVM's namespaces hold.
#include "frontend/names/namespaces.h"

#include <array>
#include <utility>

namespace relish {
namespace {

// Longer prefixes first, so that "tvm.script.ir_module" is not taken for "tvm.script.ir" + "_module".
constexpr std::array<std::pair<std::string_view, std::string_view>, 24> prefixes = {{
    {"tvm.script.ir_builder.relax", "R"},
    {"tvm.script.ir_builder.s_tir", "T"},
    {"tvm.script.ir_builder.tirx", "T"},
    {"tvm.script.ir_builder.tir", "T"},
    {"tvm.script.ir_builder.ir", "I"},
    {"tvm.script.parser.relax", "R"},
    {"tvm.script.parser.s_tir", "T"},
    {"tvm.script.parser.tirx", "T"},
    {"tvm.script.parser.tir", "T"},
    {"tvm.script.parser.ir", "I"},
    {"tvm.script.ir_module", "I.ir_module"},
    {"tvm.script.relax", "R"},
    {"tvm.script.s_tir", "T"},
    {"tvm.script.tirx", "T"},
    {"tvm.script.tir", "T"},
    {"tvm.script.ir", "I"},
    {"tvm.relax.op", "R"},
    {"tvm.relax.expr", "R"},
    {"tvm.relax", "R"},
    {"tvm.s_tir", "T"},
    {"tvm.tirx", "T"},
    {"tvm.tir", "T"},
    {"tvm.ir", "I"},
    {"R.op", "R"},
}};

// TVM's other words for dtypes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> dtype_words = {{
    {"boolean", "bool"},
    {"i8", "int8"},
    {"i16", "int16"},
    {"i32", "int32"},
    {"i64", "int64"},
    {"u8", "uint8"},
    {"u16", "uint16"},
    {"u32", "uint32"},
    {"u64", "uint64"},
    {"f16", "float16"},
    {"f32", "float32"},
    {"f64", "float64"},
    {"bf16", "bfloat16"},
}};

bool has_prefix(std::string_view name, std::string_view prefix) {
  return name.substr(0, prefix.size()) == prefix &&
         (name.size() == prefix.size() || name[prefix.size()] == '.');
}

}  // namespace

std::string_view unabbreviated(std::string_view word) {
  for (auto [shorter, dtype] : dtype_words)
    if (shorter == word) return dtype;
  return word;
}

Namespaces::Namespaces()
    : aliases_{{"R", "R"},  {"relax", "R"}, {"T", "T"}, {"tir", "T"},   {"tirx", "T"},
               {"Tx", "T"}, {"Ts", "T"},    {"I", "I"}, {"tvm", "tvm"}, {"ir", "I"}} {}

bool Namespaces::bind(const std::string& name, std::string_view target) {
  if (has_prefix(target, "tvm")) {
    aliases_[name] = std::string(target);
    return true;
  }
  return has_prefix(target, "typing") || has_prefix(target, "__future__");
}

std::string Namespaces::canonical(const std::string& dotted) const {
  std::size_t dot = dotted.find('.');
  auto alias = aliases_.find(dotted.substr(0, dot));
  if (alias == aliases_.end()) return dotted;
  std::string name = alias->second + (dot == std::string::npos ? "" : dotted.substr(dot));
  for (auto [prefix, replacement] : prefixes) {
    if (has_prefix(name, prefix)) name = std::string(replacement) + name.substr(prefix.size());
  }
  if (name.starts_with("T.")) name.replace(2, std::string::npos, unabbreviated(name.substr(2)));
  return name;
}

bool Namespaces::makes_size(const ast::Expr& callee) const {
  const std::string name = canonical(callee);
  return name == "TypeVar" || name == "typing.TypeVar" || name == "I.dynamic" || name == "T.dynamic";
}

std::string Namespaces::canonical(const ast::Expr& expr) const {
  std::string name = ast::dotted_name(expr);
  return name.empty() ? name : canonical(name);
}

}  // namespace relish
