// What the attributes of a function say about its parameters: which are trained. `relish.params` lists them
// by name; TVM's `num_input` counts the inputs before them. A transform that changes the parameters of a
// function writes the marks anew, so that none of them comes to stand for another parameter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/calls/roles.h"
#include "ir/nodes/module.h"
#include "ir/printer/reserved_names.h"

namespace relish {

inline constexpr std::string_view input_count_attribute = "num_input";

// Whether a parameter of the type can be trained: integers, bools, keys, sizes and functions cannot; whether
// a tensor or tuple of no known dtype can, its use shows.
bool may_be_trained(const Type& type);

// The parameters that the marks call trained, in order; none without a mark. Those behind a count are trained
// where they may be. TypeError for a mark that says nothing: a name that is no parameter or none that may be
// trained, a count that is negative or greater than their number.
std::optional<std::vector<std::string>> marked_parameters(const Function& function);

// Attributes for a function that is made of `source` and has the parameters `params`: those that carry the
// names of source's parameters are these. What holds of `source` alone (its exported name, what it is the
// gradient of, its role) stays behind when the made function has another name.
Attributes attributes_of_derived(const Function& source, std::string_view name,
                                 const std::vector<Var>& params);

// The parameters that `relish.buffers` names; TypeError when one of them is none, or named twice.
std::vector<std::string> marked_buffers(const Function& function);

// Puts a function of a trainer into the module, with the signature of its roles. UsageError when a function
// of the name is there that no trainer made, or one that others call and whose type changes.
void set_role(Module& module, Function&& function, const RoleSignature& roles);
// Removes what a trainer made of this kind, unless a function of the user's calls it.
void remove_made(Module& module, std::string_view name, std::string_view kind);
// Removes what trainers made that calls the function, directly or not.
void remove_made_callers(Module& module, std::string_view name);

}  // namespace relish
