// Philox4x32-10 and the normal quantile as statements of loop nests.
#include "stdlib/families/language/random.h"

#include "ir/printer/printer.h"
#include "runtime/normal_quantile.h"

namespace relish {
namespace {

Scalar uint64_literal(std::uint64_t value) {
  return int_literal(DType::UInt64, static_cast<std::int64_t>(value));
}
Scalar real(double value) { return float_literal(DType::Float64, value); }
Scalar bit_xor(const Scalar& a, const Scalar& b) { return binary(BinaryOp::BitXor, a, b); }
Scalar bit_and(const Scalar& a, const Scalar& b) { return binary(BinaryOp::BitAnd, a, b); }
Scalar bit_or(const Scalar& a, const Scalar& b) { return binary(BinaryOp::BitOr, a, b); }
Scalar shift_right(const Scalar& a, std::int64_t bits) {
  return binary(BinaryOp::ShiftRight, a, int_literal(a.dtype(), bits));
}
Scalar low_word(const Scalar& a) { return cast(DType::UInt32, a); }
Scalar high_word(const Scalar& a) { return cast(DType::UInt32, shift_right(a, 32)); }

}  // namespace

void require_key(const CallView& call, std::size_t i) {
  const TensorType& type = call.tensor(i);
  const std::optional<Dims> dims = known_dims(type);
  const bool wrong_shape = (type.rank >= 0 && type.rank != 1) ||
                           (dims && (dims->size() != 1 || prove_different((*dims)[0], Scalar(2))));
  if (!wrong_shape && (!type.dtype || *type.dtype == DType::UInt32)) return;
  call.reject("key", call.span_of(i),
              fmt::format("{} is {}, expected a key, R.Tensor((2,), \"uint32\")", call.op.params[i].name,
                          print(call.args[i].type())));
}

RandomKey key_value(const EvalCall& call, std::size_t i) {
  const auto words = call.in(i).view<std::uint32_t>();
  return {{words[0], words[1]}};
}

Type drawn_type(const CallView& call, std::size_t i, DType dtype) {
  const BroadcastShape shape = shape_argument(call, i);
  for (const Scalar& dim : shape.dims.value_or(Dims{})) {
    if (dim.as_int().value_or(0) < 0)
      call.reject("shape", call.span_of(i), fmt::format("dimension {} is negative", *dim.as_int()));
  }
  return tensor_of(shape, dtype);
}

Scalar LocalStatements::let(std::string_view name, const Scalar& value) {
  const ScalarVar var(std::string(name), value.dtype(), origin_);
  body_.push_back(make_stmt(DefineScalar{var, value, true}, origin_));
  return use(var, origin_);
}

ScalarVar LocalStatements::variable(std::string_view name, const Scalar& value) {
  ScalarVar var(std::string(name), value.dtype(), origin_);
  body_.push_back(make_stmt(DefineScalar{var, value, false}, origin_));
  return var;
}

void LocalStatements::assign(const ScalarVar& variable, const Scalar& value) {
  body_.push_back(make_stmt(AssignScalar{variable, value}, origin_));
}

void LocalStatements::repeat(std::string_view name, const Scalar& extent,
                             const std::function<void(LocalStatements&, const Scalar&)>& body) {
  const ScalarVar i(std::string(name), DType::Int64, origin_);
  LocalStatements inner(origin_);
  body(inner, use(i, origin_));
  body_.push_back(make_stmt(For{i, Scalar(0), extent, LoopKind::Serial, inner.finish(), {}}, origin_));
}

void LocalStatements::repeat_while(std::string_view name,
                                   const std::function<Scalar(LocalStatements&)>& body) {
  const ScalarVar again = variable(name, bool_literal(true));
  LocalStatements inner(origin_);
  inner.assign(again, body(inner));
  body_.push_back(make_stmt(While{use(again, origin_), inner.finish()}, origin_));
}

Scalar uint32_literal(std::uint32_t value) { return int_literal(DType::UInt32, value); }

PhiloxWords philox_words(LocalStatements& into, const KeyWords& key, const PhiloxWords& counter) {
  using namespace philox_layout;
  std::vector<ScalarVar> c, k;
  for (std::size_t i = 0; i < counter.size(); ++i)
    c.push_back(into.variable("c" + std::to_string(i), counter[i]));
  for (std::size_t i = 0; i < key.size(); ++i) k.push_back(into.variable("k" + std::to_string(i), key[i]));
  into.repeat("round", rounds, [&](LocalStatements& body, const Scalar&) {
    const auto product = [&](std::string_view name, std::uint32_t multiplier, const ScalarVar& word) {
      return body.let(name, uint64_literal(multiplier) * cast(DType::UInt64, use(word)));
    };
    const Scalar p0 = product("p0", multipliers[0], c[0]), p1 = product("p1", multipliers[1], c[2]);
    body.assign(c[0], bit_xor(bit_xor(high_word(p1), use(c[1])), use(k[0])));
    body.assign(c[1], low_word(p1));
    body.assign(c[2], bit_xor(bit_xor(high_word(p0), use(c[3])), use(k[1])));
    body.assign(c[3], low_word(p0));
    for (std::size_t i = 0; i < k.size(); ++i)
      body.assign(k[i], use(k[i]) + uint32_literal(key_increments[i]));
  });
  return {use(c[0]), use(c[1]), use(c[2]), use(c[3])};
}

PhiloxWords philox_words(LocalStatements& into, const KeyWords& key, const Scalar& index,
                         std::uint32_t stream) {
  const Scalar wide = into.let("index", cast(DType::UInt64, index));
  return philox_words(into, key,
                      {low_word(wide), high_word(wide), uint32_literal(stream), uint32_literal(0)});
}

Scalar word_at(LocalStatements& into, const KeyWords& key, const Scalar& index) {
  const PhiloxWords words = philox_words(into, key, shift_right(index, 2), 0);
  const Scalar lane = into.let("lane", bit_and(index, Scalar(3)));
  return into.let("word",
                  select(equal(lane, 0), words[0],
                         select(equal(lane, 1), words[1], select(equal(lane, 2), words[2], words[3]))));
}

Scalar double_word_at(LocalStatements& into, const KeyWords& key, const Scalar& index) {
  const PhiloxWords words = philox_words(into, key, shift_right(index, 1), 0);
  const Scalar first = into.let("first", equal(bit_and(index, Scalar(1)), 0));
  const Scalar high = cast(DType::UInt64, select(first, words[0], words[2]));
  const Scalar low = cast(DType::UInt64, select(first, words[1], words[3]));
  return into.let("word", bit_or(binary(BinaryOp::ShiftLeft, high, uint64_literal(32)), low));
}

// One pair of polynomials whose coefficients are chosen, instead of three pairs: the operations on the chosen
// side are those of the runtime, in the same order.
Scalar minus_log(LocalStatements& into, const Scalar& x) {
  using namespace normal_tables;
  constexpr std::uint64_t mantissa_mask = (std::uint64_t{1} << 52) - 1;
  const Scalar bits = into.let("bits", reinterpret(DType::UInt64, x));
  const Scalar whole =
      into.let("whole", reinterpret(DType::Float64, bit_or(bit_and(bits, uint64_literal(mantissa_mask)),
                                                           uint64_literal(std::uint64_t{1023} << 52))));
  const Scalar large = into.let("large", whole > real(sqrt_of_two));
  const Scalar mantissa = into.let("mantissa", select(large, whole / real(2), whole));
  const Scalar exponent = into.let(
      "exponent", cast(DType::Int64, shift_right(bits, 52)) - select(large, Scalar(1022), Scalar(1023)));
  const Scalar s = into.let("s", (mantissa - real(1)) / (mantissa + real(1)));
  const Scalar square = into.let("square", s * s);
  Scalar sum = real(1.0 / last_power);
  for (int power = last_power - 2; power >= 1; power -= 2) sum = sum * square + real(1.0 / power);
  return real(0) - (cast(DType::Float64, exponent) * real(log_of_two) + real(2) * s * sum);
}

Scalar permuted_at(LocalStatements& into, const KeyWords& key, const Scalar& count, const Scalar& first,
                   const Scalar& which) {
  using namespace philox_layout;
  const Scalar row = into.let("row", which);
  const auto word = [&](LocalStatements& target, const Scalar& right, const Scalar& stream) {
    return philox_words(target, key, {low_word(right), high_word(right), stream, row})[0];
  };

  const Scalar n = into.let("n", count);
  const Scalar last = into.let("last", max(n - uint64_literal(1), uint64_literal(1)));
  const Scalar width = Scalar(64) - cast(DType::Int64, intrinsic(Intrinsic::Clz, {last}));
  const Scalar half =
      into.let("half", cast(DType::UInt64, max(shift_right(width + Scalar(1), 1), Scalar(least_half_bits))));
  const Scalar mask =
      into.let("mask", binary(BinaryOp::ShiftLeft, uint64_literal(1), half) - uint64_literal(1));
  const Scalar start = into.let("start", first);
  const Scalar parity = into.let(
      "parity", bit_and(cast(DType::UInt64, word(into, uint64_literal(0),
                                                 uint32_literal(permutation_stream + feistel_rounds))),
                        uint64_literal(1)));
  const Scalar exchanged = logical(LogicalOp::And, start <= uint64_literal(1), n > uint64_literal(1));
  const ScalarVar at = into.variable("at", bit_xor(start, select(exchanged, parity, uint64_literal(0))));
  into.repeat_while("outside", [&](LocalStatements& walk) {
    const ScalarVar left = walk.variable("left", binary(BinaryOp::ShiftRight, use(at), half));
    const ScalarVar right = walk.variable("right", bit_and(use(at), mask));
    walk.repeat("turn", static_cast<int>(feistel_rounds), [&](LocalStatements& round, const Scalar& turn) {
      const Scalar stream = uint32_literal(permutation_stream) + cast(DType::UInt32, turn);
      const Scalar mixed = bit_and(cast(DType::UInt64, word(round, use(right), stream)), mask);
      const Scalar next = round.let("next", bit_xor(use(left), mixed));
      round.assign(left, use(right));
      round.assign(right, next);
    });
    walk.assign(at, bit_or(binary(BinaryOp::ShiftLeft, use(left), half), use(right)));
    return use(at) >= n;
  });
  return use(at);
}

Scalar inner_uniform(LocalStatements& into, const Scalar& word) {
  return into.let("p", (cast(DType::Float64, shift_right(word, 12)) + real(0.5)) * real(0x1p-52));
}
double inner_uniform(std::uint64_t word) { return (static_cast<double>(word >> 12) + 0.5) * 0x1p-52; }

Scalar normal_quantile_of(LocalStatements& into, const Scalar& p) {
  using namespace normal_tables;
  const Scalar q = into.let("q", p - real(0.5));
  const Scalar below = into.let("below", q < real(0));
  const Scalar central = into.let("central", intrinsic(Intrinsic::Abs, {q}) <= real(central_width));
  const Scalar smaller = into.let("smaller", select(below, p, real(1) - p));
  const Scalar r = into.let("r", intrinsic(Intrinsic::Sqrt, {minus_log(into, smaller)}));
  const Scalar tail = into.let("tail", r > real(tail_begin));
  const Scalar x = into.let("x", select(central, real(central_square) - q * q,
                                        select(tail, r - real(tail_begin), r - real(middle_offset))));
  const auto polynomial = [&](std::string_view name, const double(&in_center)[8], const double(&in_middle)[8],
                              const double(&in_tail)[8]) {
    const auto coefficient = [&](std::size_t i) {
      return select(central, real(in_center[i]), select(tail, real(in_tail[i]), real(in_middle[i])));
    };
    Scalar sum = coefficient(7);
    for (std::size_t i = 7; i-- > 0;) sum = sum * x + coefficient(i);
    return into.let(name, sum);
  };
  const Scalar numerator = polynomial("numerator", central_numerator, middle_numerator, tail_numerator);
  const Scalar denominator =
      polynomial("denominator", central_denominator, middle_denominator, tail_denominator);
  const Scalar ratio = into.let("ratio", numerator / denominator);
  return into.let("quantile", select(central, q * ratio, select(below, real(0) - ratio, ratio)));
}

Scalar flat_index(const Dims& shape, const Dims& index) {
  Scalar position(0);
  for (std::size_t i = 0; i < index.size(); ++i) {
    const Scalar extent = shape[i].dtype() == DType::Int64 ? shape[i] : cast(DType::Int64, shape[i]);
    position = i == 0 ? index[i] : position * extent + index[i];
  }
  return position;
}

PrimFunc lower_draw(const LowerCall& call, std::string_view block,
                    const std::function<Scalar(const Draw&)>& value, std::optional<std::size_t> operand) {
  Lowering lowering(call);
  const Buffer key = lowering.input(0);
  lowering.require_equal(key.shape().at(0), Scalar(2),
                         fmt::format("{}: key must have 2 elements", short_name_of(call.call.op)));
  std::optional<binary_family::LoweredOperand> beside;
  if (operand) beside.emplace(lowering, *operand);
  const Buffer result = lowering.output();
  lowering.loops().spatial(block, result.shape(), [&](const Dims& index) {
    LocalStatements locals(call.call.span);
    const Draw draw{lowering,
                    locals,
                    {lowering.loops().load(key, {Scalar(0)}), lowering.loops().load(key, {Scalar(1)})},
                    index,
                    beside ? &*beside : nullptr};
    const Scalar element = value(draw);
    locals.append(lowering.store_as(result, index, element));
    return locals.finish();
  });
  return lowering.finish();
}

Type distribution_type(const CallView& call) {
  require_key(call, 0);
  const DType dtype = *dtype_attribute(call, "dtype");
  if (!is_float(dtype)) {
    call.reject("dtype", call.span, fmt::format("dtype is {}, expected a floating dtype", name_of(dtype)));
  }
  return drawn_type(call, 1, dtype);
}

}  // namespace relish
