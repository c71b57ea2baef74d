// The tables, in TVM's order.
#include "stdlib/surface.h"

#include <algorithm>

#include "ir/operators/op_suggestion.h"
#include "stdlib/foreign_names.h"

namespace relish {
namespace {

constexpr std::string_view core_names[] = {
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "sigmoid",
    "tanh",
    "sin",
    "cos",
    "erf",
    "abs",
    "negative",
    "square",
    "sign",
    "floor",
    "ceil",
    "round",
    "trunc",
    "clip",
    "add",
    "subtract",
    "multiply",
    "divide",
    "power",
    "maximum",
    "minimum",
    "floor_divide",
    "mod",
    "floor_mod",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "where",
    "full",
    "full_like",
    "ones",
    "zeros",
    "ones_like",
    "zeros_like",
    "arange",
    "tril",
    "triu",
    "one_hot",
    "astype",
    "reshape",
    "permute_dims",
    "expand_dims",
    "squeeze",
    "flatten",
    "broadcast_to",
    "concat",
    "split",
    "stack",
    "repeat",
    "tile",
    "flip",
    "collapse_sum_to",
    "collapse_sum_like",
    "gather_elements",
    "scatter_elements",
    "take",
    "strided_slice",
    "argmax",
    "argmin",
    "sum",
    "mean",
    "max",
    "min",
    "prod",
    "variance",
    "std",
    "cumsum",
    "matmul",
    "grad.no_grad",
    "grad.start_checkpoint",
    "grad.end_checkpoint",
    "grad.nll_loss_backward",
    "grad.take_backward",
    "print",
    "assert_op",
    "shape_of",
    "tensor_to_shape",
    "shape_to_tensor",
};
constexpr std::string_view nn_names[] = {
    "linear",
    "nn.relu",
    "nn.relu6",
    "nn.leakyrelu",
    "nn.prelu",
    "nn.gelu",
    "nn.gelu_tanh",
    "nn.silu",
    "nn.selu",
    "nn.softplus",
    "nn.softmax",
    "nn.log_softmax",
    "nn.conv1d",
    "nn.conv2d",
    "nn.conv3d",
    "nn.conv1d_transpose",
    "nn.conv2d_transpose",
    "nn.conv3d_transpose",
    "nn.max_pool1d",
    "nn.avg_pool1d",
    "nn.adaptive_avg_pool1d",
    "nn.max_pool2d",
    "nn.avg_pool2d",
    "nn.adaptive_avg_pool2d",
    "nn.max_pool3d",
    "nn.avg_pool3d",
    "nn.adaptive_avg_pool3d",
    "nn.batch_norm",
    "nn.layer_norm",
    "nn.group_norm",
    "nn.instance_norm",
    "nn.rms_norm",
    "nn.dropout",
    "nn.pad",
    "nn.batch_flatten",
    "nn.cross_entropy_with_logits",
    "nn.nll_loss",
    "grad.max_pool2d_backward",
    "grad.avg_pool2d_backward",
};
constexpr std::string_view ext_names[] = {
    "tan",
    "sinh",
    "cosh",
    "asin",
    "acos",
    "atan",
    "asinh",
    "acosh",
    "atanh",
    "bitwise_not",
    "logical_not",
    "isfinite",
    "isinf",
    "isnan",
    "log_add_exp",
    "atan2",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
    "ewise_fma",
    "masked_fill",
    "eye",
    "eye_like",
    "gather_nd",
    "scatter_nd",
    "index_tensor",
    "index_put",
    "slice_scatter",
    "meshgrid",
    "dynamic_strided_slice",
    "bucketize",
    "sort",
    "argsort",
    "topk",
    "median",
    "cumprod",
    "einsum",
    "outer",
    "nn.pixel_shuffle",
    "nn.attention",
    "nn.attention_bias",
    "size",
    "image.resize2d",
};
constexpr std::string_view exotic_names[] = {
    "hamming_window",
    "wrap_param",
    "layout_transform",
    "reverse_sequence",
    "unique",
    "nonzero",
    "multinomial_from_uniform",
    "nn.attention_var_len",
    "to_vdevice",
    "hint_on_device",
    "inspect.tensor_ndim",
    "inspect.tensor_shape_i",
    "inspect.tensor_dtype_code",
    "inspect.tensor_dtype_bits",
    "inspect.tensor_dtype_lanes",
    "inspect.tensor_stride_i",
    "inspect.tensor_byte_offset",
    "inspect.tensor_elem_offset",
    "quantize",
    "dequantize",
    "image.resize3d",
    "image.grid_sample",
    "image.affine_grid",
    "vision.all_class_non_max_suppression",
    "vision.get_valid_counts",
    "vision.non_max_suppression",
    "vision.multibox_transform_loc",
    "vision.roi_align",
    "vision.roi_pool",
    "ccl.allreduce",
    "ccl.allgather",
    "ccl.broadcast_from_worker0",
    "ccl.scatter_from_worker0",
    "dist.annotate_sharding",
    "dist.redistribute",
    "dist.redistribute_replica_to_shard",
};
constexpr std::string_view vm_names[] = {
    "builtin.alloc_tensor", "builtin.stop_lift_params", "memory.alloc_storage", "memory.alloc_tensor",
    "memory.kill_storage",  "memory.kill_tensor",       "memory.view",          "memory.ensure_zero_offset",
    "vm.alloc_storage",     "vm.alloc_tensor",          "vm.kill_object",
};
constexpr std::string_view language_names[] = {
    "call_tir",         "call_tir_inplace",         "call_tir_with_grad",  "call_dps_packed",
    "call_pure_packed", "call_inplace_packed",      "call_py_func",        "call_builtin_with_ctx",
    "make_closure",     "invoke_closure",           "invoke_pure_closure", "null_value",
    "vm.call_tir_dyn",  "dist.call_tir_local_view",
};

constexpr FormerOperator former[] = {
    {"abs", "abs"},
    {"add", "add"},
    {"argmax", "argmax"},
    {"argmin", "argmin"},
    {"avg_pool", "nn.avg_pool2d"},
    {"batch_flatten", "nn.batch_flatten"},
    {"batch_norm", "nn.batch_norm"},
    {"bias_add", "nn.bias_add"},
    {"broadcast_to", "broadcast_to"},
    {"broadcast_to_like", "broadcast_to_like"},
    {"cast", "astype"},
    {"ceil", "ceil"},
    {"clip", "clip"},
    {"collapse_sum_like", "collapse_sum_like"},
    {"concatenate", "concat"},
    {"conv2d", "nn.conv2d"},
    {"conv2d_transpose", "nn.conv2d_transpose"},
    {"conv2d_winograd_weight_transform", "nn.conv2d_winograd_weight_transform"},
    {"conv2d_winograd_without_weight_transform", "nn.conv2d_winograd_without_weight_transform"},
    {"copy", "copy"},
    {"dense", "nn.dense"},
    {"device_copy", "to_vdevice"},
    {"divide", "divide"},
    {"dropout", "nn.dropout"},
    {"equal", "equal"},
    {"exp", "exp"},
    {"expand_dims", "expand_dims"},
    {"flatten", "flatten"},
    {"floor", "floor"},
    {"full", "full"},
    {"full_like", "full_like"},
    {"global_avg_pool", "nn.global_avg_pool2d"},
    {"global_max_pool", "nn.global_max_pool2d"},
    {"greater", "greater"},
    {"greater_equal", "greater_equal"},
    {"identity", "copy"},
    {"l2_normalize", "nn.l2_normalize"},
    {"layout_transform", "layout_transform"},
    {"leaky_relu", "nn.leakyrelu"},
    {"left_shift", "left_shift"},
    {"less", "less"},
    {"less_equal", "less_equal"},
    {"log", "log"},
    {"log_softmax", "nn.log_softmax"},
    {"lrn", "nn.lrn"},
    {"max", "max"},
    {"max_pool", "nn.max_pool2d"},
    {"maximum", "maximum"},
    {"mean", "mean"},
    {"min", "min"},
    {"minimum", "minimum"},
    {"mod", "mod"},
    {"multibox_prior", "vision.multibox_prior"},
    {"multibox_transform_loc", "vision.multibox_transform_loc"},
    {"multiply", "multiply"},
    {"negative", "negative"},
    {"nms", "vision.non_max_suppression"},
    {"not_equal", "not_equal"},
    {"on_device", "hint_on_device"},
    {"ones", "ones"},
    {"ones_like", "ones_like"},
    {"pad", "nn.pad"},
    {"power", "power"},
    {"prelu", "nn.prelu"},
    {"prod", "prod"},
    {"relu", "nn.relu"},
    {"reshape", "reshape"},
    {"reshape_like", "reshape_like"},
    {"resize", "image.resize2d"},
    {"right_shift", "right_shift"},
    {"round", "round"},
    {"sigmoid", "sigmoid"},
    {"slice_like", "slice_like"},
    {"softmax", "nn.softmax"},
    {"split", "split"},
    {"sqrt", "sqrt"},
    {"squeeze", "squeeze"},
    {"strided_slice", "strided_slice"},
    {"subtract", "subtract"},
    {"sum", "sum"},
    {"take", "take"},
    {"tanh", "tanh"},
    {"transpose", "permute_dims"},
    {"trunc", "trunc"},
    {"upsampling", "nn.upsampling"},
    {"where", "where"},
    {"zeros", "zeros"},
    {"zeros_like", "zeros_like"},
};

constexpr OperatorGroup groups[] = {
    {"core", core_names},     {"nn", nn_names}, {"ext", ext_names},
    {"exotic", exotic_names}, {"vm", vm_names}, {"language", language_names},
};

}  // namespace

std::span<const OperatorGroup> operator_groups() { return groups; }

std::string_view group_of_operator(std::string_view name) {
  for (const OperatorGroup& group : groups)
    if (std::find(group.names.begin(), group.names.end(), name) != group.names.end()) return group.name;
  return "own";
}

std::span<const FormerOperator> operators_of_2019() { return former; }

std::optional<std::string> meant_operator(std::string_view wanted, std::span<const std::string_view> others) {
  const std::string_view word = wanted.substr(wanted.rfind('.') + 1);
  for (const FormerOperator& each : former)
    if (each.name == word) return std::string(each.today);
  if (const auto exact = exact_operator(word)) return exact;
  if (written_instead(word) || !foreign_rows_of(word).empty()) return std::nullopt;
  return nearest_op(wanted, others);
}

std::optional<std::string> exact_operator(std::string_view word) {
  if (const Op* op = find_op(word)) return std::string(op->name);
  if (const auto here = operator_called_elsewhere(word)) return std::string(*here);
  if (written_instead(word)) return std::nullopt;
  const Op* found = nullptr;
  for (const Op* op : all_ops()) {
    if (short_name_of(*op) != word || op->name.starts_with("grad.") || op->name.starts_with("vm.")) continue;
    if (found) return std::nullopt;
    found = op;
  }
  return found ? std::optional(std::string(found->name)) : std::nullopt;
}

std::string introduced(std::string_view words) {
  const bool is_text = !words.starts_with("the ") && !words.starts_with("nothing");
  return fmt::format("; {}{}", is_text ? "write " : words.starts_with("the ") ? "use " : "", words);
}

std::string method_advice(std::string_view method, std::string_view object, bool has_arguments,
                          ProposalPlace place) {
  if (const auto instead = written_instead(method, object, place))
    return instead->empty() ? "; nothing here does what it does" : introduced(*instead);
  const auto called = [&](std::string_view op) {
    return fmt::format("R.{}({}{})", op, object, has_arguments ? ", …" : "");
  };
  if (const auto op = exact_operator(method)) return "; write " + called(*op);
  // Without quotes: it does not stand where the method's name does.
  const auto near = nearest_op(method);
  return near ? fmt::format("; did you mean {}?", called(*near)) : "";
}

std::string operator_advice(std::string_view wanted, std::span<const std::string_view> others) {
  const auto instead = written_instead(wanted.substr(wanted.rfind('.') + 1));
  const std::optional<std::string> nearest = meant_operator(wanted, others);
  if (nearest) return fmt::format("; did you mean 'R.{}'?", *nearest);
  return instead && !instead->empty() ? introduced(*instead) : "";
}

}  // namespace relish
