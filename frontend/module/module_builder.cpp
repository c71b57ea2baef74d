// Declarations of a module, built in the order that their types need.
#include "frontend/module/module_builder.h"

#include "frontend/names/suggestions.h"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "frontend/module/device_names.h"
#include "frontend/module/gradient_target.h"
#include "frontend/module/python_uses.h"
#include "frontend/prim_func/block_variables.h"
#include "frontend/prim_func/prim_func_builder.h"
#include "frontend/types/attribute_reader.h"
#include "ir/calls/roles.h"
#include "ir/operators/user_gradient.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "support/fix.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {
namespace {

// Signatures of roles are held to the types of their functions.
void check_roles(const Module& module, ReadContext& context) {
  for (const GlobalFunction& global : module.functions) {
    auto* graph = std::get_if<FunctionPtr>(&global);
    const std::optional<std::string> fault = graph ? role_fault(**graph) : std::nullopt;
    if (!fault) continue;
    context.attempt_typed([&] {
      fail(ErrorClass::Type, (*graph)->span, "verify.role",
           fmt::format("{}: {}: {}", printable((*graph)->name), role_attribute, *fault));
    });
  }
}

}  // namespace

struct ModuleBuilder::Declaration {
  ast::FunctionDefinition* definition = nullptr;
  Span whole;
  CommentsPtr comments;
  FunctionOptions options;
  bool refused = false;  // its decorators are wrong
  enum class State : std::uint8_t { Declared, Building, Built } state = State::Declared;
  std::unique_ptr<GraphBuilder> graph;  // from its header to the end of its body
  struct Header {
    bool failed;
    std::optional<FunctionType> annotated;  // when the result's type is written
  };
  std::optional<Header> header;
  FunctionPtr function;
  PrimFuncPtr prim;
  std::string unread_callee;  // a function that it uses and that could not be read
};

ModuleBuilder::ModuleBuilder(ReadContext& context, std::string name, const Module* session,
                             const ConstantTable& constants, const std::vector<std::string>& modules,
                             ModuleLinks& links)
    : context_(context), session_(session), constants_(constants), modules_(modules), links_(links) {
  module_.name = std::move(name);
}

ModuleBuilder::~ModuleBuilder() = default;

void ModuleBuilder::declare(ast::Statement& statement) {
  auto& definition = *statement.as<ast::FunctionDefinition>();
  auto declaration = std::make_unique<Declaration>();
  declaration->definition = &definition;
  declaration->whole = statement.whole;
  declaration->comments = statement.comments;
  declaration->refused =
      !context_.attempt([&] { declaration->options = read_decorators(context_, definition); });
  if (declaration->refused) keep_python_function(context_, definition);
  declaration->options.check_well_formed &= checked_;
  if (is_first(definition.name, definition.name_span)) by_name_[definition.name] = declaration.get();
  declarations_.push_back(std::move(declaration));
}

std::optional<Span> ModuleBuilder::declared_at(const std::string& name) const {
  if (auto found = by_name_.find(name); found != by_name_.end()) return found->second->definition->name_span;
  if (auto found = natives_.by_name.find(name); found != natives_.by_name.end()) return found->second->span;
  return std::nullopt;
}

