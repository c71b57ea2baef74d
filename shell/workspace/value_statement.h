// A value as an expression of a saved session: what a stopped statement had made is not made again, it stands
// there as it is. What is small is written out; large tensors and modules go into files beside the session.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "shell/script/script.h"

namespace relish {

// Text, or a tensor or module that a file beside the session holds: there the text is the expression that
// reads it.
using SessionPiece = std::variant<std::string, ScriptValue>;

// `name = VALUE` with its line end, in pieces. Nothing for what no text says: a function value. `script` has
// the names; a function of the session's is said by its own.
std::optional<std::vector<SessionPiece>> assignment_pieces(const Script& script, const std::string& name);

// A name and the statement that binds the function to it, in a text of its own; empty when no text says it.
std::pair<std::string, std::string> statement_of_function(const ScriptFunction& function);

// The file of the piece with that number, of the session at `path`; the piece's expression; and its writing.
std::string value_file(const std::string& path, const SessionPiece& piece, std::size_t number);
std::string value_expression(const std::string& path, const SessionPiece& piece, std::size_t number);
void write_value_file(const std::string& path, const SessionPiece& piece, std::size_t number);

}  // namespace relish
