// Writing both ways through the statements.
#include "transform/gradient/reverse_execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "ir/rewriting/rewrite.h"
#include "loops/primitives.h"
#include "transform/gradient/made_prim_func.h"
#include "transform/gradient/parts.h"
#include "transform/gradient/reverse_needs.h"
#include "transform/gradient/tapes.h"

namespace relish {
namespace {

Stmt loop_over(const For& like, const ScalarVar& var, const Scalar& extent, Stmt body, Span span) {
  return make_stmt(For{var, int_literal(like.var.dtype(), 0), extent, LoopKind::Serial, std::move(body), {}},
                   span);
}

// The number that was put on a tape of its own, by where it stands in the text.
Scalar number_popped(const Tapes& tapes, const Scalar& number, std::vector<Stmt>& before, Span span) {
  const Buffer& tape = *tapes.find(&number);
  before.push_back(tapes.pop(tape, span));
  return cast(number.dtype(), tapes.top_of(tape));
}

// Whether the way back has the bounds of the loop from tapes.
bool keeps_bounds(const ReverseNeeds& needs, const Stmt& stmt, const For& loop) {
  return needs.matters(stmt) && needs.computes_bounds(loop);
}

// Where the statement stands; of a side that an if does not have, what is given instead.
Span span_or(Span otherwise, const Stmt& stmt) {
  // The analyzer takes a reference to a part of a statement for one to nothing.
  return stmt.defined() ? stmt->span : otherwise;  // NOLINT(clang-analyzer-core.NonNullParamChecker)
}

class ReverseExecution {
 public:
  ReverseExecution(const PrimFunc& function, const std::vector<std::size_t>& results,
                   const std::vector<std::size_t>& arguments, const std::vector<std::size_t>& wrt,
                   const std::vector<std::size_t>& outputs)
      : function_(function),
        results_(results),
        arguments_(arguments),
        wrt_(wrt),
        outputs_(outputs),
        made_of_(function) {}

  std::optional<PrimAdjoint> run(const std::string& name, std::vector<Obstacle>& obstacles) {
    PlainStatements plain = plain_statements(function_);
    for (const Buffer& local : plain.locals) made_of_.take_name(local.name());
    std::vector<Buffer> wanted;
    for (const std::size_t i : wrt_) wanted.push_back(param(i));
    if (plain.obstacles.empty()) needs_ = reverse_needs(plain, wanted);
    refuse_stores_to_inputs(plain);
    for (std::vector<Obstacle>* all : {&plain.obstacles, &needs_.obstacles})
      for (Obstacle& each : *all) obstacles.push_back(std::move(each));
    if (!obstacles.empty()) return std::nullopt;
    own_written_params(plain);
    make_cotangents(plain);
    // What was computed into a result is computed into the adjoint's own.
    const Stmt there = substitute(forward(plain.body), {}, own_);
    const Stmt back = substitute(backward(plain.body), {}, own_);
    sized_ = tapes_.sized();
    std::vector<Stmt> body = copies_;
    const std::vector<Stmt> start = tapes_.start(function_.span);
    body.insert(body.end(), start.begin(), start.end());
    body.push_back(there);
    PrimAdjoint made;
    if (!sized_.buffers.empty())
      made.keeps = PrimAdjoint::Tape;
    else if (!needs_.recomputed.empty())
      made.keeps = PrimAdjoint::Recompute;
    if (!sized_.sizes.empty()) made.counter = counting(name + "_sizes", body, plain);
    body.insert(body.end(), begin_.begin(), begin_.end());
    body.push_back(back);
    finish(name, substitute(seq(std::move(body), function_.span), {}, sized_.tapes), plain, made);
    return made;
  }

 private:
  const Buffer& param(std::size_t i) const { return made_of_.param(i); }
  std::string fresh_name(const std::string& wanted) { return made_of_.fresh_name(wanted); }
  Buffer like(const Buffer& buffer, const std::string& name) { return made_of_.like(buffer, name); }
  bool is_argument(std::size_t i) const {
    return std::find(arguments_.begin(), arguments_.end(), i) != arguments_.end();
  }

  void refuse_stores_to_inputs(PlainStatements& plain) const {
    std::unordered_set<std::uint64_t> results;
    for (const std::size_t i : results_) results.insert(param(i).id());
    StoresToInputs stores(function_, results);
    for_each_stmt(plain.body, [&](const Stmt& stmt) {
      if (const auto* store = stmt.as<Store>()) stores.look_at(store->buffer, stmt->span, plain.obstacles);
    });
  }

