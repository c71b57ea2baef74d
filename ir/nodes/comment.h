// Comments kept with the statement that they belong to.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace relish {

struct Comments {
  std::vector<std::string> before;  // whole lines above, without "#" and one following space
  std::string after;                // on the line itself
};

using CommentsPtr = std::shared_ptr<const Comments>;  // null: none

}  // namespace relish
