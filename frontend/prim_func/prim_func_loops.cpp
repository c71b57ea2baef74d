// Loops of prim_funcs: grids, ranges with bounds and steps, and threads of a device, which run here one after
// the other.
#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "frontend/names/suggestions.h"
#include "frontend/prim_func/prim_func_builder.h"
#include "frontend/prim_func/prim_func_parts.h"
#include "frontend/prim_func/thread_tags.h"
#include "frontend/types/attribute_reader.h"
#include "ir/rewriting/rewrite.h"
#include "loops/dependence.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {
namespace {

struct LoopName {
  std::string_view name;
  LoopKind kind;
};
constexpr std::int64_t max_step = 1 << 30;
constexpr std::array<LoopName, 6> loop_names = {{{"range", LoopKind::Serial},
                                                 {"T.serial", LoopKind::Serial},
                                                 {"T.parallel", LoopKind::Parallel},
                                                 {"T.vectorized", LoopKind::Vectorized},
                                                 {"T.unroll", LoopKind::Unrolled},
                                                 {"T.thread_binding", LoopKind::ThreadBinding}}};

}  // namespace

PrimFuncLoops::LoopHeader PrimFuncLoops::read_loop_header(const ast::Expr& iterable) {
  auto* call = iterable.as<ast::Call>();
  std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  LoopHeader header;
  if (name == "T.grid") {
    std::optional<DType> dtype;
    for (const ast::Argument& argument : call->arguments) {
      if (argument.name == "dtype") {
        dtype = reader_.dtype_argument(*argument.value);
        if (!is_int(*dtype))
          type_error(argument.value->span, "loop.bounds",
                     fmt::format("found loop variables of {}; expected an integer", name_of(*dtype)));
        continue;
      }
      auto several = argument.stars == 1 ? reader_.spread(*argument.value) : std::nullopt;
      if (!argument.name.empty() || (argument.stars && !several)) {
        type_error(argument.value->span, "loop.grid",
                   fmt::format("found {} of T.grid; expected extents, *A.shape or dtype=",
                               argument.stars ? "a starred argument"
                                              : fmt::format("the argument '{}'", printable(argument.name))));
      }
      if (!several) several = {reader_.read_index(*argument.value)};
      for (const Scalar& extent : *several)
        header.dimensions.push_back({int_literal(extent.dtype(), 0, argument.value->span), extent});
    }
    if (dtype) {
      for (LoopRange& range : header.dimensions) {
        const Span at = range.extent.span();
        range = {int_literal(*dtype, 0, at),
                 reader_.convert(*dtype, {range.extent, range.extent.as_int().has_value()}, at).value};
      }
    }
    return header;
  }
  const LoopName* found = nullptr;
  for (const LoopName& entry : loop_names) {
    if (entry.name == name) found = &entry;
  }
  if (!found) {
    std::vector<DiagnosticNote> notes;
    if (call) {
      std::vector<std::string> candidates{"T.grid"};
      for (const LoopName& entry : loop_names) candidates.emplace_back(entry.name);
      notes = write_nearest(call->callee->span, name, candidates);
    } else if (auto range = range_of_list(iterable)) {
      notes = {write_here(iterable.span, *range)};
    }
    fail(ErrorClass::Type, iterable.span, "loop.range",
         fmt::format("found a loop over {}; expected T.grid, range, T.serial, T.parallel, "
                     "T.vectorized, T.unroll or T.thread_binding",
                     ast::describe(iterable)),
         std::move(notes));
  }
  header.kind = found->kind;
  read_bounds(name, iterable, header);
  if (header.kind == LoopKind::ThreadBinding) {
    if (header.thread.empty()) {
      // The outermost loop is that of the blocks, those inside are of their threads.
      const auto taken = [&](std::string_view thread) {
        return std::any_of(open_loops_.begin(), open_loops_.end(),
                           [&](const OpenLoop& loop) { return loop.thread == thread; });
      };
      std::vector<DiagnosticNote> notes;
      for (std::string_view thread : {"blockIdx.x", "threadIdx.x", "threadIdx.y", "threadIdx.z"}) {
        if (taken(thread)) continue;
        notes = {insert_here(call->arguments.back().value->span, fmt::format(", thread=\"{}\"", thread))};
        break;
      }
      fail(ErrorClass::Type, iterable.span, "loop.thread",
           "found T.thread_binding without thread=, such as \"blockIdx.x\"", std::move(notes));
    }
    threads_ = true;
  }
  return header;
}