  // The results are computed again in buffers of the adjoint's own; an argument in whose place one stands is
  // copied there first.
  void own_written_params(PlainStatements& plain) {
    for (const std::size_t i : results_) {
      if (!needs_.recomputed.contains(param(i).id())) continue;
      const Buffer own = like(param(i), param(i).name() + "_again");
      own_.emplace(param(i).id(), own);
      plain.locals.push_back(own);
      if (is_argument(i)) copies_.push_back(copied(own, param(i)));
    }
  }

  static Stmt copied(const Buffer& into, const Buffer& from) {
    NestStore nest = filled(into, zero(into.dtype()), from.span());
    nest.value = load(from, nest.indices);
    return nest_of(nest);
  }

  // Gradients of what is wanted; of what the function gives the given cotangent, or a copy of it: it changes.
  void make_cotangents(PlainStatements& plain) {
    std::unordered_map<std::uint64_t, std::size_t> given;
    for (const std::size_t i : outputs_) {
      given.emplace(param(i).id(), cotangents_.size());
      cotangents_.push_back(like(param(i), param(i).name() + "_adjoint"));
    }
    const auto begin = [&](const Buffer& buffer, const Buffer& adjoint) {
      adjoints_.emplace(buffer.id(), adjoint);
      const auto found = given.find(buffer.id());
      begin_.push_back(found == given.end() ? nest_of(filled(adjoint, zero(adjoint.dtype()), buffer.span()))
                                            : copied(adjoint, cotangents_[found->second]));
    };
    // Of what is written in the place of an argument the cotangent becomes the gradient, element by element.
    for (const std::size_t i : wrt_) {
      const auto found = given.find(param(i).id());
      if (found != given.end()) {
        in_place_.emplace_back(found->second);
        adjoints_.emplace(param(i).id(), cotangents_[found->second]);
        continue;
      }
      in_place_.emplace_back();
      gradients_.push_back(like(param(i), param(i).name() + "_adjoint"));
      begin(param(i), gradients_.back());
    }
    std::vector<Buffer> others;
    for (const std::size_t i : results_)
      if (!adjoints_.contains(param(i).id())) others.push_back(param(i));
    others.insert(others.end(), plain.locals.begin(), plain.locals.end());
    for (const Buffer& buffer : others) {
      if (!needs_.active.contains(buffer.id())) continue;
      const Buffer adjoint =
          like(buffer, buffer.name() + (given.contains(buffer.id()) ? "_rest" : "_adjoint"));
      plain.locals.push_back(adjoint);
      begin(buffer, adjoint);
    }
  }

  const Buffer& tape_of(const Buffer& buffer) {
    const auto [place, fresh] = tape_keys_.try_emplace(buffer.id(), 0);
    return tapes_.of(
        &place->second, buffer.dtype(), [&] { return fresh_name(buffer.name() + "_tape"); }, buffer.span());
  }

  // The statements again, as far as the way back needs what they compute.
  Stmt forward(const Stmt& stmt) {
    const Span span = span_or(function_.span, stmt);
    if (const auto* node = stmt.as<SeqStmt>()) {
      std::vector<Stmt> body;
      for (const Stmt& each : node->body) body.push_back(forward(each));
      return seq(std::move(body), span);
    }
    if (const auto* node = stmt.as<For>()) {
      For made = *node;
      tapes_.enter(*node);
      made.body = forward(node->body);
      tapes_.leave();
      if (keeps_bounds(needs_, stmt, *node)) {
        std::vector<Stmt> body;
        for (const Scalar* bound : {&node->begin, &node->extent, &node->step})
          if (bound->defined() && needs_.reads_written(*bound))
            body.push_back(number_pushed(*bound, node->var.name() + "_bound", span));
        body.push_back(make_stmt(std::move(made), span));
        return seq(std::move(body), span);
      }
      return is_nothing(made.body) ? made.body : make_stmt(std::move(made), span);
    }
    if (const auto* node = stmt.as<IfStmt>()) {
      Stmt first = forward(node->then_body);
      const Stmt second = forward(node->else_body);
      // Behind it, which side was taken may be no more to be seen.
      const bool noted = needs_.matters(stmt) && needs_.reads_written(node->condition);
      if (!noted && is_nothing(first) && is_nothing(second)) return first;
      if (!noted) return make_stmt(IfStmt{node->condition, first, second}, span);
      const Buffer& sides = tapes_.of(&stmt.node(), DType::Int8, [&] { return fresh_name("taken"); }, span);
      return make_stmt(
          IfStmt{node->condition, seq({first, tapes_.push(sides, int_literal(DType::Int8, 1), span)}, span),
                 seq({second, tapes_.push(sides, int_literal(DType::Int8, 0), span)}, span)},
          span);
    }
    if (const auto* node = stmt.as<While>()) return while_forward(*node, stmt, span);
    const auto* store = stmt.as<Store>();
    if (!store || !needs_.recomputed.contains(store->buffer.id())) return seq({}, span);
    std::vector<Stmt> body;
    if (needs_.restored.contains(store->buffer.id())) {
      for (const Scalar& index : store->indices)
        if (reads(index, store->buffer))
          body.push_back(number_pushed(index, store->buffer.name() + "_place", span));
      body.push_back(tapes_.push(tape_of(store->buffer), load(store->buffer, store->indices), span));
    }
    body.push_back(stmt);
    return seq(std::move(body), span);
  }

