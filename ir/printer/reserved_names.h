// Names that belong to the language: attributes, annotations and scopes that begin with "relish.". The table
// lists those that a text may hold, with their types; the reader, the verifier and the manual go by it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/nodes/attribute.h"

namespace relish {

inline constexpr std::string_view reserved_prefix = "relish.";
// The attribute that names the parameters to train (setup_trainer, train).
inline constexpr std::string_view trained_attribute = "relish.params";
// The parameters that a step of training sets without a gradient: running statistics.
inline constexpr std::string_view buffers_attribute = "relish.buffers";
// What a function of a trainer is, and the roles of its parameters and results (ir/calls/roles.h).
inline constexpr std::string_view role_attribute = "relish.role";

// False on a function that the text does not want checked for what only TVM's checker of forms refuses.
// Printed as check_well_formed=False of the decorator, not as an attribute.
inline constexpr std::string_view unchecked_attribute = "relish.check_well_formed";

// Where a name stands in a text.
enum class NamePlace : std::uint8_t {
  GraphFunction,  // R.func_attr
  PrimFunc,       // T.func_attr
  Module,         // I.module_attrs, I.module_global_infos
  Block,          // T.sblock_attr
  Loop,           // annotations= of a loop
  Nested,         // in a dictionary that is itself the value of an attribute
  Scope,          // scope= of a buffer, a storage or a device
};

enum class ReservedType : std::uint8_t { Text, Names, Off };  // str; list of str; False

struct ReservedName {
  std::string_view name;
  NamePlace place;
  ReservedType type;
  std::string_view meaning;  // for the manual
};

std::span<const ReservedName> reserved_names();
std::string_view name_of(ReservedType type);
// What a text calls the place: "an R.function".
std::string_view name_of(NamePlace place);

// Whether the function that has these is checked; its attributes but for the one that says so.
bool is_checked(const Attributes& attributes);
Attributes without_unchecked(const Attributes& attributes);

bool is_reserved(std::string_view name);
// What is wrong with the name at the place, or with its value: none for a name that is not the language's.
std::optional<std::string> reserved_fault(NamePlace place, std::string_view name, const Attribute& value);
std::optional<std::string> reserved_scope_fault(std::string_view scope);

}  // namespace relish
