// Trigonometric functions of float32, in float64: nothing that float32 can show is lost there.
#include "jit/math/trigonometric.h"

#include "jit/math/coefficients.h"
#include "jit/math/format.h"

namespace relish::jit {
namespace {

// An angle as so many right angles and the sine and cosine of the rest, which is at most half a right angle.
struct Angle {
  Bits quarters;  // the lowest two bits count
  Number sine, cosine;
};

Angle reduced_angle(Number x) {
  const Number wide = widened(x);
  // x * 2 / pi without multiples of 4, for any x: of each piece of 2 / pi the product is exact, and so is
  // what remains of it. The last pieces are too small to have multiples of 4 in them.
  std::array<Number, two_over_pi.size()> products;
  for (std::size_t i = 0; i < products.size(); ++i) {
    products[i] = wide * two_over_pi[i];
    if (i < 5) products[i] = products[i] - 4.0 * to_nearest(products[i] * 0.25);
  }
  Number sum = products[0];
  for (std::size_t i = 1; i < 5; ++i) sum = sum + products[i];
  const double shift = format_of(wide).one_and_half_beyond_integers;
  const Number shifted = sum + shift;
  // Largest first: what cancels does so exactly.
  Number rest = products[0] - (shifted - shift);
  for (std::size_t i = 1; i < products.size(); ++i) rest = rest + products[i];
  const Number r = rest * (pi / 2);
  const Number z = r * r;
  return {bits_of(shifted), fused(r * z, polynomial(z, sin_short), r),
          fused(z * z, polynomial(z, cos_short), fused(z, -0.5, 1))};
}

// The sine of `quarters` right angles more.
Number sine_of(const Angle& angle, Bits quarters) {
  const Number size = select((quarters & 1) == 0, angle.sine, angle.cosine);
  return select((quarters & 2) == 0, size, -size);
}

// atan(y / x) of y, x >= 0, not NaN, between 0 and a right angle; 0 of two zeros.
Number first_quadrant(Number y, Number x) {
  const Flag steep = y > x;
  const Number smaller = select(steep, x, y), larger = select(steep, y, x);
  const Number equal = select(larger == 0, larger, larger.of(1));  // also of two infinities
  const Number ratio = select(smaller == larger, equal, smaller / larger);
  const Number z = ratio * ratio;
  const Number angle = fused(ratio * z, polynomial(z, atan_short), ratio);
  return select(steep, pi / 2 - angle, angle);
}

}  // namespace

Number sine(Number x) {
  const Angle angle = reduced_angle(x);
  // The sign of zero would be lost.
  return select(magnitude(x) < 0x1p-13, x, narrowed(sine_of(angle, angle.quarters)));
}

Number cosine(Number x) {
  const Angle angle = reduced_angle(x);
  return narrowed(sine_of(angle, angle.quarters + 1));
}

Number tangent(Number x) {
  const Angle angle = reduced_angle(x);
  const Flag even = (angle.quarters & 1) == 0;
  const Number above = select(even, angle.sine, -angle.cosine);
  const Number below = select(even, angle.cosine, angle.sine);
  return select(magnitude(x) < 0x1p-13, x, narrowed(above / below));
}

Number arc_tangent_of_two(Number y, Number x) {
  const Number front = first_quadrant(widened(magnitude(y)), widened(magnitude(x)));
  const Number angle = select(with_sign_of(x.of(1), x) < 0, pi - front, front);
  const Number result = with_sign_of(narrowed(angle), y);
  return select(is_nan(x) | is_nan(y), x + y, result);
}

Number arc_tangent(Number x) {
  const Number wide = widened(magnitude(x));
  return select(is_nan(x), x, with_sign_of(narrowed(first_quadrant(wide, wide.of(1))), x));
}

Number arc_sine(Number x) {
  const Number wide = widened(magnitude(x));
  const Number adjacent = root((1.0 - wide) * (1.0 + wide));  // NaN beyond 1
  const Number result = with_sign_of(narrowed(first_quadrant(wide, adjacent)), x);
  return select(is_nan(adjacent), narrowed(adjacent), result);
}

Number arc_cosine(Number x) {
  const Number wide = widened(x);
  const Number opposite = root((1.0 - wide) * (1.0 + wide));
  const Number front = first_quadrant(opposite, magnitude(wide));
  const Number result = narrowed(select(wide < 0, pi - front, front));
  return select(is_nan(opposite), narrowed(opposite), result);
}

}  // namespace relish::jit
