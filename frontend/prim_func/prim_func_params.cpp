// Parameters of prim_funcs: buffers in both spellings, handles with match_buffer, scalars, and the symbolic
// variables of their shapes.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/names/binding_names.h"
#include "frontend/names/namespaces.h"
#include "frontend/names/suggestions.h"
#include "frontend/prim_func/prim_func_builder.h"
#include "frontend/types/attribute_reader.h"
#include "ir/rewriting/rewrite.h"
#include "ir/scalars/symbols.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {
namespace {

// T.int64(), T.var("int64"), T.Var("n", "int64") or I.dynamic("n", dtype="int64").
DType declared_dtype(const ast::Expr& value) {
  const auto& call = *value.as<ast::Call>();
  const auto& attribute = *call.callee->as<ast::Attribute>();
  if (attribute.name == "dynamic" && call.arguments.size() == 1) return DType::Int64;
  if (attribute.name == "Var" || attribute.name == "SizeVar" || attribute.name == "dynamic")
    return read_dtype(call.arguments[1].value->as<ast::StringValue>()->value, call.arguments[1].value->span);
  if (attribute.name != "var") return *dtype_from_name(unabbreviated(attribute.name));
  return read_dtype(call.arguments[0].value->as<ast::StringValue>()->value, call.arguments[0].value->span);
}

std::optional<DType> scalar_annotation(const ReadContext& context, const ast::Expr& annotation) {
  auto* call = annotation.as<ast::Call>();
  std::string name = context.namespaces.canonical(call ? *call->callee : annotation);
  if (name.substr(0, 2) != "T." || (call && !call->arguments.empty())) return std::nullopt;
  return dtype_from_name(name.substr(2));
}

}  // namespace

void PrimFuncBuilder::declare_symbols(const ast::FunctionDefinition& definition) {
  for (const ast::Parameter& parameter : definition.parameters) {
    if (!parameter.annotation) continue;
    if (auto dtype = scalar_annotation(context_, *parameter.annotation)) {
      symbols_.define(parameter.name, ScalarVar(parameter.name, *dtype, parameter.span));
    }
  }
  for (const ast::Statement& statement : definition.body) {
    auto* assignment = statement.as<ast::Assignment>();
    if (!assignment || !assignment->value || assignment->targets.size() != 1) continue;
    std::vector<DeclaredSymbol> declared;
    if (!declared_symbols(*assignment->targets[0], *assignment->value, declared)) continue;
    for (const DeclaredSymbol& symbol : declared) {
      if (symbol.meant) continue;
      context_.attempt([&] { symbols_.declare(symbol.name, declared_dtype(*symbol.call), symbol.span); });
    }
  }
  for (const ast::TypeParameter& parameter : definition.type_parameters) {
    symbols_.declare(parameter.name, DType::Int64, parameter.span);
  }
  symbols_.declare_outer(context_.type_variables, DType::Int64, definition.name_span);
  for (const ast::Parameter& parameter : definition.parameters) {
    if (parameter.annotation) symbols_.declare_strings(*parameter.annotation, DType::Int32);
  }
}

void PrimFuncBuilder::read_params(const ast::FunctionDefinition& definition) {
  for (const ast::Parameter& parameter : definition.parameters) {
    if (!context_.attempt([&] { read_param(definition, parameter); }))
      bind(parameter.name, Refused{}, parameter.span);
  }
}

