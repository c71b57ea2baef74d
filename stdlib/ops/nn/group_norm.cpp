// Group and instance normalization: statistics of some or of single channels.
#include "ir/printer/printer.h"
#include "stdlib/families/reductions/normalization.h"

namespace relish::ops_nn_group_norm {
namespace {

constexpr Param group_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"gamma", ParamKind::Tensor, "tensor", "", "factors of the channels, of rank 1"},
    {"beta", ParamKind::Tensor, "tensor", "", "what is added to the channels, of rank 1"},
    {"num_groups", ParamKind::Attribute, "int", "", "number of groups of channels"},
    {"channel_axis", ParamKind::Attribute, "int", "", "axis of the channels"},
    {"axes", ParamKind::Attribute, "int or list[int]", "", "axes of one group beside that of the channels"},
    {"epsilon", ParamKind::Attribute, "float", "1e-05", "added to the variance"},
    {"center", ParamKind::Attribute, "bool", "True", "whether beta is added"},
    {"scale", ParamKind::Attribute, "bool", "True", "whether gamma multiplies"}};
constexpr Param instance_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"gamma", ParamKind::Tensor, "tensor", "", "factors of the channels, of rank 1"},
    {"beta", ParamKind::Tensor, "tensor", "", "what is added to the channels, of rank 1"},
    {"channel_axis", ParamKind::Attribute, "int", "", "axis of the channels"},
    {"axes", ParamKind::Attribute, "int or list[int]", "", "axes of one group; not that of the channels"},
    {"epsilon", ParamKind::Attribute, "float", "1e-05", "added to the variance"},
    {"center", ParamKind::Attribute, "bool", "True", "whether beta is added"},
    {"scale", ParamKind::Attribute, "bool", "True", "whether gamma multiplies"}};

// What both have: the channel axis, and the averaged axes, which do not hold it.
struct Axes {
  int channel;
  std::vector<int> averaged;
};
Axes axes_of_call(const CallView& call, int rank) {
  const int channel = normal_axis(call, call.int_attribute("channel_axis"), rank);
  std::vector<int> averaged = axes_of(call, "axes", rank);
  if (contains(averaged, channel))
    call.reject("channels", call.span, fmt::format("axes contain the channel axis {}", channel));
  return {channel, std::move(averaged)};
}

void use_parameters(const CallView& call, Normalization& n) {
  n.epsilon = normalization::epsilon_of(call);
  if (normalization::flag(call, "scale")) n.gamma = 1;
  if (normalization::flag(call, "center")) n.beta = 2;
}

std::int64_t groups_of(const CallView& call) {
  const std::int64_t groups = call.int_attribute("num_groups");
  if (groups < 1)
    call.reject("groups", call.span, fmt::format("num_groups is {}, expected at least 1", groups));
  return groups;
}

Normalization group_norm_of(const CallView& call, int rank) {
  const Axes axes = axes_of_call(call, rank);
  Normalization n;
  n.split = axes.channel;
  n.groups = groups_of(call);
  // In the view the channels of a group stand behind the groups, and all later axes one further on.
  for (int axis : axes.averaged) n.axes.push_back(axis < axes.channel ? axis : axis + 1);
  n.axes.push_back(axes.channel + 1);
  std::sort(n.axes.begin(), n.axes.end());
  n.weighted = {axes.channel, axes.channel + 1};
  use_parameters(call, n);
  return n;
}

Normalization instance_norm_of(const CallView& call, int rank) {
  const Axes axes = axes_of_call(call, rank);
  Normalization n;
  n.axes = axes.averaged;
  n.weighted = {axes.channel};
  use_parameters(call, n);
  return n;
}