  // A whole number that the way back cannot compute: on a tape of its own, by where it stands in the text.
  Stmt number_pushed(const Scalar& number, const std::string& name, Span span) {
    const Buffer& tape = tapes_.of(&number, DType::Int64, [&] { return fresh_name(name); }, span);
    return tapes_.push(tape, cast(DType::Int64, number), span);
  }
  // A while whose rounds are gone through backwards is counted.
  Stmt while_forward(const While& node, const Stmt& stmt, Span span) {
    const bool noted = needs_.matters(stmt);
    tapes_.enter_while();
    Stmt body = forward(node.body);
    tapes_.leave();
    if (!noted) return is_nothing(body) ? body : make_stmt(While{node.condition, body}, span);
    std::string name = fresh_name("rounds");
    const Scalar first = int_literal(DType::Int32, 0);
    const Buffer count(name + "_count", DType::Int64, {int_literal(DType::Int32, 1)}, "global", span);
    counters_.push_back(count);
    const Buffer& rounds = tapes_.of(&stmt.node(), DType::Int64, [&] { return name; }, span);
    const Scalar here = load(count, {first});
    body = seq({body, make_stmt(Store{count, {first}, here + Scalar(1)}, span)}, span);
    return seq({make_stmt(Store{count, {first}, Scalar(0)}, span),
                make_stmt(While{node.condition, body}, span), tapes_.push(rounds, here, span)},
               span);
  }

  Stmt while_back(const While& node, const Stmt& stmt, Span span) {
    const Buffer& rounds = *tapes_.find(&stmt.node());
    const ScalarVar var(fresh_name("round"), DType::Int64, span);
    return seq(
        {tapes_.pop(rounds, span),
         make_stmt(For{var, Scalar(0), tapes_.top_of(rounds), LoopKind::Serial, backward(node.body), {}},
                   span)},
        span);
  }

  static bool is_nothing(const Stmt& stmt) {
    const auto* all = stmt.as<SeqStmt>();
    return !stmt.defined() || (all && all->body.empty());
  }

  Stmt backward(const Stmt& stmt) {
    const Span span = span_or(function_.span, stmt);
    if (!needs_.matters(stmt)) return seq({}, span);
    if (const auto* node = stmt.as<SeqStmt>()) {
      std::vector<Stmt> body;
      for (auto it = node->body.rbegin(); it != node->body.rend(); ++it) body.push_back(backward(*it));
      return seq(std::move(body), span);
    }
    if (const auto* node = stmt.as<For>()) {
      if (!keeps_bounds(needs_, stmt, *node)) return loop_back(*node, *node, span);
      std::vector<Stmt> body;
      For known = *node;
      for (Scalar* bound : {&known.begin, &known.extent, &known.step}) {
        const Scalar* own = bound == &known.begin    ? &node->begin
                            : bound == &known.extent ? &node->extent
                                                     : &node->step;
        if (own->defined() && needs_.reads_written(*own)) *bound = number_popped(tapes_, *own, body, span);
      }
      body.push_back(loop_back(*node, known, span));
      return seq(std::move(body), span);
    }
    if (const auto* node = stmt.as<While>()) return while_back(*node, stmt, span);
    if (const auto* node = stmt.as<IfStmt>()) {
      const Stmt first = backward(node->then_body), second = backward(node->else_body);
      const Buffer* sides = tapes_.find(&stmt.node());
      if (!sides) return make_stmt(IfStmt{node->condition, first, second}, span);
      const Scalar side = tapes_.top_of(*sides);
      return seq({tapes_.pop(*sides, span),
                  make_stmt(IfStmt{compare(CompareOp::Ne, side, zero(side.dtype())), first, second}, span)},
                 span);
    }
    return store_back(*stmt.as<Store>(), span);
  }

