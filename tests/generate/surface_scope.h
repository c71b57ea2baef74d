// Types of values in surface programs, and what a statement of a Relax function can use.
#pragma once

#include <optional>

#include "tests/generate/surface_writer.h"

namespace relish::generate {

// The type of a value, as the generator knows it.
struct Shown {
  enum Kind { Tensor, Scalar, Shape, Tuple, Function } kind = Tensor;
  std::string dtype = {};          // of tensors and scalars
  std::vector<Dim> dims = {};      // of tensors and shapes
  std::vector<Shown> fields = {};  // of tuples; of functions the parameters, then the result
  friend bool operator==(const Shown& a, const Shown& b) {
    return a.kind == b.kind && a.dtype == b.dtype && a.dims == b.dims && a.fields == b.fields;
  }
};

std::string type_text(TextWriter& w, const Shown& type, bool signature);
std::string shape_text(TextWriter& w, const std::vector<Dim>& dims);
std::string dim_text(const Dim& dim, bool signature);

// Where a statement stands.
struct GraphPlace {
  bool dataflow = false, branch = false, nested = false;
  int depth = 0;
};

struct GraphScope {
  struct Known {
    std::string name;
    Shown type;
  };
  // Puts back what was in scope.
  struct Saved {
    explicit Saved(GraphScope& saved)
        : scope(saved), known(saved.known), symbols(saved.symbols), pinned(saved.pinned) {}
    Saved(const Saved&) = delete;
    ~Saved() {
      scope.known = std::move(known);
      scope.symbols = std::move(symbols);
      scope.pinned = std::move(pinned);
    }
    GraphScope& scope;
    std::vector<Known> known;
    std::vector<Dim> symbols;
    std::set<std::string> pinned;
  };

  TextWriter& w;
  std::vector<Known> known = {};
  std::vector<Dim> symbols = {};      // with a value at this place
  std::set<std::string> pinned = {};  // names whose meaning must stay
  std::set<std::string> taken = {};

  std::string fresh() { return w.new_name(taken); }
  // The name of a new variable: now and then that of an old one, where that is safe.
  std::string target(const GraphPlace& place);
  std::vector<const Known*> those(Shown::Kind kind) const;
  std::optional<Known> some(Shown::Kind kind);
  void know(const std::string& name, const Shown& type);
  Dim dimension();
  Shown tensor_shown();
};

}  // namespace relish::generate