bool ModuleBuilder::is_first(const std::string& name, Span at) {
  const std::optional<Span> earlier = declared_at(name);
  if (!earlier) return true;
  context_.diagnostics
      .error(ErrorClass::Type, at, "function.twice",
             fmt::format("found the function '{}' twice", printable(name)))
      .note(*earlier, "it is defined here first")
      .notes.push_back(
          write_here(at, fresh_name(context_.may_search() ? context_.text : std::string_view(), name)));
  context_.unresolved = true;
  return false;
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
      for (auto& [key, value] : read_attribute_dictionary(context_, *expression->value, NamePlace::Module)) {
        if (find_attribute(module_.attributes, key)) {
          fail(ErrorClass::Type, statement.span, "attribute.twice",
               fmt::format("found a second value of the attribute '{}'; expected one", printable(key)));
        }
        module_.attributes = with_attribute(std::move(module_.attributes), key, std::move(value));
      }
      return;
    }
    if (name == "I.module_global_infos") return read_global_infos(*call);
    if (auto* assignment = statement.as<ast::Assignment>(); assignment && assignment->value) {
      auto* made = assignment->value->as<ast::Call>();
      std::string maker = made ? context_.namespaces.canonical(*made->callee) : std::string();
      const std::string* variable = ast::name_of(*assignment->targets[0]);
      if (variable && made && context_.namespaces.makes_size(*made->callee)) {
        context_.type_variables.insert(*variable);
        return;
      }
      if (variable && maker == "R.ExternFunc") {
        return declare_extern(statement, *assignment->targets[0], *variable, *made);
      }
    }
    if (auto* inner = statement.as<ast::ClassDefinition>()) {
      fail(ErrorClass::Syntax, inner->name_span, "refused.nested",
           fmt::format("found the class '{}' inside a module; expected functions", printable(inner->name)));
    }
    auto* assigned = statement.as<ast::Assignment>();
    auto* made = assigned && assigned->value ? assigned->value->as<ast::Call>() : call;
    static const std::vector<std::string> calls = {"I.module_attrs", "I.module_global_infos"};
    static const std::vector<std::string> makers = {"R.ExternFunc", "TypeVar"};
    std::vector<DiagnosticNote> notes;
    if (made) {
      notes = write_nearest(made->callee->span, context_.namespaces.canonical(*made->callee),
                            assigned ? makers : calls);
    }
    fail(ErrorClass::Type, statement.span, "class.statement",
         "found a statement in a module; expected functions, I.module_attrs or a docstring",
         std::move(notes));
  });
}

// I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), ...]}): kept as written, each entry as the name of
// its call and its arguments.
void ModuleBuilder::read_global_infos(const ast::Call& call) {
  auto* dictionary = call.arguments.size() == 1 ? call.arguments[0].value->as<ast::DictValue>() : nullptr;
  if (!dictionary) {
    fail(ErrorClass::Type, call.callee->span, "module.global_infos",
         "I.module_global_infos takes one dictionary of lists");
  }
  for (const auto& [key, value] : dictionary->items) {
    auto* name = key->as<ast::StringValue>();
    auto* list = value->as<ast::ListValue>();
    if (!name || !list) {
      fail(ErrorClass::Type, name ? value->span : key->span, "module.global_infos",
           fmt::format("found {} in I.module_global_infos; expected a string and a list",
                       ast::describe(name ? *value : *key)));
    }
    refuse_reserved(NamePlace::Module, name->value, {}, key->span);
    if (find_attribute(module_.global_infos, name->value)) {
      fail(ErrorClass::Type, key->span, "attribute.twice",
           fmt::format("found the key '{}' twice; expected it once", printable(name->value)));
    }
    AttributeList entries;
    for (const ast::ExprPtr& item : list->items) {
      auto* made = item->as<ast::Call>();
      std::string form = made ? context_.namespaces.canonical(*made->callee) : std::string();
      if (form.substr(0, 2) != "I." && form.substr(0, 2) != "R.") {
        fail(ErrorClass::Type, item->span, "module.global_infos",
             fmt::format("found {}; expected a device such as I.vdevice(\"llvm\")", ast::describe(*item)));
      }
      if (form == "I.mesh" || form == "R.device_mesh" || form == "R.dist.device_mesh") {
        fail(ErrorClass::Type, item->span, "unsupported.distributed",
             fmt::format("{}: distributed tensors are not supported", form));
      }
      if (form == "I.vdevice" && made->arguments.empty()) {
        fail(ErrorClass::Type, item->span, "module.global_infos",
             "found a device without a target; expected one such as I.vdevice(\"llvm\")");
      }
      AttributeList args;
      for (const ast::Argument& argument : made->arguments)
        args.push_back(read_attribute(context_, *argument.value));
      for (std::size_t i = 0; i < args.size(); ++i)  // a target, an index, and the scope of a memory
        if (const auto* text = args[i].as<std::string>())
          refuse_reserved_scope(*text, made->arguments[i].value->span);
      entries.emplace_back(Attributes{{"form", Attribute(form)}, {"args", Attribute(std::move(args))}});
    }
    module_.global_infos =
        with_attribute(std::move(module_.global_infos), name->value, Attribute(std::move(entries)));
  }
}

