// Which operators users know: the names of TVM's Relax by group, and the list of Relay operators of 2019
// whose gradients were asked for, each with what it is called here. `relish ops --coverage` holds the table
// of operators against both.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stdlib/foreign_calls.h"

namespace relish {

// "core", "nn", "ext": used by models; "exotic": quantisation, vision, distribution; "vm": of lowered
// modules; "language": forms of the language, which are no entries of the table of operators.
struct OperatorGroup {
  std::string_view name;
  std::span<const std::string_view> names;
};
std::span<const OperatorGroup> operator_groups();

// The group of an operator; "own" for those that TVM does not have.
std::string_view group_of_operator(std::string_view name);

struct FormerOperator {
  std::string_view name;   // of 2019
  std::string_view today;  // the operator, without "R."
};
std::span<const FormerOperator> operators_of_2019();

// The operator that is meant by a name which is none: what replaces a name of 2019, with or without its
// namespace, else what other libraries call so, else the nearest name, also of `others`.
std::optional<std::string> meant_operator(std::string_view wanted,
                                          std::span<const std::string_view> others = {});
// The operator that a word names without doubt: its name, its last part where only one operator has it, or
// what another library calls it. Without "R.".
std::optional<std::string> exact_operator(std::string_view word);
// "; write R.sum(x)", "; use the command train", "; nothing: there is one device".
std::string introduced(std::string_view words);
// The end of a message about a method that a tensor does not have: "; write R.sum(x)", of a name that is near
// to an operator's "; did you mean R.sum(x)?", that nothing does what it does, or nothing.
std::string method_advice(std::string_view method, std::string_view object, bool has_arguments,
                          ProposalPlace place = ProposalPlace::Function);
// The end of a message about a name that is no operator: "; did you mean 'R.exp'?", "; write 1 / x", or
// nothing.
std::string operator_advice(std::string_view wanted, std::span<const std::string_view> others = {});

}  // namespace relish
