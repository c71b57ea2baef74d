// Attributes of tensors in Relax functions: x.ndim, x.dtype.bits, x.shape[0] and the like are calls of
// R.inspect operators; a dimension that the type tells is that dimension.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/graph/graph_values.h"
#include "frontend/types/attribute_reader.h"
#include "ir/printer/printer.h"
#include "support/counted.h"
#include "support/render.h"

namespace relish {
namespace {

struct Inspection {
  std::string_view of;    // "dtype" for x.dtype.bits, else empty
  std::string_view name;  // of the attribute
  std::string_view op;
};
constexpr std::array<Inspection, 6> inspections = {{
    {"", "ndim", "inspect.tensor_ndim"},
    {"", "byte_offset", "inspect.tensor_byte_offset"},
    {"", "elem_offset", "inspect.tensor_elem_offset"},
    {"dtype", "type_code", "inspect.tensor_dtype_code"},
    {"dtype", "bits", "inspect.tensor_dtype_bits"},
    {"dtype", "lanes", "inspect.tensor_dtype_lanes"},
}};

}  // namespace

// A variable or what is made of one, not a name of a module or namespace.
bool GraphValues::is_value(const ast::Expr& expr) {
  const std::string dotted = ast::dotted_name(expr);
  if (dotted.empty()) return !expr.as<ast::StringValue>();
  const Entry* entry = look_up(dotted.substr(0, dotted.find('.')));
  return entry && !std::get_if<ModuleAlias>(&entry->meaning);
}

std::optional<Expr> GraphValues::inspected_value(const ast::Expr& expr, const ast::Attribute& attribute) {
  const ast::Expr* object = attribute.object.get();
  if (!is_value(*object)) return std::nullopt;
  auto* outer = object->as<ast::Attribute>();
  const bool of_dtype = outer && outer->name == "dtype";
  for (const Inspection& inspection : inspections) {
    if (inspection.name != attribute.name || (inspection.of == "dtype") != of_dtype) continue;
    const Expr tensor = leaf(of_dtype ? *outer->object : *object);
    if (tensor.type().is_error()) throw ReadContext::Silent{};
    return make_op_call(*find_op(inspection.op), {tensor}, {}, expr.span);
  }
  if (attribute.name == "shape") {  // what the type tells; else what the run does
    const Expr tensor = leaf(*object);
    if (tensor.type().is_error()) throw ReadContext::Silent{};
    const TensorType* type = tensor.type().tensor();
    if (type && type->shape) return shape_literal(*type->shape, expr.span);
    return make_op_call(*find_op("shape_of"), {tensor}, {}, expr.span);
  }
  if (attribute.name == "strides") {
    type_error(expr.span, "attribute.value",
               fmt::format("found {} in an R.function; expected x.strides[i]", ast::describe(expr)));
  }
  return std::nullopt;
}

std::optional<Expr> GraphLiterals::dims_of_shape(const ShapeType& shape, const ast::Subscript& subscript,
                                                 Span span) {
  if (!shape.dims || subscript.items.size() != 1 || subscript.comma) return std::nullopt;
  const auto whole = [&](const ast::ExprPtr& written, std::int64_t otherwise) -> std::optional<std::int64_t> {
    if (!written || written->as<ast::NoneValue>()) return otherwise;
    const ast::Expr* number = number_of(*written);
    const auto value = number ? literal_arithmetic(*number) : std::nullopt;
    const auto* integer = value ? std::get_if<std::int64_t>(&*value) : nullptr;
    return integer ? std::optional(*integer) : std::nullopt;
  };
  const auto rank = static_cast<std::int64_t>(shape.dims->size());
  const auto from_begin = [&](std::int64_t at) { return at < 0 ? at + rank : at; };
  const ast::Slice* slice = subscript.items[0]->as<ast::Slice>();
  if (!slice) {
    const auto written = whole(subscript.items[0], 0);
    if (!written) return std::nullopt;
    const std::int64_t at = from_begin(*written);
    if (at < 0 || at >= rank) {
      type_error(span, "subscript.index",
                 fmt::format("index {} is out of range for a shape of {}", *written,
                             counted(static_cast<std::size_t>(rank), "dimension")));
    }
    return scalar_value((*shape.dims)[static_cast<std::size_t>(at)], span);
  }
  const auto begin = whole(slice->begin, 0), end = whole(slice->end, rank), step = whole(slice->step, 1);
  if (!begin || !end || step != std::optional<std::int64_t>(1)) return std::nullopt;
  const auto within = [&](std::int64_t at) { return std::clamp<std::int64_t>(from_begin(at), 0, rank); };
  std::vector<Scalar> dims;
  for (std::int64_t at = within(*begin); at < within(*end); ++at)
    dims.push_back((*shape.dims)[static_cast<std::size_t>(at)]);
  return shape_literal(std::move(dims), span);
}

std::optional<Expr> GraphValues::inspected_axis(const ast::Expr& expr, const ast::Subscript& subscript) {
  auto* attribute = subscript.object->as<ast::Attribute>();
  if (!attribute || (attribute->name != "shape" && attribute->name != "strides")) return std::nullopt;
  if (!is_value(*attribute->object)) return std::nullopt;
  if (attribute->name == "shape" && subscript.items.size() == 1 && subscript.items[0]->as<ast::Slice>())
    return std::nullopt;  // a part of the value x.shape
  if (subscript.items.size() != 1 || subscript.comma)
    type_error(expr.span, "subscript.index", "found several indices of a shape; expected one axis");
  const Expr tensor = leaf(*attribute->object);
  if (tensor.type().is_error()) throw ReadContext::Silent{};
  const Expr axis = leaf(*subscript.items[0]);
  const bool shape = attribute->name == "shape";
  const Op& op = *find_op(shape ? "inspect.tensor_shape_i" : "inspect.tensor_stride_i");
  Expr made = make_op_call(op, {tensor, axis}, {}, expr.span);
  const auto* literal = axis.as<ScalarValueExpr>();
  const auto index = literal ? literal->value.as_int() : std::nullopt;
  const TensorType* type = tensor.type().tensor();
  if (shape && !made.type().is_error() && index && type && type->shape)
    return scalar_value((*type->shape)[static_cast<std::size_t>(*index)], expr.span);
  return made;
}

}  // namespace relish