  // With the bounds of `node`, which may come off a tape.
  Stmt loop_back(const For& loop, const For& node, Span span) {
    const DType dtype = node.var.dtype();
    Scalar rounds = node.extent;
    const Scalar one = int_literal(dtype, 1);
    if (node.step.defined()) rounds = floor_div(node.extent + node.step - one, node.step);
    const ScalarVar var(node.var.name(), dtype, span);
    Scalar last = rounds - one - use(var);
    if (node.step.defined()) last = last * node.step;
    const Scalar index = canonical(node.begin + last);
    return loop_over(node, var, rounds, substitute(backward(loop.body), {{node.var.id(), index}}), span);
  }

  Stmt store_back(const Store& node, Span span) {
    std::vector<Stmt> body;
    if (needs_.restored.contains(node.buffer.id())) {
      std::vector<Scalar> places;
      for (const Scalar& index : node.indices)
        places.push_back(reads(index, node.buffer) ? number_popped(tapes_, index, body, span) : index);
      const Buffer& tape = tape_of(node.buffer);
      body.push_back(tapes_.pop(tape, span));
      body.push_back(make_stmt(Store{node.buffer, std::move(places), tapes_.top_of(tape)}, span));
    }
    const auto adjoint = adjoints_.find(node.buffer.id());
    if (!needs_.active.contains(node.buffer.id()) || adjoint == adjoints_.end())
      return seq(std::move(body), span);
    const ScalarVar cotangent("ct", node.buffer.dtype(), span);
    body.push_back(make_stmt(DefineScalar{cotangent, load(adjoint->second, node.indices), true}, span));
    body.push_back(make_stmt(Store{adjoint->second, node.indices, zero(node.buffer.dtype())}, span));
    for (const LoadPartial& partial : scalar_partials(node.value, use(cotangent), needs_.active).loads) {
      const auto& read = *partial.load.as<Load>();
      const auto into = adjoints_.find(read.buffer->id());
      if (into == adjoints_.end()) continue;
      Stmt added = make_stmt(
          Store{into->second, read.indices, load(into->second, read.indices) + partial.value}, span);
      for (auto it = partial.conditions.rbegin(); it != partial.conditions.rend(); ++it)
        added = make_stmt(IfStmt{*it, added, {}}, span);
      body.push_back(added);
    }
    return seq(std::move(body), span);
  }

  void finish(const std::string& name, const Stmt& body, const PlainStatements& plain, PrimAdjoint& result) {
    PrimFunc made = made_of_.empty(name);
    auto [scalars, buffers, scalar_params] = made_of_.own();
    const auto own = [&](const Buffer& buffer) { return remade(buffer, scalars, buffers); };
    const auto add = [&](const Buffer& buffer) { made.params.push_back({own(buffer)}); };
    for (const std::size_t i : arguments_) add(param(i));
    for (const Buffer& cotangent : cotangents_) add(cotangent);
    for (const Buffer& gradient : gradients_) add(gradient);
    made.params.insert(made.params.end(), scalar_params.begin(), scalar_params.end());
    for (const ScalarVar& size : sized_.sizes) {
      const ScalarVar length(size.name(), size.dtype(), size.span());
      scalars.insert_or_assign(size.id(), use(length));
      made.params.push_back({length});
    }
    for (const auto& all : {plain.locals, sized_.buffers, counters_})
      for (const Buffer& buffer : all) made.allocations.push_back(own(buffer));
    made.body = fresh_copy(body, scalars, buffers);
    result.values = leave_out_unread(made);
    result.in_place = in_place_;
    result.function = std::move(made);
  }

