// Decorators of functions.
#include "frontend/module/decorators.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "ir/operators/user_gradient.h"
#include "ir/printer/reserved_names.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {
namespace {

// Features of TVM that run Python while the text is read or while the program runs.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> needs_python = {{
    {"R.macro", "it is expanded by Python; write its statements where they are used"},
    {"T.macro", "it is expanded by Python; write its statements where they are used"},
    {"T.inline", "it is expanded by Python; write its statements where they are used"},
    {"I.pyfunc", "it is a Python function; write it as an R.function or T.prim_func"},
    {"R.rewriter", "it rewrites modules by Python; use a command of the shell"},
    {"T.hybrid", "it is expanded by Python; write a T.prim_func"},
}};

// What @R.gradient(f), @R.gradient(cls.f), @R.gradient(R.exp) or @R.gradient("f") names.
std::string gradient_target(const Namespaces& namespaces, const ast::Expr& decorator) {
  auto* call = decorator.as<ast::Call>();
  std::string name;
  if (call && call->arguments.size() == 1) {
    const ast::Expr& value = *call->arguments[0].value;
    if (auto* text = value.as<ast::StringValue>()) {
      name = text->value;
    } else {
      name = namespaces.canonical(value);
      if (!name.starts_with("R.")) name = name.substr(name.rfind('.') + 1);
    }
  }
  if (name.empty()) {
    fail(ErrorClass::Type, decorator.span, "decorator.gradient",
         "R.gradient takes the function whose gradient this is");
  }
  return name;
}

}  // namespace

std::string_view decorator_kind(const Namespaces& namespaces, const ast::Expr& decorator) {
  auto* call = decorator.as<ast::Call>();
  std::string name = namespaces.canonical(call ? *call->callee : decorator);
  if (name == "R.function") return "function";
  if (name == "R.gradient") return "gradient";
  if (name == "T.prim_func") return "prim_func";
  if (name == "I.ir_module") return "module";
  return {};
}

std::string python_decorator(const Namespaces& namespaces, const ast::Expr& decorator) {
  auto* call = decorator.as<ast::Call>();
  std::string name = namespaces.canonical(call ? *call->callee : decorator);
  const bool known = std::any_of(needs_python.begin(), needs_python.end(),
                                 [&](const auto& each) { return each.first == name; });
  return known ? name : "";
}

namespace {

// What `from m import f` binds; a module by its name has advice of its own.
void keep_imported_names(ReadContext& context, const Line& line) {
  const bool modules = line.first_word == "import";
  Diagnostics ignored;
  LineParser parser(context.file, context.text, ignored);
  const auto statement = parser.simple(line);
  const auto* imported = statement ? statement->as<ast::Import>() : nullptr;
  if (!imported) return;
  for (const ast::Import::Bound& bound : imported->bound) {
    if (bound.name == "*" || bound.target.starts_with("tvm")) continue;
    if (modules)
      context.python_modules.insert(bound.name);
    else
      context.python_names.try_emplace(bound.name);
  }
}

}  // namespace

void keep_python_names(ReadContext& context, std::span<const Line> lines) {
  const Line& line = lines.back();
  if (line.damaged) return;
  if (line.first_word == "from" || line.first_word == "import") return keep_imported_names(context, line);
  const std::string_view text = context.text_of(line.span);
  const bool function = line.first_word == "def";
  if (function || line.first_word == "class") {
    const std::size_t begin = std::min(text.find_first_not_of(" \t", line.first_word.size()), text.size());
    ReadContext::PythonName made{function, {}};
    Diagnostics ignored;
    LineParser parser(context.file, context.text, ignored);
    for (const Line& above : lines.first(lines.size() - 1)) {
      const ast::ExprPtr decorator = parser.decorator(above);
      if (decorator && made.decorator.empty())
        made.decorator = python_decorator(context.namespaces, *decorator);
    }
    context.python_names[std::string(text.substr(begin, text.find_first_of("(:", begin) - begin))] =
        std::move(made);
    return;
  }
  // What an if, a loop or a try binds stays bound behind it.
  for (std::size_t begin = 0, i = 0; i < line.body.size(); ++i) {
    if (line.body[i].first_word == "@") continue;
    keep_python_names(context, std::span(line.body).subspan(begin, i - begin + 1));
    begin = i + 1;
  }
  // a, b = f(): what stands in front is names and commas.
  const std::size_t end = text.find('=');
  if (line.header || line.first_word.empty() || end == std::string_view::npos) return;
  const std::string_view targets = text.substr(0, end);
  if (!std::all_of(targets.begin(), targets.end(),
                   [](char c) { return is_name_part(c) || c == ',' || c == ' '; }))
    return;
  const bool lambda = text.substr(end).find("lambda") != std::string_view::npos;
  for (std::size_t at = 0; at < targets.size();) {
    std::size_t behind = at;
    while (behind < targets.size() && is_name_part(targets[behind])) ++behind;
    if (behind > at) context.python_names[std::string(targets.substr(at, behind - at))].is_function = lambda;
    at = behind + 1;
  }
}

