// Putting functions together to the text of a surface program.
#include "tests/generate/surface.h"

#include "frontend/reader.h"
#include "ir/calls/entry.h"
#include "support/diagnostic.h"
#include "tests/generate/surface_graph.h"
#include "tests/generate/values.h"

namespace relish::generate {

SurfaceText surface_text(const Options& options, std::uint64_t spelling) {
  TextWriter w(options, spelling);
  SurfaceModule module;
  constexpr const char* classes[] = {"Module", "M", "Main", "Model_1"};
  module.name = w.random.chance(0.2) ? "" : w.random.pick(classes);
  constexpr const char* names[] = {"f", "g", "layer", "fused_add", "h", "main_1", "kernel"};
  const std::int64_t loops = w.random.between(0, 2), graphs = w.random.between(0, 2);
  std::set<std::string> taken{"main", module.name};
  for (std::int64_t i = 0; i < loops + graphs; ++i) {
    std::string name = w.random.pick(names);
    while (!taken.insert(name).second) name += "_1";
    module.functions.push_back(name);
  }
  module.functions.emplace_back("main");
  if (!module.name.empty()) {
    w.raw("@" + w.spelled({"I.ir_module", "tvm.script.ir_module"}));
    w.raw("class " + module.name + ":");
    ++w.indent;
    if (w.random.chance(0.15)) {
      w.cover("module attributes");
      w.raw("I.module_attrs({\"param_num\": 1, \"system_lib_prefix\": \"x_\"})");
    }
    if (w.random.chance(0.15)) {
      w.cover("global infos");
      w.raw("I.module_global_infos({\"vdevice\": [I.vdevice(\"llvm\", 0)]})");
    }
    if (options.loose && !options.evaluated && w.random.chance(0.3)) {
      w.cover("extern function");
      w.line("ext = R.ExternFunc(\"lib.ext\")");
      module.externs.emplace_back("ext");
    }
  }
  for (std::int64_t i = 0; i < loops; ++i)
    module.loops.push_back(write_prim_func(w, module.functions[static_cast<std::size_t>(i)]));
  for (std::int64_t i = 0; i < graphs; ++i)
    GraphWriter(w, module).write(module.functions[static_cast<std::size_t>(loops + i)], false);
  GraphWriter(w, module).write("main", true);
  return std::move(w.result);
}

Program surface_program(const Options& options) {
  const SurfaceText surface = surface_text(options, 0);
  Program program;
  program.options = options;
  program.text = surface.text;
  program.constructs = surface.constructs;
  program.agreement = surface.agreement;
  Diagnostics diagnostics;
  const ReadResult result =
      read_source(Sources::instance().add("<generated>", surface.text), {}, diagnostics);
  diagnostics.sort();
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity == Severity::Error) throw Failure(diagnostic);
  }
  program.module = result.all_modules().front();
  const FunctionPtr main = program.module->function("main");
  SymbolValues values;
  std::vector<ScalarVar> vars;
  for (const Var& param : main->params) collect_vars(param.type(), vars);
  for (const ScalarVar& var : vars) {
    for (const auto& [name, value] : surface.dims) {
      if (var.name() == name) values.emplace(var.id(), value);
    }
  }
  Random random(options.seed ^ 0x76616c);
  for (const Var& param : main->params)
    program.inputs.push_back(value_of(random, concrete_type(param.type(), values)));
  if (options.special_values) {
    for (Value& input : program.inputs) {
      if (input.is_tensor()) input = special_value_of(random, type_of(input));
    }
  }
  return program;
}

}  // namespace relish::generate
