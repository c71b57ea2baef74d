// What models and trainers of other libraries have as members, model.forward and optimizer.step: what a
// module here has instead.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/nodes/module.h"

namespace relish {

struct ForeignMember {
  std::string_view word;
  std::string_view here;   // the function that means it, main standing for the model's name; or nothing
  std::string_view write;  // what to write where the module has none; {} is the name that holds it
};
std::span<const ForeignMember> foreign_members();

// "; here it is T.train_step": the end of a message about a name that the module `holder` does not have;
// empty for words that are not known.
std::string foreign_member_advice(const Module& module, std::string_view holder, std::string_view word);

}  // namespace relish
