// A loop becomes the bindings of its rounds, in which what it carries goes by what the round before gave.
#include "transform/unroll.h"

#include <optional>

#include "ir/rewriting/call_inliner.h"
#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"
#include "support/failure.h"
#include "transform/binding_replacer.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

constexpr std::int64_t most_unrolled = 100000;

std::optional<std::int64_t> integer_of(const Expr& leaf) {
  const auto* scalar = leaf.as<ScalarValueExpr>();
  return scalar ? scalar->value.as_int() : std::nullopt;
}

class Unroller : public BindingReplacer {
 public:
  // `written`: bindings that were written so far.
  Unroller(const UnrollOptions& options, CallInliner& inliner, const Function& function,
           std::int64_t& written)
      : options_(options), inliner_(inliner), written_(written) {
    reserve_names(function, builder_);
  }

 protected:
  void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    const auto* loop = mapped.value().as<Loop>();
    if (!loop || !loop->index.defined()) return keep(std::move(mapped), into);
    const auto begin = integer_of(loop->begin), end = integer_of(loop->end), step = integer_of(loop->step);
    if (!begin || !end || !step || *step == 0) return keep(std::move(mapped), into);
    std::size_t bindings = 0;
    for (const BindingBlock& block : loop->body->blocks)
      for (const Binding& each : block.bindings) for_each_binding(each, [&](const Binding&) { ++bindings; });
    const std::optional<std::int64_t> rounds = rounds_of(*begin, *end, *step, bindings);
    if (!rounds) return keep(std::move(mapped), into);

    builder_.set_origin(mapped.value().span());
    std::vector<Expr> carried = loop->initial;
    for (std::int64_t round = 0; round < *rounds; ++round)
      carried = write_round(*loop, carried, *begin + round * *step, into);
    const Expr value = carried.size() == 1 ? carried[0] : tuple(carried, mapped.value().span());
    take_over(std::move(mapped), dataflow, value, into);
  }

  Expr leave(const Expr& mapped) override {
    const auto* get = mapped.as<TupleGet>();
    const auto* made = get ? get->tuple.as<TupleExpr>() : nullptr;
    return made ? made->fields[static_cast<std::size_t>(get->index)] : mapped;
  }

 private:
  // How many there are; nothing when they are too many to be written out.
  std::optional<std::int64_t> rounds_of(std::int64_t begin, std::int64_t end, std::int64_t step,
                                        std::size_t bindings) {
    std::int64_t rounds = 0;
    for (std::int64_t at = begin; step > 0 ? at < end : at > end; ++rounds) {
      if (rounds == options_.most_rounds) return std::nullopt;
      if (__builtin_add_overflow(at, step, &at)) {
        ++rounds;
        break;
      }
    }
    const std::int64_t more = rounds * static_cast<std::int64_t>(bindings);
    if (written_ + more > most_unrolled) return std::nullopt;
    written_ += more;
    return rounds;
  }

  // What the round gives to the next.
  std::vector<Expr> write_round(const Loop& loop, const std::vector<Expr>& carried, std::int64_t index,
                                std::vector<Binding>& into) {
    Function round;
    round.name = "round";
    round.params = loop.body->params;
    round.blocks = loop.body->blocks;
    round.result = tuple(loop.body->results);
    const ScalarMap number = {{loop.index.id(), int_literal(loop.index.dtype(), index)}};
    const FunctionPtr numbered = substitute(std::make_shared<const Function>(std::move(round)), {}, number);
    builder_.begin_block(false);
    const Expr next = inliner_.inline_call(builder_, *numbered, carried);
    for (Binding& binding : builder_.take_bindings()) keep(std::move(binding), into);
    return next.as<TupleExpr>()->fields;
  }

  const UnrollOptions& options_;
  CallInliner& inliner_;
  FunctionBuilder builder_;  // for names, and for the bindings of one round
  std::int64_t& written_;
};

}  // namespace

Module unroll(const Module& module, const UnrollOptions& options) {
  if (options.most_rounds < 0)
    fail(ErrorClass::Usage, {}, "unroll.most", "the largest number of rounds is negative");
  Module result = module;
  CallInliner inliner(result);
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    const auto* function = std::get_if<FunctionPtr>(&result.functions[i]);
    if (!function) continue;
    // Where bounds hung on the number of a round around them, they are numbers now.
    std::int64_t written = 0;
    FunctionPtr now = *function, before;
    while (now != before) {
      before = now;
      now = Unroller(options, inliner, *now, written).map(now);
    }
    if (now != *function) result.functions.replace(i, now);
  }
  verify_after(result, "unroll");
  return result;
}

}  // namespace relish
