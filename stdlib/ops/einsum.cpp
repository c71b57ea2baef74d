// Sums of products by labelled dimensions.
#include "stdlib/families/shapes/einsum.h"

#include <limits>
#include <map>

#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/iteration.h"
#include "stdlib/families/language/pace.h"
#include "stdlib/families/reductions/attention.h"
#include "support/held_vector.h"

namespace relish::ops_einsum {
namespace {

using einsum::Equation;
using einsum::Label;
using einsum::Labels;

constexpr Param params[] = {
    {"operands", ParamKind::TensorTuple, "tuple of tensors", "", "what is multiplied"},
    {"subscripts", ParamKind::Attribute, "str", "", "labels of the dimensions: \"ij,jk->ik\""}};

const TupleType& operand_types(const CallView& call) {
  const TupleType* types = call.args[0].type().tuple();
  if (types == nullptr || types->fields.empty()) {
    call.reject("operands", call.span_of(0),
                fmt::format("operands have type {}, expected a tuple of at least one tensor",
                            print(call.args[0].type())));
  }
  return *types;
}

const TensorType& operand_type(const CallView& call, std::size_t k) {
  const TensorType* type = operand_types(call).fields[k].tensor();
  if (type == nullptr) {
    call.reject(
        "operands", call.span_of(0),
        fmt::format("operand {} has type {}, expected a tensor", k, print(operand_types(call).fields[k])));
  }
  return *type;
}

// The dims of every label. A dimension of an ellipsis that is 1 in one operand takes another's length; where
// only a run can tell whether it does, the label is in `unclear`. Rejects by "shape".
struct Extents {
  std::map<Label, Scalar> lengths;
  Labels unclear;
};
Extents extents(const CallView& call, const Equation& equation, const std::vector<Dims>& dims) {
  Extents result;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    for (std::size_t i = 0; i < dims[k].size(); ++i) {
      const Label label = equation.operands[k][i];
      const auto [known, fresh] = result.lengths.emplace(label, dims[k][i]);
      if (fresh) continue;
      const bool ellipsis = label >= einsum::first_ellipsis;
      if (ellipsis && is_one(known->second)) {
        known->second = dims[k][i];
      } else if (!(ellipsis && is_one(dims[k][i])) && prove_different(known->second, dims[k][i])) {
        call.reject("shape", call.span_of(0),
                    fmt::format("dimension {} of operand {} is {}, and the same label is {} before", i, k,
                                print(dims[k][i]), print(known->second)));
      } else if (ellipsis && !is_one(dims[k][i]) && !prove_equal(known->second, dims[k][i])) {
        result.unclear.push_back(label);
      }
    }
  }
  return result;
}

Type infer(const CallView& call) {
  std::optional<DType> dtype;
  std::vector<int> ranks;
  std::vector<Dims> dims;
  bool known = true;
  for (std::size_t k = 0; k < operand_types(call).fields.size(); ++k) {
    const TensorType& type = operand_type(call, k);
    if (type.dtype && is_bool(*type.dtype))
      call.reject("dtype", call.span_of(0), fmt::format("operand {} has dtype bool, expected numbers", k));
    if (dtype && type.dtype && *dtype != *type.dtype) {
      call.reject("dtype", call.span_of(0),
                  fmt::format("operand {} has dtype {} where the others have {}, expected the same", k,
                              name_of(*type.dtype), name_of(*dtype)));
    }
    if (type.dtype) dtype = type.dtype;
    const BroadcastShape shape = shape_of(type);
    if (shape.rank < 0) return TensorType{dtype, std::nullopt, -1};
    ranks.push_back(shape.rank);
    known = known && shape.dims;
    dims.push_back(shape.dims.value_or(Dims{}));
  }
  const Equation equation = einsum::parse(call, ranks);
  const int rank = static_cast<int>(equation.result.size());
  if (!known) return tensor_of({rank == 0 ? std::optional(Dims{}) : std::nullopt, rank}, dtype);
  const Extents found = extents(call, equation, dims);
  Dims result;
  for (Label label : equation.result) {
    if (einsum::has(found.unclear, label)) return TensorType{dtype, std::nullopt, rank};
    result.push_back(found.lengths.at(label));
  }
  return TensorType{dtype, std::move(result), rank};
}

// The sizes of the summed labels multiplied, and a product for every further operand.
std::int64_t terms(const CallView& call, const Type&) {
  std::vector<int> ranks;
  std::vector<Dims> dims;
  for (std::size_t k = 0; k < operand_types(call).fields.size(); ++k) {
    dims.push_back(*operand_type(call, k).shape);
    ranks.push_back(static_cast<int>(dims.back().size()));
  }
  const Equation equation = einsum::parse(call, ranks);
  const Extents found = extents(call, equation, dims);
  std::int64_t count = 1;
  for (Label label : equation.summed()) count *= *found.lengths.at(label).as_int();
  return count + static_cast<std::int64_t>(dims.size()) - 1;
}

// Every combination of the labels' values: products of the operands, summed where the result has its element.
Value evaluate(const EvalCall& c) {
  const std::vector<Value>& operands = c.args[0].fields();
  std::vector<int> ranks;
  for (const Value& operand : operands) ranks.push_back(operand.tensor().rank());
  const Equation equation = einsum::parse(c.call, ranks);
  Labels all = equation.result;
  const Labels summed = equation.summed();
  all.insert(all.end(), summed.begin(), summed.end());

  Shape space;
  std::vector<Shape> strides(operands.size(), Shape(all.size(), 0));
  for (std::size_t l = 0; l < all.size(); ++l) {
    std::int64_t length = 1;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const Shape& shape = operands[k].tensor().shape();
      const Shape compact = row_major_strides(shape);
      for (std::size_t i = 0; i < shape.size(); ++i) {
        if (equation.operands[k][i] != all[l]) continue;
        const bool stretches = all[l] >= einsum::first_ellipsis && shape[i] == 1;
        if (!stretches) strides[k][l] += compact[i];
        if (length == 1 && !stretches) length = shape[i];
        if (!stretches && shape[i] != length) {
          fail(ErrorClass::Runtime, c.call.span, "einsum.shape",
               fmt::format("einsum: dimension {} of operand {} is {}, and the same label is {} before", i, k,
                           shape[i], length));
        }
      }
    }
    space.push_back(length);
  }
  const std::size_t kept = equation.result.size();
  const Shape outer(space.begin(), space.begin() + static_cast<std::ptrdiff_t>(kept));
  const DType dtype = operands[0].tensor().dtype();
  Tensor result = Tensor::empty(dtype, outer);
  visit_dtype(dtype, [&](auto element) {
    using T = decltype(element);
    HeldVector<Sum<T>> totals(result.size(), "the sums of an einsum");
    const std::int64_t count = element_count(space);
    const std::int64_t inner =
        element_count(Shape(space.begin() + static_cast<std::ptrdiff_t>(kept), space.end()));
    const Shape steps = row_major_strides(space);
    Pace pace;
    for (std::int64_t n = 0; n < count; ++n, pace()) {
      Sum<T> term = to_sum(convert_element<T>(1.0));
      for (std::size_t k = 0; k < operands.size(); ++k) {
        std::int64_t at = 0;
        for (std::size_t l = 0; l < space.size(); ++l) at += n / steps[l] % space[l] * strides[k][l];
        term = term * to_sum(operands[k].tensor().view<T>()[static_cast<std::size_t>(at)]);
      }
      Sum<T>& total = totals[static_cast<std::size_t>(n / inner)];
      total = total + term;
    }
    for (std::size_t i = 0; i < totals.size(); ++i) result.mutable_view<T>()[i] = from_sum<T>(totals[i]);
  });
  return result;
}

