// Pages of what the catalog offers: losses, optimizers, schedules and initialisers with their options.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relish {

// The page of an entry: how it is written, what it does and its options. None for an unknown name.
std::optional<std::string> catalog_page(std::string_view name);
std::vector<std::string> catalog_names();
// All of them for the manual, a section for each kind.
std::string catalog_markdown();

}  // namespace relish
