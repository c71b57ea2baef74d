// Lengths of tapes: the most rounds of each loop around a push, multiplied; where the text does not tell
// them, a run counts.
#include "transform/gradient/tapes.h"

#include <algorithm>
#include <optional>

#include "ir/rewriting/rewrite.h"
#include "support/failure.h"

namespace relish {
namespace {

// The place of the one element of a small buffer.
Scalar first() { return int_literal(DType::Int32, 0); }

bool mentions(const Scalar& scalar, const ScalarVar& var) {
  std::vector<ScalarVar> vars;
  collect_vars(scalar, vars);
  return std::find(vars.begin(), vars.end(), var) != vars.end();
}

// Whether the expression is convex in the variable: a sum or maximum of affine ones. Over a range such a one
// is largest at an end.
bool is_convex(const Scalar& scalar, const ScalarVar& var) {
  if (const auto* node = scalar.as<Binary>();
      node && (node->op == BinaryOp::Max || node->op == BinaryOp::Add))
    return is_convex(node->a, var) && is_convex(node->b, var);
  const Scalar next = substitute(scalar, {{var.id(), use(var) + int_literal(var.dtype(), 1)}});
  return !mentions(canonical(next - scalar), var);
}

Scalar larger(const Scalar& a, const Scalar& b) {
  const auto first = a.as_int(), second = b.as_int();
  if (first && second) return *first >= *second ? a : b;
  return prove_equal(a, b) ? a : max(a, b);
}

bool reads_elements(const Scalar& scalar) {
  bool found = false;
  for_each_scalar(scalar, [&](const Scalar& each) { found = found || each.as<Load>(); });
  return found;
}

// The most rounds of the last of the loops, whatever those around it are at; nothing where only a run tells.
std::optional<Scalar> most_rounds(const std::vector<const For*>& loops, std::size_t which) {
  const For& loop = *loops[which];
  if (reads_elements(loop.extent)) return std::nullopt;
  Scalar rounds = loop.extent;
  if (loop.step.defined())
    rounds = floor_div(loop.extent + loop.step - int_literal(loop.step.dtype(), 1), loop.step);
  for (std::size_t i = which; i-- > 0;) {
    const For& around = *loops[i];
    if (!mentions(rounds, around.var)) continue;
    if (!is_convex(rounds, around.var)) return std::nullopt;
    const Scalar last = around.begin + around.extent - int_literal(around.var.dtype(), 1);
    rounds = larger(canonical(substitute(rounds, {{around.var.id(), around.begin}})),
                    canonical(substitute(rounds, {{around.var.id(), last}})));
  }
  rounds = cast(DType::Int64, canonical(rounds));
  if (const auto number = rounds.as_int()) return Scalar(std::max<std::int64_t>(*number, 0));
  return rounds.as_var() ? rounds : max(rounds, Scalar(0));
}

}  // namespace

const Buffer& Tapes::of(const void* key, DType dtype, const Name& name, Span span) {
  const auto [place, fresh] = by_key_.try_emplace(key, tapes_.size());
  if (fresh) {
    const std::string called = name();
    tapes_.push_back({Buffer(called, dtype, {int_literal(DType::Int32, 1)}, "global", span),
                      Buffer(called + "_top", DType::Int64, {int_literal(DType::Int32, 1)}, "global", span),
                      {}});
  }
  return tapes_[place->second].place;
}

const Buffer* Tapes::find(const void* key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &tapes_[found->second].place;
}

const Tapes::Tape& Tapes::tape(const Buffer& place) const {
  const auto found =
      std::find_if(tapes_.begin(), tapes_.end(), [&](const Tape& each) { return each.place == place; });
  RELISH_CHECK(found != tapes_.end());
  return *found;
}

Stmt Tapes::push(const Buffer& place, const Scalar& value, Span span) {
  auto& tape = const_cast<Tape&>(this->tape(place));
  Scalar count(1);
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    if (!loops_[i]) tape.counted = true;
    if (tape.counted) break;
    const std::optional<Scalar> rounds = most_rounds(loops_, i);
    tape.counted = tape.counted || !rounds;
    if (rounds) count = count * *rounds;
  }
  tape.pushes.push_back(canonical(count));
  const Scalar top = load(tape.top, {first()});
  return seq({make_stmt(Store{place, {top}, value}, span),
              make_stmt(Store{tape.top, {first()}, top + Scalar(1)}, span)},
             span);
}

Stmt Tapes::pop(const Buffer& place, Span span) const {
  const Buffer& top = tape(place).top;
  return make_stmt(Store{top, {first()}, load(top, {first()}) - Scalar(1)}, span);
}

Scalar Tapes::top_of(const Buffer& place) const { return load(place, {load(tape(place).top, {first()})}); }

std::vector<Stmt> Tapes::start(Span span) const {
  std::vector<Stmt> stmts;
  for (const Tape& each : tapes_) stmts.push_back(make_stmt(Store{each.top, {first()}, Scalar(0)}, span));
  return stmts;
}

Tapes::Sized Tapes::sized() const {
  Sized result;
  for (const Tape& each : tapes_) {
    const Span span = each.place.span();
    Scalar size(0);
    for (const Scalar& pushes : each.pushes) size = size + pushes;
    size = canonical(size);
    if (each.counted) {
      result.sizes.emplace_back(each.place.name() + "_size", DType::Int64, span);
      result.counts.push_back(each.top);
      size = use(result.sizes.back());
    }
    const Buffer made(each.place.name(), each.place.dtype(), {size}, "global", span);
    result.tapes.emplace(each.place.id(), made);
    result.buffers.push_back(made);
    result.buffers.push_back(each.top);
  }
  return result;
}

}  // namespace relish
