// What is drawn for types.
#include "tests/generate/graph_dims.h"

namespace relish::generate {

DType GraphDims::dtype() {
  if (options.differentiable) return DType::Float64;
  constexpr DType all[] = {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16, DType::Int8,
                           DType::Int16,   DType::Int32,   DType::Int64,   DType::UInt8,    DType::UInt16,
                           DType::UInt32,  DType::UInt64,  DType::Bool};
  return random.chance(0.7) ? home : random.pick(all);
}

Scalar GraphDims::dimension() {
  if (symbols.empty() || random.chance(0.5)) return Scalar(random.between(1, 4));
  Scalar symbol = random.pick(symbols);
  switch (random.below(6)) {
    case 0:
      return canonical(symbol * Scalar(random.between(2, 3)));
    case 1:
      return canonical(symbol + Scalar(random.between(1, 2)));
    case 2:
      return canonical(floor_div(symbol + Scalar(1), Scalar(2)));
    default:
      return symbol;
  }
}

std::vector<Scalar> GraphDims::shape() {
  if (!shapes.empty() && random.chance(0.8)) return random.pick(shapes);
  std::vector<Scalar> dims;
  for (std::int64_t rank = random.between(0, 3); rank > 0; --rank) dims.push_back(dimension());
  return dims;
}

}  // namespace relish::generate
