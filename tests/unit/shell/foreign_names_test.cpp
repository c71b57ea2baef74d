// What is proposed for the names of other libraries is what a text may hold: each expression is run by a
// statement, and what functions may hold too is read as one.
#include <catch2/catch.hpp>

#include <algorithm>
#include <regex>

#include "shell/commands/subject.h"
#include "shell/foreign_members.h"
#include "shell/foreign_options.h"
#include "stdlib/catalog_doc.h"
#include "stdlib/foreign_names.h"
#include "stdlib/surface.h"
#include "tests/unit/shell/script_harness.h"

namespace relish::testing {
namespace {

// The names in expressions, as the table declares them.
constexpr std::string_view values = R"(
x = rand((4, 4), seed=1)
y = rand((4, 4), seed=2)
a = rand((4, 4), seed=3)
b = rand((4, 4), seed=4)
u = rand((4, 4, 4), seed=5)
v = rand((4,), seed=6)
w = rand((4,), seed=7)
p = rand((4, 4), seed=8) + 0.25
t = R.sum(v)
images = rand((1, 2, 4, 4), seed=9)
kernels = rand((3, 2, 2, 2), seed=10)
mask = x > 0.5
indices = R.astype(x * 4.0, "int64")
rows = tensor([0, 2, 1, 3])
values = rand((4,), seed=11)
sorted = tensor([0.1, 0.2, 0.5, 0.9])
key = key(0)
)";
constexpr std::string_view parameters =
    "x: R.Tensor((4, 4), \"float32\"), y: R.Tensor((4, 4), \"float32\"), a: R.Tensor((4, 4), \"float32\"), "
    "b: R.Tensor((4, 4), \"float32\"), u: R.Tensor((4, 4, 4), \"float32\"), v: R.Tensor((4,), \"float32\"), "
    "w: R.Tensor((4,), \"float32\"), p: R.Tensor((4, 4), \"float32\"), images: R.Tensor((1, 2, 4, 4), \"float32\"), "
    "kernels: R.Tensor((3, 2, 2, 2), \"float32\"), mask: R.Tensor((4, 4), \"bool\"), "
    "indices: R.Tensor((4, 4), \"int64\"), rows: R.Tensor((4,), \"int64\"), values: R.Tensor((4,), \"float32\"), "
    "sorted: R.Tensor((4,), \"float32\"), key: R.Tensor((2,), \"uint32\")";

// "R.tile(x, 2), or R.repeat(x, 2) for each": the expressions of an answer.
std::vector<std::string> expressions_of(std::string_view answer) {
  std::vector<std::string> parts;
  constexpr std::string_view between = ", or ";
  while (true) {
    const std::size_t at = answer.find(between);
    std::string part(answer.substr(0, at));
    if (const std::size_t words = part.find(" for the "); words != part.npos) part.resize(words);
    if (!part.starts_with("the loss ")) parts.push_back(std::move(part));
    if (at == answer.npos) return parts;
    answer.remove_prefix(at + between.size());
  }
}

}  // namespace

TEST_CASE("every expression that is proposed for a name of another library runs", "[shell]") {
  Harness harness;
  REQUIRE(harness.run(std::string(values)).error.empty());
  std::size_t count = 0;
  for (const ForeignRow& row : foreign_rows()) {
    if (row.kind != ForeignRow::Kind::Expression && row.kind != ForeignRow::Kind::Statement) continue;
    for (const std::string& expression : expressions_of(row.write)) {
      INFO(row.word << ": " << expression);
      CHECK(harness.run("found = " + expression).error == "");
      if (row.kind == ForeignRow::Kind::Expression) {
        CHECK(harness
                  .run(fmt::format("@R.function\ndef f{}({}):\n    found = {}\n    return found\n", count,
                                   parameters, expression))
                  .error == "");
      }
      ++count;
    }
  }
  CHECK(count > 100);
}

TEST_CASE("losses and commands that are proposed for a name of another library exist", "[shell]") {
  const std::regex named("the (loss|command) ([a-z_0-9]+)");
  for (const ForeignRow& row : foreign_rows()) {
    const std::string text(row.write);
    for (std::sregex_iterator each(text.begin(), text.end(), named), end; each != end; ++each) {
      INFO(row.word);
      if ((*each)[1] == "command")
        CHECK(find_command((*each)[2].str()) != nullptr);
      else
        CHECK(catalog_page((*each)[2].str()).has_value());
    }
  }
}

