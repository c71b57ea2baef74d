// Which values, over which axes, and where their tables stand.
#include "schedule/nests/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/rewriting/rewrite.h"
#include "ir/scalars/scalar_order.h"
#include "loops/accesses.h"
#include "loops/faults.h"
#include "loops/nest.h"

namespace relish {
namespace {

// An element of a table stands for so many computations at least, each of so many simple operations.
constexpr std::int64_t least_uses = 8;
constexpr int least_cost = 8;
// More elements come from memory, which is no quicker than to compute them; each thread has tables of its
// own.
constexpr std::int64_t most_elements = std::int64_t{1} << 18, most_of_all = std::int64_t{1} << 20;
constexpr std::size_t most_tables = 16;
constexpr std::size_t most_axes = 64;

using Axes = std::uint64_t;  // a bit for each axis of the nest

// What a node costs by itself, in simple operations.
int own_cost(const Scalar& value) {
  if (const auto* node = value.as<Binary>()) {
    const bool divides = node->op == BinaryOp::Div || node->op == BinaryOp::TruncMod ||
                         node->op == BinaryOp::FloorDiv || node->op == BinaryOp::FloorMod;
    if (!divides) return 1;
    return !is_float(value.dtype()) && node->b.as_int() ? 2 : 8;
  }
  if (const auto* node = value.as<Cast>()) {
    const bool from_float = is_float(node->a.dtype()), to_float = is_float(value.dtype());
    return from_float && !to_float ? 8 : from_float != to_float ? 4 : 1;
  }
  if (value.as<IntrinsicCall>()) return 8;
  return value.as<Compare>() || value.as<Logical>() || value.as<Not>() || value.as<Select>() ||
                 value.as<Load>()
             ? 1
             : 0;
}

// What is known of a value of the nest: the axes that decide it, what it costs apart from operands that fewer
// axes decide, and whether it can be computed elsewhere.
struct Known {
  Axes axes = 0;
  int cost = 0;
  bool moves = true;
};

class Values {
 public:
  Values(const Nest& nest, RangeProver& prover) : nest_(nest), prover_(prover) {
    for (std::size_t i = 0; i < nest.axes.size(); ++i)
      for (const ScalarVar& var : {nest.axes[i].var, nest.axes[i].loop->var})
        axes_.insert_or_assign(var.id(), Axes{1} << i);
  }

  // A shared operand is looked at once.
  const Known& of(const Scalar& value) {
    const auto at = known_.find(&value.node());
    if (at != known_.end()) return at->second;
    Known known;
    if (const auto* bound = value.as<Let>()) names_.insert(bound->var.id());
    if (const auto var = value.as_var()) {
      const auto axis = axes_.find(var->id());
      if (axis != axes_.end()) known.axes = axis->second;
      known.moves = !names_.contains(var->id());
    }
    std::vector<Known> operands;
    for_each_operand(value, [&](const Scalar& operand) {
      operands.push_back(of(operand));
      known.axes |= operands.back().axes;
      known.moves = known.moves && operands.back().moves;
    });
    known.cost = own_cost(value);
    for (const Known& operand : operands)
      if (operand.axes == known.axes) known.cost = std::min(known.cost + operand.cost, 1 << 20);
    if (known.moves) known.moves = moves_itself(value);
    return known_.emplace(&value.node(), known).first->second;
  }

 private:
  // Names cannot be bound twice; what is loaded must be there, and the same before the nest.
  bool moves_itself(const Scalar& value) {
    if (value.as<Let>() || value.as<ForeignCall>() || value.as<DataOf>() || value.as<TextLiteral>() ||
        operation_may_fault(value, prover_))
      return false;
    const auto* load = value.as<Load>();
    if (!load) return true;
    if (*load->buffer == nest_.store->buffer || load->buffer->is_pointer()) return false;
    for (std::size_t d = 0; d < load->indices.size(); ++d)
      if (!prover_.in_range(load->indices[d], load->buffer->shape()[d])) return false;
    return true;
  }

