// Writes Relax functions of surface programs: parameters, statements, ifs, loops, nested functions, calls.
// The statement families (surface_values.cpp, surface_control.cpp, surface_calls.cpp) go through this class.
#pragma once

#include <map>
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

struct GraphCallee {
  std::string name;
  std::vector<Shown> params;
  Shown result;
  std::vector<Dim> symbols;  // of the signature, by the callee's names
  bool pure = true;
};

struct SurfaceModule {
  std::string name;  // empty: free functions
  std::vector<std::string> functions;
  std::vector<LoopCallee> loops;
  std::vector<GraphCallee> graphs;
  std::vector<std::string> externs;
};

class GraphWriter {
 public:
  GraphWriter(TextWriter& writer, SurfaceModule& module) : w(writer), module(module) {}

  void write(const std::string& name, bool is_main);

  struct Known {
    std::string name;
    Shown type;
  };
  struct Place {
    bool dataflow = false, branch = false, nested = false;
    int depth = 0;
  };

  TextWriter& w;
  SurfaceModule& module;

  // surface_graph.cpp
  std::vector<std::string> parameters(GraphCallee& callee);
  void header(const GraphCallee& callee, const std::vector<std::string>& params, bool is_private,
              bool annotated);
  void return_statement(GraphCallee& callee);
  void statements(std::int64_t count, Place place);
  void statement(Place place);
  std::string fresh() { return w.new_name(taken_); }
  // The name of a new variable: now and then that of an old one, where that is safe.
  std::string target(const Place& place);
  // `name = value` or with the type, as the spelling has it.
  void bind(const std::string& name, const std::string& value, const Shown& type, const Place& place);
  // The value of a call always with the type: what is inferred may say less.
  void bind_called(const std::string& value, const Shown& type, const Place& place);
  std::string type_text(const Shown& type, bool signature);
  std::string dim_text(const Dim& dim, bool signature);
  std::vector<const Known*> those(Shown::Kind kind) const;
  std::optional<Known> some(Shown::Kind kind);
  void know(const std::string& name, const Shown& type);
  Dim dimension();
  Shown tensor_shown();
  std::string shape_text(const std::vector<Dim>& dims);

  // surface_values.cpp
  std::string element(const std::string& dtype);
  std::string constant(const Shown& type);
  // An operand of exactly this type; may write bindings before.
  std::string provide(const Shown& type, const Place& place);
  // An expression of exactly this type that computes something.
  std::string expression(const Shown& type, const Place& place);
  std::string condition(const Place& place);
  void operator_statement(const Place& place);
  void tuple_statement(const Place& place);
  void scalar_statement(const Place& place);
  void shape_statement(const Place& place);
  void cast_statement(const Place& place);
  void dataflow_statement();

  // surface_control.cpp
  void if_statement(const Place& place);
  void for_statement(const Place& place);
  void while_statement(const Place& place);
  void nested_statement(const Place& place);
  void recursion_statement(const Place& place);
  void closure_statement(const Place& place);

  // surface_calls.cpp
  void call_statement(const Place& place);
  void call_tir_statement(const Place& place);
  void direct_call_statement(const Place& place);
  void packed_statement(const Place& place);
  std::string global(const std::string& name);

  // Whether the program may have what only the interpreter runs, or what nothing runs without a library.
  bool loose() const { return w.options.loose; }
  bool runs() const { return w.options.evaluated; }

  std::vector<Known> known;
  bool pure = true;

 private:
  friend struct GraphScope;
  std::set<std::string> taken_;
  std::set<std::string> pinned_;  // names whose meaning must stay
  std::vector<Dim> symbols_;      // with a value at this place
  bool uses_module_ = false;
  bool alias_ = true;
};

// Puts back what was in scope.
struct GraphScope {
  explicit GraphScope(GraphWriter& writer)
      : g(writer), known(writer.known), symbols(writer.symbols_), pinned(writer.pinned_) {}
  GraphScope(const GraphScope&) = delete;
  ~GraphScope() {
    g.known = std::move(known);
    g.symbols_ = std::move(symbols);
    g.pinned_ = std::move(pinned);
  }
  GraphWriter& g;
  std::vector<GraphWriter::Known> known;
  std::vector<Dim> symbols;
  std::set<std::string> pinned;
};

}  // namespace relish::generate
