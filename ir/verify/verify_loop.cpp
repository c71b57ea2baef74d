// The verifier of prim_funcs.
#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify_internal.h"
#include "ir/verify/view_bounds.h"

namespace relish::verifying {
namespace {

class PrimFuncVerifier {
 public:
  PrimFuncVerifier(const PrimFunc& function, Reporter& report) : function_(function), report_(report) {}

  void verify() {
    report_.attributes(function_.attributes, NamePlace::PrimFunc, function_.span);
    std::unordered_set<std::string> names;
    for (const PrimParam& param : function_.params) {
      if (!names.insert(param.name()).second) {
        report_.error(function_.span, "verify.parameter",
                      fmt::format("two parameters are called {}", param.name()));
      }
      if (const ScalarVar* scalar = param.scalar()) {
        define(*scalar, Role::Fixed, function_.span);
      } else {
        define(*param.buffer(), function_.span);
      }
    }
    // Symbolic variables of parameter shapes are solved at entry.
    for (const PrimParam& param : function_.params) {
      if (!param.buffer()) continue;
      std::vector<ScalarVar> vars;
      for (const Scalar& dim : param.buffer()->shape()) collect_vars(dim, vars);
      for (const Scalar& stride : param.buffer()->strides()) collect_vars(stride, vars);
      if (param.buffer()->elem_offset().defined()) collect_vars(param.buffer()->elem_offset(), vars);
      for (const ScalarVar& var : vars) {
        if (scope_.emplace(var.id(), Role::Fixed).second) ever_bound_.insert(var.id());
      }
    }
    for (const Buffer& buffer : function_.allocations) allocate(buffer, function_.span);
    if (function_.body.defined()) visit(function_.body);
  }

 private:
  enum class Role { Fixed, Local };  // locals may be assigned

  void define(const ScalarVar& var, Role role, Span span) {
    if (!ever_bound_.insert(var.id()).second) {
      report_.error(span, "verify.loop_variable", fmt::format("variable {} is bound twice", var.name()));
    }
    scope_.insert_or_assign(var.id(), role);
    opened_.push_back(var.id());
  }
  void define(const Buffer& buffer, Span span) {
    if (!ever_bound_.insert(buffer.id()).second) {
      report_.error(span, "verify.buffer", fmt::format("buffer {} is declared twice", buffer.name()));
    }
    report_.scope(buffer, span);
    buffers_.insert(buffer.id());
    opened_buffers_.push_back(buffer.id());
  }
  void allocate(const Buffer& buffer, Span span) {
    if (buffer.is_pointer()) return define(buffer, span);
    for (const Scalar& dim : buffer.shape()) index(dim, span);
    define(buffer, span);
  }

  // What is bound in a nested body is gone behind it.
  template <class F>
  void scoped(F&& body) {
    std::size_t vars = opened_.size(), buffers = opened_buffers_.size();
    body();
    for (; opened_.size() > vars; opened_.pop_back()) scope_.erase(opened_.back());
    for (; opened_buffers_.size() > buffers; opened_buffers_.pop_back())
      buffers_.erase(opened_buffers_.back());
  }

  void visit(const Stmt& stmt) {
    std::visit([&](const auto& kind) { check(kind, stmt->span); }, stmt->kind);
  }
  void body(const Stmt& stmt, Span span) {
    if (!stmt.defined()) {
      report_.error(span, "verify.body", "a statement has no body");
      return;
    }
    scoped([&] { visit(stmt); });
  }