// --- Lowering.

// A factor of a product: an operand, or a product of two that is summed already.
struct Factor {
  Buffer buffer;
  Labels labels;
  std::vector<bool> stretches;  // by dimension: it repeats its one element
};

double length_of(const Scalar& length) {
  constexpr double supposed = 64;  // where only a run knows it
  const std::optional<std::int64_t> known = length.as_int();
  return known ? static_cast<double>(*known) : supposed;
}

using Lengths = std::map<Label, Scalar>;
double volume(const Labels& labels, const Lengths& lengths) {
  double product = 1;
  for (Label label : labels) product *= length_of(lengths.at(label));
  return product;
}

Labels united(const Labels& a, const Labels& b) {
  Labels all = a;
  for (Label label : b)
    if (!einsum::has(all, label)) all.push_back(label);
  return all;
}

// Of the labels of two factors those that the result or another factor needs, in the order of the former
// where the result has them all.
Labels kept_of(const std::vector<Labels>& factors, std::size_t a, std::size_t b, const Labels& result) {
  Labels needed = result;
  for (std::size_t k = 0; k < factors.size(); ++k)
    if (k != a && k != b) needed = united(needed, factors[k]);
  Labels kept;
  const Labels all = united(factors[a], factors[b]);
  for (Label label : needed)
    if (einsum::has(all, label)) kept.push_back(label);
  return kept;
}

