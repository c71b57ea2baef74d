// Printing of the statements of prim_funcs: loops collapsed to T.grid, blocks, stores.
#include <fmt/format.h>

#include <algorithm>

#include "ir/printer/printer_stmt.h"
#include "ir/verify/block_regions.h"

namespace relish::printing {
namespace {

void write_shape(Writer& w, const std::vector<Scalar>& shape) {
  write_tuple(w, shape, [&](const Scalar& dim) { write_scalar(w, dim); });
}

bool is_nothing(const Stmt& stmt) {
  if (!stmt.defined()) return true;
  const SeqStmt* sequence = stmt.as<SeqStmt>();
  return sequence && std::all_of(sequence->body.begin(), sequence->body.end(), is_nothing);
}

class StmtWriter {
 public:
  explicit StmtWriter(Writer& writer) : w_(writer) {}

  // An indented body in a scope of names of its own.
  void body(const Stmt& stmt) {
    ++w_.indent;
    std::size_t mark = w_.names.mark();
    if (is_nothing(stmt)) {
      w_.line("T.evaluate(0)");
    } else {
      write(stmt);
    }
    w_.names.release(mark);
    --w_.indent;
  }

  void write(const Stmt& stmt) {
    // A sequence has no line of its own, so its comments belong to the first line that it prints.
    w_.comments_before(stmt->comments);
    std::visit([&](const auto& kind) { write_kind(stmt, kind); }, stmt->kind);
  }

  void allocations(const std::vector<Buffer>& buffers) {
    std::string_view call = w_.text.dialect(Dialect::D026) ? "T.sblock_alloc_buffer(" : "T.alloc_buffer(";
    for (const Buffer& buffer : buffers) allocation(buffer, call, nullptr);
  }

 private:
  void allocation(const Buffer& buffer, std::string_view call, const CommentsPtr& comments) {
    w_.begin_line();
    w_.out += w_.name(buffer);
    w_.out += " = ";
    w_.out += call;
    write_buffer_arguments(w_, buffer, false);
    w_.out += ')';
    w_.end_line(comments);
  }

  // p: T.let[T.handle("float32")] = T.tvm_stack_alloca("array", 1); without a value p = T.handle("float32").
  void pointer(const AllocateStmt& allocate, const CommentsPtr& comments) {
    std::string type = allocate.buffer.pointer_type();
    std::string value;
    if (allocate.value.defined()) {
      value = std::exchange(w_.out, {});
      write_scalar(w_, allocate.value);
      std::swap(value, w_.out);
      if (w_.text.dialect(Dialect::D026)) type = fmt::format("T.let[{}]", type);
    }
    w_.begin_line();
    const std::string& name = w_.name(allocate.buffer);
    w_.out += value.empty() ? fmt::format("{} = {}", name, type.ends_with(')') ? type : type + "()")
                            : fmt::format("{}: {} = {}", name, type, value);
    w_.end_line(comments);
  }

  // The loops that print as one T.grid: serial from 0, one directly in the other, extents free of the outer
  // variables.
  static std::vector<const For*> grid_of(const For& outer) {
    std::vector<const For*> loops{&outer};
    if (!is_grid_loop(outer)) return loops;
    while (const For* inner = loops.back()->body.as<For>()) {
      if (!is_grid_loop(*inner) || loops.back()->body->comments) break;
      std::vector<ScalarVar> vars;
      collect_vars(inner->extent, vars);
      bool dependent = std::any_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
        return std::any_of(loops.begin(), loops.end(), [&](const For* loop) { return loop->var == var; });
      });
      if (dependent) break;
      loops.push_back(inner);
    }
    return loops;
  }
  static bool is_grid_loop(const For& loop) {
    return loop.kind == LoopKind::Serial && loop.annotations.empty() && loop.begin.as_int() == 0 &&
           !loop.step.defined();
  }

  void write_kind(const Stmt& stmt, const For& outer) {
    std::vector<const For*> loops = grid_of(outer);
    std::size_t mark = w_.names.mark();
    // The extents belong to the scope outside, so they are written before the variables get their names.
    std::string range = range_text(loops);
    for (const For* loop : loops) w_.loops[loop->var.id()] = loop;
    w_.begin_line();
    w_.out += "for ";
    write_list(w_, loops, [&](const For* loop) { w_.out += w_.name(loop->var); });
    w_.out += " in ";
    w_.out += range;
    w_.out += ':';
    w_.end_line(stmt->comments);
    body(loops.back()->body);
    for (const For* loop : loops) w_.loops.erase(loop->var.id());
    w_.names.release(mark);
  }

