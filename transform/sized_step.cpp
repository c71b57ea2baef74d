// A copy with a substitution of symbols.
#include "transform/sized_step.h"

#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"
#include "transform/inline_calls.h"
#include "transform/rebuild.h"

namespace relish {

std::string add_sized_step(Module& module, const std::string& step,
                           const std::map<std::string, std::int64_t>& sizes) {
  Function made = copy_with_fresh_vars(*with_calls_inlined(module, step));
  std::vector<ScalarVar> symbols;
  for (const Var& param : made.params) collect_vars(param.type(), symbols);
  ScalarMap numbers;
  for (const ScalarVar& symbol : symbols)
    if (const auto size = sizes.find(symbol.name()); size != sizes.end())
      numbers.insert_or_assign(symbol.id(), Scalar(size->second));
  if (numbers.empty()) return "";
  std::string name = step + "_sized";
  while (module.find(name)) name += "_";
  made.name = name;
  module.set(substitute(std::make_shared<const Function>(std::move(made)), {}, numbers));
  verify_after(module, "train");
  return name;
}

}  // namespace relish
