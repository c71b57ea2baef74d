// The constants of a text that TVM printed with show_meta=True: `metadata = tvm.ir.load_json("""…""")`
// before the module holds a graph of objects as JSON, in which `metadata["relax.expr.Constant"][k]` of the
// text is found. Two layouts are read: that of 2022 to 2025 (strings for indices, tensors in a list of their
// own) and that of tvm-ffi since (node indices as numbers, tensors as nodes).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/ast.h"
#include "runtime/tensor.h"
#include "support/source.h"

namespace relish {

// The text of the JSON when the statement is the assignment above, else null.
const ast::StringValue* tvm_metadata(const ast::Statement& statement);

// The constants in order; none when the graph holds other objects only. Failure(SyntaxError) at `span` when
// the text is no such graph or a tensor is damaged.
std::vector<Tensor> read_tvm_metadata(std::string_view json, Span span);

}  // namespace relish