  std::string range_text(const std::vector<const For*>& loops) {
    std::string before = std::move(w_.out);
    w_.out.clear();
    const For& loop = *loops.front();
    if (loops.size() > 1) {
      w_.out = "T.grid(";
      write_list(w_, loops, [&](const For* each) { write_scalar(w_, each->extent); });
    } else {
      switch (loop.kind) {
        case LoopKind::Serial:
          w_.out = loop.annotations.empty() ? "range(" : "T.serial(";
          break;
        case LoopKind::Parallel:
          w_.out = "T.parallel(";
          break;
        case LoopKind::Vectorized:
          w_.out = "T.vectorized(";
          break;
        case LoopKind::Unrolled:
          w_.out = "T.unroll(";
          break;
        case LoopKind::ThreadBinding:
          w_.out = "T.thread_binding(";
          break;
      }
      const bool named = w_.out != "range(";  // T.serial and its like take the step by name
      if (loop.begin.as_int() != 0 || (loop.step.defined() && !named)) {
        write_scalar(w_, loop.begin);
        w_.out += ", ";
      }
      write_scalar(w_, range_end(loop.begin, loop.extent));
      if (loop.kind == LoopKind::ThreadBinding) {
        w_.out += ", thread=";
        write_string(w_, loop.thread);
      }
      if (loop.step.defined()) {
        w_.out += named ? ", step=" : ", ";
        write_scalar(w_, loop.step);
      }
      if (!loop.annotations.empty()) {
        w_.out += ", annotations=";
        write_dictionary(w_, loop.annotations);
      }
    }
    w_.out += ')';
    std::string text = std::move(w_.out);
    w_.out = std::move(before);
    return text;
  }

  void write_kind(const Stmt& stmt, const While& loop) {
    header("while ", loop.condition, stmt->comments);
    body(loop.body);
  }

  void header(std::string_view word, const Scalar& condition, const CommentsPtr& comments) {
    w_.begin_line();
    w_.out += word;
    write_scalar(w_, condition);
    w_.out += ':';
    w_.end_line(comments);
  }

  void write_kind(const Stmt& stmt, const IfStmt& branch) {
    header("if ", branch.condition, stmt->comments);
    body(branch.then_body);
    const Stmt* rest = &branch.else_body;
    while (!is_nothing(*rest)) {
      const IfStmt* chained = (*rest)->comments ? nullptr : rest->as<IfStmt>();
      if (!chained) {
        w_.line("else:");
        body(*rest);
        break;
      }
      header("elif ", chained->condition, nullptr);
      body(chained->then_body);
      rest = &chained->else_body;
    }
  }

  void write_kind(const Stmt& stmt, const BlockStmt& block) {
    bool current = w_.text.dialect(Dialect::D026);
    BlockRegions regions = regions_of(block);
    w_.begin_line();
    w_.out += current ? "with T.sblock(" : "with T.block(";
    write_string(w_, block.name);
    w_.out += "):";
    w_.end_line(stmt->comments);
    ++w_.indent;
    std::size_t mark = w_.names.mark();
    write_iters(block.iters);
    if (block.predicate.defined()) {
      w_.begin_line();
      w_.out += "T.where(";
      write_scalar(w_, block.predicate);
      w_.out += ")\n";
    }
    write_regions("T.reads(", regions.reads);
    write_regions("T.writes(", regions.writes);
    if (!block.attributes.empty()) {
      w_.begin_line();
      w_.out += current ? "T.sblock_attr(" : "T.block_attr(";
      write_dictionary(w_, block.attributes);
      w_.out += ")\n";
    }
    allocations(block.allocations);
    for (const BufferView& view : block.views) write_view(view, nullptr);
    if (block.init.defined()) {
      w_.line("with T.init():");
      body(block.init);
    }
    if (is_nothing(block.body)) {
      w_.line("T.evaluate(0)");
    } else {
      write(block.body);
    }
    w_.names.release(mark);
    --w_.indent;
  }

