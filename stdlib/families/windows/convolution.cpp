// Convolutions: the relation of data, kernel and windows, solved for each.
#include "stdlib/families/windows/convolution.h"

#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/language/pace.h"
#include "support/held_vector.h"

namespace relish::convolution {
namespace {

using windows::Axis;
using windows::Layout;

constexpr std::size_t index_of(Role role) { return static_cast<std::size_t>(role); }

// Spatial dimensions of a call: the member's, or the letters of data_layout without N and C.
int rank_of(const CallView& call, const Member& member) {
  if (member.rank > 0) return member.rank;
  const int letters = windows::letters_of(call.string_attribute("data_layout"));
  if (letters < 3 || letters > 5) {
    call.reject("layout", call.span, fmt::format("data_layout has {} letters, expected 3, 4 or 5", letters));
  }
  return letters - 2;
}

// What the attributes say. Dims of the three tensors are in the order (N, C, spatial), (O, I, spatial).
struct Geometry {
  int rank;
  std::vector<Axis> axes;
  std::int64_t groups;
  std::array<Layout, 3> layouts;

  const Layout& layout(Role role) const { return layouts[index_of(role)]; }
};

std::array<Layout, 3> layouts_of(const CallView& call, const Member& member, int rank) {
  const std::string spatial(windows::spatial_letters(rank));
  constexpr windows::Blocks blocks = windows::Blocks::Allowed;
  const Layout data(call, "data_layout", "NC" + spatial, nullptr, blocks);
  // In a transposed convolution the input channels are those of Y, which the relation calls O.
  const Layout kernel(call, "kernel_layout", (member.transposed ? "IO" : "OI") + spatial, nullptr, blocks);
  const Layout out(call, "out_layout", "NC" + spatial, &data, blocks);
  if (member.transposed) return {out, kernel, data};
  return {data, kernel, out};
}

Geometry geometry_of(const CallView& call, const Member& member) {
  const int rank = rank_of(call, member);
  const std::int64_t groups = call.int_attribute("groups");
  if (groups < 1) call.reject("groups", call.span, fmt::format("groups is {}, expected at least 1", groups));
  return {rank, windows::axes(call, rank), groups, layouts_of(call, member, rank)};
}

// An equation between dims, with the words for its failure.
struct Equation {
  Scalar left, right;
  std::string_view constraint;
  std::string what;
};

using Known = std::array<std::optional<Dims>, 3>;

// All that must hold between the dims that are known.
std::vector<Equation> equations(const Geometry& geometry, const Member& member, const Known& known) {
  std::vector<Equation> result;
  const auto& x = known[index_of(Role::Data)];
  const auto& w = known[index_of(Role::Kernel)];
  const auto& y = known[index_of(Role::Windows)];
  const Scalar groups(geometry.groups);
  if (x && y) result.push_back({(*x)[0], (*y)[0], "batch", "batches differ"});
  if (x && w) {
    const std::string per_group = geometry.groups == 1 ? "" : fmt::format(" in {} groups", geometry.groups);
    result.push_back({(*x)[1], canonical((*w)[1] * groups), "channels",
                      member.transposed ? "channels of the result do not fit the kernel's" + per_group
                                        : "channels of the data do not fit the kernel's" + per_group});
  }
  if (w && y) {
    result.push_back({(*w)[0], (*y)[1], "channels",
                      member.transposed ? "channels of the data do not fit the kernel's"
                                        : "channels of the windows do not fit the kernel's"});
  }
  if (w && geometry.groups > 1) {
    result.push_back({canonical(floor_mod((*w)[0], groups)), Scalar(0), "groups",
                      fmt::format("kernels are not a multiple of the {} groups", geometry.groups)});
  }
  if (x && w && y && !member.transposed) {
    for (std::size_t i = 0; i < geometry.axes.size(); ++i) {
      result.push_back({(*y)[2 + i], geometry.axes[i].count((*x)[2 + i], (*w)[2 + i]), "windows",
                        fmt::format("spatial dimension {} has another number of windows", i)});
    }
  }
  return result;
}

void check(const CallView& call, const std::vector<Equation>& equations) {
  for (const Equation& equation : equations) {
    if (!prove_different(equation.left, equation.right)) continue;
    call.reject(equation.constraint, call.span,
                fmt::format("{}: {} against {}", equation.what, print(equation.left), print(equation.right)));
  }
}

bool is_below(const Scalar& value, std::int64_t least) {
  const auto known = value.as_int();
  return known && *known < least;
}

// The attribute output_padding: positions of X behind the last window.
windows::Sizes extra_sizes(const CallView& call, const Geometry& geometry) {
  const windows::Sizes extra = windows::sizes(call, "output_padding", geometry.rank, 0);
  for (std::size_t i = 0; i < extra.size(); ++i) {
    if (extra[i] < geometry.axes[i].stride) continue;
    call.reject("output_padding", call.span,
                fmt::format("output_padding has {}, expected less than the stride {}", extra[i],
                            geometry.axes[i].stride));
  }
  return extra;
}

// The dims of Y for a convolution, of X for a transposed one; rejects what does not fit.
Dims computed_dims(const CallView& call, const Geometry& geometry, const Member& member, const Dims& operand,
                   const Dims& kernel) {
  Dims dims = {operand[0], member.transposed ? canonical(kernel[1] * Scalar(geometry.groups)) : kernel[0]};
  const windows::Sizes extra = member.transposed ? extra_sizes(call, geometry) : windows::Sizes();
  for (std::size_t i = 0; i < geometry.axes.size(); ++i) {
    const Axis& axis = geometry.axes[i];
    const Scalar& in = operand[2 + i];
    const Scalar& size = kernel[2 + i];
    if (is_below(size, 1)) {
      call.reject(
          "kernel", call.span_of(1),
          fmt::format("spatial dimension {} of the kernel is {}, expected at least 1", i, print(size)));
    }
    if (!member.transposed) {
      dims.push_back(axis.count(in, size));
      if (is_below(dims.back(), 1)) {
        call.reject(
            "kernel", call.span,
            fmt::format("spatial dimension {}: the kernel spans {} and the padded data {}", i,
                        print(axis.span(size)), print(canonical(in + Scalar(axis.before + axis.after)))));
      }
      continue;
    }
    dims.push_back(canonical((in - Scalar(1)) * Scalar(axis.stride) + axis.span(size) +
                             Scalar(extra[i] - axis.before - axis.after)));
    if (is_below(in, 1) || is_below(dims.back(), 0)) {
      call.reject("padding", call.span,
                  fmt::format("spatial dimension {} of data is {}, which gives {}", i, print(in),
                              print(dims.back())));
    }
  }
  return dims;
}

std::optional<DType> dtype_of(const CallView& call, const Member& member) {
  require_number(call, 0);
  require_number(call, 1);
  if (!member.sized) {
    if (const auto dtype = dtype_attribute(call, "out_dtype")) {
      if (is_bool(*dtype)) call.reject("dtype", call.span, "out_dtype is bool, expected a dtype of numbers");
      return dtype;
    }
  }
  return common_dtype(call, 0, 1);
}

// The dims of the operands, and of the target when it is an argument.
Known known_of(const CallView& call, const Geometry& geometry, const Member& member) {
  Known known;
  for (std::size_t i = 0; i < 2; ++i) {
    known[index_of(member.operands[i])] = geometry.layout(member.operands[i]).dims(call, i);
  }
  if (member.sized) {
    const BroadcastShape shape = shape_argument(call, 2);
    const Layout& layout = geometry.layout(member.target);
    if (shape.rank >= 0 && shape.rank != layout.rank()) {
      call.reject("rank", call.span_of(2),
                  fmt::format("the shape has rank {}, expected {}", shape.rank, layout.rank()));
    }
    if (shape.dims) {
      layout.require(call, call.span_of(2), "the shape", *shape.dims);
      known[index_of(member.target)] = layout.ordered(*shape.dims);
    }
  }
  return known;
}

}  // namespace

Type infer(const CallView& call, const Member& member) {
  const std::optional<DType> dtype = dtype_of(call, member);
  const Geometry geometry = geometry_of(call, member);
  if (member.transposed) extra_sizes(call, geometry);
  const Known known = known_of(call, geometry, member);
  check(call, equations(geometry, member, known));
  if (member.sized) return tensor_of(shape_argument(call, 2), dtype);
  const auto& operand = known[index_of(member.operands[0])];
  const auto& kernel = known[index_of(Role::Kernel)];
  const Layout& layout = geometry.layout(member.target);
  if (!operand || !kernel) return TensorType{dtype, std::nullopt, layout.rank()};
  const Dims dims = computed_dims(call, geometry, member, *operand, *kernel);
  return TensorType{dtype, layout.stored(call, dims), layout.rank()};
}

// --- Evaluation: every term of the relation once, added to the target.

namespace {

struct View {
  Shape dims;  // in the relation's order, as the steps
  windows::Steps strides;
};

View view_of(const Shape& shape, const Layout& layout) {
  return {layout.ordered(shape), layout.steps(shape)};
}

// Calls term(x, w, y) with the offsets of every triple that the relation ties.
template <class Term>
void for_each_term(const Geometry& geometry, const View& x, const View& w, const View& y, Term&& term) {
  const Shape kernel(w.dims.begin() + 2, w.dims.end()), places(y.dims.begin() + 2, y.dims.end());
  const std::int64_t kernels = w.dims[0] / geometry.groups;  // of one group
  Pace pace;
  windows::for_each_index({y.dims[0], w.dims[0], w.dims[1]}, [&](const Shape& outer) {
    const std::int64_t o = outer[1], i = outer[2], c = o / kernels * w.dims[1] + i;
    const std::int64_t at_x = outer[0] * x.strides[0] + c * x.strides[1];
    const std::int64_t at_w = o * w.strides[0] + i * w.strides[1];
    const std::int64_t at_y = outer[0] * y.strides[0] + o * y.strides[1];
    windows::for_each_index(places, [&](const Shape& p) {
      windows::for_each_index(kernel, [&](const Shape& k) {
        pace();
        std::int64_t in_x = at_x, in_w = at_w, in_y = at_y;
        for (std::size_t d = 0; d < p.size(); ++d) {
          const Axis& axis = geometry.axes[d];
          const std::int64_t q = p[d] * axis.stride - axis.before + k[d] * axis.dilation;
          if (q < 0 || q >= x.dims[2 + d]) return;
          in_x += q * x.strides[2 + d];
          in_w += k[d] * w.strides[2 + d];
          in_y += p[d] * y.strides[2 + d];
        }
        term(in_x, in_w, in_y);
      });
    });
  });
}

}  // namespace

Value evaluate(const EvalCall& c, const Member& member) {
  const Geometry geometry = geometry_of(c.call, member);
  const DType dtype = *c.result_type.tensor()->dtype;
  const Tensor first = convert_tensor(c.in(0), dtype), second = convert_tensor(c.in(1), dtype);
  Tensor result = Tensor::empty(dtype, result_shape(c));
  std::array<View, 3> views;
  views[index_of(member.target)] = view_of(result.shape(), geometry.layout(member.target));
  views[index_of(member.operands[0])] = view_of(first.shape(), geometry.layout(member.operands[0]));
  views[index_of(member.operands[1])] = view_of(second.shape(), geometry.layout(member.operands[1]));
  visit_dtype(dtype, [&](auto element) {
    using T = decltype(element);
    const T* a = first.view<T>().data();
    const T* b = second.view<T>().data();
    HeldVector<Sum<T>> totals(result.size(), "the sums of a convolution");
    for_each_term(
        geometry, views[0], views[1], views[2], [&](std::int64_t x, std::int64_t w, std::int64_t y) {
          const std::array<std::int64_t, 3> at = {x, w, y};
          Sum<T>& total = totals[static_cast<std::size_t>(at[index_of(member.target)])];
          total = total +
                  to_sum(a[at[index_of(member.operands[0])]]) * to_sum(b[at[index_of(member.operands[1])]]);
        });
    T* target = result.mutable_view<T>().data();
    for (const Sum<T>& total : totals) *target++ = from_sum<T>(total);
  });
  return result;
}

// --- Lowering: for each element of the target a sum over the indices that it leaves free.

namespace {

class Nest {
 public:
  Nest(const LowerCall& call, const Member& member)
      : member_(member), geometry_(geometry_of(call.call, member)), lowering_(call) {
    std::array<Buffer, 3> buffers;
    for (std::size_t i = 0; i < 2; ++i) buffers[index_of(member.operands[i])] = lowering_.input(i);
    buffers[index_of(member.target)] = result_ = lowering_.output();
    Known known;
    for (std::size_t i = 0; i < 3; ++i) {
      dims_[i] = geometry_.layouts[i].ordered(buffers[i].shape());
      known[i] = dims_[i];
    }
    buffers_ = buffers;
    for (const Equation& equation : equations(geometry_, member, known)) {
      lowering_.require_equal(equation.left, equation.right,
                              fmt::format("{}: {}", short_name_of(call.call.op), equation.what));
    }
    for (std::size_t i = 0; i < geometry_.axes.size() && !member.sized; ++i) {
      require_at_least_one(call.call, dims(Role::Kernel)[2 + i], i, "the kernel has no position");
      require_at_least_one(call.call, dims(Role::Windows)[2 + i], i, "there is no window");
    }
  }

