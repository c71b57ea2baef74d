// Fault sites: for every check in compiled code, where it stands in the text and what to say when it fails.
// Units of code that may come from the store number their sites from 0; which number in the whole program
// their first one has, linking tells them by a symbol.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ir/calls/fault.h"
#include "ir/nodes/type.h"

namespace relish::jit {

struct Site {
  Span span;
  FaultKind kind;
  std::string subject;
  // Of a shape check: the type that was wanted, and the symbols whose values the code passes along.
  Type wanted;
  std::vector<ScalarVar> symbols;
  DType dtype = DType::Float32;  // of the tensor; of an index that is out of range, its own

  // Of a shape that is no tensor's: it has a negative dim.
  static Site of_dims(Span span) { return {span, FaultKind::ShapeMismatch, {}, {}, {}}; }
};

// The sites of one unit. Of code from the store only their number is known; they are found when one of them
// fails, by emitting the unit once more.
class UnitSites {
 public:
  using Emit = std::function<std::vector<Site>()>;

  // `symbol`: by which the code of the unit asks for the number of its first site.
  explicit UnitSites(std::string symbol) : symbol_(std::move(symbol)) {}
  const std::string& symbol() const { return symbol_; }

  void are(std::vector<Site> sites);
  // As many as that, which `emit` gives.
  void are_of(std::size_t count, Emit emit);
  // Those that `emit` gives, of code that is not linked.
  void are_found_by(Emit emit);
  std::size_t count() const;
  const Site& at(std::size_t site) const { return all().at(site); }
  const std::vector<Site>& all() const;

 private:
  std::string symbol_;
  std::optional<std::size_t> count_ = 0;
  mutable std::mutex mutex_;  // over what follows
  mutable std::vector<Site> sites_;
  mutable Emit emit_;
};

class SiteTable {
 public:
  std::int32_t add(Site site) {
    sites_.push_back(std::move(site));
    return static_cast<std::int32_t>(sites_.size()) - 1;
  }
  void add(std::shared_ptr<const UnitSites> unit) { units_.push_back({std::move(unit), 0}); }
  // In place of what is added one by one: of code from the store, whose sites are not known yet.
  void add_first(std::shared_ptr<const UnitSites> unit) { first_ = std::move(unit); }
  std::size_t count_of_first() const { return first_ ? first_->count() : sites_.size(); }
  const std::vector<Site>& first() const { return first_ ? first_->all() : sites_; }
  // The address itself stays this process's own.
  bool keeps_data() const { return !kept_.empty(); }
  // The number of an address of this process. Code names it by the symbol address_symbol(number), which
  // linking resolves, so that another process can use the same code.
  std::size_t add_address(const void* address) {
    addresses_.push_back(address);
    return addresses_.size() - 1;
  }
  const std::vector<const void*>& addresses() const { return addresses_; }
  // Keeps what an address is of.
  void keep(std::shared_ptr<const void> data) { kept_.push_back(std::move(data)); }

  struct NumberedUnit {
    std::shared_ptr<const UnitSites> sites;
    std::size_t first = 0;  // number of its first site
  };
  // Numbers the sites of the units behind all others, in the order in which they were added. Nothing is added
  // afterwards.
  const std::vector<NumberedUnit>& number_units();
  const std::vector<NumberedUnit>& units() const { return units_; }
  const Site& operator[](std::int32_t site) const;

 private:
  std::vector<Site> sites_;
  std::shared_ptr<const UnitSites> first_;  // instead of them
  std::vector<NumberedUnit> units_;
  std::vector<const void*> addresses_;
  std::vector<std::shared_ptr<const void>> kept_;
};

inline std::string address_symbol(std::size_t number) { return "address." + std::to_string(number); }

}  // namespace relish::jit
