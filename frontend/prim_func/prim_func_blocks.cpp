// Blocks of prim_funcs: axes, regions, init, attributes; and other scopes that are written with `with`.

#include <algorithm>

#include <fmt/format.h>

#include "frontend/names/suggestions.h"
#include "frontend/prim_func/prim_func_builder.h"
#include "frontend/prim_func/prim_func_parts.h"
#include "frontend/types/attribute_reader.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {

void PrimFuncBlocks::read_with(const ast::Statement& statement, const ast::With& with, BlockStmt* block,
                               std::vector<Stmt>& into) {
  auto* call = with.items.size() == 1 ? with.items[0].value->as<ast::Call>() : nullptr;
  const std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  const ast::Expr* target = with.items.empty() ? nullptr : with.items[0].target.get();
  if (call && name == "T.init" && call->arguments.empty()) {
    if (!block) {
      fail(ErrorClass::Type, statement.span, "block.init", "found T.init outside a block",
           without_header(context_.text, statement, with.body));
    }
    if (block->init.defined()) type_error(statement.span, "block.init", "found a second T.init in a block");
    frames_.emplace_back();
    block->init = read_body(with.body, nullptr);
    frames_.pop_back();
    if (!block->init.defined()) block->init = seq({});
    return;
  }
  if (call && (name == "T.sblock" || name == "T.block")) {
    if (target) type_error(target->span, "block.name", "found 'as' on a block; expected none");
    into.push_back(read_block(statement, with, *call));
    return;
  }
  // Scopes: what they declare is seen in their body.
  std::vector<Stmt> inside;
  std::optional<For> launched;
  CommentsPtr comments;
  frames_.emplace_back();
  ++flat_scopes_;
  struct Frame {
    PrimFuncBlocks& builder;
    ~Frame() {
      builder.frames_.pop_back();
      --builder.flat_scopes_;
    }
  } frame{*this};
  if (call) launched = read_launch(name, *call, target);
  if (launched) {
    comments = take_comments(statement.comments);
    ++loop_depth_;
    --flat_scopes_;
  } else if (name == "T.attr" || name == "T.target" || name == "T.assume" || name == "T.hint") {
    note_ignored(with.items[0].value->span, name);
  } else if (call && name == "T.Assert" && call->arguments.size() == 2) {
    read_assert(statement, *call->arguments[0].value, call->arguments[1].value.get(), inside);
  } else if (!(call && read_let(name, statement, *call, target, inside)) &&
             !(call && target &&
               read_allocation(statement, *target, *with.items[0].value, nullptr, inside))) {
    fail(ErrorClass::Type, statement.span, "with.unknown",
         fmt::format("found 'with' on {}; expected T.sblock or T.init in a prim_func",
                     ast::describe(*with.items[0].value)),
         call ? write_nearest(call->callee->span, name,
                              std::vector<std::string>{"T.sblock", "T.block", "T.init", "T.launch_thread"})
              : std::vector<DiagnosticNote>{});
  }
  Stmt body = read_body(with.body, launched ? nullptr : block);
  if (launched) {
    --loop_depth_;
    ++flat_scopes_;
    launched->body = body;
    into.push_back(make_stmt(*launched, statement.span, comments));
    return;
  }
  inside.push_back(body);
  into.push_back(seq(std::move(inside)));
}

Stmt PrimFuncBlocks::read_block(const ast::Statement& statement, const ast::With& with,
                                const ast::Call& call) {
  BlockStmt result;
  for (const ast::Argument& argument : call.arguments) {
    auto* text = argument.value->as<ast::StringValue>();
    if (argument.name == "no_realize" || argument.name == "exec_scope") continue;
    if (!text || (!argument.name.empty() && argument.name != "name")) {
      type_error(argument.value->span, "block.name", "found a block's name that is no string");
    }
    result.name = text->value;
  }
  CommentsPtr comments = take_comments(statement.comments);
  frames_.emplace_back();
  axis_names_.emplace_back();
  result.body = read_body(with.body, &result);
  axis_names_.pop_back();
  frames_.pop_back();
  return make_stmt(std::move(result), statement.span, comments);
}

