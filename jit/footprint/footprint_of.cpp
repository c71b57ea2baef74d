// From the values of a call to its footprint.
#include "jit/footprint/footprint_of.h"

#include <fmt/format.h>

#include <algorithm>

#include "jit/footprint/footprint_walk.h"
#include "jit/footprint/kernel_footprint.h"

namespace relish::jit {
namespace {

std::int64_t held_bytes(const Tensor& tensor) {
  return (tensor.byte_size() + memory_line - 1) / memory_line * memory_line;
}

Footprint::Part part_of(Footprint::Kind kind, const Tensor& tensor, std::string name, Span span,
                        std::string_view function) {
  Footprint::Part part{.kind = kind, .bytes = held_bytes(tensor), .name = std::move(name)};
  part.dtype = tensor.dtype();
  part.shape = tensor.shape();
  part.span = span;
  part.function = function;
  return part;
}

// The arguments of the whole as leaves, and what they hold. A tensor that is given twice is held once.
class Arguments {
 public:
  Arguments(Footprint& found, std::string_view function, const step::Donated& donated)
      : found_(found), function_(function), donated_(donated) {}

  void add(const Value& value, const ValueTree& tree, const std::string& name, Span span) {
    if (tree.kind == ValueTree::Tuple) {
      for (std::size_t i = 0; i < tree.fields.size(); ++i)
        add(value.fields().at(i), tree.fields[i], fmt::format("{}.{}", name, i), span);
      return;
    }
    if (tree.kind == ValueTree::TextLeaf) return;
    LeafFacts leaf{.made = true};
    const bool given = tree.has_storage() && stored_ < donated_.size() && donated_[stored_];
    stored_ += tree.has_storage() ? 1 : 0;
    if (value.is_tensor()) {
      for (const std::int64_t dim : value.tensor().shape()) leaf.dims.emplace_back(dim);
      leaf.storage = storage_of(value.tensor(), name, span, given);
    } else if (value.is_shape()) {
      for (const std::int64_t dim : value.shape().dims) leaf.dims.emplace_back(dim);
    } else if (value.is_scalar() && !is_float(value.scalar().dtype)) {
      leaf.integer = value.scalar().integer;
    }
    leaves.leaves.push_back(std::move(leaf));
  }

  LeafList leaves;

 private:
  std::size_t storage_of(const Tensor& tensor, const std::string& name, Span span, bool given) {
    const auto [known, fresh] = storages_.try_emplace(tensor.data(), leaves.storages.size());
    if (!fresh) {
      ++leaves.storages[known->second].owners;
      return known->second;
    }
    leaves.storages.push_back({held_bytes(tensor), 1, given});
    found_.arguments += held_bytes(tensor);
    found_.parts.push_back(
        part_of(given ? Footprint::Kind::Donated : Footprint::Kind::Argument, tensor, name, span, function_));
    return known->second;
  }

  Footprint& found_;
  const std::string_view function_;
  const step::Donated& donated_;
  std::size_t stored_ = 0;  // leaves so far
  std::unordered_map<const void*, std::size_t> storages_;
};

void sort_parts(Footprint& found) {
  std::stable_sort(found.parts.begin(), found.parts.end(),
                   [](const Footprint::Part& a, const Footprint::Part& b) { return a.bytes > b.bytes; });
}

}  // namespace

Footprint footprint_of_steps(ProgramSteps& steps, const Function& function, const std::vector<Value>& args,
                             const step::Donated& donated, int threads) {
  Footprint found;
  const FunctionSteps& own = steps.of(function, donated);
  Arguments arguments(found, own.name, donated);
  for (std::size_t i = 0; i < args.size(); ++i)
    arguments.add(args[i], own.params.at(i), function.params[i].name(), function.params[i].span());
  FootprintProgram program{steps, threads, found};
  const CallFacts facts = facts_of_call(program, function, arguments.leaves, donated);
  std::unordered_set<std::size_t> counted;
  std::size_t next = 0;
  for_each_leaf(own.result, [&](const ValueTree& leaf) {
    const std::size_t storage = facts.results.at(next++).storage;
    const std::size_t given = arguments.leaves.storages.size();
    if (storage == no_storage || !counted.insert(storage).second) return;
    if (storage < given) {
      const Storage& argument = arguments.leaves.storages[storage];
      if (argument.own) found.donated += argument.bytes;
      return;
    }
    if (own.places[leaf.place].origin == Place::Constant) return;
    found.results += facts.made.at(storage - given);
    const auto part = program.parts.find({own.name, leaf.place});
    if (part != program.parts.end()) found.parts[part->second].kind = Footprint::Kind::Result;
  });
  found.arena = facts.arena;
  found.peak = found.arguments + found.constants + facts.peak;
  sort_parts(found);
  return found;
}

Footprint footprint_of_prim_func(const PrimFunc& function, const std::vector<Value>& operands, int threads) {
  Footprint found;
  std::unordered_map<std::uint64_t, std::int64_t> known;
  const std::vector<ParamAccess> accesses = param_accesses(function);
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const Value& value = operands.at(i);
    if (const ScalarVar* scalar = function.params[i].scalar()) {
      if (value.is_scalar() && !is_float(scalar->dtype()))
        known.emplace(scalar->id(), value.scalar().integer);
      continue;
    }
    const Buffer& buffer = *function.params[i].buffer();
    const Tensor& tensor = value.tensor();
    for (std::size_t d = 0; d < buffer.shape().size(); ++d)
      if (const auto var = buffer.shape()[d].as_var()) known.emplace(var->id(), tensor.shape().at(d));
    const bool result = accesses[i].written && !accesses[i].read;
    (result ? found.results : found.arguments) += held_bytes(tensor);
    found.parts.push_back(part_of(result ? Footprint::Kind::Result : Footprint::Kind::Argument, tensor,
                                  buffer.name(), buffer.span(), function.name));
  }
  KernelFootprint kernel = footprint_of_kernel(function, threads, [&](const ScalarVar& var) -> Size {
    const auto size = known.find(var.id());
    return size == known.end() ? Size() : Size(size->second);
  });
  found.buffers = kernel.bytes;
  found.complete = kernel.complete;
  std::move(kernel.buffers.begin(), kernel.buffers.end(), std::back_inserter(found.parts));
  found.peak = found.arguments + found.results + found.buffers;
  sort_parts(found);
  return found;
}

}  // namespace relish::jit
