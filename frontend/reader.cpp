// Reading of a whole source: scan, parse, declare, build.
#include "frontend/reader.h"
#include "frontend/names/suggestions.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <set>
#include <span>

#include <fmt/format.h>

#include "frontend/module/decorators.h"
#include "frontend/module/deferred.h"
#include "frontend/module/module_builder.h"
#include "frontend/module/module_links.h"
#include "frontend/module/python_uses.h"
#include "frontend/module/script_checks.h"
#include "frontend/module/tvm_metadata.h"
#include "frontend/names/binding_names.h"
#include "frontend/text/reading_limit.h"
#include "frontend/text/statement_reader.h"
#include "ir/printer/constant_section.h"
#include "stdlib/python_modules.h"
#include "support/big_stack.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {
namespace {

class SourceReader {
 public:
  SourceReader(std::uint32_t file, std::string_view text, const ReadOptions& options,
               Diagnostics& diagnostics)
      : options_(options), context_(file, text, diagnostics), links_(context_, options) {
    context_.namespaces = options.namespaces;
    context_.python_file = options.python_file;
  }

  ReadResult read();
  ReadResult read_deferred(const ast::Deferred& group);

 private:
  void check_version();
  void read_constants(std::size_t heading, std::string_view whole);
  std::vector<Line> relevant_lines(std::vector<Line> lines, Diagnostics& faults);
  bool is_relevant(const Line& decorator);
  bool bind_quietly(const Line& line);
  void keep_quietly(const Line& line);
  bool take_metadata(const ast::Statement& statement);
  void take_metadata(ast::Block& statements);
  bool bind_import(const ast::Import::Bound& bound);
  void bind_imports(ast::Block& statements);
  void collect_names(const ast::Block& statements);
  void build_free_functions(ast::Block& statements);
  void build_class(ast::Statement& statement);
  void refuse_class(ast::Statement& statement);
  void refuse_base(const ast::ClassDefinition& definition);
  void leave_out_unsupported(ast::Block& statements);

  const ReadOptions& options_;
  ReadContext context_;
  ModuleLinks links_;
  ConstantTable constants_;
  std::vector<std::string> module_names_;
  ReadResult result_;
  ast::Block python_statements_;  // assignments of a Python file, which may be constants

  void tell_deferred(const ast::Block& statements);
  void build(ast::Block& statements);

  friend ReadResult relish::read_source(std::uint32_t, const ReadOptions&, Diagnostics&);
};

// `# relish: 1` on the first line: a newer number is a text for a newer program.
void SourceReader::check_version() {
  std::string_view first = context_.text.substr(0, context_.text.find('\n'));
  constexpr std::string_view mark = "# relish:";
  if (first.substr(0, mark.size()) != mark) return;
  std::string_view number = first.substr(mark.size());
  while (!number.empty() && number.front() == ' ') number.remove_prefix(1);
  int version = 0;
  auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), version);
  if (status != std::errc() || version > 1) {
    context_.diagnostics.error(ErrorClass::Syntax,
                               Span{context_.file, 0, static_cast<std::uint32_t>(first.size())},
                               "syntax.version",
                               fmt::format("found a text for version {} of the language; expected version 1",
                                           printable(number, 20)));
  }
}

void SourceReader::read_constants(std::size_t heading, std::string_view whole) {
  if (heading == std::string_view::npos) return;
  context_.constants_damaged =
      !context_.attempt([&] { constants_ = read_constant_section(context_.file, whole, heading); });
}

// --- Python files.

// The metadata that TVM prints before a module. True when the statement is that.
bool SourceReader::take_metadata(const ast::Statement& statement) {
  const ast::StringValue* json = tvm_metadata(statement);
  if (!json) return false;
  context_.has_metadata = true;
  const Span span = statement.as<ast::Assignment>()->value->span;
  context_.metadata_damaged =
      !context_.attempt([&] { context_.metadata_constants = read_tvm_metadata(json->value, span); });
  return true;
}

