// Entry of a prim_func: arguments are matched to parameters, symbolic dims take their values, root buffers
// are made.
#include "interp/prim_program.h"

#include <fmt/format.h>

#include "ir/calls/prim_arguments.h"
#include "ir/printer/printer.h"

namespace relish::interp {

PrimProgram::PrimProgram(PrimFuncPtr function) : function_(std::move(function)) {
  for (const PrimParam& param : function_->params) {
    if (const ScalarVar* scalar = param.scalar()) {
      slots_.scalar(*scalar);
      continue;
    }
    slots_.buffer(*param.buffer());
    for (const Scalar& dim : param.buffer()->shape()) collect_vars(dim, symbols_);
    for (const Scalar& stride : param.buffer()->strides()) collect_vars(stride, symbols_);
    if (param.buffer()->elem_offset().defined()) collect_vars(param.buffer()->elem_offset(), symbols_);
  }
  for (const ScalarVar& var : symbols_) slots_.scalar(var);
  for (const Buffer& buffer : function_->allocations) {
    RootAllocation allocation{buffer, {}};
    slots_.buffer(buffer);
    for (const Scalar& dim : buffer.shape()) allocation.shape.push_back(prepare(dim, slots_));
    allocations_.push_back(std::move(allocation));
  }
  body_ = prepare(function_->body, slots_);
}

Value PrimProgram::run(std::vector<Value>& args, ErrorClass error_class, Span call) const {
  RELISH_CHECK(args.size() == function_->params.size());
  Slots slots = slots_;  // lookups only: every slot exists
  Frame frame;
  frame.cells.resize(slots.scalar_count());
  frame.buffers.resize(slots.buffer_count());

  const SymbolValues symbols = bind_prim_func(*function_, args, error_class, call);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (const Buffer* buffer = function_->params[i].buffer()) {
      frame.buffers[static_cast<std::size_t>(slots.buffer(*buffer))].bind(args[i].tensor());
      continue;
    }
    const ScalarVar& scalar = *function_->params[i].scalar();
    Cell& cell = frame.cells[static_cast<std::size_t>(slots.scalar(scalar))];
    if (is_float(scalar.dtype()))
      cell.real = args[i].scalar().real;
    else
      cell.integer = args[i].scalar().integer;
  }
  for (const ScalarVar& var : symbols_) {
    const auto found = symbols.find(var.id());
    if (found == symbols.end()) {
      fail(error_class, call, "symbol.unknown",
           fmt::format("{}: no argument tells the size {}", function_->name, var.name()));
    }
    frame.cells[static_cast<std::size_t>(slots.scalar(var))].integer = found->second;
  }
  for (const RootAllocation& allocation : allocations_) {
    Shape shape;
    for (const ScalarProgram& dim : allocation.shape) shape.push_back(dim->eval(frame).integer);
    try {
      frame.buffers[static_cast<std::size_t>(slots.buffer(allocation.buffer))].bind(
          Tensor::zeros(allocation.buffer.dtype(), std::move(shape)));
    } catch (Failure& failure) {
      failure.at(allocation.buffer.span());
      throw;
    }
  }
  body_->run(frame);
  if (!function_->result_dtype) return Value();
  const DType dtype = *function_->result_dtype;
  return is_float(dtype) ? ScalarValue::of_real(frame.result.real, dtype)
                         : ScalarValue::of_int(frame.result.integer, dtype);
}

}  // namespace relish::interp
