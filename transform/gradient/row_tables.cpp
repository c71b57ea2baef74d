// Making, writing and reading tables of rows.
#include "transform/gradient/row_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/operators/op.h"
#include "ir/rewriting/regions.h"
#include "transform/gradient/nests.h"
#include "transform/rebuild.h"

namespace relish {

Expr RowTables::empty(const Scalar& rounds, const TensorType& value, FunctionBuilder& builder) {
  std::vector<Scalar> dims{rounds};
  dims.insert(dims.end(), value.shape->begin(), value.shape->end());
  return builder.emit(op_call("zeros", {shape_literal(std::move(dims), builder.origin())},
                              {{"dtype", Attribute(std::string(name_of(*value.dtype)))}}, builder.origin()),
                      "lv");
}

// Sizes that are no numbers are told by the value that is written.
std::string RowTables::writer_of(const TensorType& value, Change change, Span span) {
  const std::string name = change == Change::Add ? "add_row" : "keep_row";
  std::string key = fmt::format("{} {}", name, name_of(*value.dtype));
  std::vector<Scalar> dims;
  for (std::size_t d = 0; d < value.shape->size(); ++d) {
    const auto known = (*value.shape)[d].as_int();
    key += known ? fmt::format(" {}", *known) : " ?";
    dims.push_back(known ? Scalar(*known) : use(ScalarVar("d" + std::to_string(d), DType::Int64, span)));
  }
  const auto [place, fresh] = writers_.try_emplace(key);
  if (!fresh) return place->second;
  PrimFunc made;
  made.name = place->second = module_.fresh_name(name);
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
  if (change == Change::Add) store.value = load(table, store.indices, span) + store.value;
  made.params = {{table}, {one}, {row}};
  made.body = nest_of(store);
  module_.set(std::make_shared<const PrimFunc>(std::move(made)));
  return place->second;
}

Expr RowTables::with_row(const Expr& table, const Expr& value, const Scalar& row, FunctionBuilder& builder) {
  return changed(table, value, row, Change::Set, builder);
}

Expr RowTables::with_row_added(const Expr& table, const Expr& value, const Scalar& row,
                               FunctionBuilder& builder) {
  std::vector<Scalar> dims = *table.type().tensor()->shape;
  dims.erase(dims.begin());
  Expr one = value;
  if (one.type().tensor()->rank != static_cast<int>(dims.size()))
    one = builder.emit(
        op_call("reshape", {one, shape_literal(std::move(dims), builder.origin())}, {}, builder.origin()),
        "lv");
  return changed(table, builder.emit(one, "lv"), row, Change::Add, builder);
}

Expr RowTables::changed(const Expr& table, const Expr& value, const Scalar& row, Change change,
                        FunctionBuilder& builder) {
  const Span span = builder.origin();
  const std::string writer = writer_of(*value.type().tensor(), change, span);
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

namespace {

// The only scalar of a tuple literal.
std::optional<Scalar> only_scalar(const Expr& expr) {
  const auto* tuple = expr.as<TupleExpr>();
  const auto* scalar =
      tuple && tuple->fields.size() == 1 ? tuple->fields.front().as<ScalarValueExpr>() : nullptr;
  return scalar ? std::optional(scalar->value) : std::nullopt;
}

}  // namespace

bool has_rows(const Type& type) {
  const TensorType* tensor = type.tensor();
  return tensor && tensor->dtype && is_float(*tensor->dtype) && tensor->shape && !tensor->shape->empty();
}

std::optional<RowRead> row_read(const Expr& value, const std::unordered_set<std::uint64_t>& counts) {
  const auto* call = value.as<OpCall>();
  if (!call || call->args.size() < 2 || !call->args[0].as_var() || !has_rows(call->args[0].type()))
    return std::nullopt;
  const Var table = *call->args[0].as_var();
  const CallView view{*call->op, call->args, call->attributes, value.span()};
  if (call->op->name == "strided_slice" && call->args.size() == 4) {
    const auto axis = only_scalar(call->args[1]), begin = only_scalar(call->args[2]),
               end = only_scalar(call->args[3]);
    const bool* inside = view.attribute("assume_inbound").as<bool>();
    if (!inside || !*inside || !axis || !begin || !end || axis->as_int() != 0) return std::nullopt;
    if (canonical(*end - *begin).as_int() != 1) return std::nullopt;
    return RowRead{table, *begin};
  }
  if (call->op->name != "take" || view.string_attribute("mode") != "fast") return std::nullopt;
  const auto* row = call->args[1].as<ScalarValueExpr>();
  const auto symbol = row ? row->value.as_var() : std::nullopt;
  const bool first = !view.attribute("axis").is_none() && view.int_attribute("axis") == 0;
  if (!symbol || !counts.contains(symbol->id()) || !first) return std::nullopt;
  return RowRead{table, row->value};
}

void collect_other_uses(const std::vector<Binding>& bindings, const std::unordered_set<std::uint64_t>& counts,
                        std::unordered_set<std::uint64_t>& into) {
  const auto add = [&](const std::vector<Expr>& leaves) {
    std::vector<Var> vars;
    for (const Expr& leaf : leaves) collect_leaf_vars(leaf, vars);
    for (const Var& var : vars) into.insert(var.id());
  };
  for (const Binding& binding : bindings) {
    const auto* loop = binding.value().as<Loop>();
    if (loop && !loop->condition) {
      add(loop->initial);
      add(loop->body->results);
      std::unordered_set<std::uint64_t> inner = counts;
      if (counts_from_zero(*loop)) inner.insert(loop->index.id());
      collect_other_uses(all_bindings(loop->body->blocks), inner, into);
      continue;
    }
    const bool plain = std::holds_alternative<VarBinding>(binding.kind);
    if (plain && row_read(binding.value(), counts)) continue;
    for (const Var& var : used_vars(binding.value())) into.insert(var.id());
  }
}

bool counts_from_zero(const Loop& loop) {
  const auto number = [](const Expr& bound) {
    const auto* scalar = bound.defined() ? bound.as<ScalarValueExpr>() : nullptr;
    return scalar ? scalar->value.as_int().value_or(-1) : -1;
  };
  return loop.index.defined() && number(loop.begin) >= 0 && number(loop.step) > 0;
}

}  // namespace relish
