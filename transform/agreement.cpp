// What texts say of how far two evaluations of them may differ.
#include "transform/agreement.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "runtime/closeness.h"

namespace relish {
namespace {

// What a value is made of: the buffers that it loads, by itself and through the scalars that it names.
class Origins {
 public:
  void define(const ScalarVar& var, const Scalar& value) { loaded_[var.id()].merge(of(value)); }

  std::unordered_set<std::uint64_t> of(const Scalar& value) const {
    std::unordered_set<std::uint64_t> buffers;
    if (!value.defined()) return buffers;
    std::vector<Access> loads;
    collect_loads(value, loads);
    for (const Access& load : loads) buffers.insert(load.buffer->id());
    for_each_scalar(value, [&](const Scalar& part) {
      const std::optional<ScalarVar> var = part.as_var();
      const auto found = var ? loaded_.find(var->id()) : loaded_.end();
      if (found != loaded_.end()) buffers.insert(found->second.begin(), found->second.end());
    });
    return buffers;
  }

 private:
  std::unordered_map<std::uint64_t, std::unordered_set<std::uint64_t>> loaded_;
};

// The float with the fewest digits among the values of a function and of those that it may call: what a
// result may differ by, whatever dtype it has in the end.
class CoarsestFloat {
 public:
  explicit CoarsestFloat(const Module& module) : module_(module) {}

  std::optional<DType> of(const std::string& name) {
    visit(name);
    return found_;
  }

 private:
  void visit(const std::string& name) {
    if (!seen_.insert(name).second) return;
    const FunctionPtr function = module_.function(name);
    if (!function) return;
    for_each_binding(*function, [&](const Binding& binding) { take(binding.var().type()); });
    for (const std::string& callee : global_references(*function)) visit(callee);
  }
  void take(const Type& type) {
    if (const TupleType* fields = type.tuple()) {
      for (const Type& field : fields->fields) take(field);
      return;
    }
    const TensorType* tensor = type.tensor();
    if (!tensor || !tensor->dtype || !is_float(*tensor->dtype)) return;
    if (!found_ || rounding_unit(*tensor->dtype) > rounding_unit(*found_)) found_ = tensor->dtype;
  }

  const Module& module_;
  std::unordered_set<std::string> seen_;
  std::optional<DType> found_;
};

}  // namespace

int agreement_class(const PrimFunc& function) {
  int found = class_of_bits + 1;
  Origins origins;
  std::unordered_set<std::uint64_t> read;
  std::size_t functions = 0, results = 0;
  for_each_scalar(function.body, [&](const Scalar& scalar) {
    if (const auto* load = scalar.as<Load>()) read.insert(load->buffer->id());
    if (scalar.as<IntrinsicCall>()) ++functions;
  });
  for_each_stmt(function.body, [&](const Stmt& stmt) {
    if (const auto* define = stmt.as<DefineScalar>()) return origins.define(define->var, define->value);
    if (const auto* assign = stmt.as<AssignScalar>()) return origins.define(assign->var, assign->value);
    const auto* store = stmt.as<Store>();
    if (!store) return;
    if (origins.of(store->value).contains(store->buffer.id())) found = class_of_composites;
    if (store->value.as<IntrinsicCall>() && !read.contains(store->buffer.id())) ++results;
  });
  if (functions > 0) found = std::max(found, functions == results ? class_of_functions : class_of_composites);
  return found;
}

std::optional<DType> coarsest_float(const Module& module, const std::string& function) {
  return CoarsestFloat(module).of(function);
}

}  // namespace relish
