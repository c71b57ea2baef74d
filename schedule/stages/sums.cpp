// Joining sums with the sums that they are made of.
#include "schedule/stages/sums.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "loops/reduction.h"

namespace relish {
namespace {

// What a stage adds up; undefined when it does something else.
Scalar added_by(const Stage& stage) {
  if (!stage.reduces() || !stage.distinct || stage.values.size() != 1) return {};
  const StageValue& value = stage.values.front();
  if (value.name.defined() || !value.target.defined()) return {};
  const auto update = as_update(Store{value.target, value.indices, value.value});
  return update && update->op == BinaryOp::Add ? update->addend : Scalar();
}

bool begins_at_zero(const Stage& stage) {
  const auto* literal = stage.init.defined() ? stage.init.as<FloatLiteral>() : nullptr;
  return literal && literal->value == 0;
}

const StageAxis* stage_axis(const Stage& stage, const Scalar& index) {
  const auto var = index.as_var();
  if (!var) return nullptr;
  for (const StageAxis& axis : stage.axes)
    if (axis.var == *var) return &axis;
  return nullptr;
}

// The only stage that reads the buffer, behind the one that writes it; none when others access it too.
std::optional<std::size_t> only_reader(const std::vector<Stage>& stages, std::size_t writer,
                                       const Buffer& buffer) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (i == writer) continue;
    if (stores_to(stages[i], buffer)) return std::nullopt;
    if (!loads_from(stages[i], buffer)) continue;
    if (found || i < writer) return std::nullopt;
    found = i;
  }
  return found;
}

// Whether nothing that the stage loads is stored between it and the other one, or by that.
bool inputs_stay(const std::vector<Stage>& stages, std::size_t writer, std::size_t reader) {
  bool stay = true;
  for_each_access(stages[writer], [&](const Buffer& buffer, const std::vector<Scalar>&, bool store) {
    for (std::size_t i = writer + 1; i <= reader && !store; ++i) stay = stay && !stores_to(stages[i], buffer);
  });
  return stay;
}

// Both sums as one: the reader's axes, then those that the writer sums over. None when the reader does not
// take each element just once, by its own place.
std::optional<Stage> joined(const Stage& writer, const Stage& reader) {
  const Stage sums = fresh_stage(writer, {}, {});
  const StageValue& made = sums.values.front();
  const Scalar read = added_by(reader);
  const auto* taken = read.as<Load>();
  ScalarMap places;
  std::unordered_set<std::uint64_t> met;
  for (std::size_t d = 0; d < made.indices.size(); ++d) {
    if (made.indices[d].as_int() == 0 && taken->indices[d].as_int() == 0) continue;
    const StageAxis *own = stage_axis(sums, made.indices[d]), *other = stage_axis(reader, taken->indices[d]);
    if (!own || !other || own->var.dtype() != other->var.dtype() || !prove_equal(own->extent, other->extent))
      return std::nullopt;
    places.emplace(own->var.id(), use(other->var));
    if (!met.insert(other->var.id()).second) return std::nullopt;
  }
  if (met.size() != reader.axes.size() || places.size() != met.size()) return std::nullopt;
  Stage result = reader;
  result.name = sums.name;
  result.span = sums.span;
  for (const StageAxis& axis : sums.axes)
    if (axis.reduces) result.axes.push_back(axis);
  StageValue& value = result.values.front();
  const auto update = as_update(Store{value.target, value.indices, value.value});
  value.span = made.span;
  value.value = binary(BinaryOp::Add, update->loaded, substitute(added_by(sums), places), value.value.span());
  return is_contraction(result) ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace

void join_sums(std::vector<Stage>& stages, const BufferIds& temporaries) {
  for (std::size_t i = 0; i < stages.size();) {
    const Stage& writer = stages[i];
    const Scalar addend = added_by(writer);
    const bool sums = addend.defined() && is_contraction(writer) && begins_at_zero(writer) &&
                      temporaries.contains(writer.values.front().target.id()) &&
                      (addend.dtype() == DType::Float32 || addend.dtype() == DType::Float64);
    const auto reader = sums ? only_reader(stages, i, writer.values.front().target) : std::nullopt;
    const Scalar read = reader ? added_by(stages[*reader]) : Scalar();
    const auto* taken = read.defined() ? read.as<Load>() : nullptr;
    const bool fits =
        taken && *taken->buffer == writer.values.front().target && inputs_stay(stages, i, *reader);
    auto both = fits ? joined(writer, stages[*reader]) : std::nullopt;
    if (!both) {
      ++i;
      continue;
    }
    stages[*reader] = std::move(*both);
    stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace relish
