// Splitting loops.
#include "transform/gradient/split_rounds.h"

#include <cmath>
#include <optional>

#include "transform/binding_replacer.h"
#include "transform/gradient/copies.h"
#include "transform/gradient/made_regions.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

constexpr std::int64_t least_rounds = 8;

std::optional<std::int64_t> number(const Expr& bound) {
  const auto* scalar = bound.defined() ? bound.as<ScalarValueExpr>() : nullptr;
  return scalar ? scalar->value.as_int() : std::nullopt;
}

class Splitter final : public BindingReplacer {
 public:
  explicit Splitter(const Function& function) { reserve_names(function, builder_); }

 private:
  void map_binding(const Binding& binding, bool, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    const auto* loop = mapped.value().as<Loop>();
    const std::optional<Range> range = loop ? range_of(*loop) : std::nullopt;
    if (!range || range->rounds < least_rounds) return keep(std::move(mapped), into);
    const Span span = mapped.value().span();
    const auto segment = static_cast<std::int64_t>(std::sqrt(static_cast<double>(range->rounds)));
    const std::int64_t segments = range->rounds / segment;
    const std::int64_t behind = segments * segment;
    builder_.set_origin(span);
    builder_.begin_block(false);
    Expr value = segmented(*loop, *range, segments, segment);
    if (behind < range->rounds) {
      const std::vector<Expr> carried =
          fields(builder_.emit(std::move(value), "lv"), loop->body->params, span);
      value = left_over(*loop, *range, behind, carried);
    }
    builder_.end_block();
    for (Binding& each : builder_.take_bindings()) keep(std::move(each), into);
    Binding whole = mapped;
    whole.kind = VarBinding{mapped.var(), value};
    keep(std::move(whole), into);
  }

  struct Range {
    std::int64_t begin, step, rounds;
  };
  static std::optional<Range> range_of(const Loop& loop) {
    if (!loop.index.defined() || loop.condition) return std::nullopt;
    const auto begin = number(loop.begin), end = number(loop.end), step = number(loop.step);
    if (!begin || !end || !step || *step <= 0 || *end <= *begin) return std::nullopt;
    return Range{*begin, *step, (*end - *begin - 1) / *step + 1};
  }

  // What a loop gives, by the variables that it carries.
  std::vector<Expr> fields(const Expr& value, const std::vector<Var>& carried, Span span) {
    std::vector<std::string> names;
    for (const Var& param : carried) names.push_back(param.name());
    return fields_of(builder_, value, names, span);
  }

  static void set_range(Loop& loop, std::int64_t end, Span span) {
    loop.begin = scalar_value(Scalar(0), span);
    loop.end = scalar_value(Scalar(end), span);
    loop.step = scalar_value(Scalar(1), span);
  }

  Expr segmented(const Loop& loop, const Range& range, std::int64_t segments, std::int64_t segment) {
    const Span span = builder_.origin();
    Loop outer;
    outer.index = ScalarVar(builder_.fresh_name("segment"), loop.index.dtype(), span);
    set_range(outer, segments, span);
    outer.initial = loop.initial;
    std::vector<Var> carried;
    for (const Var& param : loop.body->params)
      carried.emplace_back(builder_.fresh_name(param.name()), param.type(), false, param.span());
    builder_.begin_region(carried);
    builder_.begin_block(false);
    Loop inner;
    inner.index = ScalarVar(builder_.fresh_name(loop.index.name()), loop.index.dtype(), loop.index.span());
    set_range(inner, segment, span);
    inner.initial.assign(carried.begin(), carried.end());
    const Scalar round = use(outer.index) * Scalar(segment) + use(inner.index);
    inner.body = body_at(loop, canonical(Scalar(range.begin) + round * Scalar(range.step)));
    const Expr made = builder_.emit(loop_expr(std::move(inner), span), "lv");
    outer.body =
        std::make_shared<const Region>(closed_region(builder_, fields(made, loop.body->params, span)));
    builder_.begin_block(false);
    return loop_expr(std::move(outer), span);
  }

  // The rounds from `first` on.
  Expr left_over(const Loop& loop, const Range& range, std::int64_t first, const std::vector<Expr>& carried) {
    const Span span = builder_.origin();
    Loop rest;
    rest.index = ScalarVar(builder_.fresh_name(loop.index.name()), loop.index.dtype(), loop.index.span());
    set_range(rest, range.rounds - first, span);
    rest.initial = carried;
    rest.body = body_at(
        loop, canonical(Scalar(range.begin) + (use(rest.index) + Scalar(first)) * Scalar(range.step)));
    return loop_expr(std::move(rest), span);
  }

  // The body with variables of its own, where its index has that value.
  std::shared_ptr<const Region> body_at(const Loop& loop, const Scalar& index) {
    VarMap vars;
    std::vector<Var> params;
    for (const Var& param : loop.body->params) {
      params.emplace_back(builder_.fresh_name(param.name()), param.type(), false, param.span());
      vars.emplace(param.id(), Expr(params.back()));
    }
    builder_.begin_region(params);
    builder_.begin_block(false);
    for (const Binding& binding :
         fresh_bindings(loop.body->blocks, builder_, vars, {{loop.index.id(), index}}))
      builder_.append(binding);
    std::vector<Expr> results;
    for (const Expr& result : loop.body->results)
      results.push_back(substitute(result, vars, {{loop.index.id(), index}}));
    auto body = std::make_shared<const Region>(closed_region(builder_, std::move(results)));
    builder_.begin_block(false);
    return body;
  }

  FunctionBuilder builder_;  // for names, and for what is written
};

}  // namespace

FunctionPtr with_split_rounds(const FunctionPtr& function) { return Splitter(*function).map(function); }

}  // namespace relish
