// The quantile function of the standard normal distribution in + - * / sqrt of doubles alone, without
// contraction, so that all tiers and machines give the same bits. The tables stand here for the lowering of
// R.random.normal too.
#pragma once

namespace relish {

// The x with P(X <= x) = p for a standard normal X; 0 < p < 1.
double normal_quantile(double p);
// The logarithm of a normal positive number.
double fixed_log(double x);

namespace normal_tables {

// Rational approximations of Wichura, "Algorithm AS 241: The percentage points of the normal distribution"
// (1988), PPND16: about 16 digits. Coefficients from the constant term up.
inline constexpr double central_numerator[8] = {
    3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
    4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
inline constexpr double central_denominator[8] = {1.0,
                                                  4.2313330701600911252e1,
                                                  6.8718700749205790830e2,
                                                  5.3941960214247511077e3,
                                                  2.1213794301586595867e4,
                                                  3.9307895800092710610e4,
                                                  2.8729085735721942674e4,
                                                  5.2264952788528545610e3};
inline constexpr double middle_numerator[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                               5.76949722146069140550e0,  3.64784832476320460504e0,
                                               1.27045825245236838258e0,  2.41780725177450611770e-1,
                                               2.27238449892691845833e-2, 7.74545014278341407640e-4};
inline constexpr double middle_denominator[8] = {1.0,
                                                 2.05319162663775882187e0,
                                                 1.67638483018380384940e0,
                                                 6.89767334985100004550e-1,
                                                 1.48103976427480074590e-1,
                                                 1.51986665636164571966e-2,
                                                 5.47593808499534494600e-4,
                                                 1.05075007164441684324e-9};
inline constexpr double tail_numerator[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                             1.78482653991729133580e0,  2.96560571828504891230e-1,
                                             2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                             2.71155556874348757815e-5, 2.01033439929228813265e-7};
inline constexpr double tail_denominator[8] = {1.0,
                                               5.99832206555887937690e-1,
                                               1.36929880922735805310e-1,
                                               1.48753612908506148525e-2,
                                               7.86869131145613259100e-4,
                                               1.84631831751005468180e-5,
                                               1.42151175831644588870e-7,
                                               2.04426310338993978564e-15};

// Where the approximations hold: |p - 0.5| up to central_width, in central_square - (p - 0.5)^2; then
// r = sqrt(-log of the smaller of p and 1 - p) up to tail_begin, in r - middle_offset; beyond, in
// r - tail_begin.
inline constexpr double central_width = 0.425, central_square = 0.180625;
inline constexpr double middle_offset = 1.6, tail_begin = 5;

// log x = exponent * log_of_two + 2 atanh(s), s = (m - 1) / (m + 1), for the mantissa m in [1/sqrt 2, sqrt
// 2]; the series of atanh up to the power last_power.
inline constexpr double log_of_two = 0.693147180559945309417232, sqrt_of_two = 1.41421356237309504880;
inline constexpr int last_power = 23;

}  // namespace normal_tables
}  // namespace relish