// It is no statement of a script: its constants go where they are used. Its comments go to what follows.
void SourceReader::take_metadata(ast::Block& statements) {
  std::vector<std::string> comments;
  ast::Block kept;
  kept.reserve(statements.size());
  for (ast::Statement& statement : statements) {
    if (take_metadata(statement)) {
      if (!statement.comments) continue;
      comments.insert(comments.end(), statement.comments->before.begin(), statement.comments->before.end());
      if (!statement.comments->after.empty()) comments.push_back(statement.comments->after);
      continue;
    }
    if (!comments.empty()) {
      Comments joined = statement.comments ? *statement.comments : Comments{};
      joined.before.insert(joined.before.begin(), comments.begin(), comments.end());
      statement.comments = std::make_shared<const Comments>(std::move(joined));
      comments.clear();
    }
    kept.push_back(std::move(statement));
  }
  result_.end_comments.insert(result_.end_comments.begin(), comments.begin(), comments.end());
  statements = std::move(kept);
}

// Imports, type variables and metadata of a Python file count, whatever else its other statements are.
// Whether the line is a type variable or an import of TVM's namespaces alone.
bool SourceReader::bind_quietly(const Line& line) {
  if (line.damaged || line.header) return false;
  bool import = line.first_word == "import" || line.first_word == "from";
  const std::string_view text = context_.text_of(line.span);
  const bool binds = text.find("TypeVar(") != text.npos || text.find(".dynamic(") != text.npos ||
                     text.find("load_json(") != text.npos;
  if (!import && !binds) return false;
  Diagnostics ignored;
  LineParser parser(context_.file, context_.text, ignored);
  auto statement = parser.simple(line);
  if (!statement) return false;
  if (auto* imported = statement->as<ast::Import>()) {
    bool known = true;
    for (const auto& bound : imported->bound) known &= bind_import(bound);
    return known;
  } else if (take_metadata(*statement)) {
    return true;
  } else if (auto* assignment = statement->as<ast::Assignment>()) {
    auto* call = assignment->value ? assignment->value->as<ast::Call>() : nullptr;
    const std::string* name = ast::name_of(*assignment->targets[0]);
    if (call && name && context_.namespaces.makes_size(*call->callee)) {
      context_.type_variables.insert(*name);
      return true;
    }
  }
  return false;
}

// An assignment of a Python file, which says the value of a name or that it has several.
void SourceReader::keep_quietly(const Line& line) {
  if (!options_.constant_value || context_.text_of(line.span).find('=') == std::string_view::npos) return;
  Diagnostics ignored;
  LineParser parser(context_.file, context_.text, ignored);
  if (auto statement = parser.simple(line)) python_statements_.push_back(std::move(*statement));
}

bool SourceReader::is_relevant(const Line& decorator) {
  if (decorator.damaged) return false;
  Diagnostics ignored;
  LineParser parser(context_.file, context_.text, ignored);
  ast::ExprPtr parsed = parser.decorator(decorator);
  return parsed && !decorator_kind(context_.namespaces, *parsed).empty();
}

// The decorated classes and functions; the rest is skipped, with its faults.
std::vector<Line> SourceReader::relevant_lines(std::vector<Line> lines, Diagnostics& faults) {
  std::vector<Line> kept;
  std::size_t skipped = 0;
  Span first_skipped;
  std::vector<Span> read;
  for (std::size_t i = 0; i < lines.size();) {
    std::size_t begin = i;
    bool relevant = false;
    while (i < lines.size() && lines[i].first_word == "@") relevant |= is_relevant(lines[i++]);
    if (i < lines.size() && relevant && (lines[i].first_word == "def" || lines[i].first_word == "class")) {
      read.push_back({context_.file, lines[begin].span.begin, end_of(lines[i])});
      for (std::size_t k = begin; k <= i; ++k) kept.push_back(std::move(lines[k]));
    } else if (i < lines.size()) {
      if (!lines[i].damaged) keep_python_names(context_, std::span(lines).subspan(begin, i - begin + 1));
      bool import = bind_quietly(lines[i]);
      if (!import && !lines[i].header && !lines[i].damaged) keep_quietly(lines[i]);
      bool docstring = !lines[i].header && lines[i].first_word.empty();
      if (!import && !docstring && ++skipped == 1) first_skipped = lines[i].span;
    }
    ++i;
  }
  for (const Diagnostic& fault : faults.all()) {
    bool inside = std::any_of(read.begin(), read.end(), [&](const Span& span) {
      return fault.span.begin >= span.begin && fault.span.begin <= span.end;
    });
    // A text of three quotation marks that is never closed takes all that stands behind it in.
    const bool to_the_end = fault.id == "syntax.string" && fault.span.end - fault.span.begin == 3;
    if (inside || to_the_end || fault.id == "limit.source" || fault.id == "syntax.line_end")
      context_.diagnostics.add(fault);
  }
  if (skipped > 0) {
    Diagnostic note;
    note.severity = Severity::Note;
    note.id = "python.skipped";
    note.span = first_skipped;
    note.message = fmt::format(
        "{} statement{} of this Python file {} skipped: only decorated classes and functions are read",
        skipped, skipped == 1 ? "" : "s", skipped == 1 ? "is" : "are");
    context_.diagnostics.add(std::move(note));
  }
  return kept;
}

