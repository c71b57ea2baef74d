// Code generation of the steps of one function, one after the other: each kind of step is visited here,
// control with the lists in it.
#pragma once

#include "jit/graph/codegen_calls.h"
#include "jit/graph/codegen_hosts.h"
#include "jit/graph/codegen_places.h"
#include "jit/graph/codegen_sizes.h"

namespace relish::jit {

class StepEmitter {
 public:
  // `code` is an empty function with its first block.
  StepEmitter(GraphEmitter& program, llvm::Function& code, const FunctionSteps& steps);
  void run();

 private:
  void enter();
  void list(const StepList& steps);
  void step(const Step& step);
  void poll(Span span);
  void allocate(const step::Allocate& given, Span span);
  void bind_size(const step::BindSize& bind);
  void check_shape(const step::CheckShape& check, Span span);
  void check_size(const step::CheckSize& check, Span span);
  void compute_shape(const step::ComputeShape& computed);
  void branch(const step::Branch& branch);
  // A list and its value, which goes to slots.
  void list_into(const StepList& steps, const ValueTree& value, llvm::Value* slots);
  void loop(const step::Loop& loop, Span span);
  // Whether a function that the list calls, a round of a loop, does.
  bool tells_rows(const StepList& steps);
  void refuse_zero_step(const step::Loop::Range& range, Span span);
  llvm::Value* goes_on(const step::Loop& loop, llvm::Value* index);
  void round(const step::Loop& loop, llvm::Value* index);
  void write(const ValueTree& value, llvm::Value* slots);
  void read(const ValueTree& value, llvm::Value* slots);

  GraphEmitter& program_;
  const FunctionSteps& steps_;
  FunctionCode code_;
  SizeEmitter sizes_;
  PlaceEmitter places_;
  HostEmitter hosts_;
  CallEmitter calls_;
  std::vector<llvm::BasicBlock*> cuts_;  // where each binding begins
};

}  // namespace relish::jit
