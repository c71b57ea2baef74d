// No file over 600 lines, no function over 100 and no class over 40 members, so that a newcomer reads a page
// at a time; what is larger for a reason stands here by name.
#include "tests/sizes/sizes.h"

#include <catch2/catch.hpp>

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
    {"jit/kernel/codegen_scalar.h:ScalarEmitter",
     "a member for each kind of a closed language of expressions"},
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

namespace {

// "name members" of each class of the text.
std::vector<std::string> counted(std::string_view text) {
  std::vector<std::string> found;
  for (const CountedClass& each : classes_of(text))
    found.push_back(each.name + " " + std::to_string(each.members));
  return found;
}

}  // namespace

TEST_CASE("sizes: a class of 40 members is well, one of 41 is not") {
  const auto of = [](std::size_t members) {
    return "\nstruct A {\n" + lines(members, "  int x;\n") + "};\n";
  };
  CHECK(faults_of("a.h", of(40)).empty());
  CHECK(faults_of("a.h", of(41)) ==
        std::vector<std::string>{"a.h:2: a class of 41 members, 'A'; expected at most 40"});
}

TEST_CASE("sizes: data and functions are members, whatever their form") {
  CHECK(
      counted("class A final : public B<int, C> {\n int a, b; int c = f(1, 2), d{3};\n std::map<int, int> e;"
              "\n std::function<void(int, int)> f;\n bool g = x < 3, h = false;\n int i[2] = {1, 2}; };") ==
      std::vector<std::string>{"A 9"});
  CHECK(
      counted(
          "struct A {\n A(int x, int y) : x_(x), y_{y} { int local; f(); }\n ~A();\n A(const A&) = delete;"
          "\n void f(int a = 1) const { struct L { int z; }; }\n template <class T, class U> void f(T&&, U);"
          "\n bool operator<(const A& o) const { return a < o.a; }\n bool operator()(int x, int y);"
          "\n friend void swap(A&, A&) {}\n [[noreturn]] void stop(); };") ==
      std::vector<std::string>{"A 8", "A::L 1"});
}

TEST_CASE("sizes: types, aliases, friends and assertions are no members") {
  CHECK(
      counted(
          "struct A {\n enum Kind : int { One, Two };\n enum class Other { One };\n struct B { int x; };"
          "\n struct C;\n using D = int;\n friend struct E;\n static_assert(sizeof(int) == 4, \"a;b\");"
          "\n public:\n // int no;\n char c = ';'; int more = 1'000;\n enum F { X } f;\n struct { int u; } g;"
          "\n };\ntemplate <class T> struct G<T*> { T t; };") ==
      std::vector<std::string>{"A 4", "A::B 1", "A:: 1", "G 1"});
  CHECK(counted("struct A; enum class B { X }; template <class T> void f(struct A a, class T* b);").empty());
}

TEST_CASE("sizes: the repository's files, functions and classes") {
  std::size_t files = 0;
  std::vector<std::string> used;
  const auto excepted = [&](const std::string& name) {
    const auto known = std::find_if(std::begin(exceptions), std::end(exceptions),
                                    [&](const Exception& each) { return name.starts_with(each.fault); });
    if (known != std::end(exceptions)) used.emplace_back(known->fault);
    return known != std::end(exceptions);
  };
  for (const std::string_view folder : folders) {
    REQUIRE(std::filesystem::is_directory(folder));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".h") continue;
      ++files;
      const std::string path = entry.path().generic_string(), text = text_of(entry.path());
      if (lines_of(text) > most_lines_of_file) FAIL_CHECK(faults_of(path, text).front());
      for (const LongFunction& function : long_functions(text))
        if (!excepted(path + ":" + function.head))
          FAIL_CHECK(path << ":" << function.line << ": a function of " << function.lines << " lines, '"
                          << function.head << "'; expected at most " << most_lines_of_function);
      for (const CountedClass& each : classes_of(text))
        if (each.members > most_members_of_class && !excepted(path + ":" + each.name))
          FAIL_CHECK(path << ":" << each.line << ": a class of " << each.members << " members, '" << each.name
                          << "'; expected at most " << most_members_of_class);
    }
  }
  CHECK(files > 800);
}