void PrimFuncBlocks::add_axis(BlockStmt& block, const ast::Expr& target, IterKind kind, const Scalar& begin,
                              const Scalar& extent, const Scalar& binding) {
  const std::string& name = name_target(target);
  const std::vector<std::string>& taken = axis_names_.back();
  if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
    const Entry* first = look_up(name);
    std::vector<DiagnosticNote> notes;
    if (first) notes.push_back({first->span, "it is bound here first"});
    fail(ErrorClass::Type, target.span, "axis.twice",
         fmt::format("found the axis '{}' twice in a block; expected each axis once", printable(name)),
         std::move(notes));
  }
  // The block variable has the dtype of what is bound to it; its domain follows.
  DType dtype = binding.dtype();
  auto same = [&](const Scalar& s) {
    if (s.dtype() == dtype) return s;
    return s.as_int() ? int_literal(dtype, *s.as_int(), s.span()) : cast(dtype, s);
  };
  ScalarVar var(name, dtype, target.span);
  block.iters.push_back({var, kind, same(begin), same(extent), binding});
  axis_names_.back().push_back(name);
  bind(name, Scalar(var), target.span);
}

// `vi, vj = T.axis.remap("SR", [i, j])` and `vi = T.axis.spatial(16, e)`.
bool PrimFuncBlocks::read_axes(const ast::Expr& target, const ast::Expr& value, BlockStmt* block) {
  auto* call = value.as<ast::Call>();
  const std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (name.substr(0, 7) != "T.axis.") return false;
  if (!block) {
    std::vector<DiagnosticNote> notes;
    if (value.span.begin >= indented_until_) {
      notes = {put_above(rest_.front().span, "with T.sblock(\"block\"):"), indent_this(span_of(rest_))};
      indented_until_ = span_of(rest_).end;
    }
    fail(ErrorClass::Type, value.span, "axis.place", "found an axis outside a block", std::move(notes));
  }
  const std::string kind = name.substr(7);
  if (kind == "remap")
    read_remap(target, value, *call, *block);
  else
    read_axis(kind, target, value, *call, *block);
  return true;
}

// Axes that are loop variables: each with the domain of its loop.
void PrimFuncBlocks::read_remap(const ast::Expr& target, const ast::Expr& value, const ast::Call& call,
                                BlockStmt& block) {
  auto* letters = call.arguments.size() == 2 ? call.arguments[0].value->as<ast::StringValue>() : nullptr;
  if (!letters)
    type_error(value.span, "axis.remap",
               "T.axis.remap takes letters and loop variables, as in (\"SR\", [i, j])");
  const Span letters_at = call.arguments[0].value->span;
  // Each loop variable with where it is written; a name may stand for several.
  std::vector<const ast::Expr*> written;
  std::vector<Scalar> variables;
  for (const ast::Expr* item : list_items(*call.arguments[1].value)) {
    const auto several = reader_.several(*item);
    for (const Scalar& variable : several ? *several : std::vector<Scalar>{Scalar()}) {
      written.push_back(item);
      variables.push_back(variable);
    }
  }
  std::vector<const ast::Expr*> targets = target_names(target);
  if (letters->value.size() != variables.size() || targets.size() != variables.size()) {
    std::vector<DiagnosticNote> notes;
    const std::size_t axes = std::min(targets.size(), variables.size());
    if (letters->value.size() > axes && targets.size() == variables.size())
      notes.push_back(write_here(letters_at, fmt::format("\"{}\"", letters->value.substr(0, axes))));
    fail(ErrorClass::Type, value.span, "axis.remap",
         fmt::format("found {}, {} and {} in T.axis.remap; expected as many of each",
                     counted(targets.size(), "name"), counted(letters->value.size(), "letter"),
                     counted(variables.size(), "loop variable")),
         std::move(notes));
  }
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const char letter = letters->value[i];
    if (letter != 'S' && letter != 'R') refuse_axis_letter(letters->value, i, letters_at, *targets[i]);
    Scalar binding = variables[i].defined() ? variables[i] : reader_.read(*written[i]);
    auto variable = binding.as_var();
    auto range = variable ? loops_.find(variable->id()) : loops_.end();
    if (range == loops_.end()) {
      type_error(
          written[i]->span, "axis.remap",
          fmt::format("found {} in T.axis.remap; expected a loop variable", ast::describe(*written[i])));
    }
    add_axis(block, *targets[i], letter == 'S' ? IterKind::Spatial : IterKind::Reduce, range->second.begin,
             range->second.extent, binding);
  }
}

// Another letter than 'S' and 'R': an axis that places a store is spatial, one that the stores do not see is
// reduced.
void PrimFuncBlocks::refuse_axis_letter(const std::string& letters, std::size_t i, Span at,
                                        const ast::Expr& target) {
  const char letter = letters[i];
  std::string meant = letters;
  const std::string* axis = ast::name_of(target);
  if (letter == 's' || letter == 'r')
    meant[i] = letter == 's' ? 'S' : 'R';
  else
    meant[i] = axis && context_.may_search() && indexes_a_store(rest_, *axis) ? 'S' : 'R';
  fail(ErrorClass::Type, at, "axis.kind",
       fmt::format("found the axis kind '{}'; expected 'S' or 'R'", printable(std::string_view(&letter, 1))),
       {write_here(at, fmt::format("\"{}\"", meant))});
}

