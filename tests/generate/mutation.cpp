// Making and judging of wrong programs.
#include "tests/generate/mutation.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "frontend/reader.h"
#include "ir/nodes/intrinsic.h"
#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "support/fix.h"
#include "tests/generate/program.h"

namespace relish::generate {

std::optional<std::size_t> Draft::some_line(const std::function<bool(const SourceLine&)>& holds) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    if (holds(source.lines[i])) fitting.push_back(i);
  }
  if (fitting.empty()) return std::nullopt;
  return random.pick(fitting);
}

std::string Draft::misspelt(const std::string& name) {
  const std::set<std::string> present = source.names();
  const auto means_something = [&](const std::string& word) {
    if (present.contains(word) || find_op(word) || find_op("nn." + word) || find_op("grad." + word))
      return true;
    if (intrinsic_from_name(word)) return true;
    constexpr std::string_view words[] = {"min",          "max",   "in",     "is",         "if",
                                          "or",           "as",    "cast",   "abs",        "float",
                                          "print",        "block", "sblock", "block_attr", "sblock_attr",
                                          "alloc_buffer", "reads", "writes", "serial"};
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
  };
  for (int attempt = 0; attempt < 40; ++attempt) {
    std::string word = name;
    const auto at = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(word.size())));
    switch (random.below(3)) {
      case 0:
        if (at + 1 < word.size()) std::swap(word[at], word[at + 1]);
        break;
      case 1:
        if (word.size() > 3) word.erase(at, 1);
        break;
      default:
        word.insert(at, 1, word[at]);
    }
    const bool begins = std::isalpha(static_cast<unsigned char>(word[0])) || word[0] == '_';
    if (word != name && begins && !means_something(word)) return word;
  }
  return name + "_unknown";
}

std::optional<Place> some_token(
    Draft& draft, const std::function<bool(const SourceLine&)>& line_holds,
    const std::function<bool(const std::string&, const std::vector<Token>&, std::size_t)>& holds) {
  std::vector<Place> fitting;
  for (std::size_t i = 0; i < draft.source.lines.size(); ++i) {
    const SourceLine& line = draft.source.lines[i];
    if (line.kind == SourceLine::Comment || !line_holds(line)) continue;
    const std::vector<Token> tokens = tokens_of(line.text);
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      if (holds(line.text, tokens, t)) fitting.push_back({i, tokens[t]});
    }
  }
  if (fitting.empty()) return std::nullopt;
  return draft.random.pick(fitting);
}

std::optional<std::size_t> insert_above(Draft& draft, std::optional<std::size_t> at,
                                        const std::string& text) {
  if (!at) return std::nullopt;
  SourceLine line = draft.line(*at);
  line.text = std::string(static_cast<std::size_t>(line.indent), ' ') + text;
  draft.source.lines.insert(draft.source.lines.begin() + static_cast<std::ptrdiff_t>(*at), line);
  return at;
}

MaybeLine misspell(Draft& draft, const std::optional<Place>& place) {
  if (!place) return std::nullopt;
  const std::string name = text_of(draft.text(place->line), place->token);
  draft.replace(place->line, place->token, draft.misspelt(name));
  return place->line;
}

std::size_t value_begin(const std::string& line) {
  int depth = 0;
  for (const Token& token : tokens_of(line)) {
    if (token.kind != Token::Sign) continue;
    const char sign = line[token.begin];
    if (sign == '(' || sign == '[' || sign == '{') ++depth;
    if (sign == ')' || sign == ']' || sign == '}') --depth;
    if (depth == 0 && is_assignment_sign(line, token)) return token.end + 1;
  }
  return std::string::npos;
}

std::vector<MutationRule> mutation_rules() {
  std::vector<MutationRule> rules;
  for (const auto family :
       {syntax_mutations(), name_mutations(), type_mutations(), loop_mutations(), control_mutations()})
    rules.insert(rules.end(), family.begin(), family.end());
  return rules;
}

std::optional<Mutant> mutant_of(const MutationRule& rule, std::uint64_t seed) {
  Options options;
  options.seed = seed;
  options.comments = false;
  options.surface = rule.surface;
  options.loose = rule.surface;
  const Program program = generate_program(options);
  Random random(seed ^ 0x6d757461);
  constexpr Dialect dialects[] = {Dialect::D026, Dialect::D026, Dialect::D2023};
  Draft draft{SourceText(print(*program.module, {.dialect = random.pick(dialects)})), random};
  const std::optional<std::size_t> line = rule.apply(draft);
  if (!line) return std::nullopt;
  return Mutant{rule.name, draft.source.joined(), rule.error_class, static_cast<std::uint32_t>(*line + 1)};
}

std::string refusal_of_program(const Mutant& mutant) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("relish-mutant-{}.relish", ::getpid());
  std::ofstream(file, std::ios::binary) << mutant.text;
  const auto run = [&](const char* tier, std::string& output) {
    const std::string command =
        fmt::format("'{}' call '{}' main --tier {} 2>&1", RELISH_PROGRAM, file.string(), tier);
    std::FILE* pipe = ::popen(command.c_str(), "r");
    RELISH_CHECK(pipe != nullptr);
    char buffer[4096];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, got);
    return ::pclose(pipe);
  };
  std::string interpreted, compiled;
  const int first = run("interp", interpreted), second = run("jit", compiled);
  std::filesystem::remove(file);
  if (first != second || interpreted != compiled)
    return fmt::format("interp gives status {}: {}\njit gives status {}: {}", first, interpreted, second,
                       compiled);
  if (!WIFEXITED(first) || WEXITSTATUS(first) != exit_code_of(mutant.error_class))
    return fmt::format("status {}: {}", first, interpreted);
  return {};
}

Verdict verdict_on(const Mutant& mutant) {
  Verdict verdict;
  const std::uint32_t file = Sources::instance().add("<mutant>", mutant.text);
  Diagnostics diagnostics;
  read_source(file, {}, diagnostics);
  diagnostics.sort();
  const auto first = std::find_if(diagnostics.all().begin(), diagnostics.all().end(),
                                  [](const Diagnostic& each) { return each.severity == Severity::Error; });
  if (first == diagnostics.all().end()) return verdict;
  verdict.refused = true;
  const std::uint32_t line =
      first->span.known() ? Sources::instance().find(file)->position(first->span.begin).line : 0;
  verdict.class_right = first->error_class == mutant.error_class;
  verdict.line_right = line == mutant.line;
  verdict.told = fmt::format("{}: {}: {} [{}]", line, name_of(first->error_class), first->message, first->id);
  const std::vector<Fix> fixes = fixes_of(*first);
  if (fixes.empty()) return verdict;
  const std::string& text = Sources::instance().find(file)->text();
  Diagnostics again;
  read_source(Sources::instance().add("<mended>", apply_fixes(text, fixes)), {}, again);
  verdict.mended = !again.has_errors();
  return verdict;
}

}  // namespace relish::generate