// --- Statements.

// False when it is no namespace of TVM's.
bool SourceReader::bind_import(const ast::Import::Bound& bound) {
  if (bound.name == "*") return bound.target.substr(0, 3) == "tvm";
  return context_.namespaces.bind(bound.name, bound.target);
}

void SourceReader::bind_imports(ast::Block& statements) {
  for (ast::Statement& statement : statements) {
    auto* imported = statement.as<ast::Import>();
    if (!imported) continue;
    for (const auto& bound : imported->bound) {
      if (bind_import(bound)) continue;
      context_.unresolved = true;
      const std::string_view instead = instead_of_python_module(bound.target);
      Diagnostic& diagnostic = context_.diagnostics.error(
          ErrorClass::Syntax, bound.span, "refused.import",
          fmt::format("found an import of '{}'; a script imports TVM's namespaces only{}",
                      printable(bound.target),
                      instead.empty() ? ", and reads files with load" : fmt::format("; {}", instead)));
      if (imported->bound.size() == 1 && context_.may_search())
        diagnostic.notes = unused_import(context_.text, statement, *imported);
    }
  }
}

void SourceReader::collect_names(const ast::Block& statements) {
  std::set<std::string> names(options_.session_names.begin(), options_.session_names.end());
  for (const ast::Statement& statement : statements) {
    const auto* function = statement.as<ast::FunctionDefinition>();
    const bool declaration = function && !is_script_function(statement);
    if (declaration) keep_python_function(context_, *function);
    if (declaration || statement.as<ast::Damaged>()) continue;
    if (function) context_.script_functions.insert(function->name);
    auto* assignment = statement.as<ast::Assignment>();
    auto* call = assignment && assignment->value ? assignment->value->as<ast::Call>() : nullptr;
    const std::string* target = assignment ? ast::name_of(*assignment->targets[0]) : nullptr;
    if (call && target && context_.namespaces.makes_size(*call->callee)) {
      context_.type_variables.insert(*target);
      continue;
    }
    for_each_bound_name(statement, [&](const std::string& name, Span) { names.insert(name); });
  }
  context_.script_names.assign(names.begin(), names.end());
  module_names_ = options_.session_modules;
  for (const ast::Statement& statement : statements) {
    if (auto* module = statement.as<ast::ClassDefinition>()) module_names_.push_back(module->name);
  }
  std::sort(module_names_.begin(), module_names_.end());
}

// --- Free functions.

