// Joining of stages over the same domain.
#include "schedule/stages/domains.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "schedule/plain_indices.h"

namespace relish {
namespace {

// Values in one iteration: beyond that they do not fit the registers.
constexpr std::size_t most_values_of_domain = 96;

bool share_buffer(const Stage& a, const Stage& b) {
  std::unordered_set<std::uint64_t> buffers;
  for_each_access(
      a, [&](const Buffer& buffer, const std::vector<Scalar>&, bool) { buffers.insert(buffer.id()); });
  bool found = false;
  for_each_access(b, [&](const Buffer& buffer, const std::vector<Scalar>&, bool) {
    found = found || buffers.contains(buffer.id());
  });
  return found;
}

// Which stages read each buffer, by their places before any was joined.
class BufferReaders {
 public:
  explicit BufferReaders(const std::vector<Stage>& stages) {
    for (std::size_t i = 0; i < stages.size(); ++i)
      for_each_access(stages[i], [&](const Buffer& buffer, const std::vector<Scalar>&, bool store) {
        std::vector<std::size_t>& readers = readers_[buffer.id()];
        if (!store && (readers.empty() || readers.back() != i)) readers.push_back(i);
      });
  }

  // Whether one stage reads what both give, as the means and the deviations of the same rows.
  bool in_common(const Stage& a, const Stage& b) const {
    std::unordered_set<std::size_t> readers;
    for (const StageValue& value : a.values)
      for (const std::size_t reader : of(value.target)) readers.insert(reader);
    return std::any_of(b.values.begin(), b.values.end(), [&](const StageValue& value) {
      const std::vector<std::size_t>& others = of(value.target);
      return std::any_of(others.begin(), others.end(),
                         [&](std::size_t reader) { return readers.contains(reader); });
    });
  }

 private:
  const std::vector<std::size_t>& of(const Buffer& buffer) const {
    static const std::vector<std::size_t> none;
    const auto found = buffer.defined() ? readers_.find(buffer.id()) : readers_.end();
    return found == readers_.end() ? none : found->second;
  }

