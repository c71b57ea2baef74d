// Elementary functions of generated code against the C library in long double: how far they are from the true
// value in units in the last place, special values, and the same bits wherever in a vector an element stands.
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "frontend/reader.h"
#include "tests/unit/jit/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

using Real = long double;

struct OfOneNumber {
  Intrinsic which;
  Real (*truth)(Real);
  double most_float32, most_float64;  // units in the last place
};

Real sigmoid_truth(Real x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }

constexpr double rounded_well = 0.51;

const OfOneNumber functions_of_one[] = {
    {Intrinsic::Exp, expl, 1.0, 1.0},
    {Intrinsic::Exp2, exp2l, 1.2, 1.1},
    {Intrinsic::Exp10, exp10l, 1.2, 1.2},
    {Intrinsic::Expm1, expm1l, 1.1, 1.1},
    {Intrinsic::Sigmoid, sigmoid_truth, 2.1, 1.4},
    {Intrinsic::Tanh, tanhl, 1.9, 1.5},
    {Intrinsic::Sinh, sinhl, 1.4, 1.5},
    {Intrinsic::Cosh, coshl, 1.4, 1.4},
    {Intrinsic::Log, logl, 0.9, 0.8},
    {Intrinsic::Log2, log2l, 1.1, 1.1},
    {Intrinsic::Log10, log10l, 1.0, 1.0},
    {Intrinsic::Log1p, log1pl, 0.9, 0.9},
    {Intrinsic::Erf, erfl, 1.2, 1.2},
    {Intrinsic::Asinh, asinhl, rounded_well, 2.5},
    {Intrinsic::Acosh, acoshl, rounded_well, 2.5},
    {Intrinsic::Atanh, atanhl, rounded_well, 2.5},
    {Intrinsic::Sin, sinl, rounded_well, 1},
    {Intrinsic::Cos, cosl, rounded_well, 1},
    {Intrinsic::Tan, tanl, rounded_well, 1},
    {Intrinsic::Asin, asinl, rounded_well, 1},
    {Intrinsic::Acos, acosl, rounded_well, 1},
    {Intrinsic::Atan, atanl, rounded_well, 1},
};

struct OfTwoNumbers {
  Intrinsic which;
  Real (*truth)(Real, Real);
  double most_float32, most_float64;
};

const OfTwoNumbers functions_of_two[] = {
    {Intrinsic::Pow, powl, rounded_well, 1},
    {Intrinsic::Atan2, atan2l, rounded_well, 1},
    {Intrinsic::Hypot, hypotl, rounded_well, 1.2},
};

// Z[i] = f(X[i], Y[i]), or of X[i] alone, for any number of elements. Made once, so compiled once.
ModulePtr elementwise_module(Intrinsic which, DType dtype) {
  static std::map<std::pair<Intrinsic, DType>, ModulePtr> known;
  ModulePtr& module = known[{which, dtype}];
  if (module) return module;
  const ScalarVar n("n", DType::Int64);
  LoopBuilder b;
  const Buffer x = b.input("X", tensor_type({n}, dtype));
  const Buffer y = b.input("Y", tensor_type({n}, dtype));
  const Buffer z = b.output("Z", tensor_type({n}, dtype));
  b.spatial("Z", {n}, [&](const auto& s) {
    std::vector<Scalar> operands{b.load(x, {s[0]})};
    if (info_of(which).arity == 2) operands.push_back(b.load(y, {s[0]}));
    return b.store(z, {s[0]}, intrinsic(which, operands));
  });
  return module = module_of(b.finish("f"));
}