// `n`, `lo, hi` and `lo, hi, step`, by position or by name, and what else the calls take.
void PrimFuncLoops::read_bounds(const std::string& name, const ast::Expr& iterable, LoopHeader& header) {
  std::vector<const ast::Expr*> bounds;
  const ast::Expr* step = nullptr;
  for (const ast::Argument& argument : iterable.as<ast::Call>()->arguments) {
    auto* text = argument.value->as<ast::StringValue>();
    const bool threads = header.kind == LoopKind::ThreadBinding;
    if (argument.stars)
      type_error(argument.value->span, "loop.argument", "found a starred argument of a loop");
    if (argument.name == "dtype" && name != "range") {
      header.dtype = reader_.dtype_argument(*argument.value);
      if (!is_int(*header.dtype))
        type_error(argument.value->span, "loop.bounds",
                   fmt::format("found a loop variable of {}; expected an integer", name_of(*header.dtype)));
    } else if (argument.name == "annotations") {
      if (argument.value->as<ast::NoneValue>()) continue;
      Attribute read = read_attribute(context_, *argument.value, NamePlace::Loop);
      auto* dictionary = read.as<Attributes>();
      if (!dictionary)
        type_error(argument.value->span, "loop.annotations", "found annotations that are no dictionary");
      header.annotations = *dictionary;
    } else if (threads && text && (argument.name.empty() || argument.name == "thread")) {
      check_thread_tag(text->value, argument.value->span);
      header.thread = text->value;
    } else if (argument.name == "step" && name != "range") {
      if (!argument.value->as<ast::NoneValue>()) step = argument.value.get();
    } else if (argument.name == "unroll" && name == "T.serial") {
      continue;  // advice
    } else if (argument.name == "start" || argument.name == "stop" || argument.name.empty()) {
      if (!(argument.name == "stop" && argument.value->as<ast::NoneValue>()))
        bounds.push_back(argument.value.get());
    } else {
      type_error(argument.name_span, "loop.argument",
                 fmt::format("{} has no argument '{}' here", name, printable(argument.name)));
    }
  }
  if (bounds.size() == 3 && name == "range") {
    step = bounds[2];
    bounds.pop_back();
  }
  if (bounds.empty() || bounds.size() > 2) {
    type_error(iterable.span, "loop.bounds",
               fmt::format("found {} of {}; expected one or two", counted(bounds.size(), "bound"), name));
  }
  DType dtype;
  if (bounds.size() == 1) {
    Scalar extent = reader_.read_index(*bounds[0]);
    dtype = extent.dtype();
    header.dimensions.push_back({int_literal(dtype, 0, bounds[0]->span), extent});
  } else {
    ScalarOperand begin = reader_.operand(*bounds[0]), end = reader_.operand(*bounds[1]);
    for (const ScalarOperand* bound : {&begin, &end}) {
      if (!is_int(bound->value.dtype()))
        type_error(bound->value.span(), "loop.bounds", "found a bound that is no integer");
      reader_.refuse_vector(bound->value, bound->value.span());
    }
    Scalar difference = reader_.combine(ast::Operator::Sub, end, begin, iterable.span).value;
    dtype = difference.dtype();
    Scalar first = reader_.convert(dtype, begin, begin.value.span()).value;
    Scalar last = reader_.convert(dtype, end, end.value.span()).value;
    header.dimensions.push_back({first, extent_of(first, last, difference)});
  }
  // A literal of uint64 from 2^63 up.
  const Scalar& count = header.dimensions.back().extent;
  if (count.dtype() == DType::UInt64 && count.as_int().value_or(0) < 0) too_many_iterations(iterable.span);
  if (header.dtype) {
    dtype = *header.dtype;
    LoopRange& range = header.dimensions.back();
    for (Scalar* bound : {&range.begin, &range.extent})
      *bound = reader_.convert(dtype, {*bound, bound->as_int().has_value()}, bound->span()).value;
  }
  if (!step) return;
  header.step = reader_.convert(dtype, reader_.operand(*step), step->span).value;
  reader_.refuse_vector(header.step, step->span);
  auto known = header.step.as_int();
  if (known == 0) {
    fail(ErrorClass::Type, step->span, "loop.step",
         "found a loop with the step 0; expected one that is not 0", {write_here(step->span, "1")});
  }
  if (known && *known < 0) {
    if (bounds.size() == 1) {
      type_error(
          step->span, "loop.step",
          fmt::format("found a loop from 0 with the step {}; expected where it begins and ends", *known));
    }
    ScalarOperand begin = reader_.operand(*bounds[0]), end = reader_.operand(*bounds[1]);
    return count_down(reader_.convert(dtype, begin, bounds[0]->span).value,
                      reader_.convert(dtype, end, bounds[1]->span).value, *known, iterable.span, header);
  }
  if (known == 1) header.step = {};
}