void keep_python_function(ReadContext& context, const ast::FunctionDefinition& definition) {
  for (const ast::ExprPtr& each : definition.decorators) {
    std::string decorator = python_decorator(context.namespaces, *each);
    if (!decorator.empty()) context.python_names[definition.name] = {true, std::move(decorator)};
  }
}

void refuse_python_name(const ReadContext& context, const std::string& name, Span at) {
  const auto found = context.python_names.find(name);
  if (found == context.python_names.end()) return;
  if (!context.python_file) throw ReadContext::Silent{};
  const auto& [is_function, decorator] = found->second;
  const std::string text = printable(name);
  fail(ErrorClass::Syntax, at, "refused.python",
       !decorator.empty() ? fmt::format("found '{}', which Python expands by @{}; write its statements here",
                                        text, decorator)
       : is_function
           ? fmt::format("found '{}', a function of Python, which does not run here; write what it makes",
                         text)
           : fmt::format("found '{}', a name of Python's, whose statements do not run here; write its value",
                         text));
}

void refuse_python(const ReadContext& context, const ast::Expr& decorator) {
  auto* call = decorator.as<ast::Call>();
  std::string name = context.namespaces.canonical(call ? *call->callee : decorator);
  for (auto [refused, advice] : needs_python) {
    if (name == refused) {
      fail(ErrorClass::Syntax, decorator.span, "refused.python",
           fmt::format("'@{}' is not supported: {}", name, advice));
    }
  }
}

// A gradient is made of operators: a prim_func cannot stand where gradient() would write its own bindings.
void refuse_gradient_of_prim_func(const FunctionOptions& options, const ast::FunctionDefinition& definition) {
  if (!options.prim_func || !find_attribute(options.attributes, gradient_attribute)) return;
  fail(ErrorClass::Type, definition.name_span, "gradient.kind",
       fmt::format("the gradient '{}' is a prim_func; expected an R.function, which may call it by call_tir",
                   printable(definition.name)));
}

FunctionOptions read_decorators(const ReadContext& context, const ast::FunctionDefinition& definition) {
  FunctionOptions options;
  if (definition.decorators.empty()) {
    fail(ErrorClass::Syntax, definition.name_span, "refused.def",
         fmt::format("plain functions are not supported: found def {} without a decorator; expected "
                     "@R.function or @T.prim_func",
                     printable(definition.name)));
  }
  for (const ast::ExprPtr& decorator : definition.decorators) {
    auto* call = decorator->as<ast::Call>();
    std::string_view kind = decorator_kind(context.namespaces, *decorator);
    if (kind == "gradient") {
      options.attributes = with_attribute(std::move(options.attributes), gradient_attribute,
                                          gradient_target(context.namespaces, *decorator));
      continue;
    }
    if (kind != "function" && kind != "prim_func") {
      refuse_python(context, *decorator);
      const ast::Expr& word = call ? *call->callee : *decorator;
      fail(ErrorClass::Type, decorator->span, "decorator.unknown",
           fmt::format("found the decorator '{}'; expected R.function or T.prim_func",
                       printable(context.text_of(decorator->span), 40)),
           write_nearest(word.span, context.text_of(word.span),
                         std::vector<std::string>{"R.function", "T.prim_func"}));
    }
    options.prim_func = kind == "prim_func";
    if (!call) continue;
    static const std::vector<std::string> names = {"private", "pure", "check_well_formed"};
    static const std::vector<std::string> prim_names = {"private", "check_well_formed", "s_tir"};
    for (const ast::Argument& argument : call->arguments) {
      auto* value = argument.value->as<ast::BoolValue>();
      bool harmless = options.prim_func && argument.name == "s_tir";
      if (value && argument.name == "private") {
        options.is_private = value->value;
      } else if (value && argument.name == "pure" && !options.prim_func) {
        options.pure = value->value;
      } else if (value && argument.name == "check_well_formed") {
        options.check_well_formed = value->value;
        if (!value->value)
          options.attributes = with_attribute(std::move(options.attributes), unchecked_attribute, false);
      } else if (!value || !harmless) {
        fail(ErrorClass::Type, argument.name.empty() ? argument.value->span : argument.name_span,
             "decorator.argument",
             fmt::format("found an argument of {} that it does not have; expected private=True or False",
                         ast::dotted_name(*call->callee)),
             argument.name.empty()
                 ? std::vector<DiagnosticNote>()
                 : write_nearest(argument.name_span, argument.name, options.prim_func ? prim_names : names));
      }
    }
  }
  refuse_gradient_of_prim_func(options, definition);
  return options;
}

}  // namespace relish
