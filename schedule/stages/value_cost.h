// What the value of a stage costs where it is computed once more.
#pragma once

#include "schedule/stages/stages.h"

namespace relish {

struct ValueCost {
  int operations = 0, loads = 0, nodes = 0;
  bool heavy = false;  // quotients, calls of functions
  bool names = false;  // binds names, of which there can be no second copy

  bool moves() const { return operations == 0 && !heavy; }
  bool cheap() const { return operations <= 1 && loads <= 2 && !heavy; }
  // What is loaded in place of it moves as it would have done; the rest stays where it is.
  bool cheap_beside(int moving) const { return operations <= 2 && moving <= 1 && !heavy; }
};

ValueCost value_cost_of(const Scalar& value);

// How many loads of the value move with the innermost axis of the stage.
int moving_loads(const Stage& stage, const Scalar& value);

}  // namespace relish
