// The one rule by which call_tir fills parameters.
#include "ir/calls/call_layout.h"

#include <fmt/format.h>

#include "support/counted.h"
#include "support/failure.h"

namespace relish {

std::vector<ParamSource> call_layout(const PrimFunc& function, const CallTir& call, Span span) {
  std::vector<std::size_t> tensors, scalars;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const bool scalar = call.args[i].type().as<ScalarType>() != nullptr;
    (scalar ? scalars : tensors).push_back(i);
  }
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < call.out_types.size(); ++i) {
    if (i >= call.inplace_indices.size() || call.inplace_indices[i] < 0) fresh.push_back(i);
  }
  std::size_t buffer_params = 0, scalar_params = 0;
  for (const PrimParam& param : function.params) ++(param.buffer() ? buffer_params : scalar_params);
  if (scalars.size() != scalar_params || tensors.size() + fresh.size() != buffer_params) {
    fail(ErrorClass::Type, span, "call_tir.arity",
         fmt::format("{} has {} and {}; the call gives {}, {} and {}", function.name,
                     counted(buffer_params, "buffer"), counted(scalar_params, "scalar"),
                     counted(tensors.size(), "tensor"), counted(scalars.size(), "scalar"),
                     counted(fresh.size(), "result")),
         {{function.span, "the function is declared here"}});
  }
  std::vector<ParamSource> layout;
  std::size_t next_tensor = 0, next_scalar = 0, next_result = 0;
  for (const PrimParam& param : function.params) {
    if (!param.buffer())
      layout.push_back({ParamSource::Argument, scalars[next_scalar++]});
    else if (next_tensor < tensors.size())
      layout.push_back({ParamSource::Argument, tensors[next_tensor++]});
    else
      layout.push_back({ParamSource::Result, fresh[next_result++]});
  }
  return layout;
}

}  // namespace relish
