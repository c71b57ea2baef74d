// Conversion of written arguments to what a parameter takes; between the table of operators and
// arrange_arguments.
#pragma once

#include <functional>
#include <optional>

#include "ir/operators/op.h"

namespace relish {

// Which of the parameters an argument at `position` without a keyword is for.
std::size_t parameter_at(const Op& op, std::size_t position);
// The parameter of an argument written as `name`, or by its position when that is empty: behind a parameter
// that takes any number all are its. Null when there is none.
const Param* written_parameter(const Op& op, std::string_view name, std::size_t position);
// The dtype of a number that stands for the tensor parameter `param`, or for an item of a tuple of tensors:
// int64 where the parameter is declared to hold integers and bool where it holds conditions, else that of the
// first tensor among the arguments that are neither, for these are alike. `dtype_at`: of the tensor given for
// a parameter. Absent: no tensor beside it says.
std::optional<DType> number_dtype(const Op& op, const Param& param,
                                  const std::function<std::optional<DType>(const Param&)>& dtype_at);
// The dtype of a real that is written plainly for the scalar or tensor parameter: float32 where its
// documented type says so and no other dtype is asked for, as it is in TVM; else float64.
DType plain_real_dtype(const Param& param, bool dtype_given);
// The compile-time value of an expression of literals; nullopt for anything else.
std::optional<Attribute> attribute_of_literals(const Expr& expr);
// The attribute in the form that the parameter's documented type asks for: dtype names become dtypes, ints
// become floats. TypeError at `span` when it is of none of the parameter's types.
Attribute coerce_attribute(const Op& op, const Param& param, Attribute value, Span span);

}  // namespace relish
