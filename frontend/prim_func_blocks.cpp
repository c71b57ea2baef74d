// Loops and blocks of prim_funcs: grids and ranges, axes, regions, init, allocations.
#include <array>

#include <fmt/format.h>

#include "frontend/attribute_reader.h"
#include "frontend/prim_func_builder.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {
namespace {

struct LoopName {
  std::string_view name;
  LoopKind kind;
};
constexpr std::array<LoopName, 5> loop_names = {{{"range", LoopKind::Serial},
                                                 {"T.serial", LoopKind::Serial},
                                                 {"T.parallel", LoopKind::Parallel},
                                                 {"T.vectorized", LoopKind::Vectorized},
                                                 {"T.unroll", LoopKind::Unrolled}}};

std::vector<const ast::Expr*> target_names(const ast::Expr& target) {
  std::vector<const ast::Expr*> names;
  if (auto* tuple = target.as<ast::TupleValue>()) {
    for (const ast::ExprPtr& item : tuple->items) names.push_back(item.get());
  } else {
    names.push_back(&target);
  }
  return names;
}

std::vector<const ast::Expr*> list_items(const ast::Expr& list) {
  std::vector<const ast::Expr*> items;
  if (auto* l = list.as<ast::ListValue>()) {
    for (const ast::ExprPtr& item : l->items) items.push_back(item.get());
  } else if (auto* t = list.as<ast::TupleValue>()) {
    for (const ast::ExprPtr& item : t->items) items.push_back(item.get());
  } else {
    items.push_back(&list);
  }
  return items;
}

// The extent of a range that is written with its end: `end` without `begin` where that is a part of it (n of
// 1 and n + 1, 4 of v and v + 4), else the difference.
Scalar extent_of(const Scalar& begin, const Scalar& end, const Scalar& difference) {
  auto low = begin.as_int(), high = end.as_int();
  if (low && high) return int_literal(end.dtype(), *high - *low, end.span());
  if (low == 0) return end;
  const auto* sum = end.as<Binary>();
  if (!sum || sum->op != BinaryOp::Add) return difference;
  if (low) return sum->b.as_int() == low ? sum->a : difference;
  return structurally_equal(sum->a, begin) ? sum->b : difference;
}

}  // namespace