// The functions form one module; a redefinition begins a group that is read against the functions before it.
void SourceReader::build_free_functions(ast::Block& statements) {
  Module known;
  if (options_.session_functions) known = *options_.session_functions;
  auto declared = std::make_shared<Module>();
  declared->name = "Module";
  std::vector<std::pair<std::size_t, GlobalFunction>> linked;
  for (std::size_t begin = 0; begin < statements.size();) {
    ModuleBuilder builder(context_, "Module", &known, constants_, module_names_, links_);
    std::set<std::string> group;
    std::size_t end = begin;
    for (; end < statements.size(); ++end) {
      auto* definition = statements[end].as<ast::FunctionDefinition>();
      if (!definition || is_script_function(statements[end])) continue;
      if (!group.insert(definition->name).second && options_.redefinitions) break;
      builder.declare(statements[end]);
    }
    Module module = builder.build();
    for (const GlobalFunction& function : module.functions) {
      bool fresh = links_.is_linked(name_of(function)) && !declared->find(name_of(function));
      if (fresh) linked.emplace_back(begin, function);
    }
    for (; begin < end; ++begin) {
      auto* definition = statements[begin].as<ast::FunctionDefinition>();
      if (!definition || is_script_function(statements[begin])) continue;
      auto built = builder.built(*definition);
      std::string name = definition->name;
      if (built) {
        statements[begin].kind = ast::DeclareFunction{std::move(*built)};
      } else {
        statements[begin].kind = ast::Damaged{{name}};
      }
      result_.free_functions = declared;
    }
    if (end == statements.size() && declared->functions.empty()) {
      *declared = std::move(module);
      break;
    }
    for (const GlobalFunction& function : module.functions) {
      known.set(function);
      declared->set(function);
    }
  }
  // What was linked in is declared before the functions that use it.
  for (auto copy = linked.rbegin(); copy != linked.rend(); ++copy) {
    ast::Statement statement{
        links_.span_of(name_of(copy->second)), ast::DeclareFunction{copy->second, true}, nullptr, {}};
    statements.insert(statements.begin() + static_cast<std::ptrdiff_t>(copy->first), std::move(statement));
  }
}

// --- Classes.

void SourceReader::refuse_class(ast::Statement& statement) {
  auto& definition = *statement.as<ast::ClassDefinition>();
  // What derives from a class would be an object with methods and fields of its own.
  if (definition.decorators.empty() && !definition.bases.empty()) {
    fail(
        ErrorClass::Syntax, definition.name_span, "refused.class",
        fmt::format(
            "found class {} derived from another; there are no objects: a model is a function with @R.function above it, "
            "whose weights are parameters",
            printable(definition.name)));
  }
  if (definition.decorators.empty()) {
    // A module has functions of tensors; any other class is one of Python's.
    const bool module =
        std::any_of(definition.body.begin(), definition.body.end(), [](const ast::Statement& each) {
          const auto* function = each.as<ast::FunctionDefinition>();
          return function && !function->decorators.empty();
        });
    fail(ErrorClass::Syntax, definition.name_span, "refused.class",
         fmt::format("classes without decorator are not supported: found class {}; expected {}",
                     printable(definition.name),
                     module ? "@I.ir_module before it"
                            : "a dict of its values, or @I.ir_module before functions of tensors"),
         module ? std::vector<DiagnosticNote>{put_above(definition.name_span, "@I.ir_module")}
                : std::vector<DiagnosticNote>{});
  }
}

// A module for callbacks into Python derives from a class; its other functions are functions as any.
void SourceReader::refuse_base(const ast::ClassDefinition& definition) {
  if (definition.bases.empty()) return;
  const ast::Expr& base = *definition.bases[0].value;
  const std::string* name = ast::name_of(base);
  if (name && *name == "BasePyModule") {
    fail(ErrorClass::Syntax, base.span, "refused.python",
         "found the base class BasePyModule, which needs Python; modules have no base class");
  }
  fail(ErrorClass::Syntax, base.span, "refused.base", "found a base class of a module; modules have none");
}

// What a Python file has that needs Python or a distributed runtime is left out with a warning, so that its
// other functions can be used; with any other fault the whole file is refused.
void SourceReader::leave_out_unsupported(ast::Block& statements) {
  auto unsupported = [&](const Diagnostic& each) {
    return each.span.file == context_.file &&
           (each.id == "refused.python" || each.id == "refused.base" || each.id == "type.unsupported" ||
            each.id.starts_with("unsupported"));
  };
  std::vector<Diagnostic> all = with_python_uses(context_);
  const bool others = std::any_of(all.begin(), all.end(), [&](const Diagnostic& each) {
    return each.severity == Severity::Error && !unsupported(each);
  });
  if (others || !context_.diagnostics.has_errors()) return;
  context_.diagnostics.clear();
  for (Diagnostic& each : all) {
    if (each.severity == Severity::Error) {
      each.severity = Severity::Warning;
      each.message += "; left out";
    }
    context_.diagnostics.add(std::move(each));
  }
  for (Diagnostic& each : context_.callers_of_unread) context_.diagnostics.add(std::move(each));
  // A class without any function says nothing.
  std::erase_if(statements, [](const ast::Statement& statement) { return statement.as<ast::Damaged>(); });
  context_.unresolved = false;
}

