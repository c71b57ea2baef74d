// Writes prim_funcs of surface programs: loops of every kind, blocks, lets, views, vectors, scalars.
#pragma once

#include <fmt/format.h>

#include "tests/generate/surface_writer.h"

namespace relish::generate {

class LoopWriter {
 public:
  explicit LoopWriter(TextWriter& writer) : w(writer) {}

  LoopCallee write(const std::string& name);

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

  TextWriter& w;

  // surface_loops.cpp
  std::string fresh() { return w.new_name(taken_); }
  Buffer new_buffer(const std::vector<Dim>& extents, bool output);
  void declare(const Buffer& buffer, LoopCallee& callee);
  void header(const std::string& name, bool symbolic);
  std::string buffer_type(const Buffer& buffer);
  std::string shape(const std::vector<Dim>& dims);
  bool is_symbol(const Dim& dim) const { return std::isdigit(static_cast<unsigned char>(dim.text[0])) == 0; }
  // dtype of indices along this dimension
  std::string index_dtype(const Dim& dim) const { return is_symbol(dim) ? "int64" : "int32"; }
  void fill(const Buffer& buffer);

  // surface_scalars.cpp: expressions of exactly this dtype.
  std::string scalar(const std::string& dtype, int depth);
  std::string leaf(const std::string& dtype);
  std::string infix(const char* sign, std::initializer_list<const char*> names, const std::string& x,
                    const std::string& y);
  std::string division(const std::string& dtype, int depth);
  std::string bits(const std::string& dtype, int depth);
  std::string intrinsic(const std::string& dtype, int depth);
  std::string literal(const std::string& dtype);
  std::string condition(int depth);
  std::string index_below(const Dim& extent);
  std::string element_of(const Buffer& buffer);
  std::string cast(const std::string& dtype, const std::string& value);

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

  std::vector<Buffer> buffers;
  std::vector<Index> indices;
  std::vector<Local> locals;
  std::vector<Local> lets;  // variables of let expressions, declared at the head
  std::string returns;
  bool threads = true;

  struct Scope {
    explicit Scope(LoopWriter& writer)
        : l(writer), buffers(writer.buffers.size()), locals(writer.locals.size()), indices(writer.indices) {}
    Scope(const Scope&) = delete;
    ~Scope() {
      l.buffers.resize(buffers);
      l.indices = std::move(indices);
      l.locals.resize(locals);
    }
    LoopWriter& l;
    std::size_t buffers, locals;
    std::vector<Index> indices;  // a block with axes hides those of the loops
  };

 private:
  std::set<std::string> taken_;
  std::vector<std::string> params_, matches_;  // as text
  bool in_index_ = false;
};

}  // namespace relish::generate