void PrimFuncBuilder::read_param(const ast::FunctionDefinition& definition, const ast::Parameter& parameter) {
  if (parameter.stars)
    type_error(parameter.span, "param.star", "found a starred parameter; expected each one written out");
  if (parameter.default_value) {
    type_error(parameter.default_value->span, "param.default",
               "found a default value; parameters of functions have none: a call gives them all");
  }
  if (auto earlier = frames_.back().find(parameter.name); earlier != frames_.back().end()) {
    std::vector<DiagnosticNote> notes{{earlier->second.span, "it is declared here first"}};
    if (context_.may_search())
      notes.push_back(other_name(definition, context_.text, parameter.span, parameter.name));
    fail(ErrorClass::Type, parameter.span, "param.twice",
         fmt::format("found the parameter '{}' twice", printable(parameter.name)), std::move(notes));
  }
  if (!parameter.annotation) {
    type_error(
        parameter.span, "param.annotation",
        fmt::format(
            "found the parameter '{}' without a type; expected one such as T.Buffer((2, 3), \"float32\")",
            printable(parameter.name)));
  }
  const ast::Expr& annotation = *parameter.annotation;
  if (auto dtype = scalar_annotation(context_, annotation)) {
    ScalarVar var = *std::get<Scalar>(symbols_.find(parameter.name, parameter.span)).as_var();
    function_.params.push_back({var});
    bind(parameter.name, Scalar(var), parameter.span);
    return;
  }
  auto* call = annotation.as<ast::Call>();
  auto* subscript = annotation.as<ast::Subscript>();
  std::string name = context_.namespaces.canonical(call        ? *call->callee
                                                   : subscript ? *subscript->object
                                                               : annotation);
  if (auto handle = pointer_type(annotation)) {
    handle->param = function_.params.size();
    bind(parameter.name, *handle, parameter.span);
    function_.params.push_back({Buffer()});
    return;
  }
  const bool is_buffer = name == "T.Buffer" || name == "T.buffer";
  if (!is_buffer || (!call && !subscript)) {
    std::vector<std::string> candidates{"T.Buffer", "T.handle"};
    for (int i = 0; i < dtype_count; ++i)
      candidates.push_back(fmt::format("T.{}", name_of(static_cast<DType>(i))));
    const ast::Expr& word = call ? *call->callee : subscript ? *subscript->object : annotation;
    fail(ErrorClass::Type, annotation.span, "param.type",
         fmt::format(
             "found {} as the type of a parameter; expected T.Buffer, T.handle or a scalar such as T.int64",
             ast::describe(annotation)),
         write_nearest(word.span, name, candidates));
  }
  std::vector<BufferArgument> arguments;
  if (call) {
    arguments = buffer_arguments(call->arguments, 0);
  } else {
    // The spelling of 2022: T.Buffer[(2, 3), "float32"].
    for (const ast::ExprPtr& item : subscript->items) arguments.push_back({{}, {}, item.get()});
  }
  Buffer buffer = read_buffer(parameter.name, parameter.span, arguments);
  function_.params.push_back({buffer});
  bind(parameter.name, buffer, parameter.span);
}

std::vector<PrimFuncBuffers::BufferArgument> PrimFuncBuffers::buffer_arguments(
    const std::vector<ast::Argument>& arguments, std::size_t first) const {
  std::vector<BufferArgument> result;
  for (std::size_t i = first; i < arguments.size(); ++i) {
    if (arguments[i].stars) type_error(arguments[i].value->span, "buffer.star", "found a starred argument");
    result.push_back({arguments[i].name, arguments[i].name_span, arguments[i].value.get()});
  }
  return result;
}

// What says nothing about what is computed is told of, unless it holds of every buffer here.
void PrimFuncBuffers::read_buffer_advice(std::string_view name, const ast::Expr& value) {
  constexpr std::int64_t alignment = 64;  // in bytes, of every allocation
  if (value.as<ast::NoneValue>()) return;
  if (name == "buffer_type") {
    auto* text = value.as<ast::StringValue>();
    if (text && (text->value.empty() || text->value == "default")) return;
    type_error(value.span, "unsupported.layout",
               "found a buffer_type that stretches dimensions of length 1; expected \"default\", and indices "
               "that say what is read");
  }
  if (name == "align" || name == "offset_factor") {
    const Scalar number = reader_.read(value);
    const auto known = number.as_int();
    if (!known) type_error(value.span, "buffer.argument", fmt::format("found {} that is no integer", name));
    if (name == "align" && *known > alignment) note_ignored(value.span, fmt::format("align={}", *known));
    return;
  }
  const Attribute advice = read_attribute(context_, value);
  const auto* list = advice.as<AttributeList>();
  const auto* map = advice.as<Attributes>();
  if ((list && list->empty()) || (map && map->empty())) return;
  note_ignored(value.span, fmt::format("{}=", name));
}

