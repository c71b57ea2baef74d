// Golden files that are read, printed, checked or transformed.
#include <filesystem>

#include "frontend/reader.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "shell/commands/text/canonical_text.h"
#include "shell/script/script.h"
#include "support/big_stack.h"
#include "support/failure.h"
#include "tests/golden/captured_errors.h"
#include "tests/golden/commands.h"
#include "tests/golden/reading.h"

namespace relish::testing {
namespace {

struct Reading {
  ReadResult result;
  Diagnostics diagnostics;
};

Reading read(const GoldenFile& file) {
  Reading reading;
  reading.result = read_source(add_source(file), reading_options(file), reading.diagnostics);
  return reading;
}

Outcome outcome_of(const GoldenFile& file, Reading& reading) {
  Outcome outcome;
  reading.diagnostics.sort();
  outcome.diagnostics = reading.diagnostics.all();
  if (reading.diagnostics.has_errors())
    outcome.exit_code = exit_code_of(reading.diagnostics.first_error_class());
  outcome.problems = round_trip_problems(file);
  return outcome;
}

std::string describe_parameters(const Function& function) {
  std::vector<std::string> params;
  for (const Var& param : function.params)
    params.push_back(fmt::format("{}: {}", param.name(), print(param.type())));
  return fmt::format("{}", fmt::join(params, ", "));
}

std::string describe_parameters(const PrimFunc& function) {
  std::vector<std::string> params;
  for (const PrimParam& param : function.params) {
    if (const Buffer* buffer = param.buffer()) {
      std::vector<std::string> dims;
      for (const Scalar& dim : buffer->shape()) dims.push_back(print(dim));
      params.push_back(
          fmt::format("{}: ({}) {}", buffer->name(), fmt::join(dims, ", "), name_of(buffer->dtype())));
    } else {
      params.push_back(fmt::format("{}: {}", param.name(), name_of(param.scalar()->dtype())));
    }
  }
  return fmt::format("{}", fmt::join(params, ", "));
}

std::string describe_function(const GlobalFunction& function) {
  if (const auto* graph = std::get_if<FunctionPtr>(&function)) {
    std::size_t bindings = 0;
    for (const BindingBlock& block : (*graph)->blocks) bindings += block.bindings.size();
    return fmt::format("function {}({}) -> {}: {} bindings in {} blocks", (*graph)->name,
                       describe_parameters(**graph), print((*graph)->result_type), bindings,
                       (*graph)->blocks.size());
  }
  const PrimFuncPtr& loop = std::get<PrimFuncPtr>(function);
  return fmt::format("prim_func {}({})", loop->name, describe_parameters(*loop));
}

std::string describe_statement(const ast::Statement& statement) {
  if (const auto* module = statement.as<ast::DeclareModule>()) {
    std::string text = fmt::format("module {}\n", module->module->name);
    for (const GlobalFunction& function : module->module->functions)
      text += fmt::format("  {}\n", describe_function(function));
    return text;
  }
  if (const auto* function = statement.as<ast::DeclareFunction>())
    return describe_function(function->function) + "\n";
  if (statement.as<ast::Damaged>()) return {};
  const SourceFile* source = Sources::instance().find(statement.span.file);
  const LineColumn at = source->position(statement.span.begin);
  return fmt::format("statement in line {}\n", at.line);
}

}  // namespace

Outcome run_parse(const GoldenFile& file) {
  Reading reading = read(file);
  Outcome outcome = outcome_of(file, reading);
  if (!reading.diagnostics.has_errors()) {
    for (const ast::Statement& statement : reading.result.script)
      outcome.output += describe_statement(statement);
  }
  return outcome;
}

Outcome run_print(const GoldenFile& file) {
  Reading reading = read(file);
  Outcome outcome = outcome_of(file, reading);
  PrintOptions options;
  options.dialect = dialect_of(file);
  Diagnostics ignored;  // reported by the first reading
  outcome.output = canonical_text(add_source(file), options, rules_of(file), ignored).value_or("");
  if (!file.like.empty()) {
    const std::filesystem::path path = std::filesystem::path(file.path).parent_path() / file.like;
    const std::string wanted = printed_source(read_golden_file(path.string(), file.like));
    if (outcome.output != wanted)
      outcome.problems.push_back(fmt::format("its canonical text is not that of {}", file.like));
    outcome.output.clear();  // stands in the other file
  }
  return outcome;
}

Outcome run_check(const GoldenFile& file) {
  Reading reading = read(file);
  if (!reading.diagnostics.has_errors()) {
    for (const ModulePtr& module : reading.result.all_modules()) verify(*module, reading.diagnostics);
  }
  return outcome_of(file, reading);
}

// The source of a header's expression.
constexpr std::string_view header_name = "<test>";

Outcome run_pass(const GoldenFile& file) {
  Outcome outcome;
  Settings settings;
  settings.tier = "interp";
  Session session(settings, std::make_unique<StringOutput>());
  CapturedErrors errors;
  with_big_stack([&] {
    try {
      Script script(session);
      script.run_text(std::filesystem::path(file.path).filename().string(), file.source);
      const ScriptValue value =
          script.evaluate(Sources::instance().add(std::string(header_name), file.options));
      const auto* module = value.as<ModulePtr>();
      if (!module)
        fail_at(ErrorClass::Usage, file.path, "golden.pass", "the expression gives " + describe(value));
      outcome.output = print(**module);
      outcome.problems = round_trip_problems(**module, "the result");
    } catch (const Failure& failure) {
      // A failure of the pass stands in the header's expression: the place that it names in the file is in a
      // note.
      outcome.diagnostics = failure.diagnostics();
      for (Diagnostic& diagnostic : outcome.diagnostics) {
        const SourceFile* source = Sources::instance().find(diagnostic.span.file);
        const bool in_header = source != nullptr && source->name() == header_name;
        if (in_header && !diagnostic.notes.empty() && diagnostic.notes.front().span.known())
          diagnostic.span = diagnostic.notes.front().span;
      }
      outcome.exit_code = failure.exit_code();
    }
  });
  return outcome;
}

}  // namespace relish::testing