  std::unordered_map<std::uint64_t, std::vector<std::size_t>> readers_;  // by buffer, in order
};

// Whether one of the two writes what the other accesses.
bool depend(const Stage& a, const Stage& b) {
  bool found = false;
  for_each_access(a, [&](const Buffer& buffer, const std::vector<Scalar>&, bool store) {
    found = found || stores_to(b, buffer) || (store && loads_from(b, buffer));
  });
  return found;
}

// The later stage in terms of the axes of the earlier one.
Stage with_axes_of(const Stage& earlier, const Stage& later) {
  Stage copy = later;
  ScalarMap axes;
  for (std::size_t i = 0; i < copy.axes.size(); ++i) {
    axes.emplace(copy.axes[i].var.id(), use(earlier.axes[i].var));
    copy.axes[i] = earlier.axes[i];
  }
  replace_in(copy, axes, {});
  return copy;
}

// Whether what the earlier one stores is accessed by the later one just at the same place, and nothing that
// it loads is stored by the later one.
bool meet_in_iterations(const Stage& earlier, const Stage& later) {
  bool fine = true;
  for (const StageValue& value : earlier.values) {
    if (!value.target.defined()) continue;
    if (stores_to(later, value.target)) return false;
    for_each_access(later, [&](const Buffer& buffer, const std::vector<Scalar>& indices, bool) {
      if (buffer == value.target) fine = fine && same_indices(indices, value.indices);
    });
  }
  for (const StageValue& value : later.values)
    if (value.target.defined()) fine = fine && !loads_from(earlier, value.target);
  return fine;
}

void append(Stage& earlier, Stage later) {
  // Loads of what is stored in the same iteration become uses of its name.
  for (StageValue& value : earlier.values) {
    if (!value.target.defined() || !loads_from(later, value.target)) continue;
    if (!value.name.defined()) value.name = ScalarVar(value.target.name(), value.target.dtype(), value.span);
    const auto by_name = [&](const Scalar& part) -> std::optional<Scalar> {
      const auto* loaded = part.as<Load>();
      if (!loaded || !(*loaded->buffer == value.target)) return std::nullopt;
      return use(value.name, part.span());
    };
    for (StageValue& user : later.values) user.value = rewrite(user.value, by_name);
  }
  for (StageValue& value : later.values) earlier.values.push_back(std::move(value));
}

// Quotients in the indices of one would keep the other from being vectorized.
bool alike(const Stage& a, const Stage& b) {
  const auto affine = [](const Stage& stage) {
    return std::all_of(stage.values.begin(), stage.values.end(),
                       [](const StageValue& value) { return has_affine_loads(value.value); });
  };
  return affine(a) == affine(b);
}

// Joins the stage to an earlier one over its domain, unless one between them is in the way.
bool join_to_earlier(std::vector<Stage>& stages, std::size_t position, const BufferReaders& readers) {
  const Stage& later = stages[position];
  if (!later.maps()) return false;
  for (std::size_t i = position; i-- > 0;) {
    Stage& earlier = stages[i];
    if (earlier.maps() && earlier.axes.size() == later.axes.size() &&
        same_axes(earlier, later, later.axes.size()) &&
        (share_buffer(earlier, later) || readers.in_common(earlier, later)) && alike(earlier, later) &&
        earlier.values.size() + later.values.size() <= most_values_of_domain) {
      Stage same = with_axes_of(earlier, later);
      if (meet_in_iterations(earlier, same)) {
        append(earlier, std::move(same));
        return true;
      }
    }
    if (depend(earlier, later)) return false;
  }
  return false;
}

// Numbers are computed, and checks done, before all that they do not depend on: between two stages over one
// domain or over the same rows, or behind a contraction, they would keep these apart. Among themselves they
// keep their order: the first check that does not hold is told.
void numbers_and_checks_first(std::vector<Stage>& stages) {
  const auto goes_first = [](const Stage& stage) { return stage.axes.empty() || stage.checks(); };
  for (std::size_t i = 1; i < stages.size(); ++i) {
    if (!goes_first(stages[i])) continue;
    std::size_t to = i;
    while (to > 0 && !goes_first(stages[to - 1]) && !depend(stages[to - 1], stages[i])) --to;
    const auto at = [&](std::size_t position) {
      return stages.begin() + static_cast<std::ptrdiff_t>(position);
    };
    std::rotate(at(to), at(i), at(i + 1));
  }
}

void drop_unread(std::vector<Stage>& stages, const BufferIds& temporaries) {
  BufferIds read;
  for (const Stage& stage : stages)
    for_each_access(stage, [&](const Buffer& buffer, const std::vector<Scalar>&, bool store) {
      if (!store) read.insert(buffer.id());
    });
  for (Stage& stage : stages) {
    if (!stage.maps() || stage.values.size() < 2) continue;
    for (StageValue& value : stage.values) {
      if (!value.target.defined() || !value.name.defined()) continue;
      if (temporaries.contains(value.target.id()) && !read.contains(value.target.id())) {
        value.target = Buffer();
        value.indices.clear();
      }
    }
  }
}

}  // namespace

bool same_axes(const Stage& a, const Stage& b, std::size_t count) {
  if (a.axes.size() < count || b.axes.size() < count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const StageAxis &x = a.axes[i], &y = b.axes[i];
    if (x.var.dtype() != y.var.dtype() || !prove_equal(x.extent, y.extent)) return false;
  }
  return true;
}

void join_domains(std::vector<Stage>& stages, const BufferIds& temporaries) {
  numbers_and_checks_first(stages);
  const BufferReaders readers(stages);
  for (std::size_t i = 1; i < stages.size();) {
    if (join_to_earlier(stages, i, readers))
      stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  drop_unread(stages, temporaries);
}

}  // namespace relish
