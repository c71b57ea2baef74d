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
// meant.
struct ForeignKeyword {
  std::string_view word;
  std::array<std::string_view, 4> here;
};
constexpr ForeignKeyword foreign_keywords[] = {
    {"dim", {"axis", "axes"}},
    {"dims", {"axes", "axis"}},
    {"axes", {"axis"}},
    {"axis", {"axes"}},
    {"keepdim", {"keepdims"}},
    {"keep_dims", {"keepdims"}},
    {"p", {"rate", "prob"}},
    {"input", {"x", "data", "x1", "a"}},
    {"self", {"x", "data", "x1", "a"}},
    {"a", {"x", "x1", "data"}},
    {"x", {"data", "x1", "input", "a"}},
    {"data", {"x", "x1", "input"}},
    {"b", {"x2"}},
    {"y", {"x2"}},
    {"other", {"x2", "b"}},
    {"mat2", {"x2"}},
    {"tensors", {"data", "values"}},
    {"arrays", {"tensors", "data", "values"}},
    {"size", {"shape", "output_size"}},
    {"shape", {"size"}},
    {"newshape", {"shape"}},
    {"output_size", {"size", "shape"}},
    {"kernel_size", {"pool_size"}},
    {"stride", {"strides"}},
    {"pad", {"padding", "pad_width"}},
    {"weights", {"weight"}},
    {"num_classes", {"depth"}},
    {"index", {"indices"}},
    {"chunks", {"indices_or_sections"}},
    {"sections", {"indices_or_sections"}},
    {"split_size_or_sections", {"indices_or_sections"}},
    {"a_min", {"min"}},
    {"a_max", {"max"}},
    {"eps", {"epsilon"}},
    {"negative_slope", {"alpha"}},
    {"reps", {"repeats"}},
    {"type", {"dtype"}},
    {"value", {"fill_value", "pad_value"}},
};

}  // namespace

std::string meant_keyword(std::string_view keyword, const std::vector<std::string>& names) {
  const auto proposed = [&](std::string_view name) {
    return !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const ForeignKeyword& each : foreign_keywords) {
    if (each.word != keyword) continue;
    const auto here = std::find_if(each.here.begin(), each.here.end(), proposed);
    if (here != each.here.end()) return fmt::format("; did you mean '{}'?", *here);
  }
  std::string nearest = did_you_mean(keyword, names);
  if (!nearest.empty()) return nearest;
  return names.empty() ? "; expected none" : fmt::format("; expected {}", fmt::join(names, ", "));
}

}  // namespace relish
