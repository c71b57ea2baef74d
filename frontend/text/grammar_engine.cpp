// The process's one ANTLR parser, made at first use, and the wording of syntax errors.
#include "frontend/text/grammar_engine.h"

#include <algorithm>
#include <cctype>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/text/scanner.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {
namespace {

using grammar::RelishParser;

// Thrown by the listener at the first error of a line; unwinds ANTLR's frames only.
struct SyntaxFault {
  std::size_t begin, end;
  std::string message;
  std::string note;
  std::vector<DiagnosticNote> fixes;
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
                                                    RelishParser::AT_ASSIGN,
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
    SyntaxFault fault{begin, end, {}, {}, {}};
    std::string found = at_end ? "the end of the line"
                        : token->getType() == RelishParser::NUMBER_LIST
                            ? "a list of numbers"
                            : fmt::format("'{}'", printable(slice_.text.substr(begin, end - begin), 40));
    std::string expected = expected_words(parser->getExpectedTokens(), parser->getVocabulary(), at_end);
    fault.message = expected.empty() ? fmt::format("found {}, which cannot stand here", found)
                                     : fmt::format("found {}; expected {}", found, expected);
    fault.note = foreign_sign(*parser, *token, at_end);
    const bool foreign = !fault.note.empty();
    if (!foreign && token->getType() == RelishParser::ASSIGN) {
      fault.note = "a comparison is written '=='";
    } else if (!foreign && token->getType() == RelishParser::WALRUS) {
      fault.note = "assignments inside expressions are not supported; write it on a line before";
    }
    if (const antlr4::Token* number = imaginary(*parser, *token)) {
      fault.begin = number->getStartIndex();
      fault.message = fmt::format("found the complex number '{}', which is not part of the language",
                                  printable(slice_.text.substr(fault.begin, end - fault.begin), 40));
      fault.note = "write its real and imaginary parts as two numbers";
    }
    if (!foreign && !imaginary(*parser, *token)) fault.fixes = fixes(*parser, *token, at_end);
    if (fault.note.empty() && fault.fixes.empty()) fault.note = missing_parentheses(*parser, *token);
    throw fault;
  }

 private:
  std::string_view text_of(const antlr4::Token& token) const {
    return slice_.text.substr(token.getStartIndex(), token.getStopIndex() + 1 - token.getStartIndex());
  }

  // What other languages write with signs that are none here, and a keyword that something is assigned to.
  std::string foreign_sign(RelishParser& parser, const antlr4::Token& token, bool at_end) const {
    const std::size_t index = token.getTokenIndex();
    antlr4::TokenStream& tokens = *parser.getTokenStream();
    const antlr4::Token* before = index > 0 ? tokens.get(index - 1) : nullptr;
    const std::string_view sign = at_end ? std::string_view() : text_of(token);
    if (!before) return {};
    if (sign == "!") return "a negation is written 'not'";
    const std::string_view last = text_of(*before);
    const bool joined = !at_end && before->getStopIndex() + 1 == token.getStartIndex();
    if (joined && sign == "&" && last == "&") return "both of two conditions are written with 'and'";
    if (joined && sign == "|" && last == "|") return "one of two conditions is written with 'or'";
    if (joined && sign == ">" && last == "<") return "not equal is written '!='";
    if (sign.starts_with('?')) return "a choice is written 'a if condition else b'";
    const bool counts =
        at_end && index > 1 && (last == "+" || last == "-") && text_of(*tokens.get(index - 2)) == last;
    if (counts) return fmt::format("counting is written 'x {}= 1'", last);
    const bool word = before->getType() != RelishParser::NAME && is_name_start(last.front());
    if (sign == "=" && index == 1 && word)
      return fmt::format("'{}' is a word of the language and no name", last);
    if (sign == ":=" && index == 1 && before->getType() == RelishParser::NAME)
      return "a statement binds a name by '='";
    return {};
  }

  // `print x` is a call as other languages write it.
  std::string missing_parentheses(RelishParser& parser, const antlr4::Token& token) const {
    const bool operand = token.getType() == RelishParser::NAME || token.getType() == RelishParser::NUMBER ||
                         token.getType() == RelishParser::STRING;
    const antlr4::Token* first = parser.getTokenStream()->get(0);
    const bool statement =
        parser.getExpectedTokens().contains(static_cast<std::size_t>(RelishParser::SEMICOLON));
    if (!statement || !operand || token.getTokenIndex() != 1 || first->getType() != RelishParser::NAME)
      return {};
    const std::string_view name =
        slice_.text.substr(first->getStartIndex(), first->getStopIndex() + 1 - first->getStartIndex());
    return fmt::format("a call is written with parentheses: {}(…)", printable(name, 40));
  }

  // The number of 2j, when `token` is its j.
  const antlr4::Token* imaginary(RelishParser& parser, const antlr4::Token& token) const {
    if (token.getType() != RelishParser::NAME || token.getTokenIndex() == 0) return nullptr;
    const antlr4::Token* before = parser.getTokenStream()->get(token.getTokenIndex() - 1);
    const std::string_view letter = slice_.text.substr(token.getStartIndex(), 1);
    const bool one = token.getStopIndex() == token.getStartIndex() && (letter == "j" || letter == "J");
    const bool joined =
        before->getType() == RelishParser::NUMBER && before->getStopIndex() + 1 == token.getStartIndex();
    return one && joined ? before : nullptr;
  }

