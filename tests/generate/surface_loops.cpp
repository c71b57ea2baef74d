// The frame of prim_funcs in surface programs: parameters in their forms, and nests that fill the outputs.
#include "tests/generate/surface_loops.h"

#include <algorithm>

namespace relish::generate {
namespace {

constexpr const char* loop_dtypes[] = {"float32", "float32", "float32", "float64",
                                       "int32",   "int64",   "uint8",   "int8"};

}  // namespace

std::string LoopWriter::shape(const std::vector<Dim>& dims) {
  std::vector<std::string> texts;
  for (const Dim& dim : dims) texts.push_back(dim.text);
  return w_.spelled_so(0.8) ? "(" + listed(texts, true) + ")" : "[" + listed(texts) + "]";
}

std::string LoopWriter::buffer_type(const Buffer& buffer) {
  const std::string dims = shape(buffer.dims);
  if (buffer.dtype == "float32" && w_.spelled_so(0.2)) return fmt::format("T.Buffer({})", dims);
  return w_.spelled_so(0.85)
             ? fmt::format("T.Buffer({}, {}\"{}\")", dims, w_.spelled_so(0.3) ? "dtype=" : "", buffer.dtype)
             : fmt::format("T.Buffer[{}, \"{}\"]", dims, buffer.dtype);
}

LoopCallee LoopWriter::write(const std::string& name) {
  scope_.taken = {"T", "R", "I", "range", "float", "n", name, "cls", "print"};
  LoopCallee callee;
  callee.name = name;
  callee.in_place = w_.random.chance(0.15);
  const bool scalar_function = !callee.in_place && w_.random.chance(0.15);
  std::vector<Dim> extents;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t value = w_.random.between(1, 4);
    extents.push_back({std::to_string(value), value});
  }
  const bool symbolic = w_.random.chance(0.35);
  const Dim n{"n", 2};
  std::vector<Buffer> inputs, outputs;
  if (symbolic) {
    w_.cover("symbolic buffer shape");
    Buffer first = new_buffer(extents, false);
    first.dims.insert(first.dims.begin(), n);
    inputs.push_back(first);
    extents.push_back(n);
    if (w_.random.chance(0.3)) extents.push_back({"n * 2", 4});
  }
  if (inputs.empty() || w_.random.chance(0.4)) inputs.push_back(new_buffer(extents, false));
  if (callee.in_place) {
    inputs.resize(1);
    inputs[0].written = true;
  }
  if (!scalar_function && !callee.in_place) {
    for (std::int64_t count = w_.random.chance(0.25) ? 2 : 1; count > 0; --count)
      outputs.push_back(new_buffer(extents, true));
  }
  for (const Buffer& buffer : inputs) declare(buffer, callee);
  if (w_.random.chance(0.35) && !callee.in_place) {
    w_.cover("scalar parameter of a prim_func");
    const Local local{scope_.fresh(), w_.random.chance(0.6) ? "int64" : "float32", false};
    params_.push_back(local.name + ": T." + local.dtype);
    callee.params.push_back({false, local.dtype, {}});
    scope_.locals.push_back(local);
  }
  callee.inputs = callee.params.size();
  for (const Buffer& buffer : outputs) declare(buffer, callee);
  if (scalar_function) {
    callee.returns = returns_ = w_.random.chance(0.5) ? "int64" : "float32";
    w_.cover("prim_func that returns a scalar");
  }
  header(name, symbolic);
  for (const Buffer& buffer : inputs) scope_.buffers.push_back(buffer);
  std::string head = std::move(w_.result.text);
  w_.result.text.clear();
  for (std::int64_t count = w_.random.chance(0.3) ? 1 : 0; count > 0; --count) {
    w_.cover("root allocation");
    const Buffer temporary = new_buffer(extents, true);
    w_.line(fmt::format("{} = T.sblock_alloc_buffer({}, \"{}\")", temporary.name, shape(temporary.dims),
                        temporary.dtype));
    fill(temporary);
    scope_.buffers.push_back(temporary);
  }
  for (const Buffer& output : outputs) {
    fill(output);
    scope_.buffers.push_back(output);
  }
  statements(w_.random.between(1, 4), 2, false);
  if (!returns_.empty()) w_.line("return " + scalars_.scalar(returns_, 2));
  std::string body = std::move(w_.result.text);
  w_.result.text = std::move(head);
  for (const Local& let : scope_.lets) w_.raw(fmt::format("{} = T.{}()", let.name, let.dtype));
  w_.result.text += body;
  w_.raw("");
  --w_.indent;
  return callee;
}

LoopScope::Buffer LoopWriter::new_buffer(const std::vector<Dim>& extents, bool output) {
  Buffer buffer{scope_.fresh(), w_.random.pick(loop_dtypes), {}, output};
  for (std::int64_t rank = w_.random.between(0, 2); rank > 0; --rank)
    buffer.dims.push_back(w_.random.pick(extents));
  return buffer;
}

