// The registry of commands, the command line's options, and the texts that stand for commands.
#include <catch2/catch.hpp>

#include <fstream>
#include <set>

#include "shell/cli/options.h"
#include "shell/command.h"
#include "shell/commands/transform/pass_text.h"
#include "shell/program/literal_text.h"
#include "shell/repl/completion/completion.h"
#include "shell/repl/inputs/colon_command.h"
#include "shell/repl/inputs/history_file.h"
#include "tests/unit/shell/script_harness.h"
#include "tests/unit/shell/session_harness.h"
#include "tests/unit/temporary_folder.h"

using namespace relish;
using relish::testing::Harness;
using relish::testing::SessionHarness;

TEST_CASE("commands are declared once and completely") {
  std::set<std::string> names;
  for (const Command* command : all_commands()) {
    INFO(command->name);
    CHECK(command->run != nullptr);
    CHECK_FALSE(command->summary.empty());
    CHECK(names.insert(std::string(command->name)).second);
    for (std::string_view alias : command->aliases) CHECK(names.insert(std::string(alias)).second);
    std::set<std::string_view> options;
    for (const Option& option : command->options) {
      INFO(option.name);
      CHECK(options.insert(option.name).second);
      CHECK_FALSE(option.doc.empty());
      CHECK(option.name.find('-') == std::string_view::npos);
    }
    CHECK(command_help(*command).find(shell_name(command->name)) != std::string::npos);
  }
  CHECK(find_command("append-loss") == find_command("append_loss"));
  CHECK(find_command("loss") == find_command("append_loss"));
  CHECK(find_command("trainer") == find_command("setup_trainer"));
  CHECK(find_command("nothing") == nullptr);
}

TEST_CASE("options of a subcommand") {
  Settings settings;
  auto parse = [&](const char* command, const std::vector<std::string>& arguments) {
    return parse_command_line(*find_command(command), arguments, settings);
  };
  ParsedCommand parsed =
      parse("gradient", {"m.relish", "-f", "main", "--wrt", "a,b", "--wrt", "c", "--tier", "interp"});
  CHECK(parsed.positionals == std::vector<std::string>{"m.relish"});
  CHECK(parsed.function == "main");
  CHECK(settings.tier == "interp");
  REQUIRE(parsed.options.size() == 1);
  CHECK(text_of(parsed.options[0].second) == "['a,b', 'c']");
  // A value that looks like a list of the option parser's own stays as it is.
  parsed = parse("call", {"-", "main", "--arg", "x=[[1,2],[3,4]]", "--arg", "y=-1", "--full"});
  CHECK(parsed.positionals == std::vector<std::string>{"-", "main"});
  CHECK(text_of(parsed.options[0].second) == "['x=[[1,2],[3,4]]', 'y=-1']");
  CHECK(parse("gradient", {"--help"}).wants_help);
  CHECK_THROWS_WITH(parse("gradient", {"m", "--wtr", "a"}), Catch::Contains("did you mean '--wrt'"));
  CHECK_THROWS_WITH(parse("append_loss", {"m"}), Catch::Contains("--loss is missing"));
  CHECK_THROWS_WITH(parse("gradient", {"m", "--tier", "fast"}), Catch::Contains("interp or jit"));
  CHECK_THROWS_WITH(parse("gradient", {"m", "--threads", "0"}), Catch::Contains("at least 1"));
  CHECK_THROWS_WITH(parse("gradient", {"m", "--target", "0", "--target", "1"}),
                    Catch::Contains("given twice"));
}

TEST_CASE("typed access to options") {
  Session session;
  Invocation invocation(session, *find_command("gradient"), Surface::Shell, {});
  invocation.set("wrt", ScriptValue::list({"a,b", "c"}));
  invocation.set("target", "1.0");
  CHECK(invocation.names("wrt") == std::vector<std::string>{"a", "b", "c"});
  CHECK(invocation.path("target") == std::vector<int>{1, 0});
  invocation.set("target", "1.x");
  CHECK_THROWS_WITH(invocation.path("target"), Catch::Contains("index path"));
  invocation.set("set", ScriptValue::list({"x=[1, 2]", "y=a=b"}));
  auto assignments = invocation.assignments("set");
  CHECK(assignments[1].first == "y");
  CHECK(*assignments[1].second.string() == "a=b");
  invocation.set("set", ScriptValue::list({"x"}));
  CHECK_THROWS_WITH(invocation.assignments("set"), Catch::Contains("NAME=VALUE"));
}

