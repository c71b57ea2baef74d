// The operator that is meant by a name which is none, for "did you mean".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace relish {

// Names stand without "R.". The last word counts more than the namespace, which is often left out: sofmax is
// nn.softmax, relu is nn.relu. `others`: what else the name could be.
std::optional<std::string> nearest_op(std::string_view wanted, std::span<const std::string_view> others = {});

}  // namespace relish
