// Construction of loop statements, and how a prim_func uses its buffer parameters.
#include "ir/nodes/stmt.h"

#include <unordered_map>

#include "ir/scalars/scalar_order.h"
#include "support/failure.h"

namespace relish {

Stmt make_stmt(StmtKind kind, Span span, CommentsPtr comments) {
  return Stmt(std::make_shared<const StmtNode>(StmtNode{span, std::move(kind), std::move(comments)}));
}

Stmt seq(std::vector<Stmt> body, Span span) {
  std::vector<Stmt> flat;
  flat.reserve(body.size());
  for (Stmt& stmt : body) {
    RELISH_CHECK(stmt.defined());
    const auto* nested = stmt.as<SeqStmt>();
    if (nested && !stmt->comments)
      flat.insert(flat.end(), nested->body.begin(), nested->body.end());
    else
      flat.push_back(std::move(stmt));
  }
  if (flat.size() == 1) return flat[0];
  return make_stmt(SeqStmt{std::move(flat)}, span);
}

namespace {

// Walks a body in the order of execution. A load after a store of the same parameter reads what the function
// itself has written, so it makes no input of the parameter.
class AccessWalk {
 public:
  explicit AccessWalk(const PrimFunc& function) : accesses_(function.params.size()) {
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      if (const Buffer* buffer = function.params[i].buffer()) index_of_.emplace(buffer->id(), i);
    }
    if (function.body.defined()) visit(function.body);
  }

  std::vector<ParamAccess> take() { return std::move(accesses_); }

 private:
  void visit(const Stmt& stmt) {
    std::visit([&](const auto& node) { walk(node); }, stmt->kind);
  }

  void walk(const For& loop) {
    loads(loop.begin);
    loads(loop.extent);
    if (loop.step.defined()) loads(loop.step);
    visit(loop.body);
  }
  void walk(const While& loop) {
    loads(loop.condition);
    visit(loop.body);
  }
  void walk(const BlockStmt& block) {
    for (const IterVar& iter : block.iters) {
      loads(iter.begin);
      loads(iter.extent);
      loads(iter.binding);
    }
    if (block.predicate.defined()) loads(block.predicate);
    for (const BufferView& each : block.views) view(each);
    if (block.init.defined()) visit(block.init);
    visit(block.body);
  }
  void walk(const Store& store) {
    for (const Scalar& index : store.indices) loads(index);
    loads(store.value);
    auto found = index_of_.find(store.buffer.id());
    if (found != index_of_.end()) accesses_[found->second].written = true;
  }
  void walk(const AllocateStmt& allocate) {
    if (allocate.value.defined()) loads(allocate.value);
  }
  void walk(const ViewStmt& declared) { view(declared.view); }
  void walk(const Break&) {}
  void walk(const Continue&) {}
  void walk(const Return& returned) { loads(returned.value); }
  // What goes through a view of a parameter goes to the parameter.
  void view(const BufferView& view) {
    auto source = index_of_.find(view.source.id());
    if (source != index_of_.end()) index_of_.insert_or_assign(view.buffer.id(), source->second);
  }
  void walk(const DefineScalar& define) {
    if (define.value.defined()) loads(define.value);
  }
  void walk(const AssignScalar& assign) { loads(assign.value); }
  void walk(const IfStmt& branch) {
    loads(branch.condition);
    // Each branch starts from what was written before both.
    const std::vector<ParamAccess> before = accesses_;
    visit(branch.then_body);
    if (!branch.else_body.defined()) return;
    std::vector<ParamAccess> after_then = std::exchange(accesses_, before);
    visit(branch.else_body);
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      accesses_[i].read |= after_then[i].read;
      accesses_[i].written |= after_then[i].written;
    }
  }
  void walk(const AssertStmt& assertion) { loads(assertion.condition); }
  // An element that is asked for is not read: nothing depends on what it holds.
  void walk(const Evaluate& evaluate) {
    if (const auto* asked = evaluate.value.as<Load>())
      for (const Scalar& index : asked->indices) loads(index);
    else
      loads(evaluate.value);
  }
  void walk(const SeqStmt& sequence) {
    for (const Stmt& stmt : sequence.body) visit(stmt);
  }

  void loads(const Scalar& root) {
    std::vector<const Scalar*> stack{&root};
    while (!stack.empty()) {
      const Scalar& scalar = *stack.back();
      stack.pop_back();
      if (const auto* load = scalar.as<Load>()) {
        auto found = index_of_.find(load->buffer->id());
        if (found != index_of_.end() && !accesses_[found->second].written)
          accesses_[found->second].read = true;
      }
      // What gets the memory of a parameter may do with it what it likes.
      if (const auto* data = scalar.as<DataOf>()) {
        auto found = index_of_.find(data->buffer->id());
        if (found != index_of_.end()) accesses_[found->second] = {true, true};
      }
      for_each_operand(scalar, [&](const Scalar& operand) { stack.push_back(&operand); });
    }
  }

  std::vector<ParamAccess> accesses_;
  std::unordered_map<std::uint64_t, std::size_t> index_of_;
};

}  // namespace

std::vector<ParamAccess> param_accesses(const PrimFunc& function) { return AccessWalk(function).take(); }

}  // namespace relish