  // Arguments come first: those that nothing reads and that tell no size by themselves go. What stays, by
  // parameter of the function.
  std::vector<std::size_t> leave_out_unread(PrimFunc& made) const {
    const std::vector<ParamAccess> accesses = param_accesses(made);
    std::vector<std::size_t> values;
    std::vector<PrimParam> params(made.params.begin() + static_cast<std::ptrdiff_t>(arguments_.size()),
                                  made.params.end());
    std::unordered_set<std::uint64_t> told;
    for (const PrimParam& each : params) {
      if (const ScalarVar* scalar = each.scalar()) told.insert(scalar->id());
      for (const Scalar& dim : each.buffer() ? each.buffer()->shape() : std::vector<Scalar>{})
        if (const auto symbol = dim.as_var()) told.insert(symbol->id());
    }
    std::vector<PrimParam> kept;
    for (std::size_t k = 0; k < arguments_.size(); ++k) {
      bool needed = accesses[k].read || accesses[k].written;
      std::vector<ScalarVar> symbols;
      for (const Scalar& dim : made.params[k].buffer()->shape()) collect_vars(dim, symbols);
      for (const ScalarVar& symbol : symbols) needed = needed || !told.contains(symbol.id());
      if (!needed) continue;
      values.push_back(arguments_[k]);
      kept.push_back(made.params[k]);
    }
    params.insert(params.begin(), kept.begin(), kept.end());
    made.params = std::move(params);
    return values;
  }

  // The way there alone, which gives how long the tapes get instead of filling them.
  PrimFunc counting(const std::string& name, std::vector<Stmt> body, const PlainStatements& plain) const {
    PrimFunc made = made_of_.empty(name);
    const Buffer counts("sizes", DType::Int64, {Scalar(static_cast<std::int64_t>(sized_.counts.size()))},
                        "global", function_.span);
    for (std::size_t k = 0; k < sized_.counts.size(); ++k)
      body.push_back(make_stmt(Store{counts,
                                     {int_literal(DType::Int32, static_cast<std::int64_t>(k))},
                                     load(sized_.counts[k], {int_literal(DType::Int32, 0)})},
                               function_.span));
    const Stmt whole = rewrite(
        seq(std::move(body), function_.span),
        [](const Scalar&) -> std::optional<Scalar> { return std::nullopt; },
        [&](const Stmt& stmt) -> std::optional<Stmt> {
          const auto* store = stmt.as<Store>();
          if (!store || !sized_.tapes.contains(store->buffer.id())) return std::nullopt;
          return seq({}, stmt->span);
        });
    auto [scalars, buffers, scalar_params] = made_of_.own();
    for (const std::size_t i : arguments_) made.params.push_back({remade(param(i), scalars, buffers)});
    made.params.push_back({remade(counts, scalars, buffers)});
    made.params.insert(made.params.end(), scalar_params.begin(), scalar_params.end());
    std::unordered_set<std::uint64_t> used;
    for_each_stmt(whole, [&](const Stmt& stmt) {
      if (const auto* store = stmt.as<Store>()) used.insert(store->buffer.id());
    });
    for (const auto& all : {plain.locals, sized_.buffers, counters_})
      for (const Buffer& buffer : all)
        if (used.contains(buffer.id())) made.allocations.push_back(remade(buffer, scalars, buffers));
    made.body = fresh_copy(whole, scalars, buffers);
    return made;
  }

  const PrimFunc& function_;
  const std::vector<std::size_t>&results_, &arguments_, &wrt_, &outputs_;
  MadePrimFunc made_of_;
  ReverseNeeds needs_;
  Tapes tapes_;
  std::map<std::uint64_t, char> tape_keys_;             // by buffer: an address for each
  BufferMap own_;                                       // results computed again
  std::unordered_map<std::uint64_t, Buffer> adjoints_;  // by buffer
  std::vector<Buffer> cotangents_, gradients_, counters_;
  std::vector<std::optional<std::size_t>> in_place_;  // by gradient: the cotangent that becomes it
  std::vector<Stmt> copies_, begin_;
  Tapes::Sized sized_;
};

}  // namespace

std::optional<PrimAdjoint> reverse_execution(const PrimFunc& function,
                                             const std::vector<std::size_t>& results,
                                             const std::vector<std::size_t>& arguments,
                                             const std::vector<std::size_t>& wrt,
                                             const std::vector<std::size_t>& outputs, const std::string& name,
                                             std::vector<Obstacle>& obstacles) {
  return ReverseExecution(function, results, arguments, wrt, outputs).run(name, obstacles);
}

}  // namespace relish
