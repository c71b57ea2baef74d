// Nearest names.
#include "support/suggest.h"

#include <catch2/catch.hpp>
#include <vector>

namespace relish {
namespace {

TEST_CASE("likely misspellings find their name") {
  std::vector<std::string> names = {"relu", "matmul", "log_softmax", "w0", "Add", "add"};
  CHECK(nearest_name("rleu", names) == "relu");
  CHECK(nearest_name("matmull", names) == "matmul");
  CHECK(nearest_name("logsoftmax", names) == "log_softmax");
  CHECK(nearest_name("w1", names) == "w0");
  CHECK(nearest_name("ADD", names) == "Add");
  CHECK(nearest_name("add", names) == "add");
  CHECK(did_you_mean("rleu", names) == "; did you mean 'relu'?");
}

TEST_CASE("unlike names do not") {
  std::vector<std::string> names = {"relu", "x"};
  CHECK_FALSE(nearest_name("convolution", names));
  CHECK_FALSE(nearest_name("y", names));
  CHECK_FALSE(nearest_name("", names));
  CHECK_FALSE(nearest_name(std::string(10000, 'r'), names));
  CHECK(did_you_mean("y", names).empty());
}

}  // namespace
}  // namespace relish
