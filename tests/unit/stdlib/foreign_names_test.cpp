// The names of other libraries: each is answered by an operator that there is, and never by a mere neighbour.
#include <algorithm>
#include <catch2/catch.hpp>

#include "ir/operators/op.h"
#include "stdlib/foreign_names.h"
#include "stdlib/stdlib.h"
#include "stdlib/surface.h"

using namespace relish;

TEST_CASE("every name of another library leads to an operator or to what is written instead", "[stdlib]") {
  install_stdlib();
  std::vector<std::string_view> words = words_of_others();
  std::sort(words.begin(), words.end());
  CHECK(std::adjacent_find(words.begin(), words.end()) == words.end());
  for (const std::string_view word : words) {
    INFO(word);
    // R.const is what a function has beside the operators.
    const auto here = operator_called_elsewhere(word);
    if (here && *here != "const") CHECK(find_op(*here) != nullptr);
    CHECK(here.has_value() != written_instead(word).has_value());
    if (!here && !find_op(word)) CHECK_FALSE(meant_operator(word).has_value());
  }
}

TEST_CASE("what a message advises", "[stdlib]") {
  install_stdlib();
  CHECK(operator_advice("unsqueeze") == "; did you mean 'R.expand_dims'?");
  CHECK(operator_advice("log2") == "; write R.log(x) * 1.4426950408889634");
  CHECK(operator_advice("nn.functional.mse_loss") == "; use the loss mse of append_loss");
  CHECK(operator_advice("svd").empty());
  CHECK(operator_advice("sofmax") == "; did you mean 'R.nn.softmax'?");
}
