// Constants by a script of their own, which knows nothing but other constants.
#include "shell/script/constant_values.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "frontend/text/ast_walk.h"
#include "shell/script/script.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

// What a constant may be in a function: numbers, strs, and lists and tuples of them.
ast::ExprPtr literal_of(const ScriptValue& value, Span span) {
  const auto made = [&](ast::ExprKind kind) {
    return std::make_unique<ast::Expr>(ast::Expr{span, std::move(kind)});
  };
  if (const auto* flag = value.as<bool>()) return made(ast::BoolValue{*flag});
  if (const auto* integer = value.as<std::int64_t>()) return made(ast::IntValue{*integer});
  if (const auto* real = value.as<double>()) return made(ast::FloatValue{*real});
  if (const std::string* text = value.string()) return made(ast::StringValue{*text});
  if (value.is_none()) return made(ast::NoneValue{});
  std::vector<ast::ExprPtr> items;
  for_each_item(value, span, [&](const ScriptValue& item) {
    items.push_back(literal_of(item, span));
    return true;
  });
  if (value.sequence() && value.sequence()->tuple) return made(ast::TupleValue{std::move(items)});
  return made(ast::ListValue{std::move(items)});
}

}  // namespace

std::shared_ptr<const ast::Expr> literal_of(const ScriptValue& value) {
  const std::function<bool(const ScriptValue&)> is_plain = [&](const ScriptValue& each) {
    const ScriptList* list = each.sequence();
    if (list) return std::all_of(list->items.begin(), list->items.end(), is_plain);
    return each.is_number() || each.is_none() || each.string() || each.as<ScriptRange>();
  };
  return is_plain(value) ? std::shared_ptr<const ast::Expr>(literal_of(value, {})) : nullptr;
}

ConstantValue constant_values(std::vector<std::pair<std::string, std::string>> arguments) {
  return [arguments = std::move(arguments)](const ast::Expr& expr, const ConstantLiterals& known) {
    Settings settings;
    settings.tier = "interp";
    settings.sets = arguments;
    Session session(std::move(settings), std::make_unique<StringOutput>());
    Script script(session);
    return literal_of(script.constant(expr, known), expr.span);
  };
}

void find_arg_calls(const ast::Expr& expr, const std::function<void(const ast::Call&, Span)>& visit) {
  ast::for_each_expr(expr, [&](const ast::Expr& inner) {
    const auto* call = inner.as<ast::Call>();
    const std::string* name = call ? ast::name_of(*call->callee) : nullptr;
    if (name && *name == "arg") visit(*call, inner.span);
  });
}

std::set<std::string> declared_arguments(const ast::Block& statements) {
  std::set<std::string> names;
  for (const ast::Statement& statement : statements) {
    for (const ast::Expr* expr : ast::own_expressions(statement)) {
      find_arg_calls(*expr, [&](const ast::Call& call, Span) {
        const auto* name = call.arguments.empty() ? nullptr : call.arguments[0].value->as<ast::StringValue>();
        if (name) names.insert(name->value);
      });
    }
  }
  return names;
}

std::string arguments_help(const ast::Block& statements) {
  std::string text;
  const auto written = [](const ast::Expr& expr) {
    const SourceFile* source = Sources::instance().find(expr.span.file);
    return source ? source->text().substr(expr.span.begin, expr.span.end - expr.span.begin) : std::string();
  };
  for (const ast::Statement& statement : statements) {
    for (const ast::Expr* expr : ast::own_expressions(statement)) {
      find_arg_calls(*expr, [&](const ast::Call& call, Span) {
        const auto* name = call.arguments.empty() ? nullptr : call.arguments[0].value->as<ast::StringValue>();
        if (!name) return;
        std::string fallback, type;
        for (std::size_t i = 1; i < call.arguments.size(); ++i) {
          const ast::Argument& argument = call.arguments[i];
          (argument.name == "type" ? type : fallback) = written(*argument.value);
        }
        const std::string wanted = type.empty() ? "required" : type + ", required";
        text += fmt::format("\n  --set {}={}{}", name->value, fallback.empty() ? "VALUE" : fallback,
                            fallback.empty() ? "  (" + wanted + ")" : "");
      });
    }
  }
  return text.empty() ? "It asks for no arguments." : "Its arguments:" + text;
}

void check_arguments(const std::vector<std::pair<std::string, std::string>>& arguments,
                     const std::set<std::string>& declared) {
  for (const auto& [name, value] : arguments) {
    if (declared.contains(name)) continue;
    const std::vector<std::string> known(declared.begin(), declared.end());
    fail(ErrorClass::Usage, {}, "arg.unknown",
         fmt::format("--set: the script declares no argument '{}'{}", printable(name),
                     did_you_mean(name, known)));
  }
}

}  // namespace relish