// Pairs of factors to be multiplied one after the other, the product standing behind the others: at each step
// the one with the smallest product. Empty when that does not save half of the multiplications of all at
// once, or a product would be much larger than what goes in and comes out.
std::vector<std::pair<std::size_t, std::size_t>> pairs_of(std::vector<Labels> factors, const Labels& result,
                                                          const Lengths& lengths) {
  Labels all = result;
  double largest = volume(result, lengths), work = 0;
  const auto count = static_cast<double>(factors.size());
  for (Labels& factor : factors) {
    factor = united({}, factor);
    all = united(all, factor);
    largest = std::max(largest, volume(factor, lengths));
  }
  const double at_once = volume(all, lengths) * (count - 1);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  while (factors.size() > 2) {
    std::pair<std::size_t, std::size_t> best{0, 1};
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < factors.size(); ++a) {
      for (std::size_t b = a + 1; b < factors.size(); ++b) {
        const double size = volume(kept_of(factors, a, b, result), lengths);
        if (size < least) least = size, best = {a, b};
      }
    }
    const auto [a, b] = best;
    const Labels kept = kept_of(factors, a, b, result);
    work += volume(united(factors[a], factors[b]), lengths);
    if (least > 4 * largest) return {};
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(b));
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(a));
    factors.push_back(kept);
    pairs.emplace_back(a, b);
  }
  if (factors.size() == 2) work += volume(united(factors[0], factors[1]), lengths);
  if (2 * work > at_once) return {};
  return pairs;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const std::vector<Buffer> operands = lowering.inputs(0);
  const Buffer result = lowering.output();
  std::vector<int> ranks;
  std::vector<Dims> dims;
  for (const Buffer& operand : operands) {
    ranks.push_back(operand.rank());
    dims.push_back(operand.shape());
  }
  const Equation equation = einsum::parse(c.call, ranks);
  const Lengths lengths = extents(c.call, equation, dims).lengths;
  std::vector<Factor> factors;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    Factor factor{operands[k], equation.operands[k], {}};
    for (std::size_t i = 0; i < dims[k].size(); ++i) {
      // Where only a run can tell whether a dimension repeats its one element, it must not.
      factor.stretches.push_back(factor.labels[i] >= einsum::first_ellipsis && is_one(dims[k][i]));
      if (factor.stretches.back()) continue;
      lowering.require_equal(dims[k][i], lengths.at(factor.labels[i]),
                             "einsum: dimensions with the same label must have the same length");
    }
    factors.push_back(std::move(factor));
  }
  const DType wide = compute_dtype(result.dtype());
  // target = the product of the factors, summed over the labels that it lacks.
  const auto multiply = [&](std::string_view block, const Buffer& target, const Labels& kept,
                            const std::vector<Factor>& multiplied) {
    Labels summed;
    for (const Factor& factor : multiplied)
      for (Label label : factor.labels)
        if (!einsum::has(kept, label) && !einsum::has(summed, label)) summed.push_back(label);
    Dims inner;
    for (Label label : summed) inner.push_back(lengths.at(label));
    const auto term = [&](const Dims& s, const Dims& r) {
      std::map<Label, Scalar> place;
      for (std::size_t i = 0; i < s.size(); ++i) place.emplace(kept[i], s[i]);
      for (std::size_t i = 0; i < r.size(); ++i) place.emplace(summed[i], r[i]);
      Scalar total;
      for (const Factor& factor : multiplied) {
        Dims index;
        for (std::size_t i = 0; i < factor.labels.size(); ++i)
          index.push_back(factor.stretches[i] ? Scalar(0) : place.at(factor.labels[i]));
        const Scalar element = lowering.load_as(wide, factor.buffer, index);
        total = total.defined() ? total * element : element;
      }
      return total;
    };
    if (inner.empty()) return lowering.map(block, target, [&](const Dims& i) { return term(i, {}); });
    const Buffer total = wide == target.dtype() ? target : lowering.temporary("total", target.shape(), wide);
    lowering.reduce(block, total, target.shape(), inner, term);
    if (!(total == target))
      lowering.map("round", target, [&](const Dims& i) { return lowering.loops().load(total, i); });
  };
  for (const auto& [a, b] : pairs_of(equation.operands, equation.result, lengths)) {
    std::vector<Labels> labels;
    for (const Factor& factor : factors) labels.push_back(factor.labels);
    const Labels kept = kept_of(labels, a, b, equation.result);
    Dims shape;
    for (Label label : kept) shape.push_back(lengths.at(label));
    const Buffer product = lowering.temporary("product", shape, wide);
    multiply("product", product, kept, {factors[a], factors[b]});
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(b));
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(a));
    factors.push_back({product, kept, std::vector<bool>(kept.size(), false)});
  }
  multiply("einsum", result, equation.result, factors);
  return lowering.finish();
}