  // The loop whose variable the axis repeats with the same range; null for any other axis.
  const For* repeated_loop(const IterVar& iter) const {
    auto var = iter.binding.as_var();
    if (!var) return nullptr;
    auto found = w_.loops.find(var->id());
    if (found == w_.loops.end()) return nullptr;
    const For* loop = found->second;
    bool same = loop->begin.as_int() == 0 && iter.begin.as_int() == 0 &&
                structurally_equal(loop->extent, iter.extent);
    return same ? loop : nullptr;
  }

  // T.axis.remap has letters for two kinds.
  bool in_remap(const IterVar& iter) const {
    return (iter.kind == IterKind::Spatial || iter.kind == IterKind::Reduce) && repeated_loop(iter);
  }

  static std::string_view axis_of(IterKind kind) {
    switch (kind) {
      case IterKind::Spatial:
        return "spatial";
      case IterKind::Reduce:
        return "reduce";
      case IterKind::Ordered:
        return "scan";
      case IterKind::Opaque:
        return "opaque";
    }
    internal_failure(__FILE__, __LINE__, "kind", "unknown kind of axis");
  }

  void write_iters(const std::vector<IterVar>& iters) {
    for (std::size_t at = 0; at < iters.size();) {
      std::size_t end = at;
      while (end < iters.size() && in_remap(iters[end])) ++end;
      if (end - at >= 2) {
        write_remap(iters, at, end);
        at = end;
      } else {
        write_axis(iters[at++]);
      }
    }
  }

  void write_remap(const std::vector<IterVar>& iters, std::size_t begin, std::size_t end) {
    std::vector<const IterVar*> group;
    std::string kinds;
    for (std::size_t i = begin; i < end; ++i) {
      group.push_back(&iters[i]);
      kinds += iters[i].kind == IterKind::Spatial ? 'S' : 'R';
    }
    w_.begin_line();
    write_list(w_, group, [&](const IterVar* iter) { w_.out += w_.name(iter->var); });
    w_.out += fmt::format(" = T.axis.remap(\"{}\", [", kinds);
    write_list(w_, group, [&](const IterVar* iter) { write_scalar(w_, iter->binding); });
    w_.out += "])\n";
  }

  void write_axis(const IterVar& iter) {
    w_.begin_line();
    w_.out += w_.name(iter.var);
    w_.out += fmt::format(" = T.axis.{}(", axis_of(iter.kind));
    if (iter.begin.as_int() == 0) {
      write_scalar(w_, iter.extent);
    } else {
      w_.out += '(';
      write_scalar(w_, iter.begin);
      w_.out += ", ";
      write_scalar(w_, range_end(iter.begin, iter.extent));
      w_.out += ')';
    }
    w_.out += ", ";
    write_scalar(w_, iter.binding);
    w_.out += ")\n";
  }

  void write_regions(std::string_view call, const std::vector<BufferRegion>& regions) {
    w_.begin_line();
    w_.out += call;
    write_list(w_, regions, [&](const BufferRegion& region) { write_region(region); });
    w_.out += ")\n";
  }
  void write_region(const BufferRegion& region) {
    w_.out += w_.name(region.buffer);
    if (region.dims.empty()) {
      w_.out += "[()]";
      return;
    }
    w_.out += '[';
    write_list(w_, region.dims, [&](const RegionDim& dim) {
      write_scalar(w_, dim.begin);
      if (dim.extent.as_int() == 1) return;
      w_.out += ':';
      write_scalar(w_, range_end(dim.begin, dim.extent));
    });
    w_.out += ']';
  }

  void write_view(const BufferView& view, const CommentsPtr& comments) {
    w_.begin_line();
    const std::string source = w_.name(view.source);
    w_.out += w_.name(view.buffer);
    w_.out += " = ";
    if (view.region) {
      w_.out += "T.match_buffer(";
      write_region(*view.region);
      w_.out += ", ";
      write_buffer_arguments(w_, view.buffer, false);
    } else {
      w_.out += "T.decl_buffer(";
      write_buffer_arguments(w_, view.buffer, false);
      w_.out += fmt::format(", data={}{}", source, view.source.is_pointer() ? "" : ".data");
    }
    w_.out += ')';
    w_.end_line(comments);
  }
  void write_kind(const Stmt& stmt, const ViewStmt& declared) { write_view(declared.view, stmt->comments); }