template <bool grouped>
Type infer(const CallView& call) {
  require_float(call, 0);
  const TensorType& data = call.tensor(0);
  normalization::epsilon_of(call);
  std::optional<Dims> expected;
  if constexpr (grouped) groups_of(call);
  if (const int rank = shape_of(data).rank; rank >= 0) {
    const Axes axes = axes_of_call(call, rank);
    expected = normalization::dims_at(call, {axes.channel});
    if constexpr (grouped) {
      if (expected && prove_different(floor_mod(expected->front(), Scalar(groups_of(call))), Scalar(0))) {
        call.reject("groups", call.span,
                    fmt::format("{} channels do not split into {} groups", print(expected->front()),
                                groups_of(call)));
      }
    }
  }
  normalization::require_parameter(call, 1, expected);
  normalization::require_parameter(call, 2, expected);
  return data;
}

template <bool grouped>
Normalization norm_of(const CallView& call, int rank) {
  return grouped ? group_norm_of(call, rank) : instance_norm_of(call, rank);
}

template <bool grouped>
Value evaluate(const EvalCall& c) {
  const Normalization n = norm_of<grouped>(c.call, c.in(0).rank());
  const Axes axes = axes_of_call(c.call, c.in(0).rank());
  const std::int64_t channels = c.in(0).shape()[static_cast<std::size_t>(axes.channel)];
  if (channels % n.groups != 0) {
    fail(ErrorClass::Runtime, c.call.span, "group_norm.groups",
         fmt::format("group_norm: {} channels do not split into {} groups", channels, n.groups));
  }
  normalization::require_shape(c, 1, {channels});
  normalization::require_shape(c, 2, {channels});
  return normalization::evaluate(c, n);
}

template <bool grouped>
PrimFunc lower(const LowerCall& c) {
  return normalization::lower(c, norm_of<grouped>(c.call, shape_of(c.call.tensor(0)).rank));
}

template <bool grouped>
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  return normalization::vjp(c, norm_of<grouped>(c.call, static_cast<int>(rule.dims(0).size())));
}