// `name = R.ExternFunc("symbol")`, perhaps with a type.
void ModuleBuilder::declare_extern(const ast::Statement& statement, const ast::Expr& target,
                                   const std::string& name, const ast::Call& call) {
  auto* symbol = call.arguments.empty() ? nullptr : call.arguments[0].value->as<ast::StringValue>();
  if (!symbol || symbol->value.empty() || call.arguments.size() > 2) {
    // Most often the function has the name of its symbol.
    std::vector<DiagnosticNote> notes;
    if (!call.arguments.empty() && call.arguments.size() <= 2) {
      const ast::Expr& given = *call.arguments[0].value;
      const std::string* spelt = ast::name_of(given);
      notes.push_back(write_here(given.span, fmt::format("\"{}\"", spelt ? *spelt : name)));
    }
    fail(ErrorClass::Type, call.callee->span, "native.symbol",
         "R.ExternFunc takes the symbol of a native function and perhaps its type", std::move(notes));
  }
  auto function = std::make_shared<ExternFunction>();
  function->name = name;
  function->symbol = symbol->value;
  function->span = statement.span;
  function->comments = statement.comments;
  if (call.arguments.size() == 2) {
    SymbolTable symbols;
    symbols.declare_strings(*call.arguments[1].value, DType::Int64);
    function->type = TypeReader(context_, symbols).read(*call.arguments[1].value);
  }
  if (!is_first(name, target.span)) return;
  natives_.order.push_back(declarations_.size());
  natives_.by_name[name] = function;
  natives_.all.push_back(std::move(function));
}

void ModuleBuilder::ensure_header(Declaration& declaration) {
  if (declaration.graph || declaration.header) return;
  declaration.graph = std::make_unique<GraphBuilder>(context_, *this, *declaration.definition);
  declaration.header = {true, std::nullopt};
  const std::size_t told = context_.diagnostics.all().size();
  declaration.graph->read_header();
  tell_python_uses(context_, *declaration.definition, declaration.whole, told);
  const GraphBuilder& graph = *declaration.graph;
  declaration.header->failed = graph.header_failed();
  if (!graph.header_failed() && graph.has_result_annotation())
    declaration.header->annotated = graph.signature();
}

void ModuleBuilder::build_declaration(Declaration& declaration) {
  if (declaration.state != Declaration::State::Declared) return;
  declaration.state = declaration.refused ? Declaration::State::Built : Declaration::State::Building;
  if (declaration.refused) return;
  Declaration* const outer = std::exchange(building_, &declaration);
  const std::size_t told = context_.diagnostics.all().size();
  if (declaration.options.prim_func) {
    declaration.prim = PrimFuncBuilder(context_, *this)
                           .build(*declaration.definition, declaration.comments, declaration.options);
    if (declaration.prim && declaration.options.check_well_formed) {
      check_block_variables(*declaration.prim, context_.diagnostics);
    }
  } else {
    ensure_header(declaration);
    declaration.function = declaration.graph->build(declaration.comments, declaration.options);
    declaration.graph.reset();
    // In a class the name of the function is its symbol; a free function may be known by another.
    const Attribute* symbol =
        declaration.function && (!session_ || lists_devices_) && declaration.options.check_well_formed
            ? find_attribute(declaration.function->attributes, "global_symbol")
            : nullptr;
    if (symbol) {
      context_.attempt_typed([&] {
        fail(ErrorClass::Type, declaration.definition->name_span, "function.symbol",
             fmt::format("found the global_symbol {} of the function '{}'; expected its name", print(*symbol),
                         printable(declaration.definition->name)));
      });
    }
  }
  building_ = outer;
  tell_python_uses(context_, *declaration.definition, declaration.whole, told);
  ast::Block().swap(declaration.definition->body);  // larger than what was built from it
  declaration.state = Declaration::State::Built;
}

