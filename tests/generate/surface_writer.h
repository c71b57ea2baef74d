// What the writers of surface programs share: lines with their comments, names, spellings.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/generate/random.h"
#include "tests/generate/surface.h"

namespace relish::generate {

inline bool is_float(const std::string& dtype) { return dtype.starts_with("float"); }

class TextWriter {
 public:
  TextWriter(const Options& options, std::uint64_t spelling)
      : options(options), random(options.seed ^ 0x73757266), spelling(spelling * 977 + options.seed) {
    // Values of inexact operations decide nothing, so that both tiers take the same ways.
    exact = random.chance(0.75);
  }

  const Options& options;
  Random random;    // what the program is
  Random spelling;  // how it is written
  SurfaceText result;
  bool exact;

  void cover(const char* construct) { result.constructs.insert(construct); }
  void loosen(int agreement) { result.agreement = std::max(result.agreement, agreement); }
  // One of several spellings of the same.
  std::string spelled(std::initializer_list<const char*> choices) {
    return *(choices.begin() + spelling.below(static_cast<std::int64_t>(choices.size())));
  }
  bool spelled_so(double probability = 0.5) { return spelling.chance(probability); }

  // A line, perhaps with comments.
  void line(const std::string& text) {
    if (options.comments && random.chance(0.06)) raw("# " + new_comment());
    const bool behind = options.comments && random.chance(0.06);
    raw(behind ? text + "  # " + new_comment() : text);
  }
  // A line that cannot have a comment of its own.
  void raw(const std::string& text) {
    result.text += std::string(static_cast<std::size_t>(indent) * 4, ' ') + text + "\n";
  }
  void open(const std::string& header) {
    line(header);
    ++indent;
  }
  void close() { --indent; }
  int indent = 0;

  // A name that is not among `taken`, which has it afterwards.
  std::string new_name(std::set<std::string>& taken);

 private:
  std::string new_comment() {
    result.comments.push_back("remark " + std::to_string(result.comments.size() + 1) + " of x = R.add(y, z)");
    return result.comments.back();
  }
};

// `items` with commas; of one item with a comma behind when `single`.
std::string listed(const std::vector<std::string>& items, bool single = false);

// A dimension as the text has it, with its value in the sample call.
struct Dim {
  std::string text;
  std::int64_t value;
  friend bool operator==(const Dim& a, const Dim& b) { return a.text == b.text; }
};

// A prim_func that graph functions may call.
struct LoopCallee {
  std::string name;
  struct Param {
    bool buffer;
    std::string dtype;
    std::vector<Dim> dims;  // symbolic ones by the callee's names
  };
  std::vector<Param> params;  // inputs and scalars, then outputs
  std::size_t inputs = 0;
  std::string returns;    // dtype of a function that returns a scalar, else empty
  bool in_place = false;  // its one input is its output
};

// surface_loops.cpp
LoopCallee write_prim_func(TextWriter& w, const std::string& name);

}  // namespace relish::generate
