// The frame of a generated prim_func: extents, parameters, temporaries, the order of its nests.
#include "tests/generate/loop_generator.h"

#include "tests/generate/names.h"

namespace relish::generate {

CommentsPtr LoopGenerator::comments() {
  if (!options_.comments || !random_.chance(0.1)) return nullptr;
  Comments comments;
  if (random_.chance(0.7)) comments.before.push_back(comment_text(random_));
  if (comments.before.empty() || random_.chance(0.4)) comments.after = comment_text(random_);
  cover("loop comments");
  return std::make_shared<const Comments>(std::move(comments));
}

Attributes LoopGenerator::attributes() {
  Attributes result;
  const auto add = [&](const char* name, Attribute value) { result.emplace_back(name, std::move(value)); };
  if (random_.chance(0.5)) add("pragma_auto_unroll_max_step", Attribute(static_cast<std::int64_t>(16)));
  if (random_.chance(0.3)) add("text", Attribute("a \"quoted\" \\ text"));
  if (random_.chance(0.3)) add("factor", Attribute(0.1));
  if (random_.chance(0.3)) add("flag", Attribute(random_.chance(0.5)));
  if (random_.chance(0.3)) add("sizes", attribute_of({1, -2, 3}));
  return result;
}

DType LoopGenerator::dtype() {
  if (options_.differentiable) return DType::Float64;
  constexpr DType all[] = {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16, DType::Int8,
                           DType::Int16,   DType::Int32,   DType::Int64,   DType::UInt8,    DType::UInt16,
                           DType::UInt32,  DType::UInt64,  DType::Bool};
  return random_.chance(0.6) ? home_ : random_.pick(all);
}

std::vector<Scalar> LoopGenerator::shape() {
  std::vector<Scalar> dims;
  for (std::int64_t rank = random_.between(0, 3); rank > 0; --rank) dims.push_back(random_.pick(extents_));
  return dims;
}

GeneratedLoop LoopGenerator::run(std::string name) {
  constexpr DType homes[] = {DType::Float32, DType::Float32, DType::Float64, DType::Int32,
                             DType::Int64,   DType::Float16, DType::BFloat16};
  home_ = options_.differentiable ? DType::Float64 : random_.pick(homes);
  for (int i = 0; i < 3; ++i) extents_.push_back(int_literal(DType::Int32, random_.between(1, 5)));
  std::vector<std::string> taken{"T", "range", "float"};
  const auto new_name = [&] {
    taken.push_back(parameter_name(random_, taken));
    return taken.back();
  };

  PrimFunc function;
  function.name = std::move(name);
  // A symbolic extent stands alone in the shape of an input, so that every call determines it.
  std::vector<Buffer> inputs;
  if (random_.chance(0.35)) {
    cover("symbolic buffer shape");
    const ScalarVar n(dimension_name(random_), DType::Int64);
    std::vector<Scalar> dims{n};
    if (random_.chance(0.5)) dims.push_back(random_.pick(extents_));
    inputs.emplace_back(new_name(), dtype(), std::move(dims));
    extents_.emplace_back(n);
    if (random_.chance(0.3)) extents_.push_back(Scalar(n) * Scalar(2));
  }
  for (std::int64_t count = random_.between(inputs.empty() ? 1 : 0, 2); count > 0; --count)
    inputs.emplace_back(new_name(), dtype(), shape());
  for (const Buffer& buffer : inputs) {
    function.params.push_back({buffer});
    readable.push_back(buffer);
  }
  if (random_.chance(0.3)) {
    cover("scalar parameter of a prim_func");
    constexpr DType kinds[] = {DType::Int64, DType::Int32, DType::Float32, DType::Float64};
    const ScalarVar scalar(new_name(), options_.differentiable ? DType::Int64 : random_.pick(kinds));
    scalars.push_back(scalar);
    const auto place = random_.between(0, static_cast<std::int64_t>(function.params.size()));
    function.params.insert(function.params.begin() + place, PrimParam{scalar});
  }
  GeneratedLoop result;
  result.inputs = function.params.size();

  std::vector<Stmt> body;
  for (std::int64_t count = random_.chance(0.3) ? random_.between(1, 2) : 0; count > 0; --count) {
    cover("root allocation");
    constexpr std::string_view scopes[] = {"global", "global", "shared", "local"};
    const Buffer temporary(variable_name(random_), dtype(), shape(), std::string(random_.pick(scopes)));
    function.allocations.push_back(temporary);
    body.push_back(fill(temporary));
    readable.push_back(temporary);
  }
  for (std::int64_t count = random_.chance(0.25) ? 2 : 1; count > 0; --count) {
    const Buffer output(new_name(), dtype(), shape());
    function.params.push_back({output});
    body.push_back(fill(output));
    readable.push_back(output);
    if (random_.chance(0.4)) body.push_back(scribble(output));
  }
  function.body = seq(std::move(body));
  if (random_.chance(0.5)) function.attributes = {{"noalias", true}};
  if (random_.chance(0.1))
    for (const auto& [key, value] : attributes())
      function.attributes = with_attribute(std::move(function.attributes), key, value);
  function.is_private = random_.chance(0.2);
  function.comments = comments();
  result.function = std::make_shared<const PrimFunc>(std::move(function));
  result.agreement = agreement_;
  return result;
}

}  // namespace relish::generate
