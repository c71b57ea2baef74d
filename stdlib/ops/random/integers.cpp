// Random integers of an interval, and choices among the first n numbers with and without repetition.
#include "runtime/literal.h"
#include "stdlib/families/language/pace.h"
#include "stdlib/families/language/random.h"

namespace relish::ops_random_integers {
namespace {

constexpr std::uint64_t most_numbers = std::uint64_t{1} << 32;

constexpr Param randint_params[] = {
    key_param,
    {"shape", ParamKind::Shape, "shape", "", "shape of the result"},
    {"low", ParamKind::Attribute, "int", "", "the least number"},
    {"high", ParamKind::Attribute, "int", "", "one more than the largest number"},
    {"dtype", ParamKind::Attribute, "dtype", "\"int64\"", "an integer dtype"}};
constexpr Param choice_params[] = {
    key_param,
    {"shape", ParamKind::Shape, "shape", "", "shape of the result"},
    {"n", ParamKind::Attribute, "int", "", "the numbers from 0 to n - 1 are chosen from"},
    {"replace", ParamKind::Attribute, "bool", "True", "a number may be chosen more than once"}};

// Integers from `low`, `count` of them.
struct Interval {
  std::int64_t low;
  std::uint64_t count;
};

Interval interval_of(const CallView& call) {
  const std::int64_t low = call.int_attribute("low"), high = call.int_attribute("high");
  if (high <= low)
    call.reject("interval", call.span,
                fmt::format("low is {} and high {}, expected a larger high", low, high));
  const std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (count > most_numbers)
    call.reject("interval", call.span,
                fmt::format("there are {} numbers from low to high, expected at most 2^32", count));
  return {low, count};
}

Type infer_randint(const CallView& call) {
  require_key(call, 0);
  const Interval interval = interval_of(call);
  const DType dtype = *dtype_attribute(call, "dtype");
  if (!is_int(dtype))
    call.reject("dtype", call.span, fmt::format("dtype is {}, expected an integer dtype", name_of(dtype)));
  const std::int64_t last = interval.low + static_cast<std::int64_t>(interval.count - 1);
  for (const std::int64_t end : {interval.low, last}) {
    if (!holds_integer(dtype, end))
      call.reject("dtype", call.span, fmt::format("{} does not hold {}", name_of(dtype), end));
  }
  return drawn_type(call, 1, dtype);
}

// floor(word * count / 2^64), in 64 bits.
std::uint64_t scaled(std::uint64_t word, std::uint64_t count) {
  return ((word >> 32) * count + ((word & 0xFFFFFFFF) * count >> 32)) >> 32;
}
Scalar scaled(const Scalar& word, std::uint64_t count) {
  const auto literal = [](std::uint64_t value) {
    return int_literal(DType::UInt64, static_cast<std::int64_t>(value));
  };
  const auto upper = [&](const Scalar& x) { return binary(BinaryOp::ShiftRight, x, literal(32)); };
  const Scalar lower = binary(BinaryOp::BitAnd, word, literal(0xFFFFFFFF));
  return upper(upper(word) * literal(count) + upper(lower * literal(count)));
}

Tensor drawn_from(const EvalCall& c, const Interval& interval) {
  const RandomKey key = key_value(c, 0);
  Tensor result = Tensor::empty(*c.result_type.tensor()->dtype, result_shape(c));
  Pace pace;
  for (std::int64_t i = 0; i < result.size(); ++i, pace()) {
    const std::uint64_t step = scaled(random_double_word(key, static_cast<std::uint64_t>(i)), interval.count);
    result.set_int(i, interval.low + static_cast<std::int64_t>(step));
  }
  return result;
}

PrimFunc lower_drawn(const LowerCall& c, std::string_view block, const Interval& interval) {
  return lower_draw(c, block, [&](const Draw& draw) {
    const Scalar word = double_word_at(draw.locals, draw.key, draw.position());
    const Scalar step = draw.locals.let("step", scaled(word, interval.count));
    return Scalar(interval.low) + cast(DType::Int64, step);
  });
}

struct Choice {
  std::int64_t n;
  bool replace;
};

Choice choice_of(const CallView& call) {
  const Choice choice{call.int_attribute("n"), *call.attribute("replace").as<bool>()};
  if (choice.n < 1 || static_cast<std::uint64_t>(choice.n) > most_numbers)
    call.reject("n", call.span, fmt::format("n is {}, expected at least 1 and at most 2^32", choice.n));
  return choice;
}

Type infer_choice(const CallView& call) {
  require_key(call, 0);
  const Choice choice = choice_of(call);
  const Type type = drawn_type(call, 1, DType::Int64);
  if (!choice.replace && type.tensor()->shape) {
    const std::optional<std::int64_t> wanted = canonical(product(*type.tensor()->shape)).as_int();
    if (wanted && *wanted > choice.n) {
      call.reject("replace", call.span,
                  fmt::format("{} numbers are to be chosen from {} without repetition", *wanted, choice.n));
    }
  }
  return type;
}

Value evaluate_choice(const EvalCall& c) {
  const Choice choice = choice_of(c.call);
  if (choice.replace) return drawn_from(c, {0, static_cast<std::uint64_t>(choice.n)});
  const RandomKey key = key_value(c, 0);
  Tensor result = Tensor::empty(DType::Int64, result_shape(c));
  if (result.size() > choice.n) {
    fail(ErrorClass::Runtime, c.call.span, "choice.replace",
         fmt::format("choice: more numbers are to be chosen than the {} that there are", choice.n));
  }
  Pace pace;
  for (std::int64_t i = 0; i < result.size(); ++i, pace())
    result.set_int(i, static_cast<std::int64_t>(permuted_index(key, static_cast<std::uint64_t>(choice.n),
                                                               static_cast<std::uint64_t>(i))));
  return result;
}

PrimFunc lower_choice(const LowerCall& c) {
  const Choice choice = choice_of(c.call);
  const auto n = static_cast<std::uint64_t>(choice.n);
  if (choice.replace) return lower_drawn(c, "choice", {0, n});
  return lower_draw(c, "choice", [&](const Draw& draw) {
    draw.lowering.require(
        product(draw.lowering.result_dims()) <= Scalar(choice.n),
        fmt::format("choice: more numbers are to be chosen than the {} that there are", choice.n));
    return permuted_at(draw.locals, draw.key, int_literal(DType::UInt64, choice.n),
                       cast(DType::UInt64, draw.position()), uint32_literal(0));
  });
}

constexpr Sample randint_samples[] = {
    {"tensor([1, 2], \"uint32\"), R.shape([2, 4]), low=0, high=10"},
    {"tensor([1, 2], \"uint32\"), R.shape([5]), -3, 4, \"int8\""},
    {"tensor([1, 2], \"uint32\"), R.shape([]), low=5, high=6", "5"},
    {"tensor([7, 9], \"uint32\"), R.shape([17]), low=-2147483648, high=2147483648"},
    {"tensor([7, 9], \"uint32\"), R.shape([3, 2]), low=0, high=256, dtype=\"uint8\""},
    {"tensor([7, 9], \"uint32\"), R.shape([0]), low=0, high=2"},
};
constexpr Sample choice_samples[] = {
    {"tensor([1, 2], \"uint32\"), R.shape([2, 4]), n=10"},
    {"tensor([1, 2], \"uint32\"), R.shape([7]), n=7, replace=False", "[6, 3, 1, 2, 5, 0, 4]"},
    {"tensor([0, 0], \"uint32\"), R.shape([2, 2]), n=10, replace=False", "[[9, 3], [6, 8]]"},
    {"tensor([7, 9], \"uint32\"), R.shape([]), n=1", "0"},
    {"tensor([7, 9], \"uint32\"), R.shape([0]), n=3, replace=False"},
    {"tensor([7, 9], \"uint32\"), R.shape([40]), n=300, replace=False"},
};
constexpr Reject randint_rejects[] = {
    {"randint.key", "tensor([0, 0]), R.shape([2]), low=0, high=2", "expected a key"},
    {"randint.interval", "tensor([0, 0], \"uint32\"), R.shape([2]), low=2, high=2", "expected a larger high"},
    {"randint.interval", "tensor([0, 0], \"uint32\"), R.shape([2]), low=0, high=4294967297", "at most 2^32"},
    {"randint.dtype", "tensor([0, 0], \"uint32\"), R.shape([2]), low=0, high=200, dtype=\"int8\"",
     "does not hold 199"},
    {"randint.dtype", "tensor([0, 0], \"uint32\"), R.shape([2]), low=0, high=2, dtype=\"float32\"",
     "expected an integer dtype"},
};
constexpr Reject choice_rejects[] = {
    {"choice.key", "tensor([0, 0]), R.shape([2]), n=2", "expected a key"},
    {"choice.n", "tensor([0, 0], \"uint32\"), R.shape([2]), n=0", "n is 0"},
    {"choice.replace", "tensor([0, 0], \"uint32\"), R.shape([3]), n=2, replace=False", "3 numbers"},
};

}  // namespace

extern const Op op_random_randint = random_op(
    {.name = "random.randint",
     .summary = "Random integers from low to high - 1.",
     .params = randint_params,
     .infer = infer_randint,
     .eval = [](const EvalCall& c) -> Value { return drawn_from(c, interval_of(c.call)); },
     .lower = [](const LowerCall& c) { return lower_drawn(c, "randint", interval_of(c.call)); },
     .samples = randint_samples,
     .rejects = randint_rejects,
     .doc =
         "Element i is low + floor(w * (high - low) / 2^64), where w is the words 2 i and 2 i + 1 of the key. At "
         "most 2^32 different numbers."});

extern const Op op_random_choice = random_op(
    {.name = "random.choice",
     .summary = "Random numbers from 0 to n - 1, with or without repetition.",
     .params = choice_params,
     .infer = infer_choice,
     .eval = evaluate_choice,
     .lower = lower_choice,
     .samples = choice_samples,
     .rejects = choice_rejects,
     .doc =
         "With repetition they are those of R.random.randint(key, shape, 0, n), without it the first of "
         "R.random.permutation(key, (n,)). R.take(x, R.random.choice(key, (k,), n), axis=0) chooses rows of x; "
         "R.random.categorical chooses by weights."});

}  // namespace relish::ops_random_integers