Module ModuleBuilder::build() {
  if (lists_devices_) {
    context_.check_device = [this](std::string_view device, Span at) {
      check_device_name(module_.global_infos, device, at);
    };
  }
  for (auto& declaration : declarations_) build_declaration(*declaration);
  context_.check_device = nullptr;
  std::size_t next_extern = 0;
  for (std::size_t i = 0; i <= declarations_.size(); ++i) {
    // Native functions stand where the text has them.
    while (next_extern < natives_.all.size() && natives_.order[next_extern] == i)
      module_.functions.push_back(natives_.all[next_extern++]);
    if (i == declarations_.size()) break;
    auto& declaration = declarations_[i];
    if (auto function = built(*declaration->definition)) module_.functions.push_back(std::move(*function));
  }
  drop_callers_of_unread();
  check_gradients();
  check_roles(module_, context_);
  for (const GlobalFunction& function : linked_.functions) module_.functions.push_back(function);
  return std::move(module_);
}

// A function that calls one that could not be read cannot be used either, and so on.
void ModuleBuilder::drop_callers_of_unread() {
  const auto tell = [&](const Declaration& caller, const std::string& callee) {
    Diagnostic told;
    told.severity = Severity::Warning;
    told.id = "unsupported.callee";
    told.span = caller.definition->name_span;
    told.message = fmt::format("'{}' calls '{}', which is left out; left out",
                               printable(caller.definition->name), printable(callee));
    context_.callers_of_unread.push_back(std::move(told));
  };
  // Who calls whom of the module, and by which missing name each of its functions is left out.
  std::unordered_map<std::string, std::vector<std::string>> callers;
  std::unordered_map<std::string, std::string> missing;
  std::vector<std::string> gone;
  std::unordered_set<std::string_view> present;
  for (const GlobalFunction& global : module_.functions) present.insert(name_of(global));
  for (const GlobalFunction& global : module_.functions) {
    const auto* graph = std::get_if<FunctionPtr>(&global);
    if (!graph) continue;
    for (const std::string& callee : global_references(**graph)) {
      if (present.contains(callee)) {
        callers[callee].push_back((*graph)->name);
      } else if (by_name_.count(callee) && missing.emplace((*graph)->name, callee).second) {
        gone.push_back((*graph)->name);
      }
    }
  }
  // Those whose own type hangs on one that could not be read were not read either.
  for (const auto& declaration : declarations_)
    if (!declaration->unread_callee.empty() && !built(*declaration->definition))
      tell(*declaration, declaration->unread_callee);
  for (std::size_t i = 0; i < gone.size(); ++i) {
    tell(*by_name_.at(gone[i]), missing.at(gone[i]));
    const auto found = callers.find(gone[i]);
    if (found == callers.end()) continue;
    for (const std::string& caller : found->second)
      if (missing.emplace(caller, gone[i]).second) gone.push_back(caller);
  }
  if (gone.empty()) return;
  module_.functions.remove_if(
      [&](const GlobalFunction& global) { return missing.contains(name_of(global)); });
}