  PrimFunc build() {
    const DType wide = compute_dtype(result_.dtype());
    const Layout& layout = geometry_.layout(member_.target);
    const Buffer total =
        wide == result_.dtype() ? result_ : lowering_.temporary("total", result_.shape(), wide);
    lowering_.reduce("convolution", total, result_.shape(), free_extents(),
                     [&](const Dims& s, const Dims& r) { return term(wide, layout.ordered_index(s), r); });
    if (!(total == result_)) {
      lowering_.map("round", result_, [&](const Dims& i) { return lowering_.loops().load(total, i); });
    }
    return lowering_.finish();
  }

 private:
  const Dims& dims(Role role) const { return dims_[index_of(role)]; }
  // Kernels of one group.
  Scalar kernels() const {
    return geometry_.groups == 1 ? dims(Role::Kernel)[0]
                                 : canonical(floor_div(dims(Role::Kernel)[0], Scalar(geometry_.groups)));
  }

  void require_at_least_one(const CallView& call, const Scalar& dim, std::size_t i, std::string_view what) {
    if (dim.as_int().value_or(0) >= 1) return;
    lowering_.require(compare(CompareOp::Ge, dim, Scalar(1)),
                      fmt::format("{}: {} in spatial dimension {}", short_name_of(call.op), what, i));
  }

