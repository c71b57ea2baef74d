// Padding and its transpose.
#include "stdlib/families/shapes/padding.h"

#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/fill_value.h"
#include "stdlib/families/language/lowering.h"

namespace relish::padding {
namespace {

enum class Mode : std::uint8_t { Constant, Reflect, Replicate, Circular };

Mode mode_of(const CallView& call) {
  const std::string text = call.string_attribute("pad_mode");
  if (text == "constant") return Mode::Constant;
  if (text == "reflect") return Mode::Reflect;
  if (text == "replicate" || text == "edge") return Mode::Replicate;
  if (text == "circular") return Mode::Circular;
  call.reject("pad_mode", call.span,
              fmt::format("pad_mode is \"{}\", expected constant, reflect, replicate or circular", text));
}

struct Widths {
  std::vector<std::int64_t> before, after;
};

Widths widths_of(const CallView& call) {
  const std::vector<std::int64_t> flat = int_list(call.attribute("pad_width"));
  if (flat.size() % 2 != 0) {
    call.reject("pad_width", call.span,
                fmt::format("pad_width has {} numbers, expected two for each dimension", flat.size()));
  }
  Widths widths;
  for (std::size_t i = 0; i < flat.size(); ++i) {
    if (flat[i] < 0)
      call.reject("pad_width", call.span, fmt::format("pad_width has {}, expected at least 0", flat[i]));
    if (flat[i] > windows::most_step) {
      call.reject("pad_width", call.span,
                  fmt::format("pad_width has {}, expected at most {}", flat[i], windows::most_step));
    }
    (i % 2 == 0 ? widths.before : widths.after).push_back(flat[i]);
  }
  return widths;
}

// The least size of a dimension from which that many cells on either side can be taken.
std::int64_t least_size(Mode mode, std::int64_t before, std::int64_t after) {
  const std::int64_t most = std::max(before, after);
  if (mode == Mode::Constant || most == 0) return 0;  // also when nothing is left
  return mode == Mode::Reflect ? most + 1 : mode == Mode::Circular ? most : 1;
}

// The padded tensor's dims are those of the data plus the widths.
Dims data_dims(const Dims& padded, const Widths& widths) {
  Dims dims;
  for (std::size_t i = 0; i < padded.size(); ++i)
    dims.push_back(canonical(padded[i] - Scalar(widths.before[i] + widths.after[i])));
  return dims;
}

}  // namespace

namespace {

double pad_value(const CallView& call) {
  const Attribute& value = call.attribute("pad_value");
  if (const auto* real = value.as<double>()) return *real;
  return static_cast<double>(call.int_attribute("pad_value"));
}

}  // namespace

Type infer(const CallView& call, bool backward) {
  const TensorType& type = call.tensor(0);
  if (backward)
    require_float(call, 0);
  else
    require_number(call, 0);
  const Mode mode = mode_of(call);
  if (!backward && mode == Mode::Constant)
    require_element(call, "pad_value", pad_value(call), call.span, type.dtype);
  const Widths widths = widths_of(call);
  const BroadcastShape shape = shape_of(type);
  const int rank = static_cast<int>(widths.before.size());
  if (shape.rank >= 0 && shape.rank != rank) {
    call.reject(
        "pad_width", call.span,
        fmt::format("pad_width is for {} dimensions, {} has {}", rank, call.op.params[0].name, shape.rank));
  }
  if (!shape.dims) return TensorType{type.dtype, std::nullopt, rank};
  const Dims x = backward ? data_dims(*shape.dims, widths) : *shape.dims;
  Dims padded;
  for (std::size_t i = 0; i < x.size(); ++i) {
    padded.push_back(canonical(x[i] + Scalar(widths.before[i] + widths.after[i])));
    const std::int64_t least = least_size(mode, widths.before[i], widths.after[i]);
    if (x[i].as_int().value_or(least) < least) {
      call.reject("size", call.span,
                  fmt::format("dimension {} of the data is {}; {} padding by {} and {} needs at least {}", i,
                              print(x[i]), call.string_attribute("pad_mode"), widths.before[i],
                              widths.after[i], least));
    }
  }
  return TensorType{type.dtype, backward ? x : padded, rank};
}

// --- Evaluation.

namespace {

// Where cell `p` of the padded dimension is taken from; -1 from nowhere.
std::int64_t source(Mode mode, std::int64_t p, std::int64_t before, std::int64_t in) {
  const std::int64_t q = p - before;
  if (q >= 0 && q < in) return q;
  switch (mode) {
    case Mode::Constant:
      return -1;
    case Mode::Reflect:
      return q < 0 ? -q : 2 * (in - 1) - q;
    case Mode::Replicate:
      return q < 0 ? 0 : in - 1;
    case Mode::Circular:
      return q < 0 ? q + in : q - in;
  }
  return -1;
}

}  // namespace

Value evaluate(const EvalCall& c, bool backward) {
  const Mode mode = mode_of(c.call);
  const Widths widths = widths_of(c.call);
  const Tensor& given = c.in(0);
  Tensor result = Tensor::zeros(given.dtype(), result_shape(c));
  const Shape& padded = backward ? given.shape() : result.shape();
  const Shape& x = backward ? result.shape() : given.shape();
  const Shape strides = row_major_strides(x);
  visit_dtype(given.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* from = given.view<T>().data();
    T* target = result.mutable_view<T>().data();
    T fill{};
    if (!backward) fill = convert_element<T>(pad_value(c.call));
    std::vector<Sum<T>> totals(backward ? static_cast<std::size_t>(result.size()) : 0);
    std::int64_t at = 0;
    windows::for_each_index(padded, [&](const Shape& p) {
      std::int64_t at_x = 0;
      for (std::size_t d = 0; d < p.size() && at_x >= 0; ++d) {
        const std::int64_t q = source(mode, p[d], widths.before[d], x[d]);
        at_x = q < 0 ? -1 : at_x + q * strides[d];
      }
      if (!backward) {
        target[at] = at_x < 0 ? fill : from[at_x];
      } else if (at_x >= 0) {
        Sum<T>& total = totals[static_cast<std::size_t>(at_x)];
        total = total + to_sum(from[at]);
      }
      ++at;
    });
    for (std::size_t i = 0; i < totals.size(); ++i) target[i] = from_sum<T>(totals[i]);
  });
  return result;
}

