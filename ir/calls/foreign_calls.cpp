// Refusals of what no tier runs.
#include "ir/calls/foreign_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/rewriting/rewrite.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish {

void refuse_foreign_call(const ForeignCall& call, Span span) {
  if (call.of_module) {
    fail(
        ErrorClass::Type, span, "prim_func.call",
        fmt::format(
            "found a call of '{}' that is not run; expected whole buffers of its dtypes and shapes as "
            "arguments of a prim_func that does not reach itself and has no statement but its return where it gives "
            "a value",
            printable(call.function)));
  }
  // The name of what is called, behind a dtype in some.
  const TextLiteral* text = nullptr;
  for (std::size_t i = 0; i < call.args.size() && i < 2; ++i) {
    const auto* found = call.args[i].as<TextLiteral>();
    if (found && call.names[i] != "dtype") text = found;
  }
  fail(ErrorClass::Policy, span, "native.call",
       fmt::format("{}{} calls native code, which is not opted in; R.call_dps_packed can, with --native",
                   printable(call.function), text ? fmt::format(" of '{}'", printable(text->value)) : ""));
}

void require_runnable(const PrimFunc& function) {
  if (!function.body.defined()) return;
  for_each_scalar(function.body, [&](const Scalar& scalar) {
    const auto* call = scalar.as<ForeignCall>();
    if (!call) return;
    const Span span = scalar.span().known() ? scalar.span() : function.span;
    if (call->of_module && find_attribute(function.attributes, too_many_calls)) {
      fail(ErrorClass::ResourceLimit, span, "limit.prim_calls",
           fmt::format(
               "the calls that '{}' makes, put in their places, are more than 100000 statements or 4000 "
               "levels",
               printable(function.name)));
    }
    refuse_foreign_call(*call, span);
  });
  for_each_stmt(function.body, [&](const Stmt& stmt) {
    const auto* allocate = stmt.as<AllocateStmt>();
    if (!allocate || !allocate->buffer.is_pointer()) return;
    fail(ErrorClass::Type, allocate->buffer.span(), "pointer.address",
         fmt::format("found the pointer '{}' to memory that nothing gives; a function with it is not run",
                     printable(allocate->buffer.name())));
  });
  for (const PrimParam& param : function.params) {
    const Buffer* buffer = param.buffer();
    if (!buffer || !buffer->is_pointer() || buffer->rank() > 0) continue;
    fail(ErrorClass::Type, buffer->span(), "param.handle",
         fmt::format("found the handle '{}' that no T.match_buffer makes a buffer of; a function with it is "
                     "not run",
                     printable(buffer->name())));
  }
}

std::vector<std::string> called_prim_funcs(const PrimFunc& function) {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;  // of names in the text, which stays
  if (!function.body.defined()) return names;
  for_each_scalar(function.body, [&](const Scalar& scalar) {
    const auto* call = scalar.as<ForeignCall>();
    if (call && call->of_module && seen.insert(call->function).second) names.push_back(call->function);
  });
  return names;
}

void require_runnable(const Module& module, std::string_view name) {
  std::vector<std::string> pending{std::string(name)};
  std::unordered_set<std::string> seen{pending.front()};
  while (!pending.empty()) {
    const std::string next = std::move(pending.back());
    pending.pop_back();
    if (const PrimFuncPtr prim = module.prim_func(next)) require_runnable(*prim);
    const FunctionPtr function = module.function(next);
    if (!function) continue;
    for (std::string& callee : global_references(*function))
      if (seen.insert(callee).second) pending.push_back(std::move(callee));
  }
}

}  // namespace relish