// The distance from the true value in units in the last place of the result; infinite where a NaN, an
// infinity or the sign of a zero is another.
template <class T>
double ulps_from(Real truth, T found) {
  constexpr double never = std::numeric_limits<double>::infinity();
  const T nearest = static_cast<T>(truth);
  if (std::isnan(nearest) || std::isnan(found)) return std::isnan(nearest) == std::isnan(found) ? 0 : never;
  if (nearest == 0 && found == 0) return std::signbit(nearest) == std::signbit(found) ? 0 : never;
  if (std::isinf(nearest) || std::isinf(found)) {
    if (nearest == found) return 0;
    // One unit beyond the largest number is the infinite one.
    const Real edge = ldexpl(1, std::numeric_limits<T>::max_exponent);
    const bool at_edge = fabsl(truth / edge - 1) <= std::numeric_limits<T>::epsilon() ||
                         fabsl(truth / edge + 1) <= std::numeric_limits<T>::epsilon();
    const bool largest = std::fabs(found) >= std::numeric_limits<T>::max();
    return at_edge && largest && std::signbit(nearest) == std::signbit(found) ? 1 : never;
  }
  int exponent = std::numeric_limits<T>::min_exponent;
  if (std::fabs(nearest) >= std::numeric_limits<T>::min()) std::frexp(nearest, &exponent);
  return static_cast<double>(fabsl(found - truth) / ldexpl(1, exponent - std::numeric_limits<T>::digits));
}

template <class T>
std::vector<T> special_numbers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> found{Limits::infinity(), Limits::quiet_NaN()};
  for (const Real x : {Real(0),
                       Real(1),
                       Real(2),
                       Real(3),
                       Real(5),
                       Real(10),
                       Real(0.5),
                       Real(1.5),
                       Real(0.25),
                       Real(Limits::max()),
                       Real(Limits::min()),
                       Real(Limits::denorm_min()),
                       Real(Limits::min()) / 2,
                       Real(1) + Limits::epsilon(),
                       Real(1) - Limits::epsilon() / 2,
                       M_PIl,
                       M_PIl / 2,
                       logl(Limits::max()),
                       log2l(Limits::max()) + 1,
                       log10l(Limits::max()),
                       logl(Limits::max()) + logl(2),
                       -logl(Limits::denorm_min()),
                       -log2l(Limits::denorm_min()),
                       -log10l(Limits::denorm_min()),
                       ldexpl(1, Limits::digits - 1),
                       ldexpl(1, Limits::digits) + 2})
    for (const T near : {T(x), std::nextafter(T(x), T(0)), std::nextafter(T(x), Limits::infinity())})
      found.push_back(near);
  for (std::size_t i = found.size(); i-- > 0;) found.push_back(-found[i]);
  return found;
}

// Every exponent with some mantissas, more where the functions curve, and special numbers.
template <class T>
std::vector<T> sweep(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> found = special_numbers<T>();
  const auto uniform = [&](double bound) {
    return static_cast<T>((static_cast<double>(random() >> 11) * 0x1p-52 - 1) * bound);
  };
  for (int exponent = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
       exponent < std::numeric_limits<T>::max_exponent; ++exponent)
    for (int k = 0; k < (sizeof(T) == 4 ? 100 : 12); ++k)
      found.push_back(std::ldexp(T(1) + std::fabs(uniform(1)), exponent) * (k % 2 ? 1 : -1));
  const double most = std::log(std::numeric_limits<T>::max()) * 1.1;
  for (const double bound : {0.01, 0.5, 1.0, 2.0, 6.0, 20.0, most})
    for (int k = 0; k < 4000; ++k) found.push_back(uniform(bound));
  for (int k = 0; k < 4000; ++k) found.push_back(1 + uniform(0.01));
  return found;
}

template <class T>
constexpr DType dtype_of_number = sizeof(T) == 4 ? DType::Float32 : DType::Float64;

template <class T>
Tensor tensor_of(const std::vector<T>& numbers) {
  Tensor tensor = Tensor::empty(dtype_of_number<T>, {static_cast<std::int64_t>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), static_cast<T*>(tensor.mutable_data()));
  return tensor;
}

template <class T>
std::vector<T> results_of(Evaluator& tier, const ModulePtr& module, const std::vector<T>& x,
                          const std::vector<T>& y) {
  const Value result = tier.call(module, "f", {tensor_of(x), tensor_of(y)});
  const T* begin = static_cast<const T*>(result.tensor().data());
  return {begin, begin + x.size()};
}

