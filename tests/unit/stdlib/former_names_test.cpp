// The names of 2019: each is an operator of today, or is answered by the one that replaces it.
#include <catch2/catch.hpp>

#include "ir/operators/op.h"
#include "stdlib/stdlib.h"
#include "stdlib/surface.h"

using namespace relish;

TEST_CASE("every name of 2019 is today's operator or is answered by it", "[stdlib]") {
  install_stdlib();
  for (const FormerOperator& former : operators_of_2019()) {
    INFO(former.name);
    const Op* today = find_op(former.today);
    REQUIRE(today != nullptr);
    for (const std::string& written : {std::string(former.name), "nn." + std::string(former.name)}) {
      INFO(written);
      const Op* meant = find_op(written);
      if (meant != nullptr)
        CHECK(meant == today);
      else
        CHECK(meant_operator(written) == std::string(former.today));
    }
  }
}

TEST_CASE("a name without its namespace is the operator of that name", "[stdlib]") {
  install_stdlib();
  CHECK(find_op("relu") == find_op("nn.relu"));
  CHECK(find_op("softmax") == find_op("nn.softmax"));
  CHECK(find_op("resize2d") == find_op("image.resize2d"));
  CHECK(find_op("max") != find_op("nn.max_pool2d"));
  CHECK(find_op("nn.add") == nullptr);
  CHECK(find_op("max_pool") == nullptr);
  CHECK(meant_operator("max_pool") == "nn.max_pool2d");
  CHECK(meant_operator("nn.nms") == "vision.non_max_suppression");
  CHECK(meant_operator("sofmax") == "nn.softmax");
}
