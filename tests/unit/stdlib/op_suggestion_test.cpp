// What is proposed for a name that no operator has.
#include <catch2/catch.hpp>

#include "ir/operators/op_suggestion.h"
#include "stdlib/stdlib.h"

using namespace relish;

TEST_CASE("the last word of an operator's name counts more than its namespace", "[stdlib]") {
  install_stdlib();
  CHECK(nearest_op("relu") == "nn.relu");
  CHECK(nearest_op("sofmax") == "nn.softmax");
  CHECK(nearest_op("nn.rellu") == "nn.relu");
  CHECK(nearest_op("imag.resize2d") == "image.resize2d");
  CHECK(nearest_op("addd") == "add");
  CHECK(nearest_op("entirely_different") == std::nullopt);
}

TEST_CASE("other names compete with the operators", "[stdlib]") {
  install_stdlib();
  constexpr std::string_view others[] = {"const"};
  CHECK(nearest_op("cosnt", others) == "const");
  CHECK(nearest_op("cosnt") == "cos");
}