template <class T, class Truth>
void check_distance(Intrinsic which, const std::vector<T>& x, const std::vector<T>& y, double most,
                    const Truth& truth) {
  const std::vector<T> found =
      results_of(compiled_tier(), elementwise_module(which, dtype_of_number<T>), x, y);
  double worst = 0;
  std::size_t place = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double distance = ulps_from(truth(Real(x[i]), Real(y[i])), found[i]);
    if (distance > worst) {
      worst = distance;
      place = i;
    }
  }
  INFO(info_of(which).name << " of " << sizeof(T) << " bytes: " << worst << " units in the last place at "
                           << x[place] << ", " << y[place] << ": " << found[place]);
  CHECK(worst <= most);
}

template <class T>
void check_functions_of_one() {
  const std::vector<T> x = sweep<T>(1);
  for (const OfOneNumber& f : functions_of_one)
    check_distance(f.which, x, x, sizeof(T) == 4 ? f.most_float32 : f.most_float64,
                   [&](Real a, Real) { return f.truth(a); });
}

template <class T>
void check_functions_of_two() {
  std::vector<T> x, y;
  for (const T a : special_numbers<T>()) {
    for (const T b : special_numbers<T>()) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  const std::vector<T> numbers = sweep<T>(2);
  std::vector<T> others = numbers;
  std::shuffle(others.begin(), others.end(), std::mt19937_64(3));
  x.insert(x.end(), numbers.begin(), numbers.end());
  y.insert(y.end(), others.begin(), others.end());
  for (const T a : numbers) {  // powers that are neither 0 nor infinite
    x.push_back(std::fabs(a));
    y.push_back(static_cast<T>(30 / std::max<Real>(fabsl(logl(fabsl(Real(a)))), 1e-3L)));
  }
  for (const OfTwoNumbers& f : functions_of_two)
    check_distance(f.which, x, y, sizeof(T) == 4 ? f.most_float32 : f.most_float64, f.truth);
}

// The same of as many elements, by a loop that the text vectorizes.
ModulePtr vectorized_module(Intrinsic which, DType dtype, std::size_t elements, std::size_t lanes) {
  const IntrinsicInfo& info = info_of(which);
  const std::string size = std::to_string(elements), wide = std::to_string(lanes),
                    buffer = "T.Buffer((" + size + ",), \"" + std::string(name_of(dtype)) + "\")",
                    at = "[i * " + wide + " + lane]";
  return read_module("lanes.relish", "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(X: " + buffer +
                                         ", Y: " + buffer + ", Z: " + buffer + "):\n        for i in range(" +
                                         std::to_string(elements / lanes) +
                                         "):\n            for lane in T.vectorized(" + wide +
                                         "):\n                Z" + at + " = T." + std::string(info.name) +
                                         "(X" + at + (info.arity == 2 ? ", Y" + at : "") + ")\n");
}

template <class T>
void check_lanes(std::size_t lanes) {
  std::vector<T> x = sweep<T>(4), y = sweep<T>(5);
  std::shuffle(x.begin(), x.end(), std::mt19937_64(6));
  x.resize(64 * lanes);
  y.resize(64 * lanes);
  for (const IntrinsicInfo& info : intrinsics()) {
    if (info.lanes == IntrinsicLanes::None) continue;
    INFO(info.name << " in " << lanes << " lanes of " << sizeof(T) << " bytes");
    const std::vector<T> alone =
        results_of(compiled_tier(), elementwise_module(info.which, dtype_of_number<T>), x, y);
    const std::vector<T> together =
        results_of(compiled_tier(), vectorized_module(info.which, dtype_of_number<T>, x.size(), lanes), x, y);
    std::size_t others = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (std::memcmp(&alone[i], &together[i], sizeof(T)) != 0 &&
          !(std::isnan(alone[i]) && std::isnan(together[i])))
        ++others;
    CHECK(others == 0);
  }
}

}  // namespace

TEST_CASE("elementary functions have the same bits in loops that a text vectorizes", "[jit][elementary]") {
  for (const std::size_t lanes : {3, 16}) {
    check_lanes<float>(lanes);
    check_lanes<double>(lanes);
  }
}

