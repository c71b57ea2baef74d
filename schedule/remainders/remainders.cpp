// Nests by remainders, of conditions that name an axis of the sum as well.
#include "schedule/remainders/remainders.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"
#include "schedule/remainders/parts.h"

namespace relish {
namespace {

// Whether two parts without sums run over the same iterations.
bool same_iterations(const RemainderPart& a, const RemainderPart& b) {
  if (a.sums || b.sums || a.loops.size() != b.loops.size()) return false;
  for (std::size_t i = 0; i < a.loops.size(); ++i)
    if (!(a.loops[i].var.name() == b.loops[i].var.name()) ||
        !structurally_equal(a.loops[i].extent, b.loops[i].extent))
      return false;
  return true;
}

// The second part's body behind the first one's.
void join(RemainderPart& first, const RemainderPart& second) {
  ScalarMap names;
  for (std::size_t i = 0; i < second.iters.size(); ++i)
    names.emplace(second.iters[i].var.id(), use(first.iters[i].var));
  first.body = seq({first.body, substitute(second.body, names)}, first.body->span);
}

}  // namespace

std::optional<Stmt> split_by_remainders(const Stmt& stmt, RangeProver& prover) {
  auto nest = perfect_nest(stmt);
  if (!nest || !find_stored_axes(*nest)) return std::nullopt;
  const auto guarded = guarded_sum(*nest, CongruenceKind::OfBoth);
  if (!guarded) return std::nullopt;
  std::int64_t count = 1;
  for (const Congruence& each : guarded->congruences) count *= each.divisor;
  if (count > most_remainder_copies) return std::nullopt;

  std::vector<RemainderPart> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<std::int64_t> remainders;
    std::int64_t left = i;
    for (const Congruence& each : guarded->congruences) {
      remainders.push_back(left % each.divisor);
      left /= each.divisor;
    }
    const RemainderPart part = remainder_part(*nest, *guarded, prover, remainders);
    if (!part.body.defined()) continue;  // fewer elements than remainders
    if (part.loops.empty() || !free_of_faults(part, *nest, prover)) return std::nullopt;
    const auto same = std::find_if(parts.begin(), parts.end(),
                                   [&](const RemainderPart& other) { return same_iterations(other, part); });
    if (same == parts.end())
      parts.push_back(part);
    else
      join(*same, part);
  }
  std::vector<Stmt> nests;
  for (const RemainderPart& part : parts) nests.push_back(nest_of(part, *nest));
  return seq(std::move(nests), stmt->span);
}

}  // namespace relish
