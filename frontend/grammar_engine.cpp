// The process's one ANTLR lexer and parser, made at first use, and the wording of syntax errors.
#include "frontend/grammar_engine.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/render.h"

namespace relish {
namespace {

using grammar::RelishLexer;
using grammar::RelishParser;

// Characters of the grammar are bytes of the source, so token positions are byte offsets. Bytes beyond ASCII
// occur in strings and comments only; the scanner has checked them.
class SliceStream : public antlr4::CharStream {
 public:
  explicit SliceStream(const Slice& slice) : slice_(slice), at_(slice.begin) {}

  void consume() override { at_ = after(at_); }
  std::size_t LA(ssize_t offset) override {
    if (offset < 0) {
      std::size_t back = static_cast<std::size_t>(-offset);
      return at_ - slice_.begin < back ? IntStream::EOF : byte(at_ - back);
    }
    std::size_t at = at_;
    for (ssize_t i = 1; i < offset; ++i) at = after(at);
    if (at >= slice_.end) return IntStream::EOF;
    return list_at(at) ? number_list_character : byte(at);
  }
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  std::size_t index() override { return at_; }
  void seek(std::size_t index) override { at_ = index; }
  std::size_t size() override { return slice_.end; }
  std::string getSourceName() const override { return "text"; }
  std::string getText(const antlr4::misc::Interval& interval) override {
    std::size_t begin = static_cast<std::size_t>(std::max<ssize_t>(interval.a, 0));
    std::size_t end = std::min(static_cast<std::size_t>(interval.b + 1), slice_.end);
    return begin < end ? std::string(slice_.text.substr(begin, end - begin)) : std::string();
  }
  std::string toString() const override {
    return std::string(slice_.text.substr(slice_.begin, slice_.end - slice_.begin));
  }

 private:
  static constexpr std::size_t number_list_character = 1;

  std::size_t byte(std::size_t at) const { return static_cast<unsigned char>(slice_.text[at]); }
  const NumberRange* list_at(std::size_t at) const {
    if (slice_.number_lists.empty()) return nullptr;
    auto found =
        std::lower_bound(slice_.number_lists.begin(), slice_.number_lists.end(), at,
                         [](const NumberRange& range, std::size_t begin) { return range.begin < begin; });
    return found != slice_.number_lists.end() && found->begin == at ? &*found : nullptr;
  }
  std::size_t after(std::size_t at) const {
    const NumberRange* list = list_at(at);
    return std::min<std::size_t>(list ? list->end : at + 1, slice_.end);
  }

