// Reading of texts of another kind than a script: one expression, one module, and the texts of the standard
// library, each at its first use.
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "frontend/reader.h"
#include "frontend/text/statement_reader.h"
#include "stdlib/embedded.h"
#include "support/big_stack.h"
#include "support/render.h"

namespace relish {

ast::ExprPtr read_expression(std::uint32_t file, Diagnostics& diagnostics) {
  const SourceFile* source = Sources::instance().find(file);
  RELISH_CHECK(source != nullptr);
  ast::ExprPtr result;
  with_big_stack([&] {
    std::string_view text = source->text();
    ScannedSource scanned = scan_source(file, text, diagnostics);
    if (diagnostics.has_errors()) return;
    if (scanned.lines.size() != 1 || !scanned.lines[0].body.empty()) {
      diagnostics.error(ErrorClass::Syntax, Span{file, 0, static_cast<std::uint32_t>(text.size())},
                        "syntax.expression",
                        fmt::format("found {} lines; expected one expression", scanned.lines.size()));
      return;
    }
    LineParser parser(file, text, diagnostics);
    auto statement = parser.simple(scanned.lines[0]);
    if (!statement) return;
    if (auto* expression = statement->as<ast::ExpressionStatement>()) {
      result = std::move(expression->value);
    } else {
      diagnostics.error(ErrorClass::Syntax, statement->span, "syntax.expression",
                        "found a statement; expected an expression");
    }
  });
  return result;
}

ModulePtr read_module(std::string name, std::string text) {
  Diagnostics diagnostics;
  std::uint32_t file = Sources::instance().add(std::move(name), std::move(text));
  ReadResult result = read_source(file, {}, diagnostics);
  throw_if_errors(diagnostics);
  std::vector<ModulePtr> modules = result.all_modules();
  if (modules.size() != 1) {
    fail(ErrorClass::Type, Span{file, 0, 0}, "module.count",
         fmt::format("found {} modules; expected one", modules.size()));
  }
  return modules.front();
}

// --- Texts of the standard library.

namespace {

class StandardBodyLoader : public BodyLoader {
 public:
  ModulePtr load(std::string_view path) override {
    // On the large stack before the lock: a text may use an operator whose type comes from another text, and
    // that is read on the same thread.
    ModulePtr module;
    with_big_stack([&] {
      std::lock_guard lock(mutex_);
      module = load_locked(path);
    });
    return module;
  }

 private:
  ModulePtr load_locked(std::string_view path) {
    auto found = modules_.find(path);
    if (found != modules_.end()) return found->second;
    auto text = embedded_text(path);
    RELISH_CHECK(text.has_value(), fmt::format("no text '{}' in the standard library", path));
    Diagnostics diagnostics;
    std::uint32_t file = Sources::instance().add(fmt::format("<stdlib>/{}", path), std::string(*text));
    ReadResult result = read_source(file, {}, diagnostics);
    if (diagnostics.has_errors()) {
      RELISH_CHECK(false, "a text of the standard library is wrong\n" +
                              render(diagnostics.all(), Sources::instance(), {}));
    }
    std::vector<ModulePtr> modules = result.all_modules();
    RELISH_CHECK(modules.size() == 1, fmt::format("'{}' must hold one module", path));
    modules_.emplace(std::string(path), modules.front());
    return modules.front();
  }

  std::recursive_mutex mutex_;
  std::map<std::string, ModulePtr, std::less<>> modules_;
};

}  // namespace

BodyLoader& standard_body_loader() {
  static StandardBodyLoader loader;
  return loader;
}

void install_front_end() { install_body_loader(standard_body_loader()); }

}  // namespace relish
