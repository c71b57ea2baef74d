// Values for generated programs, and what is asked of them: finite, and steady under small changes.
#pragma once

#include "ir/calls/entry.h"
#include "runtime/value.h"
#include "tests/generate/random.h"

namespace relish::generate {

// A value of a type whose dims are numbers. Floats lie in ±[0.25, 2], integers in [0, 5].
Value value_of(Random& random, const Type& concrete);
// The same shapes with NaN, infinities, signed zeros, subnormal and extreme numbers among the elements.
Value special_value_of(Random& random, const Type& concrete);
// Floats moved by a little: what two sound ways of computing may differ by, many times over.
Value moved(Random& random, const Value& value);
// All numbers finite and of moderate size.
bool is_moderate(const Value& value);
// Every float finite.
bool is_finite(const Value& value);
// Integers equal, floats near: no decision was turned over by a small change.
bool is_near(const Value& a, const Value& b);
// Equal to the bit, NaN with any NaN.
bool same_bits(const Value& a, const Value& b);

}  // namespace relish::generate