  Slice slice_;
  std::size_t at_;
};

// Thrown by the listener at the first error of a line; unwinds ANTLR's frames only.
struct SyntaxFault {
  std::size_t begin, end;
  std::string message;
  std::string note;
};

// What may stand at the place of the error, in few words.
std::string expected_words(const antlr4::misc::IntervalSet& expected,
                           const antlr4::dfa::Vocabulary& vocabulary, bool at_end) {
  auto has = [&](std::size_t token) { return expected.contains(token); };
  static constexpr std::size_t operand_tokens[] = {
      RelishParser::NUMBER, RelishParser::STRING, RelishParser::NUMBER_LIST, RelishParser::TRUE,
      RelishParser::FALSE,  RelishParser::NONE,   RelishParser::ELLIPSIS,    RelishParser::LBRACE,
      RelishParser::TILDE,  RelishParser::NOT,    RelishParser::LAMBDA};
  static constexpr std::size_t operator_tokens[] = {RelishParser::DIV,
                                                    RelishParser::FLOOR_DIV,
                                                    RelishParser::MOD,
                                                    RelishParser::AT,
                                                    RelishParser::LEFT,
                                                    RelishParser::RIGHT,
                                                    RelishParser::AMPERSAND,
                                                    RelishParser::BAR,
                                                    RelishParser::CARET,
                                                    RelishParser::LT,
                                                    RelishParser::GT,
                                                    RelishParser::LE,
                                                    RelishParser::GE,
                                                    RelishParser::EQ,
                                                    RelishParser::NE,
                                                    RelishParser::AND,
                                                    RelishParser::OR,
                                                    RelishParser::IS,
                                                    RelishParser::ADD_ASSIGN,
                                                    RelishParser::SUB_ASSIGN,
                                                    RelishParser::MUL_ASSIGN,
                                                    RelishParser::DIV_ASSIGN,
                                                    RelishParser::FLOOR_DIV_ASSIGN,
                                                    RelishParser::MOD_ASSIGN,
                                                    RelishParser::POW_ASSIGN,
                                                    RelishParser::AND_ASSIGN,
                                                    RelishParser::OR_ASSIGN,
                                                    RelishParser::XOR_ASSIGN,
                                                    RelishParser::LEFT_ASSIGN,
                                                    RelishParser::RIGHT_ASSIGN,
                                                    RelishParser::IF,
                                                    RelishParser::SEMICOLON};
  bool operand = has(RelishParser::NAME) && has(RelishParser::NUMBER);
  bool operation = has(RelishParser::DIV) && has(RelishParser::LT);
  std::vector<std::string> words;
  bool closing = has(RelishParser::RPAREN) || has(RelishParser::RBRACKET) || has(RelishParser::RBRACE);
  if (closing && !operand && !has(RelishParser::COMMA)) words.push_back("','");
  if (operand) words.push_back("an expression");
  for (const antlr4::misc::Interval& interval : expected.getIntervals()) {
    for (ssize_t token = interval.a; token <= interval.b; ++token) {
      auto kind = static_cast<std::size_t>(token);
      auto among = [&](auto& tokens) {
        return std::find(std::begin(tokens), std::end(tokens), kind) != std::end(tokens);
      };
      if (operand && (among(operand_tokens) || kind == RelishParser::NAME || kind == RelishParser::LPAREN ||
                      kind == RelishParser::LBRACKET || kind == RelishParser::ADD ||
                      kind == RelishParser::SUB || kind == RelishParser::MUL || kind == RelishParser::POW)) {
        continue;
      }
      if (operation &&
          (among(operator_tokens) || kind == RelishParser::ADD || kind == RelishParser::SUB ||
           kind == RelishParser::MUL || kind == RelishParser::POW || kind == RelishParser::NOT ||
           kind == RelishParser::IN || kind == RelishParser::LPAREN || kind == RelishParser::LBRACKET ||
           kind == RelishParser::DOT || kind == RelishParser::FOR || kind == RelishParser::STRING)) {
        continue;
      }
      if (token == -1 || kind == antlr4::Token::EOF) {
        if (!at_end) words.push_back("the end of the line");
      } else if (kind == RelishParser::NAME) {
        words.push_back("a name");
      } else {
        std::string literal = vocabulary.getLiteralName(kind);
        if (!literal.empty()) words.push_back(literal);
      }
    }
  }
  if (words.empty() && operation) words.push_back("an operator");
  if (words.empty()) return {};
  if (words.size() > 4) words.resize(4);
  std::string result = words.front();
  for (std::size_t i = 1; i < words.size(); ++i) result += (i + 1 == words.size() ? " or " : ", ") + words[i];
  return result;
}

class FaultListener : public antlr4::BaseErrorListener {
 public:
  explicit FaultListener(const Slice& slice) : slice_(slice) {}
  void syntaxError(antlr4::Recognizer* recognizer, antlr4::Token* token, std::size_t, std::size_t,
                   const std::string&, std::exception_ptr) override {
    if (!token) throw SyntaxFault{slice_.begin, slice_.end, "found text that is no token", {}};
    auto* parser = static_cast<RelishParser*>(recognizer);
    bool at_end = token->getType() == antlr4::Token::EOF;
    std::size_t begin = at_end ? slice_.end : token->getStartIndex();
    std::size_t end = at_end ? slice_.end : token->getStopIndex() + 1;
    SyntaxFault fault{begin, end, {}, {}};
    std::string found = at_end ? "the end of the line"
                        : token->getType() == RelishParser::NUMBER_LIST
                            ? "a list of numbers"
                            : fmt::format("'{}'", printable(slice_.text.substr(begin, end - begin), 40));
    std::string expected = expected_words(parser->getExpectedTokens(), parser->getVocabulary(), at_end);
    fault.message = expected.empty() ? fmt::format("found {}, which cannot stand here", found)
                                     : fmt::format("found {}; expected {}", found, expected);
    if (token->getType() == RelishParser::ASSIGN) {
      fault.note = "a comparison is written '=='";
    } else if (token->getType() == RelishParser::WALRUS) {
      fault.note = "assignments inside expressions are not supported; write it on a line before";
    }
    throw fault;
  }

