// Printing of prim_funcs: decorator, parameters, and what is declared before the body.
#include <fmt/format.h>

#include <algorithm>

#include "ir/printer/older_locals.h"
#include "ir/printer/printer_stmt.h"
#include "ir/printer/reserved_names.h"
#include "ir/rewriting/rewrite.h"
#include "ir/scalars/symbols.h"

namespace relish::printing {
namespace {

bool is_constant_shape(const Buffer& buffer) {
  const auto constant = [](const Scalar& value) { return value.as_int().has_value(); };
  return std::all_of(buffer.shape().begin(), buffer.shape().end(), constant) &&
         std::all_of(buffer.strides().begin(), buffer.strides().end(), constant) &&
         (!buffer.elem_offset().defined() || constant(buffer.elem_offset()));
}

// Whether the function is in block style: then the root block is shown as a comment.
bool has_blocks(const PrimFunc& function) {
  bool found = !function.allocations.empty();
  if (!found && function.body.defined()) {
    for_each_stmt(function.body, [&](const Stmt& stmt) { found = found || stmt.as<BlockStmt>(); });
  }
  return found;
}

class PrimFuncWriter {
 public:
  PrimFuncWriter(Writer& writer, const PrimFunc& function) : w_(writer), function_(function) {}

  void write() {
    w_.graph_level = false;
    w_.text.uses_loops = true;
    w_.names.reserve_loop_names();
    w_.comments_before(function_.comments);
    write_signature();
    ++w_.indent;
    write_head();
    if (has_blocks(function_)) {
      w_.line(w_.text.dialect(Dialect::D026) ? "# with T.sblock(\"root\"):" : "# with T.block(\"root\"):");
    }
    write_body(w_, function_.allocations, function_.body);
    --w_.indent;
  }

 private:
  void write_signature() {
    for (const PrimParam& param : function_.params) {
      param.buffer() ? w_.name(*param.buffer()) : w_.name(*param.scalar());
    }
    w_.begin_line();
    w_.out += "@T.prim_func";
    bool current = w_.text.dialect(Dialect::D026);
    std::string options = function_.is_private ? "private=True" : "";
    if (!is_checked(function_.attributes))
      options += options.empty() ? "check_well_formed=False" : ", check_well_formed=False";
    if (current) options += options.empty() ? "s_tir=True" : ", s_tir=True";
    if (!options.empty()) w_.out += fmt::format("({})", options);
    w_.end_line();
    w_.begin_line();
    w_.out += fmt::format("def {}(", identifier(function_.name));
    write_list(w_, function_.params, [&](const PrimParam& param) { write_param(param); });
    w_.out += function_.result_dtype ? fmt::format(") -> T.{}:", name_of(*function_.result_dtype)) : "):";
    w_.end_line(function_.comments);
  }

  // A buffer whose shape or layout has variables comes as a handle and is matched in the body, where they can
  // be declared.
  void write_param(const PrimParam& param) {
    if (const ScalarVar* scalar = param.scalar()) {
      w_.out += fmt::format("{}: T.{}", w_.name(*scalar), name_of(scalar->dtype()));
      return;
    }
    const Buffer& buffer = *param.buffer();
    if (buffer.is_pointer()) {
      w_.out += fmt::format("{}: {}", w_.name(buffer), buffer.pointer_type());
      return;
    }
    // So does one with keywords in the dialect of 2022, whose brackets have no place for them.
    const bool keywords =
        buffer.scope() != "global" || !buffer.strides().empty() || buffer.elem_offset().defined();
    if (!is_constant_shape(buffer) || (keywords && w_.text.dialect(Dialect::D2022))) {
      const std::string wanted = param.handle.empty() ? "var_" + w_.name(buffer) : param.handle;
      std::string handle = w_.names.fresh(wanted);
      w_.out += fmt::format("{}: T.handle", handle);
      handles_.emplace_back(std::move(handle), buffer);
      return;
    }
    bool subscript = w_.text.dialect(Dialect::D2022);
    w_.out += fmt::format("{}: T.Buffer{}", w_.name(buffer), subscript ? '[' : '(');
    write_buffer_arguments(w_, buffer, true);
    w_.out += subscript ? ']' : ')';
  }

  void write_head() {
    const Attributes written = without_unchecked(function_.attributes);
    if (!written.empty()) {
      w_.begin_line();
      w_.out += "T.func_attr(";
      write_dictionary(w_, written, /*prim_func=*/true);
      w_.out += ")\n";
    }
    SymbolList symbols;
    for (const auto& [handle, buffer] : handles_) {
      for (const Scalar& dim : buffer.shape()) symbols.add_mentioned(dim);
      for (const Scalar& stride : buffer.strides()) symbols.add_mentioned(stride);
      if (buffer.elem_offset().defined()) symbols.add_mentioned(buffer.elem_offset());
    }
    std::unordered_set<std::uint64_t> declared;
    for (const PrimParam& param : function_.params) {
      if (param.scalar()) declared.insert(param.scalar()->id());
    }
    for (const ScalarVar& symbol : symbols.vars()) {
      if (!declared.insert(symbol.id()).second) continue;
      bool old = w_.text.dialect(Dialect::D2022);
      w_.line(old ? fmt::format("{} = T.var(\"{}\")", w_.name(symbol), name_of(symbol.dtype()))
                  : fmt::format("{} = T.{}()", w_.name(symbol), name_of(symbol.dtype())));
    }
    write_let_variables();
    for (const auto& [handle, buffer] : handles_) {
      w_.begin_line();
      w_.out += fmt::format("{} = T.match_buffer({}, ", w_.name(buffer), handle);
      write_buffer_arguments(w_, buffer, false);
      w_.out += ")\n";
    }
  }

  // Variables of T.Let are declared before the body, as other readers of the text want them.
  void write_let_variables() {
    if (!function_.body.defined()) return;
    std::unordered_set<std::uint64_t> written;
    for_each_scalar(function_.body, [&](const Scalar& scalar) {
      const Let* binding = scalar.as<Let>();
      if (!binding || !written.insert(binding->var.id()).second) return;
      const std::string& name = w_.name(binding->var);
      const std::string_view dtype = name_of(binding->var.dtype());
      w_.line(w_.text.dialect(Dialect::D2022) ? fmt::format("{} = T.var(\"{}\")", name, dtype)
                                              : fmt::format("{} = T.{}()", name, dtype));
    });
  }

  Writer& w_;
  const PrimFunc& function_;
  std::vector<std::pair<std::string, Buffer>> handles_;
};

}  // namespace

void write_prim_func(Writer& w, const PrimFunc& function) {
  if (!w.text.dialect(Dialect::D026)) {
    if (const std::optional<PrimFunc> older = with_buffers_for_locals(function))
      return PrimFuncWriter(w, *older).write();
  }
  PrimFuncWriter(w, function).write();
}

}  // namespace relish::printing
