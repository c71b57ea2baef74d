// Declarations of a module, built in the order that their types need.
#include "frontend/module_builder.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/attribute_reader.h"
#include "frontend/prim_func_builder.h"
#include "support/fix.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {

struct ModuleBuilder::Declaration {
  const ast::FunctionDefinition* definition = nullptr;
  CommentsPtr comments;
  bool prim_func = false;
  bool is_private = false;
  bool pure = true;
  Attributes attributes;
  bool refused = false;  // its decorators are wrong
  enum class State : std::uint8_t { Declared, Building, Built } state = State::Declared;
  std::unique_ptr<GraphBuilder> graph;
  FunctionPtr function;
  PrimFuncPtr prim;
};

std::string_view decorator_kind(const Namespaces& namespaces, const ast::Expr& decorator) {
  auto* call = decorator.as<ast::Call>();
  std::string name = namespaces.canonical(call ? *call->callee : decorator);
  if (name == "R.function") return "function";
  if (name == "R.gradient") return "gradient";
  if (name == "T.prim_func") return "prim_func";
  if (name == "I.ir_module") return "module";
  return {};
}

ModuleBuilder::ModuleBuilder(ReadContext& context, std::string name, const Module* session,
                             const ConstantTable& constants, const std::vector<std::string>& modules,
                             ModuleLinks& links)
    : context_(context), session_(session), constants_(constants), modules_(modules), links_(links) {
  module_.name = std::move(name);
}

ModuleBuilder::~ModuleBuilder() = default;

void ModuleBuilder::declare(const ast::Statement& statement) {
  auto& definition = *statement.as<ast::FunctionDefinition>();
  auto declaration = std::make_unique<Declaration>();
  declaration->definition = &definition;
  declaration->comments = statement.comments;
  declaration->refused = !context_.attempt([&] { read_decorators(*declaration); });
  auto earlier = by_name_.find(definition.name);
  if (earlier != by_name_.end()) {
    context_.diagnostics
        .error(ErrorClass::Type, definition.name_span, "function.twice",
               fmt::format("found the function '{}' twice", printable(definition.name)))
        .note(earlier->second->definition->name_span, "it is defined here first");
    context_.unresolved = true;
  } else {
    by_name_[definition.name] = declaration.get();
  }
  declarations_.push_back(std::move(declaration));
}

void ModuleBuilder::read_decorators(Declaration& declaration) {
  const ast::FunctionDefinition& definition = *declaration.definition;
  auto error = [&](Span at, std::string_view id, std::string message) {
    fail(ErrorClass::Type, at, id, std::move(message));
  };
  if (definition.decorators.empty()) {
    fail(ErrorClass::Syntax, definition.name_span, "refused.def",
         fmt::format("plain functions are not supported: found def {} without a decorator; expected "
                     "@R.function or @T.prim_func",
                     printable(definition.name)));
  }
  for (const ast::ExprPtr& decorator : definition.decorators) {
    auto* call = decorator->as<ast::Call>();
    std::string_view kind = decorator_kind(context_.namespaces, *decorator);
    if (kind == "gradient") {
      const std::string* target =
          call && call->arguments.size() == 1 ? ast::name_of(*call->arguments[0].value) : nullptr;
      auto* text =
          call && call->arguments.size() == 1 ? call->arguments[0].value->as<ast::StringValue>() : nullptr;
      std::string name = target ? *target : text ? text->value : std::string();
      if (name.empty() && call && call->arguments.size() == 1)
        name = ast::dotted_name(*call->arguments[0].value);
      std::size_t dot = name.rfind('.');
      if (!text && dot != std::string::npos) name = name.substr(dot + 1);
      if (name.empty())
        error(decorator->span, "decorator.gradient", "R.gradient takes the function whose gradient this is");
      declaration.attributes = with_attribute(std::move(declaration.attributes), "relish.gradient_of", name);
      continue;
    }
    if (kind != "function" && kind != "prim_func") {
      const ast::Expr& word = call ? *call->callee : *decorator;
      fail(ErrorClass::Type, decorator->span, "decorator.unknown",
           fmt::format("found the decorator '{}'; expected R.function or T.prim_func",
                       printable(context_.text_of(decorator->span), 40)),
           write_nearest(word.span, context_.text_of(word.span),
                         std::vector<std::string>{"R.function", "T.prim_func"}));
    }
    declaration.prim_func = kind == "prim_func";
    if (!call) continue;
    for (const ast::Argument& argument : call->arguments) {
      auto* value = argument.value->as<ast::BoolValue>();
      bool harmless =
          argument.name == "check_well_formed" || (declaration.prim_func && argument.name == "s_tir");
      if (value && argument.name == "private") {
        declaration.is_private = value->value;
      } else if (value && argument.name == "pure" && !declaration.prim_func) {
        declaration.pure = value->value;
      } else if (!value || !harmless) {
        error(argument.name.empty() ? argument.value->span : argument.name_span, "decorator.argument",
              fmt::format("found an argument of {} that it does not have; expected private=True or False",
                          ast::dotted_name(*call->callee)));
      }
    }
  }
}

