// Values as a statement finds them.
#include "loops/lasting.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"

namespace relish {
namespace {

// What a statement may change. Buffers of one dtype may share memory.
struct Changes {
  std::vector<DType> stored;
  std::vector<ScalarVar> assigned;

  explicit Changes(const Stmt& stmt) {
    for_each_stmt(stmt, [&](const Stmt& part) {
      if (const auto* n = part.as<Store>()) stored.push_back(n->buffer.dtype());
      if (const auto* n = part.as<AssignScalar>()) assigned.push_back(n->var);
    });
  }
  bool has(const Scalar& value) const {
    if (const auto* load = value.as<Load>())
      return std::find(stored.begin(), stored.end(), load->buffer->dtype()) != stored.end();
    const auto var = value.as_var();
    return var && std::find(assigned.begin(), assigned.end(), *var) != assigned.end();
  }
};

bool may_change(const Scalar& value) {
  bool may = false;
  for_each_scalar(value, [&](const Scalar& part) { may = may || part.as<Load>() || part.as_var(); });
  return may;
}

}  // namespace

std::vector<Scalar> as_begun(std::vector<Scalar> values, const Stmt& stmt) {
  if (std::none_of(values.begin(), values.end(), may_change)) return values;
  const Changes changes(stmt);
  if (changes.stored.empty() && changes.assigned.empty()) return values;
  std::vector<std::pair<Scalar, Scalar>> names;
  for (Scalar& value : values)
    value = rewrite(value, [&](const Scalar& part) -> std::optional<Scalar> {
      if (!changes.has(part)) return std::nullopt;
      for (const auto& [known, name] : names)
        if (structurally_equal(known, part)) return name;
      names.emplace_back(part, use(ScalarVar("begun", part.dtype())));
      return names.back().second;
    });
  return values;
}

}  // namespace relish
