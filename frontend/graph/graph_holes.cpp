// Holes in the expressions of a Relax function: what operators ask of them, and what there is to put in.
#include <algorithm>

#include <fmt/format.h>

#include "frontend/graph/graph_values.h"
#include "runtime/literal.h"
#include "support/failure.h"

namespace relish {
namespace {

std::string words_of_kind(const Param& param) {
  switch (param.kind) {
    case ParamKind::Tensor:
    case ParamKind::OptionalTensor:
      return "a tensor";
    case ParamKind::TensorTuple:
      return "a tuple of tensors";
    case ParamKind::Shape:
      return "a shape";
    case ParamKind::Scalar:
      return "a scalar";
    default:
      return std::string(param.type);
  }
}

Expr open_call(const Op& op, std::vector<Expr> args, Attributes attributes, Span span) {
  return Expr(std::make_shared<const ExprNode>(
      ExprNode{span, Type(TypeKind(ErrorType{})), OpCall{&op, std::move(args), std::move(attributes)}}));
}

}  // namespace

// What the statement binds itself is not in scope yet.
Expr GraphHoles::hole(const ast::Hole& hole, Span span) {
  if (!holes_.any()) holes_.begin(values_in_scope(span));
  return holes_.add(hole.id, span);
}

// Fields of tuples are values too.
Holes::Values GraphHoles::values_in_scope(Span at) const {
  struct Place {
    std::string name;
    Expr value;
    Span span;
  };
  std::vector<Place> places;
  const auto add_frames = [&](const GraphHoles& values) {
    for (const Frame& frame : values.frames_) {
      for (const auto& [name, entry] : frame) {
        const auto* bound = std::get_if<Bound>(&entry.meaning);
        const auto* scalar = std::get_if<Scalar>(&entry.meaning);
        const auto known =
            std::find_if(places.begin(), places.end(), [&](const Place& each) { return each.name == name; });
        if (known != places.end()) places.erase(known);
        if (bound && bound->var.type().is_error()) continue;
        if (bound) places.push_back({name, var_ref(bound->var, at), entry.span});
        if (scalar) places.push_back({name, scalar_value(*scalar, at), entry.span});
      }
    }
  };
  std::vector<const GraphHoles*> around;
  for (const GraphHoles* each = this; each; each = each->outer_holes_) around.push_back(each);
  for (auto each = around.rbegin(); each != around.rend(); ++each) add_frames(**each);
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.span.begin > b.span.begin; });
  Holes::Values values;
  for (const Place& place : places) {
    values.emplace_back(place.name, place.value);
    const TupleType* tuple = place.value.type().tuple();
    for (std::size_t i = 0; tuple && i < tuple->fields.size(); ++i)
      values.emplace_back(fmt::format("{}[{}]", place.name, i),
                          tuple_get(place.value, static_cast<int>(i), at));
  }
  return values;
}

// A body that is read again tells of its holes again.
void GraphHoles::report_holes() {
  if (!holes_.any()) return;
  for (HoleReport& report : holes_.report(context_.diagnostics)) {
    const bool known = std::any_of(context_.holes.begin(), context_.holes.end(),
                                   [&](const HoleReport& each) { return each.span == report.span; });
    if (!known) context_.holes.push_back(std::move(report));
  }
}

Expr GraphHoles::call_with_holes(const Op& op, std::vector<Expr> args, Attributes attributes, Span span) {
  const Expr result = open_call(op, args, attributes, span);
  Holes::Use use;
  use.span = span;
  use.make = [&op, attributes, span](const std::vector<Expr>& values) {
    return op_call(op, values, attributes, span);
  };
  const Param* last = nullptr;
  std::size_t next = 0;
  for (std::size_t i = 0; i < args.size(); ++i) {
    while (next < op.params.size() && op.params[next].kind == ParamKind::Attribute) ++next;
    if (next < op.params.size()) last = &op.params[next++];
    use.kinds.emplace_back(
        last ? words_of_kind(*last) : "a value",
        last ? fmt::format("'{}' of R.{}", last->name, op.name) : fmt::format("of R.{}", op.name));
  }
  use.operands = std::move(args);
  holes_.use(result, std::move(use));
  return result;
}

// A number beside a hole takes the dtype of what is put in.
Expr GraphValues::combined_with_hole(std::string_view name, const Operand& left, const Operand& right,
                                     Span span) {
  const Op& op = *find_op(name);
  const auto operand_of = [&](const Operand& operand) {
    return operand.value.defined() ? operand.value
                                   : scalar_value(scalars_.read(*operand.written), operand.written->span);
  };
  const std::vector<Expr> operands = {operand_of(left), operand_of(right)};
  const ast::Expr* numbers[] = {left.value.defined() ? nullptr : left.written,
                                right.value.defined() ? nullptr : right.written};
  const Expr result = open_call(op, operands, {}, span);
  const auto make = [this, &op, first = numbers[0], second = numbers[1], span](std::vector<Expr> values) {
    const ast::Expr* written[] = {first, second};
    for (std::size_t i = 0; i < 2; ++i) {
      if (!written[i]) continue;
      const TensorType* beside = values[1 - i].type().tensor();
      if (values[1 - i].type().is_error()) return values[1 - i];
      if (!beside || !beside->dtype) fail(ErrorClass::Type, span, "hole.value", "a number beside no tensor");
      values[i] = literal_beside(*written[i], *beside->dtype);
    }
    return op_call(op, std::move(values), {}, span);
  };
  const std::string what = fmt::format("an operand of R.{}", op.name);
  holes_.use(result, {operands, make, {{"a tensor", what}, {"a tensor", what}}, span});
  return result;
}

}  // namespace relish
