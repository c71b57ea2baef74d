// What to write in an R.function in the place of what Python, NumPy and PyTorch have there: methods and
// subscripts of tensors, calls of other libraries.
#pragma once

#include <string>
#include <string_view>

#include "frontend/names/foreign_texts.h"
#include "frontend/text/ast.h"

namespace relish {

// An operand as written, or another name where that is long.
std::string operand_text(const ast::Expr& expr, std::string_view otherwise = "x");
// "; write R.sum(x)" for the method of a call x.sum(), else "; expected astype or an operator of R".
std::string method_hint(const ast::Attribute& method, const ast::Call& call, const RankOf& rank);
// "; write R.permute_dims(x)" for an attribute of a tensor such as x.T, else "; expected an operator of R".
std::string attribute_hint(const ast::Attribute& attribute);
// "; write R.take(x, 0, axis=0)": the calls that a subscript of a tensor stands for.
std::string subscript_hint(const ast::Subscript& subscript);
// "; did you mean 'R.nn.relu'?" for torch.relu, F.relu and the like; empty for names of no library that is
// known here.
std::string library_hint(const ast::Call& call, const RankOf& rank);
// "; write 3.141592653589793" for np.pi.
std::string library_hint(const ast::Attribute& name);
// The same for a call of a name alone, relu(x).
std::string bare_call_hint(std::string_view name, const ast::Call& call);

}  // namespace relish
