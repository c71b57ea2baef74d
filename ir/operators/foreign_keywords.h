// Keywords that an operator does not have, and names of dtypes that nobody has here: what a text may mean by
// them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relish {

// "; did you mean 'axis'?": what a keyword of PyTorch or NumPy is called among `names`, else the nearest of
// them; "; expected x, axis" where there is none.
std::string meant_keyword(std::string_view keyword, const std::vector<std::string>& names);

// The one of `names` that a keyword of PyTorch or NumPy is another word for, with the same meaning: dim of
// axis.
std::optional<std::string_view> same_keyword(std::string_view keyword, const std::vector<std::string>& names);
// Those keywords, each with what it is here.
std::vector<std::pair<std::string_view, std::string>> keywords_taken();
// What to write for an argument that other libraries do not ask for, at the end of a message that it is
// missing: "; write dtype=\"float32\"". By the operator's short name; empty for most.
std::string_view missing_argument(std::string_view op, std::string_view argument);
// Our name of a dtype that has another one elsewhere: int64 of "int", float64 of "np.double".
std::optional<std::string_view> dtype_called_elsewhere(std::string_view name);

}  // namespace relish
