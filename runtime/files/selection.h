// What the formats with named entries share: reading a single entry, and checks of names.
#pragma once

#include <string>
#include <vector>

#include "runtime/files.h"

namespace relish {

// All entries, or with `only` the entry of that name (DataError when there is none).
NamedTensors read_npz_selected(const std::string& path, const std::string* only);
NamedTensors read_safetensors_selected(const std::string& path, const std::string* only,
                                       std::map<std::string, std::string>* metadata);

// Names of the entries that a file has, which are not read: of npz and safetensors. DataError.
std::vector<std::string> entry_names(const std::string& path);

// Throws DataError: no entry `name`, with the nearest of `names`.
[[noreturn]] void missing_entry(const std::string& path, const std::string& name,
                                const std::vector<std::string>& names);

// Names to be written must be distinct, not empty and at most 4,096 bytes; UsageError otherwise.
void check_names(const std::string& path, const NamedTensors& tensors);

}  // namespace relish