void ModuleBuilder::declare_class_statement(const ast::Statement& statement) {
  context_.attempt([&] {
    if (statement.as<ast::Pass>()) return;
    if (auto* damaged = statement.as<ast::Damaged>()) {
      damaged_names_.insert(damaged->names.begin(), damaged->names.end());
      throw ReadContext::Silent{};
    }
    auto* expression = statement.as<ast::ExpressionStatement>();
    if (expression && expression->value->as<ast::StringValue>()) return;  // a docstring
    auto* call = expression ? expression->value->as<ast::Call>() : nullptr;
    std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
    if (name == "I.module_attrs") {
      for (auto& [key, value] : read_attribute_dictionary(context_, *expression->value)) {
        module_.attributes = with_attribute(std::move(module_.attributes), key, std::move(value));
      }
      return;
    }
    if (name == "I.module_global_infos") return;  // devices: there is one
    if (auto* assignment = statement.as<ast::Assignment>(); assignment && assignment->value) {
      auto* made = assignment->value->as<ast::Call>();
      std::string maker = made ? context_.namespaces.canonical(*made->callee) : std::string();
      const std::string* variable = ast::name_of(*assignment->targets[0]);
      if (variable && (maker == "TypeVar" || maker == "typing.TypeVar")) {
        context_.type_variables.insert(*variable);
        return;
      }
      if (maker == "R.ExternFunc") {
        fail(ErrorClass::Policy, assignment->value->span, "native.call",
             "R.ExternFunc names a native function, which was not opted in");
      }
    }
    fail(ErrorClass::Type, statement.span, "class.statement",
         "found a statement in a module; expected functions, I.module_attrs or a docstring");
  });
}

void ModuleBuilder::ensure_header(Declaration& declaration) {
  if (declaration.graph) return;
  declaration.graph = std::make_unique<GraphBuilder>(context_, *this, *declaration.definition);
  declaration.graph->read_header();
}

void ModuleBuilder::build_declaration(Declaration& declaration) {
  if (declaration.state != Declaration::State::Declared) return;
  declaration.state = declaration.refused ? Declaration::State::Built : Declaration::State::Building;
  if (declaration.refused) return;
  if (declaration.prim_func) {
    declaration.prim = PrimFuncBuilder(context_).build(*declaration.definition, declaration.comments,
                                                       declaration.is_private);
  } else {
    ensure_header(declaration);
    declaration.function = declaration.graph->build(declaration.comments, declaration.is_private,
                                                    declaration.pure, declaration.attributes);
  }
  declaration.state = Declaration::State::Built;
}

Module ModuleBuilder::build() {
  for (auto& declaration : declarations_) build_declaration(*declaration);
  for (auto& declaration : declarations_) {
    if (by_name_.at(declaration->definition->name) != declaration.get()) continue;
    if (auto function = built(*declaration->definition)) module_.functions.push_back(std::move(*function));
    declaration->graph.reset();
  }
  for (GlobalFunction& function : linked_.functions) module_.functions.push_back(std::move(function));
  return std::move(module_);
}

std::optional<GlobalFunction> ModuleBuilder::built(const ast::FunctionDefinition& definition) const {
  auto found = by_name_.find(definition.name);
  if (found == by_name_.end() || found->second->definition != &definition) return std::nullopt;
  if (found->second->prim) return GlobalFunction(found->second->prim);
  if (found->second->function) return GlobalFunction(found->second->function);
  return std::nullopt;
}