Stmt PrimFuncBuilder::read_for(const ast::Statement& statement, const ast::For& loop) {
  CommentsPtr comments = take_comments(statement.comments);
  auto* call = loop.iterable->as<ast::Call>();
  std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  std::vector<const ast::Expr*> targets = target_names(*loop.target);
  struct Dimension {
    Scalar begin, extent;
  };
  std::vector<Dimension> dimensions;
  LoopKind kind = LoopKind::Serial;
  Attributes annotations;

  auto read_header = [&] {
    if (name == "T.grid") {
      for (const ast::Argument& argument : call->arguments) {
        if (!argument.name.empty() || argument.stars) {
          type_error(argument.value->span, "loop.grid", "found a named argument of T.grid; expected extents");
        }
        Scalar extent = reader_.read_index(*argument.value);
        dimensions.push_back({int_literal(extent.dtype(), 0, argument.value->span), extent});
      }
    } else {
      const LoopName* found = nullptr;
      for (const LoopName& entry : loop_names) {
        if (entry.name == name) found = &entry;
      }
      if (!found) {
        if (name == "T.thread_binding") {
          type_error(loop.iterable->span, "loop.thread",
                     "T.thread_binding: GPU threads are not supported; expected T.parallel");
        }
        std::vector<DiagnosticNote> notes;
        if (call) {
          std::vector<std::string> candidates{"T.grid"};
          for (const LoopName& entry : loop_names) candidates.emplace_back(entry.name);
          notes = write_nearest(call->callee->span, name, candidates);
        }
        fail(ErrorClass::Type, loop.iterable->span, "loop.range",
             fmt::format("found a loop over {}; expected T.grid, range, T.serial, T.parallel, "
                         "T.vectorized or T.unroll",
                         ast::describe(*loop.iterable)),
             std::move(notes));
      }
      kind = found->kind;
      std::vector<const ast::Expr*> bounds;
      for (const ast::Argument& argument : call->arguments) {
        if (argument.name == "annotations") {
          if (!argument.value->as<ast::NoneValue>()) {
            Attribute read = read_attribute(context_, *argument.value);
            auto* dictionary = read.as<Attributes>();
            if (!dictionary)
              type_error(argument.value->span, "loop.annotations",
                         "found annotations that are no dictionary");
            annotations = *dictionary;
          }
        } else if (argument.name == "start" || argument.name == "stop" || argument.name.empty()) {
          bounds.push_back(argument.value.get());
        } else {
          type_error(argument.name_span, "loop.argument",
                     fmt::format("{} has no argument '{}' here", name, printable(argument.name)));
        }
      }
      if (bounds.size() == 3) {
        type_error(bounds[2]->span, "loop.step",
                   "found a loop with a step; expected a loop from 0 and an index computed of it");
      }
      if (bounds.empty() || bounds.size() > 3) {
        type_error(loop.iterable->span, "loop.bounds",
                   fmt::format("found {} bounds of {}; expected one or two", bounds.size(), name));
      }
      if (bounds.size() == 1) {
        Scalar extent = reader_.read_index(*bounds[0]);
        dimensions.push_back({int_literal(extent.dtype(), 0, bounds[0]->span), extent});
      } else {
        ScalarOperand begin = reader_.operand(*bounds[0]), end = reader_.operand(*bounds[1]);
        for (const ScalarOperand* bound : {&begin, &end}) {
          if (!is_int(bound->value.dtype()))
            type_error(bound->value.span(), "loop.bounds", "found a bound that is no integer");
        }
        Scalar difference = reader_.combine(ast::Operator::Sub, end, begin, loop.iterable->span).value;
        DType dtype = difference.dtype();
        Scalar first = reader_.convert(dtype, begin, begin.value.span()).value;
        Scalar last = reader_.convert(dtype, end, end.value.span()).value;
        dimensions.push_back({first, extent_of(first, last, difference)});
      }
    }
    if (dimensions.size() != targets.size()) {
      type_error(
          loop.target->span, "loop.variables",
          fmt::format("found {} variables for a loop of {} dimensions", targets.size(), dimensions.size()));
    }
    for (const ast::Expr* target : targets) name_target(*target);
  };
  bool good = context_.attempt(read_header);

  frames_.emplace_back();
  std::vector<ScalarVar> variables;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::string* variable = ast::name_of(*targets[i]);
    if (!variable) continue;
    if (!good) {
      bind(*variable, Refused{}, targets[i]->span);
      continue;
    }
    variables.emplace_back(*variable, dimensions[i].extent.dtype(), targets[i]->span);
    loops_[variables.back().id()] = {dimensions[i].begin, dimensions[i].extent};
    bind(*variable, Scalar(variables.back()), targets[i]->span);
  }
  Stmt body = read_body(loop.body, nullptr);
  frames_.pop_back();
  if (!good) throw ReadContext::Silent{};
  for (std::size_t i = targets.size(); i-- > 0;) {
    body = make_stmt(For{variables[i], dimensions[i].begin, dimensions[i].extent, kind, body,
                         i == 0 ? annotations : Attributes{}},
                     statement.span, i == 0 ? comments : nullptr);
  }
  return body;
}

Stmt PrimFuncBuilder::read_with(const ast::Statement& statement, const ast::With& with, BlockStmt* block) {
  auto* call = with.items.size() == 1 ? with.items[0].value->as<ast::Call>() : nullptr;
  std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (name == "T.init" && call->arguments.empty()) {
    if (!block) type_error(statement.span, "block.init", "found T.init outside a block");
    if (block->init.defined()) type_error(statement.span, "block.init", "found a second T.init in a block");
    frames_.emplace_back();
    block->init = read_body(with.body, nullptr);
    frames_.pop_back();
    if (!block->init.defined()) block->init = seq({});
    return {};
  }
  if (name != "T.sblock" && name != "T.block") {
    fail(ErrorClass::Type, statement.span, "with.unknown",
         fmt::format("found 'with' on {}; expected T.sblock or T.init in a prim_func",
                     ast::describe(*with.items[0].value)),
         call ? write_nearest(call->callee->span, name,
                              std::vector<std::string>{"T.sblock", "T.block", "T.init"})
              : std::vector<DiagnosticNote>{});
  }
  if (with.items[0].target)
    type_error(with.items[0].target->span, "block.name", "found 'as' on a block; expected none");
  BlockStmt result;
  for (const ast::Argument& argument : call->arguments) {
    auto* text = argument.value->as<ast::StringValue>();
    if (argument.name == "no_realize") continue;
    if (!text || (!argument.name.empty() && argument.name != "name")) {
      type_error(argument.value->span, "block.name", "found a block's name that is no string");
    }
    result.name = text->value;
  }
  CommentsPtr comments = take_comments(statement.comments);
  frames_.emplace_back();
  result.body = read_body(with.body, &result);
  frames_.pop_back();
  return make_stmt(std::move(result), statement.span, comments);
}

void PrimFuncBuilder::add_axis(BlockStmt& block, const ast::Expr& target, IterKind kind, Scalar begin,
                               Scalar extent, Scalar binding) {
  const std::string& name = name_target(target);
  // The block variable has the dtype of what is bound to it; its domain follows.
  DType dtype = binding.dtype();
  auto same = [&](const Scalar& s) {
    if (s.dtype() == dtype) return s;
    return s.as_int() ? int_literal(dtype, *s.as_int(), s.span()) : cast(dtype, s);
  };
  ScalarVar var(name, dtype, target.span);
  block.iters.push_back({var, kind, same(begin), same(extent), binding});
  bind(name, Scalar(var), target.span);
}