TEST_CASE("literals of the command line") {
  auto text = [](std::string_view literal) { return quoted_text_of(parse_literal(literal, "--arg x")); };
  CHECK(text("5") == "5");
  CHECK(text("-2.5e3") == "-2500.0");
  CHECK(text("[[1, 2], [3, 4.5],]") == "[[1, 2], [3, 4.5]]");
  CHECK(text("(1,)") == "(1,)");
  CHECK(text("(1)") == "1");
  CHECK(text("'a b'") == "'a b'");
  CHECK(text("True") == "True");
  CHECK(text("-inf") == "-inf");
  for (const char* wrong :
       {"", "[1", "[1 2]", "1]", "x", "1 + 1", "99999999999999999999", "[1,,2]", "'a", "__import__('os')"}) {
    INFO(wrong);
    CHECK_THROWS_WITH(parse_literal(wrong, "--arg x"), Catch::Contains("UsageError"));
  }
  std::string deep(5000, '[');
  CHECK_THROWS_WITH(parse_literal(deep, "--arg x"), Catch::Contains("nested deeper"));
  CHECK(parse_argument_text("rand", "x").kind == ArgumentText::Rand);
  CHECK(parse_argument_text("rand(seed=7)", "x").seed == 7u);
  CHECK(parse_argument_text("@m.npz:w", "x").text == "m.npz:w");
  CHECK(parse_argument_text("[1]", "x").kind == ArgumentText::Literal);
  CHECK_THROWS_WITH(parse_argument_text("rand(x)", "x"), Catch::Contains("rand(seed=NUMBER)"));
  CHECK_THROWS_WITH(parse_argument_text("rand(3)", "x"), Catch::Contains("rand(seed=NUMBER)"));
  CHECK(parse_argument_text(" zeros() ", "x").kind == ArgumentText::Zeros);
  CHECK(parse_argument_text("rand( seed = 18446744073709551615 )", "x").seed == UINT64_MAX);
  CHECK_THROWS_WITH(parse_argument_text("ones(3)", "x"), Catch::Contains("expected ones()"));
  CHECK(parse_argument_text("key(7)", "x").kind == ArgumentText::Key);
  CHECK(parse_argument_text("key(seed=4294967298)", "x").seed == 4294967298U);
  CHECK_THROWS_WITH(parse_argument_text("key(a)", "x"), Catch::Contains("key(NUMBER)"));
  CHECK(text("{'a': [1], \"b\": 2,}") == "{'a': [1], 'b': 2}");
  CHECK_THROWS_WITH(parse_literal("[1, two]", "--arg x"),
                    Catch::Contains("--arg x: found 'two' at character 5 of '[1, two]'; expected a literal"));
}

TEST_CASE("texts of pipelines") {
  ValueText text(
      "append-loss(mse(reduction='sum'), outputs=1), gradient(wrt=[w0, b0], target=1.0), legalize, "
      "bind_params(set=[w=[1, 2], b=zeros], params=data/w.npz:w,)");
  auto passes = parse_passes(text);
  REQUIRE(passes.size() == 4);
  CHECK(passes[0].name == "append-loss");
  const auto argument = [&](std::size_t pass, std::size_t index, OptionKind kind) {
    const WrittenValue& found = passes[pass].arguments[index];
    const bool named = found.kind == WrittenValue::Kind::Argument;
    return (named ? found.text + ": " : "") +
           quoted_text_of(pass_argument(text, kind, named ? found.items[0] : found));
  };
  CHECK(argument(0, 0, OptionKind::Spec) == "\"mse(reduction='sum')\"");
  CHECK(argument(0, 1, OptionKind::Integer) == "outputs: 1");
  CHECK(argument(1, 0, OptionKind::Names) == "wrt: ['w0', 'b0']");
  CHECK(argument(1, 1, OptionKind::Path) == "target: '1.0'");
  CHECK(passes[2].arguments.empty());
  CHECK(argument(3, 0, OptionKind::Assignments) == "set: ['w=[1, 2]', 'b=zeros']");
  CHECK(argument(3, 1, OptionKind::Tensors) == "params: 'data/w.npz:w'");
  const auto parse = [](std::string_view wrong) {
    ValueText reader(wrong);
    parse_passes(reader);
  };
  CHECK_THROWS_WITH(parse("gradient("),
                    Catch::Contains("found the end of 'gradient('; expected a value or ')'"));
  CHECK_THROWS_WITH(parse("gradient, , dce"), Catch::Contains("a pass such as"));
  CHECK_THROWS_WITH(parse("gradient, 3"), Catch::Contains("found '3' at character 11 of 'gradient, 3'"));
  ValueText empty("");
  CHECK(parse_passes(empty).empty());
}