// range(first, last, -s): a loop that counts up, whose variable k stands for first - k * s.
void PrimFuncLoops::count_down(const Scalar& first, const Scalar& last, std::int64_t step, Span at,
                               LoopHeader& header) {
  const DType dtype = first.dtype();
  if (is_unsigned_int(dtype) || step < -max_step) {
    type_error(
        at, "loop.step",
        fmt::format("found a loop of {} that counts down by {}; expected signed integers and a step that "
                    "they hold",
                    name_of(dtype), step));
  }
  // What the first value reads may change while the loop runs.
  bool changes = false;
  for_each_scalar(first, [&](const Scalar& inner) {
    changes =
        changes || !(inner.as<IntLiteral>() || inner.as<Binary>() || inner.as<VarUse>() || inner.as<Cast>());
    if (auto var = inner.as_var())
      for (const auto& frame : frames_)
        for (const auto& [name, entry] : frame)
          if (auto* local = std::get_if<Local>(&entry.meaning)) changes = changes || local->var == *var;
  });
  if (changes) {
    type_error(first.span().known() ? first.span() : at, "loop.step",
               "found a loop that counts down from a value that may change; expected a T.let of it above");
  }
  const Scalar length = first - last, by = int_literal(dtype, -step, at);
  const Scalar rounds = step == -1 ? length : floor_div(length + int_literal(dtype, -step - 1, at), by);
  header.dimensions.back() = {int_literal(dtype, 0, at), canonical(rounds)};
  header.step = {};
  header.counted_down = [first, by](const Scalar& turn) {
    return first - (by.as_int() == 1 ? turn : turn * by);
  };
}

// Iterations that may run at once, or in lanes of one another, give what they give one after the other.
void PrimFuncLoops::refuse_dependent(const For& loop, const ast::Expr& iterable) {
  if (loop.kind != LoopKind::Parallel && loop.kind != LoopKind::Vectorized) return;
  const std::optional<std::string> found = iteration_dependence(loop, declared_views_);
  if (!found) return;
  const ast::Expr& word = *iterable.as<ast::Call>()->callee;
  context_.diagnostics
      .error(
          ErrorClass::Type, iterable.span, "loop.dependent",
          fmt::format("found a {} loop over {} whose iterations depend on each other: {}; expected T.serial",
                      loop.kind == LoopKind::Parallel ? "parallel" : "vectorized", loop.var.name(), *found))
      .notes.push_back(write_here(word.span, "T.serial"));
}

Stmt PrimFuncLoops::read_for(const ast::Statement& statement, const ast::For& loop) {
  CommentsPtr comments = take_comments(statement.comments);
  std::vector<const ast::Expr*> targets = target_names(*loop.target);
  LoopHeader header;
  bool several = false;
  bool good = context_.attempt([&] {
    header = read_loop_header(*loop.iterable);
    // `for it in T.grid(a, b)`: one name for all.
    several = targets.size() == 1 && header.dimensions.size() > 1;
    if (header.dimensions.size() != targets.size() && !several) {
      std::vector<DiagnosticNote> notes;
      const auto& extents = loop.iterable->as<ast::Call>()->arguments;
      if (header.dimensions.size() > targets.size() && extents.size() == header.dimensions.size() &&
          !targets.empty()) {
        notes.push_back(remove_this({loop.target->span.file, extents[targets.size() - 1].value->span.end,
                                     extents.back().value->span.end}));
      }
      fail(ErrorClass::Type, loop.target->span, "loop.variables",
           fmt::format("found {} for a loop of {}", counted(targets.size(), "variable"),
                       counted(header.dimensions.size(), "dimension")),
           std::move(notes));
    }
    std::set<std::string> names;
    for (const ast::Expr* target : targets) {
      if (names.insert(name_target(*target)).second) continue;
      type_error(target->span, "loop.variable_twice",
                 fmt::format("found the loop variable '{}' twice; expected a name for each",
                             printable(name_target(*target))));
    }
  });

  frames_.emplace_back();
  std::vector<ScalarVar> variables;
  for (std::size_t i = 0; i < (good ? header.dimensions.size() : targets.size()); ++i) {
    const ast::Expr& target = *targets[several ? 0 : i];
    const std::string* variable = ast::name_of(target);
    if (!variable) continue;
    if (!good) {
      bind(*variable, Refused{}, target.span);
      continue;
    }
    const LoopRange& range = header.dimensions[i];
    variables.emplace_back(several ? fmt::format("{}_{}", *variable, i) : *variable, range.extent.dtype(),
                           target.span);
    if (!header.counted_down) loops_[variables.back().id()] = range;
    const Scalar used = Scalar(variables.back());
    if (!several) bind(*variable, header.counted_down ? header.counted_down(used) : used, target.span);
    open_loops_.push_back({*variable, header.thread});
  }
  if (good && several) {
    Several all;
    for (const ScalarVar& variable : variables) all.variables.emplace_back(variable);
    bind(*ast::name_of(*targets[0]), std::move(all), targets[0]->span);
  }
  ++loop_depth_;
  Stmt body = read_body(loop.body, nullptr);
  --loop_depth_;
  open_loops_.resize(open_loops_.size() - variables.size());
  frames_.pop_back();
  if (!good) throw ReadContext::Silent{};
  for (std::size_t i = header.dimensions.size(); i-- > 0;) {
    const LoopRange& range = header.dimensions[i];
    For node{variables[i], range.begin, range.extent,
             header.kind,  body,        i == 0 ? header.annotations : Attributes{}};
    node.step = header.step;
    node.thread = header.thread;
    refuse_dependent(node, *loop.iterable);
    body = make_stmt(std::move(node), statement.span, i == 0 ? comments : nullptr);
  }
  return body;
}