// `vi, vj = T.axis.remap("SR", [i, j])` and `vi = T.axis.spatial(16, e)`.
bool PrimFuncBuilder::read_axes(const ast::Expr& target, const ast::Expr& value, BlockStmt* block) {
  auto* call = value.as<ast::Call>();
  std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (name.substr(0, 7) != "T.axis.") return false;
  if (!block) type_error(value.span, "axis.place", "found an axis outside a block");
  std::string kind = name.substr(7);
  if (kind == "remap") {
    auto* letters = call->arguments.size() == 2 ? call->arguments[0].value->as<ast::StringValue>() : nullptr;
    if (!letters)
      type_error(value.span, "axis.remap",
                 "T.axis.remap takes letters and loop variables, as in (\"SR\", [i, j])");
    std::vector<const ast::Expr*> variables = list_items(*call->arguments[1].value);
    std::vector<const ast::Expr*> targets = target_names(target);
    if (letters->value.size() != variables.size() || targets.size() != variables.size()) {
      std::vector<DiagnosticNote> notes;
      const std::size_t axes = std::min(targets.size(), variables.size());
      if (letters->value.size() > axes && targets.size() == variables.size()) {
        notes.push_back(write_here(call->arguments[0].value->span,
                                   fmt::format("\"{}\"", letters->value.substr(0, axes))));
      }
      fail(ErrorClass::Type, value.span, "axis.remap",
           fmt::format(
               "found {} names, {} letters and {} loop variables in T.axis.remap; expected as many of each",
               targets.size(), letters->value.size(), variables.size()),
           std::move(notes));
    }
    for (std::size_t i = 0; i < variables.size(); ++i) {
      char letter = letters->value[i];
      if (letter != 'S' && letter != 'R') {
        type_error(call->arguments[0].value->span, "axis.kind",
                   fmt::format("found the axis kind '{}'; expected 'S' or 'R'",
                               printable(std::string_view(&letter, 1))));
      }
      Scalar binding = reader_.read(*variables[i]);
      auto variable = binding.as_var();
      auto range = variable ? loops_.find(variable->id()) : loops_.end();
      if (range == loops_.end()) {
        type_error(
            variables[i]->span, "axis.remap",
            fmt::format("found {} in T.axis.remap; expected a loop variable", ast::describe(*variables[i])));
      }
      add_axis(*block, *targets[i], letter == 'S' ? IterKind::Spatial : IterKind::Reduce, range->second.begin,
               range->second.extent, binding);
    }
    return true;
  }
  bool spatial = kind == "spatial" || kind == "S";
  if (!spatial && kind != "reduce" && kind != "R") {
    fail(ErrorClass::Type, call->callee->span, "axis.kind",
         fmt::format("T.axis.{} is not supported; expected remap, spatial or reduce", printable(kind)),
         write_nearest(call->callee->as<ast::Attribute>()->name_span, kind,
                       std::vector<std::string>{"remap", "spatial", "reduce"}));
  }
  if (call->arguments.size() != 2) {
    type_error(value.span, "axis.arguments", fmt::format("T.axis.{} takes a domain and a value", kind));
  }
  const ast::Expr& domain = *call->arguments[0].value;
  Scalar binding = reader_.read_index(*call->arguments[1].value);
  Scalar begin, extent;
  if (domain.as<ast::TupleValue>() || domain.as<ast::ListValue>()) {
    std::vector<const ast::Expr*> bounds = list_items(domain);
    if (bounds.size() != 2)
      type_error(domain.span, "axis.domain", "found a domain that is no pair of bounds");
    begin = reader_.read_index(*bounds[0]);
    Scalar end = reader_.read_index(*bounds[1]);
    extent = extent_of(begin, end, end - begin);
  } else {
    extent = reader_.read_index(domain);
    begin = int_literal(extent.dtype(), 0, domain.span);
  }
  add_axis(*block, target, spatial ? IterKind::Spatial : IterKind::Reduce, begin, extent, binding);
  return true;
}

