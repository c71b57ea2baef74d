// A substitution of symbols, in the function and in the gradient that its user wrote for it.
#include "transform/bind_symbols.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/operators/user_gradient.h"
#include "ir/verify/verify.h"
#include "support/choices.h"
#include "support/failure.h"
#include "support/render.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

std::vector<ScalarVar> symbols_of(const Function& function) {
  std::vector<ScalarVar> symbols;
  for (const Var& param : function.params) collect_vars(param.type(), symbols);
  return symbols;
}

FunctionPtr bound(const FunctionPtr& function, const std::map<std::string, std::int64_t>& sizes) {
  ScalarMap numbers;
  for (const ScalarVar& symbol : symbols_of(*function)) {
    const auto size = sizes.find(symbol.name());
    if (size != sizes.end()) numbers.insert_or_assign(symbol.id(), Scalar(size->second));
  }
  return substitute(function, {}, numbers);
}

}  // namespace

Module bind_symbols(const Module& module, std::string_view name,
                    const std::map<std::string, std::int64_t>& sizes) {
  const FunctionPtr function = relax_function(module, name);
  std::vector<std::string> known;
  for (const ScalarVar& symbol : symbols_of(*function))
    if (std::find(known.begin(), known.end(), symbol.name()) == known.end()) known.push_back(symbol.name());
  for (const auto& [wanted, size] : sizes) {
    if (std::find(known.begin(), known.end(), wanted) == known.end()) {
      fail(ErrorClass::Usage, function->span, "bind_symbols.name",
           fmt::format("no parameter of {} has a size '{}'{}", name, printable(wanted),
                       among_choices(wanted, known)));
    }
    RELISH_CHECK(size >= 0, wanted);
  }

  Module result = module;
  const auto replace = [&](const FunctionPtr& made) {
    check_replaces(result, *made);
    result.set(made);
  };
  replace(bound(function, sizes));
  if (const FunctionPtr gradient = user_gradient(module, name)) replace(bound(gradient, sizes));
  verify_after(result, "bind_symbols");
  return result;
}

}  // namespace relish
