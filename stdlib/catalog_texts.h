// The catalog's entries as the texts of the standard library declare them, in comments of their own:
//
//   #: loss(huber): Squared error, continued by a line from delta on.
//   #: options(reduction)
//   #: option(delta, float, default=1, use=constant, more_than=0): error from which on the loss is a line
//
// `loss`, `optimizer`, `schedule` or `initialiser` begins an entry; `option` adds one to it, and `options`
// those of these names that a text of the folder declares before its first entry. A line with more blanks
// behind `#:` goes on with the one before. What is not said is as in CatalogOption and the entries of
// catalog.h.
#pragma once

#include <vector>

#include "stdlib/catalog.h"

namespace relish {

struct CatalogTexts {
  std::vector<LossEntry> losses;  // each sorted by name
  std::vector<OptimizerEntry> optimizers;
  std::vector<RuleEntry> schedules, initialisers;
};

// Read from the texts when it is first asked for.
const CatalogTexts& catalog_texts();

}  // namespace relish