 private:
  const Slice& slice_;
};

class Engine {
 public:
  static Engine& instance() {
    static Engine engine;
    return engine;
  }

  bool parse(const Slice& slice, EntryRule rule, Diagnostics& diagnostics,
             const std::function<void(antlr4::ParserRuleContext&)>& use);

 private:
  Engine()
      : empty_{},
        stream_(std::make_unique<SliceStream>(empty_)),
        lexer_(stream_.get()),
        tokens_(&lexer_),
        parser_(&tokens_) {}

  antlr4::ParserRuleContext* run(EntryRule rule, antlr4::atn::PredictionMode mode);
  void bound_cache();

  std::mutex mutex_;
  Slice empty_;
  std::unique_ptr<SliceStream> stream_;
  RelishLexer lexer_;
  antlr4::CommonTokenStream tokens_;
  RelishParser parser_;
  std::size_t parsed_ = 0;
};

antlr4::ParserRuleContext* Engine::run(EntryRule rule, antlr4::atn::PredictionMode mode) {
  parser_.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(mode);
  return rule(parser_);
}

// States of the prediction automaton are kept between lines, but not without end.
void Engine::bound_cache() {
  constexpr std::size_t interval = 1024, most_states = 20000;
  if (++parsed_ % interval != 0) return;
  std::size_t states = 0;
  auto* parser_simulator = parser_.getInterpreter<antlr4::atn::ParserATNSimulator>();
  for (const antlr4::dfa::DFA& dfa : parser_simulator->decisionToDFA) states += dfa.states.size();
  if (states > most_states) parser_simulator->clearDFA();
}

bool Engine::parse(const Slice& slice, EntryRule rule, Diagnostics& diagnostics,
                   const std::function<void(antlr4::ParserRuleContext&)>& use) {
  std::lock_guard lock(mutex_);
  bound_cache();
  FaultListener listener(slice);
  auto stream = std::make_unique<SliceStream>(slice);
  lexer_.setInputStream(stream.get());
  lexer_.removeErrorListeners();
  lexer_.addErrorListener(&listener);
  parser_.removeErrorListeners();
  parser_.addErrorListener(&listener);
  tokens_.setTokenSource(&lexer_);
  parser_.setTokenStream(&tokens_);
  stream_ = std::move(stream);
  try {
    antlr4::ParserRuleContext* tree = nullptr;
    try {
      tree = run(rule, antlr4::atn::PredictionMode::SLL);
    } catch (const SyntaxFault&) {
      tokens_.seek(0);
      parser_.reset();
      tree = run(rule, antlr4::atn::PredictionMode::LL);
    }
    use(*tree);
    parser_.reset();  // drops the tree
    return true;
  } catch (const SyntaxFault& fault) {
    parser_.reset();
    Diagnostic& diagnostic = diagnostics.error(
        ErrorClass::Syntax,
        Span{slice.file, static_cast<std::uint32_t>(fault.begin), static_cast<std::uint32_t>(fault.end)},
        "syntax.grammar", fault.message);
    if (!fault.note.empty()) diagnostic.note(fault.note);
    return false;
  }
}

}  // namespace

bool parse_slice(const Slice& slice, EntryRule rule, Diagnostics& diagnostics,
                 const std::function<void(antlr4::ParserRuleContext&)>& use) {
  return Engine::instance().parse(slice, rule, diagnostics, use);
}

}  // namespace relish
