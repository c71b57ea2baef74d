// Expressions and lines for lanes.
#include "loops/lanes.h"

#include <algorithm>
#include <unordered_set>

#include "loops/accesses.h"
#include "loops/extremes.h"
#include "loops/iterations.h"

namespace relish {
namespace {

bool has_lane_function(Intrinsic which, DType dtype) {
  switch (info_of(which).lanes) {
    case IntrinsicLanes::None:
      return false;
    case IntrinsicLanes::Float32:
      return dtype == DType::Float32;
    default:
      return is_float(dtype);
  }
}

bool loads_nothing(const Scalar& value) {
  std::vector<Access> loads;
  collect_loads(value, loads);
  return loads.empty();
}

bool gather_lines(const Stmt& stmt, std::vector<Stmt>& lines) {
  if (const auto* sequence = stmt.as<SeqStmt>())
    return std::all_of(sequence->body.begin(), sequence->body.end(),
                       [&](const Stmt& child) { return gather_lines(child, lines); });
  const auto* named = stmt.as<DefineScalar>();
  if (!stmt.as<Store>() && !(named && named->let && named->value.defined())) return false;
  lines.push_back(stmt);
  return true;
}

using Names = std::unordered_set<std::uint64_t>;

bool uses_one_of(const Names& names, const std::vector<Scalar>& values) {
  std::vector<ScalarVar> vars;
  for (const Scalar& value : values) collect_vars(value, vars);
  return std::any_of(vars.begin(), vars.end(),
                     [&](const ScalarVar& var) { return names.contains(var.id()); });
}

}  // namespace

bool has_lanes(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Int32 || dtype == DType::Int64;
}

bool lane_wise(BinaryOp op, DType dtype) {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
      return has_lanes(dtype);
    case BinaryOp::Min:
    case BinaryOp::Max:
      return has_lanes(dtype);
    case BinaryOp::Div:
      return has_lanes(dtype) && is_float(dtype);
    default:
      return false;
  }
}

bool converted_in_lanes(DType from, DType to) {
  if (!has_lanes(from) || !has_lanes(to)) return false;
  return is_float(to) || (!is_float(from) && size_of(from) <= size_of(to));
}

bool computed_in_lanes(const Scalar& value) {
  if (!has_lanes(value.dtype()) && !is_bool(value.dtype())) return false;
  if (value.as_var() || value.as<IntLiteral>() || value.as<FloatLiteral>()) return true;
  if (const auto* loaded = value.as<Load>()) return has_lanes(loaded->buffer->dtype());
  if (const auto* n = value.as<Binary>())
    return lane_wise(n->op, value.dtype()) && computed_in_lanes(n->a) && computed_in_lanes(n->b);
  if (const auto* n = value.as<Compare>())
    return has_lanes(n->a.dtype()) && computed_in_lanes(n->a) && computed_in_lanes(n->b);
  if (const auto* n = value.as<Not>()) return is_bool(n->a.dtype()) && computed_in_lanes(n->a);
  if (const auto* n = value.as<Cast>())
    return converted_in_lanes(n->a.dtype(), value.dtype()) && computed_in_lanes(n->a);
  // The second operand is computed also where the first decides.
  if (const auto* n = value.as<Logical>())
    return is_bool(n->a.dtype()) && is_bool(n->b.dtype()) && computed_in_lanes(n->a) &&
           computed_in_lanes(n->b) && loads_nothing(n->b) && count_intrinsics(n->b) == 0;
  if (const auto* n = value.as<Select>()) {
    if (const auto extreme = as_extreme(*n))
      return computed_in_lanes(extreme->a) && computed_in_lanes(extreme->b);
    return !n->lazy && is_bool(n->condition.dtype()) && has_lanes(value.dtype()) &&
           computed_in_lanes(n->condition) && computed_in_lanes(n->a) && computed_in_lanes(n->b);
  }
  const auto* called = value.as<IntrinsicCall>();
  return called && has_lane_function(called->intrinsic, value.dtype()) &&
         std::all_of(called->args.begin(), called->args.end(), [&](const Scalar& arg) {
           return arg.dtype() == value.dtype() && computed_in_lanes(arg);
         });
}

std::optional<std::vector<Stmt>> lines_of(const Stmt& body) {
  std::vector<Stmt> lines;
  if (!body.defined() || !gather_lines(body, lines)) return std::nullopt;
  const bool stores =
      std::any_of(lines.begin(), lines.end(), [](const Stmt& line) { return line.as<Store>(); });
  return stores ? std::optional(std::move(lines)) : std::nullopt;
}

bool all_in_lanes(const std::vector<Stmt>& lines) {
  Names names;
  for (const Stmt& line : lines)
    if (const auto* named = line.as<DefineScalar>()) names.insert(named->var.id());
  return std::all_of(lines.begin(), lines.end(), [&](const Stmt& line) {
    const auto* store = line.as<Store>();
    const Scalar& value = store ? store->value : line.as<DefineScalar>()->value;
    std::vector<Access> loads;
    collect_loads(value, loads);
    return computed_in_lanes(value) && !(store && uses_one_of(names, store->indices)) &&
           std::none_of(loads.begin(), loads.end(),
                        [&](const Access& load) { return uses_one_of(names, *load.indices); });
  });
}

}  // namespace relish
