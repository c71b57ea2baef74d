// No file over 600 lines and no function over 100, so that a newcomer reads a page at a time; what is longer
// for a reason stands here by name.
#include "tests/sizes/sizes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace relish::sizes;

namespace {

struct Exception {
  std::string_view fault;  // how it begins, without its line
  std::string_view reason;
};
constexpr Exception exceptions[] = {
    {"jit/runtime/runtime.cpp:std::span<const RuntimeSymbol> runtime_symbols()",
     "a table: a line for each function that compiled code calls"},
};

constexpr std::string_view folders[] = {"bench",   "examples", "frontend", "include",  "interp", "ir",
                                        "jit",     "loops",    "runtime",  "schedule", "shell",  "stdlib",
                                        "support", "tests",    "train",    "transform"};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string lines(std::size_t count, std::string_view line = "  f();\n") {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += line;
  return text;
}

}  // namespace

TEST_CASE("sizes: a file of 600 lines is well, one of 601 is not") {
  CHECK(faults_of("a.cpp", lines(600, "int x;\n")).empty());
  CHECK(faults_of("a.cpp", lines(601, "int x;\n")) ==
        std::vector<std::string>{"a.cpp: 601 lines; expected at most 600"});
}

TEST_CASE("sizes: a function of 100 lines is well, one of 101 is not") {
  CHECK(faults_of("a.cpp", "void g() {\n" + lines(98) + "}\n").empty());
  CHECK(faults_of("a.cpp", "\nvoid g() {\n" + lines(99) + "}\n") ==
        std::vector<std::string>{"a.cpp:2: a function of 101 lines, 'void g() {'; expected at most 100"});
}

TEST_CASE("sizes: functions in classes, templates, heads of several lines, and what ends in const") {
  const std::string body = lines(99, "    f();\n");
  const auto found = [](const std::string& text) {
    std::vector<std::size_t> at;
    for (const LongFunction& function : long_functions(text)) at.push_back(function.line);
    return at;
  };
  CHECK(
      found("namespace a {\nclass B final : public C {\n public:\n  int g(int x,\n        int y) const {\n" +
            body + "  }\n};\n}\n") == std::vector<std::size_t>{4});
  CHECK(found("template <class T>\nT g(T x) {\n" + body + "}\n") == std::vector<std::size_t>{2});
  CHECK(found("A::A(int x)\n    : x_(x),\n      y_(x) {\n" + body + "}\n") == std::vector<std::size_t>{1});
  // Two short ones behind each other; a block inside is part of its function.
  const std::string half = lines(60, "    f();\n");
  CHECK(found("void g() {\n" + half + "}\nvoid h() {\n  if (a()) {\n" + half + "  }\n}\n").empty());
  CHECK(found("void h() {\n  if (a()) {\n" + half + "  }\n  for (;;) {\n" + half + "  }\n}\n") ==
        std::vector<std::size_t>{1});
}

TEST_CASE("sizes: tables and texts are no functions") {
  CHECK(long_functions("constexpr std::string_view words[] = {\n" + lines(200, "    \"a\",\n") + "};\n")
            .empty());
  const std::string text = "void g() {\n  const char* t = R\"(\n" + lines(50, "}\n") + ")\";\n}\n";
  CHECK(long_functions(text).empty());
  CHECK(long_functions("void g() {\n  const char* t = R\"(\n" + lines(99, "}\n") + ")\";\n}\n").size() == 1);
}

TEST_CASE("sizes: the repository's files and functions") {
  std::size_t files = 0;
  std::vector<std::string> used;
  for (const std::string_view folder : folders) {
    REQUIRE(std::filesystem::is_directory(folder));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".h") continue;
      ++files;
      const std::string path = entry.path().generic_string(), text = text_of(entry.path());
      if (lines_of(text) > most_lines_of_file) FAIL_CHECK(faults_of(path, text).front());
      for (const LongFunction& function : long_functions(text)) {
        const std::string name = path + ":" + function.head;
        const auto known = std::find_if(std::begin(exceptions), std::end(exceptions),
                                        [&](const Exception& each) { return name.starts_with(each.fault); });
        if (known == std::end(exceptions))
          FAIL_CHECK(path << ":" << function.line << ": a function of " << function.lines << " lines, '"
                          << function.head << "'; expected at most " << most_lines_of_function);
        else
          used.emplace_back(known->fault);
      }
    }
  }
  CHECK(files > 800);
  for (const Exception& each : exceptions) {
    INFO("an exception that nothing needs: " << each.fault);
    CHECK(std::find(used.begin(), used.end(), each.fault) != used.end());
  }
}