// --- Lowering.

namespace {

class Nest {
 public:
  Nest(const LowerCall& call, bool backward)
      : mode_(mode_of(call.call)), widths_(widths_of(call.call)), lowering_(call) {
    given_ = lowering_.input(0);
    result_ = lowering_.output();
    x_ = backward ? result_.shape() : given_.shape();
    for (std::size_t d = 0; d < x_.size(); ++d) {
      const std::int64_t least = least_size(mode_, widths_.before[d], widths_.after[d]);
      if (x_[d].as_int() || (least == 0 && !backward)) continue;
      lowering_.require(compare(CompareOp::Ge, x_[d], Scalar(least)),
                        fmt::format("{}: dimension {} of the data is too small for the padding",
                                    short_name_of(call.call.op), d));
    }
  }

  PrimFunc pad() {
    const Scalar fill = [&] {
      const double value = pad_value(lowering_.call());
      if (is_float(result_.dtype())) return float_literal(result_.dtype(), value);
      return cast(result_.dtype(), float_literal(DType::Float64, value));
    }();
    lowering_.map("pad", result_, [&](const Dims& p) {
      Dims index;
      std::vector<Scalar> conditions;
      for (std::size_t d = 0; d < p.size(); ++d) {
        if (mode_ == Mode::Constant) inside(p[d], d, conditions);
        index.push_back(source_of(p[d], d));
      }
      const Scalar condition = windows::all_of(conditions), value = lowering_.loops().load(given_, index);
      return condition.defined() ? if_then_else(condition, value, fill) : value;
    });
    return lowering_.finish();
  }

