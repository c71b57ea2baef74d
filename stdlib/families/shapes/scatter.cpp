// Reductions of scattering, and their gradients.
#include "stdlib/families/shapes/scatter.h"

#include "ir/calls/entry.h"
#include "stdlib/families/elementwise/scalar_math.h"

namespace relish::scatter {

Reduction reduction_of(const CallView& call, bool with_mean) {
  const std::string name = call.string_attribute("reduction");
  if (name == "update") return Reduction::Update;
  if (name == "add") return Reduction::Add;
  if (name == "mul") return Reduction::Mul;
  if (name == "max") return Reduction::Max;
  if (name == "min") return Reduction::Min;
  if (name == "mean" && with_mean) return Reduction::Mean;
  call.reject("reduction", call.span,
              fmt::format("reduction is \"{}\", expected update, add, mul, {}max or min", name,
                          with_mean ? "mean, " : ""));
}

Agreement agreement(Reduction reduction) {
  switch (reduction) {
    case Reduction::Update:
      return Agreement::DataMovement;
    case Reduction::Max:
    case Reduction::Min:
      return Agreement::Exact;
    case Reduction::Add:
    case Reduction::Mul:
    case Reduction::Mean:
      break;
  }
  return Agreement::Sum;
}

std::int64_t terms(const CallView& call, const Type&) {
  return 1 + element_count(concrete_shape(call.tensor(2)));
}

namespace {

// Truth values have no sums and products but these.
Reduction of_truth_values(Reduction reduction) {
  if (reduction == Reduction::Add) return Reduction::Max;
  return reduction == Reduction::Mul ? Reduction::Min : reduction;
}

template <class T>
T minimum_ieee_of(T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}

}  // namespace

Tensor evaluate(const Tensor& data, const Tensor& updates, Reduction reduction, const Place& place) {
  Tensor result = Tensor::empty(data.dtype(), data.shape());
  visit_dtype(data.dtype(), [&](auto element) {
    using T = decltype(element);
    std::vector<Sum<T>> values;
    for (const T& value : data.view<T>()) values.push_back(to_sum(value));
    std::vector<std::int64_t> counts(values.size(), 1);
    const T* source = updates.view<T>().data();
    for_each_index(updates.shape(), [&](const Shape& index) {
      const auto at = static_cast<std::size_t>(place(index));
      Sum<T>& value = values[at];
      const Sum<T> update = to_sum(*source++);
      ++counts[at];
      switch (reduction) {
        case Reduction::Update:
          value = update;
          break;
        case Reduction::Add:
        case Reduction::Mean:
          value = value + update;
          break;
        case Reduction::Mul:
          value = value * update;
          break;
        case Reduction::Max:
          value = maximum_ieee(value, update);
          break;
        case Reduction::Min:
          value = minimum_ieee_of(value, update);
          break;
      }
    });
    T* target = result.mutable_view<T>().data();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (reduction == Reduction::Mean) {
        if constexpr (StorageFloat<T>)
          values[i] = values[i] / static_cast<double>(counts[i]);
        else
          values[i] = values[i] / Sum<T>(static_cast<decltype(Sum<T>::value)>(counts[i]));
      }
      *target++ = from_sum<T>(values[i]);
    }
  });
  return result;
}

void lower(Lowering& lowering, const Buffer& data, const Buffer& updates, const Buffer& result,
           Reduction reduction, const Dims& around, const Dims& along, const LoweredPlace& at) {
  if (result.dtype() == DType::Bool) reduction = of_truth_values(reduction);
  const bool moves =
      reduction == Reduction::Update || reduction == Reduction::Max || reduction == Reduction::Min;
  DType wide = moves ? result.dtype() : compute_dtype(result.dtype());
  // Means of integers are summed in 64 bits, so that small ones cannot overflow.
  if (reduction == Reduction::Mean && !is_float(wide))
    wide = is_signed_int(wide) ? DType::Int64 : DType::UInt64;
  const Buffer total = wide == result.dtype() ? result : lowering.temporary("total", data.shape(), wide);
  Buffer counts;
  lowering.map("copy", total, [&](const Dims& i) { return lowering.load_as(wide, data, i); });
  if (reduction == Reduction::Mean) {
    counts = lowering.temporary("counts", data.shape(), wide);
    lowering.map("ones", counts, [&](const Dims&) { return literal(wide, 1); });
  }
  const Span span = lowering.call().span;
  lowering.loops().spatial("scatter", around, [&](const Dims& spatial) {
    return repeat_index("k", along, span, [&](const Dims& k) {
      const Step step = at(spatial, k);
      const Scalar update = lowering.load_as(wide, updates, step.update);
      const Scalar old = lowering.loops().load(total, step.place);
      const auto store = [&](const Scalar& value) {
        return lowering.loops().store(total, step.place, value);
      };
      switch (reduction) {
        case Reduction::Add:
          return store(old + update);
        case Reduction::Mul:
          return store(old * update);
        case Reduction::Max:
          return store(maximum_ieee(old, update));
        case Reduction::Min:
          return store(minimum_ieee(old, update));
        case Reduction::Mean: {
          const Scalar count = lowering.loops().load(counts, step.place) + literal(wide, 1);
          return seq({store(old + update), lowering.loops().store(counts, step.place, count)}, span);
        }
        case Reduction::Update:
          break;
      }
      return store(update);
    });
  });
  if (reduction == Reduction::Mean) {
    lowering.map("mean", result, [&](const Dims& i) {
      return lowering.loops().load(total, i) / lowering.loops().load(counts, i);
    });
  } else if (!(total == result)) {
    lowering.map("round", result, [&](const Dims& i) { return lowering.loops().load(total, i); });
  }
}

