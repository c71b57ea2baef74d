// Which sums of the calls of a block are equal: of the same terms, whatever elementwise steps of other calls
// stand between the terms and the tensors that they come from.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/nodes/expr.h"
#include "schedule/stages/stages.h"

namespace relish {

// A stage of one of the calls that were noted.
struct SumPlace {
  std::size_t call = 0, stage = 0;
  std::vector<bool> moves = {};  // by dimension of its sum: whether it has more than one place in the call
  friend auto operator<=>(const SumPlace&, const SumPlace&) = default;
};

// A sum that several calls take.
struct EqualSums {
  std::vector<SumPlace> places;  // the first one first
  Buffer target;                 // of the first one, in terms of the caller
};

class EqualSumFinder {
 public:
  // The next call, by the variable of what it gives.
  void note(const Var& result, const CallTir& call, const PrimFunc& callee, const std::vector<Stage>& stages,
            Span span);
  // A variable that is one result of a call of several.
  void take(const Var& field, const Var& results, std::size_t index);
  // What stands here may write to a tensor: no sum from before it is that of the same elements behind it.
  void forget();

  // Sums that at least two calls take and that are few numbers of many terms.
  std::vector<EqualSums> found() const;

 private:
  // What each element of a buffer is, in terms of its place.
  struct Definition {
    std::vector<ScalarVar> axes;  // by dimension; undefined where there is one place only
    Scalar value;
  };

  Buffer buffer_of(const Expr& arg, const Buffer& parameter);
  void read(Stage stage, std::size_t stores, SumPlace place);
  Scalar in_known_terms(const Scalar& value) const;
  void define(const Stage& stage);
  std::string key_of(const Stage& stage) const;

  std::size_t calls_ = 0;
  std::unordered_map<std::uint64_t, Buffer> tensors_;               // by variable
  std::map<std::pair<std::uint64_t, std::size_t>, Buffer> fields_;  // by variable of all results, index
  std::unordered_map<std::uint64_t, Definition> definitions_;       // by buffer
  std::unordered_map<std::string, std::size_t> known_;              // by key: which of the sums
  std::vector<EqualSums> sums_;
};

}  // namespace relish
