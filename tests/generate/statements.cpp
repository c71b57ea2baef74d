// The generator of statements and their law.
#include "tests/generate/statements.h"

#include <map>

#include "shell/script/builtins.h"
#include "shell/script/script.h"
#include "shell/script/script_exit.h"
#include "support/limits.h"
#include "tests/generate/random.h"

namespace relish::generate {
namespace {

constexpr const char* names[] = {"a", "b", "c", "d", "e", "xs", "t", "s"};
constexpr const char* integers[] = {"0",
                                    "1",
                                    "2",
                                    "-1",
                                    "3",
                                    "7",
                                    "-7",
                                    "12",
                                    "63",
                                    "64",
                                    "1000",
                                    "9223372036854775807",
                                    "-9223372036854775807",
                                    "2147483648",
                                    "0x7f",
                                    "0b101",
                                    "4611686018427387904",
                                    "9223372036854775808",
                                    "10 ** 12"};
constexpr const char* reals[] = {
    "0.0",   "-0.0",    "1.5", "1e308", "1e309", "1e-320", "float(\"nan\")", "float(\"inf\")",
    "-1e39", "65505.0", "0.1", "1e16",  "9.3e18"};
constexpr const char* strings[] = {
    "\"\"",      "\"a\"",       "'it''s'",  "\"\\u00e9\\U0001F600\"", "\"\\x00\\n\\t\"", "\"%d %s\"",
    "\"{}{}\"",  "\"float32\"", "\"int8\"", "\"relish.params\"",      "\"../x\"",        "\"1_000\"",
    "\"-0x10\"", "\"  7 \"",    "\"nan\""};
constexpr const char* operators[] = {"+",  "-", "*",  "/",  "//",     "%",   "**", "@",
                                     "&",  "|", "^",  "<<", ">>",     "==",  "!=", "<",
                                     "<=", ">", ">=", "in", "not in", "and", "or", "is"};
constexpr const char* specs[] = {"",  "d", ".2f", ">8",  "^5",    ",",      "+.3e", "08.3f", "x",   "%",
                                 "s", "c", "_b",  "{a}", ".400f", "100000", "#x",   "n",     "=+5", "q"};
constexpr const char* dtypes[] = {"\"float32\"", "\"float64\"",  "\"int8\"",   "\"int64\"", "\"bool\"",
                                  "\"float16\"", "\"bfloat16\"", "\"uint64\"", "\"void\"",  "3"};
constexpr const char* calls_of_r[] = {"R.add",    "R.sum",    "R.reshape", "R.concat", "R.take",
                                      "R.where",  "R.arange", "R.const",   "R.shape",  "R.mean",
                                      "R.argmax", "R.full",   "R.split",   "R.nothing"};
constexpr const char* attributes[] = {"shape",  "dtype", "ndim",   "T",      "size",
                                      "astype", "items", "append", "nothing"};

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  std::vector<std::string> inputs() {
    std::vector<std::string> result;
    const std::int64_t count = random_.between(3, 12);
    for (std::int64_t i = 0; i < count; ++i) {
      std::string text = statement(0, 2);
      if (random_.chance(0.06)) damage(text);
      result.push_back(std::move(text));
    }
    return result;
  }

 private:
  std::string name() { return random_.pick(names); }

  std::string literal() {
    switch (random_.below(5)) {
      case 0:
        return random_.pick(reals);
      case 1:
        return random_.pick(strings);
      case 2:
        return random_.pick({"True", "False", "None"});
      default:
        return random_.pick(integers);
    }
  }

  std::string items(int depth, std::int64_t most) {
    std::string text;
    const std::int64_t count = random_.between(0, most);
    for (std::int64_t i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + expression(depth - 1);
    return text;
  }

  std::string format_string(int depth) {
    std::string text = "f\"v ";
    const std::int64_t fields = random_.between(1, 3);
    for (std::int64_t i = 0; i < fields; ++i) {
      text += "{" + (random_.chance(0.6) ? name() : plain(expression(depth - 1)));
      if (random_.chance(0.2)) text += random_.chance(0.5) ? "!r" : "!s";
      if (random_.chance(0.6)) text += std::string(":") + random_.pick(specs);
      text += "} ";
    }
    return text + "{{\"";
  }

  // What may stand in a field of a string with double quotes.
  static std::string plain(std::string text) {
    for (char& c : text) {
      if (c == '"') c = '\'';
      if (c == '\\' || c == '{' || c == '}') c = ' ';
    }
    return text;
  }

  std::string index(int depth) {
    const auto bound = [&] { return random_.chance(0.3) ? std::string() : expression(depth - 1); };
    switch (random_.below(4)) {
      case 0:
        return bound() + ":" + bound();
      case 1:
        return bound() + ":" + bound() + ":" + bound();
      case 2:
        return expression(depth - 1) + ", " + expression(depth - 1);
      default:
        return expression(depth - 1);
    }
  }

  std::string call(int depth) {
    const auto builtins = all_builtins();
    std::string callee;
    if (random_.chance(0.75)) {
      callee =
          builtins[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(builtins.size())))].name;
    } else if (random_.chance(0.7)) {
      callee = random_.pick(calls_of_r);
    } else {
      callee = name();
    }
    std::string text = callee + "(" + items(depth, 3);
    const auto comma = [&] { return std::string(text.ends_with('(') ? "" : ", "); };
    if (random_.chance(0.15)) text += comma() + "dtype=" + random_.pick(dtypes);
    if (random_.chance(0.05)) text += comma() + "reverse=True";
    if (random_.chance(0.05)) text += comma() + "*" + name();
    if (random_.chance(0.05)) text += comma() + "**" + name();
    return text + ")";
  }