// --- Gradient. The labels are numbered anew: a dimension that stretches gets one of its own.

struct Numbered {
  std::vector<Labels> operands;
  Labels result;
};

Numbered numbered(const CallView& call, const Equation& equation, const std::vector<Dims>& dims) {
  const std::map<Label, Scalar> lengths = extents(call, equation, dims).lengths;
  std::map<Label, Label> numbers;
  Label next = 0;
  for (const auto& [label, length] : lengths) numbers.emplace(label, next++);
  Numbered result;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    Labels& labels = result.operands.emplace_back();
    for (std::size_t i = 0; i < dims[k].size(); ++i) {
      const Label label = equation.operands[k][i];
      const bool stretches =
          label >= einsum::first_ellipsis && is_one(dims[k][i]) && !is_one(lengths.at(label));
      labels.push_back(stretches ? next++ : numbers.at(label));
    }
  }
  for (Label label : equation.result) result.result.push_back(numbers.at(label));
  if (next > 52)
    call.reject("gradient", call.span,
                fmt::format("the gradient needs {} labels, of which there are 52", next));
  return result;
}

// A value with the distinct labels of an operand, spread over the operand's dims: a label that stands twice
// makes a diagonal.
GraphValue on_diagonals(GraphValue value, const Labels& labels, const Dims& dims) {
  for (std::size_t q = 0; q < labels.size(); ++q) {
    const auto first =
        static_cast<std::size_t>(std::find(labels.begin(), labels.end(), labels[q]) - labels.begin());
    if (first == q) continue;
    // Dimension q is inserted; up to it the value has the operand's dims.
    value = call_op("expand_dims", {value}, {{"axis", axes_attribute({static_cast<int>(q)})}});
    const int rank = shape_of(value.type()).rank;
    const auto along = [&](std::size_t axis) {
      const GraphValue places = reshaped(attention::places(dims[axis], 0, value.builder()), {dims[axis]});
      std::vector<int> others;
      for (int i = 0; i < rank; ++i) {
        if (i != static_cast<int>(axis)) others.push_back(i);
      }
      return call_op("expand_dims", {places}, {{"axis", axes_attribute(others)}});
    };
    value = where(call_op("equal", {along(first), along(q)}), value, constant_like(value, 0));
  }
  return value;
}

GraphValue operand_partial(const GradientRule& rule, const Numbered& labels,
                           const std::vector<GraphValue>& operands, std::size_t k, const Dims& dims) {
  Labels distinct, available, wanted;
  Dims lengths;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (einsum::has(distinct, labels.operands[k][i])) continue;
    distinct.push_back(labels.operands[k][i]);
    lengths.push_back(dims[i]);
  }
  std::vector<Labels> sources{labels.result};
  std::vector<GraphValue> values{rule.cotangent()};
  for (std::size_t j = 0; j < operands.size(); ++j) {
    if (j == k) continue;
    sources.push_back(labels.operands[j]);
    values.push_back(operands[j]);
  }
  for (const Labels& source : sources) available.insert(available.end(), source.begin(), source.end());
  // What only this operand has was summed alone: its partial is the same all along.
  std::vector<int> missing;
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    if (einsum::has(available, distinct[i]))
      wanted.push_back(distinct[i]);
    else
      missing.push_back(static_cast<int>(i));
  }
  GraphValue partial = rule.cotangent();
  if (sources.size() > 1 || wanted != labels.result) {
    const GraphValue tuple(tuple_of(values, partial.builder()), partial.builder());
    partial = call_op("einsum", {tuple}, {{"subscripts", einsum::letters(sources, wanted)}});
  }
  if (!missing.empty()) {
    partial = call_op("expand_dims", {partial}, {{"axis", axes_attribute(missing)}});
    partial = call_op("broadcast_to", {partial, shape_value(lengths, partial.builder())});
  }
  return on_diagonals(partial, labels.operands[k], dims);
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const std::vector<GraphValue> operands = rule.fields(0);
  std::vector<int> ranks;
  std::vector<Dims> dims;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const std::optional<Dims> known = known_dims(operand_type(c.call, k));
    if (!known) {
      c.call.reject("gradient", c.call.span_of(0),
                    fmt::format("the gradient needs the shape of operand {}, which has type {}", k,
                                print(operand_types(c.call).fields[k])));
    }
    ranks.push_back(static_cast<int>(known->size()));
    dims.push_back(*known);
  }
  const Numbered labels = numbered(c.call, einsum::parse(c.call, ranks), dims);
  std::vector<GraphValue> partials;
  for (std::size_t k = 0; k < operands.size(); ++k)
    partials.push_back(operand_partial(rule, labels, operands, k, dims[k]));
  return {tuple_of(partials, c.builder)};
}

