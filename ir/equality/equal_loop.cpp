// Structural equality of scalars, loop statements and prim_funcs.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/equality/equal_internal.h"
#include "ir/printer/printer.h"
#include "ir/verify/block_regions.h"

namespace relish::comparing {

bool Comparison::vars(const ScalarVar& a, const ScalarVar& b) {
  if (a.dtype() != b.dtype() || !pairing_.pair(a.id(), b.id())) {
    return differ(fmt::format("variable {} and {}", a.name(), b.name()));
  }
  b_to_a_.insert_or_assign(b.id(), Scalar(a));
  return true;
}

bool Comparison::buffers(const Buffer& a, const Buffer& b) {
  bool known = pairing_.paired(a.id());
  if (!pairing_.pair(a.id(), b.id())) return differ(fmt::format("buffer {} and {}", a.name(), b.name()));
  if (known) return true;
  if (a.pointer_type() != b.pointer_type())
    return differ(fmt::format("{} is a pointer in one of them only, or of another type", a.name()));
  if (a.dtype() != b.dtype() || a.scope() != b.scope()) {
    return differ(
        fmt::format("buffer {} has dtype {} and {}", a.name(), name_of(a.dtype()), name_of(b.dtype())));
  }
  if (a.elem_offset().defined() != b.elem_offset().defined())
    return differ(fmt::format("buffer {} has an offset in one of them only", a.name()));
  return scalar_lists(a.shape(), b.shape()) && scalar_lists(a.strides(), b.strides()) &&
         scalars(a.elem_offset(), b.elem_offset());
}

class ScalarComparison {
 public:
  explicit ScalarComparison(Comparison& comparison) : c_(comparison) {}

  bool operator()(const IntLiteral& a, const IntLiteral& b) { return a.value == b.value; }
  bool operator()(const FloatLiteral& a, const FloatLiteral& b) {
    return std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value) ||
           (a.value != a.value && b.value != b.value);
  }
  bool operator()(const VarUse& a, const VarUse& b) { return c_.vars(a.var, b.var); }
  bool operator()(const Binary& a, const Binary& b) { return pair(a, b); }
  bool operator()(const Compare& a, const Compare& b) { return pair(a, b); }
  bool operator()(const Logical& a, const Logical& b) { return pair(a, b); }
  bool operator()(const Not& a, const Not& b) { return c_.scalars(a.a, b.a); }
  bool operator()(const Cast& a, const Cast& b) { return c_.scalars(a.a, b.a); }
  bool operator()(const Reinterpret& a, const Reinterpret& b) { return c_.scalars(a.a, b.a); }
  bool operator()(const Let& a, const Let& b) {
    return c_.scalars(a.value, b.value) && c_.vars(a.var, b.var) && c_.scalars(a.body, b.body);
  }
  bool operator()(const Select& a, const Select& b) {
    return a.lazy == b.lazy && c_.scalars(a.condition, b.condition) && c_.scalars(a.a, b.a) &&
           c_.scalars(a.b, b.b);
  }
  bool operator()(const Load& a, const Load& b) {
    return c_.buffers(*a.buffer, *b.buffer) && c_.scalar_lists(a.indices, b.indices);
  }
  bool operator()(const IntrinsicCall& a, const IntrinsicCall& b) {
    return a.intrinsic == b.intrinsic && c_.scalar_lists(a.args, b.args);
  }
  bool operator()(const TextLiteral& a, const TextLiteral& b) { return a.value == b.value; }
  bool operator()(const DataOf& a, const DataOf& b) {
    return a.whole == b.whole && c_.buffers(*a.buffer, *b.buffer);
  }
  bool operator()(const ForeignCall& a, const ForeignCall& b) {
    return a.function == b.function && a.of_module == b.of_module && a.names == b.names &&
           c_.scalar_lists(a.args, b.args);
  }

 private:
  template <class K>
  bool pair(const K& a, const K& b) {
    return a.op == b.op && c_.scalars(a.a, b.a) && c_.scalars(a.b, b.b);
  }
  Comparison& c_;
};

bool Comparison::scalars(const Scalar& a, const Scalar& b) {
  if (a.defined() != b.defined()) return differ("an expression is missing in one of them");
  if (!a.defined()) return true;
  bool same = a->kind.index() == b->kind.index() && a.dtype() == b.dtype() &&
              std::visit(
                  [&](const auto& left) {
                    return ScalarComparison(*this)(left, std::get<std::decay_t<decltype(left)>>(b->kind));
                  },
                  a->kind);
  // The text is made for the innermost difference only.
  return same || !difference_.empty() ? same : differ(fmt::format("{} and {}", print(a), print(b)));
}

