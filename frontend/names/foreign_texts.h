// What is said about calls and names of other libraries in a text: np.sum(x, axis=0), x.clamp(min=0), np.pi.
#pragma once

#include <functional>
#include <string>

#include "frontend/text/ast.h"
#include "stdlib/foreign_calls.h"

namespace relish {

// Whether a name means something in the text, so that it is no library's.
using IsBound = std::function<bool(const std::string&)>;
// The number of dimensions of the tensor that a name stands for, where it is known.
using RankOf = std::function<std::optional<int>(const std::string&)>;

// The library whose name the expression begins with, as np of np.linalg.norm; nothing where it is bound.
std::optional<ForeignLibrary> library_of(const ast::Expr& expr, const IsBound& bound);
// "; write R.maximum(x, 0)", "; did you mean 'R.nn.relu'?" for a call of an attribute: of a library or of a
// value. Empty when neither the table nor the operators have it with these arguments.
std::string foreign_call_advice(const ast::Call& call, ProposalPlace place, const IsBound& bound,
                                const RankOf& rank);
// The end of a message about a name of a library that is not called, or called with arguments for which the
// table has no row: what it is without these is then not proposed.
std::string foreign_name_advice(std::string_view name, ProposalPlace place, bool called = false);
// Of a call R.sum(x) of bools, in functions and statements.
constexpr std::string_view sum_of_bools_note =
    "the sum of bools is a bool, true where any is; R.astype(x, \"int64\") before it counts them";
// "; write float(\"inf\")" for the name of a number elsewhere, as inf; empty for others.
std::string foreign_constant_advice(std::string_view word);
// "; write optimizer=\"adam\" in train or setup_trainer" for a word that has no expression here, as Adam, and
// for a dtype's name; empty for others.
std::string foreign_word_advice(std::string_view word);
// "; relish doc roll says what is written here" for a word that the table has, with arguments that it has
// not.
std::string foreign_page_advice(std::string_view word);

}  // namespace relish