  const Nest& nest_;
  RangeProver& prover_;
  std::unordered_map<std::uint64_t, Axes> axes_;
  std::unordered_set<std::uint64_t> names_;
  std::unordered_map<const ScalarNode*, Known> known_;
};

struct ByStructure {
  bool operator()(const Scalar& a, const Scalar& b) const { return compare_structure(a, b) < 0; }
};

struct Table {
  Scalar value;
  Axes axes = 0;
  Buffer buffer = {};
  std::vector<std::size_t> order = {};  // of its dimensions
};

class Tables {
 public:
  // Inside of all loops of the nest.
  Tables(const Nest& nest, RangeProver& prover) : nest_(nest), prover_(prover), values_(nest, prover) {
    std::int64_t last = -1;
    if (const auto& indices = nest.store->indices; !indices.empty())
      if (const auto var = strided_var(indices.back()))
        for (std::size_t i = 0; i < nest.axes.size(); ++i)
          if (nest.axes[i].var == *var) last = static_cast<std::int64_t>(i);
    along_ = last;
    values_.of(nest.store->value);
    for (const Scalar& index : nest.store->indices) values_.of(index);
  }

  // Before the nest.
  std::optional<Stmt> taken(Span span) {
    choose(nest_.store->value);
    for (const Scalar& index : nest_.store->indices) choose(index);
    if (tables_.empty()) return std::nullopt;
    return written(span);
  }

 private:
  // The product of the extents of axes, those that only the run knows as `unknown`.
  std::int64_t count(Axes axes, std::int64_t unknown) const {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < nest_.axes.size(); ++i) {
      if (!(axes >> i & 1)) continue;
      const std::int64_t extent = nest_.axes[i].loop->extent.as_int().value_or(unknown);
      if (__builtin_mul_overflow(product, extent, &product)) return INT64_MAX;
    }
    return product;
  }

  // Whether the loops around would do it as rarely: it changes with outer axes of the result alone, and below
  // the last of these enough is done.
  bool stays_inside(Axes axes) const {
    Axes below = 0;
    for (std::size_t i = nest_.axes.size(); i-- > 0;) {
      const bool outer = nest_.axes[i].stored && static_cast<std::int64_t>(i) != along_;
      if (!outer) {
        if (axes >> i & 1) return false;
        below |= Axes{1} << i;
      }
    }
    for (std::size_t i = nest_.axes.size(); i-- > 0 && !(axes >> i & 1);) below |= Axes{1} << i;
    return count(below, least_uses) >= least_uses;
  }

  // Whether there is something as large as the table where extents are open: the result has all the axes, or
  // a parameter the one extent.
  bool fits_memory(Axes axes) const {
    int open = 0;
    bool stored = true, sizes = true;
    for (std::size_t i = 0; i < nest_.axes.size(); ++i) {
      const Axis& axis = nest_.axes[i];
      if (!(axes >> i & 1) || axis.loop->extent.as_int()) continue;
      ++open;
      stored = stored && axis.stored;
      sizes = sizes && axis.loop->extent.as_var();
    }
    return stored || (open == 1 && sizes);
  }

  // Whether it can be computed where only the loops of its own axes run: that those of others have an
  // iteration shows sizes which are then not known.
  bool stands_alone(const Scalar& value, Axes axes) {
    std::size_t entered = 0;
    for (std::size_t i = 0; i < nest_.axes.size(); ++i) {
      if (!(axes >> i & 1)) continue;
      const Axis& axis = nest_.axes[i];
      prover_.enter_loop(axis.loop->var, axis.loop->begin, axis.loop->extent);
      if (axis.iter) prover_.bind(axis.var, axis.iter->binding);
      ++entered;
    }
    const bool fails = may_fault(value, prover_);
    for (; entered > 0; --entered) prover_.leave_loop();
    return !fails;
  }

