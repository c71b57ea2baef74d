// A loop becomes the bindings of its rounds, in which what it carries goes by what the round before gave.
#include "transform/unroll.h"

#include <optional>

#include "ir/rewriting/regions.h"
#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"
#include "support/failure.h"
#include "transform/binding_replacer.h"
#include "transform/dead_code.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

constexpr std::int64_t most_bindings = 100000;

std::optional<std::int64_t> integer_of(const Expr& leaf) {
  const auto* scalar = leaf.as<ScalarValueExpr>();
  return scalar ? scalar->value.as_int() : std::nullopt;
}

class Unroller : public BindingReplacer {
 public:
  explicit Unroller(const UnrollOptions& options) : options_(options) {}

 protected:
  void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    const auto* loop = mapped.value().as<Loop>();
    if (!loop || !loop->index.defined()) return put(std::move(mapped), dataflow, into);
    const auto begin = integer_of(loop->begin), end = integer_of(loop->end), step = integer_of(loop->step);
    if (!begin || !end || !step || *step == 0) return keep(std::move(mapped), into);
    const std::vector<Binding> body = all_bindings(loop->body->blocks);
    const std::optional<std::int64_t> rounds = rounds_of(*begin, *end, *step, body.size());
    if (!rounds) return keep(std::move(mapped), into);

    std::vector<Expr> carried = loop->initial;
    for (std::int64_t round = 0; round < *rounds; ++round)
      carried = write_round(*loop, body, carried, *begin + round * *step, into);
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
    if (written_ + more > most_bindings) return std::nullopt;
    written_ += more;
    return rounds;
  }

  // What the round gives to the next.
  static std::vector<Expr> write_round(const Loop& loop, const std::vector<Binding>& body,
                                       const std::vector<Expr>& carried, std::int64_t index,
                                       std::vector<Binding>& into) {
    VarMap vars;
    for (std::size_t i = 0; i < carried.size(); ++i) vars.emplace(loop.body->params[i].id(), carried[i]);
    const ScalarMap scalars = {{loop.index.id(), int_literal(loop.index.dtype(), index)}};
    for (const Binding& binding : body) {
      Binding copy = copy_binding(binding, vars, scalars);
      const Var& var = copy.var();
      if (var.dataflow()) {  // a round's dataflow block goes up in the block around the loop
        const Var plain(var.name(), var.type(), false, var.span());
        vars.insert_or_assign(binding.var().id(), Expr(plain));
        std::visit([&](auto& kind) { kind.var = plain; }, copy.kind);
      }
      into.push_back(std::move(copy));
    }
    std::vector<Expr> next;
    for (const Expr& result : loop.body->results) next.push_back(substitute(result, vars, scalars));
    return next;
  }

  const UnrollOptions& options_;
  std::int64_t written_ = 0;
};

}  // namespace

Module unroll(const Module& module, const UnrollOptions& options) {
  if (options.most_rounds < 0)
    fail(ErrorClass::Usage, {}, "unroll.most", "the largest number of rounds is negative");
  Module result = module;
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    const auto* function = std::get_if<FunctionPtr>(&result.functions[i]);
    if (!function) continue;
    const FunctionPtr mapped = Unroller(options).map(*function);
    if (mapped != *function) result.functions.replace(i, mapped);
  }
  verify_after(result, "unroll");
  return result;
}

}  // namespace relish
