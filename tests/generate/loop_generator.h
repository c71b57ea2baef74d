// Generation of one prim_func: parameters, then nests of loops that fill every output and temporary before
// anything reads it. Indices are in range, divisors not zero and loops bounded by construction. The construct
// families (loop_scalars.cpp, loop_nests.cpp, loop_control.cpp) add to the body through this class.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/nodes/stmt.h"
#include "tests/generate/program.h"
#include "tests/generate/random.h"

namespace relish::generate {

struct GeneratedLoop {
  PrimFuncPtr function;
  std::size_t inputs = 0;  // the leading parameters that are read; the others are results
  int agreement = 2;
};

class LoopGenerator {
 public:
  LoopGenerator(Random& random, const Options& options, std::set<std::string>& constructs)
      : random_(random), options_(options), constructs_(constructs) {}

  GeneratedLoop run(std::string name);

  // --- For the families.

  // An integer in scope that lies in [0, extent).
  struct Index {
    Scalar value, extent;
  };
  Random& random() { return random_; }
  const Options& options() const { return options_; }
  void cover(const char* construct) { constructs_.insert(construct); }
  void loosen(int agreement) { agreement_ = std::max(agreement_, agreement); }
  CommentsPtr comments();
  Attributes attributes();

  // loop_scalars.cpp
  Scalar scalar(DType dtype, int depth);
  Scalar condition(int depth);
  // In [0, extent) whatever the variables are.
  Scalar index_below(const Scalar& extent);
  std::vector<Scalar> indices_of(const Buffer& buffer);

  // loop_nests.cpp: statements that write every element of the buffer.
  Stmt fill(const Buffer& buffer);
  // loop_control.cpp: free statements that change elements of `target`, which is filled.
  Stmt scribble(const Buffer& target);

  // What is in scope; families push and, through Scope, take away again.
  std::vector<Index> indices;
  std::vector<ScalarVar> scalars;  // parameters of scalar type and locals
  std::vector<ScalarVar> locals;   // those that may be assigned
  std::vector<Buffer> readable;

  struct Scope {
    explicit Scope(LoopGenerator& generator)
        : g(generator),
          indices(g.indices.size()),
          scalars(g.scalars.size()),
          locals(g.locals.size()),
          readable(g.readable.size()) {}
    Scope(const Scope&) = delete;
    ~Scope() {
      g.indices.resize(indices);
      g.scalars.resize(scalars);
      g.locals.resize(locals);
      g.readable.resize(readable);
    }
    LoopGenerator& g;
    std::size_t indices, scalars, locals, readable;
  };

 private:
  DType dtype();
  std::vector<Scalar> shape();
  Scalar far_product(DType dtype);
  Scalar leaf(DType dtype);
  Scalar literal_of(DType dtype);
  Scalar real(DType dtype, int depth);
  Scalar integer(DType dtype, int depth);
  Scalar divisor(DType dtype, int depth);
  Stmt reduction(const Buffer& buffer);
  std::vector<Stmt> statements(const Buffer& target, int depth);
  Stmt statement(const Buffer& target, int depth);

  Random& random_;
  const Options& options_;
  std::set<std::string>& constructs_;
  int agreement_ = 2;
  bool in_index_ = false;  // what is made now is part of a computed index
  DType home_ = DType::Float32;
  std::vector<Scalar> extents_;  // that shapes are made of
};

}  // namespace relish::generate