std::optional<GlobalMeaning> ModuleBuilder::find_global(const std::string& name, Span use) {
  auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    if (damaged_names_.contains(name)) throw ReadContext::Silent{};
    const GlobalFunction* known = linked_.find(name);
    if (!known && session_) known = session_->find(name);
    if (!known) return std::nullopt;
    GlobalMeaning meaning{global_ref(*known, use), nullptr, false};
    if (auto* prim = std::get_if<PrimFuncPtr>(known)) meaning = {meaning.reference, *prim, true};
    return meaning;
  }
  Declaration& declaration = *found->second;
  Type failed(TypeKind(ErrorType{}));
  if (declaration.refused)
    return GlobalMeaning{global_ref(name, failed, use), nullptr, declaration.prim_func};
  if (declaration.prim_func) {
    build_declaration(declaration);
    if (!declaration.prim) return GlobalMeaning{global_ref(name, failed, use), nullptr, true};
    return GlobalMeaning{global_ref(GlobalFunction(declaration.prim), use), declaration.prim, true};
  }
  ensure_header(declaration);
  if (declaration.graph->header_failed()) return GlobalMeaning{global_ref(name, failed, use), nullptr, false};
  if (declaration.graph->has_result_annotation()) {
    FunctionType type = declaration.graph->signature();
    type.pure = declaration.pure;
    return GlobalMeaning{global_ref(name, Type(std::move(type)), use), nullptr, false};
  }
  if (declaration.state == Declaration::State::Building) {
    fail(ErrorClass::Type, use, "function.recursive",
         fmt::format("found a recursive use of '{}', whose result type is inferred; expected -> and its type",
                     printable(name)),
         {{declaration.definition->name_span, "it is defined here"}});
  }
  // Each result type that is inferred from the next costs stack.
  if (inferring_ >= limits().max_call_depth) {
    fail(ErrorClass::ResourceLimit, use, "limit.inference",
         fmt::format(
             "found more than {} functions whose result types depend on each other; expected -> and a type",
             limits().max_call_depth));
  }
  ++inferring_;
  build_declaration(declaration);
  --inferring_;
  if (!declaration.function) return GlobalMeaning{global_ref(name, failed, use), nullptr, false};
  return GlobalMeaning{global_ref(name, Type(function_type_of(*declaration.function)), use), nullptr, false};
}

bool ModuleBuilder::is_other_module(const std::string& name) const {
  if (links_.loads(name)) return true;
  return name != module_.name && std::binary_search(modules_.begin(), modules_.end(), name);
}

// The function and all that it refers to come in by copy; a name that the module has already is a clash.
std::optional<std::string> ModuleBuilder::linked_function(const std::string& module,
                                                          const std::string& function, Span use) {
  auto copies = links_.link(module, function, use);
  if (!copies) return std::nullopt;
  for (const GlobalFunction& copy : *copies) {
    const std::string& name = name_of(copy);
    auto own = by_name_.find(name);
    bool declared = own != by_name_.end();
    const GlobalFunction* earlier = session_ ? session_->find(name) : nullptr;
    bool foreign = earlier && *earlier != copy && !links_.linked_before(name);
    if (declared || foreign) {
      std::vector<DiagnosticNote> notes;
      if (declared) notes.push_back({own->second->definition->name_span, "it is defined here"});
      fail(ErrorClass::Type, use, "link.clash",
           fmt::format("'{}.{}' comes in as '{}', which the module has already; rename one of them",
                       printable(module), printable(function), printable(name)),
           std::move(notes));
    }
    if (!linked_.find(name)) linked_.set(copy);
  }
  return links_.linked_name(module, function);
}

std::vector<std::string> ModuleBuilder::global_names() const {
  if (!context_.may_suggest()) return {};
  std::vector<std::string> names;
  for (const auto& [name, declaration] : by_name_) names.push_back(name);
  if (session_) {
    for (std::string& name : session_->names()) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  context_.count_suggestion(names.size());
  return names;
}

const Tensor* ModuleBuilder::find_constant(const std::string& name) {
  auto found = constants_.find(name);
  return found == constants_.end() ? nullptr : &found->second;
}

}  // namespace relish
