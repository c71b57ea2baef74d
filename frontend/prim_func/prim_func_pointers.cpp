// Pointers of prim_funcs: parameters T.handle that no T.match_buffer makes a buffer of, A.data, T.address_of,
// and what native functions give. A pointer is a buffer of unknown size; buffers over it are views.
#include <fmt/format.h>

#include "frontend/prim_func/prim_func_builder.h"
#include "frontend/prim_func/prim_func_parts.h"
#include "support/counted.h"
#include "support/render.h"

namespace relish {

std::optional<PrimFuncNames::Handle> PrimFuncBuffers::pointer_type(const ast::Expr& expr) const {
  auto* call = expr.as<ast::Call>();
  if (context_.namespaces.canonical(call ? *call->callee : expr) != "T.handle") return std::nullopt;
  Handle handle{0, "T.handle", std::nullopt};
  if (!call) return handle;
  // The dtype of the elements, and perhaps a scope.
  std::string arguments;
  for (const ast::Argument& argument : call->arguments) {
    auto* text = argument.value->as<ast::StringValue>();
    const bool known = argument.name.empty() || argument.name == "dtype" || argument.name == "storage_scope";
    if (!text || !known) {
      type_error(
          argument.value->span, "pointer.type",
          fmt::format("found {} of T.handle; expected a dtype and a scope", ast::describe(*argument.value)));
    }
    if (text->value.find_first_of("\"\\\n") != std::string::npos || text->value.size() > 64) {
      type_error(argument.value->span, "pointer.type",
                 fmt::format("found the type \"{}\" of a pointer; expected a dtype or a scope",
                             printable(text->value)));
    }
    if (arguments.empty() && argument.name != "storage_scope") handle.element = dtype_from_name(text->value);
    arguments += fmt::format("{}{}\"{}\"", arguments.empty() ? "" : ", ",
                             argument.name == "storage_scope" ? "storage_scope=" : "", text->value);
  }
  if (!arguments.empty()) handle.type += "(" + arguments + ")";
  return handle;
}

// T.address_of(A[1, 0]): the element of A at that place.
std::optional<PrimFuncNames::Pointer> PrimFuncBuffers::address_of(const ast::Expr& expr) {
  auto* call = expr.as<ast::Call>();
  if (!call || context_.namespaces.canonical(*call->callee) != "T.address_of") return std::nullopt;
  const Scalar address = reader_.read_effect(expr);
  const auto* foreign = address.as<ForeignCall>();
  const Load* element = foreign && foreign->args.size() == 1 ? foreign->args[0].as<Load>() : nullptr;
  if (!element || element->buffer->is_pointer()) return std::nullopt;
  const Buffer& buffer = *element->buffer;
  Scalar offset = buffer.elem_offset(), next;
  for (std::size_t d = buffer.shape().size(); d-- > 0;) {
    if (!next.defined()) next = int_literal(buffer.shape()[d].dtype(), 1);
    const Scalar part = element->indices[d] * (buffer.strides().empty() ? next : buffer.strides()[d]);
    offset = offset.defined() ? part + offset : part;
    next = canonical(next * buffer.shape()[d]);
  }
  return Pointer{buffer, offset.defined() ? canonical(offset) : offset, address};
}

PrimFuncNames::Pointer PrimFuncBuffers::pointed_to(const ast::Expr& expr, std::vector<Stmt>& into) {
  const ast::Expr* at = &expr;
  if (auto* attribute = expr.as<ast::Attribute>(); attribute && attribute->name == "data")
    at = attribute->object.get();
  const std::string* name = ast::name_of(*at);
  if (Entry* entry = name ? look_up(*name) : nullptr) {
    if (auto* buffer = std::get_if<Buffer>(&entry->meaning)) return {*buffer};
    if (auto* pointer = std::get_if<Pointer>(&entry->meaning)) return *pointer;
    if (auto* handle = std::get_if<Handle>(&entry->meaning))
      return {pointer_param(*name, *handle, entry->span)};
    if (std::get_if<Refused>(&entry->meaning)) throw ReadContext::Silent{};
  } else if (name) {
    fail_unknown_name(*name, at->span, names());
  }
  if (auto element = address_of(expr)) return *element;
  if (reader_.is_foreign(expr)) {
    const Scalar value = reader_.read_effect(expr);
    if (is_pointer(value)) {
      Buffer made = Buffer("pointer", DType::UInt8, {}, "global", expr.span).as_pointer("T.handle");
      into.push_back(make_stmt(AllocateStmt{made, value}, expr.span));
      return {made};
    }
  }
  type_error(
      expr.span, "view.data",
      fmt::format("found {} as the data of a buffer; expected A.data of a buffer, or what T.allocate gives",
                  ast::describe(expr)));
}

// p: T.let[T.handle("float32")] = A.data, p = T.tvm_stack_alloca("array", 1), p = T.handle("float32").
void PrimFuncBuffers::define_pointer(const std::string& name, const ast::Statement& statement, Span at,
                                     const Handle& type, const ast::Expr* value, std::vector<Stmt>& into) {
  Scalar given;
  if (value) {
    if (auto element = address_of(*value)) return bind(name, *element, at);
    const std::string* other = ast::name_of(*value);
    Entry* entry = other ? look_up(*other) : nullptr;
    auto* pointer = entry ? std::get_if<Pointer>(&entry->meaning) : nullptr;
    if (pointer) return bind(name, *pointer, at);
    given = reader_.read_effect(*value);
    if (const auto* data = given.as<DataOf>()) return bind(name, Pointer{*data->buffer}, at);
    if (!is_pointer(given)) {
      type_error(
          value->span, "pointer.value",
          fmt::format("found {} as the value of a pointer; expected A.data of a buffer, or what a native "
                      "function gives",
                      ast::describe(*value)));
    }
  }
  Buffer made = Buffer(name, type.element.value_or(DType::UInt8), {}, "global", at).as_pointer(type.type);
  into.push_back(make_stmt(AllocateStmt{made, given}, statement.span, take_comments(statement.comments)));
  bind(name, Pointer{made}, at);
}

// The dims of A[i, 0:4]: a plain index has extent 1.
std::vector<RegionDim> PrimFuncBuffers::read_region_dims(const Buffer& buffer,
                                                         const ast::Subscript& subscript) {
  std::vector<RegionDim> dims;
  auto* empty = subscript.items.size() == 1 ? subscript.items[0]->as<ast::TupleValue>() : nullptr;
  if (!(empty && empty->items.empty())) {
    for (std::size_t i = 0; i < subscript.items.size(); ++i) {
      const ast::Expr& item = *subscript.items[i];
      auto* slice = item.as<ast::Slice>();
      if (!slice) {
        Scalar begin = reader_.read_index(item);
        dims.push_back({begin, int_literal(begin.dtype(), 1, item.span)});
        continue;
      }
      if (slice->step)
        type_error(slice->step->span, "block.region", "found a step in a region; expected none");
      if (i >= buffer.shape().size()) break;
      const Scalar& dim = buffer.shape()[i];
      ScalarOperand begin =
          slice->begin ? reader_.operand(*slice->begin) : ScalarOperand{int_literal(dim.dtype(), 0)};
      ScalarOperand end = slice->end ? reader_.operand(*slice->end) : ScalarOperand{dim};
      Scalar difference = reader_.combine(ast::Operator::Sub, end, begin, item.span).value;
      Scalar first = reader_.convert(difference.dtype(), begin, item.span).value;
      Scalar last = reader_.convert(difference.dtype(), end, item.span).value;
      dims.push_back({first, extent_of(first, last, difference)});
    }
  }
  if (dims.size() != buffer.shape().size()) {
    type_error(subscript.object->span, "block.region",
               fmt::format("found a region of {}; {} has {}", counted(subscript.items.size(), "dimension"),
                           printable(buffer.name()), buffer.rank()));
  }
  return dims;
}

}  // namespace relish
