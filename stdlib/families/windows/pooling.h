// The family of pools over sliding windows in any number of spatial dimensions: maximum and average, their
// gradients, and the selection that is the gradient of a maximum's gradient. Windows lie as those of
// convolutions; with ceil_mode a last one may reach beyond the padded data, but starts within data and
// padding before it.
#pragma once

#include "stdlib/families/elementwise/member.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/windows/windows.h"

namespace relish::pooling {

enum class Kind : std::uint8_t {
  Max,          // data -> its largest cell of every window
  MaxBackward,  // output_grad, data -> output_grad at the first largest cell of every window, summed
  MaxSelect,    // values, data -> of values (shaped as data) that at the first largest cell of every window
  Average,
  AverageBackward,  // output_grad, data -> output_grad spread evenly over every window, summed
};

struct Member {
  Kind kind;
  int rank = 0;         // spatial dimensions; 0: by the layout
  bool global = false;  // one window: all of the data. Then there are no attributes of windows.
};

Type infer(const CallView& call, const Member& member);
Value evaluate(const EvalCall& call, const Member& member);
PrimFunc lower(const LowerCall& call, const Member& member);
Partials vjp(const VjpCall& call, const Member& member);
// Cells of a window, which is also the most windows that hold one cell.
std::int64_t terms(const CallView& call, const Member& member);

// The order of attributes written without keywords: the printed one has dilation before padding.
inline constexpr std::string_view written_order[] = {"pool_size", "strides", "padding", "dilation"};

// The parameters of a pool over `rank` spatial dimensions (0: any): these tensors and the attributes, of
// which count_include_pad has the default `include`.
template <int rank, std::size_t tensors>
constexpr std::array<Param, tensors + 8> params_of(const std::array<Param, tensors>& first,
                                                   std::string_view include) {
  std::array<Param, tensors + 8> result{};
  std::size_t i = 0;
  for (const Param& param : first) result[i++] = param;
  const auto add = [&](std::string_view name, std::string_view type, std::string_view fallback,
                       std::string_view doc) {
    result[i++] = Param{name, ParamKind::Attribute, type, fallback, doc};
  };
  const std::string_view ones = windows::default_steps[rank];
  add("pool_size", "int or list[int] or None", ones, "size of a window; None: all of the data");
  add("strides", "int or list[int]", ones, "steps from one window to the next");
  add("dilation", "int or list[int]", ones, "steps from one cell of a window to the next");
  add("padding", "int or list[int]", windows::default_padding[rank],
      "cells around the data: one number, one for each dimension, or all before and then all after");
  add("ceil_mode", "bool", "False", "round the number of windows up");
  add("count_include_pad", "bool", include, "an average counts the cells of the padding");
  result[i++] = windows::layout_param(rank);
  result[i++] = windows::out_layout_param;
  return result;
}

// The tensors of pools and of their gradients.
inline constexpr std::array<Param, 1> data_tensor = {windows::data_param};
inline constexpr std::array<Param, 2> gradient_tensors = {
    {{"output_grad", ParamKind::Tensor, "tensor", "", "gradient of the pool's result"},
     {"data", ParamKind::Tensor, "tensor", "", "input of the pool"}}};

// The parameters of pools with one window.
template <int rank>
inline constexpr std::array<Param, 3> global_params = {windows::data_param, windows::layout_param(rank),
                                                       windows::out_layout_param};

constexpr bool is_average(Kind kind) { return kind == Kind::Average || kind == Kind::AverageBackward; }

// The parameters of a pool with windows or of its gradient. Averages count the cells of the padding, but not
// in two dimensions.
template <Member member>
inline constexpr auto windowed_params = [] {
  const std::string_view include = is_average(member.kind) && member.rank != 2 ? "True" : "False";
  if constexpr (member.kind == Kind::Max || member.kind == Kind::Average)
    return params_of<member.rank>(data_tensor, include);
  else
    return params_of<member.rank>(gradient_tensors, include);
}();

// `op` as a pool or the gradient of one: what follows from the member.
template <Member member>
constexpr Op pool_op(Op op) {
  if constexpr (member.global) {
    op.params = global_params<member.rank>;
  } else {
    op.params = windowed_params<member>;
    op.written_order = written_order;
  }
  if constexpr (is_average(member.kind)) {
    op.agreement = Agreement::Sum;
    op.terms = [](const CallView& call, const Type&) { return pooling::terms(call, member); };
  } else {
    op.agreement = member.kind == Kind::Max ? Agreement::Exact : Agreement::Composite;
  }
  return member_of<member>(op);
}

}  // namespace relish::pooling