// A user's gradient of f: a function of f's inputs, its outputs and their cotangents, which gives the
// cotangents of the inputs.
void ModuleBuilder::check_gradients() {
  std::unordered_map<std::string, FunctionPtr> first_of;  // by the function whose gradient it is
  for (const GlobalFunction& global : module_.functions) {
    auto* graph = std::get_if<FunctionPtr>(&global);
    const Attribute* of = graph ? find_attribute((*graph)->attributes, gradient_attribute) : nullptr;
    if (of && of->as<std::string>()) first_of.emplace(*of->as<std::string>(), *graph);
  }
  auto flat = [](const Type& type) { return type.tuple() ? type.tuple()->fields : std::vector<Type>{type}; };
  for (const GlobalFunction& global : module_.functions) {
    auto* graph = std::get_if<FunctionPtr>(&global);
    const Attribute* of = graph ? find_attribute((*graph)->attributes, gradient_attribute) : nullptr;
    if (!of) continue;
    const Function& gradient = **graph;
    context_.attempt_typed([&] {
      auto refuse = [&](std::string_view id, const std::string& message, const Differentiated* target) {
        std::vector<DiagnosticNote> notes;
        if (target) notes.push_back({target->span, fmt::format("'{}' is here", printable(target->name))});
        fail(ErrorClass::Type, gradient.span, id, message, std::move(notes));
      };
      auto* name = of->as<std::string>();
      std::optional<Differentiated> target = name ? differentiated(module_, *name) : std::nullopt;
      if (!target && name && session_) target = differentiated(*session_, *name);
      if (!target) {
        if (name && by_name_.count(*name)) return;  // it is wrong itself
        if (name && (is_named_from_outside(module_, *name) ||
                     (session_ && is_named_from_outside(*session_, *name)))) {
          check_gradient_by_name(gradient, *first_of.at(*name), *name);
          return;
        }
        refuse(
            "gradient.target",
            fmt::format("'{}' is the gradient of {}; expected a function of the module, "
                        "an operator as R.exp, or a native function that the module calls",
                        printable(gradient.name), name ? fmt::format("'{}'", printable(*name)) : "no name"),
            nullptr);
      }
      if (!gradient.pure) {
        refuse(
            "gradient.pure",
            fmt::format("the gradient '{}' has effects; expected a pure function", printable(gradient.name)),
            &*target);
      }
      if (const FunctionPtr& first = first_of.at(*name); first != *graph) {
        fail(ErrorClass::Type, gradient.span, "gradient.twice",
             fmt::format("'{}' is a second gradient of '{}'; expected one", printable(gradient.name),
                         printable(*name)),
             {{first->span, fmt::format("the first is '{}'", printable(first->name))}});
      }
      std::vector<Type> wanted;
      for (const auto& [input, type] : target->inputs) wanted.push_back(type);
      const std::vector<Type>& outputs = target->outputs;
      wanted.insert(wanted.end(), outputs.begin(), outputs.end());
      wanted.insert(wanted.end(), outputs.begin(), outputs.end());
      if (gradient.params.size() != wanted.size()) {
        refuse(
            "gradient.parameters",
            fmt::format("the gradient '{}' has {} parameters; expected {}: the {} of '{}', its {} and their "
                        "cotangents",
                        printable(gradient.name), gradient.params.size(), wanted.size(),
                        target->inputs.size() == 1 ? "input" : "inputs", printable(target->name),
                        outputs.size() == 1 ? "output" : "outputs"),
            &*target);
      }
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!types_clash(gradient.params[i].type(), wanted[i])) continue;
        refuse("gradient.parameters",
               fmt::format("parameter '{}' of the gradient '{}' has type {}; expected {}",
                           printable(gradient.params[i].name()), printable(gradient.name),
                           print(gradient.params[i].type()), print(wanted[i])),
               &*target);
      }
      const std::vector<Type> results = flat(gradient.result_type);
      if (results.size() != target->inputs.size()) {
        refuse("gradient.result",
               fmt::format(
                   "the gradient '{}' returns {}; expected a cotangent for each of the {} inputs of '{}'",
                   printable(gradient.name), print(gradient.result_type), target->inputs.size(),
                   printable(target->name)),
               &*target);
      }
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (!types_clash(results[i], target->inputs[i].second)) continue;
        refuse("gradient.result",
               fmt::format("the gradient '{}' returns {} for the input '{}'; expected {}",
                           printable(gradient.name), print(results[i]), printable(target->inputs[i].first),
                           print(target->inputs[i].second)),
               &*target);
      }
    });
  }
}

std::optional<GlobalFunction> ModuleBuilder::built(const ast::FunctionDefinition& definition) const {
  auto found = by_name_.find(definition.name);
  if (found == by_name_.end() || found->second->definition != &definition) return std::nullopt;
  if (found->second->prim) return GlobalFunction(found->second->prim);
  if (found->second->function) return GlobalFunction(found->second->function);
  return std::nullopt;
}

std::optional<GlobalMeaning> ModuleBuilder::find_global(const std::string& name, Span use) {
  std::optional<GlobalMeaning> meaning = meaning_of(name, use);
  if (building_ && meaning && meaning->reference.type().is_error()) building_->unread_callee = name;
  return meaning;
}

