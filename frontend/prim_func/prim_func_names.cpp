// What names mean while a prim_func is read, and what goes by the names of parameters and attributes.
#include "frontend/prim_func/prim_func_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/names/binding_names.h"
#include "frontend/names/suggestions.h"
#include "frontend/prim_func/prim_func_parts.h"
#include "frontend/types/attribute_reader.h"
#include "support/fix.h"
#include "support/interrupt.h"
#include "support/render.h"

namespace relish {

PrimFuncNames::Entry* PrimFuncNames::look_up(const std::string& name) {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    auto found = frame->find(name);
    if (found != frame->end()) return &found->second;
  }
  return nullptr;
}

ScalarMeaning PrimFuncNames::find(const std::string& name, Span use) {
  if (Entry* entry = look_up(name)) {
    if (auto* buffer = std::get_if<Buffer>(&entry->meaning)) return *buffer;
    if (auto* scalar = std::get_if<Scalar>(&entry->meaning)) {
      // A let may have taken the name of a variable that is declared.
      auto var = scalar->as_var();
      if (var && symbols_.declares(name) && std::get<Scalar>(symbols_.find(name, use)).as_var() == var)
        symbols_used_.emplace(var->id(), use);
      return *scalar;
    }
    if (auto* local = std::get_if<Local>(&entry->meaning)) return Scalar(local->var);
    if (std::get_if<Refused>(&entry->meaning)) return Scalar();
    if (auto* pointer = std::get_if<Pointer>(&entry->meaning)) return value_of(*pointer, use);
    if (auto* several = std::get_if<Several>(&entry->meaning)) return several->variables;
    if (auto* handle = std::get_if<Handle>(&entry->meaning)) {
      const bool matched = function_.params[handle->param].buffer()->defined();
      return data_of(pointer_param(name, *handle, entry->span), matched, use);
    }
    return fmt::format("found the thread '{}' before T.launch_thread gives its extent", printable(name));
  }
  ScalarMeaning meaning = symbols_.find(name, use);
  if (auto* scalar = std::get_if<Scalar>(&meaning)) symbols_used_.emplace(scalar->as_var()->id(), use);
  return meaning;
}

std::optional<PrimFuncHeader> PrimFuncNames::prim_func(const ast::Expr& callee) {
  std::string name = ast::dotted_name(callee);
  const std::size_t dot = name.find('.');
  if (dot != std::string::npos) {
    const std::string module = name.substr(0, dot);
    if (module != module_.module_name() && module != "cls") return std::nullopt;
    name = name.substr(dot + 1);
  }
  const ast::FunctionDefinition* definition = module_.prim_func_definition(name);
  if (!definition) return std::nullopt;
  std::optional<DType> result;
  if (definition->result_annotation) {
    auto* called = definition->result_annotation->as<ast::Call>();
    const std::string type =
        context_.namespaces.canonical(called ? *called->callee : *definition->result_annotation);
    if (type.starts_with("T.")) result = dtype_from_name(type.substr(2));
  }
  return PrimFuncHeader{name, definition->parameters.size(), result};
}

std::vector<std::string> PrimFuncNames::index_names() const {
  if (!axis_names_.empty() && !axis_names_.back().empty()) return axis_names_.back();
  std::vector<std::string> result;
  for (const OpenLoop& loop : open_loops_) result.push_back(loop.variable);
  return result;
}

std::vector<std::string> PrimFuncNames::names() const {
  if (!context_.may_suggest()) return {};
  std::vector<std::string> result = symbols_.names();
  for (const auto& frame : frames_) {
    for (const auto& [name, entry] : frame) result.push_back(name);
  }
  context_.count_suggestion(result.size());
  return result;
}

// Names that a refused statement would have bound are known, so that their uses are not errors of their own.
void PrimFuncNames::refuse_names(const ast::Statement& statement) {
  for_each_bound_name(statement, [&](const std::string& name, Span at) {
    if (!look_up(name)) bind(name, Refused{}, at);
  });
}

