// What to propose instead of what is written, where that needs the syntax tree: the name that was meant, the
// range that a list spells out, a name that is still free.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/ast.h"
#include "support/diagnostic.h"

namespace relish {

// The names that the body of a function reads as values and that nothing in its definition binds, in the
// order of their first use. Names of functions that are called, of namespaces and of what has attributes are
// left out, as are names in the strings of its types.
std::vector<std::string> unbound_names(const ast::FunctionDefinition& definition);

// Whether the text has the name as a whole word, outside `but`.
bool mentions_word(std::string_view text, std::string_view name, Span but = {});
// name_1, name_2, …: the first that the text does not have.
std::string fresh_name(std::string_view text, const std::string& name);

// For a second thing of the same name: the one name that the definition reads and never binds, else a fresh
// one.
DiagnosticNote other_name(const ast::FunctionDefinition& definition, std::string_view text, Span at,
                          const std::string& name);
// For a target that is no name: the one name that is read and never bound; `_` when every name is bound.
std::vector<DiagnosticNote> target_instead(const ast::FunctionDefinition& definition, Span at);

// `range(2, 8, 2)` for a list of such integers; nothing for any other expression.
std::optional<std::string> range_of_list(const ast::Expr& expr);

// `a = b = v` as two assignments.
std::vector<DiagnosticNote> one_assignment_each(const ast::Statement& statement,
                                                const ast::Assignment& assignment);

// The decorator with pure=False.
std::vector<DiagnosticNote> without_purity(const ast::FunctionDefinition& definition);

// An import whose names stand nowhere else goes.
std::vector<DiagnosticNote> unused_import(std::string_view text, const ast::Statement& statement,
                                          const ast::Import& imported);

// The header goes and its body moves to the left; nothing when they stand on one line.
std::vector<DiagnosticNote> without_header(std::string_view text, const ast::Statement& statement,
                                           const ast::Block& body);
// From the first to the last of the statements, which must not be none.
Span span_of(std::span<const ast::Statement> statements);

// Whether one of the statements stores into an element whose indices mention the name.
bool indexes_a_store(std::span<const ast::Statement> statements, const std::string& name);

}  // namespace relish