// One axis of its own kind and domain.
void PrimFuncBlocks::read_axis(const std::string& kind, const ast::Expr& target, const ast::Expr& value,
                               const ast::Call& call, BlockStmt& block) {
  IterKind iter_kind = IterKind::Spatial;
  if (kind == "reduce" || kind == "R") {
    iter_kind = IterKind::Reduce;
  } else if (kind == "scan") {
    iter_kind = IterKind::Ordered;
  } else if (kind == "opaque") {
    iter_kind = IterKind::Opaque;
  } else if (kind != "spatial" && kind != "S") {
    fail(ErrorClass::Type, call.callee->span, "axis.kind",
         fmt::format("T.axis.{} is not known; expected remap, spatial, reduce, scan or opaque",
                     printable(kind)),
         write_nearest(call.callee->as<ast::Attribute>()->name_span, kind,
                       std::vector<std::string>{"remap", "spatial", "reduce", "scan", "opaque"}));
  }
  // A dtype may follow; it is that of the value.
  const std::size_t given = call.arguments.size();
  const bool typed = given == 3 && (call.arguments[2].name.empty() || call.arguments[2].name == "dtype");
  if (given != 2 && !typed) {
    type_error(value.span, "axis.arguments", fmt::format("T.axis.{} takes a domain and a value", kind));
  }
  const ast::Expr& domain = *call.arguments[0].value;
  Scalar binding = reader_.read_index(*call.arguments[1].value);
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
  add_axis(block, target, iter_kind, begin, extent, binding);
}

std::vector<BufferRegion> PrimFuncBlocks::read_regions(const ast::Call& call) {
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
    result.dims = read_region_dims(result.buffer, *subscript);
    regions.push_back(std::move(result));
  }
  return regions;
}

// T.where, T.reads, T.writes and attributes of a block. False for any other call.
bool PrimFuncBlocks::read_block_call(const std::string& name, const ast::Expr& expr, BlockStmt* block) {
  const auto& call = *expr.as<ast::Call>();
  bool attributes = name == "T.sblock_attr" || name == "T.block_attr";
  if (name != "T.where" && name != "T.reads" && name != "T.writes" && !attributes) return false;
  // What a block reads, writes and is, is said of all of it, also where an if says it.
  if (!block && name != "T.where") block = described_;
  if (!block) {
    // The implicit root block has none of these.
    if (name != "T.where") {
      fail(ErrorClass::Type, expr.span, "block.place", fmt::format("found {} outside a block", name),
           {remove_this(expr.span)});
    }
    {
      // Outside a block the condition is an if around what follows.
      std::vector<DiagnosticNote> notes;
      if (expr.span.begin < indented_until_) {
        // It moves with what an earlier fix indents.
      } else if (rest_.size() > 1 && call.arguments.size() == 1) {
        indented_until_ = span_of(rest_).end;
        notes = {
            write_here(expr.span, fmt::format("if {}:", context_.text_of(call.arguments[0].value->span))),
            indent_this(span_of(rest_.subspan(1)))};
      } else {
        notes = {remove_this(expr.span)};
      }
      fail(ErrorClass::Type, expr.span, "block.where", "found T.where outside a block", std::move(notes));
    }
  }
  const bool again = (name == "T.where" && block->predicate.defined()) ||
                     (name == "T.reads" && block->reads) || (name == "T.writes" && block->writes);
  if (again) {
    fail(ErrorClass::Type, expr.span, "block.twice",
         fmt::format("found a second {} in a block; expected one with all of them", name),
         {remove_this(expr.span)});
  }
  if (name == "T.where") {
    if (call.arguments.size() != 1) type_error(expr.span, "block.where", "T.where takes one condition");
    block->predicate = reader_.read_condition(*call.arguments[0].value);
  } else if (name == "T.reads") {
    block->reads = read_regions(call);
  } else if (name == "T.writes") {
    block->writes = read_regions(call);
  } else {
    for (auto& [key, value] : read_attributes(expr, NamePlace::Block)) {
      add_attribute(block->attributes, key, std::move(value), expr.span);
    }
  }
  return true;
}

}  // namespace relish