// A shape, a dtype (float32 by default) and keywords.
Buffer PrimFuncBuffers::read_buffer(const std::string& name, Span at,
                                    const std::vector<BufferArgument>& arguments, const ast::Expr** data,
                                    const std::vector<Scalar>* implied) {
  constexpr std::array<std::string_view, 10> positions = {
      "shape", "dtype", "data",          "strides",     "elem_offset",
      "scope", "align", "offset_factor", "buffer_type", "axis_separators"};
  const ast::Expr* shape = nullptr;
  const ast::Expr* dtype = nullptr;
  const ast::Expr* strides = nullptr;
  const ast::Expr* offset = nullptr;
  std::string scope = "global";
  std::size_t position = 0;
  for (const BufferArgument& argument : arguments) {
    const ast::Expr& value = *argument.value;
    std::string_view name_of_argument = argument.name;
    if (name_of_argument.empty()) {
      if (position == positions.size())
        type_error(value.span, "buffer.argument", "found one argument too many of a buffer");
      name_of_argument = positions[position++];
    }
    const bool absent = value.as<ast::NoneValue>() != nullptr;
    if (name_of_argument == "shape") {
      shape = &value;
    } else if (name_of_argument == "dtype") {
      dtype = &value;
    } else if (name_of_argument == "scope") {
      auto* text = value.as<ast::StringValue>();
      if (!text) type_error(value.span, "buffer.scope", "found a scope that is no string");
      refuse_reserved_scope(text->value, value.span);
      if (!text->value.empty()) scope = text->value;
    } else if (name_of_argument == "strides") {
      if (!absent) strides = &value;
    } else if (name_of_argument == "elem_offset") {
      if (!absent) offset = &value;
    } else if (name_of_argument == "data") {
      if (absent) continue;
      if (!data) type_error(value.span, "buffer.data", "found data= of a parameter; expected none");
      *data = &value;
    } else if (name_of_argument == "layout") {
      if (!absent && !value.as<ast::StringValue>())
        type_error(value.span, "unsupported.layout", "layouts of a GPU are not supported");
    } else if (name_of_argument == "annotations" ||
               std::find(positions.begin(), positions.end(), name_of_argument) != positions.end()) {
      read_buffer_advice(name_of_argument, value);
    } else {
      type_error(argument.name_span, "buffer.argument",
                 fmt::format("a buffer has no argument '{}'", printable(argument.name)));
    }
  }
  if (!shape && !implied)
    type_error(at, "buffer.shape", fmt::format("the buffer '{}' is given no shape", printable(name)));
  DType element = DType::Float32;
  if (dtype) {
    if (!dtype->as<ast::StringValue>() && !dtype->as<ast::Attribute>()) {
      type_error(dtype->span, "buffer.dtype",
                 fmt::format("found {}; expected a dtype such as \"float32\"", ast::describe(*dtype)));
    }
    element = reader_.dtype_argument(*dtype);
  }
  TypeReader types(context_, *this);
  const auto dims = [&](const ast::Expr& list) {
    auto all = reader_.several(list);
    return all ? *all : types.read_dims(list, DType::Int32);
  };
  Buffer buffer(name, element, shape ? dims(*shape) : *implied, scope, at);
  std::vector<Scalar> written;
  if (strides) written = dims(*strides);
  if (!written.empty() && static_cast<int>(written.size()) != buffer.rank()) {
    type_error(strides->span, "buffer.strides",
               fmt::format("found {} of a buffer of {}; expected as many", counted(written.size(), "stride"),
                           counted(buffer.rank(), "dimension")));
  }
  const auto refuse_calls = [&](const std::vector<Scalar>& all, const ast::Expr* at_list) {
    for (const Scalar& dim : all)
      for_each_scalar(dim, [&](const Scalar& inner) {
        if (inner.as<ForeignCall>())
          type_error(at_list->span, "buffer.shape",
                     "found a call of another function in the shape of a buffer");
      });
  };
  if (shape) refuse_calls(buffer.shape(), shape);
  if (strides) refuse_calls(written, strides);
  Scalar first;
  if (offset) first = types.read_dim(*offset, DType::Int32);
  if (first.defined() && first.as_int() == 0) first = {};
  return written.empty() && !first.defined() ? buffer : buffer.with_layout(std::move(written), first);
}

