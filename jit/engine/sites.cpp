// Sites of units.
#include "jit/engine/sites.h"

#include "support/big_stack.h"
#include "support/failure.h"

namespace relish::jit {

void UnitSites::are(std::vector<Site> sites) {
  const std::lock_guard lock(mutex_);
  count_ = sites.size();
  sites_ = std::move(sites);
}

void UnitSites::are_of(std::size_t count, Emit emit) {
  const std::lock_guard lock(mutex_);
  count_ = count;
  emit_ = std::move(emit);
}

void UnitSites::are_found_by(Emit emit) {
  const std::lock_guard lock(mutex_);
  count_.reset();
  emit_ = std::move(emit);
}

std::size_t UnitSites::count() const {
  RELISH_CHECK(count_.has_value(), "sites of code that is not linked have no numbers");
  return *count_;
}

const std::vector<Site>& UnitSites::all() const {
  const std::lock_guard lock(mutex_);
  if (emit_) {
    with_big_stack([&] { sites_ = emit_(); });
    emit_ = nullptr;
    RELISH_CHECK(!count_ || sites_.size() == *count_, "code from the store has other sites than its text");
  }
  return sites_;
}

const std::vector<SiteTable::NumberedUnit>& SiteTable::number_units() {
  std::size_t next = count_of_first();
  for (NumberedUnit& unit : units_) {
    unit.first = next;
    next += unit.sites->count();
  }
  return units_;
}

const Site& SiteTable::operator[](std::int32_t site) const {
  const auto number = static_cast<std::size_t>(site);
  if (number < count_of_first()) return first().at(number);
  for (const NumberedUnit& unit : units_)
    if (number - unit.first < unit.sites->count()) return unit.sites->at(number - unit.first);
  RELISH_CHECK(false, "compiled code names a site that is not there");
}

}  // namespace relish::jit
