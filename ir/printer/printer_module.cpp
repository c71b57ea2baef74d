// Printing of modules and the public entry points of the printer.
#include <fmt/format.h>

#include "ir/printer/printer.h"
#include "ir/printer/printer_internal.h"

namespace relish {
namespace printing {
namespace {

void write_global_function(TextState& text, int indent, const GlobalFunction& function, std::string& out) {
  Writer w(text);
  w.indent = indent;
  if (const FunctionPtr* graph = std::get_if<FunctionPtr>(&function)) {
    write_function(w, **graph);
  } else if (const ExternFunctionPtr* external = std::get_if<ExternFunctionPtr>(&function)) {
    write_extern_function(w, **external);
  } else {
    write_prim_func(w, *std::get<PrimFuncPtr>(function));
  }
  out += w.out;
}

// I.module_global_infos({"vdevice": [I.vdevice("llvm", 0)]}).
void write_global_infos(Writer& w, const Attributes& infos) {
  w.begin_line();
  w.out += "I.module_global_infos({";
  write_list(w, infos, [&](const auto& info) {
    write_string(w, info.first);
    w.out += ": [";
    write_list(w, *info.second.template as<AttributeList>(), [&](const Attribute& entry) {
      const Attributes& call = *entry.as<Attributes>();
      w.out += *find_attribute(call, "form")->as<std::string>();
      w.out += '(';
      write_list(w, *find_attribute(call, "args")->as<AttributeList>(),
                 [&](const Attribute& arg) { write_attribute(w, arg); });
      w.out += ')';
    });
    w.out += ']';
  });
  w.out += "})\n";
}

// The declarations alone. What they use is noted in `text` for the heading.
std::string module_body(TextState& text, const Module& module) {
  std::string out;
  if (text.options.free_functions) {
    for (const GlobalFunction& function : module.functions) {
      if (text.options.linked.count(name_of(function))) continue;
      if (!out.empty()) out += "\n";
      write_global_function(text, 0, function, out);
    }
    return out;
  }

  text.class_name = identifier(module.name);
  Writer w(text);
  w.comments_before(module.comments);
  w.out += text.dialect(Dialect::D2022) ? "@tvm.script.ir_module" : "@I.ir_module";
  w.out += module.check_well_formed ? "\n" : "(check_well_formed=False)\n";
  w.out += fmt::format("class {}:", text.class_name);
  w.end_line(module.comments);
  ++w.indent;
  if (!module.attributes.empty()) {
    w.begin_line();
    w.out += "I.module_attrs(";
    write_dictionary(w, module.attributes);
    w.out += ")\n";
  }
  if (!module.global_infos.empty()) write_global_infos(w, module.global_infos);
  bool separate = !module.attributes.empty() || !module.global_infos.empty();
  if (!separate && module.functions.empty()) w.line("pass");
  for (const GlobalFunction& function : module.functions) {
    if (text.options.linked.count(name_of(function))) continue;
    if (separate) w.out += '\n';
    separate = true;
    write_global_function(text, 1, function, w.out);
  }
  return std::move(w.out);
}

// The comment lines that TVM prints above a text, for the namespaces in use.
std::string heading(const TextState& text) {
  std::string out = text.uses_constants || text.uses_extensions ? "# relish: 1\n" : "";
  bool uses_module = !text.options.free_functions && !text.dialect(Dialect::D2022);
  if (uses_module) out += "# from tvm.script import ir as I\n";
  if (text.uses_loops) {
    out += text.dialect(Dialect::D026) ? "# from tvm.script import tirx as T\n"
                                       : "# from tvm.script import tir as T\n";
  }
  if (text.uses_graph) out += "# from tvm.script import relax as R\n";
  if (!out.empty()) out += '\n';
  return out;
}

std::string with_constants(std::string text, const ConstantSection& constants) {
  if (!constants.empty()) text += "\n" + constants.text();
  return text;
}

std::string print_function(const GlobalFunction& function, const PrintOptions& options) {
  ConstantSection constants;
  TextState text{.options = options, .constants = constants, .class_name = {}};
  std::string out;
  write_global_function(text, 0, function, out);
  return with_constants(std::move(out), constants);
}

template <class F>
std::string print_loose(const PrintOptions& options, bool graph_level, F&& write) {
  ConstantSection constants;
  TextState text{.options = options, .constants = constants, .class_name = {}};
  Writer w(text);
  w.graph_level = graph_level;
  write(w);
  return std::move(w.out);
}

}  // namespace
}  // namespace printing

using namespace printing;

std::string print(const Module& module, const PrintOptions& options) {
  ConstantSection constants;
  TextState text{.options = options, .constants = constants, .class_name = {}};
  std::string body = module_body(text, module);
  return with_constants(heading(text) + body, constants);
}

std::string print_part(const Module& module, ConstantSection& constants, const PrintOptions& options) {
  TextState text{.options = options, .constants = constants, .class_name = {}};
  return module_body(text, module);
}

std::string print(const Function& function, const PrintOptions& options) {
  // A pointer that does not own: the function outlives the call.
  return print_function(FunctionPtr(FunctionPtr(), &function), options);
}

std::string print(const PrimFunc& function, const PrintOptions& options) {
  return print_function(PrimFuncPtr(PrimFuncPtr(), &function), options);
}

std::string print(const Type& type, const PrintOptions& options) {
  return print_loose(options, true, [&](Writer& w) { write_type(w, type); });
}

std::string print(const Expr& expr, const PrintOptions& options) {
  return print_loose(options, true, [&](Writer& w) { write_expr(w, expr); });
}

std::string print(const Scalar& scalar, const PrintOptions& options) {
  return print_loose(options, true, [&](Writer& w) { write_scalar(w, scalar); });
}

std::string print(const Attribute& attribute) {
  return print_loose({}, true, [&](Writer& w) { write_attribute(w, attribute); });
}

std::string print(const Stmt& stmt, const PrintOptions& options) {
  return print_loose(options, false, [&](Writer& w) { write_stmt(w, stmt); });
}

}  // namespace relish