  // The cells of the padding that are taken from q are among those before, q's own and those behind.
  PrimFunc fold() {
    const DType wide = compute_dtype(result_.dtype());
    if (mode_ == Mode::Constant) {
      lowering_.map("crop", result_, [&](const Dims& q) {
        Dims index;
        for (std::size_t d = 0; d < q.size(); ++d) index.push_back(own(q[d], d));
        return lowering_.loops().load(given_, index);
      });
      return lowering_.finish();
    }
    const Buffer total =
        wide == result_.dtype() ? result_ : lowering_.temporary("total", result_.shape(), wide);
    Dims candidates;
    for (std::size_t d = 0; d < x_.size(); ++d)
      candidates.push_back(1 + widths_.before[d] + widths_.after[d]);
    lowering_.reduce("fold", total, result_.shape(), candidates, [&](const Dims& q, const Dims& r) {
      Dims index;
      std::vector<Scalar> conditions;
      for (std::size_t d = 0; d < q.size(); ++d) {
        const std::int64_t before = widths_.before[d];
        if (before + widths_.after[d] == 0) {
          index.push_back(q[d]);
          continue;
        }
        const Scalar behind = x_[d] - Scalar(1) + r[d];
        const Scalar p =
            select(r[d] < Scalar(before), r[d], select(equal(r[d], Scalar(before)), own(q[d], d), behind));
        index.push_back(p);
        conditions.push_back(equal(source_of(p, d), q[d]));
      }
      return windows::guarded(windows::all_of(conditions), lowering_.load_as(wide, given_, index));
    });
    if (!(total == result_))
      lowering_.map("round", result_, [&](const Dims& i) { return lowering_.loops().load(total, i); });
    return lowering_.finish();
  }

 private:
  // The cell of the padded dimension that is cell q of the data.
  Scalar own(const Scalar& q, std::size_t d) const {
    return widths_.before[d] == 0 ? q : q + Scalar(widths_.before[d]);
  }
  Scalar shifted(const Scalar& p, std::size_t d) const {
    return widths_.before[d] == 0 ? p : p - Scalar(widths_.before[d]);
  }
  void inside(const Scalar& p, std::size_t d, std::vector<Scalar>& conditions) const {
    const Scalar q = shifted(p, d);
    if (widths_.before[d] > 0) conditions.push_back(compare(CompareOp::Ge, q, Scalar(0)));
    if (widths_.after[d] > 0) conditions.push_back(q < x_[d]);
  }

  Scalar source_of(const Scalar& p, std::size_t d) const {
    Scalar q = shifted(p, d);
    const bool before = widths_.before[d] > 0, after = widths_.after[d] > 0;
    const Scalar last = x_[d] - Scalar(1);
    switch (mode_) {
      case Mode::Constant:
        break;
      case Mode::Reflect:
        if (before) q = max(q, Scalar(0) - q);
        if (after) q = min(q, Scalar(2) * last - q);
        break;
      case Mode::Replicate:
        if (before) q = max(q, Scalar(0));
        if (after) q = min(q, last);
        break;
      case Mode::Circular:
        if (before || after) q = floor_mod(q, x_[d]);
        break;
    }
    return q;
  }

  Mode mode_;
  Widths widths_;
  Lowering lowering_;
  Buffer given_, result_;
  Dims x_;
};

}  // namespace

PrimFunc lower(const LowerCall& call, bool backward) {
  Nest nest(call, backward);
  return backward ? nest.fold() : nest.pad();
}

Partials vjp(const VjpCall& c, bool backward) {
  const GradientRule rule(c);
  Partials partials(1);
  if (!rule.differentiable(0)) return partials;
  Attributes attributes = {{"pad_width", c.call.attribute("pad_width")}};
  if (backward) attributes.emplace_back("pad_value", 0.0);
  attributes.emplace_back("pad_mode", c.call.attribute("pad_mode"));
  partials[0] =
      call_op(backward ? "nn.pad" : "grad.pad_backward", {rule.cotangent()}, std::move(attributes)).expr();
  return partials;
}

}  // namespace relish::padding
