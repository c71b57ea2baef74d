// What the attributes of a function say about its parameters: which are trained. `relish.params` lists them
// by name; TVM's `num_input` counts the inputs before them. A transform that changes the parameters of a
// function writes the marks anew, so that none of them comes to stand for another parameter.
#pragma once

#include <optional>
#include <string>
#include <vector>

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

bool has_role(const Function& function, std::string_view role);
// Puts a function of a trainer into the module, with its role. UsageError when a function of the name is
// there that no trainer made, or one that others call and whose type changes.
void set_role(Module& module, Function&& function, std::string_view role);

}  // namespace relish
