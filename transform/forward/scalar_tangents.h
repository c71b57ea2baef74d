// Tangents of the scalar expressions of prim_funcs. The tangent of a node is the sum of its partials
// (gradient/scalar_partials.h), each with the tangent of the operand in place of the cotangent: of a scalar
// function both are the same product.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/nodes/scalar.h"
#include "transform/gradient/scalar_partials.h"

namespace relish {

class ScalarTangents {
 public:
  // The buffer or local scalar that holds the tangent of another.
  void set(const Buffer& buffer, const Buffer& tangent) { buffers_.insert_or_assign(buffer.id(), tangent); }
  void set(const ScalarVar& var, const ScalarVar& tangent) { scalars_.insert_or_assign(var.id(), tangent); }
  // What was set; null: nothing.
  const Buffer* of_buffer(const Buffer& buffer) const;
  const ScalarVar* of_local(const ScalarVar& var) const;

  // Of a float; undefined: it is zero. What has no derivative goes to `refused`.
  Scalar of(const Scalar& value);

  std::vector<Scalar> refused;

 private:
  Scalar of_node(const Scalar& value, const std::vector<Scalar>& operands, const Scalar& over_operands,
                 const std::vector<Buffer>& places);
  Scalar through(const Scalar& value, const std::vector<Scalar>& operands);
  Scalar of_select(const Scalar& value, const Select& node);
  Scalar of_let(const Let& node);

  std::unordered_map<std::uint64_t, Buffer> buffers_;
  std::unordered_map<std::uint64_t, ScalarVar> scalars_;
  std::unordered_map<const ScalarNode*, Scalar> known_;
  std::vector<Scalar> held_;  // so that no address in known_ comes again
};

}  // namespace relish