TEST_CASE("elementary functions of float32 are near the true values", "[jit][elementary]") {
  check_functions_of_one<float>();
  check_functions_of_two<float>();
}

TEST_CASE("elementary functions of float64 are near the true values", "[jit][elementary]") {
  check_functions_of_one<double>();
  check_functions_of_two<double>();
}

TEST_CASE("elementary functions have the exact values that exist", "[jit][elementary]") {
  const auto value = [](Intrinsic which, auto x, auto y) {
    using T = decltype(x);
    return results_of<T>(compiled_tier(), elementwise_module(which, dtype_of_number<T>), {x}, {y})[0];
  };
  const auto check_all = [&](auto tag) {
    using T = decltype(tag);
    constexpr T inf = std::numeric_limits<T>::infinity();
    CHECK(value(Intrinsic::Exp, T(0), T(0)) == 1);
    CHECK(value(Intrinsic::Exp10, T(-0.0), T(0)) == 1);
    CHECK(value(Intrinsic::Exp2, T(-3), T(0)) == T(0.125));
    CHECK(value(Intrinsic::Expm1, -inf, T(0)) == -1);
    CHECK(value(Intrinsic::Sigmoid, T(0), T(0)) == T(0.5));
    CHECK(value(Intrinsic::Tanh, inf, T(0)) == 1);
    CHECK(value(Intrinsic::Tanh, -inf, T(0)) == -1);
    CHECK(value(Intrinsic::Erf, -inf, T(0)) == -1);
    CHECK(value(Intrinsic::Log, T(1), T(0)) == 0);
    CHECK(value(Intrinsic::Log2, T(8), T(0)) == 3);
    CHECK(value(Intrinsic::Log2, std::numeric_limits<T>::denorm_min(), T(0)) ==
          std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
    CHECK(value(Intrinsic::Cos, T(0), T(0)) == 1);
    CHECK(value(Intrinsic::Pow, T(-7), T(0)) == 1);
    CHECK(value(Intrinsic::Pow, T(-3), T(3)) == -27);
    CHECK(value(Intrinsic::Pow, T(-1), inf) == 1);
    CHECK(value(Intrinsic::Pow, T(1), std::numeric_limits<T>::quiet_NaN()) == 1);
    CHECK(value(Intrinsic::Hypot, T(3), T(-4)) == 5);
  };
  check_all(float());
  check_all(double());
}

TEST_CASE("an element's bits do not depend on its place in a vector or on threads", "[jit][elementary]") {
  const auto check = [&]<class T>(Intrinsic which, const std::vector<T>& x) {
    INFO(info_of(which).name << " of " << sizeof(T) << " bytes");
    const ModulePtr module = elementwise_module(which, dtype_of_number<T>);
    const std::vector<T> whole = results_of(compiled_tier(), module, x, x);
    const auto bits = [](const T* begin, std::size_t count) {
      return std::string(reinterpret_cast<const char*>(begin), count * sizeof(T));
    };
    // The whole runs on both threads, parts on one; through all sizes up to twice a vector and more.
    std::vector<std::size_t> sizes(33);
    std::iota(sizes.begin(), sizes.end(), 1);
    sizes.push_back(2001);
    std::size_t begin = 0;
    for (const std::size_t size : sizes) {
      const std::vector<T> some(x.begin() + static_cast<std::ptrdiff_t>(begin),
                                x.begin() + static_cast<std::ptrdiff_t>(begin + size));
      CHECK(bits(whole.data() + begin, size) ==
            bits(results_of(compiled_tier(), module, some, some).data(), size));
      begin += size;
    }
  };
  const std::vector<float> singles = sweep<float>(4);
  const std::vector<double> doubles = sweep<double>(5);
  for (const OfOneNumber& f : functions_of_one) {
    check(f.which, singles);
    check(f.which, doubles);
  }
  for (const OfTwoNumbers& f : functions_of_two) {
    check(f.which, singles);
    check(f.which, doubles);
  }
}
