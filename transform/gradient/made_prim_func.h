// A prim_func that is made of another one: its adjoint, its tangent, what counts for them. Names that avoid
// those of the source, buffers like its buffers, and what stands for its sizes and scalars.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "ir/nodes/stmt.h"
#include "transform/gradient/assignments.h"

namespace relish {

class MadePrimFunc {
 public:
  // Its parameters' names are taken.
  explicit MadePrimFunc(const PrimFunc& source);

  const Buffer& param(std::size_t i) const { return *source_.params[i].buffer(); }
  void take_name(const std::string& name) { names_.insert(name); }
  std::string fresh_name(const std::string& wanted);
  // A buffer of the same elements.
  Buffer like(const Buffer& buffer, const std::string& name);

  // A private function without parameters and body.
  PrimFunc empty(const std::string& name) const;
  // What stands in it for the source's symbols and scalars; the scalars as parameters, in their order.
  struct Own {
    ScalarMap scalars;
    BufferMap buffers;
    std::vector<PrimParam> scalar_params;
  };
  Own own() const;

 private:
  const PrimFunc& source_;
  std::unordered_set<std::string> names_;
};

// The first store to each buffer parameter that is no result, each at its place.
class StoresToInputs {
 public:
  StoresToInputs(const PrimFunc& function, const std::unordered_set<std::uint64_t>& results);
  void look_at(const Buffer& stored, Span span, std::vector<Obstacle>& obstacles);

 private:
  std::unordered_set<std::uint64_t> inputs_;
};

}  // namespace relish
