// Variables and dimension variables that have a value at a place.
#include "ir/verify/graph_scope.h"

#include <fmt/format.h>

#include <algorithm>

namespace relish::verifying {

void GraphScope::define(const Var& var, Span span) {
  if (!bound_.insert(var.id()).second) {
    report_.error(span, "verify.rebound", fmt::format("variable {} is bound twice", var.name()));
  }
  show(var);
}

void GraphScope::undo(std::size_t kept) {
  for (; changes_.size() > kept; changes_.pop_back()) {
    const Change& last = changes_.back();
    if (last.added)
      last.ids->erase(last.id);
    else
      last.ids->insert(last.id);
  }
}

void GraphScope::determine(const Type& type) {
  std::vector<ScalarVar> determined;
  collect_determined(type, determined);
  for (const ScalarVar& symbol : determined) determine(symbol);
}

void GraphScope::check_symbol(const ScalarVar& symbol, Span span, std::string_view where) {
  if (symbols_.contains(symbol.id())) return;
  if (!scalars_) scalars_.emplace(function_);
  bool stands_for_parameter = scalars_->of(symbol).has_value() ||
                              std::any_of(enclosing_.begin(), enclosing_.end(), [&](const Function* nested) {
                                return scalar_parameter_of(*nested, symbol).has_value();
                              });
  if (!stands_for_parameter) {
    report_.error(
        span, "verify.symbol",
        fmt::format("{} uses dimension {}, which nothing before it determines", where, symbol.name()));
  }
  determine(symbol);  // one report each
}

void GraphScope::check_symbols(const Type& type, Span span, std::string_view where) {
  // A function type has dimension variables of its own.
  if (type.function()) return;
  if (const TupleType* tuple = type.tuple()) {
    for (const Type& field : tuple->fields) check_symbols(field, span, where);
    return;
  }
  std::vector<ScalarVar> vars;
  collect_vars(type, vars);
  for (const ScalarVar& var : vars) check_symbol(var, span, where);
}

void GraphScope::check_symbols(const Scalar& scalar, Span span) {
  std::vector<ScalarVar> vars;
  collect_vars(scalar, vars);
  for (const ScalarVar& var : vars) check_symbol(var, span, "an expression");
}

}  // namespace relish::verifying