TEST_CASE("REPL commands are statements") {
  Harness harness;
  REQUIRE(harness
              .run("@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2,), \"float32\")):\n "
                   "       return R.exp(x)\n"
                   "p = {'x': ones((2,))}")
              .error.empty());
  auto statement = [&](std::string_view line) { return statement_of(harness.script(), line); };
  CHECK(statement(":gradient M.main --wrt w0,b0") == "M = gradient(M.main, wrt=[\"w0\", \"b0\"])");
  CHECK(statement(":gradient M.main --target 1.0 --as G") == "G = gradient(M.main, target=[1, 0])");
  CHECK(statement(":append-loss M.main --loss cross_entropy") ==
        "M = append_loss(M.main, loss=\"cross_entropy\")");
  CHECK(statement(":loss M.main --loss M.main") == "M = append_loss(M.main, loss=M.main)");
  CHECK(statement(":bind-params M.main --params p") == "M = bind_params(M.main, params=p)");
  CHECK(statement(":bind-params M.main --params w.npz") == "M = bind_params(M.main, params=\"w.npz\")");
  CHECK(statement(":type 1 + 2") == "type(1 + 2)");
  CHECK(statement(":load data/my-file.npz") == "my_file = load(\"data/my-file.npz\")");
  CHECK(statement(":call M.main --arg x=[1,2]") == "call(M.main, arg=[\"x=[1,2]\"])");
  // Values are expressions of the session, but for the words of the command line.
  CHECK(statement(":call M.main --arg x=p['x']") == "call(M.main, arg={\"x\": p['x']})");
  CHECK(statement(":call M.main --arg x=R.exp(t) --arg y=zeros") ==
        "call(M.main, arg={\"x\": R.exp(t), \"y\": \"zeros\"})");
  CHECK(statement(":call M.main --arg x=rand(seed=1)") == "call(M.main, arg=[\"x=rand(seed=1)\"])");
  CHECK(statement(":call M.main --arg x=unknown") == "call(M.main, arg=[\"x=unknown\"])");
  // A bracket too many holds nothing together, and commas within brackets part no names.
  CHECK(statement(":gradient M.main --wrt w) --target 0") == "M = gradient(M.main, wrt=[\"w)\"], target=0)");
  CHECK(statement(":evaluate M.main --data p --metrics accuracy(threshold=0.5),loss") ==
        "evaluate(M.main, data=p, metrics=[\"accuracy(threshold=0.5)\", \"loss\"])");
  CHECK(statement(":doc relu") == "doc(\"relu\")");
  CHECK_THROWS_WITH(statement(":gradint M"), Catch::Contains("did you mean 'gradient'"));
  CHECK_THROWS_WITH(statement(":gradient M.main --wtr a"), Catch::Contains("did you mean '--wrt'"));
  CHECK_THROWS_WITH(statement(":gradient M.main --wrt"), Catch::Contains("no value"));
}

TEST_CASE("completion") {
  SessionHarness session;
  session("value_one = 1\nt = tensor([1])");
  auto all = [&](std::string_view text) {
    std::vector<std::string> found;
    for (const Candidate& candidate : complete(session.workspace(), text).candidates)
      found.push_back(candidate.text);
    return found;
  };
  CHECK(all("x = value_") == std::vector<std::string>{"value_one"});
  CHECK(all("t.sh") == std::vector<std::string>{"t.shape"});
  CHECK(all(":grad") == std::vector<std::string>{":gradient"});
  CHECK(all(":gradient M.main --wr") == std::vector<std::string>{"--wrt"});
  CHECK(all("R.nn.re") == std::vector<std::string>{"R.nn.relu", "R.nn.relu6"});
  CHECK(all("y = R.matm") == std::vector<std::string>{"R.matmul"});
  CHECK(all(":trainer M.main --optimizer ada") == std::vector<std::string>{"adagrad", "adam", "adamw"});
  CHECK(all(":trainer M.main --optimizer adam(be") == std::vector<std::string>{"betas="});
  CHECK(all("t = train(M.main, loss=\"hu") == std::vector<std::string>{"huber"});
  CHECK(all("optimizer=\"momentum(lr=0.1, ne") == std::vector<std::string>{"nesterov="});
  CHECK(all("optimizer=\"adam(betas=(0.9, 0.99), e") == std::vector<std::string>{"eps="});
  CHECK(all(":trainer M.main --optimizer sgd(lr=0.1) --sch") == std::vector<std::string>{"--schedule"});
  CHECK(all("schedule='co") == std::vector<std::string>{"constant", "cosine"});
  CHECK(all("zzz").empty());
}

TEST_CASE("inputs in the history file") {
  std::string input = "for i in x:\n    print('a\\n')";
  CHECK(unescape_input(escape_input(input)) == input);
  CHECK(escape_input(input).find('\n') == std::string::npos);
  relish::testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/history";
  {
    std::ofstream file(path);
    for (int i = 0; i < 10'001; ++i) file << "x = " << i << "\n";
  }
  const std::vector<std::string> kept = HistoryFile(path).read();
  CHECK(kept.size() == 9000);
  CHECK(kept.back() == "x = 10000");
  HistoryFile(path).append("y");
  CHECK(HistoryFile(path).read().size() == 9001);
}