void SourceReader::build_class(ast::Statement& statement) {
  auto& definition = *statement.as<ast::ClassDefinition>();
  std::size_t errors = context_.diagnostics.error_count();
  bool good = context_.attempt([&] { refuse_class(statement); });
  // A class of Python has nothing that could be told about more than once.
  const bool of_python = definition.decorators.empty() &&
                         std::none_of(definition.body.begin(), definition.body.end(), [](const auto& inner) {
                           auto* function = inner.template as<ast::FunctionDefinition>();
                           return function && !function->decorators.empty();
                         });
  if (of_python) {
    statement.kind = ast::Damaged{{definition.name}};
    return;
  }
  context_.attempt([&] { refuse_base(definition); });
  bool check_well_formed = true;
  for (const ast::ExprPtr& decorator : definition.decorators) {
    good &= context_.attempt([&] {
      if (decorator_kind(context_.namespaces, *decorator) != "module") {
        auto* call = decorator->as<ast::Call>();
        const ast::Expr& word = call ? *call->callee : *decorator;
        refuse_python(context_, *decorator);
        fail(ErrorClass::Type, decorator->span, "decorator.unknown",
             fmt::format("found the decorator '{}'; expected I.ir_module",
                         printable(context_.text_of(decorator->span), 40)),
             write_nearest(word.span, context_.text_of(word.span), std::vector<std::string>{"I.ir_module"}));
      }
      auto* call = decorator->as<ast::Call>();
      if (!call) return;
      for (const ast::Argument& argument : call->arguments) {
        auto* value = argument.value->as<ast::BoolValue>();
        if (value && argument.name == "check_well_formed") {
          check_well_formed = value->value;
        } else if (!value || argument.name != "s_tir") {
          fail(ErrorClass::Type, argument.value->span, "decorator.argument",
               "found an argument of I.ir_module that it does not have; expected check_well_formed=True or "
               "False");
        }
      }
    });
  }
  const Module* known = options_.known_class;
  if (known && known->name != definition.name) known = nullptr;
  ModuleBuilder builder(context_, definition.name, known, constants_, module_names_, links_);
  if (check_well_formed)
    builder.list_devices();
  else
    builder.leave_unchecked();
  for (ast::Statement& inner : definition.body) {
    if (inner.as<ast::FunctionDefinition>()) {
      builder.declare(inner);
    } else {
      builder.declare_class_statement(inner);
    }
  }
  Module module = builder.build();
  module.check_well_formed = check_well_formed;
  module.span = definition.name_span;
  module.comments = statement.comments;
  if (!good || (context_.diagnostics.error_count() != errors && module.functions.empty())) {
    statement.kind = ast::Damaged{{definition.name}};
    return;
  }
  auto built = std::make_shared<const Module>(std::move(module));
  result_.modules.push_back(built);
  std::vector<ast::FunctionPlace> places;
  for (const ast::Statement& inner : definition.body) {
    if (auto* function = inner.as<ast::FunctionDefinition>())
      places.push_back({function->name, inner.whole, inner.comments_above});
  }
  statement.kind = ast::DeclareModule{built, std::move(places)};
}

// Classes first: functions may use them.
void SourceReader::build(ast::Block& statements) {
  for (ast::Statement& statement : statements) {
    if (!statement.as<ast::ClassDefinition>()) continue;
    build_class(statement);
    if (const auto* built = statement.as<ast::DeclareModule>()) links_.add(built->module);
  }
  build_free_functions(statements);
}