bool Comparison::scalar_lists(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
  if (a.size() != b.size()) return differ(fmt::format("{} expressions and {}", a.size(), b.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!scalars(a[i], b[i])) return false;
  }
  return true;
}

namespace {

// The statements in order, without sequences and without those that do nothing.
void flatten(const Stmt& stmt, std::vector<const Stmt*>& into) {
  if (!stmt.defined()) return;
  if (const SeqStmt* sequence = stmt.as<SeqStmt>()) {
    for (const Stmt& inner : sequence->body) flatten(inner, into);
    return;
  }
  const Evaluate* evaluate = stmt.as<Evaluate>();
  if (!evaluate || !evaluate->value.as_int()) into.push_back(&stmt);
}

}  // namespace

class StmtComparison {
 public:
  explicit StmtComparison(Comparison& comparison) : c_(comparison) {}

  bool operator()(const For& a, const For& b) {
    if (a.kind != b.kind) return c_.differ(fmt::format("the kinds of loop {} differ", a.var.name()));
    if (a.thread != b.thread) return c_.differ(fmt::format("the threads of loop {} differ", a.var.name()));
    return c_.scalars(a.begin, b.begin) && c_.scalars(a.extent, b.extent) && c_.scalars(a.step, b.step) &&
           c_.vars(a.var, b.var) && c_.attributes(a.annotations, b.annotations) && c_.stmts(a.body, b.body);
  }
  bool operator()(const While& a, const While& b) {
    return c_.scalars(a.condition, b.condition) && c_.stmts(a.body, b.body);
  }
  bool operator()(const BlockStmt& a, const BlockStmt& b) {
    c_.place_.push_back("block " + a.name);
    bool same = iters(a, b) && predicates(a.predicate, b.predicate) &&
                allocations(a.allocations, b.allocations) && view_lists(a.views, b.views) && declared(a, b) &&
                c_.attributes(a.attributes, b.attributes) && c_.stmts(a.init, b.init) &&
                c_.stmts(a.body, b.body);
    if (same) c_.place_.pop_back();
    return same;
  }
  bool operator()(const Store& a, const Store& b) {
    return c_.buffers(a.buffer, b.buffer) && c_.scalar_lists(a.indices, b.indices) &&
           c_.scalars(a.value, b.value);
  }
  bool operator()(const AllocateStmt& a, const AllocateStmt& b) {
    return c_.scalars(a.value, b.value) && c_.buffers(a.buffer, b.buffer);
  }
  bool operator()(const ViewStmt& a, const ViewStmt& b) { return views(a.view, b.view); }
  bool operator()(const Break&, const Break&) { return true; }
  bool operator()(const Continue&, const Continue&) { return true; }
  bool operator()(const Return& a, const Return& b) { return c_.scalars(a.value, b.value); }
  bool operator()(const DefineScalar& a, const DefineScalar& b) {
    // Older dialects have one spelling for both, so a let equals a local that is never assigned.
    return c_.scalars(a.value, b.value) && c_.vars(a.var, b.var);
  }
  bool operator()(const AssignScalar& a, const AssignScalar& b) {
    return c_.scalars(a.value, b.value) && c_.vars(a.var, b.var);
  }
  bool operator()(const IfStmt& a, const IfStmt& b) {
    return c_.scalars(a.condition, b.condition) && c_.stmts(a.then_body, b.then_body) &&
           c_.stmts(a.else_body, b.else_body);
  }
  bool operator()(const AssertStmt& a, const AssertStmt& b) {
    if (a.message != b.message) return c_.differ("the messages of an assertion differ");
    return c_.scalars(a.condition, b.condition);
  }
  bool operator()(const Evaluate& a, const Evaluate& b) { return c_.scalars(a.value, b.value); }
  bool operator()(const SeqStmt&, const SeqStmt&) { return true; }  // flattened before

