// Statements of prim_funcs in surface programs.
#include <algorithm>

#include "tests/generate/surface_loops.h"

namespace relish::generate {

void LoopWriter::statements(std::int64_t count, int depth, bool in_loop) {
  const LoopScope::Saved saved(scope_);
  for (; count > 0; --count) statement(depth, in_loop);
}

void LoopWriter::store() {
  std::vector<const Buffer*> targets;
  for (const Buffer& buffer : scope_.buffers) {
    if (buffer.written) targets.push_back(&buffer);
  }
  if (targets.empty()) {
    w_.cover("evaluate");
    w_.line(w_.spelled_so(0.9) ? "T.evaluate(0)" : "pass");
    return;
  }
  const Buffer target = *w_.random.pick(targets);
  const std::string place = scalars_.element_of(target), value = scalars_.scalar(target.dtype, 2);
  if (w_.random.chance(0.25)) {
    w_.cover("augmented store");
    if (target.dtype.starts_with("float")) w_.loosen(5);
    constexpr const char* signs[] = {"+", "-", "*"};
    const std::string sign = w_.random.pick(signs);
    w_.line(w_.spelled_so() ? fmt::format("{} {}= {}", place, sign, value)
                            : fmt::format("{} = {} {} {}", place, place, sign, value));
    return;
  }
  if (target.dtype.starts_with("float")) w_.loosen(5);
  w_.line(fmt::format("{} = {}", place, value));
}

void LoopWriter::statement(int depth, bool in_loop) {
  if (depth <= 0) return store();
  switch (w_.random.below(12)) {
    case 0: {
      w_.cover("if in a prim_func");
      w_.open("if " + scalars_.condition(1) + ":");
      statements(w_.random.between(1, 2), depth - 1, in_loop);
      w_.close();
      if (w_.random.chance(0.25)) {
        w_.cover("elif in a prim_func");
        w_.open("elif " + scalars_.condition(1) + ":");
        statements(1, depth - 1, in_loop);
        w_.close();
      }
      if (w_.random.chance(0.5)) {
        w_.open("else:");
        statements(1, depth - 1, in_loop);
        w_.close();
      }
      return;
    }
    case 1:
    case 2:
      return loop_statement(depth);
    case 3:
      return while_statement(depth);
    case 4:
    case 5:
      return local_statement();
    case 6:
      return view_statement();
    case 7:
      return vector_statement();
    case 8:
      return block_statement();
    case 9: {
      std::vector<const Local*> assignable;
      for (const Local& local : scope_.locals) {
        if (local.assignable) assignable.push_back(&local);
      }
      if (assignable.empty()) return store();
      w_.cover("assignment of a local");
      const Local local = *w_.random.pick(assignable);
      if (local.dtype.starts_with("float")) w_.loosen(5);
      w_.line(fmt::format("{} = {}", local.name, scalars_.scalar(local.dtype, 2)));
      return;
    }
    case 10:
      if (in_loop && w_.random.chance(0.6)) {
        w_.cover("break, continue");
        w_.open("if " + scalars_.condition(1) + ":");
        w_.line(w_.random.chance(0.5) ? "break" : "continue");
        w_.close();
        return;
      }
      if (!returns_.empty() && w_.random.chance(0.6)) {
        w_.cover("early return");
        w_.open("if " + scalars_.condition(1) + ":");
        w_.line("return " + scalars_.scalar(returns_, 1));
        w_.close();
        return;
      }
      return store();
    default:
      if (w_.random.chance(0.3)) {
        w_.cover("assertion");
        w_.line(fmt::format("assert ({}) % 7 >= 0, \"a \\\"message\\\"\"", scalars_.scalar("int32", 1)));
        return;
      }
      return store();
  }
}

void LoopWriter::loop_statement(int depth) {
  const std::string var = scope_.fresh();
  const std::int64_t extent = w_.random.between(1, 4);
  const std::string end = std::to_string(extent);
  std::string range;
  bool serial = true;
  switch (w_.random.below(6)) {
    case 0:
      range = w_.spelled_so() ? "range(" + end + ")" : "T.serial(" + end + ")";
      break;
    case 1:
      w_.cover("loop with a step");
      range = fmt::format("range(0, {}, {})", end, w_.random.between(1, 3));
      break;
    case 2:
      w_.cover("annotated loop");
      range = fmt::format("T.serial({}, annotations={{\"pragma_unroll\": 1}})", end);
      break;
    case 3:
      w_.cover("thread binding");
      serial = false;
      range = w_.spelled_so() ? fmt::format("T.thread_binding({}, thread=\"blockIdx.x\")", end)
                              : fmt::format("T.thread_binding({}, \"blockIdx.x\")", end);
      break;
    case 4:
      serial = false;
      w_.cover("unrolled loop");
      range = "T.unroll(" + end + ")";
      break;
    default:
      range = w_.spelled_so() ? "T.grid(" + end + ")" : "range(" + end + ")";
  }
  w_.open(fmt::format("for {} in {}:", var, range));
  {
    const LoopScope::Saved saved(scope_);
    scope_.indices.push_back({var, "int32", {end, extent}});
    statements(w_.random.between(1, 3), depth - 1, serial);
  }
  w_.close();
}

void LoopWriter::while_statement(int depth) {
  w_.cover("while in a prim_func");
  const std::string k = scope_.fresh();
  w_.line(w_.spelled_so() ? fmt::format("{}: T.int32 = 0", k) : k + " = 0");
  w_.open(fmt::format("while {} < {}:", k, w_.random.between(1, 4)));
  {
    const LoopScope::Saved saved(scope_);
    scope_.locals.push_back({k, "int32", false});
    w_.line(w_.spelled_so() ? k + " += 1" : fmt::format("{} = {} + 1", k, k));
    statements(w_.random.between(1, 2), depth - 1, true);
  }
  w_.close();
}

// The three meanings: assignable, declared without a value, and never changed.
void LoopWriter::local_statement() {
  constexpr const char* dtypes[] = {"float32", "int32", "int64", "bool"};
  const std::string name = scope_.fresh(), dtype = w_.random.pick(dtypes);
  const std::string value = scalars_.scalar(dtype, 2);
  // Only these spellings say the dtype of a value that is a plain number.
  switch (w_.random.below(3)) {
    case 0:
      w_.cover("assignable scalar");
      w_.line(w_.spelled_so() ? fmt::format("{}: T.{} = {}", name, dtype, value)
                              : fmt::format("{} = {}", name, value));
      scope_.locals.push_back({name, dtype, true});
      return;
    case 1:
      w_.cover("declared scalar");
      w_.line(fmt::format("{}: T.{}", name, dtype));
      scope_.locals.push_back({name, dtype, true});
      return;
    default:
      w_.cover("let");
      w_.line(fmt::format(
          fmt::runtime(w_.spelled({"{0}: T.let[T.{1}] = {2}", "{0}: T.let = {2}", "{0} = T.bind({2})"})),
          name, dtype, value));
      scope_.locals.push_back({name, dtype, false});
  }
}

// Buffers over the elements of another.
void LoopWriter::view_statement() {
  std::vector<const Buffer*> choices;
  for (const Buffer& buffer : scope_.buffers) {
    const bool numbers =
        std::none_of(buffer.dims.begin(), buffer.dims.end(), [&](const Dim& d) { return is_symbol(d); });
    if (numbers && buffer.plain && !buffer.dims.empty()) choices.push_back(&buffer);
  }
  if (choices.empty()) return store();
  const Buffer source = *w_.random.pick(choices);
  std::int64_t size = 1;
  for (const Dim& dim : source.dims) size *= dim.value;
  Buffer view{scope_.fresh(), source.dtype, {}, source.written, false};
  const std::string total = std::to_string(size);
  switch (w_.random.below(3)) {
    case 0:
      w_.cover("flat view");
      view.dims = {{total, size}};
      w_.line(w_.spelled_so() ? fmt::format("{} = T.decl_buffer(({},), \"{}\", data={}.data)", view.name,
                                            total, view.dtype, source.name)
                              : fmt::format("{} = {}.view({})", view.name, source.name, total));
      break;
    case 1:
      if (source.dims.size() != 2) return store();
      w_.cover("permuted view");
      view.dims = {source.dims[1], source.dims[0]};
      w_.line(w_.spelled_so()
                  ? fmt::format("{} = {}.permute(1, 0)", view.name, source.name)
                  : fmt::format("{} = T.decl_buffer(({}, {}), \"{}\", data={}.data, strides=[1, {}])",
                                view.name, view.dims[0].text, view.dims[1].text, view.dtype, source.name,
                                source.dims[1].text));
      break;
    default: {
      w_.cover("view with an offset");
      const std::int64_t offset = w_.random.below(size), rest = size - offset;
      view.dims = {{std::to_string(rest), rest}};
      w_.line(fmt::format("{} = T.decl_buffer(({},), \"{}\", data={}.data, elem_offset={})", view.name, rest,
                          view.dtype, source.name, offset));
    }
  }
  scope_.buffers.push_back(view);
}

void LoopWriter::vector_statement() {
  std::vector<const Buffer*> choices;
  for (const Buffer& buffer : scope_.buffers) {
    if (buffer.written && buffer.dims.size() == 1 && !is_symbol(buffer.dims[0]) && buffer.dims[0].value >= 2)
      choices.push_back(&buffer);
  }
  if (choices.empty()) return store();
  const Buffer target = *w_.random.pick(choices);
  const std::int64_t lanes = w_.random.between(2, target.dims[0].value);
  w_.cover("vector");
  const std::string place = w_.spelled_so() ? fmt::format("{}[0:{}]", target.name, lanes)
                                            : fmt::format("{}[T.Ramp(0, 1, {})]", target.name, lanes);
  const std::string first = fmt::format("{}[0:{}]", target.name, lanes);
  switch (w_.random.below(3)) {
    case 0:
      w_.line(fmt::format("{} = T.Broadcast({}, {})", place, scalars_.literal(target.dtype), lanes));
      return;
    case 1:
      w_.line(
          fmt::format("{} = {} + T.Broadcast({}, {})", place, first, scalars_.literal(target.dtype), lanes));
      return;
    default: {
      std::vector<std::string> order;
      for (std::int64_t i = lanes; i-- > 0;) order.push_back(std::to_string(i));
      w_.line(fmt::format("{} = T.Shuffle([{}], [{}])", place, first, listed(order)));
    }
  }
}

// A block with axes that are expressions of loops, a predicate, regions, an init, a buffer or a view of its
// own.
void LoopWriter::block_statement() {
  std::vector<const Buffer*> choices;
  for (const Buffer& buffer : scope_.buffers) {
    if (buffer.written && buffer.dims.size() == 1 && !is_symbol(buffer.dims[0])) choices.push_back(&buffer);
  }
  if (choices.empty()) return store();
  const Buffer target = *w_.random.pick(choices);
  const Dim& dim = target.dims[0];
  const LoopScope::Saved saved(scope_);
  const std::string outer = scope_.fresh(), inner = scope_.fresh(), axis = scope_.fresh();
  const int before = w_.indent;
  switch (w_.random.below(3)) {
    case 0: {
      w_.cover("predicate");
      w_.open(fmt::format("for {}, {} in T.grid({}, 2):", outer, inner, (dim.value + 1) / 2));
      w_.open(fmt::format("with {}(\"split\"):", w_.spelled({"T.sblock", "T.block"})));
      w_.line(fmt::format("{} = T.axis.{}({}, {} * 2 + {})", axis, w_.spelled({"spatial", "S"}), dim.text,
                          outer, inner));
      w_.line(fmt::format("T.where({} * 2 + {} < {})", outer, inner, dim.text));
      scope_.indices = {{axis, "int32", dim}};
      if (w_.random.chance(0.5)) {
        w_.cover("declared regions");
        w_.line(fmt::format("T.writes({}[{}])", target.name, axis));
      }
      break;
    }
    case 1: {
      w_.cover("reduction with init");
      if (target.dtype.starts_with("float")) w_.loosen(5);
      const std::int64_t times = w_.random.between(1, 4);
      const std::string k = scope_.fresh();
      w_.open(fmt::format("for {}, {} in T.grid({}, {}):", outer, inner, dim.text, times));
      w_.open(fmt::format("with {}(\"reduce\"):", w_.spelled({"T.sblock", "T.block"})));
      if (w_.spelled_so(0.6)) {
        w_.line(fmt::format("{}, {} = T.axis.remap(\"SR\", [{}, {}])", axis, k, outer, inner));
      } else {
        w_.line(fmt::format("{} = T.axis.spatial({}, {})", axis, dim.text, outer));
        w_.raw(fmt::format("{} = T.axis.{}({}, {})", k, w_.spelled({"reduce", "R"}), times, inner));
      }
      scope_.indices = {{axis, "int32", dim}, {k, "int32", {std::to_string(times), times}}};
      w_.open("with T.init():");
      w_.line(fmt::format("{}[{}] = {}", target.name, axis, scalars_.literal(target.dtype)));
      w_.close();
      w_.line(fmt::format("{}[{}] = {}[{}] + {}", target.name, axis, target.name, axis,
                          scalars_.scalar(target.dtype, 1)));
      w_.indent = before;
      return;
    }
    default: {
      w_.cover("match_buffer of a region");
      const std::string view = scope_.fresh();
      w_.open(fmt::format("with {}(\"view\"):", w_.spelled({"T.sblock", "T.block"})));
      w_.line(fmt::format("{} = T.match_buffer({}[0:{}], ({},), \"{}\")", view, target.name, dim.text,
                          dim.text, target.dtype));
      scope_.buffers.push_back({view, target.dtype, target.dims, true, false});
      const std::string temporary = scope_.fresh();
      w_.cover("block allocation");
      w_.line(fmt::format("{} = {}((1,), \"{}\")", temporary,
                          w_.spelled({"T.sblock_alloc_buffer", "T.alloc_buffer"}), target.dtype));
      w_.line(fmt::format("{}[0] = {}", temporary, scalars_.scalar(target.dtype, 1)));
      scope_.buffers.push_back({temporary, target.dtype, {{"1", 1}}, true, false});
    }
  }
  store();
  w_.indent = before;
}

}  // namespace relish::generate
