// Fault sites: for every check in compiled code, where it stands in the text and what to say when it fails.
#pragma once

#include <cstdint>
#include <memory>
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

class SiteTable {
 public:
  std::int32_t add(Site site) {
    sites_.push_back(std::move(site));
    return static_cast<std::int32_t>(sites_.size()) - 1;
  }
  // The number of an address of this process. Code names it by the symbol address_symbol(number), which
  // linking resolves, so that another process can use the same code.
  std::size_t add_address(const void* address) {
    addresses_.push_back(address);
    return addresses_.size() - 1;
  }
  const std::vector<const void*>& addresses() const { return addresses_; }
  // Keeps what an address is of.
  void keep(std::shared_ptr<const void> data) { kept_.push_back(std::move(data)); }
  const Site& operator[](std::int32_t site) const { return sites_.at(static_cast<std::size_t>(site)); }

 private:
  std::vector<Site> sites_;
  std::vector<const void*> addresses_;
  std::vector<std::shared_ptr<const void>> kept_;
};

inline std::string address_symbol(std::size_t number) { return "address." + std::to_string(number); }

}  // namespace relish::jit
