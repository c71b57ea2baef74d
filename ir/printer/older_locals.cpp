#include "ir/printer/older_locals.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/rewriting/rewrite.h"

namespace relish {
namespace {

// The locals that become buffers: those that are assigned, and those without a value, which is zero today and
// not known to an older reader.
std::unordered_map<std::uint64_t, Buffer> buffers_of_locals(const Stmt& body) {
  std::unordered_set<std::uint64_t> assigned;
  for_each_stmt(body, [&](const Stmt& stmt) {
    if (const auto* assign = stmt.as<AssignScalar>()) assigned.insert(assign->var.id());
  });
  std::unordered_map<std::uint64_t, Buffer> buffers;
  for_each_stmt(body, [&](const Stmt& stmt) {
    const auto* define = stmt.as<DefineScalar>();
    if (!define || define->let || (define->value.defined() && !assigned.contains(define->var.id()))) return;
    const ScalarVar& var = define->var;
    buffers.emplace(var.id(), Buffer(var.name(), var.dtype(), {int_literal(DType::Int32, 1)}, "local"));
  });
  return buffers;
}

Scalar zero_of(DType dtype) { return is_float(dtype) ? float_literal(dtype, 0) : int_literal(dtype, 0); }

class LocalsToBuffers {
 public:
  explicit LocalsToBuffers(const std::unordered_map<std::uint64_t, Buffer>& buffers) : buffers_(buffers) {
    for (const auto& [id, buffer] : buffers_) {
      loads_.emplace(id, load(buffer, first()));
      made_.insert(buffer.id());
    }
  }

  PrimFunc operator()(const PrimFunc& function) const {
    PrimFunc copy = function;
    // First the uses, which shapes of buffers may have, too; then what defines and assigns.
    copy.body = rewrite(substitute(function.body, loads_), nullptr,
                        [&](const Stmt& stmt) { return replacement(stmt); });
    copy.body = without_allocations(copy.body, copy.allocations);
    return copy;
  }

 private:
  static std::vector<Scalar> first() { return {int_literal(DType::Int32, 0)}; }

  Stmt store(const ScalarVar& var, Scalar value, const Stmt& stmt) const {
    return make_stmt(Store{buffers_.at(var.id()), first(), std::move(value)}, stmt->span, stmt->comments);
  }

  std::optional<Stmt> replacement(const Stmt& stmt) const {
    if (const auto* define = stmt.as<DefineScalar>(); define && buffers_.contains(define->var.id())) {
      const Scalar value = define->value.defined() ? define->value : zero_of(define->var.dtype());
      return make_stmt(SeqStmt{{make_stmt(AllocateStmt{buffers_.at(define->var.id())}, stmt->span),
                                store(define->var, value, stmt)}},
                       stmt->span);
    }
    if (const auto* assign = stmt.as<AssignScalar>(); assign && buffers_.contains(assign->var.id()))
      return store(assign->var, assign->value, stmt);
    if (const auto* sequence = stmt.as<SeqStmt>()) return flat(stmt, *sequence);
    if (const auto* block = stmt.as<BlockStmt>()) return with_regions(stmt, *block);
    return std::nullopt;
  }

  // A buffer is seen by what follows it in its own sequence.
  static std::optional<Stmt> flat(const Stmt& stmt, const SeqStmt& sequence) {
    const auto is_nested = [](const Stmt& inner) { return inner.as<SeqStmt>() && !inner->comments; };
    if (std::none_of(sequence.body.begin(), sequence.body.end(), is_nested)) return std::nullopt;
    SeqStmt copy;
    for (const Stmt& inner : sequence.body) {
      if (is_nested(inner)) {
        const std::vector<Stmt>& body = inner.as<SeqStmt>()->body;
        copy.body.insert(copy.body.end(), body.begin(), body.end());
      } else {
        copy.body.push_back(inner);
      }
    }
    return make_stmt(std::move(copy), stmt->span, stmt->comments);
  }

  // What is allocated at the beginning of a scope belongs to the block or function, as the reader has it.
  Stmt without_allocations(const Stmt& body, std::vector<Buffer>& allocations) const {
    const auto* sequence = body.as<SeqStmt>();
    if (!sequence) return body;
    std::vector<Stmt> rest;
    for (const Stmt& stmt : sequence->body) {
      const auto* made = stmt.as<AllocateStmt>();
      if (made && made_.contains(made->buffer.id()))
        allocations.push_back(made->buffer);
      else
        rest.push_back(stmt);
    }
    if (rest.size() == sequence->body.size()) return body;
    return body->comments ? make_stmt(SeqStmt{std::move(rest)}, body->span, body->comments)
                          : seq(std::move(rest), body->span);
  }

  // Declared regions name the buffers of the locals outside that the block reads and assigns.
  std::optional<Stmt> with_regions(const Stmt& stmt, const BlockStmt& block) const {
    BlockStmt copy = block;
    copy.body = without_allocations(block.body, copy.allocations);
    if (block.reads || block.writes) {
      std::unordered_set<std::uint64_t> inside;
      for (const Buffer& buffer : copy.allocations) inside.insert(buffer.id());
      for_each_stmt(stmt, [&](const Stmt& inner) {
        if (const auto* made = inner.as<AllocateStmt>()) inside.insert(made->buffer.id());
        if (const auto* nested = inner.as<BlockStmt>())
          for (const Buffer& buffer : nested->allocations) inside.insert(buffer.id());
      });
      const auto add = [&](std::optional<std::vector<BufferRegion>>& regions, const Buffer& buffer) {
        if (!regions || !made_.contains(buffer.id()) || inside.contains(buffer.id())) return;
        const auto same = [&](const BufferRegion& region) { return region.buffer == buffer; };
        if (std::none_of(regions->begin(), regions->end(), same))
          regions->push_back({buffer, {{int_literal(DType::Int32, 0), int_literal(DType::Int32, 1)}}});
      };
      for_each_scalar(stmt, [&](const Scalar& scalar) {
        if (const auto* used = scalar.as<Load>()) add(copy.reads, *used->buffer);
      });
      for_each_stmt(stmt, [&](const Stmt& inner) {
        if (const auto* written = inner.as<Store>()) add(copy.writes, written->buffer);
      });
    }
    return make_stmt(std::move(copy), stmt->span, stmt->comments);
  }

  const std::unordered_map<std::uint64_t, Buffer>& buffers_;
  ScalarMap loads_;
  std::unordered_set<std::uint64_t> made_;
};

}  // namespace

std::optional<PrimFunc> with_buffers_for_locals(const PrimFunc& function) {
  if (!function.body.defined()) return std::nullopt;
  const std::unordered_map<std::uint64_t, Buffer> buffers = buffers_of_locals(function.body);
  if (buffers.empty()) return std::nullopt;
  return LocalsToBuffers(buffers)(function);
}

Module as_older_dialects_say(const Module& module) {
  Module copy = module;
  for (const GlobalFunction& function : module.functions) {
    const auto* prim_func = std::get_if<PrimFuncPtr>(&function);
    if (!prim_func) continue;
    if (std::optional<PrimFunc> changed = with_buffers_for_locals(**prim_func))
      copy.set(std::make_shared<const PrimFunc>(*std::move(changed)));
  }
  return copy;
}

}  // namespace relish
