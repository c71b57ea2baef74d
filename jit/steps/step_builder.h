// A list of steps while it is made: its places, the symbols that have values, and what is done to values
// wherever they come from: conversion, checks against types.
#pragma once

#include <map>
#include <unordered_set>

#include "jit/steps/program_steps.h"

namespace relish::jit {

[[noreturn]] void not_compiled(Span span, const std::string& what);

class StepBuilder {
 protected:
  PlaceId add(Place place);
  // A place for a leaf, of its kind.
  PlaceId add(const ValueTree& leaf, Place::Origin origin);
  // The tree of a type, in places of their own.
  ValueTree tree(const Type& type, Place::Origin origin);
  ValueTree tensor(DType dtype, std::size_t rank, PlaceId place) const;
  ValueTree constant(const Tensor& value);
  ValueTree shape(std::vector<Scalar> dims);
  ValueTree scalar(const Scalar& value);
  // A temporary that is made here.
  PlaceId temporary(DType dtype, const std::vector<Scalar>& dims);
  PlaceId copied(PlaceId from, PlaceId to);

  void emit(step::Kind kind) { list_->push_back({span_, std::move(kind)}); }
  // The steps that `make` makes, as a list of their own; what it says is `given` is not released in it.
  template <class Make>
  StepList apart(const Make& make) {
    StepList steps;
    StepList* const outer = std::exchange(list_, &steps);
    const std::uint32_t outer_number = std::exchange(list_number_, ++lists_);
    make();
    steps = finished(std::move(steps));
    list_ = outer;
    list_number_ = outer_number;
    return steps;
  }
  StepList finished(StepList steps) const;
  // The value goes to somebody else.
  void give(const ValueTree& value);
  // The value for an owner of its own, to whom it is given; each of its tensors and boxes is shared.
  ValueTree shared(const ValueTree& value);
  // The same; what this function has made goes as it is, once.
  ValueTree for_others(const ValueTree& value);

  // The value as one of `type`: boxed, or taken out of its box; a RuntimeError that names `what` when it does
  // not fit. `whole`: of the tuple that it is a field of.
  ValueTree convert(const ValueTree& from, const Type& type, Span span,
                    const std::function<std::string()>& what, const Type* whole = nullptr);
  // Sizes of the type that have no value yet take those of the value.
  void bind_sizes(const ValueTree& value, const Type& type);
  void bind(const ScalarVar& symbol, PlaceId place, int dim);
  // The same, and the value is checked.
  void match(const ValueTree& value, const Type& type, Span span, const std::string& what);
  void check_value(const ValueTree& value, const Type& type, Span span, const std::string& what);
  // A bool scalar of a condition.
  PlaceId truth(const ValueTree& value);

  FunctionSteps made_;
  Span span_;                                  // of the value that is bound
  std::unordered_set<std::uint64_t> symbols_;  // that have values

 private:
  StepList* list_ = &made_.steps;
  std::uint32_t list_number_ = 0, lists_ = 0;
  std::map<std::tuple<const void*, Shape, DType>, PlaceId> constants_;  // by memory
};

}  // namespace relish::jit