// --- Gradients.

namespace {

GraphValue ones_like(const GraphValue& x) { return call_op("ones_like", {x}); }
GraphValue zeros_like(const GraphValue& x) { return call_op("zeros_like", {x}); }
GraphValue as_number(const GraphValue& flags, const GraphValue& like) {
  return call_op("astype", {flags}, {{"dtype", like.type().dtype.value_or(DType::Float32)}});
}

// The update that stays in a place is the last one made there.
DataAndUpdates update_gradients(const Operations& to, const GraphValue& g, const GraphValue& data,
                                const GraphValue& updates) {
  const GraphValue order = to.order();
  order.leaf();
  const GraphValue nothing = call_op("zeros_like", {data}, {{"dtype", DType::Int64}});
  const GraphValue last = to.get(to.put(nothing, order, "max"));
  const GraphValue stays = call_op("equal", {last, order});
  const GraphValue kept = to.put(g, zeros_like(updates), "update");
  return {kept, where(stays, to.get(g), constant_like(g, 0))};
}

// The product of all but one update. The zeros are left out of it and then count as a factor: of none among
// the others 1, of one its value, which is 0 but has a derivative, of more 0.
DataAndUpdates product_gradients(const Operations& to, const GraphValue& g, const GraphValue& data,
                                 const GraphValue& updates) {
  const GraphValue one = constant_like(g, 1), none = constant_like(g, 0);
  const GraphValue is_zero = call_op("equal", {updates, none});
  is_zero.leaf();
  const GraphValue zeros = to.get(to.put(zeros_like(data), as_number(is_zero, g), "add"));
  zeros.leaf();
  const GraphValue nonzero = where(is_zero, one, updates);
  nonzero.leaf();
  const GraphValue rest = to.get(to.put(data, nonzero, "mul"));
  const GraphValue others = zeros - as_number(is_zero, g);  // zeros among the other updates
  const GraphValue zero = where(is_zero, updates, none);
  const GraphValue other_zero = to.get(to.put(zeros_like(data), zero, "add")) - zero;
  const GraphValue factor =
      where(call_op("equal", {others, none}), one, where(call_op("equal", {others, one}), other_zero, none));
  const GraphValue slope = rest / nonzero * factor;
  return {g * to.put(ones_like(data), updates, "mul"), to.get(g) * slope};
}

// Ties share evenly, what was there among them.
DataAndUpdates extreme_gradients(const Operations& to, const GraphValue& g, const GraphValue& data,
                                 const GraphValue& updates, const GraphValue& result) {
  const GraphValue none = constant_like(g, 0);
  const GraphValue in_data = call_op("equal", {data, result});
  const GraphValue in_updates = call_op("equal", {updates, to.get(result)});
  in_data.leaf(), in_updates.leaf();
  const GraphValue share = g / to.put(as_number(in_data, g), as_number(in_updates, g), "add");
  share.leaf();
  return {where(in_data, share, none), where(in_updates, to.get(share), none)};
}

}  // namespace

DataAndUpdates gradients(Reduction reduction, const Operations& to, const GraphValue& g,
                         const GraphValue& data, const GraphValue& updates, const GraphValue& result) {
  switch (reduction) {
    case Reduction::Update:
      return update_gradients(to, g, data, updates);
    case Reduction::Add:
      return {g, to.get(g)};
    case Reduction::Mul:
      return product_gradients(to, g, data, updates);
    case Reduction::Mean: {
      const GraphValue share = g / to.put(ones_like(data), ones_like(updates), "add");
      share.leaf();
      return {share, to.get(share)};
    }
    case Reduction::Max:
    case Reduction::Min:
      break;
  }
  return extreme_gradients(to, g, data, updates, result);
}

}  // namespace relish::scatter
