// Lines to syntax trees: picks the entry rule, converts the tree, and then parses the fields of f-strings,
// which are slices of the same source.
#include "frontend/text/line_parser.h"

#include "frontend/text/tree_converter.h"
#include "support/interrupt.h"

namespace relish {

using Parser = grammar::RelishParser;

struct LineParser::Impl {
  std::uint32_t file;
  std::string_view text;
  Diagnostics& diagnostics;
  bool long_chains = false;

  // Parses by `rule` and converts with `convert(converter, tree)`; fields of f-strings are parsed afterwards,
  // one level after another. False after an error.
  template <class Convert>
  bool parse(const relish::Slice& slice, EntryRule rule, Convert&& convert);
  bool parse_fields(const std::vector<PendingField>& pending);
};

template <class Convert>
bool LineParser::Impl::parse(const relish::Slice& slice, EntryRule rule, Convert&& convert) {
  bool converted = false;
  std::vector<PendingField> pending;
  bool parsed = parse_slice(slice, rule, diagnostics, [&](antlr4::ParserRuleContext& tree) {
    TreeConverter converter(slice, diagnostics, long_chains);
    try {
      convert(converter, tree);
      converted = true;
    } catch (const TreeConverter::Refused&) {
      // What is wrong has been said.
    }
    pending = std::move(converter.pending());
  });
  return parsed && converted && parse_fields(pending);
}

bool LineParser::Impl::parse_fields(const std::vector<PendingField>& pending) {
  bool good = true;
  for (const PendingField& field : pending) {
    relish::Slice slice{file, text, field.begin, field.end, {}};
    ast::ExprPtr value;
    good &= parse(
        slice, [](Parser& parser) -> antlr4::ParserRuleContext* { return parser.expressionLine(); },
        [&](TreeConverter& converter, antlr4::ParserRuleContext& tree) {
          value =
              converter.expression_list(static_cast<Parser::ExpressionLineContext&>(tree).expressionList());
          field.format->as<ast::FormatString>()->parts[field.part].field = std::move(value);
        });
  }
  return good;
}

LineParser::LineParser(std::uint32_t file, std::string_view text, Diagnostics& diagnostics)
    : impl_(new Impl{file, text, diagnostics, false}) {}

LineParser::~LineParser() = default;

bool LineParser::long_chains() const { return impl_->long_chains; }
void LineParser::set_long_chains(bool allowed) { impl_->long_chains = allowed; }

namespace {

relish::Slice slice_of(std::uint32_t file, std::string_view text, const Line& line) {
  return {file, text, line.span.begin, line.span.end, line.number_lists};
}

}  // namespace

std::optional<ast::Statement> LineParser::simple(const Line& line) {
  poll_interrupt();
  std::optional<ast::Statement> result;
  bool good = impl_->parse(
      slice_of(impl_->file, impl_->text, line),
      [](Parser& parser) -> antlr4::ParserRuleContext* { return parser.simpleLine(); },
      [&](TreeConverter& converter, antlr4::ParserRuleContext& tree) {
        result = converter.simple(static_cast<Parser::SimpleLineContext&>(tree).simpleStatement());
      });
  return good ? std::move(result) : std::nullopt;
}

std::optional<ast::Statement> LineParser::header(const Line& line) {
  poll_interrupt();
  std::optional<ast::Statement> result;
  bool good = impl_->parse(
      slice_of(impl_->file, impl_->text, line),
      [](Parser& parser) -> antlr4::ParserRuleContext* { return parser.headerLine(); },
      [&](TreeConverter& converter, antlr4::ParserRuleContext& tree) {
        result = converter.header(static_cast<Parser::HeaderLineContext&>(tree).header());
      });
  return good ? std::move(result) : std::nullopt;
}

ast::ExprPtr LineParser::expression(std::size_t begin, std::size_t end) {
  ast::ExprPtr result;
  bool good = impl_->parse(
      relish::Slice{impl_->file, impl_->text, begin, end, {}},
      [](Parser& parser) -> antlr4::ParserRuleContext* { return parser.expressionLine(); },
      [&](TreeConverter& converter, antlr4::ParserRuleContext& tree) {
        result =
            converter.expression_list(static_cast<Parser::ExpressionLineContext&>(tree).expressionList());
      });
  return good ? std::move(result) : nullptr;
}

ast::ExprPtr LineParser::decorator(const Line& line) {
  ast::ExprPtr result;
  bool good = impl_->parse(
      slice_of(impl_->file, impl_->text, line),
      [](Parser& parser) -> antlr4::ParserRuleContext* { return parser.decoratorLine(); },
      [&](TreeConverter& converter, antlr4::ParserRuleContext& tree) {
        result = converter.expression(static_cast<Parser::DecoratorLineContext&>(tree).expression());
      });
  return good ? std::move(result) : nullptr;
}

}  // namespace relish