  std::string expression(int depth) {
    if (depth <= 0 || random_.chance(0.25)) return random_.chance(0.55) ? name() : literal();
    switch (random_.below(14)) {
      case 0:
        return "[" + items(depth, 4) + "]";
      case 1:
        return "(" + items(depth, 3) + ",)";
      case 2:
        return "{" + literal() + ": " + expression(depth - 1) + ", " + literal() + ": " + name() + "}";
      case 3:
        return name() + "[" + index(depth) + "]";
      case 4:
        return format_string(depth);
      case 5:
        return random_.pick({"-", "not ", "~", "+"}) + std::string("(") + expression(depth - 1) + ")";
      case 6:
        return "(" + expression(depth - 1) + " if " + expression(depth - 1) + " else " +
               expression(depth - 1) + ")";
      case 7:
        return name() + "." + random_.pick(attributes);
      case 8:
        return name() + "." + random_.pick(attributes) + "(" + items(depth, 2) + ")";
      case 9:
      case 10:
      case 11:
        return call(depth);
      default:
        return "(" + expression(depth - 1) + " " + random_.pick(operators) + " " + expression(depth - 1) +
               ")";
    }
  }

  std::string statement(int indentation, int depth) {
    const std::string blanks(static_cast<std::size_t>(4 * indentation), ' ');
    const auto block = [&] {
      std::string text;
      const std::int64_t count = random_.between(1, 3);
      for (std::int64_t i = 0; i < count; ++i) text += statement(indentation + 1, depth - 1);
      return text;
    };
    switch (random_.below(depth > 0 ? 10 : 7)) {
      case 0:
        return blanks + expression(3) + "\n";
      case 1:
        return blanks + name() + " " + random_.pick({"+=", "-=", "*=", "//=", "%=", "**=", "|="}) + " " +
               expression(2) + "\n";
      case 2:
        return blanks + name() + ", " + name() + " = " + expression(3) + "\n";
      case 3:
        return blanks + random_.pick({"assert ", "print(", "donate("}) + expression(2) +
               (random_.chance(0.8) ? ")" : "") + "\n";
      case 4:
      case 5:
      case 6:
        return blanks + name() + " = " + expression(3) + "\n";
      case 7:
        return blanks + "for " + name() + " in " + (random_.chance(0.6) ? "range(5)" : expression(2)) +
               ":\n" + block();
      case 8:
        return blanks + "if " + expression(2) + ":\n" + block() +
               (random_.chance(0.5) ? blanks + "else:\n" + block() : "");
      default:
        // A loop that ends: its body may break earlier.
        return blanks + "for i in range(4):\n" + block() + blanks + "    if " + expression(2) + ":\n" +
               blanks + "        " + random_.pick({"break", "continue", "pass"}) + "\n";
    }
  }

  void damage(std::string& text) {
    const auto at = static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(text.size())));
    switch (random_.below(3)) {
      case 0:
        text.erase(at, static_cast<std::size_t>(random_.between(1, 5)));
        break;
      case 1:
        text.insert(at, random_.pick({"(", "]", "\"", ":", "\n", "{", "#", "@", "\\", "lambda ", " = "}));
        break;
      default:
        text[at] = static_cast<char>(random_.between(32, 126));
    }
  }

  Random random_;
};

// Names with their texts.
std::map<std::string, std::string> state_of(const Script& script) {
  std::map<std::string, std::string> state;
  for (const std::string& name : script.environment().names())
    state[name] = shown_text(*script.environment().find(name));
  return state;
}

bool is_one_statement(const std::string& text) {
  return text.find('\n') == text.size() - 1 && text.find("donate") == std::string::npos;
}

}  // namespace

std::vector<std::string> statement_inputs(std::uint64_t seed) { return Writer(seed).inputs(); }

std::vector<std::string> statement_findings(std::uint64_t seed, Tally& tally) {
  limits().memory_bytes = std::uint64_t{256} << 20;
  auto collected = std::make_unique<StringOutput>();
  Settings settings;
  settings.tier = "interp";
  Session session(settings, std::move(collected));
  Script script(session, {"/nonexistent", true, true});
  std::vector<std::string> findings;
  for (const std::string& input : statement_inputs(seed)) {
    ++tally["inputs"];
    const auto before = state_of(script);
    try {
      script.run_text("<in>", input);
      ++tally["ran"];
      continue;
    } catch (const ScriptExit&) {
      ++tally["left"];
      continue;
    } catch (const Failure& failure) {
      const Diagnostic& first = failure.diagnostics().front();
      ++tally[std::string(name_of(failure.error_class()))];
      if (failure.error_class() == ErrorClass::Internal || failure.exit_code() == 70)
        findings.push_back("internal: " + text_of(failure) + " in: " + input);
      if (!first.span.known() && first.place.empty())
        findings.push_back("no place: " + text_of(failure) + " in: " + input);
    } catch (const std::exception& error) {
      findings.push_back(std::string("throws ") + error.what() + " in: " + input);
    }
    if (is_one_statement(input) && state_of(script) != before)
      findings.push_back("a statement that failed changed a name: " + input);
  }
  return findings;
}

}  // namespace relish::generate
