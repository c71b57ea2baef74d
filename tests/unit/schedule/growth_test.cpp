// What is made of products of open sizes grows with the program: each product has several forms, among which
// the run chooses. A step that was written to each of them, or forms in forms, would multiply.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/rewriting/rewrite.h"
#include "jit/kernel_code.h"
#include "schedule/fusion/fuse.h"
#include "stdlib/stdlib.h"
#include "tests/unit/schedule/helpers.h"
#include "transform/legalize.h"

using namespace relish;
using namespace relish::test;

namespace {

ModulePtr program(const std::string& params, const std::string& body) {
  install_stdlib();
  return read_module("test.relish",
                     "@I.ir_module\nclass M:\n    @R.function\n    def main(" + params + "):\n" + body);
}

// The sizes of a product: the rows of the left factor, the terms, the columns, as the text of types.
struct Sizes {
  const char *rows, *terms, *columns;
};
constexpr Sizes all_open{"\"n\"", "\"k\"", "\"m\""}, open_rows{"\"n\"", "600", "600"};

// `steps` elementwise steps behind a product.
ModulePtr followed(const Sizes& sizes, int steps) {
  std::string body = "        y0 = R.matmul(x, w)\n";
  for (int i = 0; i < steps; ++i)
    body += fmt::format("        y{} = R.{}(y{}{})\n", i + 1, i % 2 == 0 ? "tanh" : "add", i,
                        i % 2 == 0 ? "" : ", b");
  return program(fmt::format("x: R.Tensor(({0}, {1}), \"float32\"), w: R.Tensor(({1}, {2}), \"float32\"), "
                             "b: R.Tensor(({2},), \"float32\")",
                             sizes.rows, sizes.terms, sizes.columns),
                 body + fmt::format("        return y{}\n", steps));
}

// So many products, each of the one before.
ModulePtr chained(const Sizes& sizes, int products) {
  const auto extent = [&](int at) {
    return *sizes.terms == '"' ? fmt::format("\"k{}\"", at) : std::string(sizes.terms);
  };
  std::string body = "        y0 = x\n",
              params = fmt::format("x: R.Tensor(({}, {}), \"float32\")", sizes.rows, extent(0));
  for (int i = 0; i < products; ++i) {
    body += fmt::format("        y{} = R.matmul(y{}, w{})\n", i + 1, i, i);
    params += fmt::format(", w{}: R.Tensor(({}, {}), \"float32\")", i, extent(i), extent(i + 1));
  }
  return program(params, body + fmt::format("        return y{}\n", products));
}

struct Amount {
  double statements = 0, characters = 0, instructions = 0;
};

Amount made_of(const ModulePtr& module, const Target& target) {
  const Module scheduled = schedule(fuse(legalize(*module)), target);
  Amount amount;
  for (const std::string& name : scheduled.names())
    if (const auto prim = scheduled.prim_func(name))
      for_each_stmt(prim->body, [&](const Stmt&) { ++amount.statements; });
  amount.characters = static_cast<double>(print(scheduled).size());
  for (const KernelCode& kernel :
       kernel_code_of(std::make_shared<const Module>(scheduled), "main", CodeForm::Generated))
    amount.instructions += static_cast<double>(std::count(kernel.text.begin(), kernel.text.end(), '\n'));
  return amount;
}

std::string told(const Amount& amount) {
  return fmt::format("{} statements, {} characters, {} instructions", amount.statements, amount.characters,
                     amount.instructions);
}

constexpr double Amount::* measures[] = {&Amount::statements, &Amount::characters, &Amount::instructions};

}  // namespace

TEST_CASE("growth: what follows a product of open sizes grows with its steps") {
  for (const Target& target : many_targets()) {
    for (const Sizes& sizes : {all_open, open_rows}) {
      std::map<int, Amount> of;
      for (const int steps : {0, 1, 2, 4, 8}) {
        of[steps] = made_of(followed(sizes, steps), target);
        UNSCOPED_INFO(steps << " steps: " << told(of[steps]));
      }
      for (const auto measure : measures) {
        const auto grown = [&](int from, int to) {
          return (of[to].*measure - of[from].*measure) / (to - from);
        };
        // A step more takes as much behind four as behind two, and no step more than the first, which may
        // begin a kernel; or as those, where the product alone, which nothing follows, has other loops.
        CHECK(grown(4, 8) > 0);
        CHECK(grown(4, 8) <= 1.25 * grown(2, 4));
        CHECK(grown(0, 8) <= std::max(grown(0, 1), 1.25 * grown(2, 4)));
      }
    }
  }
}

TEST_CASE("growth: a chain of products of open sizes grows with their number") {
  for (const Target& target : many_targets()) {
    const Amount one = made_of(chained(all_open, 1), target);
    for (const int products : {2, 3, 4}) {
      const Amount many = made_of(chained(all_open, products), target);
      INFO(products << " products: " << told(many) << "; one: " << told(one));
      for (const auto measure : measures) CHECK(many.*measure <= products * (one.*measure));
    }
    // Products of equal sizes are one kernel.
    CHECK(made_of(chained(open_rows, 4), target).instructions ==
          made_of(chained(open_rows, 1), target).instructions);
  }
}