  bool worth(const Scalar& value) {
    const Known& known = values_.of(value);
    // Of integers and conditions proofs know more than of what a table holds.
    const auto* converted = value.as<Cast>();
    const bool plain = is_float(value.dtype()) ||
                       (converted && is_float(converted->a.dtype()) && value.dtype() != DType::Bool);
    return plain && known.moves && known.axes && known.cost >= least_cost &&
           count(~known.axes, least_uses) >= least_uses && count(known.axes, 1) <= most_elements &&
           fits_memory(known.axes) && !stays_inside(known.axes) && stands_alone(value, known.axes);
  }

  void choose(const Scalar& value) {
    if (!values_.of(value).axes || tables_.contains(value)) return;
    if (worth(value)) {
      const Axes axes = values_.of(value).axes;
      const std::int64_t elements = count(axes, 1);
      if (tables_.size() == most_tables || elements_ + elements > most_of_all) return;
      elements_ += elements;
      tables_.emplace(value, Table{value, axes});
      return;
    }
    for_each_operand(value, [&](const Scalar& operand) { choose(operand); });
  }

  // Loops that all tables and the nest are inside of: the outer ones of the result that every table has, but
  // each keeps one axis of its own.
  std::size_t common_loops() const {
    const auto is_common = [&](std::size_t i) {
      const Axis& axis = nest_.axes[i];
      return axis.stored && (!axis.iter || axis.iter->kind == IterKind::Spatial) &&
             std::all_of(tables_.begin(), tables_.end(), [&](const auto& each) {
               return (each.second.axes >> i & 1) && each.second.axes >> i > 1;
             });
    };
    std::size_t common = 0;
    while (is_common(common)) ++common;
    return common;
  }

  // Few steps of a sum stand outside, so that a table is read along memory as the result is written.
  void place(Table& table, std::size_t common, std::size_t number) const {
    for (const bool sums : {true, false})
      for (std::size_t i = common; i < nest_.axes.size(); ++i)
        if (table.axes >> i & 1 && (is_short_sum(i) == sums)) table.order.push_back(i);
    std::vector<Scalar> shape;
    for (const std::size_t i : table.order) shape.push_back(nest_.axes[i].loop->extent);
    table.buffer = Buffer(fmt::format("table_{}", number), table.value.dtype(), shape);
  }
  bool is_short_sum(std::size_t i) const {
    return !nest_.axes[i].stored && nest_.axes[i].loop->extent.as_int().value_or(INT64_MAX) <= 2 * least_uses;
  }

  Stmt filled(const Table& table) const {
    ScalarMap places;
    std::vector<Scalar> indices;
    std::vector<ScalarVar> vars;
    for (const std::size_t i : table.order) {
      const Axis& axis = nest_.axes[i];
      vars.emplace_back(axis.loop->var.name(), axis.loop->var.dtype(), axis.span);
      indices.push_back(use(vars.back()));
      places.insert_or_assign(axis.loop->var.id(), use(vars.back()));
      places.insert_or_assign(axis.var.id(), cast(axis.var.dtype(), use(vars.back())));
    }
    Stmt body =
        make_stmt(Store{table.buffer, indices, substitute(table.value, places)}, nest_.store_stmt->span);
    for (std::size_t d = table.order.size(); d-- > 0;) {
      const Axis& axis = nest_.axes[table.order[d]];
      const Scalar begin = int_literal(vars[d].dtype(), 0);
      body = make_stmt(For{vars[d], begin, axis.loop->extent, LoopKind::Serial, body, {}}, axis.span);
    }
    return body;
  }

  // The value with what tables hold in place of it.
  Scalar read(const Scalar& value) const {
    if (const auto at = tables_.find(value); at != tables_.end()) {
      std::vector<Scalar> indices;
      for (const std::size_t i : at->second.order) indices.push_back(use(nest_.axes[i].var));
      return load(at->second.buffer, std::move(indices));
    }
    return map_operands(value, [&](const Scalar& operand) { return read(operand); });
  }

