// Mutated texts in both tiers: what the reader still accepts verifies, runs, and ends alike, in a value or in
// the same fault. Seeds are texts of loops, annotations, scopes and attributes, and printed programs of the
// generator.
#include <unistd.h>

#include <array>
#include <csignal>
#include <random>

#include "frontend/reader.h"
#include "ir/printer/printer.h"
#include "ir/scalars/symbols.h"
#include "ir/verify/verify.h"
#include "support/interrupt.h"
#include "tests/fuzz/token_mutator.h"
#include "tests/generate/checks.h"
#include "tests/generate/values.h"

namespace relish::generate {
namespace {

constexpr std::array<std::string_view, 6> seeds = {
    R"(@I.ir_module
class Module:
    I.module_attrs({"kept": 1})

    @T.prim_func(private=True)
    def sums(A: T.Buffer((4, 300), "float32"), B: T.Buffer((4,), "float32")):
        T.func_attr({"tir.noalias": True})
        acc = T.alloc_buffer((), "float32", scope="local")
        tmp = T.alloc_buffer((4,), "float32", scope="global")
        for i in T.parallel(4, annotations={"pragma": 1}):
            for k in T.serial(300, annotations={"note": "x"}):
                with T.sblock("sum"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    T.sblock_attr({"tile": 4})
                    with T.init():
                        B[vi] = T.float32(0)
                    B[vi] = B[vi] + A[vi, vk]

    @R.function
    def main(x: R.Tensor((4, 300), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"num_input": 1, "relish.params": ["x"]})
        cls = Module
        y = R.call_tir(cls.sums, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
)",
    R"(@T.prim_func
def shifted(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in T.vectorized(8):
        B[i] = T.if_then_else(i >= 1 and A[i - 1] > 0, A[i - 1], T.int32(0))
    for i in T.unroll(4):
        if i % 2 == 0 or B[i + 1] > 3:
            B[i] = B[i] // T.max(A[i], 1) + (A[i] << 2)
)",
    R"(@T.prim_func
def locals(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
    total = T.alloc_buffer((1,), "float32", scope="shared")
    best: T.float32 = T.float32(-1e30)
    total[0] = T.float32(0)
    for i in range(5):
        total[0] = total[0] + A[i]
        best = T.max(best, A[i])
        while best > T.float32(1e6):
            best = best - T.float32(1)
            break
    for i in T.parallel(5):
        B[i] = T.Select(A[i] > best, total[0], A[i] * best)
)",
    R"(@I.ir_module
class Module:
    @R.function
    def step(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")) -> R.Tensor(("n",), "float32"):
        return R.multiply(x, R.const(2.0, "float32"))

    @R.function
    def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")) -> R.Tensor(("n",), "float32"):
        R.func_attr({"relish.params": ["x"]})
        cls = Module
        @R.function
        def inner(a: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            return R.add(a, x)
        if c:
            y = inner(x)
        else:
            y = cls.step(x, R.prim_value(3))
        for i in range(3):
            y = R.add(y, x)
        return y
)",
    R"(@R.function
def main(x: R.Any, y: R.Tensor):
    n = T.int64()
    z = R.match_cast(x, R.Tensor((n, 3), "float32"))
    s = R.shape_of(z)
    w = R.zeros(R.shape([n // 2, n - 1]), "float32")
    v = R.stack([y, y])
    return (w, s, v)
)",
    R"(@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global")]})

    @T.prim_func
    def kernel(a: T.handle, b: T.handle, n: T.int64):
        A = T.match_buffer(a, (n, 4), "float32", scope="global")
        B = T.match_buffer(b, (n, 4), "float32")
        for i, j in T.grid(n, 4):
            with T.sblock("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.where(vi < 3 and vj >= 0)
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = T.exp(A[vi, vj]) + T.Cast("float32", vi // 2)

    @R.function
    def main(x: R.Tensor((5, 4), "float32")):
        cls = Module
        return R.call_tir(cls.kernel, (x, R.prim_value(5)), out_ty=R.Tensor((5, 4), "float32"))
)",
};

// A call that takes longer is stopped, and its fault not compared.
constexpr unsigned longest_seconds = 3, until_killed = 20;

extern "C" void stop_call(int) {
  interrupt_flag = SIGINT;
  std::signal(SIGALRM, SIG_DFL);
  ::alarm(until_killed);
}

struct Told {
  std::optional<Value> value;
  std::string fault;
  bool broken = false, stopped = false;
};

Told told_by(Evaluator& engine, const ModulePtr& module, const std::string& name,
             const std::vector<Value>& args) {
  std::signal(SIGALRM, stop_call);
  ::alarm(longest_seconds);
  Told told;
  try {
    told.value = engine.call(module, name, args);
  } catch (const Failure& failure) {
    const Diagnostic& first = failure.diagnostics().front();
    std::string place = "nowhere";
    if (first.span.known()) {
      const auto position = Sources::instance().find(first.span.file)->position(first.span.begin);
      place = fmt::format("{}:{}", position.line, position.column);
    }
    told.fault = fmt::format("{}: {}: {} [{}]", place, name_of(first.error_class), first.message, first.id);
    told.broken = first.error_class == ErrorClass::Internal;
    // What a tier may use of memory is its own.
    told.stopped =
        first.error_class == ErrorClass::Interrupted || first.error_class == ErrorClass::ResourceLimit;
  } catch (const std::exception& error) {
    told.fault = error.what();
    told.broken = true;
  }
  clear_interrupt();
  ::alarm(60);
  return told;
}

// A value of each parameter; a dimension variable has the same number wherever it stands.
std::vector<Value> arguments(Random& random, const Function& function) {
  SymbolValues symbols;
  std::vector<ScalarVar> vars;
  for (const Var& param : function.params) collect_vars(param.type(), vars);
  for (const ScalarVar& var : vars) symbols.try_emplace(var.id(), random.between(1, 5));
  std::vector<Value> values;
  for (const Var& param : function.params) {
    Type type = concrete_type(param.type(), symbols);
    const TensorType* tensor = type.tensor();
    if (tensor && (!tensor->dtype || !tensor->shape)) {
      std::vector<Scalar> dims(static_cast<std::size_t>(tensor->rank < 0 ? 2 : tensor->rank), Scalar(3));
      type = tensor_type(std::move(dims), tensor->dtype.value_or(DType::Float32));
    }
    if (type.as<AnyType>()) type = tensor_type({Scalar(2), Scalar(3)}, DType::Float32);
    values.push_back(value_of(random, type));
  }
  return values;
}

std::optional<std::vector<Value>> arguments(Random& random, const PrimFunc& function) {
  SymbolValues symbols;
  const std::vector<ParamAccess> accesses = param_accesses(function);
  std::vector<Value> values;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const PrimParam& param = function.params[i];
    if (param.scalar()) {
      const Type type = ScalarType{param.scalar()->dtype()};
      values.push_back(value_of(random, type));
      if (values.back().is_scalar()) symbols[param.scalar()->id()] = values.back().scalar().integer;
    }
  }
  values.clear();
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const PrimParam& param = function.params[i];
    if (const ScalarVar* scalar = param.scalar()) {
      values.emplace_back(is_float(scalar->dtype())
                              ? ScalarValue::of_real(1.5, scalar->dtype())
                              : ScalarValue::of_int(symbols[scalar->id()], scalar->dtype()));
      continue;
    }
    std::vector<ScalarVar> vars;
    for (const Scalar& dim : param.buffer()->shape()) collect_vars(dim, vars);
    for (const ScalarVar& var : vars) symbols.try_emplace(var.id(), random.between(1, 5));
    if (accesses[i].written && !accesses[i].read) continue;
    const Type type = concrete_type(tensor_type(param.buffer()->shape(), param.buffer()->dtype()), symbols);
    std::int64_t elements = 1;
    for (const std::int64_t dim : concrete_shape(*type.tensor()))
      if (dim < 0 || __builtin_mul_overflow(elements, dim, &elements) || elements > 100000)
        return std::nullopt;
    values.push_back(value_of(random, type));
  }
  return values;
}

void compare(const ModulePtr& module, const std::string& name, const std::vector<Value>& args,
             std::vector<std::string>& findings, Tally& tally) {
  const Told wanted = told_by(reference(), module, name, args);
  const Told found = told_by(compiled(1), module, name, args);
  if (wanted.stopped || found.stopped) {
    ++tally["stopped"];
    if (wanted.broken || found.broken) findings.push_back(wanted.fault + " / " + found.fault);
    return;
  }
  ++tally[wanted.value ? "values" : "faults"];
  if (wanted.broken || found.broken || wanted.fault != found.fault) {
    findings.push_back(fmt::format("{}: interp {}\n    jit {}", name, wanted.value ? "a value" : wanted.fault,
                                   found.value ? "a value" : found.fault));
  } else if (wanted.value && describe(*wanted.value) != describe(*found.value)) {
    findings.push_back(
        fmt::format("{}: interp {}, jit {}", name, describe(*wanted.value), describe(*found.value)));
  }
}

}  // namespace

