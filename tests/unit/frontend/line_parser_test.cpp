// Lines to syntax trees: expressions, statements, headers, literals, f-strings, and the wording of syntax
// errors.
#include "frontend/text/line_parser.h"

#include <catch2/catch.hpp>

#include "helpers.h"
#include "support/big_stack.h"

namespace relish {
namespace {

using test::add_source;
using test::dump;
using test::short_text;

struct Parsed {
  std::optional<ast::Statement> statement;
  std::string errors;
};

Parsed parse(std::string text) {
  Diagnostics diagnostics;
  std::uint32_t file = add_source(std::move(text));
  ScannedSource scanned = scan_source(file, Sources::instance().find(file)->text(), diagnostics);
  Parsed result;
  with_big_stack([&] {
    LineParser parser(file, Sources::instance().find(file)->text(), diagnostics);
    if (!scanned.lines.empty() && !diagnostics.has_errors()) {
      result.statement =
          scanned.lines[0].header ? parser.header(scanned.lines[0]) : parser.simple(scanned.lines[0]);
    }
  });
  result.errors = short_text(diagnostics);
  return result;
}

std::string expression(std::string text) {
  Parsed parsed = parse(std::move(text));
  if (!parsed.statement) return parsed.errors;
  auto* statement = parsed.statement->as<ast::ExpressionStatement>();
  return statement ? dump(statement->value) : "no expression";
}

TEST_CASE("operators bind by Python's precedence") {
  CHECK(expression("a + b * c - d") == "(a + (b * c) - d)");
  CHECK(expression("-a ** -b ** c") == "(- (a ** (- (b ** c))))");
  CHECK(expression("not a == b and c or d") == "(or (and (not (a == b)) c) d)");
  CHECK(expression("a < b <= c") == "(a < b <= c)");
  CHECK(expression("a | b ^ c & d << e + f") == "(a | (b ^ (c & (d << (e + f)))))");
  CHECK(expression("a // b % c") == "(a // b % c)");
  CHECK(expression("(a + b) * c") == "((a + b) * c)");
  CHECK(expression("a if b else c if d else e") == "(if b a (if d c e))");
  CHECK(expression("~x + -3 - +y") == "((~ x) + -3 - (+ y))");
  CHECK(expression("a not in b") == "(a not in b)");
  CHECK(expression("a == not b") ==
        "1:6 SyntaxError found 'not' behind an operator that binds tighter; expected it in parentheses\n");
}

TEST_CASE("primaries, trailers and displays") {
  CHECK(expression("R.add(x, y=2)[0].shape") == "(at (call R.add x y=2) 0).shape");
  CHECK(expression("f(*a, **b)") == "(call f *a **b)");
  CHECK(expression("A[i, 0:4, ::2, :]") == "(at A i (slice 0 4 -) (slice - - 2) (slice - - -))");
  CHECK(expression("A[()]") == "(at A (tuple))");
  CHECK(expression("A[i,]") == "(at A, i)");
  CHECK(expression("(), (a,), (a, b), [1, 2,], {'k': 1}") ==
        "(tuple (tuple) (tuple a) (tuple a b) (list 1 2) (dict \"k\": 1))");
  CHECK(expression("a, b") == "(tuple a b)");
  CHECK(expression("lambda x, *y: x") == "(lambda x)");
  CHECK(expression("lambda: lambda: 1 if a else b") == "(lambda (lambda (if a 1 b)))");
  CHECK(expression("[x for x, *y in z if w for a in b]") == "(for x (tuple x *y) in z if w a in b)");
  CHECK(expression("{k: v for k in d}") == "(for k: v k in d)");
  CHECK(expression("f(x for x in y)") == "(call f <a generator>)");
  CHECK(expression("{**a, 'k': 1}") == "(dict -: a \"k\": 1)");
  CHECK(expression("a is not b") == "(a is not b)");
  CHECK(expression("x[..., 0]") == "(at x ... 0)");
  CHECK(expression("{1, 2}") == "<a set>");
  CHECK(expression("None, True, False") == "(tuple None True False)");
}

TEST_CASE("numbers") {
  CHECK(expression("[0, 1_000, 0x1F, 0b101, 0o17]") == "(list 0 1000 31 5 15)");
  CHECK(expression("[1.5, .5, 1., 1e-05, 2E3]") == "(list 1.5f 0.5f 1f 1e-05f 2000f)");
  CHECK(expression("-9223372036854775808") == "-9223372036854775808");
  CHECK(expression("9223372036854775807") == "9223372036854775807");
  CHECK(expression("9223372036854775808") ==
        "1:1 SyntaxError found the integer 9223372036854775808, which does not fit int64\n");
  CHECK(expression("1e999") ==
        "1:1 SyntaxError found the number 1e999, which overflows float64; write float(\"inf\") or "
        "T.float32(\"inf\")\n");
  CHECK(expression("1e-999") == "0f");
  CHECK(expression("012") == "1:1 SyntaxError found the integer 012 with leading zeros; expected none\n");
  CHECK(expression("1__0") == "1:1 SyntaxError found '_' that does not separate two digits\n");
  std::string list = "[";
  for (int i = 0; i < 100; ++i) list += std::to_string(i) + ", ";
  CHECK(expression("x(" + list + "])") == "(call x (numbers 100))");
}

TEST_CASE("strings and f-strings") {
  CHECK(expression("'a' \"b\\n\" r'\\n'") == "\"ab\n\\n\"");
  CHECK(expression("'\\x41\\u00e9\\101'") ==
        "\"A\xc3\xa9"
        "A\"");
  CHECK(expression("'''x\ny'''") == "\"x\ny\"");
  CHECK(expression("f'a{x + 1:.3f}b{y!r}'") == "(f \"a\" {(x + 1):.3f} \"b\" {y:!r})");
  CHECK(expression("f'{{{x}}}'") == "(f \"{\" {x:} \"}\")");
  CHECK(expression("f\"{d['k']}\"") == "(f {(at d \"k\"):})");
  CHECK(expression("f\"{f'{x}'}\"") == "(f {(f {x:}):})");
  CHECK(expression("f'{x'") ==
        "1:3 SyntaxError found '{' that is never closed in an f-string; expected '}'\n");
  CHECK(expression("f'{}'") ==
        "1:3 SyntaxError found an empty field in an f-string; expected an expression\n");
  CHECK(expression("f'{x y}'") == "1:6 SyntaxError found 'y'; expected the end of the line\n");
  CHECK(expression("b'x'") == "1:1 SyntaxError found a bytes literal; expected a text string\n");
}

TEST_CASE("statements") {
  auto assignment = [](std::string text) {
    Parsed parsed = parse(std::move(text));
    if (!parsed.statement) return parsed.errors;
    auto* a = parsed.statement->as<ast::Assignment>();
    if (!a) return std::string("no assignment");
    std::string result;
    for (auto& target : a->targets) result += dump(target) + " = ";
    return result + dump(a->annotation) + " " + dump(a->value);
  };
  CHECK(assignment("x = 1") == "x = - 1");
  CHECK(assignment("a, b = c") == "(tuple a b) = - c");
  CHECK(assignment("a = b = c, d") == "a = b = - (tuple c d)");
  CHECK(assignment("x: R.Tensor((2, 3), \"float32\") = y") ==
        "x = (call R.Tensor (tuple 2 3) \"float32\") y");
  CHECK(assignment("x: T.int32") == "x = T.int32 -");
  auto augmented = parse("C[i] += 2");
  REQUIRE(augmented.statement);
  auto* a = augmented.statement->as<ast::AugmentedAssignment>();
  REQUIRE(a);
  CHECK(a->op == ast::Operator::Add);
  CHECK(parse("return").statement->as<ast::Return>()->value == nullptr);
  CHECK(dump(parse("return a, b").statement->as<ast::Return>()->value) == "(tuple a b)");
  CHECK(dump(parse("assert a, 'm'").statement->as<ast::Assert>()->message) == "\"m\"");
  auto imported = parse("from tvm.script import relax as R, tir");
  auto* import = imported.statement->as<ast::Import>();
  REQUIRE(import);
  REQUIRE(import->bound.size() == 2);
  CHECK(import->bound[0].name == "R");
  CHECK(import->bound[0].target == "tvm.script.relax");
  CHECK(import->bound[1].name == "tir");
}

TEST_CASE("headers") {
  auto function = parse("def f[n](x: R.Tensor((n,), 'float32'), *, k=3) -> None:\n  pass");
  REQUIRE(function.statement);
  auto* def = function.statement->as<ast::FunctionDefinition>();
  REQUIRE(def);
  CHECK(def->name == "f");
  CHECK(def->type_parameters.size() == 1);
  REQUIRE(def->parameters.size() == 3);
  CHECK(def->parameters[1].stars == 1);
  CHECK(dump(def->parameters[2].default_value) == "3");
  CHECK(dump(def->result_annotation) == "None");
  auto loop = parse("for i, j in T.grid(2, 3):\n  pass");
  CHECK(dump(loop.statement->as<ast::For>()->target) == "(tuple i j)");
  CHECK(dump(loop.statement->as<ast::For>()->iterable) == "(call T.grid 2 3)");
  CHECK(parse("with T.block('x'):\n  pass").statement->as<ast::With>()->items.size() == 1);
  CHECK(parse("class M(Base):\n  pass").statement->as<ast::ClassDefinition>()->bases.size() == 1);
}

TEST_CASE("syntax errors say what was found and what was expected") {
  CHECK(parse("f(x y)").errors == "1:5 SyntaxError found 'y'; expected ',' or ')'\n");
  CHECK(parse("x = ").errors == "1:4 SyntaxError found the end of the line; expected an expression\n");
  CHECK(parse("x = * 2 +").errors == "1:10 SyntaxError found the end of the line; expected an expression\n");
  CHECK(parse("if x = 1:\n  y").errors ==
        "1:6 SyntaxError found '='; expected ':'\n  note - a comparison is written '=='\n");
  CHECK(parse("for i in range(3)\n  y").errors ==
        "1:18 SyntaxError found the end of the line; expected ':'\n");
  CHECK(parse("def f(x: int\n): pass").errors == "");
  CHECK(parse("def 3():\n  pass").errors == "1:5 SyntaxError found '3'; expected a name\n");
  CHECK(parse("f(1=2)").errors ==
        "1:3 SyntaxError found the number 1 before '='; expected the name of an argument\n");
  CHECK(parse("f(a=2, 3)").errors == "1:8 SyntaxError found a positional argument behind a named one\n");
  CHECK(parse("f(a=2, a=3)").errors ==
        "1:8 SyntaxError found the argument 'a' twice\n  note 1:3 it is given here first\n");
}

TEST_CASE("long chains and deep nesting need no native stack") {
  std::string chain = "x";
  for (int i = 0; i < 100000; ++i) chain += " + x";
  auto parsed = parse(chain);
  REQUIRE(parsed.statement);
  CHECK(parsed.statement->as<ast::ExpressionStatement>()->value->as<ast::Chain>()->links.size() == 100000);
  CHECK(parse(std::string(1000, '(') + "x" + std::string(1000, ')')).statement);
  CHECK(parse(std::string(5000, '-') + "x").errors ==
        "1:1001 ResourceLimit found an expression nested deeper than 1000; raise --max-nesting\n");
  std::string calls = "x";
  for (int i = 0; i < 2000; ++i) calls += "()";
  CHECK(parse(calls).errors ==
        "1:1 ResourceLimit found an expression nested deeper than 1000; raise --max-nesting\n");
}

}  // namespace
}  // namespace relish