constexpr Sample samples[] = {
    {"[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], \"ij,jk->ik\"", "[[19.0, 22.0], [43.0, 50.0]]"},
    {"[[[1.0, 2.0], [3.0, 4.0]]], subscripts=\"ii\"", "5.0"},
    {"[[[1, 2], [3, 4]]], subscripts=\"ij->ji\"", "[[1, 3], [2, 4]]"},
    {"[[1.0, 2.0], [3.0, 4.0, 5.0]], subscripts=\"i,j\"", "[[3.0, 4.0, 5.0], [6.0, 8.0, 10.0]]"},
    {"(rand((2, 3, 4), \"float64\"), rand((2, 4, 5), \"float64\")), subscripts=\"bij,bjk->bki\""},
    {"(rand((2, 1, 2, 3), \"float64\"), rand((4, 3, 2), \"float64\")), subscripts=\"...ij,...jk\""},
    {"(rand((3, 3, 2), \"float64\"),), subscripts=\"i i k -> i\""},
    {"(rand((2, 3), \"float64\"), rand((4, 3), \"float64\"), rand((4, 2), \"float64\")), "
     "subscripts=\"ij,kj,kl->il\""},
    {"(rand((2, 3), \"float64\"), rand((4,), \"float64\")), subscripts=\"ij,k->i\""},
    {"(rand((0, 3), \"float32\"), rand((3,), \"float32\")), subscripts=\"ij,j->i\""},
    {"(rand((2, 0), \"float32\"), rand((0, 3), \"float32\")), subscripts=\"ij,jk->ik\""},
    {"(rand((5, 1), \"float32\"), rand((1, 3), \"float32\")), subscripts=\"ij,jk->ik\""},
};
constexpr Reject rejects[] = {
    {"einsum.subscripts", "(rand((2, 3), \"float32\"),), \"ijk->i\"", "operand 0 has rank 2, and 3 labels"},
    {"einsum.subscripts", "(rand((2, 3), \"float32\"),), \"ij,j->i\"", "has 2 operands, and the tuple 1"},
    {"einsum.subscripts", "(rand((2, 3), \"float32\"),), \"ij->ik\"", "is of no operand"},
    {"einsum.subscripts", "(rand((2, 3), \"float32\"),), \"ij->ii\"", "stands twice"},
    {"einsum.subscripts", "(rand((2, 3), \"float32\"),), \"i1->i\"", "'1' is no label"},
    {"einsum.shape", "(rand((2, 3), \"float32\"), rand((2, 3), \"float32\")), \"ij,jk->ik\"",
     "the same label is 3 before"},
    {"einsum.dtype", "(rand((2,), \"float32\"), rand((2,), \"float64\")), \"i,i\"", "expected the same"},
    {"einsum.operands", "(), \"->\"", "at least one tensor"},
};

}  // namespace

extern const Op op_einsum{
    .name = "einsum",
    .summary = "Products of tensors by labelled dimensions, summed over the labels that the result lacks.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc =
        "for each operand the einsum of g and the other operands with its labels, broadcast along "
        "labels that it alone has; a label that it has twice makes a diagonal",
    .agreement = Agreement::Sum,
    .terms = terms,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "Labels are letters; a label that stands twice in an operand takes its diagonal. Without \"->\" the "
        "result has the labels that occur once, in alphabetical order. \"...\" stands for further "
        "dimensions, "
        "which broadcast and come first in an implicit result. Dimensions of one label must have one length: "
        "1 does not stretch."};

}  // namespace relish::ops_einsum
