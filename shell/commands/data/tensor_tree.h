// Trees of tensors in files that hold tensors by name: the leaf ["params"]["w"] is "params.w", and the items
// of a list or tuple have their places as names. What names do not tell (empty containers, lists beside
// tuples, names with dots) stands in a form of the tree, among the texts of a .safetensors file or in the
// comment of an .npz archive.
#pragma once

#include <string>
#include <string_view>

#include "runtime/files.h"
#include "shell/script/script_value.h"
#include "support/source.h"

namespace relish {

// The name of the form among the texts of a .safetensors file; the comment of an .npz file begins with it.
inline constexpr std::string_view tree_form_key = "relish.tree";

// Of a tree of dicts, lists and tuples; empty where the names tell the tree. A dict of leaves needs none:
// without tree=True it is loaded as it is.
std::string form_of_tree(const ScriptValue& tree);

// The tree that names say: dicts, and tuples where the names are 0, 1, … . DataError where a name is a
// tensor and has others below it.
ScriptValue tree_of_tensors(NamedTensors tensors, Span span);
// The tree that the form says. DataError where it is none, or not of these tensors.
ScriptValue tree_of_form(const NamedTensors& tensors, std::string_view form, Span span);

}  // namespace relish
