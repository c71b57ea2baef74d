// Writes prim_funcs of surface programs: loops of every kind, blocks, lets, views, vectors, scalars.
#pragma once

#include <fmt/format.h>

#include "tests/generate/surface_writer.h"

namespace relish::generate {

// What a statement of a prim_func can use: buffers, indices of loops and axes, scalars.
struct LoopScope {
  struct Buffer {
    std::string name, dtype;
    std::vector<Dim> dims;
    bool written;       // may be stored to
    bool plain = true;  // a whole allocation or parameter: other buffers may share its elements
  };
  struct Index {
    std::string name, dtype;
    Dim extent;  // it lies in [0, extent)
  };
  struct Local {
    std::string name, dtype;
    bool assignable;
  };
  // Puts back what was in scope.
  struct Saved {
    explicit Saved(LoopScope& saved)
        : scope(saved), buffers(saved.buffers.size()), locals(saved.locals.size()), indices(saved.indices) {}
    Saved(const Saved&) = delete;
    ~Saved() {
      scope.buffers.resize(buffers);
      scope.indices = std::move(indices);
      scope.locals.resize(locals);
    }
    LoopScope& scope;
    std::size_t buffers, locals;
    std::vector<Index> indices;  // a block with axes hides those of the loops
  };

  TextWriter& w;
  std::set<std::string> taken = {};
  std::vector<Buffer> buffers = {};
  std::vector<Index> indices = {};
  std::vector<Local> locals = {};
  std::vector<Local> lets = {};  // variables of let expressions, declared at the head

  std::string fresh() { return w.new_name(taken); }
};

inline bool is_symbol(const Dim& dim) { return std::isdigit(static_cast<unsigned char>(dim.text[0])) == 0; }
// dtype of indices along this dimension
inline std::string index_dtype(const Dim& dim) { return is_symbol(dim) ? "int64" : "int32"; }

// Writes expressions of exactly the dtype that is asked for.
class LoopScalars {
 public:
  LoopScalars(TextWriter& writer, LoopScope& known) : w_(writer), scope_(known) {}

  std::string scalar(const std::string& dtype, int depth);
  std::string condition(int depth);
  std::string literal(const std::string& dtype);
  std::string element_of(const LoopScope::Buffer& buffer);

 private:
  std::string leaf(const std::string& dtype);
  std::string infix(const char* sign, std::initializer_list<const char*> names, const std::string& x,
                    const std::string& y);
  std::string division(const std::string& dtype, int depth);
  std::string bits(const std::string& dtype, int depth);
  std::string intrinsic(const std::string& dtype, int depth);
  std::string index_below(const Dim& extent);
  std::string cast(const std::string& dtype, const std::string& value);

  TextWriter& w_;
  LoopScope& scope_;
  bool in_index_ = false;
};

// Writes whole prim_funcs.
class LoopWriter {
 public:
  explicit LoopWriter(TextWriter& writer) : w_(writer), scope_{writer}, scalars_(writer, scope_) {}

  LoopCallee write(const std::string& name);

 private:
  using Buffer = LoopScope::Buffer;
  using Local = LoopScope::Local;

  // surface_loops.cpp
  Buffer new_buffer(const std::vector<Dim>& extents, bool output);
  void declare(const Buffer& buffer, LoopCallee& callee);
  void header(const std::string& name, bool symbolic);
  std::string buffer_type(const Buffer& buffer);
  std::string shape(const std::vector<Dim>& dims);
  void fill(const Buffer& buffer);

  // surface_statements.cpp
  void statements(std::int64_t count, int depth, bool in_loop);
  void statement(int depth, bool in_loop);
  void store();
  void loop_statement(int depth);
  void block_statement();
  void while_statement(int depth);
  void local_statement();
  void view_statement();
  void vector_statement();

  TextWriter& w_;
  LoopScope scope_;
  LoopScalars scalars_;
  std::string returns_;
  std::vector<std::string> params_, matches_;  // as text
};

}  // namespace relish::generate
