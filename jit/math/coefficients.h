// Coefficients of the polynomials of elementary functions, the lowest power first. Written by
// tests/numbers/elementary.py; the figure is the largest relative error of the function, as a power of two.
#pragma once

#include <array>

namespace relish::jit {

// exp(r) = 1 + r + r^2 q(r), |r| <= ln(2) / 2: 2^-28.1.
inline constexpr std::array<double, 5> exp_single{
    0x1.fffffc0000000p-2, 0x1.55548c0000000p-3,  0x1.5558a60000000p-5,
    0x1.123cfa0000000p-7, 0x1.6a58fa0000000p-10,
};
// the same: 2^-57.3.
inline constexpr std::array<double, 10> exp_double{
    0x1.000000000000ap-1,  0x1.55555555554e8p-3,  0x1.5555555550575p-5,  0x1.111111112168cp-7,
    0x1.6c16c18531ea6p-10, 0x1.a01a017801224p-13, 0x1.a01996533e473p-16, 0x1.71de29f15519cp-19,
    0x1.28b1969f69cf0p-22, 0x1.af752bea0087fp-26,
};
// 2^r = 1 + r q(r), |r| <= 1/2: 2^-26.3.
inline constexpr std::array<double, 6> exp2_single{
    0x1.62e4300000000p-1, 0x1.ebfb940000000p-3,  0x1.c6af9e0000000p-5,
    0x1.3b68180000000p-7, 0x1.5ef4860000000p-10, 0x1.1791020000000p-13,
};
// the same: 2^-57.1.
inline constexpr std::array<double, 11> exp2_double{
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c5b3p-3,  0x1.c6b08d704a26fp-5,  0x1.3b2ab6fb9dad4p-7,
    0x1.5d87fe784593fp-10, 0x1.430913167b01bp-13, 0x1.ffcbfe65fa5f1p-17, 0x1.62bfb4a0042e6p-20,
    0x1.b520838b0eee9p-24, 0x1.e63b9aeb81035p-28, 0x1.f0e71cd81ec1fp-32,
};
// the same in float64 for results in float32: 2^-34.3.
inline constexpr std::array<double, 7> exp2_short{
    0x1.62e42ff0e1990p-1,  0x1.ebfbe0778925cp-3,  0x1.c6b08ac05674ap-5,  0x1.3b29f39d28deep-7,
    0x1.5d8a8612cd55ep-10, 0x1.445c832d4a40bp-13, 0x1.fde5e5e727124p-17,
};
// 10^r = 1 + r q(r), |r| <= log10(2) / 2: 2^-26.1.
inline constexpr std::array<double, 6> exp10_single{
    0x1.26bb1c0000000p+1, 0x1.5352360000000p+1, 0x1.046fbc0000000p+1,
    0x1.2bed800000000p+0, 0x1.1550820000000p-1, 0x1.926cb00000000p-3,
};
// the same: 2^-57.4.
inline constexpr std::array<double, 11> exp10_double{
    0x1.26bb1bbb55516p+1, 0x1.53524c73cea7ap+1,  0x1.0470591de2aaep+1,  0x1.2bd7609fd46d8p+0,
    0x1.1429ffd255e1bp-1, 0x1.a7ed70a404ac7p-3,  0x1.16e4de2133353p-4,  0x1.41165b0434027p-6,
    0x1.489c451df31dfp-8, 0x1.2f780ca626cc5p-10, 0x1.f252b0fc37ef6p-13,
};
// log(1 + f) = f - f^2 / 2 + f^3 q(f), sqrt(1/2) <= 1 + f <= sqrt(2): 2^-27.3.
inline constexpr std::array<double, 8> log_single{
    0x1.5555540000000p-2, -0x1.0002280000000p-2, 0x1.99a01e0000000p-3, -0x1.5472120000000p-3,
    0x1.22d8b80000000p-3, -0x1.0d85dc0000000p-3, 0x1.0563960000000p-3, -0x1.38c4d80000000p-4,
};
// log((1 + s) / (1 - s)) = 2 s + s z q(z), z = s^2: 2^-59.5.
inline constexpr std::array<double, 7> log_double{
    0x1.5555555555592p-1, 0x1.999999997ff0ap-2, 0x1.24924941e2b75p-2, 0x1.c71c5212e0fd0p-3,
    0x1.74663d45ae987p-3, 0x1.39a1decf4310bp-3, 0x1.2f0428700b4c8p-3,
};
// erf(x) = x + x q(x^2), |x| <= 1: 2^-29.2.
inline constexpr std::array<double, 7> erf_small_single{
    0x1.06eba80000000p-3, -0x1.81273e0000000p-2,  0x1.ce2ce60000000p-4,  -0x1.b7f7820000000p-6,
    0x1.53fa460000000p-8, -0x1.a3b3920000000p-11, 0x1.48e5080000000p-14,
};
// the same: 2^-56.0.
inline constexpr std::array<double, 12> erf_small_double{
    0x1.06eba8214db68p-3,  -0x1.812746b03799dp-2,  0x1.ce2f21a03f8b5p-4,  -0x1.b82ce311a9574p-6,
    0x1.565bcceed2051p-8,  -0x1.c02daeb518555p-11, 0x1.f9a2966e2112bp-14, -0x1.f4c828c8c5e48p-17,
    0x1.b96b014b1ddc1p-20, -0x1.5b89acf3e8d12p-23, 0x1.d3c5649826540p-27, -0x1.a1e4ebbac5b1fp-31,
};
// log(1 - erf(x)) = q(x), 1 <= x <= 4: 2^-35.3.
inline constexpr std::array<double, 8> erf_large_single{
    0x1.8b38b20000000p-13, -0x1.212c2c0000000p+0, -0x1.4434f40000000p-1, -0x1.bc18b00000000p-4,
    0x1.9d0b7a0000000p-6,  -0x1.13985c0000000p-8, 0x1.cee8920000000p-12, -0x1.6c02ca0000000p-16,
};
// log(1 - erf(x)) = q((x - 1) / 5), 1 <= x <= 6: 2^-58.6.
inline constexpr std::array<double, 20> erf_large_double{
    -0x1.d97fbf27aa2a1p+0, -0x1.a63c1c00872d8p+3, -0x1.513e2edc6f8fap+4, -0x1.4c7d20f9c5ec8p+2,
    0x1.915a5f8760d71p+2,  -0x1.8b94a8ed46b21p+2, 0x1.daa7676179b24p+1,  0x1.06a20e1764648p+1,
    -0x1.5310f23b564cap+3, 0x1.2a7b6e9a9949dp+4,  -0x1.3676667a34095p+4, 0x1.ca7e334e2e739p+1,
    0x1.20aa5df72a0dap+5,  -0x1.8429583234c1dp+6, 0x1.3f48798a349bbp+7,  -0x1.7dae5b2971fa4p+7,
    0x1.4ea6528ed9a58p+7,  -0x1.9991f767774a3p+6, 0x1.3826a0c88a01bp+5,  -0x1.bc99fa878c714p+2,
};
// sin(r) = r + r z q(z), z = r^2, |r| <= pi / 4, for results in float32: 2^-37.5.
inline constexpr std::array<double, 4> sin_short{
    -0x1.5555554c70d78p-3,
    0x1.11110869a1170p-7,
    -0x1.a00f7e7db91a4p-13,
    0x1.6cd1c67f2a97fp-19,
};
// cos(r) = 1 - z / 2 + z^2 q(z), z = r^2: 2^-42.9.
inline constexpr std::array<double, 4> cos_short{
    0x1.5555554ed7f22p-5,
    -0x1.6c16b8287ee4ep-10,
    0x1.a010ddd045c45p-16,
    -0x1.241e68f4bcc6fp-22,
};
// atan(x) = x + x z q(z), z = x^2, |x| <= 1, for results in float32: 2^-36.5.
inline constexpr std::array<double, 12> atan_short{
    -0x1.5555552f25475p-2, 0x1.9999846bc4e87p-3, -0x1.2490391ce4739p-3, 0x1.c6e85a942dcd5p-4,
    -0x1.72d62f01a999bp-4, 0x1.33a167470cf0ap-4, -0x1.f02f7a21eca31p-5, 0x1.69ea12ce4a3a0p-5,
    -0x1.b2f4dcef75159p-6, 0x1.81f5754107388p-7, -0x1.b400ada75ba85p-9, 0x1.ce1712abe4796p-12,
};
// ln(2) in a first part of few digits and the rest.
inline constexpr double ln2_first_single = 0x1.62e4000000000p-1;
inline constexpr double ln2_rest_single = 0x1.7f7d1c0000000p-20;
inline constexpr double ln2_first_double = 0x1.62e42fefa3800p-1;
inline constexpr double ln2_rest_double = 0x1.ef35793c76730p-45;
// log10(2) likewise.
inline constexpr double log10_2_first_single = 0x1.3440000000000p-2;
inline constexpr double log10_2_rest_single = 0x1.3509f80000000p-18;
inline constexpr double log10_2_first_double = 0x1.34413509f7800p-2;
inline constexpr double log10_2_rest_double = 0x1.fef311f12b358p-46;
// log2(e); products of its first part with numbers of half their digits are exact.
inline constexpr double log2_e_first_single = 0x1.7160000000000p+0;
inline constexpr double log2_e_rest_single = -0x1.7135a80000000p-13;
inline constexpr double log2_e_first_double = 0x1.7154768000000p+0;
inline constexpr double log2_e_rest_double = -0x1.6a3e80f444178p-27;
// log10(e) likewise.
inline constexpr double log10_e_first_single = 0x1.bcc0000000000p-2;
inline constexpr double log10_e_rest_single = -0x1.09d5b20000000p-15;
inline constexpr double log10_e_first_double = 0x1.bcb7b18000000p-2;
inline constexpr double log10_e_rest_double = -0x1.6c8d78e6acaa4p-29;
// 2 / pi in pieces of 28 bits: their products with a float32 are exact in float64.
inline constexpr std::array<double, 7> two_over_pi{
    0x1.45f306c000000p-1,   0x1.c9c882a000000p-29,  0x1.4fe13a8000000p-59,  0x1.f47d4d0000000p-86,
    0x1.bb81b6c000000p-113, 0x1.4acc9e0000000p-143, 0x1.0e4107c000000p-170,
};

}  // namespace relish::jit
