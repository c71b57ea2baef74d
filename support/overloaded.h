// Lambdas joined into one visitor: std::visit(Overloaded{...}, variant). A kind that no lambda takes does not
// compile.
#pragma once

namespace relish {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace relish
