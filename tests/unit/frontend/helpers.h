// What the tests of the front end share: reading a text under a made-up name, diagnostics as short lines, and
// syntax trees as bracketed text.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "frontend/text/ast.h"
#include "support/diagnostic.h"
#include "support/fix.h"
#include "support/source.h"

namespace relish::test {

inline std::uint32_t add_source(std::string text, std::string name = "t.relish") {
  return Sources::instance().add(std::move(name), std::move(text));
}

// "2:5 SyntaxError message" a line, notes as "  note 1:1 text"; without fixes.
inline std::string short_text(const Diagnostics& diagnostics) {
  std::string result;
  auto place = [](Span span) {
    const SourceFile* source = Sources::instance().find(span.file);
    if (!source) return std::string("-");
    LineColumn at = source->position(span.begin);
    return fmt::format("{}:{}", at.line, at.column);
  };
  for (const Diagnostic& d : diagnostics.all()) {
    result += fmt::format("{} {} {}\n", place(d.span),
                          d.severity == Severity::Error  ? name_of(d.error_class)
                          : d.severity == Severity::Note ? std::string_view("note")
                                                         : std::string_view("warning"),
                          d.message);
    for (const DiagnosticNote& note : d.notes) {
      if (is_fix(note)) continue;  // fix_test.cpp applies them
      result += fmt::format("  note {} {}\n", place(note.span), note.text);
    }
  }
  return result;
}

inline std::string dump(const ast::ExprPtr& expr) {
  if (!expr) return "-";
  struct Dump {
    std::string list(std::string_view head, const std::vector<ast::ExprPtr>& items) const {
      std::string result = fmt::format("({}", head);
      for (const ast::ExprPtr& item : items) result += " " + dump(item);
      return result + ")";
    }
    std::string links(const ast::ExprPtr& first, const std::vector<ast::Link>& all) const {
      std::string result = "(" + dump(first);
      for (const ast::Link& link : all)
        result += fmt::format(" {} {}", ast::text_of(link.op), dump(link.operand));
      return result + ")";
    }
    std::string operator()(const ast::StateName& n) const { return n.id + "@" + n.state; }
    std::string operator()(const ast::Hole& h) const { return "?" + h.id; }
    std::string operator()(const ast::Name& n) const { return n.id; }
    std::string operator()(const ast::IntValue& v) const { return fmt::format("{}", v.value); }
    std::string operator()(const ast::FloatValue& v) const { return fmt::format("{}f", v.value); }
    std::string operator()(const ast::BoolValue& v) const { return v.value ? "True" : "False"; }
    std::string operator()(const ast::NoneValue&) const { return "None"; }
    std::string operator()(const ast::StringValue& v) const { return fmt::format("\"{}\"", v.value); }
    std::string operator()(const ast::FormatString& f) const {
      std::string result = "(f";
      for (const ast::FormatPart& part : f.parts) {
        result += part.field
                      ? fmt::format(" {{{}:{}{}}}", dump(part.field), part.spec,
                                    part.conversion ? std::string("!") + part.conversion : std::string())
                      : fmt::format(" \"{}\"", part.text);
      }
      return result + ")";
    }
    std::string operator()(const ast::TupleValue& t) const { return list("tuple", t.items); }
    std::string operator()(const ast::ListValue& t) const { return list("list", t.items); }
    std::string operator()(const ast::DictValue& d) const {
      std::string result = "(dict";
      for (auto& [key, value] : d.items) result += fmt::format(" {}: {}", dump(key), dump(value));
      return result + ")";
    }
    std::string operator()(const ast::Ellipsis&) const { return "..."; }
    std::string operator()(const ast::Lambda& l) const { return fmt::format("(lambda {})", dump(l.value)); }
    std::string operator()(const ast::Comprehension& c) const {
      std::string result = c.key ? fmt::format("(for {}: {}", dump(c.key), dump(c.value))
                                 : fmt::format("(for {}", dump(c.value));
      for (const ast::ComprehensionClause& clause : c.clauses) {
        result += clause.target ? fmt::format(" {} in {}", dump(clause.target), dump(clause.value))
                                : fmt::format(" if {}", dump(clause.value));
      }
      return result + ")";
    }
    std::string operator()(const ast::NumberListValue& l) const {
      return fmt::format("(numbers {})", l.size());
    }
    std::string operator()(const ast::Attribute& a) const {
      return fmt::format("{}.{}", dump(a.object), a.name);
    }
    std::string operator()(const ast::Call& c) const {
      std::string result = fmt::format("(call {}", dump(c.callee));
      for (const ast::Argument& a : c.arguments) {
        result += fmt::format(" {}{}{}", std::string(static_cast<std::size_t>(a.stars), '*'),
                              a.name.empty() ? "" : a.name + "=", dump(a.value));
      }
      return result + ")";
    }
    std::string operator()(const ast::Slice& s) const {
      return fmt::format("(slice {} {} {})", dump(s.begin), dump(s.end), dump(s.step));
    }
    std::string operator()(const ast::Subscript& s) const {
      return list(fmt::format("at {}{}", dump(s.object), s.comma && s.items.size() == 1 ? "," : ""), s.items);
    }
    std::string operator()(const ast::Prefix& p) const {
      return fmt::format("({} {})", ast::text_of(p.op), dump(p.operand));
    }
    std::string operator()(const ast::Chain& c) const { return links(c.first, c.links); }
    std::string operator()(const ast::Comparison& c) const { return links(c.first, c.links); }
    std::string operator()(const ast::Logic& l) const { return list(ast::text_of(l.op), l.operands); }
    std::string operator()(const ast::Conditional& c) const {
      return fmt::format("(if {} {} {})", dump(c.condition), dump(c.then_value), dump(c.else_value));
    }
    std::string operator()(const ast::Starred& s) const { return "*" + dump(s.value); }
    std::string operator()(const ast::Unsupported& u) const { return "<" + u.what + ">"; }
  };
  return std::visit(Dump{}, expr->kind);
}

}  // namespace relish::test
