// Pages of what the catalog offers: losses, optimizers, schedules and initialisers with their options.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relish {

// The page of an entry: how it is written, what it does and its options. None for an unknown name.
std::optional<std::string> catalog_page(std::string_view name);
// Of one kind ("loss", "optimizer", "schedule", "initialiser"), or of all.
std::vector<std::string> catalog_names(std::string_view kind = "");
// The options of the entries of a name; none for an unknown one.
std::vector<std::string> catalog_option_names(std::string_view name);
// All of them for the manual, a section for each kind.
std::string catalog_markdown();

}  // namespace relish