  Stmt written(Span span) {
    const std::size_t common = common_loops();
    std::vector<Buffer> buffers;
    std::vector<Stmt> parts;
    for (auto& [value, table] : tables_) {
      place(table, common, buffers.size());
      buffers.push_back(table.buffer);
      parts.push_back(filled(table));
    }
    Store store = *nest_.store;
    store.value = read(store.value);
    for (Scalar& index : store.indices) index = read(index);
    Stmt body = make_stmt(std::move(store), nest_.store_stmt->span, nest_.store_stmt->comments);
    if (nest_.block) {
      BlockStmt block = *nest_.block;
      block.body = body;
      block.reads = block.writes = std::nullopt;
      std::erase_if(block.iters, [&](const IterVar& iter) {
        return std::any_of(nest_.axes.begin(), nest_.axes.begin() + static_cast<std::ptrdiff_t>(common),
                           [&](const Axis& axis) { return axis.var == iter.var; });
      });
      body = make_stmt(std::move(block), nest_.block_stmt->span, nest_.block_stmt->comments);
    }
    const auto loops = [&](Stmt inside, std::size_t from, std::size_t to) {
      for (std::size_t i = to; i-- > from;) {
        For loop = *nest_.axes[i].loop;
        loop.body = inside;
        inside = make_stmt(std::move(loop), nest_.axes[i].span);
      }
      return inside;
    };
    parts.push_back(loops(body, common, nest_.axes.size()));
    BlockStmt whole;
    whole.name = "tables";
    for (std::size_t i = 0; i < common; ++i)
      if (const IterVar* iter = nest_.axes[i].iter) whole.iters.push_back(*iter);
    whole.allocations = std::move(buffers);
    whole.body = seq(std::move(parts), span);
    const Stmt all = loops(make_stmt(std::move(whole), span), 0, common);
    const Scalar some = has_elements();
    return some.defined() ? make_stmt(IfStmt{some, all, {}}, span) : all;
  }

  // When the result has an element: without one there are no tables either, however long its other axes are.
  // Undefined where that is known.
  Scalar has_elements() const {
    Scalar all;
    for (std::size_t i = 0; i < nest_.axes.size(); ++i) {
      const Axis& axis = nest_.axes[i];
      const Scalar& extent = axis.loop->extent;
      // A sum of no terms still begins.
      const bool of_result = axis.stored && (!axis.iter || axis.iter->kind == IterKind::Spatial);
      const bool in_all = std::all_of(tables_.begin(), tables_.end(),
                                      [&](const auto& each) { return each.second.axes >> i & 1; });
      if (!of_result || in_all || extent.as_int()) continue;
      const Scalar some = extent > zero(extent.dtype());
      all = all.defined() ? logical(LogicalOp::And, all, some) : some;
    }
    return all;
  }

  const Nest& nest_;
  RangeProver& prover_;
  Values values_;
  std::int64_t along_ = -1;    // the axis along memory of the result
  std::int64_t elements_ = 0;  // of all tables
  std::map<Scalar, Table, ByStructure> tables_;
};

}  // namespace

std::optional<Stmt> with_tables(const Stmt& stmt, RangeProver& prover) {
  auto nest = perfect_nest(stmt);
  if (!nest || nest->axes.size() < 2 || nest->axes.size() > most_axes || !find_stored_axes(*nest, true, true))
    return std::nullopt;
  for (const Axis& axis : nest->axes) {
    if (axis.loop->kind == LoopKind::Unrolled || axis.loop->kind == LoopKind::Vectorized) return std::nullopt;
    std::vector<Access> loads;
    collect_loads(axis.loop->extent, loads);
    if (!loads.empty()) return std::nullopt;  // the nest may change it
    std::vector<ScalarVar> vars;
    collect_vars(axis.loop->extent, vars);
    for (const Axis& other : nest->axes)
      if (std::find(vars.begin(), vars.end(), other.loop->var) != vars.end()) return std::nullopt;
  }
  for (const Axis& axis : nest->axes)
    if (!prover.nonnegative(axis.loop->extent)) return std::nullopt;
  enter(*nest, prover);
  Tables tables(*nest, prover);
  leave(*nest, prover);
  return tables.taken(stmt->span);
}

}  // namespace relish
