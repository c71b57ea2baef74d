// The table of keywords, and the choice among what an operator takes.
#include "ir/operators/foreign_keywords.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/suggest.h"

namespace relish {
namespace {

// Keywords of PyTorch and NumPy, each with what it may be called here; the first that an operator has is
// meant. `same`: it means the same there, and is taken for it.
struct ForeignKeyword {
  std::string_view word;
  std::array<std::string_view, 4> here;
  bool same = false;
};
constexpr ForeignKeyword foreign_keywords[] = {
    {"dim", {"axis", "axes"}, true},
    {"dims", {"axes", "axis"}, true},
    {"axes", {"axis"}},
    {"axis", {"axes"}},
    {"keepdim", {"keepdims"}, true},
    {"keep_dims", {"keepdims"}, true},
    {"p", {"rate", "prob"}},
    {"input", {"x", "data", "x1", "a"}, true},
    {"self", {"x", "data", "x1", "a"}, true},
    {"a", {"x", "x1", "data"}},
    {"x", {"data", "x1", "input", "a"}},
    {"data", {"x", "x1", "input"}},
    {"b", {"x2"}},
    {"y", {"x2"}},
    {"other", {"x2", "b"}, true},
    {"mat2", {"x2"}},
    {"tensors", {"data", "values"}},
    {"arrays", {"tensors", "data", "values"}},
    {"size", {"shape", "output_size"}},
    {"shape", {"size"}},
    {"newshape", {"shape"}, true},
    {"output_size", {"size", "shape"}},
    {"kernel_size", {"pool_size"}},
    {"stride", {"strides"}, true},
    {"pad", {"padding", "pad_width"}},
    {"weights", {"weight"}},
    {"num_classes", {"depth"}, true},
    {"index", {"indices"}},
    {"chunks", {"indices_or_sections"}},
    {"sections", {"indices_or_sections"}},
    {"split_size_or_sections", {"indices_or_sections"}},
    {"a_min", {"min"}, true},
    {"a_max", {"max"}, true},
    {"eps", {"epsilon"}},
    {"negative_slope", {"alpha"}, true},
    {"reps", {"repeats"}},
    {"type", {"dtype"}},
    {"value", {"fill_value", "pad_value"}},
};

// Names of dtypes elsewhere, each with ours. Without a width ours have none: those of Python are of 64 bits,
// but for floats, which every library trains in 32.
struct ForeignDtype {
  std::string_view word, here;
};
constexpr ForeignDtype foreign_dtypes[] = {
    {"int", "int64"},      {"long", "int64"},   {"float", "float32"}, {"single", "float32"},
    {"double", "float64"}, {"half", "float16"}, {"short", "int16"},   {"byte", "uint8"},
    {"char", "int8"},      {"boolean", "bool"}, {"uint", "uint64"},   {"i32", "int32"},
    {"i64", "int64"},      {"f32", "float32"},  {"f64", "float64"},   {"f16", "float16"},
    {"bf16", "bfloat16"},  {"i8", "int8"},      {"u8", "uint8"},
};

// Arguments that have defaults elsewhere, or one call less, each with what to write.
struct MissingArgument {
  std::string_view op, argument, write;
};
constexpr MissingArgument missing_arguments[] = {
    {"zeros", "dtype", "; write dtype=\"float32\""},
    {"ones", "dtype", "; write dtype=\"float32\""},
    {"where", "x1", "; the places where the condition holds are R.nonzero(condition)"},
    {"where", "x2", "; write R.where(condition, x1, 0.0)"},
    {"one_hot", "off_value", "; write R.one_hot(indices, 1, 0, depth)"},
    {"one_hot", "on_value", "; write R.one_hot(indices, 1, 0, depth)"},
    {"one_hot", "depth", "; write R.one_hot(indices, 1, 0, depth)"},
    {"batch_norm", "axis",
     "; write axis=1, the axis of the channels, behind data, gamma, beta, moving_mean, moving_var"},
    {"batch_norm", "gamma", "; it takes data, gamma, beta, moving_mean, moving_var, axis=1"},
    {"batch_norm", "moving_mean", "; it takes data, gamma, beta, moving_mean, moving_var, axis=1"},
    {"layer_norm", "axes", "; write axes=[-1]"},
    {"layer_norm", "gamma", "; it takes data, gamma, beta, axes=[-1]"},
    {"group_norm", "num_groups", "; write num_groups=2, channel_axis=1, axes=[2, 3]"},
    {"group_norm", "channel_axis", "; write channel_axis=1, axes=[2, 3]"},
    {"group_norm", "axes", "; write axes=[2, 3]"},
    {"instance_norm", "channel_axis", "; write channel_axis=1, axes=[2, 3]"},
    {"instance_norm", "axes", "; write axes=[2, 3]"},
    {"l2_normalize", "eps", "; write eps=1e-12"},
    {"attention_var_len", "max_seqlen_q",
     "; it takes queries, keys, values, seqstart_q, seqstart_k, max_seqlen_q, max_seqlen_k"},
    {"bincount", "length", "; write length=n, where n is more than the largest of x"},
    {"flip", "axis", "; write axis=0"},
    {"expand_dims", "axis", "; write axis=0"},
    {"einsum", "subscripts", "; write subscripts=\"ij,jk->ik\" behind the tuple of operands"},
    {"clip", "max", "; R.maximum(x, min) and R.minimum(x, max) clip at one side"},
    {"full", "fill_value", "; write R.full(shape, R.const(0.0))"},
    {"pad", "pad_width", "; write pad_width=[1, 1, 2, 2]: before and behind each axis"},
    {"topk", "data", "; write R.topk(data, k=2)"},
    {"normal", "shape", "; write R.random.normal(key, shape)"},
    {"uniform", "shape", "; write R.random.uniform(key, shape)"},
    {"randint", "low", "; write R.random.randint(key, shape, low, high)"},
    {"randint", "high", "; write R.random.randint(key, shape, low, high)"},
    {"bernoulli", "shape", "; write R.random.bernoulli(key, shape)"},
    {"strided_slice", "begin", "; write axes=[0], begin=[0], end=[2]"},
    {"strided_slice", "end", "; write axes=[0], begin=[0], end=[2]"},
    {"strided_slice", "axes", "; write axes=[0], begin=[0], end=[2]"},
};

const ForeignKeyword* find_keyword(std::string_view word) {
  const auto found = std::find_if(std::begin(foreign_keywords), std::end(foreign_keywords),
                                  [&](const ForeignKeyword& each) { return each.word == word; });
  return found == std::end(foreign_keywords) ? nullptr : found;
}

// What of `keyword` an operator with these names has.
std::optional<std::string_view> among(const ForeignKeyword& keyword, const std::vector<std::string>& names) {
  for (const std::string_view here : keyword.here)
    if (!here.empty() && std::find(names.begin(), names.end(), here) != names.end()) return here;
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> same_keyword(std::string_view keyword,
                                             const std::vector<std::string>& names) {
  const ForeignKeyword* known = find_keyword(keyword);
  return known && known->same ? among(*known, names) : std::nullopt;
}

std::vector<std::pair<std::string_view, std::string>> keywords_taken() {
  std::vector<std::pair<std::string_view, std::string>> result;
  for (const ForeignKeyword& each : foreign_keywords) {
    if (!each.same) continue;
    const auto end = std::find(each.here.begin(), each.here.end(), "");
    result.emplace_back(each.word, fmt::format("{}", fmt::join(each.here.begin(), end, " or ")));
  }
  return result;
}

std::string_view missing_argument(std::string_view op, std::string_view argument) {
  for (const MissingArgument& each : missing_arguments)
    if (each.op == op && each.argument == argument) return each.write;
  return "";
}

std::optional<std::string_view> dtype_called_elsewhere(std::string_view name) {
  const std::string_view word = name.substr(name.rfind('.') + 1);
  for (const ForeignDtype& each : foreign_dtypes)
    if (each.word == word) return each.here;
  return std::nullopt;
}

std::string meant_keyword(std::string_view keyword, const std::vector<std::string>& names) {
  const ForeignKeyword* known = find_keyword(keyword);
  if (const auto here = known ? among(*known, names) : std::nullopt)
    return fmt::format("; did you mean '{}'?", *here);
  std::string nearest = did_you_mean(keyword, names);
  if (!nearest.empty()) return nearest;
  return names.empty() ? "; expected none" : fmt::format("; expected {}", fmt::join(names, ", "));
}

}  // namespace relish