  Span span(std::size_t begin, std::size_t end) const {
    return {slice_.file, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  }
  Span span(const antlr4::Token& token) const {
    return span(token.getStartIndex(), token.getStopIndex() + 1);
  }

  // What most likely mends the line: a keyword spelt right, a ':' or ',' put in, a surplus ',' taken out.
  std::vector<DiagnosticNote> fixes(RelishParser& parser, antlr4::Token& token, bool at_end) const {
    const antlr4::misc::IntervalSet expected = parser.getExpectedTokens();
    antlr4::TokenStream& tokens = *parser.getTokenStream();
    const std::size_t index = token.getTokenIndex();
    antlr4::Token* before = index > 0 ? tokens.get(index - 1) : nullptr;
    antlr4::Token& first = *tokens.get(0);
    // A statement does not begin with two names.
    if (first.getType() == RelishParser::NAME && (&token == &first || before == &first || at_end)) {
      static const std::vector<std::string> keywords = {"def",  "class", "with",   "for",    "while",
                                                        "elif", "else",  "return", "import", "assert"};
      const Span at = span(first);
      std::vector<DiagnosticNote> spelt =
          write_nearest(at, slice_.text.substr(at.begin, at.end - at.begin), keywords);
      if (!spelt.empty()) return spelt;
    }
    if (!before) return {};
    if (at_end && expected.contains(static_cast<std::size_t>(RelishParser::COLON)))
      return {insert_here(span(*before), ":")};
    const bool operand = token.getType() == RelishParser::NAME || token.getType() == RelishParser::NUMBER ||
                         token.getType() == RelishParser::STRING || token.getType() == RelishParser::LPAREN ||
                         token.getType() == RelishParser::LBRACKET;
    if (token.getType() == RelishParser::NAME &&
        expected.contains(static_cast<std::size_t>(RelishParser::IN)) &&
        first.getType() == RelishParser::FOR) {
      return {write_here(span(token), "in")};
    }
    if (operand && (expected.contains(static_cast<std::size_t>(RelishParser::RPAREN)) ||
                    expected.contains(static_cast<std::size_t>(RelishParser::RBRACKET)))) {
      return {insert_here(span(*before), ",")};
    }
    if (token.getType() == RelishParser::COMMA &&
        (before->getType() == RelishParser::COMMA || before->getType() == RelishParser::LPAREN ||
         before->getType() == RelishParser::LBRACKET)) {
      return {remove_this(span(token))};
    }
    return {};
  }

  const Slice& slice_;
};

// Of the first run: stops at the first fault, without a word, and spares the check before every loop that the
// default strategy needs to recover.
class StopAtFault : public antlr4::DefaultErrorStrategy {
 public:
  struct Fault {};
  void reportError(antlr4::Parser*, const antlr4::RecognitionException&) override { throw Fault{}; }
  void recover(antlr4::Parser*, std::exception_ptr) override { throw Fault{}; }
  antlr4::Token* recoverInline(antlr4::Parser*) override { throw Fault{}; }
  void sync(antlr4::Parser*) override {}
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
  Engine() : quick_(std::make_shared<StopAtFault>()), parser_(&tokens_), careful_(parser_.getErrorHandler()) {
    parser_.removeErrorListeners();
  }

  antlr4::ParserRuleContext* run(EntryRule rule, antlr4::atn::PredictionMode mode,
                                 const std::shared_ptr<antlr4::ANTLRErrorStrategy>& strategy);
  void bound_cache();

  std::mutex mutex_;
  LineTokens tokens_;
  std::shared_ptr<antlr4::ANTLRErrorStrategy> quick_;
  RelishParser parser_;
  std::shared_ptr<antlr4::ANTLRErrorStrategy> careful_;
  std::size_t parsed_ = 0;
};

antlr4::ParserRuleContext* Engine::run(EntryRule rule, antlr4::atn::PredictionMode mode,
                                       const std::shared_ptr<antlr4::ANTLRErrorStrategy>& strategy) {
  parser_.setErrorHandler(strategy);
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
  tokens_.read(slice);
  parser_.reset();
  try {
    antlr4::ParserRuleContext* tree = nullptr;
    try {
      tree = run(rule, antlr4::atn::PredictionMode::SLL, quick_);
    } catch (const StopAtFault::Fault&) {
      FaultListener listener(slice);
      parser_.reset();
      parser_.addErrorListener(&listener);
      auto remove = antlrcpp::finally([this] { parser_.removeErrorListeners(); });
      tree = run(rule, antlr4::atn::PredictionMode::LL, careful_);
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
    // A command of the interactive session, typed into a script.
    const std::string_view line = slice.text.substr(slice.begin, slice.end - slice.begin);
    if (fault.begin == slice.begin && line.size() > 1 && line[0] == ':' &&
        std::isalpha(static_cast<unsigned char>(line[1])))
      diagnostic.note(
          "commands that begin with ':' are of the interactive session, each on a line of its own; in a script they are calls, such as "
          "call(M.f)");
    // Lines of notebooks.
    if (fault.begin == slice.begin && line.starts_with('!'))
      diagnostic.note(
          "commands of the system are run in a shell; Ctrl-Z leaves a session for it, fg comes back");
    if (fault.begin == slice.begin && line.starts_with('%'))
      diagnostic.note(
          "what IPython has behind '%' are commands of a session here, as :time M.f and :run FILE; :help lists them");
    diagnostic.notes.insert(diagnostic.notes.end(), fault.fixes.begin(), fault.fixes.end());
    return false;
  }
}

}  // namespace

bool parse_slice(const Slice& slice, EntryRule rule, Diagnostics& diagnostics,
                 const std::function<void(antlr4::ParserRuleContext&)>& use) {
  return Engine::instance().parse(slice, rule, diagnostics, use);
}

}  // namespace relish