// Who does not run the statements does not see these declarations.
void SourceReader::tell_deferred(const ast::Block& statements) {
  if (!options_.load_all) return;
  for (const ast::Statement& statement : statements) {
    const auto* deferred = statement.as<ast::Deferred>();
    if (!deferred) continue;
    Diagnostic note;
    note.severity = Severity::Note;
    note.id = "function.deferred";
    note.span = statement.span;
    note.message = fmt::format(
        "'{}' calls functions of a module that a statement makes, so it is read when "
        "the text runs",
        printable(deferred->names.front()));
    context_.diagnostics.add(std::move(note));
  }
}

ReadResult SourceReader::read_deferred(const ast::Deferred& group) {
  context_.type_variables = group.facts->type_variables;
  context_.metadata_constants = group.facts->metadata_constants;
  context_.has_metadata = group.facts->has_metadata;
  constants_ = group.facts->constants;
  ast::Block statements = std::move(group.definitions);
  collect_names(statements);
  links_.collect(statements);
  build(statements);
  result_.script = std::move(statements);
  result_.namespaces = context_.namespaces;
  result_.linked = links_.linked();
  return std::move(result_);
}

ReadResult SourceReader::read() {
  check_version();
  Diagnostics faults;
  ScannedSource scanned =
      scan_source(context_.file, context_.text, options_.python_file ? faults : context_.diagnostics);
  if (options_.python_file) {
    scanned.lines = relevant_lines(std::move(scanned.lines), faults);
  } else {
    result_.end_comments = std::move(scanned.end_comments);
  }
  if (context_.diagnostics.has_errors()) context_.unresolved = true;
  ast::Block statements = StatementReader(context_).read(scanned.lines);
  scanned = {};  // of a long text a good part of the memory
  bind_imports(statements);
  take_metadata(statements);
  collect_names(statements);
  if (options_.constant_value) {
    result_.constants =
        put_constants(context_, {options_.constant_value, options_.is_change, options_.session_constants},
                      options_.python_file ? python_statements_ : statements, statements);
    context_.constants = result_.constants.names;
  }
  if (!options_.python_file) {
    defer_declarations(
        options_, statements,
        std::make_shared<const DeferredFacts>(DeferredFacts{
            context_.type_variables, context_.metadata_constants, context_.has_metadata, constants_}));
    tell_deferred(statements);
  }
  links_.collect(statements);
  build(statements);
  check_script(context_, statements);
  if (options_.python_file) leave_out_unsupported(statements);
  result_.script = std::move(statements);
  result_.namespaces = context_.namespaces;
  result_.holes = std::move(context_.holes);
  result_.linked = links_.linked();
  result_.printable = !context_.unresolved;
  return std::move(result_);
}

}  // namespace

std::vector<ModulePtr> ReadResult::all_modules() const {
  std::vector<ModulePtr> all = modules;
  if (free_functions) all.push_back(free_functions);
  return all;
}

ReadResult read_source(std::uint32_t file, const ReadOptions& options, Diagnostics& diagnostics) {
  const SourceFile* source = Sources::instance().find(file);
  RELISH_CHECK(source != nullptr);
  ReadResult result;
  with_big_stack([&] {
    const ReadingLimit limit(options.goes_on);
    // The constants at the end are no part of the text that is scanned.
    std::string_view whole = source->text();
    std::size_t heading = find_constant_section(whole);
    SourceReader reader(file, whole.substr(0, heading), options, diagnostics);
    reader.read_constants(heading, whole);
    result = reader.read();
  });
  diagnostics.sort();
  return result;
}

ReadResult read_deferred(const ast::Deferred& group, const ReadOptions& options, Diagnostics& diagnostics) {
  RELISH_CHECK(!group.definitions.empty());
  const std::uint32_t file = group.definitions.front().span.file;
  const SourceFile* source = Sources::instance().find(file);
  RELISH_CHECK(source != nullptr);
  ReadResult result;
  with_big_stack([&] {
    const std::string_view whole = source->text();
    SourceReader reader(file, whole.substr(0, find_constant_section(whole)), options, diagnostics);
    result = reader.read_deferred(group);
  });
  diagnostics.sort();
  return result;
}

}  // namespace relish
