// Differences between a module and itself after one edit: exactly that edit, wherever it is; and what JSON
// says of one text makes the other one.
#include <catch2/catch.hpp>

#include <ctime>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "frontend/reader.h"
#include "shell/workspace/difference.h"
#include "tests/unit/shell/session_harness.h"

using namespace relish;

namespace {

using Lines = std::vector<std::string>;

ModulePtr module_with(const Lines& lines) {
  start_language();
  std::string text =
      "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((4,), \"float32\")):\n";
  for (const std::string& line : lines) text += "        " + line + "\n";
  return read_module("<edit>", text);
}

Lines lines_of_text(const ModulePtr& module) {
  Lines lines;
  std::istringstream text(text_of(ScriptValue(FunctionReference{module, "main"}), true));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// The lines with what the difference says as JSON.
Lines applied(Lines lines, const Difference& difference) {
  const auto changed = nlohmann::json::parse(json_text(difference))["changed"];
  if (changed.empty()) return lines;
  const auto hunks = changed[0]["hunks"];
  for (auto hunk = hunks.rbegin(); hunk != hunks.rend(); ++hunk) {
    const auto at = lines.begin() + (*hunk)["before"].get<std::ptrdiff_t>() - 1;
    const auto removed = (*hunk)["removed"].get<Lines>();
    const auto added = (*hunk)["added"].get<Lines>();
    CHECK(std::equal(removed.begin(), removed.end(), at));
    lines.insert(lines.erase(at, at + static_cast<std::ptrdiff_t>(removed.size())), added.begin(),
                 added.end());
  }
  return lines;
}

// A function of random bindings, of which each is there once.
struct EditedLine {
  std::string name, op, attribute;
  std::vector<int> operands;  // by place; -1: x
};
using EditedLines = std::vector<EditedLine>;

EditedLines random_bindings(std::mt19937& random, int count) {
  EditedLines bindings;
  for (int i = 0; i < count; ++i) {
    const auto operand = [&] { return static_cast<int>(random() % static_cast<unsigned>(i + 1)) - 1; };
    EditedLine binding{fmt::format("v{}", i), "", "", {}};
    switch (random() % 3) {
      case 0:
        binding.op = "nn.softmax";
        binding.attribute = ", axis=0";
        binding.operands = {operand()};
        break;
      case 1:
        binding.op = "add";
        binding.operands = {operand(), operand()};
        break;
      default:
        binding.op = "multiply";
        binding.operands = {operand(), operand()};
    }
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

// `order`: places of the bindings, one behind the other.
Lines text_of_bindings(const EditedLines& bindings, const std::vector<int>& order) {
  Lines lines;
  for (const int at : order) {
    const EditedLine& binding = bindings[static_cast<std::size_t>(at)];
    std::string operands;
    for (const int operand : binding.operands)
      operands += (operands.empty() ? "" : ", ") +
                  (operand < 0 ? std::string("x") : bindings[static_cast<std::size_t>(operand)].name);
    lines.push_back(fmt::format("{} = R.{}({}{})", binding.name, binding.op, operands, binding.attribute));
  }
  lines.push_back(fmt::format("return {}", bindings[static_cast<std::size_t>(order.back())].name));
  return lines;
}

std::vector<int> in_order(int count) {
  std::vector<int> order;
  for (int i = 0; i < count; ++i) order.push_back(i);
  return order;
}

struct Compared {
  ModulePtr before, after;
  Difference difference;
};
Compared compared(const Lines& a, const Lines& b) {
  Compared result{module_with(a), module_with(b), {}};
  result.difference = difference_of(ScriptValue(result.before), ScriptValue(result.after));
  CHECK(result.difference.added.empty());
  CHECK(result.difference.removed.empty());
  return result;
}

const std::vector<Hunk>& only_hunks(const Compared& of) {
  REQUIRE(of.difference.changed.size() == 1);
  CHECK(of.difference.changed[0].name == "main");
  CHECK(applied(lines_of_text(of.before), of.difference) == lines_of_text(of.after));
  return of.difference.changed[0].hunks;
}

// Milliseconds of the best of five.
void check_large_difference(double most) {
  const int count = 10'000, changed = 3000, inserted = 6000, dropped = 9000;
  const auto lines_of = [&](bool second) {
    std::vector<std::string> lines = {"v0 = R.exp(x)"};
    for (int i = 1; i < count; ++i) {
      const bool other = second && i == changed;
      if (i == dropped && second) continue;
      lines.push_back(
          fmt::format("v{} = R.{}(v{}, x)", i, other ? "subtract" : "add", i == dropped + 1 ? i - 2 : i - 1));
      if (second && i == inserted) lines.push_back("extra = R.abs(x)");
    }
    lines.push_back(fmt::format("return v{}", count - 1));
    return lines;
  };
  const ModulePtr before = module_with(lines_of(false)), after = module_with(lines_of(true));
  double best = 1e9;
  Difference difference;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t start = std::clock();
    difference = difference_of(ScriptValue(before), ScriptValue(after));
    best = std::min(best, 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  INFO(best << " ms");
  CHECK(best <= most);
  CHECK(difference.changed.size() == 1);
  CHECK(difference.changed[0].hunks.size() == 3);
  CHECK(applied(lines_of_text(before), difference) == lines_of_text(after));
}

}  // namespace

TEST_CASE("an edit of a module is told as exactly that") {
  constexpr int count = 30, tries = 100;
  std::mt19937 random(21);
  for (int i = 0; i < tries; ++i) {
    INFO("try " << i);
    const EditedLines bindings = random_bindings(random, count);
    const std::vector<int> order = in_order(count);
    const Lines lines = text_of_bindings(bindings, order);

    // Names of some bindings.
    EditedLines renamed = bindings;
    std::set<std::pair<std::string, std::string>> names;
    for (EditedLine& binding : renamed) {
      if (random() % 4 != 0) continue;
      names.emplace("main." + binding.name, "main.n_" + binding.name);
      binding.name = "n_" + binding.name;
    }
    const Compared by_name = compared(lines, text_of_bindings(renamed, order));
    CHECK(by_name.difference.equal());
    CHECK(std::set<std::pair<std::string, std::string>>(by_name.difference.renamed.begin(),
                                                        by_name.difference.renamed.end()) == names);

    // Two neighbours that do not need each other.
    const auto at = 1 + random() % (count - 2);
    const EditedLine& second = bindings[at];
    const bool needs = std::find(second.operands.begin(), second.operands.end(), static_cast<int>(at) - 1) !=
                       second.operands.end();
    if (!needs) {
      std::vector<int> other = order;
      std::swap(other[at], other[at - 1]);
      const Compared moved = compared(lines, text_of_bindings(bindings, other));
      std::size_t told = 0;
      for (const Hunk& hunk : only_hunks(moved)) {
        CHECK(hunk.moved);
        told += hunk.removed.size() + hunk.added.size();
      }
      CHECK(told == 2);
      CHECK(moved.difference.renamed.empty());
    }

    // An attribute, or an operator.
    EditedLines changed = bindings;
    EditedLine& edited = changed[random() % count];
    if (edited.attribute.empty())
      edited.op = "subtract";
    else
      edited.attribute = ", axis=-1";
    const Compared attribute = compared(lines, text_of_bindings(changed, order));
    const std::vector<Hunk>& hunks = only_hunks(attribute);
    REQUIRE(hunks.size() == 1);
    REQUIRE(hunks[0].removed.size() == 1);
    REQUIRE(hunks[0].added.size() == 1);
    CHECK_FALSE(hunks[0].moved);
    CHECK(hunks[0].added[0].find(edited.name + ":") != std::string::npos);
    CHECK(attribute.difference.renamed.empty());

    // One binding more.
    Lines longer = lines;
    longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(random() % count), "extra = R.abs(x)");
    const Compared inserted = compared(lines, longer);
    const std::vector<Hunk>& more = only_hunks(inserted);
    REQUIRE(more.size() == 1);
    CHECK(more[0].removed.empty());
    REQUIRE(more[0].added.size() == 1);
    CHECK(more[0].added[0].find("extra") != std::string::npos);
    CHECK(inserted.difference.renamed.empty());
  }
}

TEST_CASE("differences of 10,000 bindings are found at once, and JSON tells all of them") {
  check_large_difference(250);
}
TEST_CASE("differences of 10,000 bindings are found within 100 ms", "[.][full]") {
  check_large_difference(100);
}