  void check(const For& loop, Span span) {
    report_.attributes(loop.annotations, NamePlace::Loop, span);
    index(loop.begin, span);
    index(loop.extent, span);
    if (loop.step.defined()) index(loop.step, span);
    if (loop.var.dtype() != loop.extent.dtype() || loop.var.dtype() != loop.begin.dtype()) {
      report_.error(span, "verify.loop_type",
                    fmt::format("loop variable {} is {}; its range is {}", loop.var.name(),
                                name_of(loop.var.dtype()), name_of(loop.extent.dtype())));
    }
    ++loops_;
    scoped([&] {
      define(loop.var, Role::Fixed, span);
      body(loop.body, span);
    });
    --loops_;
  }
  void check(const While& loop, Span span) {
    condition(loop.condition, span);
    ++loops_;
    body(loop.body, span);
    --loops_;
  }
  void check(const ViewStmt& declared, Span span) { view(declared.view, span); }
  void view(const BufferView& view, Span span) {
    use(view.source, view.source.shape().size(), span);
    if (view.region) check_region(*view.region, span);
    if (const auto fault = fault_of_view(view)) report_.error(span, "verify.view", *fault);
    for (const Scalar& stride : view.buffer.strides()) index(stride, span);
    if (view.buffer.elem_offset().defined()) index(view.buffer.elem_offset(), span);
    allocate(view.buffer, span);
  }
  void check(const Break&, Span span) { inside_loop("break", span); }
  void check(const Continue&, Span span) { inside_loop("continue", span); }
  void inside_loop(std::string_view what, Span span) {
    if (loops_ == 0) report_.error(span, "verify.control", fmt::format("{} stands outside a loop", what));
  }
  void check(const Return& returned, Span span) {
    scalar(returned.value, span);
    if (function_.result_dtype == returned.value.dtype()) return;
    report_.error(span, "verify.return",
                  fmt::format("{} is returned; the function returns {}", name_of(returned.value.dtype()),
                              function_.result_dtype ? name_of(*function_.result_dtype) : "nothing"));
  }
  void check(const BlockStmt& block, Span span) {
    report_.attributes(block.attributes, NamePlace::Block, span);
    for (const IterVar& iter : block.iters) {
      index(iter.begin, span);
      index(iter.extent, span);
      index(iter.binding, span);
    }
    scoped([&] {
      for (const IterVar& iter : block.iters) define(iter.var, Role::Fixed, span);
      if (block.predicate.defined()) condition(block.predicate, span);
      for (const Buffer& buffer : block.allocations) allocate(buffer, span);
      for (const BufferView& each : block.views) view(each, span);
      for (const auto* regions : {&block.reads, &block.writes}) {
        if (!*regions) continue;
        for (const BufferRegion& region : **regions) check_region(region, span);
      }
      if (block.init.defined()) body(block.init, span);
      body(block.body, span);
    });
  }
  void check_region(const BufferRegion& region, Span span) {
    use(region.buffer, region.dims.size(), span);
    for (const RegionDim& dim : region.dims) {
      index(dim.begin, span);
      index(dim.extent, span);
    }
  }
  void check(const Store& store, Span span) {
    use(store.buffer, store.indices.size(), span);
    for (const Scalar& each : store.indices) index(each, span);
    scalar(store.value, span);
    if (store.value.dtype() != store.buffer.dtype()) {
      report_.error(span, "verify.store",
                    fmt::format("a {} value is stored into buffer {} of {}", name_of(store.value.dtype()),
                                store.buffer.name(), name_of(store.buffer.dtype())));
    }
  }
  void check(const AllocateStmt& allocation, Span span) {
    if (allocation.value.defined()) scalar(allocation.value, span);
    allocate(allocation.buffer, span);
  }
  void check(const DefineScalar& define_scalar, Span span) {
    if (define_scalar.value.defined()) typed(define_scalar.value, define_scalar.var, span);
    define(define_scalar.var, define_scalar.let ? Role::Fixed : Role::Local, span);
  }
  void check(const AssignScalar& assign, Span span) {
    typed(assign.value, assign.var, span);
    auto found = scope_.find(assign.var.id());
    if (found == scope_.end()) {
      report_.error(span, "verify.scalar",
                    fmt::format("variable {} is assigned outside its scope", assign.var.name()));
    } else if (found->second != Role::Local) {
      report_.error(span, "verify.assign",
                    fmt::format("{} is assigned; it is no local scalar", assign.var.name()));
    }
  }
  void check(const IfStmt& branch, Span span) {
    condition(branch.condition, span);
    body(branch.then_body, span);
    if (branch.else_body.defined()) body(branch.else_body, span);
  }
  void check(const AssertStmt& assertion, Span span) { condition(assertion.condition, span); }
  void check(const Evaluate& evaluate, Span span) { scalar(evaluate.value, span); }
  void check(const SeqStmt& sequence, Span) {
    for (const Stmt& stmt : sequence.body) visit(stmt);
  }

  void typed(const Scalar& value, const ScalarVar& var, Span span) {
    scalar(value, span);
    if (value.dtype() == var.dtype()) return;
    report_.error(span, "verify.scalar_type",
                  fmt::format("variable {} is {}; its value is {}", var.name(), name_of(var.dtype()),
                              name_of(value.dtype())));
  }
  void condition(const Scalar& value, Span span) {
    scalar(value, span);
    if (is_bool(value.dtype())) return;
    report_.error(span, "verify.condition",
                  fmt::format("condition {} is {}", print(value), name_of(value.dtype())));
  }
  void index(const Scalar& value, Span span) {
    scalar(value, span);
    if (is_int(value.dtype()) || is_bool(value.dtype())) return;
    report_.error(span, "verify.index", fmt::format("index {} is {}", print(value), name_of(value.dtype())));
  }
  void scalar(const Scalar& value, Span outer) {
    // Variables of lets are visible in their bodies; an expression binds each once.
    for_each_scalar(value, [&](const Scalar& inner) {
      if (const Let* binding = inner.as<Let>()) scope_.insert_or_assign(binding->var.id(), Role::Fixed);
    });
    for_each_scalar(value, [&](const Scalar& inner) {
      Span span = inner.span().known() ? inner.span() : outer;
      if (auto var = inner.as_var(); var && !scope_.contains(var->id())) {
        report_.error(span, "verify.scalar",
                      fmt::format("variable {} is used outside its scope", var->name()));
      }
      if (const DataOf* data = inner.as<DataOf>()) use(*data->buffer, data->buffer->shape().size(), span);
      if (const Load* load = inner.as<Load>()) {
        use(*load->buffer, load->indices.size(), span);
        for (const Scalar& each : load->indices) {
          if (is_int(each.dtype()) || is_bool(each.dtype())) continue;
          report_.error(span, "verify.index",
                        fmt::format("index {} is {}", print(each), name_of(each.dtype())));
        }
      }
    });
  }
  void use(const Buffer& buffer, std::size_t indices, Span span) {
    if (!buffers_.contains(buffer.id())) {
      report_.error(span, "verify.buffer", fmt::format("buffer {} is used outside its scope", buffer.name()));
    }
    if (indices != buffer.shape().size()) {
      report_.error(span, "verify.rank",
                    fmt::format("buffer {} of rank {} is accessed with {} indices", buffer.name(),
                                buffer.rank(), indices));
    }
  }

  const PrimFunc& function_;
  Reporter& report_;
  std::unordered_map<std::uint64_t, Role> scope_;
  std::unordered_set<std::uint64_t> ever_bound_, buffers_;
  std::vector<std::uint64_t> opened_, opened_buffers_;
  int loops_ = 0;  // around the statement
};

}  // namespace

void verify_prim_func(const PrimFunc& function, Reporter& report) {
  PrimFuncVerifier(function, report).verify();
}

}  // namespace relish::verifying
