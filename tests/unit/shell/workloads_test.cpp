// The workloads of bench/, forward and as steps of training, behind each pass of the compiled tier: a text
// that reads back as it was printed and verifies. What is narrow enough also runs from the text of the last
// pass, in the interpreter, with the result of the workload as it was written.
#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include "frontend/reader.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "runtime/files.h"
#include "tests/golden/tolerance.h"
#include "tests/unit/shell/script_harness.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

// A text of bench/ without the statements that time it.
std::string workload(const std::string& name) {
  std::ifstream file(std::string(RELISH_SOURCE_DIR) + "/bench/" + name + ".relish");
  REQUIRE(file.good());
  std::stringstream text;
  std::string line;
  while (std::getline(file, line) && !line.starts_with("t = time(") && !line.starts_with("print("))
    text << line << "\n";
  return text.str();
}

constexpr const char* passes[] = {"legalize", "fuse", "schedule", "plan"};

TEST_CASE("the text of a workload behind each pass reads back and verifies") {
  const std::pair<const char*, const char*> workloads[] = {
      {"w1", "Products"}, {"w2", "Classifier"}, {"w3", "S"},        {"w4", "S"},
      {"w5", "S"},        {"w6", "S"},          {"w7", "Movement"}, {"w8", "Logistic"}};
  for (const auto& [name, module] : workloads) {
    Harness harness;
    CAPTURE(name);
    const Ran read = harness.run(workload(name));
    REQUIRE(read.error == "");
    for (const char* pass : passes) {
      CAPTURE(pass);
      const Ran lowered = harness.run(fmt::format("print(lower({}, to=\"{}\"))\n", module, pass));
      REQUIRE(lowered.error == "");
      const ModulePtr again = read_module("again.relish", lowered.output);
      Diagnostics problems;
      verify(*again, problems);
      CHECK(!problems.has_errors());
      CHECK(print(*again) == lowered.output);
    }
  }
}

// The text with other numbers for sizes; each is replaced where it stands alone.
std::string with_sizes(const std::string& text, const std::map<std::string, std::string>& sizes) {
  std::string result, number;
  const auto end_of_number = [&] {
    const auto found = sizes.find(number);
    result += found == sizes.end() ? number : found->second;
    number.clear();
  };
  for (const char c : text) {
    const bool word = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    if (word) {
      number += c;
    } else {
      end_of_number();
      result += c;
    }
  }
  end_of_number();
  return result;
}

TEST_CASE("a step of training from the text of the last pass is the step as it was written") {
  const std::pair<const char*, std::map<std::string, std::string>> steps[] = {
      {"w3", {{"64", "5"}, {"784", "37"}, {"128", "19"}}},
      {"w4", {{"64", "6"}, {"32", "4"}, {"28", "12"}, {"3136", "54"}, {"128", "17"}}},
      {"w6", {{"8", "2"}, {"128", "9"}, {"256", "32"}, {"768", "96"}, {"1024", "40"}, {"64", "8"}}}};
  for (const auto& [name, sizes] : steps) {
    CAPTURE(name);
    const TemporaryFolder folder;
    Settings settings = Harness::interpreter();
    settings.roots = {folder.path()};
    Harness harness(settings);
    const auto results_of = [&](const std::string& step) {
      const std::string path = folder.file("results.npz");
      const Ran ran = harness.run(fmt::format("call({}, arg=args, out=\"{}\")\n", step, path));
      REQUIRE(ran.error == "");
      return read_npz(path);
    };
    REQUIRE(harness.run(with_sizes(workload(name), sizes)).error == "");
    const NamedTensors wanted = results_of("S.train_step");
    for (const char* pass : passes) {
      CAPTURE(pass);
      const NamedTensors found = results_of(fmt::format("lower(S, to=\"{}\").train_step", pass));
      REQUIRE(found.size() == wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        CAPTURE(wanted[i].first);
        CHECK(found[i].first == wanted[i].first);
        CHECK(disagreement(found[i].second, wanted[i].second, class_of_training) == "");
      }
    }
  }
}

}  // namespace
}  // namespace relish::testing