Program mutated_program(std::uint64_t seed) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed * 2654435761u + 17));
  Program program;
  program.options.seed = seed;
  if (seed % 3 == 0) {
    Options options;
    options.seed = seed;
    options.surface = seed % 2 == 1;
    program.text = print(*generate_program(options).module);
  } else {
    program.text = std::string(seeds[random() % seeds.size()]);
  }
  for (unsigned left = 1 + static_cast<unsigned>(random() % 3); left > 0; --left)
    program.text = fuzzing::mutated(std::move(program.text), random);
  return program;
}

std::vector<std::string> text_findings(const Program& program, Tally& tally) {
  std::vector<std::string> findings;
  Diagnostics diagnostics;
  const std::uint32_t file = Sources::instance().add("<mutated>", program.text);
  const ReadResult result = read_source(file, {}, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.error_class == ErrorClass::Internal && diagnostic.severity == Severity::Error)
      findings.push_back("the reader: " + diagnostic.message);
  }
  if (diagnostics.has_errors()) {
    ++tally["refused when read"];
  } else {
    Random random(program.options.seed);
    for (const ModulePtr& module : result.all_modules()) {
      for (const GlobalFunction& function : module->functions) {
        if (const auto* graph = std::get_if<FunctionPtr>(&function))
          compare(module, (*graph)->name, arguments(random, **graph), findings, tally);
        if (const auto* prim = std::get_if<PrimFuncPtr>(&function))
          if (const auto args = arguments(random, **prim))
            compare(module, (*prim)->name, *args, findings, tally);
      }
    }
  }
  for (std::string& finding : findings) finding += "\n" + program.text;
  return findings;
}

}  // namespace relish::generate
