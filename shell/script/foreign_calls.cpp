// Names of other libraries in statements: what is written in their place.
#include <algorithm>

#include "frontend/names/foreign_texts.h"
#include "shell/script/builtins.h"
#include "shell/script/script_values.h"
#include "stdlib/foreign_names.h"
#include "support/render.h"

namespace relish {

void ScriptValues::refuse_library(const ast::Attribute& name, const ast::Call* call, Span span) const {
  const ast::Expr* root = name.object.get();
  while (const auto* inner = root->as<ast::Attribute>()) root = inner->object.get();
  const auto* library = root->as<ast::Name>();
  if (!library || slot_of(*library) || variable(*library) || !library_called(library->id)) return;
  if (namespaces().known(library->id) || find_builtin(library->id) || find_command(library->id)) return;
  if (observer() && observer()->unbound(library->id, root->span)) return;
  const std::string dotted = ast::dotted_name(*name.object) + "." + name.name;
  std::string advice = call ? method_call_advice(*call) : "";
  if (advice.empty()) advice = foreign_name_advice(dotted, ProposalPlace::Statement, call != nullptr);
  if (advice.empty()) {
    const std::vector<std::string> names = op_names();
    const bool among = std::any_of(names.begin(), names.end(), [&](const std::string& each) {
      return each.find(name.name) != each.npos;
    });
    advice = among ? fmt::format("; relish ops {} searches the operators", name.name)
                   : "; nothing here is called so";
  }
  fail(ErrorClass::Type, call ? call->callee->span : span, "name.unknown",
       fmt::format("'{}' is a name of another library{}", printable(dotted), advice));
}

std::string ScriptValues::method_call_advice(const ast::Call& call) const {
  const auto rank = [&](const std::string& name) -> std::optional<int> {
    const ScriptValue* value = names().find(name);
    return value && value->tensor() ? std::optional(value->tensor()->rank()) : std::nullopt;
  };
  const std::string written = foreign_call_advice(
      call, ProposalPlace::Statement, [&](const std::string& name) { return names().find(name) != nullptr; },
      rank);
  const auto* method = call.callee->as<ast::Attribute>();
  const bool other = written.empty() && method && !call.arguments.empty();
  return other && is_expression_elsewhere(method->name) ? foreign_page_advice(method->name) : written;
}

}  // namespace relish