TEST_CASE("every option that is proposed for one of another library is one of train", "[shell]") {
  Harness harness;
  REQUIRE(harness
              .run("@I.ir_module\nclass M:\n    @R.function\n"
                   "    def main(x: R.Tensor((\"n\", 2), \"float32\"), w: R.Tensor((2, 1), \"float32\")):\n"
                   "        return R.matmul(x, w)\n")
              .error.empty());
  const auto has_option = [](std::string_view command, std::string_view option) {
    const auto& options = find_command(command)->options;
    return std::any_of(options.begin(), options.end(),
                       [&](const Option& each) { return each.name == option; });
  };
  for (const ForeignOption& row : foreign_options()) {
    INFO(row.word);
    CHECK((has_option("train", row.option) || has_option("load", row.option)));
    const bool explained = row.write.find(": ") != std::string_view::npos || row.write.starts_with("# ");
    CHECK((explained || row.write.find(std::string(row.option) + "=") != std::string_view::npos));
    CHECK(foreign_option_hint(row.word, {std::string(row.option)}).starts_with("; write "));
    CHECK(foreign_option_hint(row.word, {"other"}).empty());
    // What makes a trainer is tried.
    if (row.option != "optimizer" && row.option != "loss" && row.option != "schedule" &&
        row.option != "clip_norm")
      continue;
    std::string call = fmt::format("T = setup_trainer(M.main, {}", row.write);
    if (row.option != "loss") call += ", loss=\"mse\"";
    if (row.option != "optimizer") call += ", optimizer=\"sgd\"";
    CHECK(harness.run(call + ", lr=0.1)").error == "");
  }
}

TEST_CASE("what models and trainers have as members elsewhere is answered by what a module has", "[shell]") {
  Harness harness;
  REQUIRE(harness
              .run("@I.ir_module\nclass M:\n    @R.function\n"
                   "    def net(x: R.Tensor((\"n\", 2), \"float32\"), w: R.Tensor((2, 1), \"float32\")):\n"
                   "        return R.matmul(x, w)\n"
                   "T = setup_trainer(M.net, loss=\"mse\", optimizer=\"sgd\", init=\"xavier_uniform\")\n"
                   "N = setup_trainer(M.net, loss=\"mse\", optimizer=\"sgd\")\n")
              .error.empty());
  for (const ForeignMember& row : foreign_members()) {
    INFO(row.word);
    const std::string word(row.word);
    for (const std::string holder : {"M", "T"}) {
      const std::string message = harness.run("found = " + holder + "." + word).error;
      INFO(message);
      CHECK(message.find(".main") == std::string::npos);
      if (const std::size_t at = message.find("; here it is "); at != std::string::npos)
        CHECK(harness.run("found = " + message.substr(at + 13)).error == "");
      else
        CHECK((message.find("; write ") != std::string::npos ||
               message.find("; nothing: ") != std::string::npos));
    }
  }
  const auto told = [&](const std::string& text) { return harness.run(text).error; };
  CHECK(told("T.init(key(0))").ends_with("; here it is T.initial_params"));
  CHECK(told("N.init(key(0))")
            .ends_with("; here it is N.initial_params; setup_trainer(…, init=\"xavier_uniform\") adds it"));
  CHECK(told("T.step()").ends_with("; here it is T.train_step"));
  CHECK(told("M.fit()").ends_with("; write train(M.net, data=(x, y), loss=\"mse\")"));
  CHECK(told("T.trian_step()").ends_with("; did you mean 'train_step'?"));
  CHECK(told("M(ones((2, 2)))").ends_with("; expected a function; here it is M.net"));
  CHECK(told("M.parameters()").find("; nothing: parameters are values") != std::string::npos);
}

TEST_CASE("names of Python and bare names of other libraries say what is written here", "[shell]") {
  const auto told = [](const std::string& text) { return run_alone(text); };
  CHECK(told("set([1])")
            .ends_with("unknown name 'set'; a dict holds names once: {name: True for name in names}"));
  CHECK(told("isinstance(3, int)")
            .ends_with("; write type(x) == int; a tensor is told by hasattr(x, \"dtype\")"));
  CHECK(told("open(\"f.txt\")").ends_with("; write load(path) and save(value, path)"));
  CHECK(told("Adam(lr=0.1)").ends_with("; write optimizer=\"adam\" in train or setup_trainer"));
  CHECK(told("Sequential(1)").find("a function that calls one operator after the other") !=
        std::string::npos);
  CHECK(told("tensor([1], float32)").ends_with("; write \"float32\""));
  CHECK(told("tensor(0.5).backward()").ends_with("; use the command gradient"));
  CHECK(told("round(tensor(0.1234), 3)").find("without digits; round x.item()") != std::string::npos);
  CHECK(told("print(round(tensor(2.5)), round(tensor(0.6), None))") == "2.0 1.0\n");
  // What is proposed for numbers is Python's text.
  CHECK(told("n = 255\nprint(f\"{n:#x} {n:#b} {n:#o}\", type(n) == int)") == "0xff 0b11111111 0o377 True\n");
}

TEST_CASE("methods of tensors elsewhere are answered with the tensor's own name", "[shell]") {
  CHECK(method_advice("transpose", "h", true) == "; write R.permute_dims(h, axes=[1, 0])");
  CHECK(method_advice("relu", "h", false) == "; write R.nn.relu(h)");
  CHECK(method_advice("sum", "h.T", true) == "; write R.sum(h.T, …)");
  CHECK(method_advice("clamp", "text", true) == "; write R.clip(text, 0.0, 1.0)");
  CHECK(method_advice("svd", "h", true) == "; nothing here does what it does");
  CHECK(method_advice("softmx", "h", false) == "; did you mean R.nn.softmax(h)?");
  CHECK(method_advice("matmull", "h", true) == "; did you mean R.matmul(h, …)?");
  CHECK(method_advice("entirely_different", "h", true).empty());
}

}  // namespace relish::testing