CommentsPtr PrimFuncNames::take_comments(const CommentsPtr& own) {
  if (pending_.before.empty()) return own;
  Comments all = std::move(pending_);
  pending_ = {};
  if (own) {
    all.before.insert(all.before.end(), own->before.begin(), own->before.end());
    all.after = own->after;
  }
  return std::make_shared<const Comments>(std::move(all));
}

const std::string& PrimFuncNames::name_target(const ast::Expr& target) const {
  const std::string* name = ast::name_of(target);
  if (!name) {
    fail(
        ErrorClass::Type, target.span, "assignment.target",
        fmt::format("found {} as a target; expected a name or an element of a buffer", ast::describe(target)),
        target_instead(*definition_, target.span));
  }
  return *name;
}

bool PrimFuncNames::names_memory(const ast::Expr& expr) {
  const auto any = [&](const std::vector<ast::ExprPtr>& items) {
    return std::any_of(items.begin(), items.end(), [&](const auto& item) { return names_memory(*item); });
  };
  if (auto* list = expr.as<ast::ListValue>()) return any(list->items);
  if (auto* tuple = expr.as<ast::TupleValue>()) return any(tuple->items);
  if (auto* dictionary = expr.as<ast::DictValue>())
    return std::any_of(dictionary->items.begin(), dictionary->items.end(),
                       [&](const auto& entry) { return names_memory(*entry.second); });
  auto* attribute = expr.as<ast::Attribute>();
  const std::string* name = ast::name_of(attribute && attribute->name == "data" ? *attribute->object : expr);
  const Entry* entry = name ? look_up(*name) : nullptr;
  return entry && (std::get_if<Buffer>(&entry->meaning) || std::get_if<Handle>(&entry->meaning) ||
                   std::get_if<Pointer>(&entry->meaning) || std::get_if<Refused>(&entry->meaning));
}

// What an attribute says of a buffer, as that its layout may be chosen, is advice to other compilers.
Attributes PrimFuncNames::read_attributes(const ast::Expr& call, NamePlace place) {
  return read_attribute_dictionary(context_, call, place, [&](const ast::Expr& key, const ast::Expr& value) {
    if (!names_memory(value)) return false;
    auto* name = key.as<ast::StringValue>();
    note_ignored(value.span, fmt::format("the attribute '{}', which names a buffer,",
                                         printable(name ? name->value : std::string())));
    return true;
  });
}

// What is said of an attribute twice must be the same; dictionaries are joined.
void PrimFuncNames::add_attribute(Attributes& attributes, const std::string& key, Attribute value,
                                  Span at) const {
  const Attribute* first = find_attribute(attributes, key);
  if (first && *first != value) {
    const auto *known = first->as<Attributes>(), *more = value.as<Attributes>();
    if (!known || !more) {
      type_error(at, "attribute.twice",
                 fmt::format("found a second value of the attribute '{}'; expected one", printable(key)));
    }
    Attributes joined = *known;
    for (const auto& [name, inner] : *more) add_attribute(joined, name, inner, at);
    value = std::move(joined);
  }
  attributes = with_attribute(std::move(attributes), key, std::move(value));
}

// What only advises other compilers is left out; the first one of a function is told of.
void PrimFuncNames::note_ignored(Span at, std::string_view what) {
  if (std::exchange(noted_, true)) return;
  Diagnostic note;
  note.severity = Severity::Note;
  note.id = "prim_func.ignored";
  note.span = at;
  note.message = fmt::format("{} says nothing about what is computed; it is left out", what);
  context_.diagnostics.add(std::move(note));
}

const Buffer& PrimFuncNames::pointer_param(const std::string& name, const Handle& handle, Span at) {
  PrimParam& param = function_.params[handle.param];
  if (!param.buffer()->defined()) {
    std::vector<Scalar> shape;
    if (handle.element) shape.push_back(use(ScalarVar(name + "_size", DType::Int64, at), at));
    param.value =
        Buffer(name, handle.element.value_or(DType::UInt8), shape, "global", at).as_pointer(handle.type);
  }
  return *param.buffer();
}

Scalar PrimFuncNames::value_of(const Pointer& pointer, Span at) const {
  return pointer.address.defined() ? pointer.address : data_of(pointer.buffer, false, at);
}

}  // namespace relish
