// Every transform, and every command that trains, has golden files of each kind: what it makes of a module,
// the same of something hard, and a refusal. A pass that refuses no module has files of what it leaves
// instead.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>

#include "shell/command.h"

using namespace relish;

namespace {

struct Shown {
  int results = 0, hard = 0, refusals = 0;
  int left = 0;  // files called <pass>-leaves-…
};

// These take every module: what they can do nothing for stays as it is. What they refuse is a value that is
// no module.
//   dce       removes what has no effect and is not used; nothing else is asked of it.
//   legalize  keeps a call whose shapes or numbers only the run shows, and one without a loop nest.
//   schedule  keeps the order of loops that are not shown to be independent, and calls that stand in the way.
//   fuse      keeps calls whose loops do not become fewer, and those with effects or faults.
//   fold, simplify, canonicalize, cse, inline, unroll, to_dataflow, lambda_lift, expand_tuples, normalize,
//   dead_parameters, topological_sort, lift_params  leave what their rules do not speak of.
constexpr std::array<std::string_view, 17> passes_of_any_module = {"dce",
                                                                   "legalize",
                                                                   "fuse",
                                                                   "schedule",
                                                                   "fold",
                                                                   "simplify",
                                                                   "canonicalize",
                                                                   "cse",
                                                                   "inline",
                                                                   "unroll",
                                                                   "to_dataflow",
                                                                   "lambda_lift",
                                                                   "expand_tuples",
                                                                   "normalize",
                                                                   "dead_parameters",
                                                                   "topological_sort",
                                                                   "lift_params"};

bool takes_any_module(std::string_view pass) {
  return std::find(passes_of_any_module.begin(), passes_of_any_module.end(), pass) !=
         passes_of_any_module.end();
}

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// Control flow, sizes that are not known, loops of their own, several values: what a pass may overlook.
bool is_hard(const std::string& text) {
  static const std::regex parts(
      "\n *(if|for|while) .*:|T\\.prim_func|R\\.Tuple|\\(\\(?\"[a-z]+\",|return \\(.*, .*\\)");
  const std::string given = text.substr(0, text.find("\n# expect"));
  return std::regex_search(given, parts);
}

bool is_refusal(const std::string& text) {
  return std::regex_search(text, std::regex("# (error\\[|exit: [1-9])"));
}

// Of what is no module, before the pass itself has a say.
bool is_refusal_of_subject(const std::string& text) {
  return text.find("[command.subject]") != std::string::npos;
}

// By the command whose name stands before a bracket: in the head of a pass's file, in the text of a
// training's.
std::map<std::string, Shown> shown_in(const std::string& folder) {
  std::map<std::string, Shown> found;
  const auto root = std::filesystem::path(RELISH_SOURCE_DIR) / "tests/golden" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    const std::string text = text_of_file(entry.path());
    const std::string head = text.substr(0, text.find('\n'));
    const std::string where = head.starts_with("# test: pass ") ? head.substr(13) : text;
    for (const Command* command : all_commands()) {
      const std::string call = std::string(command->name) + "(";
      const std::size_t at = where.find(call);
      const bool own_word = at == 0 || (at != std::string::npos &&
                                        std::string(" =\n(").find(where[at - 1]) != std::string::npos);
      // The pass of a head is the outermost one.
      if (!own_word || (folder == "pass" && at != 0)) continue;
      Shown& shown = found[std::string(command->name)];
      if (is_refusal(text)) {
        shown.refusals += takes_any_module(command->name) == is_refusal_of_subject(text);
      } else {
        ++shown.results;
        shown.hard += is_hard(text);
        shown.left += entry.path().filename().string().starts_with(shell_name(command->name) + "-leaves-");
      }
    }
  }
  return found;
}

bool has_option(const Command& command, std::string_view name) {
  for (const Option& option : command.options)
    if (option.name == name) return true;
  return false;
}

}  // namespace

TEST_CASE("every transform has golden files: before and after, something hard, a refusal") {
  std::map<std::string, Shown> shown = shown_in("pass");
  for (const Command* command : all_commands()) {
    if (!command->transforms) continue;
    const Shown& own = shown[std::string(command->name)];
    INFO(fmt::format("tests/golden/pass lacks files of '# test: pass {}(…)'", command->name));
    CHECK(own.results >= 2);
    CHECK(own.hard >= 1);
    CHECK(own.refusals >= 1);
    if (takes_any_module(command->name)) CHECK(own.left >= 1);
  }
}

TEST_CASE("a pass that takes any module is a transform") {
  for (const std::string_view name : passes_of_any_module) {
    const Command* command = find_command(name);
    INFO(name);
    REQUIRE(command != nullptr);
    CHECK(command->transforms);
  }
}

TEST_CASE("every command that trains has golden files: a normal job, something hard, a refusal") {
  std::map<std::string, Shown> shown = shown_in("train");
  for (const Command* command : all_commands()) {
    // train, evaluate, setup_trainer, and what will come beside them.
    const bool trains =
        has_option(*command, "loss") && (has_option(*command, "data") || has_option(*command, "optimizer"));
    if (!trains) continue;
    const Shown& own = shown[std::string(command->name)];
    INFO(fmt::format("tests/golden/train lacks files that call {}(…)", command->name));
    CHECK(own.results >= 1);
    CHECK(own.hard >= 1);
    CHECK(own.refusals >= 1);
  }
}
