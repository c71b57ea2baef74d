// Random choices by weights, given by their logarithms.
#include "runtime/normal_quantile.h"
#include "stdlib/families/language/pace.h"
#include "stdlib/families/language/random.h"
#include "stdlib/families/shapes/movement.h"

namespace relish::ops_random_categorical {
namespace {

constexpr Param params[] = {
    key_param,
    {"shape", ParamKind::Shape, "shape", "", "shape of the result"},
    {"logits", ParamKind::Tensor, "tensor", "",
     "(…, classes): logarithms of weights; the leading dimensions broadcast to the shape"}};

Type infer(const CallView& call) {
  require_key(call, 0);
  require_float(call, 2);
  const Type type = drawn_type(call, 1, DType::Int64);
  const BroadcastShape target = shape_of(*type.tensor()), logits = shape_of(call.tensor(2));
  if (logits.rank == 0) call.reject("rank", call.span_of(2), "logits have no dimension of classes");
  if (logits.rank >= 0 && target.rank >= 0 && logits.rank - 1 > target.rank) {
    call.reject("shape", call.span_of(2),
                fmt::format("logits have {} dimensions before the classes, the shape has {}", logits.rank - 1,
                            target.rank));
  }
  if (!logits.dims) return type;
  if (is_zero(logits.dims->back())) call.reject("classes", call.span_of(2), "there are no classes");
  if (!target.dims) return type;
  const std::size_t missing = target.dims->size() + 1 - logits.dims->size();
  for (std::size_t i = 0; i + 1 < logits.dims->size(); ++i) {
    const Scalar &have = (*logits.dims)[i], &want = (*target.dims)[missing + i];
    if (!is_one(have) && prove_different(have, want)) {
      call.reject(
          "shape", call.span_of(2),
          fmt::format("logits of shape {} do not broadcast to one row of classes for each element of {}",
                      describe_dims(*logits.dims), describe_dims(*target.dims)));
    }
  }
  return type;
}

// The largest of logit + Gumbel number wins (the first of equal ones): -log(-log u) of u in (0, 1).
Value evaluate(const EvalCall& c) {
  const RandomKey key = key_value(c, 0);
  const Tensor logits = convert_tensor(c.in(2), DType::Float64);
  Tensor result = Tensor::empty(DType::Int64, result_shape(c));
  const Shape& rows = logits.shape();
  const std::int64_t classes = rows.back();
  const auto refuse = [&](std::string message) {
    fail(ErrorClass::Runtime, c.call.span, "categorical.shape", "categorical: " + std::move(message));
  };
  if (classes == 0) refuse("there are no classes");
  const std::size_t missing = result.shape().size() + 1 - rows.size();
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    if (rows[i] != 1 && rows[i] != result.shape()[missing + i])
      refuse("logits must broadcast to one row of classes for each element");
  }
  Pace pace;
  std::int64_t element = 0;
  for_each_index(result.shape(), [&](const Shape& index) {
    std::int64_t row = 0;
    for (std::size_t i = 0; i + 1 < rows.size(); ++i)
      row = row * rows[i] + (rows[i] == 1 ? 0 : index[missing + i]);
    double best = -std::numeric_limits<double>::infinity();
    std::int64_t chosen = 0;
    for (std::int64_t k = 0; k < classes; ++k) {
      const auto word = random_double_word(key, static_cast<std::uint64_t>(element * classes + k));
      const double score = logits.get_double(row * classes + k) - fixed_log(-fixed_log(inner_uniform(word)));
      if (score > best) {
        best = score;
        chosen = k;
      }
    }
    pace(classes);
    result.set_int(element++, chosen);
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer key = lowering.input(0), logits = lowering.input(2);
  lowering.require_equal(key.shape().at(0), Scalar(2), "categorical: key must have 2 elements");
  const Buffer result = lowering.output();
  const Scalar classes = logits.shape().back();
  lowering.require(classes > Scalar(0), "categorical: there are no classes");
  const std::size_t missing = result.shape().size() + 1 - logits.shape().size();
  for (std::size_t i = 0; i + 1 < logits.shape().size(); ++i) {
    if (!is_one(logits.shape()[i]))
      lowering.require_equal(logits.shape()[i], result.shape()[missing + i],
                             "categorical: logits must broadcast to one row of classes for each element");
  }
  lowering.loops().spatial("categorical", result.shape(), [&](const Dims& index) {
    LocalStatements locals(c.call.span);
    const KeyWords words = {lowering.loops().load(key, {Scalar(0)}), lowering.loops().load(key, {Scalar(1)})};
    const Scalar position = locals.let("position", flat_index(result.shape(), index));
    const ScalarVar best = locals.variable("best", min_value(DType::Float64));
    const ScalarVar chosen = locals.variable("chosen", Scalar(0));
    locals.repeat("k", classes, [&](LocalStatements& round, const Scalar& k) {
      Dims row;
      for (std::size_t i = 0; i + 1 < logits.shape().size(); ++i)
        row.push_back(is_one(logits.shape()[i]) ? Scalar(0) : index[missing + i]);
      row.push_back(k);
      const Scalar p = inner_uniform(round, double_word_at(round, words, position * classes + k));
      const Scalar rate = round.let("rate", minus_log(round, p));
      const Scalar score =
          round.let("score", lowering.load_as(DType::Float64, logits, row) + minus_log(round, rate));
      const Scalar larger = round.let("larger", score > use(best));
      round.assign(chosen, select(larger, k, use(chosen)));
      round.assign(best, select(larger, score, use(best)));
    });
    locals.append(lowering.store_as(result, index, use(chosen)));
    return locals.finish();
  });
  return lowering.finish();
}

constexpr Sample samples[] = {
    {"tensor([1, 2], \"uint32\"), R.shape([6]), [0.0, 1.0, 2.0]"},
    {"tensor([1, 2], \"uint32\"), R.shape([2]), [[0.0, -100.0], [-100.0, 0.0]]", "[0, 1]"},
    {"tensor([7, 9], \"uint32\"), R.shape([3, 4]), [[[0.5, 1.0, -1.0]], [[0.0, 0.0, 3.0]], [[1.0, 2.0, 0.0]]]"},
    {"tensor([7, 9], \"uint32\"), R.shape([]), R.const([0.25, 0.5], \"float32\")"},
    {"tensor([7, 9], \"uint32\"), R.shape([0]), [0.25, 0.5]"},
    {"tensor([7, 9], \"uint32\"), R.shape([17]), R.const([0.0, 0.0, 0.0, 0.0, 0.0], \"float16\")"},
};
constexpr Reject rejects[] = {
    {"categorical.key", "tensor([0, 0]), R.shape([2]), [0.5, 1.0]", "expected a key"},
    {"categorical.dtype", "tensor([0, 0], \"uint32\"), R.shape([2]), [1, 2]", "expected a floating dtype"},
    {"categorical.rank", "tensor([0, 0], \"uint32\"), R.shape([2]), R.const(1.0)", "no dimension of classes"},
    {"categorical.classes", "tensor([0, 0], \"uint32\"), R.shape([2]), rand((2, 0), \"float32\")",
     "there are no classes"},
    {"categorical.shape", "tensor([0, 0], \"uint32\"), R.shape([2]), rand((3, 4), \"float32\")",
     "do not broadcast"},
    {"categorical.shape", "tensor([0, 0], \"uint32\"), R.shape([]), rand((3, 4), \"float32\")",
     "the shape has 0"},
};

}  // namespace

extern const Op op_random_categorical = random_op(
    {.name = "random.categorical",
     .summary = "Random classes by the logarithms of their weights.",
     .params = params,
     .infer = infer,
     .eval = evaluate,
     .lower = lower,
     .samples = samples,
     .rejects = rejects,
     .doc =
         "Class k has the probability softmax(logits)[k]; the weights need not sum to 1, and of -inf is none chosen. "
         "Of weights w themselves give R.log(w). Element i is the first k with the largest logits[k] - log(-log u), "
         "where u is that of R.random.normal at i * classes + k, and the logarithms are those of + - * / alone: so "
         "both tiers choose alike."});

}  // namespace relish::ops_random_categorical
