// Making, writing and reading tables of rows.
#include "transform/gradient/row_tables.h"

#include <fmt/format.h>

#include "transform/gradient/nests.h"

namespace relish {

Expr RowTables::empty(const Scalar& rounds, const TensorType& value, FunctionBuilder& builder) {
  std::vector<Scalar> dims{rounds};
  dims.insert(dims.end(), value.shape->begin(), value.shape->end());
  return builder.emit(op_call("zeros", {shape_literal(std::move(dims), builder.origin())},
                              {{"dtype", Attribute(std::string(name_of(*value.dtype)))}}, builder.origin()),
                      "lv");
}

// Sizes that are no numbers are told by the value that is written.
std::string RowTables::writer_of(const TensorType& value, Span span) {
  std::string key(name_of(*value.dtype));
  std::vector<Scalar> dims;
  for (std::size_t d = 0; d < value.shape->size(); ++d) {
    const auto known = (*value.shape)[d].as_int();
    key += known ? fmt::format(" {}", *known) : " ?";
    dims.push_back(known ? Scalar(*known) : use(ScalarVar("d" + std::to_string(d), DType::Int64, span)));
  }
  const auto [place, fresh] = writers_.try_emplace(key);
  if (!fresh) return place->second;
  PrimFunc made;
  made.name = place->second = module_.fresh_name("keep_row");
  made.span = span;
  made.is_private = true;
  made.attributes = {{"noalias", true}};
  std::vector<Scalar> rows{use(ScalarVar("rounds", DType::Int64, span))};
  rows.insert(rows.end(), dims.begin(), dims.end());
  const Buffer table("rows", *value.dtype, std::move(rows), "global", span);
  const Buffer one("value", *value.dtype, dims, "global", span);
  const ScalarVar row("row", DType::Int64, span);
  NestStore store{.name = "rows", .buffer = table, .indices = {use(row)}, .span = span};
  std::vector<Scalar> element;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const ScalarVar axis("i" + std::to_string(d), DType::Int64, span);
    store.spatial.push_back({axis, int_literal(DType::Int64, 0), dims[d]});
    element.push_back(use(axis));
  }
  store.indices.insert(store.indices.end(), element.begin(), element.end());
  store.value = load(one, std::move(element), span);
  made.params = {{table}, {one}, {row}};
  made.body = nest_of(store);
  module_.set(std::make_shared<const PrimFunc>(std::move(made)));
  return place->second;
}

Expr RowTables::with_row(const Expr& table, const Expr& value, const Scalar& row, FunctionBuilder& builder) {
  const Span span = builder.origin();
  const std::string writer = writer_of(*value.type().tensor(), span);
  CallTir call{.callee = global_ref(GlobalFunction(module_.prim_func(writer)), span),
               .args = {table, value, scalar_value(row, span)},
               .out_types = {table.type()},
               .tuple_result = false,
               .inplace_indices = {0}};
  return builder.emit(call_tir(std::move(call), span), table.as_var()->name());
}

Expr RowTables::row(const Expr& table, const Scalar& row, const std::string& hint, FunctionBuilder& builder) {
  const Span span = builder.origin();
  const auto one = [&](const Scalar& scalar) { return tuple({scalar_value(scalar, span)}, span); };
  const Expr part = builder.emit(
      op_call("strided_slice", {table, one(Scalar(0)), one(row), one(canonical(row + Scalar(1)))},
              {{"assume_inbound", true}}, span),
      "lv");
  std::vector<Scalar> dims = *table.type().tensor()->shape;
  dims.erase(dims.begin());
  return builder.emit(op_call("reshape", {part, shape_literal(std::move(dims), span)}, {}, span), hint);
}

}  // namespace relish
