// Sources of a target are compiled several together, in groups that change with every file that comes or
// goes. So a name of an anonymous namespace must not stand in another source of its target, nor be that of a
// function which a header declares: it would compile today and be ambiguous tomorrow.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "tests/sizes/sizes.h"

using namespace relish::sizes;

namespace {

std::string source_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "key" of each, "!key" of hidden ones, "room:key" where there is one.
std::vector<std::string> names(std::string_view text) {
  std::vector<std::string> out;
  for (const NamespaceName& each : namespace_names(text))
    out.push_back((each.hidden ? "!" : "") + (each.room.empty() ? "" : each.room + ":") + each.key);
  return out;
}

// Sources that are compiled together: those of a layer, or of a program of tests.
std::string target_of(const std::filesystem::path& path) {
  auto part = path.begin();
  std::string target = part->string();
  if (target != "tests") return target;
  target += "/" + (++part)->string();
  return *part == "unit" ? target + "/" + (++part)->string() : target;
}

struct Place {
  std::string path;
  NamespaceName name;
};

}  // namespace

TEST_CASE("names: functions with the types of their parameters, types, aliases and variables") {
  CHECK(names("namespace a {\nnamespace {\nint f(const A& a, int b = g(1, 2)) { return 1; }\n}\n"
              "std::map<A, B> f(std::map<A, B>);\n}") ==
        std::vector<std::string>{"!a:f(const A&,int)", "a:f(std::map<A,B>)"});
  CHECK(
      names(
          "struct A { int x; void f(); };\nusing B = std::vector<int>;\nenum class C : int { D };\n"
          "constexpr int e[] = {1, 2};\nconst F g{1};\nclass H final : public I<int> {};\nstatic int j = f(2);") ==
      std::vector<std::string>{"A", "B", "C", "e", "g", "H", "!j"});
  CHECK(names("template <class T>\n[[nodiscard]] T f(T&& x, std::function<void(int)> y) {\n  return x;\n}") ==
        std::vector<std::string>{"f(T&&,std::function<void(int)>)"});
}

TEST_CASE("names: members, forward declarations, operators and specializations are none") {
  CHECK(names("struct A;\nvoid A::f() { int x; }\nA::A() : x_{1} { g(); }\nbool operator==(A, A);\n"
              "template <>\nstruct B<int> { };\nusing namespace c;\nstatic_assert(true);")
            .empty());
}

namespace {

// In the order of the layers: a header of a later one is seen by no earlier one.
constexpr std::string_view layers[] = {"support",   "runtime",  "ir",     "loops", "stdlib", "frontend",
                                       "transform", "schedule", "interp", "jit",   "train",  "shell"};

std::size_t layer_of(const std::string& path) {
  const std::string target = target_of(path);
  return static_cast<std::size_t>(std::find(std::begin(layers), std::end(layers), target) - layers);
}

bool clash(const NamespaceName& a, const NamespaceName& b) { return a.alias.empty() || a.alias != b.alias; }

}  // namespace

TEST_CASE("names: no hidden name stands twice among sources that are compiled together") {
  std::map<std::string, std::vector<Place>> defined;   // of a target, in a namespace
  std::map<std::string, std::vector<Place>> declared;  // by headers of layers
  std::size_t hidden = 0;
  for (const std::string_view folder : {"frontend", "interp", "ir", "jit", "loops", "runtime", "schedule",
                                        "shell", "stdlib", "support", "tests", "train", "transform"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string extension = entry.path().extension(), path = entry.path().generic_string();
      if (extension != ".cpp" && extension != ".h") continue;
      if (target_of(path) == "tests/fuzz") continue;  // a program each
      for (NamespaceName& name : namespace_names(source_of(entry.path()))) {
        hidden += name.hidden ? 1 : 0;
        const std::string whole = name.room + ":" + name.key;
        if (extension == ".cpp")
          defined[target_of(path) + " " + whole].push_back({path, std::move(name)});
        else if (!path.starts_with("tests/"))
          declared[whole].push_back({path, std::move(name)});
      }
    }
  CHECK(hidden > 3000);
  for (const auto& [name, places] : defined)
    for (const Place& place : places) {
      if (!place.name.hidden) continue;
      const std::string here =
          place.path + ":" + std::to_string(place.name.line) + ": '" + place.name.key + "' ";
      for (const Place& other : places)
        if (other.path != place.path && clash(place.name, other.name))
          FAIL_CHECK(here << "stands in " << other.path << ":" << other.name.line
                          << " too, and both may be compiled together");
      for (const Place& other : declared[place.name.room + ":" + place.name.key])
        if (layer_of(other.path) <= layer_of(place.path) && clash(place.name, other.name))
          FAIL_CHECK(here << "is declared in " << other.path << ":" << other.name.line << " too");
    }
}

TEST_CASE("names: an alias that stands twice is one; another of its name is not") {
  const auto alias = [](std::string_view text) { return namespace_names(text).at(0); };
  CHECK(!clash(alias("using A = B<int>;"), alias("using A =\n    B<int>;")));
  CHECK(clash(alias("using A = B<int>;"), alias("using A = B<bool>;")));
  CHECK(clash(alias("using A = B<int>;"), alias("struct A {};")));
  CHECK(!clash(alias("namespace fs = std::filesystem;"), alias("namespace fs = std::filesystem;")));
}