constexpr Sample group_samples[] = {
    {"[[[1.0], [3.0], [2.0], [-2.0]]], [1.0, 2.0, 1.0, 1.0], [0.5, 0.0, 0.0, 1.0], num_groups=2, "
     "channel_axis=1, axes=[2], epsilon=0.0",
     "[[[-0.5], [2.0], [1.0], [0.0]]]"},
    {"rand((2, 6, 3), \"float64\"), rand((6,), \"float64\"), rand((6,), \"float64\"), 3, 1, [2]"},
    {"rand((2, 3, 4), \"float64\"), rand((4,), \"float64\"), rand((4,), \"float64\"), num_groups=2, "
     "channel_axis=-1, axes=[1], epsilon=0.1, scale=False"},
    {"rand((2, 4, 1, 3), \"float32\"), rand((4,), \"float32\"), rand((4,), \"float32\"), num_groups=1, "
     "channel_axis=1, axes=[-2, -1], center=False"},
    {"rand((4, 2), \"float32\"), rand((4,), \"float32\"), rand((4,), \"float32\"), num_groups=2, "
     "channel_axis=0, axes=[1], center=False, scale=False"},
    {"rand((0, 4, 3), \"float32\"), rand((4,), \"float32\"), rand((4,), \"float32\"), num_groups=2, "
     "channel_axis=1, axes=[2]"},
    {"rand((2, 3, 1), \"float32\"), rand((3,), \"float32\"), rand((3,), \"float32\"), num_groups=3, "
     "channel_axis=1, axes=[2], epsilon=0.1"},
};
constexpr Sample instance_samples[] = {
    {"[[[1.0, 3.0], [2.0, -2.0]]], [1.0, 2.0], [0.5, 0.0], channel_axis=1, axes=[2], epsilon=0.0",
     "[[[-0.5, 1.5], [2.0, -2.0]]]"},
    {"rand((2, 3, 4), \"float64\"), rand((3,), \"float64\"), rand((3,), \"float64\"), 1, [2]"},
    {"rand((2, 2, 3, 4), \"float64\"), rand((4,), \"float64\"), rand((4,), \"float64\"), channel_axis=-1, "
     "axes=[1, 2], epsilon=0.1, scale=False"},
    {"rand((2, 4, 1, 3), \"float32\"), rand((4,), \"float32\"), rand((4,), \"float32\"), channel_axis=1, "
     "axes=[-2, -1], center=False"},
    {"rand((0, 4, 3), \"float32\"), rand((4,), \"float32\"), rand((4,), \"float32\"), channel_axis=1, "
     "axes=[2]"},
    {"rand((2, 3, 1), \"float32\"), rand((3,), \"float32\"), rand((3,), \"float32\"), channel_axis=1, "
     "axes=[2], epsilon=0.1, center=False, scale=False"},
};
constexpr Reject group_rejects[] = {
    {"group_norm.groups",
     "rand((2, 4, 3), \"float32\"), rand((4,), \"float32\"), rand((4,), \"float32\"), 3, 1, [2]",
     "4 channels do not split into 3 groups"},
    {"group_norm.groups",
     "rand((2, 4, 3), \"float32\"), rand((4,), \"float32\"), rand((4,), \"float32\"), 0, 1, [2]",
     "num_groups is 0"},
    {"group_norm.channels",
     "rand((2, 4, 3), \"float32\"), rand((4,), \"float32\"), rand((4,), \"float32\"), 2, 1, [1, 2]",
     "contain the channel axis 1"},
    {"group_norm.shape",
     "rand((2, 4, 3), \"float32\"), rand((3,), \"float32\"), rand((4,), \"float32\"), 2, 1, [2]",
     "expected the shape (4,)"},
    {"group_norm.axis",
     "rand((2, 4, 3), \"float32\"), rand((4,), \"float32\"), rand((4,), \"float32\"), 2, 3, [2]",
     "out of range"},
};
constexpr Reject instance_rejects[] = {
    {"instance_norm.channels",
     "rand((2, 4, 3), \"float32\"), rand((4,), \"float32\"), rand((4,), \"float32\"), 1, [1, 2]",
     "contain the channel axis 1"},
    {"instance_norm.shape",
     "rand((2, 4, 3), \"float32\"), rand((4,), \"float32\"), rand((3,), \"float32\"), 1, [2]",
     "expected the shape (4,)"},
    {"instance_norm.dtype",
     "rand((2, 4, 3), \"float32\"), rand((4,), \"float32\"), rand((4,), \"float16\"), 1, [2]",
     "expected the same"},
};
constexpr std::string_view gradient =
    "as nn.layer_norm, with means over a group and sums for dgamma and dbeta over all but the channels";

}  // namespace

extern const Op op_nn_group_norm{
    .name = "nn.group_norm",
    .summary = "Mean 0 and variance 1 over groups of channels, then a factor and a term for each channel.",
    .params = group_params,
    .infer = infer<true>,
    .eval = evaluate<true>,
    .lower = lower<true>,
    .vjp = vjp<true>,
    .gradient_doc = gradient,
    .agreement = Agreement::Composite,
    .samples = group_samples,
    .rejects = group_rejects,
    .doc =
        "Channels are cut into num_groups groups of neighbours. Mean and population variance are taken over "
        "the channels of a group and over `axes`, which exclude the channel axis; other axes, such as the "
        "batch's, keep statistics of their own. center=False leaves out beta, scale=False gamma."};

extern const Op op_nn_instance_norm{
    .name = "nn.instance_norm",
    .summary = "Mean 0 and variance 1 over axes of each channel, then a factor and a term for each channel.",
    .params = instance_params,
    .infer = infer<false>,
    .eval = evaluate<false>,
    .lower = lower<false>,
    .vjp = vjp<false>,
    .gradient_doc = gradient,
    .agreement = Agreement::Composite,
    .samples = instance_samples,
    .rejects = instance_rejects,
    .doc =
        "Mean and population variance are taken over `axes`, which exclude the channel axis. center=False "
        "leaves out beta, scale=False gamma."};

}  // namespace relish::ops_nn_group_norm