void PrimFuncBuffers::match_buffer(const std::string& name, const ast::Expr& target, const ast::Call& call) {
  const std::string* handle = call.arguments.empty() ? nullptr : ast::name_of(*call.arguments[0].value);
  Entry* entry = handle ? look_up(*handle) : nullptr;
  if (!entry || !std::get_if<Handle>(&entry->meaning)) {
    if (entry && std::get_if<Refused>(&entry->meaning)) throw ReadContext::Silent{};
    type_error(target.span, "buffer.match",
               "found T.match_buffer of something that is no T.handle parameter; expected such a parameter");
  }
  std::size_t param = std::get<Handle>(entry->meaning).param;
  if (function_.params[param].buffer()->defined()) {
    type_error(target.span, "buffer.match",
               fmt::format("the handle '{}' is matched twice", printable(*handle)));
  }
  Buffer buffer = read_buffer(name, target.span, buffer_arguments(call.arguments, 1));
  function_.params[param].value = buffer;
  function_.params[param].handle = *handle;
  bind(name, buffer, target.span);
}

// A handle that became no buffer is a pointer, and every symbolic variable must be found from the arguments.
void PrimFuncBuilder::check_params(const ast::FunctionDefinition& definition) {
  SymbolList used, determined;
  for (std::size_t i = 0; i < function_.params.size(); ++i) {
    const PrimParam& param = function_.params[i];
    if (const ScalarVar* scalar = param.scalar()) {
      determined.add(*scalar);
      continue;
    }
    if (!param.buffer()->defined()) {
      // A refused statement that names it may be the one that would have matched it.
      const bool told =
          damaged_ || i >= definition.parameters.size() ||
          std::any_of(refused_.begin(), refused_.end(), [&](Span refused) {
            return context_.text_of(refused).find(definition.parameters[i].name) != std::string_view::npos;
          });
      if (told) throw ReadContext::Silent{};
      const std::string& name = definition.parameters[i].name;
      Entry* entry = look_up(name);
      // Refused parameters have no place, so the name may be that of another one.
      auto* handle = entry ? std::get_if<Handle>(&entry->meaning) : nullptr;
      const bool own = handle && handle->param == i;
      pointer_param(name, own ? *handle : Handle{i, "T.handle", std::nullopt}, definition.parameters[i].span);
    }
    std::vector<Scalar> solved = param.buffer()->shape();
    solved.insert(solved.end(), param.buffer()->strides().begin(), param.buffer()->strides().end());
    if (param.buffer()->elem_offset().defined()) solved.push_back(param.buffer()->elem_offset());
    for (const Scalar& dim : solved) {
      used.add_mentioned(dim);
      if (auto var = dim.as_var()) determined.add(*var);
    }
  }
  auto fail_undetermined = [&](const ScalarVar& var, Span at) {
    type_error(at, "symbol.undetermined",
               fmt::format("the variable '{}' cannot be found from the arguments; expected it alone as a "
                           "dimension of a buffer, or as a scalar parameter",
                           printable(var.name())));
  };
  for (const ScalarVar& var : used.vars()) {
    if (!determined.contains(var)) fail_undetermined(var, var.span());
  }
  // Uses in the body of variables that nothing determines.
  for_each_scalar(function_.body, [&](const Scalar& scalar) {
    auto var = scalar.as_var();
    auto use = var ? symbols_used_.find(var->id()) : symbols_used_.end();
    if (use == symbols_used_.end()) return;
    if (!determined.contains(*var)) fail_undetermined(*var, use->second);
  });
}

// `-> None`, or the dtype of the scalar that the function returns.
void PrimFuncBuilder::read_result(const ast::FunctionDefinition& definition) {
  const ast::Expr* annotation = definition.result_annotation.get();
  if (!annotation || annotation->as<ast::NoneValue>()) return;
  function_.result_dtype = scalar_annotation(context_, *annotation);
  if (!function_.result_dtype) {
    type_error(annotation->span, "prim_func.result",
               fmt::format("found {} as the result of a prim_func; expected None or a scalar such as T.int32",
                           ast::describe(*annotation)));
  }
}

bool PrimFuncBuilder::read_declaration(const ast::Expr& target, const ast::Expr& value) {
  std::vector<DeclaredSymbol> declared;
  if (!declared_symbols(target, value, declared)) return false;
  for (const DeclaredSymbol& symbol : declared) {
    if (symbol.meant) {
      bind(symbol.name, reader_.value(*symbol.meant), symbol.span);
      continue;
    }
    if (!symbols_.declares(symbol.name))
      symbols_.declare(symbol.name, declared_dtype(*symbol.call), symbol.span);
    bind(symbol.name, std::get<Scalar>(symbols_.find(symbol.name, symbol.span)), symbol.span);
  }
  return true;
}

}  // namespace relish
