// Ifs, loops of known and of unknown count, recursion and loop nests over smooth steps of one tensor, so that
// programs for gradients have what gradients are hard of.
#include "ir/nodes/builder.h"
#include "ir/rewriting/rewrite.h"
#include "tests/generate/graph_forms.h"

namespace relish::generate {
namespace {

Expr real(double value) { return constant(Tensor::scalar(DType::Float64, value)); }

// A float64 tensor with elements and sizes that are numbers.
std::optional<Var> some_tensor(GraphGenerator& g) {
  const auto fitting = g.those([](const Type& type) {
    const TensorType* tensor = type.tensor();
    if (!tensor || tensor->dtype != DType::Float64 || !tensor->shape) return false;
    const auto size = product(*tensor->shape).as_int();
    return size && *size > 0 && *size <= 64;
  });
  if (fitting.empty()) return std::nullopt;
  return g.random().pick(fitting)->var;
}

// Appends one to three steps; `other` has the type of `value`.
Expr steps(GraphGenerator& g, FunctionBuilder& builder, Expr value, const Expr& other) {
  for (std::int64_t count = g.random().between(1, 3); count > 0; --count) {
    switch (g.random().between(0, 6)) {
      case 0:
        value = builder.call("sin", {value});
        break;
      case 1:
        value = builder.call("tanh", {builder.call("multiply", {value, other})});
        break;
      case 2:
        value = builder.call("cos", {builder.call("add", {value, other})});
        break;
      case 3:
        value = builder.call("sigmoid", {builder.call("multiply", {value, real(0.75)})});
        break;
      case 4:
        value = builder.call("multiply", {value, builder.call("tanh", {other})});
        break;
      case 5:
        value = builder.call("subtract", {builder.call("multiply", {other, real(0.5)}), value});
        break;
      default:
        value = builder.call("exp", {builder.call("negative", {builder.call("multiply", {value, value})})});
    }
  }
  return value;
}

Expr is_large(FunctionBuilder& builder, const Expr& value, double bound) {
  const Expr squares = builder.call("sum", {builder.call("multiply", {value, value})});
  return builder.call("greater", {squares, real(bound)});
}

template <class Write>
Region region(FunctionBuilder& builder, std::vector<Var> params, const Write& write) {
  builder.begin_region(std::move(params));
  builder.begin_block(false);
  std::vector<Expr> results = write();
  builder.end_block();
  Region made = builder.end_region(std::move(results));
  builder.begin_block(false);
  return made;
}

Expr branched(GraphGenerator& g, FunctionBuilder& builder, const Expr& value, const Expr& other) {
  const Expr condition = is_large(builder, value, g.random().uniform(0.1, 2));
  Region first = region(builder, {}, [&] { return std::vector<Expr>{steps(g, builder, value, other)}; });
  Region second = region(builder, {}, [&] { return std::vector<Expr>{steps(g, builder, value, other)}; });
  return builder.emit(if_expr(condition, std::move(first), std::move(second)), "side");
}

Loop counted(GraphGenerator& g, FunctionBuilder& builder) {
  Loop loop;
  loop.index = ScalarVar(builder.fresh_name("round"), DType::Int64);
  const std::int64_t begin = g.random().between(0, 2), step = g.random().between(1, 3);
  loop.begin = scalar_value(Scalar(begin));
  loop.end = scalar_value(Scalar(begin + step * g.random().between(0, 4)));
  loop.step = scalar_value(Scalar(step));
  return loop;
}

// A loop that carries `value`; depth 1 has another one, or an if, in it.
Expr looped(GraphGenerator& g, FunctionBuilder& builder, const Expr& value, const Expr& other, int depth) {
  const bool counts = g.random().chance(0.65);
  Loop loop;
  if (counts) loop = counted(g, builder);
  const Var carried(builder.fresh_name("carried"), value.type());
  if (!counts) {
    const Var asked(carried.name(), value.type());
    loop.condition = std::make_shared<const Region>(
        region(builder, {asked}, [&] { return std::vector<Expr>{is_large(builder, asked, 0.3)}; }));
  }
  loop.initial = {value};
  loop.body = std::make_shared<const Region>(region(builder, {carried}, [&] {
    Expr next = steps(g, builder, carried, other);
    if (depth > 0 && g.random().chance(0.5))
      next = g.random().chance(0.5) ? branched(g, builder, next, other)
                                    : looped(g, builder, next, other, depth - 1);
    // What a while asks about gets small.
    if (!counts) next = builder.call("multiply", {builder.call("tanh", {next}), real(0.6)});
    if (!counts) next = builder.call("multiply", {next, builder.call("tanh", {carried})});
    return std::vector<Expr>{next};
  }));
  g.cover(counts ? "for" : "while");
  return builder.emit(loop_expr(std::move(loop)), "looped");
}

// f(x) = f(steps(x)) · cos(x) while x is large.
std::string recursive(GraphGenerator& g, const Type& type) {
  ProgramState& state = g.state();
  Function function;
  function.name = state.module.fresh_name("recursive");
  function.is_private = true;
  const Var x("x", type);
  function.params = {x};
  function.result_type = type;
  FunctionBuilder builder;
  builder.reserve_name("x");
  builder.begin_block(false);
  const Expr self = global_ref(
      function.name, Type(std::make_shared<const FunctionType>(FunctionType{{type}, type, true, false, {}})));
  const Expr condition = is_large(builder, x, 0.3);
  Region deeper = region(builder, {}, [&] {
    const Expr smaller =
        builder.call("multiply", {builder.call("tanh", {builder.call("multiply", {x, x})}), real(0.6)});
    const Expr below = builder.emit(function_call(self, {smaller}), "below");
    return std::vector<Expr>{builder.call("multiply", {below, builder.call("cos", {x})})};
  });
  Region end = region(builder, {}, [&] { return std::vector<Expr>{steps(g, builder, x, x)}; });
  function.result = builder.emit(if_expr(condition, std::move(deeper), std::move(end)), "y");
  builder.end_block();
  function.blocks = builder.take_blocks();
  const std::string name = function.name;
  state.module.set(std::make_shared<const Function>(std::move(function)));
  return name;
}

// The binding of a builder's expression among the program's own.
bool bind_steps(GraphGenerator& g, FunctionBuilder& builder, const Expr& result) {
  builder.end_block();
  VarMap vars;
  const GraphGenerator::Mark mark = g.mark();
  for (const Binding& binding : builder.take_bindings()) {
    const std::optional<Var> bound = g.bind(substitute(binding.value(), vars));
    if (!bound) {
      g.go_back(mark);
      return false;
    }
    vars.insert_or_assign(binding.var().id(), Expr(*bound));
  }
  g.keep(*substitute(result, vars).as_var());
  return true;
}

// A prim_func of one dimension that overwrites what it reads, or reads what it wrote before.
PrimFuncPtr recurrence(GraphGenerator& g, const std::string& name, std::int64_t size) {
  const Buffer x("X", DType::Float64, {Scalar(size)}), y("Y", DType::Float64, {Scalar(size)});
  const ScalarVar i("i", DType::Int64), k("k", DType::Int64);
  const auto at = [](const Buffer& buffer, const Scalar& index) { return load(buffer, {index}); };
  const auto loop = [](const ScalarVar& var, std::int64_t end, Stmt body) {
    return make_stmt(For{var, Scalar(0), Scalar(end), LoopKind::Serial, std::move(body), {}}, {});
  };
  const auto sine = [](const Scalar& value) { return intrinsic(Intrinsic::Sin, {value}); };
  std::vector<Stmt> body;
  if (g.random().chance(0.5)) {
    const Scalar next = at(y, use(i)) * float_literal(DType::Float64, 0.75) + sine(at(x, use(i) + Scalar(1)));
    body = {make_stmt(Store{y, {Scalar(0)}, at(x, Scalar(0))}, {}),
            loop(i, size - 1, make_stmt(Store{y, {use(i) + Scalar(1)}, next}, {}))};
  } else {
    const Scalar again = at(y, use(i)) * sine(at(y, use(i)) + at(x, Scalar(size - 1) - use(i)));
    const ScalarVar j("j", DType::Int64);
    body = {loop(j, size, make_stmt(Store{y, {use(j)}, at(x, use(j))}, {})),
            loop(i, size, loop(k, 2, make_stmt(Store{y, {use(i)}, again}, {})))};
  }
  PrimFunc made;
  made.name = name;
  made.params = {{x}, {y}};
  made.body = make_stmt(SeqStmt{std::move(body)}, {});
  made.is_private = true;
  return std::make_shared<const PrimFunc>(std::move(made));
}

}  // namespace

bool make_control(GraphGenerator& g) {
  if (g.in_dataflow()) return false;
  const std::optional<Var> value = some_tensor(g);
  if (!value) return false;
  const auto alike = g.those([&](const Type& type) { return same_type(type, value->type()); });
  const Var other = g.random().pick(alike)->var;
  FunctionBuilder builder;
  builder.begin_block(false);
  if (g.random().chance(0.3)) {
    g.cover("if");
    return bind_steps(g, builder, branched(g, builder, *value, other));
  }
  // What a loop begins with is no name of a constant.
  return bind_steps(g, builder, looped(g, builder, steps(g, builder, *value, other), other, 1));
}

bool make_recursion(GraphGenerator& g) {
  if (g.in_dataflow()) return false;
  const std::optional<Var> value = some_tensor(g);
  if (!value) return false;
  const std::string name = recursive(g, value->type());
  const FunctionPtr function = g.state().module.function(name);
  const auto bound = g.bind(function_call(global_ref(GlobalFunction(function)), {*value}));
  if (!bound) return false;
  g.cover("recursion");
  g.keep(*bound);
  return true;
}

bool make_recurrence(GraphGenerator& g) {
  const std::optional<Var> value = some_tensor(g);
  if (!value || value->type().tensor()->rank != 1) return false;
  const std::int64_t size = *value->type().tensor()->shape->front().as_int();
  if (size < 2) return false;
  ProgramState& state = g.state();
  const std::string name = state.module.fresh_name("recurrence");
  state.module.set(recurrence(g, name, size));
  const auto bound = g.bind(
      call_tir(global_ref(GlobalFunction(state.module.prim_func(name))), {*value}, {value->type()}, false));
  if (!bound) return false;
  g.cover("prim_func that runs backwards");
  g.keep(*bound);
  return true;
}

}  // namespace relish::generate