  bool allocations(const std::vector<Buffer>& a, const std::vector<Buffer>& b) {
    if (a.size() != b.size()) return c_.differ(fmt::format("{} allocations and {}", a.size(), b.size()));
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!c_.buffers(a[i], b[i])) return false;
    }
    return true;
  }

 private:
  bool views(const BufferView& a, const BufferView& b) {
    if (a.region.has_value() != b.region.has_value()) return c_.differ("the forms of a view differ");
    return c_.buffers(a.source, b.source) && (!a.region || regions({*a.region}, {*b.region})) &&
           c_.buffers(a.buffer, b.buffer);
  }
  bool view_lists(const std::vector<BufferView>& a, const std::vector<BufferView>& b) {
    if (a.size() != b.size()) return c_.differ(fmt::format("{} views and {}", a.size(), b.size()));
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!views(a[i], b[i])) return false;
    }
    return true;
  }
  bool iters(const BlockStmt& a, const BlockStmt& b) {
    if (a.iters.size() != b.iters.size()) {
      return c_.differ(fmt::format("{} axes and {}", a.iters.size(), b.iters.size()));
    }
    for (std::size_t i = 0; i < a.iters.size(); ++i) {
      const IterVar &x = a.iters[i], &y = b.iters[i];
      if (x.kind != y.kind)
        return c_.differ(fmt::format("axis {} is spatial in one of them only", x.var.name()));
      if (!c_.scalars(x.begin, y.begin) || !c_.scalars(x.extent, y.extent) ||
          !c_.scalars(x.binding, y.binding)) {
        return false;
      }
    }
    for (std::size_t i = 0; i < a.iters.size(); ++i) {
      if (!c_.vars(a.iters[i].var, b.iters[i].var)) return false;
    }
    return true;
  }

  bool predicates(const Scalar& a, const Scalar& b) {
    auto always = [](const Scalar& predicate) { return !predicate.defined() || predicate.as_int() == 1; };
    return (always(a) && always(b)) || c_.scalars(a, b);
  }

  // Regions that a block does not declare are those that it accesses: the text always has them.
  bool declared(const BlockStmt& a, const BlockStmt& b) {
    BlockRegions x = regions_of(a), y = regions_of(b);
    return regions(x.reads, y.reads) && regions(x.writes, y.writes);
  }
  bool regions(const std::vector<BufferRegion>& a, const std::vector<BufferRegion>& b) {
    if (a.size() != b.size()) return c_.differ(fmt::format("{} regions and {}", a.size(), b.size()));
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!c_.buffers(a[i].buffer, b[i].buffer)) return false;
      if (a[i].dims.size() != b[i].dims.size()) return c_.differ("the ranks of a region differ");
      for (std::size_t k = 0; k < a[i].dims.size(); ++k) {
        const RegionDim &x = a[i].dims[k], &y = b[i].dims[k];
        bool single = x.extent.as_int() == 1 && y.extent.as_int() == 1;
        if (!c_.scalars(x.begin, y.begin) || (!single && !c_.scalars(x.extent, y.extent))) return false;
      }
    }
    return true;
  }

  Comparison& c_;
};

bool Comparison::stmts(const Stmt& a, const Stmt& b) {
  std::vector<const Stmt*> left, right;
  flatten(a, left);
  flatten(b, right);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    const StmtNode &x = left[i]->node(), &y = right[i]->node();
    if (x.kind.index() != y.kind.index()) {
      return differ(fmt::format("statement {} is of another kind in the second", i + 1));
    }
    bool same = std::visit(
        [&](const auto& node) {
          return StmtComparison(*this)(node, std::get<std::decay_t<decltype(node)>>(y.kind));
        },
        x.kind);
    if (!same) return differ(fmt::format("statement {} differs", i + 1));
  }
  if (left.size() != right.size())
    return differ(fmt::format("{} statements and {}", left.size(), right.size()));
  return true;
}

bool Comparison::prim_funcs(const PrimFunc& a, const PrimFunc& b) {
  place_.push_back("prim_func " + a.name);
  if (a.name != b.name) return differ("is called " + b.name + " in the second");
  if (a.is_private != b.is_private) return differ("is private in one of them only");
  if (a.result_dtype != b.result_dtype) return differ("the result dtypes differ");
  if (!attributes(a.attributes, b.attributes)) return false;
  if (a.params.size() != b.params.size()) {
    return differ(fmt::format("{} parameters and {}", a.params.size(), b.params.size()));
  }
  for (std::size_t i = 0; i < a.params.size(); ++i) {
    const PrimParam &x = a.params[i], &y = b.params[i];
    if (x.name() != y.name()) return differ(fmt::format("parameter {} and {}", x.name(), y.name()));
    if (x.value.index() != y.value.index())
      return differ(fmt::format("parameter {} is a buffer in one only", x.name()));
    if (x.buffer() ? !buffers(*x.buffer(), *y.buffer()) : !vars(*x.scalar(), *y.scalar())) return false;
  }
  if (!StmtComparison(*this).allocations(a.allocations, b.allocations) || !stmts(a.body, b.body))
    return false;
  place_.pop_back();
  return true;
}

}  // namespace relish::comparing
