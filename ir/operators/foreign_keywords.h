// Keywords that an operator does not have: what the text may mean by them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relish {

// "; did you mean 'axis'?": what a keyword of PyTorch or NumPy is called among `names`, else the nearest of
// them; "; expected x, axis" where there is none.
std::string meant_keyword(std::string_view keyword, const std::vector<std::string>& names);

}  // namespace relish