// A parameter as annotation, or as a handle that is matched.
void LoopWriter::declare(const Buffer& buffer, LoopCallee& callee) {
  const bool needs_match =
      std::any_of(buffer.dims.begin(), buffer.dims.end(), [&](const Dim& d) { return is_symbol(d); });
  if (needs_match || w_.spelled_so(0.3)) {
    const std::string handle = buffer.name + "_handle";
    params_.push_back(handle + ": T.handle");
    matches_.push_back(fmt::format("{} = T.match_buffer({}, {}, \"{}\")", buffer.name, handle,
                                   shape(buffer.dims), buffer.dtype));
  } else {
    params_.push_back(buffer.name + ": " + buffer_type(buffer));
  }
  callee.params.push_back({true, buffer.dtype, buffer.dims});
}

// The decorator, the signature, and what stands before the body, which is left open.
void LoopWriter::header(const std::string& name, bool symbolic) {
  const bool is_private = w_.random.chance(0.2);
  std::vector<std::string> options;
  if (is_private) options.emplace_back("private=True");
  if (w_.spelled_so()) options.emplace_back("s_tir=True");
  w_.line(options.empty() ? "@T.prim_func" : "@T.prim_func(" + listed(options) + ")");
  w_.raw(fmt::format("def {}({}){}:", name, listed(params_), returns_.empty() ? "" : " -> T." + returns_));
  ++w_.indent;
  if (w_.random.chance(0.3)) {
    w_.cover("attributes of a prim_func");
    w_.raw(w_.spelled_so() ? "T.func_attr({\"tirx.noalias\": True})"
                           : "T.func_attr({\"tir.noalias\": True})");
  }
  if (symbolic) w_.raw(w_.spelled_so(0.8) ? "n = T.int64()" : "n = T.var(\"int64\")");
  for (const std::string& match : matches_) w_.raw(match);
}

// Loops that write every element, some with a block.
void LoopWriter::fill(const Buffer& buffer) {
  const LoopScope::Saved saved(scope_);
  const int before = w_.indent;
  std::vector<std::string> loop_names, place;
  const bool block = w_.random.chance(0.5);
  if (!buffer.dims.empty()) {
    while (loop_names.size() < buffer.dims.size()) loop_names.push_back(scope_.fresh());
    std::vector<std::string> extents;
    for (const Dim& dim : buffer.dims) extents.push_back(dim.text);
    if (buffer.dims.size() == 1 || w_.random.chance(0.7)) {
      w_.open(fmt::format("for {} in {}:", listed(loop_names),
                          buffer.dims.size() == 1 && w_.spelled_so() ? "range(" + extents[0] + ")"
                                                                     : "T.grid(" + listed(extents) + ")"));
    } else {
      constexpr const char* kinds[] = {"T.parallel", "T.vectorized", "T.unroll", "T.serial"};
      for (std::size_t i = 0; i < extents.size(); ++i)
        w_.open(fmt::format("for {} in {}({}):", loop_names[i], i == 0 ? w_.random.pick(kinds) : "range",
                            extents[i]));
      w_.cover("kinds of loops");
    }
  }
  place = loop_names;
  if (block) {
    w_.cover("block");
    w_.open(fmt::format("with {}(\"{}\"):", w_.spelled({"T.sblock", "T.block"}), buffer.name));
    if (!loop_names.empty()) {
      place.clear();
      std::string letters;
      for (std::size_t i = 0; i < loop_names.size(); ++i) {
        place.push_back(scope_.fresh());
        letters += 'S';
      }
      if (w_.spelled_so(0.7)) {
        w_.line(fmt::format("{} = T.axis.remap(\"{}\", [{}])", listed(place), letters, listed(loop_names)));
      } else {
        // A comment of the one line must not become one of each.
        bool first = true;
        for (std::size_t i = 0; i < place.size(); ++i) {
          const std::string text =
              fmt::format("{} = T.axis.{}({}, {})", place[i], w_.spelled({"spatial", "S"}),
                          buffer.dims[i].text, loop_names[i]);
          if (first)
            w_.line(text);
          else
            w_.raw(text);
          first = false;
        }
      }
    }
  }
  for (std::size_t i = 0; i < place.size(); ++i)
    scope_.indices.push_back({place[i], index_dtype(buffer.dims[i]), buffer.dims[i]});
  w_.line(fmt::format("{}[{}] = {}", buffer.name, place.empty() ? "()" : listed(place),
                      scalars_.scalar(buffer.dtype, 2)));
  w_.indent = before;
}

LoopCallee write_prim_func(TextWriter& w, const std::string& name) { return LoopWriter(w).write(name); }

}  // namespace relish::generate
