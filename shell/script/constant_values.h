// Values of a text's constants, for the functions that see them: evaluated by the rules of statements, when
// the text is read.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontend/module/script_constants.h"
#include "shell/script/script_value.h"

namespace relish {

// `arguments` are those of the command line, by the names that the text's arg() asks for.
ConstantValue constant_values(std::vector<std::pair<std::string, std::string>> arguments);

// A value that a constant may have, as a literal; null for others.
std::shared_ptr<const ast::Expr> literal_of(const ScriptValue& value);

// Calls `visit` for every arg() in the expression.
void find_arg_calls(const ast::Expr& expr, const std::function<void(const ast::Call&, Span)>& visit);
// UsageError for a value of the command line that the text does not ask for.
void check_arguments(const std::vector<std::pair<std::string, std::string>>& arguments,
                     const std::set<std::string>& declared);
// The names that the text's statements ask for.
std::set<std::string> declared_arguments(const ast::Block& statements);
// A line for each of them, with its default as it is written, or its type.
std::string arguments_help(const ast::Block& statements);

}  // namespace relish
