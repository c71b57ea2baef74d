// Statements of prim_funcs in surface programs.
#include <algorithm>

#include "tests/generate/surface_loops.h"

namespace relish::generate {

void LoopWriter::statements(std::int64_t count, int depth, bool in_loop) {
  const LoopScope::Saved saved(scope);
  for (; count > 0; --count) statement(depth, in_loop);
}

void LoopWriter::store() {
  std::vector<const Buffer*> targets;
  for (const Buffer& buffer : scope.buffers) {
    if (buffer.written) targets.push_back(&buffer);
  }
  if (targets.empty()) {
    w.cover("evaluate");
    w.line(w.spelled_so(0.9) ? "T.evaluate(0)" : "pass");
    return;
  }
  const Buffer target = *w.random.pick(targets);
  const std::string place = scalars.element_of(target), value = scalars.scalar(target.dtype, 2);
  if (w.random.chance(0.25)) {
    w.cover("augmented store");
    if (target.dtype.starts_with("float")) w.loosen(5);
    constexpr const char* signs[] = {"+", "-", "*"};
    const std::string sign = w.random.pick(signs);
    w.line(w.spelled_so() ? fmt::format("{} {}= {}", place, sign, value)
                          : fmt::format("{} = {} {} {}", place, place, sign, value));
    return;
  }
  if (target.dtype.starts_with("float")) w.loosen(5);
  w.line(fmt::format("{} = {}", place, value));
}

void LoopWriter::statement(int depth, bool in_loop) {
  if (depth <= 0) return store();
  switch (w.random.below(12)) {
    case 0: {
      w.cover("if in a prim_func");
      w.open("if " + scalars.condition(1) + ":");
      statements(w.random.between(1, 2), depth - 1, in_loop);
      w.close();
      if (w.random.chance(0.25)) {
        w.cover("elif in a prim_func");
        w.open("elif " + scalars.condition(1) + ":");
        statements(1, depth - 1, in_loop);
        w.close();
      }
      if (w.random.chance(0.5)) {
        w.open("else:");
        statements(1, depth - 1, in_loop);
        w.close();
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
      for (const Local& local : scope.locals) {
        if (local.assignable) assignable.push_back(&local);
      }
      if (assignable.empty()) return store();
      w.cover("assignment of a local");
      const Local local = *w.random.pick(assignable);
      if (local.dtype.starts_with("float")) w.loosen(5);
      w.line(fmt::format("{} = {}", local.name, scalars.scalar(local.dtype, 2)));
      return;
    }
    case 10:
      if (in_loop && w.random.chance(0.6)) {
        w.cover("break, continue");
        w.open("if " + scalars.condition(1) + ":");
        w.line(w.random.chance(0.5) ? "break" : "continue");
        w.close();
        return;
      }
      if (!returns.empty() && w.random.chance(0.6)) {
        w.cover("early return");
        w.open("if " + scalars.condition(1) + ":");
        w.line("return " + scalars.scalar(returns, 1));
        w.close();
        return;
      }
      return store();
    default:
      if (w.random.chance(0.3)) {
        w.cover("assertion");
        w.line(fmt::format("assert ({}) % 7 >= 0, \"a \\\"message\\\"\"", scalars.scalar("int32", 1)));
        return;
      }
      return store();
  }
}

void LoopWriter::loop_statement(int depth) {
  const std::string var = scope.fresh();
  const std::int64_t extent = w.random.between(1, 4);
  const std::string end = std::to_string(extent);
  std::string range;
  bool serial = true;
  switch (w.random.below(6)) {
    case 0:
      range = w.spelled_so() ? "range(" + end + ")" : "T.serial(" + end + ")";
      break;
    case 1:
      w.cover("loop with a step");
      range = fmt::format("range(0, {}, {})", end, w.random.between(1, 3));
      break;
    case 2:
      w.cover("annotated loop");
      range = fmt::format("T.serial({}, annotations={{\"pragma_unroll\": 1}})", end);
      break;
    case 3:
      w.cover("thread binding");
      serial = false;
      range = w.spelled_so() ? fmt::format("T.thread_binding({}, thread=\"blockIdx.x\")", end)
                             : fmt::format("T.thread_binding({}, \"blockIdx.x\")", end);
      break;
    case 4:
      serial = false;
      w.cover("unrolled loop");
      range = "T.unroll(" + end + ")";
      break;
    default:
      range = w.spelled_so() ? "T.grid(" + end + ")" : "range(" + end + ")";
  }
  w.open(fmt::format("for {} in {}:", var, range));
  {
    const LoopScope::Saved saved(scope);
    scope.indices.push_back({var, "int32", {end, extent}});
    statements(w.random.between(1, 3), depth - 1, serial);
  }
  w.close();
}

void LoopWriter::while_statement(int depth) {
  w.cover("while in a prim_func");
  const std::string k = scope.fresh();
  w.line(w.spelled_so() ? fmt::format("{}: T.int32 = 0", k) : k + " = 0");
  w.open(fmt::format("while {} < {}:", k, w.random.between(1, 4)));
  {
    const LoopScope::Saved saved(scope);
    scope.locals.push_back({k, "int32", false});
    w.line(w.spelled_so() ? k + " += 1" : fmt::format("{} = {} + 1", k, k));
    statements(w.random.between(1, 2), depth - 1, true);
  }
  w.close();
}

// The three meanings: assignable, declared without a value, and never changed.
void LoopWriter::local_statement() {
  constexpr const char* dtypes[] = {"float32", "int32", "int64", "bool"};
  const std::string name = scope.fresh(), dtype = w.random.pick(dtypes);
  const std::string value = scalars.scalar(dtype, 2);
  // Only these spellings say the dtype of a value that is a plain number.
  switch (w.random.below(3)) {
    case 0:
      w.cover("assignable scalar");
      w.line(w.spelled_so() ? fmt::format("{}: T.{} = {}", name, dtype, value)
                            : fmt::format("{} = {}", name, value));
      scope.locals.push_back({name, dtype, true});
      return;
    case 1:
      w.cover("declared scalar");
      w.line(fmt::format("{}: T.{}", name, dtype));
      scope.locals.push_back({name, dtype, true});
      return;
    default:
      w.cover("let");
      w.line(fmt::format(
          fmt::runtime(w.spelled({"{0}: T.let[T.{1}] = {2}", "{0}: T.let = {2}", "{0} = T.bind({2})"})), name,
          dtype, value));
      scope.locals.push_back({name, dtype, false});
  }
}

// Buffers over the elements of another.
void LoopWriter::view_statement() {
  std::vector<const Buffer*> choices;
  for (const Buffer& buffer : scope.buffers) {
    const bool numbers =
        std::none_of(buffer.dims.begin(), buffer.dims.end(), [&](const Dim& d) { return is_symbol(d); });
    if (numbers && buffer.plain && !buffer.dims.empty()) choices.push_back(&buffer);
  }
  if (choices.empty()) return store();
  const Buffer source = *w.random.pick(choices);
  std::int64_t size = 1;
  for (const Dim& dim : source.dims) size *= dim.value;
  Buffer view{scope.fresh(), source.dtype, {}, source.written, false};
  const std::string total = std::to_string(size);
  switch (w.random.below(3)) {
    case 0:
      w.cover("flat view");
      view.dims = {{total, size}};
      w.line(w.spelled_so() ? fmt::format("{} = T.decl_buffer(({},), \"{}\", data={}.data)", view.name, total,
                                          view.dtype, source.name)
                            : fmt::format("{} = {}.view({})", view.name, source.name, total));
      break;
    case 1:
      if (source.dims.size() != 2) return store();
      w.cover("permuted view");
      view.dims = {source.dims[1], source.dims[0]};
      w.line(w.spelled_so()
                 ? fmt::format("{} = {}.permute(1, 0)", view.name, source.name)
                 : fmt::format("{} = T.decl_buffer(({}, {}), \"{}\", data={}.data, strides=[1, {}])",
                               view.name, view.dims[0].text, view.dims[1].text, view.dtype, source.name,
                               source.dims[1].text));
      break;
    default: {
      w.cover("view with an offset");
      const std::int64_t offset = w.random.below(size), rest = size - offset;
      view.dims = {{std::to_string(rest), rest}};
      w.line(fmt::format("{} = T.decl_buffer(({},), \"{}\", data={}.data, elem_offset={})", view.name, rest,
                         view.dtype, source.name, offset));
    }
  }
  scope.buffers.push_back(view);
}

void LoopWriter::vector_statement() {
  std::vector<const Buffer*> choices;
  for (const Buffer& buffer : scope.buffers) {
    if (buffer.written && buffer.dims.size() == 1 && !is_symbol(buffer.dims[0]) && buffer.dims[0].value >= 2)
      choices.push_back(&buffer);
  }
  if (choices.empty()) return store();
  const Buffer target = *w.random.pick(choices);
  const std::int64_t lanes = w.random.between(2, target.dims[0].value);
  w.cover("vector");
  const std::string place = w.spelled_so() ? fmt::format("{}[0:{}]", target.name, lanes)
                                           : fmt::format("{}[T.Ramp(0, 1, {})]", target.name, lanes);
  const std::string first = fmt::format("{}[0:{}]", target.name, lanes);
  switch (w.random.below(3)) {
    case 0:
      w.line(fmt::format("{} = T.Broadcast({}, {})", place, scalars.literal(target.dtype), lanes));
      return;
    case 1:
      w.line(
          fmt::format("{} = {} + T.Broadcast({}, {})", place, first, scalars.literal(target.dtype), lanes));
      return;
    default: {
      std::vector<std::string> order;
      for (std::int64_t i = lanes; i-- > 0;) order.push_back(std::to_string(i));
      w.line(fmt::format("{} = T.Shuffle([{}], [{}])", place, first, listed(order)));
    }
  }
}

// A block with axes that are expressions of loops, a predicate, regions, an init, a buffer or a view of its
// own.
void LoopWriter::block_statement() {
  std::vector<const Buffer*> choices;
  for (const Buffer& buffer : scope.buffers) {
    if (buffer.written && buffer.dims.size() == 1 && !is_symbol(buffer.dims[0])) choices.push_back(&buffer);
  }
  if (choices.empty()) return store();
  const Buffer target = *w.random.pick(choices);
  const Dim& dim = target.dims[0];
  const LoopScope::Saved saved(scope);
  const std::string outer = scope.fresh(), inner = scope.fresh(), axis = scope.fresh();
  const int before = w.indent;
  switch (w.random.below(3)) {
    case 0: {
      w.cover("predicate");
      w.open(fmt::format("for {}, {} in T.grid({}, 2):", outer, inner, (dim.value + 1) / 2));
      w.open(fmt::format("with {}(\"split\"):", w.spelled({"T.sblock", "T.block"})));
      w.line(fmt::format("{} = T.axis.{}({}, {} * 2 + {})", axis, w.spelled({"spatial", "S"}), dim.text,
                         outer, inner));
      w.line(fmt::format("T.where({} * 2 + {} < {})", outer, inner, dim.text));
      scope.indices = {{axis, "int32", dim}};
      if (w.random.chance(0.5)) {
        w.cover("declared regions");
        w.line(fmt::format("T.writes({}[{}])", target.name, axis));
      }
      break;
    }
    case 1: {
      w.cover("reduction with init");
      if (target.dtype.starts_with("float")) w.loosen(5);
      const std::int64_t times = w.random.between(1, 4);
      const std::string k = scope.fresh();
      w.open(fmt::format("for {}, {} in T.grid({}, {}):", outer, inner, dim.text, times));
      w.open(fmt::format("with {}(\"reduce\"):", w.spelled({"T.sblock", "T.block"})));
      if (w.spelled_so(0.6)) {
        w.line(fmt::format("{}, {} = T.axis.remap(\"SR\", [{}, {}])", axis, k, outer, inner));
      } else {
        w.line(fmt::format("{} = T.axis.spatial({}, {})", axis, dim.text, outer));
        w.raw(fmt::format("{} = T.axis.{}({}, {})", k, w.spelled({"reduce", "R"}), times, inner));
      }
      scope.indices = {{axis, "int32", dim}, {k, "int32", {std::to_string(times), times}}};
      w.open("with T.init():");
      w.line(fmt::format("{}[{}] = {}", target.name, axis, scalars.literal(target.dtype)));
      w.close();
      w.line(fmt::format("{}[{}] = {}[{}] + {}", target.name, axis, target.name, axis,
                         scalars.scalar(target.dtype, 1)));
      w.indent = before;
      return;
    }
    default: {
      w.cover("match_buffer of a region");
      const std::string view = scope.fresh();
      w.open(fmt::format("with {}(\"view\"):", w.spelled({"T.sblock", "T.block"})));
      w.line(fmt::format("{} = T.match_buffer({}[0:{}], ({},), \"{}\")", view, target.name, dim.text,
                         dim.text, target.dtype));
      scope.buffers.push_back({view, target.dtype, target.dims, true, false});
      const std::string temporary = scope.fresh();
      w.cover("block allocation");
      w.line(fmt::format("{} = {}((1,), \"{}\")", temporary,
                         w.spelled({"T.sblock_alloc_buffer", "T.alloc_buffer"}), target.dtype));
      w.line(fmt::format("{}[0] = {}", temporary, scalars.scalar(target.dtype, 1)));
      scope.buffers.push_back({temporary, target.dtype, {{"1", 1}}, true, false});
    }
  }
  store();
  w.indent = before;
}

}  // namespace relish::generate
