// The table of operators, made from the definitions in ops/ by the build (cmake/generate_op_list.cmake). The
// list is explicit: registration by static constructors would be dropped by the linker and has no order.
#include <algorithm>
#include <vector>

#include "ir/operators/op.h"
#include "stdlib/stdlib.h"

namespace relish {

#define RELISH_OP(name, space) \
  namespace space {            \
  extern const Op name;        \
  }
#include "generated/op_list.inc"
#undef RELISH_OP

void install_stdlib() {
  static const auto table = [] {
    std::vector<const Op*> ops = {
#define RELISH_OP(name, space) &space::name,
#include "generated/op_list.inc"
#undef RELISH_OP
    };
    std::sort(ops.begin(), ops.end(), [](const Op* a, const Op* b) { return a->name < b->name; });
    return ops;
  }();
  install_ops(table);
}

}  // namespace relish