  // The indices that an element of the target does not fix.
  Dims free_extents() const {
    Dims extents;
    const auto spatial = [&](Role role) {
      extents.insert(extents.end(), dims(role).begin() + 2, dims(role).end());
    };
    switch (member_.target) {
      case Role::Data:
        extents.push_back(kernels());
        spatial(Role::Kernel);
        break;
      case Role::Kernel:
        extents.push_back(dims(Role::Windows)[0]);
        spatial(Role::Windows);
        break;
      case Role::Windows:
        extents.push_back(dims(Role::Kernel)[1]);
        spatial(Role::Kernel);
        break;
    }
    return extents;
  }

  Scalar load(DType dtype, Role role, const Dims& index) const {
    const Scalar value = lowering_.load_as(result_.dtype(), buffers_[index_of(role)],
                                           geometry_.layout(role).stored_index(index));
    return cast(dtype, value);
  }

  Scalar term(DType wide, const Dims& s, const Dims& r) const {
    const Scalar inputs = dims(Role::Kernel)[1];  // of one group
    std::vector<Scalar> conditions;
    // Channel of the data that is input `i` of kernel `o`.
    const auto channel = [&](const Scalar& o, const Scalar& i) {
      return geometry_.groups == 1 ? i : floor_div(o, kernels()) * inputs + i;
    };
    if (member_.target == Role::Data) {
      const Scalar group = geometry_.groups == 1 ? Scalar(0) : floor_div(s[1], inputs);
      const Scalar o = geometry_.groups == 1 ? r[0] : group * kernels() + r[0];
      Dims w = {o, geometry_.groups == 1 ? s[1] : floor_mod(s[1], inputs)}, y = {s[0], o};
      for (std::size_t d = 0; d < geometry_.axes.size(); ++d) {
        const Axis& axis = geometry_.axes[d];
        Scalar from = axis.dilation == 1 ? r[1 + d] : r[1 + d] * Scalar(axis.dilation);
        from = s[2 + d] + Scalar(axis.before) - from;
        const Scalar p = axis.stride == 1 ? from : floor_div(from, Scalar(axis.stride));
        conditions.push_back(compare(CompareOp::Ge, from, Scalar(0)));
        conditions.push_back(p < dims(Role::Windows)[2 + d]);
        if (axis.stride > 1) conditions.push_back(equal(floor_mod(from, Scalar(axis.stride)), Scalar(0)));
        w.push_back(r[1 + d]);
        y.push_back(p);
      }
      return windows::guarded(windows::all_of(conditions),
                              load(wide, Role::Windows, y) * load(wide, Role::Kernel, w));
    }
    const bool kernel_free = member_.target == Role::Windows;
    const Scalar o = kernel_free ? s[1] : s[0];
    const Scalar i = kernel_free ? r[0] : s[1];
    const Scalar n = kernel_free ? s[0] : r[0];
    Dims x = {n, channel(o, i)}, other = kernel_free ? Dims{o, i} : Dims{n, o};
    for (std::size_t d = 0; d < geometry_.axes.size(); ++d) {
      const Axis& axis = geometry_.axes[d];
      const Scalar p = kernel_free ? s[2 + d] : r[1 + d];
      const Scalar k = kernel_free ? r[1 + d] : s[2 + d];
      const Scalar q = axis.position(p, k);
      if (axis.before > 0) conditions.push_back(compare(CompareOp::Ge, q, Scalar(0)));
      if (axis.after > 0) conditions.push_back(q < dims(Role::Data)[2 + d]);
      x.push_back(q);
      other.push_back(kernel_free ? k : p);
    }
    return windows::guarded(
        windows::all_of(conditions),
        load(wide, Role::Data, x) * load(wide, kernel_free ? Role::Kernel : Role::Windows, other));
  }