std::vector<BufferRegion> PrimFuncBuilder::read_regions(const ast::Call& call) {
  std::vector<BufferRegion> regions;
  std::vector<const ast::Expr*> written;
  for (const ast::Argument& argument : call.arguments) {
    for (const ast::Expr* item : list_items(*argument.value)) written.push_back(item);
  }
  for (const ast::Expr* region : written) {
    auto* subscript = region->as<ast::Subscript>();
    BufferRegion result;
    if (!subscript) {
      // A buffer alone is all of it.
      ScalarMeaning meaning = find(name_target(*region), region->span);
      auto* buffer = std::get_if<Buffer>(&meaning);
      if (!buffer)
        type_error(region->span, "block.region",
                   fmt::format("found {} as a region; expected a buffer", ast::describe(*region)));
      result.buffer = *buffer;
      for (const Scalar& dim : buffer->shape()) result.dims.push_back({int_literal(dim.dtype(), 0), dim});
      regions.push_back(std::move(result));
      continue;
    }
    result.buffer = buffer_target(*subscript);
    auto* empty = subscript->items.size() == 1 ? subscript->items[0]->as<ast::TupleValue>() : nullptr;
    if (!(empty && empty->items.empty())) {
      for (std::size_t i = 0; i < subscript->items.size(); ++i) {
        const ast::Expr& item = *subscript->items[i];
        auto* slice = item.as<ast::Slice>();
        if (!slice) {
          Scalar begin = reader_.read_index(item);
          result.dims.push_back({begin, int_literal(begin.dtype(), 1, item.span)});
          continue;
        }
        if (slice->step)
          type_error(slice->step->span, "block.region", "found a step in a region; expected none");
        if (i >= result.buffer.shape().size()) break;
        const Scalar& dim = result.buffer.shape()[i];
        ScalarOperand begin =
            slice->begin ? reader_.operand(*slice->begin) : ScalarOperand{int_literal(dim.dtype(), 0)};
        ScalarOperand end = slice->end ? reader_.operand(*slice->end) : ScalarOperand{dim};
        Scalar difference = reader_.combine(ast::Operator::Sub, end, begin, item.span).value;
        Scalar first = reader_.convert(difference.dtype(), begin, item.span).value;
        Scalar last = reader_.convert(difference.dtype(), end, item.span).value;
        result.dims.push_back({first, extent_of(first, last, difference)});
      }
    }
    if (result.dims.size() != result.buffer.shape().size()) {
      type_error(region->span, "block.region",
                 fmt::format("found a region of {} dimensions; {} has {}", subscript->items.size(),
                             printable(result.buffer.name()), result.buffer.rank()));
    }
    regions.push_back(std::move(result));
  }
  return regions;
}

// T.where, T.reads, T.writes and attributes of a block. False for any other call.
bool PrimFuncBuilder::read_block_call(const std::string& name, const ast::Expr& expr, BlockStmt* block) {
  const auto& call = *expr.as<ast::Call>();
  bool attributes = name == "T.sblock_attr" || name == "T.block_attr";
  if (name != "T.where" && name != "T.reads" && name != "T.writes" && !attributes) return false;
  if (!block) {
    // At the level of the function these describe the implicit root block.
    if (name == "T.where") type_error(expr.span, "block.where", "found T.where outside a block");
    return true;
  }
  if (name == "T.where") {
    if (call.arguments.size() != 1) type_error(expr.span, "block.where", "T.where takes one condition");
    Scalar condition = reader_.read_condition(*call.arguments[0].value);
    block->predicate =
        block->predicate.defined() ? logical(LogicalOp::And, block->predicate, condition) : condition;
  } else if (name == "T.reads") {
    block->reads = read_regions(call);
  } else if (name == "T.writes") {
    block->writes = read_regions(call);
  } else {
    for (auto& [key, value] : read_attribute_dictionary(context_, expr)) {
      block->attributes = with_attribute(std::move(block->attributes), key, std::move(value));
    }
  }
  return true;
}

// T.alloc_buffer, T.sblock_alloc_buffer, T.match_buffer; buffers in the middle of loops are allocations of
// their own.
bool PrimFuncBuilder::read_allocation(const ast::Statement& statement, const ast::Expr& target,
                                      const ast::Expr& value, BlockStmt* block, std::vector<Stmt>& into) {
  auto* call = value.as<ast::Call>();
  std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (name == "T.match_buffer") {
    match_buffer(name_target(target), target, *call);
    return true;
  }
  if (name == "T.decl_buffer" || name == "T.allocate" || name == "T.Buffer" || name == "T.buffer_decl") {
    type_error(value.span, "buffer.view", fmt::format("{} is not supported; expected T.alloc_buffer", name));
  }
  if (name != "T.alloc_buffer" && name != "T.sblock_alloc_buffer") return false;
  const std::string& variable = name_target(target);
  Buffer buffer = read_buffer(variable, target.span, buffer_arguments(call->arguments, 0));
  bind(variable, buffer, target.span);
  if (block) {
    block->allocations.push_back(buffer);
  } else if (frames_.size() == 1) {
    function_.allocations.push_back(buffer);
  } else {
    into.push_back(make_stmt(AllocateStmt{buffer}, statement.span, take_comments(statement.comments)));
  }
  return true;
}

}  // namespace relish
