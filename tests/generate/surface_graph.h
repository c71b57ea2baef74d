// Writes Relax functions of surface programs: parameters, statements, ifs, loops, nested functions, calls.
// The statement families (surface_values.cpp, surface_control.cpp, surface_calls.cpp) go through this class.
#pragma once

#include <map>

#include "tests/generate/surface_operands.h"

namespace relish::generate {

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
  GraphWriter(TextWriter& writer, SurfaceModule& program)
      : w_(writer), module_(program), scope_{writer}, operands_(writer, scope_) {}

  void write(const std::string& name, bool is_main);

 private:
  using Known = GraphScope::Known;
  using Place = GraphPlace;

  // surface_graph.cpp
  std::vector<std::string> parameters(GraphCallee& callee);
  void header(const GraphCallee& callee, const std::vector<std::string>& params, bool is_private,
              bool annotated);
  void return_statement(GraphCallee& callee);
  void statements(std::int64_t count, Place place);
  void statement(Place place);
  void dataflow_statement();

  // surface_values.cpp
  void operator_statement(const Place& place);
  void tuple_statement(const Place& place);
  void scalar_statement(const Place& place);
  void shape_statement(const Place& place);
  void cast_statement(const Place& place);

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
  bool loose() const { return w_.options.loose; }
  bool runs() const { return w_.options.evaluated; }

  TextWriter& w_;
  SurfaceModule& module_;
  GraphScope scope_;
  GraphOperands operands_;
  bool pure_ = true;
  bool uses_module_ = false;
  bool alias_ = true;
};

}  // namespace relish::generate