std::optional<For> PrimFuncLoops::read_launch(const std::string& name, const ast::Call& call,
                                              const ast::Expr* target) {
  const bool attribute = name == "T.attr" && call.arguments.size() == 3;
  if (attribute) {
    auto* key = call.arguments[1].value->as<ast::StringValue>();
    if (key) refuse_reserved(NamePlace::Block, key->value, {}, call.arguments[1].value->span);
    if (!key || (key->value != "thread_extent" && key->value != "virtual_thread")) return std::nullopt;
  } else if (name != "T.launch_thread") {
    return std::nullopt;
  } else if (call.arguments.size() != 2) {
    type_error(call.callee->span, "loop.thread", "T.launch_thread takes a thread and an extent");
  }
  const ast::Expr& who = *call.arguments[0].value;
  std::string variable = target ? name_target(*target) : std::string();
  For loop;
  auto* made = who.as<ast::Call>();
  if (made && context_.namespaces.canonical(*made->callee) == "T.iter_var" && made->arguments.size() == 4) {
    // T.iter_var(x, T.Range(0, n), "ThreadIndex", "threadIdx.x")
    const std::string* iterated = ast::name_of(*made->arguments[0].value);
    auto* tag = made->arguments[3].value->as<ast::StringValue>();
    if (!iterated || !tag || !symbols_.declares(*iterated)) {
      type_error(who.span, "loop.thread",
                 "found T.iter_var without a declared variable and the name of a thread");
    }
    check_thread_tag(tag->value, made->arguments[3].value->span);
    loop.thread = tag->value;
    if (variable.empty()) variable = *iterated;
  } else if (auto* tag = who.as<ast::StringValue>()) {
    check_thread_tag(tag->value, who.span);
    loop.thread = tag->value;
    if (variable.empty()) variable = "thread";
  } else {
    const std::string* handle = ast::name_of(who);
    Entry* entry = handle ? look_up(*handle) : nullptr;
    auto* thread = entry ? std::get_if<EnvThread>(&entry->meaning) : nullptr;
    if (!thread) {
      if (attribute) return std::nullopt;
      type_error(who.span, "loop.thread",
                 fmt::format("found {} as a thread; expected a name such as \"threadIdx.x\" or what "
                             "T.env_thread gives",
                             ast::describe(who)));
    }
    loop.thread = thread->thread;
    if (variable.empty()) variable = *handle;
  }
  loop.extent = reader_.read_index(*call.arguments.back().value);
  loop.begin = int_literal(loop.extent.dtype(), 0, loop.extent.span());
  loop.kind = LoopKind::ThreadBinding;
  Span at = target ? target->span : who.span;
  loop.var = ScalarVar(variable, loop.extent.dtype(), at);
  loops_[loop.var.id()] = {loop.begin, loop.extent};
  bind(variable, Scalar(loop.var), at);
  threads_ = true;
  return loop;
}

}  // namespace relish