  void write_kind(const Stmt& stmt, const Break&) { write_word("break", stmt->comments); }
  void write_kind(const Stmt& stmt, const Continue&) { write_word("continue", stmt->comments); }
  void write_word(std::string_view word, const CommentsPtr& comments) {
    w_.begin_line();
    w_.out += word;
    w_.end_line(comments);
  }
  void write_kind(const Stmt& stmt, const Return& returned) {
    w_.begin_line();
    w_.out += "return ";
    write_scalar(w_, returned.value);
    w_.end_line(stmt->comments);
  }

  void write_kind(const Stmt& stmt, const Store& store) {
    w_.begin_line();
    w_.out += w_.name(store.buffer);
    write_indices(w_, store.indices);
    w_.out += " = ";
    write_scalar(w_, store.value);
    w_.end_line(stmt->comments);
  }

  void write_kind(const Stmt& stmt, const AllocateStmt& allocate) {
    if (allocate.buffer.is_pointer()) return pointer(allocate, stmt->comments);
    allocation(allocate.buffer, "T.alloc_buffer(", stmt->comments);
  }

  void write_kind(const Stmt& stmt, const DefineScalar& define) {
    // The value is written before the name is given: it may use a variable that the name would shadow.
    std::string before = std::move(w_.out);
    w_.out.clear();
    if (define.value.defined()) {
      w_.out = " = ";
      write_scalar(w_, define.value);
    }
    std::string value = std::move(w_.out);
    w_.out = std::move(before);
    w_.begin_line();
    std::string type = fmt::format("T.{}", name_of(define.var.dtype()));
    if (define.let && w_.text.dialect(Dialect::D026)) type = fmt::format("T.let[{}]", type);
    w_.out += fmt::format("{}: {}{}", w_.name(define.var), type, value);
    w_.end_line(stmt->comments);
  }

  void write_kind(const Stmt& stmt, const AssignScalar& assign) {
    w_.begin_line();
    w_.out += w_.name(assign.var);
    w_.out += " = ";
    write_scalar(w_, assign.value);
    w_.end_line(stmt->comments);
  }

  void write_kind(const Stmt& stmt, const AssertStmt& check) {
    w_.begin_line();
    w_.out += "assert ";
    write_scalar(w_, check.condition);
    w_.out += ", ";
    write_string(w_, check.message);
    w_.end_line(stmt->comments);
  }

  void write_kind(const Stmt& stmt, const Evaluate& evaluate) {
    // Calls stand alone.
    const bool call = evaluate.value.as<IntrinsicCall>() || evaluate.value.as<ForeignCall>();
    w_.begin_line();
    if (!call) w_.out += "T.evaluate(";
    write_scalar(w_, evaluate.value);
    if (!call) w_.out += ')';
    w_.end_line(stmt->comments);
  }

  void write_kind(const Stmt&, const SeqStmt& sequence) {
    for (const Stmt& stmt : sequence.body) {
      if (!is_nothing(stmt)) write(stmt);
    }
  }

  Writer& w_;
};

}  // namespace

void write_buffer_arguments(Writer& w, const Buffer& buffer, bool always_dtype) {
  write_shape(w, buffer.shape());
  if (always_dtype || buffer.dtype() != DType::Float32)
    w.out += fmt::format(", \"{}\"", name_of(buffer.dtype()));
  if (buffer.scope() != "global") {
    w.out += ", scope=";
    write_string(w, buffer.scope());
  }
  if (!buffer.strides().empty()) {
    w.out += ", strides=[";
    write_list(w, buffer.strides(), [&](const Scalar& stride) { write_scalar(w, stride); });
    w.out += ']';
  }
  if (buffer.elem_offset().defined()) {
    w.out += ", elem_offset=";
    write_scalar(w, buffer.elem_offset());
  }
}

void write_body(Writer& w, const std::vector<Buffer>& allocations, const Stmt& body) {
  StmtWriter statements(w);
  statements.allocations(allocations);
  if (is_nothing(body))
    w.line("T.evaluate(0)");
  else
    statements.write(body);
}

void write_stmt(Writer& w, const Stmt& stmt) {
  w.names.reserve_loop_names();
  StmtWriter(w).write(stmt);
}

}  // namespace relish::printing