  const Member& member_;
  Geometry geometry_;
  Lowering lowering_;
  std::array<Buffer, 3> buffers_;
  std::array<Dims, 3> dims_;
  Buffer result_;
};

}  // namespace

PrimFunc lower(const LowerCall& call, const Member& member) { return Nest(call, member).build(); }

// --- Gradient: the partial for one of the three is the family's member that computes it.

namespace {

Attributes attributes_of(const Geometry& geometry, const Member& member) {
  const Layout& kernel = geometry.layout(Role::Kernel);
  return {{"strides", windows::strides_attribute(geometry.axes)},
          {"padding", windows::padding_attribute(geometry.axes)},
          {"dilation", windows::dilation_attribute(geometry.axes)},
          {"groups", geometry.groups},
          {"data_layout", geometry.layout(Role::Data).text()},
          {"kernel_layout", member.transposed ? kernel.exchanged('I', 'O') : kernel.text()},
          {"out_layout", geometry.layout(Role::Windows).text()}};
}

// The output_padding with which a transposed convolution gives data of these dims; absent when it depends on
// symbolic dims.
std::optional<windows::Sizes> output_padding(const Geometry& geometry, const Dims& x, const Dims& w,
                                             const Dims& y) {
  windows::Sizes result;
  for (std::size_t i = 0; i < geometry.axes.size(); ++i) {
    const Axis& axis = geometry.axes[i];
    const Scalar least =
        (y[2 + i] - Scalar(1)) * Scalar(axis.stride) + axis.span(w[2 + i]) - Scalar(axis.before + axis.after);
    const auto extra = canonical(x[2 + i] - least).as_int();
    if (!extra || *extra < 0 || *extra >= axis.stride) return std::nullopt;
    result.push_back(*extra);
  }
  return result;
}

}  // namespace

Partials vjp(const VjpCall& c, const Member& member) {
  const GradientRule rule(c);
  const Geometry geometry = geometry_of(c.call, member);
  const std::optional<DType> out_dtype = member.sized ? std::nullopt : dtype_attribute(c.call, "out_dtype");
  const auto as_dtype = [](const GraphValue& x, std::optional<DType> dtype) {
    return !dtype || x.type().dtype == dtype ? x : call_op("astype", {x}, {{"dtype", *dtype}});
  };
  // The three tensors: the operands, and in the target's place its cotangent.
  std::array<std::optional<GraphValue>, 3> values;
  values[index_of(member.target)] = rule.cotangent();
  for (std::size_t i = 0; i < 2; ++i)
    values[index_of(member.operands[i])] = as_dtype(rule.argument(i), out_dtype);
  const auto value = [&](Role role) -> const GraphValue& { return *values[index_of(role)]; };

  const auto toward = [&](Role role, std::size_t argument) {
    Attributes attributes = attributes_of(geometry, member);
    if (role == Role::Windows) {
      attributes.emplace_back("out_dtype", Attribute());
      return call_op(fmt::format("nn.conv{}d", geometry.rank), {value(Role::Data), value(Role::Kernel)},
                     std::move(attributes));
    }
    if (role == Role::Kernel) {
      return call_op("grad.conv_weight", {value(Role::Windows), value(Role::Data), rule.shape(argument)},
                     std::move(attributes));
    }
    const auto dims = [&](Role r) { return known_dims(value(r).type()); };
    const auto w = dims(Role::Kernel), y = dims(Role::Windows);
    const Dims x = rule.dims(argument);
    if (w && y) {
      const auto extra = output_padding(geometry, geometry.layout(Role::Data).ordered(x),
                                        geometry.layout(Role::Kernel).ordered(*w),
                                        geometry.layout(Role::Windows).ordered(*y));
      if (extra) {
        const Layout& layout = geometry.layout(Role::Kernel);
        const std::string kernel = member.transposed ? layout.text() : layout.exchanged('I', 'O');
        return call_op(fmt::format("nn.conv{}d_transpose", geometry.rank),
                       {value(Role::Windows), value(Role::Kernel)},
                       {{"strides", *find_attribute(attributes, "strides")},
                        {"padding", *find_attribute(attributes, "padding")},
                        {"output_padding", attribute_of(*extra)},
                        {"dilation", *find_attribute(attributes, "dilation")},
                        {"groups", geometry.groups},
                        {"data_layout", geometry.layout(Role::Windows).text()},
                        {"kernel_layout", kernel},
                        {"out_layout", geometry.layout(Role::Data).text()},
                        {"out_dtype", Attribute()}});
      }
    }
    return call_op("grad.conv_data", {value(Role::Windows), value(Role::Kernel), rule.shape(argument)},
                   std::move(attributes));
  };

  Partials partials(member.sized ? 3 : 2);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!rule.differentiable(i)) continue;
    partials[i] = as_dtype(toward(member.operands[i], i), c.call.tensor(i).dtype).expr();
  }
  return partials;
}

}  // namespace relish::convolution
