// A walk over the statements of a kernel that keeps account of its buffers as its code takes them
// (jit/kernel/codegen_stmt.cpp): those of a block with the block, others to the end of their sequence.
#include "jit/footprint/kernel_footprint.h"

#include <algorithm>

#include "jit/kernel/local_buffers.h"

namespace relish::jit {
namespace {

class BufferWalk {
 public:
  BufferWalk(const PrimFunc& function, int threads, const SizeOf& size_of, KernelFootprint& found)
      : function_(function), threads_(threads), size_of_(size_of), found_(found) {}

  // The most that the statement holds at one time.
  std::int64_t most(const Stmt& stmt) {
    if (!stmt.defined()) return 0;
    if (const auto* n = stmt.as<For>()) return of_loop(*n);
    if (const auto* n = stmt.as<While>()) return most(n->body);
    if (const auto* n = stmt.as<IfStmt>()) return std::max(most(n->then_body), most(n->else_body));
    if (const auto* n = stmt.as<AllocateStmt>()) return taken(n->buffer);
    if (const auto* n = stmt.as<SeqStmt>()) {
      std::int64_t held = 0, highest = 0;
      for (const Stmt& child : n->body) {
        const std::int64_t inner = most(child);
        highest = std::max(highest, held + inner);
        if (child.as<AllocateStmt>()) held += inner;
      }
      return highest;
    }
    if (const auto* n = stmt.as<BlockStmt>())
      return taken(n->allocations) + std::max(most(n->init), most(n->body));
    return 0;
  }

  std::int64_t taken(const std::vector<Buffer>& buffers) {
    std::int64_t bytes = 0;
    for (const Buffer& buffer : buffers) bytes += taken(buffer);
    return bytes;
  }

 private:
  // Each thread of a parallel loop has buffers of its own.
  std::int64_t of_loop(const For& loop) {
    const std::int64_t outside = on_threads_;
    if (loop.kind == LoopKind::Parallel && outside == 1) {
      const auto extent = evaluate_int(loop.extent, size_of_);
      on_threads_ = std::clamp<std::int64_t>(extent.value_or(threads_), 1, threads_);
    }
    const std::int64_t each = most(loop.body);
    const std::int64_t bytes = outside == 1 ? each * on_threads_ : each;
    on_threads_ = outside;
    return bytes;
  }

  std::int64_t taken(const Buffer& buffer) {
    if (local_bytes(buffer)) return 0;
    Footprint::Part part;
    part.kind = Footprint::Kind::Buffer;
    part.name = buffer.name();
    part.dtype = buffer.dtype();
    part.span = buffer.span().known() ? buffer.span() : function_.span;
    part.function = function_.name;
    std::int64_t bytes = relish::size_of(buffer.dtype());
    for (const Scalar& dim : buffer.shape()) {
      const auto extent = evaluate_int(dim, size_of_);
      if (!extent || *extent < 0) {
        found_.complete = false;
        return 0;
      }
      part.shape.push_back(*extent);
      bytes *= *extent;
    }
    part.bytes = std::max(memory_line, (bytes + memory_line - 1) / memory_line * memory_line);
    const std::int64_t each = part.bytes;
    part.bytes *= on_threads_;
    found_.buffers.push_back(std::move(part));
    return each;
  }

  const PrimFunc& function_;
  const int threads_;
  const SizeOf& size_of_;
  KernelFootprint& found_;
  std::int64_t on_threads_ = 1;  // of the statement that is looked at
};

}  // namespace

KernelFootprint footprint_of_kernel(const PrimFunc& function, int threads, const SizeOf& size_of) {
  KernelFootprint found;
  BufferWalk walk(function, threads, size_of, found);
  found.bytes = walk.taken(function.allocations);
  found.bytes += walk.most(function.body);
  return found;
}

}  // namespace relish::jit
