// Names, buffers and sizes of prim_funcs that are made of others.
#include "transform/gradient/made_prim_func.h"

#include <fmt/format.h>

namespace relish {

MadePrimFunc::MadePrimFunc(const PrimFunc& source) : source_(source) {
  for (const PrimParam& param : source.params) names_.insert(param.name());
}

std::string MadePrimFunc::fresh_name(const std::string& wanted) {
  std::string name = wanted;
  for (int i = 1; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

Buffer MadePrimFunc::like(const Buffer& buffer, const std::string& name) {
  return Buffer(fresh_name(name), buffer.dtype(), buffer.shape(), "global", buffer.span());
}

PrimFunc MadePrimFunc::empty(const std::string& name) const {
  PrimFunc made;
  made.name = name;
  made.span = source_.span;
  made.is_private = true;
  made.attributes = {{"noalias", true}};
  return made;
}

MadePrimFunc::Own MadePrimFunc::own() const {
  Own own;
  for (const PrimParam& each : source_.params) {
    if (const ScalarVar* scalar = each.scalar()) {
      const ScalarVar fresh(scalar->name(), scalar->dtype(), scalar->span());
      own.scalars.insert_or_assign(scalar->id(), use(fresh));
      own.scalar_params.push_back({fresh});
      continue;
    }
    for (const Scalar& dim : each.buffer()->shape()) {
      std::vector<ScalarVar> vars;
      collect_vars(dim, vars);
      for (const ScalarVar& var : vars)
        own.scalars.try_emplace(var.id(), use(ScalarVar(var.name(), var.dtype(), var.span())));
    }
  }
  return own;
}

StoresToInputs::StoresToInputs(const PrimFunc& function, const std::unordered_set<std::uint64_t>& results) {
  for (const PrimParam& param : function.params)
    if (param.buffer() && !results.contains(param.buffer()->id())) inputs_.insert(param.buffer()->id());
}

void StoresToInputs::look_at(const Buffer& stored, Span span, std::vector<Obstacle>& obstacles) {
  if (inputs_.erase(stored.id()) > 0)
    obstacles.push_back({span, fmt::format("'{}' is an argument and is stored to here", stored.name())});
}

}  // namespace relish
