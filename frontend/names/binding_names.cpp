// Walks over the targets of statements.
#include "frontend/names/binding_names.h"

#include <algorithm>

#include "frontend/names/namespaces.h"

namespace relish {

void for_each_target_name(const ast::Expr& target,
                          const std::function<void(const std::string&, Span)>& visit) {
  if (const std::string* name = ast::name_of(target)) {
    visit(*name, target.span);
  } else if (auto* tuple = target.as<ast::TupleValue>()) {
    for (const ast::ExprPtr& item : tuple->items) for_each_target_name(*item, visit);
  } else if (auto* list = target.as<ast::ListValue>()) {
    for (const ast::ExprPtr& item : list->items) for_each_target_name(*item, visit);
  } else if (auto* starred = target.as<ast::Starred>()) {
    for_each_target_name(*starred->value, visit);
  }
}

void for_each_bound_name(const ast::Statement& statement,
                         const std::function<void(const std::string&, Span)>& visit) {
  if (auto* assignment = statement.as<ast::Assignment>()) {
    for (const ast::ExprPtr& target : assignment->targets) for_each_target_name(*target, visit);
  } else if (auto* augmented = statement.as<ast::AugmentedAssignment>()) {
    for_each_target_name(*augmented->target, visit);
  } else if (auto* loop = statement.as<ast::For>()) {
    for_each_target_name(*loop->target, visit);
    for (const ast::Statement& inner : loop->body) for_each_bound_name(inner, visit);
  } else if (auto* loop = statement.as<ast::While>()) {
    for (const ast::Statement& inner : loop->body) for_each_bound_name(inner, visit);
  } else if (auto* branches = statement.as<ast::If>()) {
    for (const ast::Branch& branch : branches->branches) {
      for (const ast::Statement& inner : branch.body) for_each_bound_name(inner, visit);
    }
    for (const ast::Statement& inner : branches->else_body) for_each_bound_name(inner, visit);
  } else if (auto* with = statement.as<ast::With>()) {
    for (const ast::Statement& inner : with->body) for_each_bound_name(inner, visit);
  } else if (auto* damaged = statement.as<ast::Damaged>()) {
    for (const std::string& name : damaged->names) visit(name, statement.span);
  } else if (auto* deferred = statement.as<ast::Deferred>()) {
    for (const std::string& name : deferred->names) visit(name, statement.span);
  } else if (auto* function = statement.as<ast::FunctionDefinition>()) {
    visit(function->name, function->name_span);
  }
}

bool ends_in_returns(const ast::If& branches) {
  const auto ends = [](const ast::Block& body) {
    if (body.empty()) return false;
    auto* inner = body.back().as<ast::If>();
    return inner ? ends_in_returns(*inner) : body.back().as<ast::Return>() != nullptr;
  };
  return branches.has_else && ends(branches.else_body) &&
         std::all_of(branches.branches.begin(), branches.branches.end(),
                     [&](const ast::Branch& branch) { return ends(branch.body); });
}

bool declared_symbols(const ast::Expr& target, const ast::Expr& value, std::vector<DeclaredSymbol>& into) {
  if (auto* names = target.as<ast::TupleValue>()) {
    auto* values = value.as<ast::TupleValue>();
    if (!values || values->items.size() != names->items.size() || names->items.empty()) return false;
    std::vector<DeclaredSymbol> all;
    for (std::size_t i = 0; i < names->items.size(); ++i) {
      auto* call = values->items[i]->as<ast::Call>();
      auto* callee = call ? call->callee->as<ast::Attribute>() : nullptr;
      const std::string* name = ast::name_of(*names->items[i]);
      if (name && callee && callee->name == "meta_var" && call->arguments.size() == 1) {
        all.push_back({*name, names->items[i]->span, values->items[i].get(), call->arguments[0].value.get()});
        continue;
      }
      if (!declared_symbols(*names->items[i], *values->items[i], all)) return false;
    }
    into.insert(into.end(), all.begin(), all.end());
    return true;
  }
  const std::string* name = ast::name_of(target);
  auto* call = value.as<ast::Call>();
  if (!name || !call) return false;
  auto* attribute = call->callee->as<ast::Attribute>();
  if (!attribute) return false;
  // T.int64(is_size_var=True) says that the size is not negative, as every dimension.
  bool bare =
      call->arguments.empty() || (call->arguments.size() == 1 && call->arguments[0].name == "is_size_var" &&
                                  call->arguments[0].value->as<ast::BoolValue>());
  bool by_dtype = bare && dtype_from_name(unabbreviated(attribute->name)).has_value();
  bool by_var = attribute->name == "var" && call->arguments.size() == 1 &&
                call->arguments[0].value->as<ast::StringValue>();
  // T.Var("n", "int64"), and T.SizeVar of a size that is not negative
  const bool variable = attribute->name == "Var" || attribute->name == "SizeVar";
  by_var = by_var ||
           (variable && call->arguments.size() == 2 && call->arguments[0].value->as<ast::StringValue>() &&
            call->arguments[1].value->as<ast::StringValue>());
  // n = I.dynamic("n", dtype="int64"), of TVM behind 0.26
  by_var =
      by_var || (attribute->name == "dynamic" && !call->arguments.empty() && call->arguments.size() <= 2 &&
                 std::all_of(call->arguments.begin(), call->arguments.end(), [](const auto& argument) {
                   return argument.value->template as<ast::StringValue>();
                 }));
  if (!by_dtype && !by_var) return false;
  into.push_back({*name, target.span, &value});
  return true;
}

}  // namespace relish
