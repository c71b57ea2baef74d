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
  // Keeps what compiled code holds the address of.
  void keep(std::shared_ptr<const void> data) { kept_.push_back(std::move(data)); }
  const Site& operator[](std::int32_t site) const { return sites_.at(static_cast<std::size_t>(site)); }

 private:
  std::vector<Site> sites_;
  std::vector<std::shared_ptr<const void>> kept_;
};

}  // namespace relish::jit