std::optional<GlobalMeaning> ModuleBuilder::meaning_of(const std::string& name, Span use) {
  auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    if (damaged_names_.contains(name)) throw ReadContext::Silent{};
    if (auto native = natives_.by_name.find(name); native != natives_.by_name.end())
      return GlobalMeaning{global_ref(GlobalFunction(native->second), use), nullptr, false, true};
    const GlobalFunction* known = linked_.find(name);
    if (!known && session_) known = session_->find(name);
    if (!known) return std::nullopt;
    GlobalMeaning meaning{global_ref(*known, use), nullptr, false, false};
    meaning.is_extern = std::holds_alternative<ExternFunctionPtr>(*known);
    if (auto* prim = std::get_if<PrimFuncPtr>(known)) meaning = {meaning.reference, *prim, true, false};
    return meaning;
  }
  Declaration& declaration = *found->second;
  Type failed(TypeKind(ErrorType{}));
  if (declaration.refused)
    return GlobalMeaning{global_ref(name, failed, use), nullptr, declaration.options.prim_func, false};
  if (declaration.options.prim_func) {
    build_declaration(declaration);
    if (!declaration.prim) return GlobalMeaning{global_ref(name, failed, use), nullptr, true, false};
    return GlobalMeaning{global_ref(GlobalFunction(declaration.prim), use), declaration.prim, true, false};
  }
  ensure_header(declaration);
  if (declaration.header->failed) return GlobalMeaning{global_ref(name, failed, use), nullptr, false, false};
  if (declaration.header->annotated) {
    FunctionType type = *declaration.header->annotated;
    type.pure = declaration.options.pure;
    return GlobalMeaning{global_ref(name, Type(std::move(type)), use), nullptr, false, false};
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
         fmt::format("found more than {} functions whose result types depend on each other; expected -> and "
                     "a type, or "
                     "raise --max-call-depth",
                     limits().max_call_depth));
  }
  ++inferring_;
  build_declaration(declaration);
  --inferring_;
  if (!declaration.function) return GlobalMeaning{global_ref(name, failed, use), nullptr, false, false};
  return GlobalMeaning{global_ref(name, Type(function_type_of(*declaration.function)), use), nullptr, false,
                       false};
}

const ast::FunctionDefinition* ModuleBuilder::prim_func_definition(const std::string& name) const {
  auto found = by_name_.find(name);
  const bool known = found != by_name_.end() && found->second->options.prim_func && !found->second->refused;
  return known ? found->second->definition : nullptr;
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
    const std::optional<Span> declared = declared_at(name);
    const GlobalFunction* earlier = session_ ? session_->find(name) : nullptr;
    bool foreign = earlier && *earlier != copy && !links_.linked_before(name);
    if (declared || foreign) {
      std::vector<DiagnosticNote> notes;
      if (declared) notes.push_back({*declared, "it is defined here"});
      fail(ErrorClass::Type, use, "link.clash",
           fmt::format("'{}.{}' comes in as '{}', which the module has already; rename one of them",
                       printable(module), printable(function), printable(name)),
           std::move(notes));
    }
    const GlobalFunction* here = linked_.find(name);
    if (here && *here != copy) {
      fail(ErrorClass::Type, use, "link.clash",
           fmt::format("'{}.{}' comes in as '{}', as what another module has does; rename one of the modules",
                       printable(module), printable(function), printable(name)));
    }
    if (earlier && *earlier != copy && !here)
      links_.refuse_change_of_callers(name, module, use,
                                      [&](const std::string& each) { return declared_at(each).has_value(); });
    if (!here) linked_.set(copy);
  }
  return links_.linked_name(module, function);
}

std::vector<std::string> ModuleBuilder::global_names() const {
  if (!context_.may_suggest()) return {};
  std::vector<std::string> names;
  for (const auto& [name, declaration] : by_name_) names.push_back(name);
  for (const ExternFunctionPtr& external : natives_.all) names.push_back(external->name);
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
