// Lines to syntax trees: picks the entry rule, converts the tree, and then parses the fields of f-strings,
// which are slices of the same source.
#include "frontend/text/line_parser.h"

#include "frontend/text/reading_limit.h"
#include "frontend/text/statement_converter.h"

namespace relish {

using Parser = grammar::RelishParser;

struct LineParser::Impl {
  std::uint32_t file;
  std::string_view text;
  Diagnostics& diagnostics;
  bool long_chains = false;

  // Parses by `rule` and converts with `convert(exprs, tree)`; fields of f-strings are parsed afterwards, one
  // level after another. An empty result after an error.
  template <class Result, class Convert>
  Result parse(const relish::Slice& slice, EntryRule rule, Convert&& convert);
  bool parse_fields(const std::vector<PendingField>& pending);

  relish::Slice slice_of(const Line& line) const {
    return {file, text, line.span.begin, line.span.end, line.number_lists};
  }
};

template <class Result, class Convert>
Result LineParser::Impl::parse(const relish::Slice& slice, EntryRule rule, Convert&& convert) {
  Result result{};
  bool converted = false;
  std::vector<PendingField> pending;
  bool parsed = parse_slice(slice, rule, diagnostics, [&](antlr4::ParserRuleContext& tree) {
    const TreeText line(slice, diagnostics);
    ExprConverter exprs(line, long_chains);
    try {
      result = convert(line, exprs, tree);
      converted = true;
    } catch (const TreeText::Refused&) {
      // What is wrong has been said.
    }
    pending = std::move(exprs.pending());
  });
  return parsed && converted && parse_fields(pending) ? std::move(result) : Result{};
}

namespace {

antlr4::ParserRuleContext* expression_line(Parser& parser) { return parser.expressionLine(); }

ast::ExprPtr expressions_of(const TreeText&, ExprConverter& exprs, antlr4::ParserRuleContext& tree) {
  return exprs.expression_list(static_cast<Parser::ExpressionLineContext&>(tree).expressionList());
}

}  // namespace

bool LineParser::Impl::parse_fields(const std::vector<PendingField>& pending) {
  bool good = true;
  for (const PendingField& field : pending) {
    relish::Slice slice{file, text, field.begin, field.end, {}};
    ast::ExprPtr value = parse<ast::ExprPtr>(slice, expression_line, expressions_of);
    good &= value != nullptr;
    ast::FormatPart& part = field.format->as<ast::FormatString>()->parts[field.part];
    (field.inner ? part.spec_fields[*field.inner] : part).field = std::move(value);
  }
  return good;
}

LineParser::LineParser(std::uint32_t file, std::string_view text, Diagnostics& diagnostics)
    : impl_(new Impl{file, text, diagnostics, false}) {}

LineParser::~LineParser() = default;

bool LineParser::long_chains() const { return impl_->long_chains; }
void LineParser::set_long_chains(bool allowed) { impl_->long_chains = allowed; }

std::optional<ast::Statement> LineParser::simple(const Line& line) {
  poll_reading();
  return impl_->parse<std::optional<ast::Statement>>(
      impl_->slice_of(line), [](Parser& parser) -> antlr4::ParserRuleContext* { return parser.simpleLine(); },
      [](const TreeText& text, ExprConverter& exprs, antlr4::ParserRuleContext& tree) {
        return StatementConverter(text, exprs)
            .simple(static_cast<Parser::SimpleLineContext&>(tree).simpleStatement());
      });
}

std::optional<ast::Statement> LineParser::header(const Line& line) {
  poll_reading();
  return impl_->parse<std::optional<ast::Statement>>(
      impl_->slice_of(line), [](Parser& parser) -> antlr4::ParserRuleContext* { return parser.headerLine(); },
      [](const TreeText& text, ExprConverter& exprs, antlr4::ParserRuleContext& tree) {
        return StatementConverter(text, exprs).header(static_cast<Parser::HeaderLineContext&>(tree).header());
      });
}

ast::ExprPtr LineParser::expression(std::size_t begin, std::size_t end) {
  return impl_->parse<ast::ExprPtr>(relish::Slice{impl_->file, impl_->text, begin, end, {}}, expression_line,
                                    expressions_of);
}

ast::ExprPtr LineParser::decorator(const Line& line) {
  return impl_->parse<ast::ExprPtr>(
      impl_->slice_of(line),
      [](Parser& parser) -> antlr4::ParserRuleContext* { return parser.decoratorLine(); },
      [](const TreeText&, ExprConverter& exprs, antlr4::ParserRuleContext& tree) {
        return exprs.expression(static_cast<Parser::DecoratorLineContext&>(tree).expression());
      });
}

}  // namespace relish
