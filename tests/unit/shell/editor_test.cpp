// The editor's parts that know no terminal: places in texts, colours, pictures, where the cursor stands, and
// what is proposed there.
#include <catch2/catch.hpp>

#include <clocale>
#include <cstdlib>

#include "shell/program/highlight.h"
#include "shell/repl/completion/completion.h"
#include "shell/repl/completion/cursor_place.h"
#include "shell/repl/editor/edited_text.h"
#include "shell/repl/editor/other_keys.h"
#include "shell/repl/editor/screen.h"
#include "shell/repl/editor/status_line.h"
#include "shell/repl/inputs/input_parts.h"
#include "tests/golden/terminal_screen.h"
#include "tests/unit/shell/session_harness.h"
#include "tests/unit/temporary_folder.h"

using namespace relish;
using relish::testing::SessionHarness;
using relish::testing::TerminalScreen;
using relish::testing::two_layers;

namespace {

std::vector<std::string> rows_of(const EditorView& view) {
  TerminalScreen screen(view.columns, view.rows);
  std::size_t row = 0;
  screen.write(bytes_of(picture_of(view), row));
  CHECK(screen.unknown().empty());
  return screen.rows();
}

// A letter for the kind of each byte.
std::string kinds_of(std::string_view text) {
  std::string kinds(text.size(), '.');
  for (const TokenSpan& span : token_spans(text))
    for (std::size_t i = span.begin; i < span.end; ++i)
      kinds[i] = "ksncN@:!"[static_cast<std::size_t>(span.kind)];
  return kinds;
}

}  // namespace

TEST_CASE("editor: lines and words of a text") {
  const std::string text = "def f(x):\n    réé = 1\n    return réé";
  CHECK(line_begin(text, 0) == 0);
  CHECK(line_begin(text, 9) == 0);
  CHECK(line_begin(text, 10) == 10);
  CHECK(line_end(text, 0) == 9);
  CHECK(line_end(text, text.size()) == text.size());
  // Places are counted in characters, not in bytes.
  const std::size_t last = text.size();
  CHECK(text.substr(place_above(text, last)) == "\n    return réé");
  CHECK(text.substr(place_above(text, place_above(text, last))) == "\n    réé = 1\n    return réé");
  CHECK(place_above(text, 3) == 3);
  CHECK(place_below(text, last) == last);
  CHECK(place_below(text, 3) == 13);
  CHECK(characters_in("réé") == 3);
  CHECK(text.substr(word_begin(text, text.size())) == "réé");
  // What a person takes for one character is one, whatever it is made of.
  for (const std::string one : {"a", "é", "e\u0301", "👍🏽", "👩🏽‍💻", "🇩🇪", "❤️", "日"}) {
    INFO(one);
    const std::string three = one + one + one;
    CHECK(place_behind(three, 0) == one.size());
    CHECK(place_behind(three, one.size()) == 2 * one.size());
    CHECK(place_before(three, three.size()) == 2 * one.size());
    CHECK(place_before(three, one.size()) == 0);
    CHECK(place_before("x" + three, 1) == 0);
    CHECK(place_before("\n" + one, 1 + one.size()) == 1);
  }
  CHECK(place_behind("", 0) == 0);
  CHECK(place_before("\xcc\x81", 2) == 0);
  CHECK(word_begin("a.bc  ", 6) == 2);
}

TEST_CASE("editor: the blanks that a new line begins with") {
  const auto behind = [](std::string_view text) { return indentation_behind(text, text.size()).size(); };
  CHECK(behind("if x:  # why: so") == 4);
  CHECK(behind("x = \"#\"  # no header:") == 0);
  CHECK(behind("    return  # done") == 0);
  CHECK(behind("x = 1") == 0);
  CHECK(behind("for i in x:") == 4);
  CHECK(behind("class M:\n    def f():  ") == 8);
  CHECK(behind("    y = 1") == 4);
  CHECK(behind("        return y") == 4);
  CHECK(behind("        returned = y") == 8);
  CHECK(behind("pass") == 0);
  const auto before = [](std::string_view text) { return blanks_to_step(text, text.size()); };
  CHECK(before("x:\n        ") == 4);
  CHECK(before("x:\n     ") == 1);
  CHECK(before("   ") == 3);
  CHECK(before("x:\n") == 0);
  CHECK(before("    y ") == 0);
  CHECK(unindented({"if x:\n      y", 12}) == EditedText{"if x:\n    y", 10});
  CHECK(unindented({"      y", 1}) == EditedText{"    y", 1});
  CHECK(unindented({"      y", 5}) == EditedText{"    y", 4});
  CHECK(unindented({"y", 1}) == EditedText{"y", 1});
}

TEST_CASE("editor: undo goes over changes, not over moves") {
  EditHistory history;
  history.begin({});
  history.note({"a", 1});
  history.note({"ab", 2});
  history.note({"ab", 0});
  CHECK(history.undo() == EditedText{"a", 1});
  history.note({"a", 0});
  history.note({"ax", 2});
  CHECK(history.undo() == EditedText{"a", 0});
  CHECK(history.undo() == EditedText{});
  CHECK(history.undo() == EditedText{});
}

TEST_CASE("editor: kinds of tokens") {
  start_language();
  CHECK(kinds_of("for x in 1.5:") == "kkk...kk.nnn.");
  CHECK(kinds_of("a = 'b' # c") == "....sss.ccc");
  CHECK(kinds_of("R.exp(x)) R.nothere(1)") == "NNNNN...!.!!!!!!!!!.n.");
  CHECK(kinds_of("@R.function") == "@@@@@@@@@@@");
  CHECK(kinds_of(":undo 2") == ":::::.n");
  CHECK(kinds_of(":nope 2") == "!!!!!.n");
  CHECK(kinds_of("x = \"open\ny") == "....!!!!!..");
  CHECK(kinds_of("x = \"open") == "....sssss");
  CHECK(kinds_of("d['a']: 1")[6] == '.');
  // Taken out again, the colours leave the text.
  const std::string text = "def f(x):  # twice\n    return R.add(x, 2.0)\n";
  std::string colored = in_colors(text);
  for (std::size_t at = colored.find('\x1b'); at != std::string::npos; at = colored.find('\x1b'))
    colored.erase(at, colored.find('m', at) + 1 - at);
  CHECK(colored == text);
}

TEST_CASE("editor: pictures") {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  EditorView view;
  view.prompt = "[1] >>> ";
  view.next_prompt = "    ... ";
  view.text = "for i in x:\n    print(i)";
  view.cursor = 3;
  view.columns = 30;
  view.rows = 6;
  view.below = {"main, the start | jit"};
  CHECK(rows_of(view) ==
        std::vector<std::string>{"[1] >>> for_i in x:", "    ...     print(i)", "main, the start | jit"});
  // A line as wide as the terminal, and one that is wider.
  view.text = "abcdefghijklmnopqrstuv";
  view.cursor = view.text.size();
  CHECK(rows_of(view) ==
        std::vector<std::string>{"[1] >>> abcdefghijklmnopqrstuv", "_", "main, the start | jit"});
  view.text = "abcdefghijklmnopqrstuvwxyz";
  view.cursor = 23;
  CHECK(rows_of(view) ==
        std::vector<std::string>{"[1] >>> abcdefghijklmnopqrstuv", "w[x]yz", "main, the start | jit"});
}

TEST_CASE("editor: of more rows than the terminal has those around the cursor are seen") {
  std::string text;
  for (int i = 0; i < 50; ++i) text += (i > 0 ? "\n" : "") + std::to_string(i);
  EditorView view;
  view.prompt = view.next_prompt = "> ";
  view.text = text;
  view.columns = 20;
  view.rows = 10;
  view.below = {"status"};
  for (const std::size_t line : {0, 7, 25, 49}) {
    const std::string number = std::to_string(line);
    view.cursor = line < 10 ? line * 2 : 20 + (line - 10) * 3;
    const std::vector<std::string> rows = rows_of(view);
    INFO(number);
    CHECK(rows.size() == 9);
    CHECK(rows.back() == "status");
    const std::string with_cursor = "> [" + number.substr(0, 1) + "]" + number.substr(1);
    CHECK(std::count(rows.begin(), rows.end(), with_cursor) == 1);
  }
}

TEST_CASE("editor: where the cursor stands") {
  CursorPlace place = cursor_place("y = R.nn.conv2d(x, w, str");
  CHECK(place.callee == "R.nn.conv2d");
  CHECK(place.argument == 2);
  CHECK(place.word == "str");
  CHECK(place.subject == "x");
  place = cursor_place("f(a, g(b), wrt=[\"x\", \"w");
  CHECK(place.callee == "f");
  CHECK(place.keyword == "wrt");
  CHECK(place.in_string);
  CHECK(place.word == "w");
  place = cursor_place("f(a == b, c");
  CHECK(place.keyword.empty());
  place = cursor_place("x = 1  # f(a");
  CHECK(place.in_comment);
  place = cursor_place("M@be");
  CHECK(place.behind_at);
  CHECK(cursor_place("@R.fu").decorator);
  place = cursor_place("x = 1\n:gradient M.main --wrt x,w");
  CHECK(place.command == "gradient");
  CHECK(place.option == "wrt");
  CHECK(place.word == "w");
  CHECK(place.words == std::vector<std::string_view>{"M.main", "--wrt"});
  // Inside brackets a ':' begins no command.
  CHECK_FALSE(cursor_place("f(\n:gra").command_line);
  CHECK(names_bound_in(
            "def f(a, b: R.Tensor((2,), \"float32\") = 1):\n  for i, j in x:\n    y: T = 1\n  with a "
            "as w:\n    import m as k\n  z == 1\n") ==
        std::vector<std::string>{"k", "w", "y", "j", "i", "b", "a", "f"});
}

// A text, and what must be among the first five that may stand at its end.
struct CompletionRow {
  std::string_view text, wanted;
};
constexpr CompletionRow completion_rows[] = {
    {"R.nn.re", "R.nn.relu"},
    {"y = R.mat", "R.matmul"},
    {"R.nn.conv2d(x, x, str", "strides="},
    {"R.nn.conv2d(x, x, strides=1, pad", "padding="},
    {"R.nn.pad(x, pad_mode=\"ref", "reflect"},
    {"R.astype(x, \"flo", "float16"},
    {"def f(a: R.Tensor((2,), \"flo", "float16"},
    {"M.ma", "M.main"},
    {"M.main(", "x="},
    {"M.main(x, w", "w="},
    {"M@1.main(", "x="},
    {"M@1.main(x, ", "w="},
    {"M@before.main(x, w", "w="},
    {"gradient(M.main, w", "wrt="},
    {"gradient(M.main, wrt=[\"", "x"},
    {"gradient(M.main, wrt=[\"x\", \"", "w"},
    {"setup_trainer(M.main, loss=\"cross", "cross_entropy"},
    {"setup_trainer(M.main, optimizer=\"adam(bet", "betas="},
    {"x.sh", "x.shape"},
    {"labels.ge", "labels.get"},
    {"cou", "count"},
    {"x@be", "before"},
    {"x@ma", "main"},
    {":gr", ":gradient"},
    {":gradient M.main --w", "--wrt"},
    {":gradient M.main --wrt ", "x"},
    {":gradient M.main --wrt x,", "w"},
    {":gradient M", "M.main"},
    {":dce ", "M"},
    {":trainer M.main --loss mse --opt", "--optimizer"},
    {":trainer M.main --loss ms", "mse"},
    {":time M.main --arg w", "w="},
    {":time M.main --vs M", "M.main"},
    {":tier in", "interp"},
    {":set th", "threads"},
    {":set tier j", "jit"},
    {":goto be", "before"},
    {":diff be", "before"},
    {":doc softm", "softmax"},
    {":doc R.nn.softm", "R.nn.softmax"},
    {":help grad", "gradient"},
    {":info cou", "count"},
    {"@I.", "I.ir_module"},
    {"@R.f", "R.function"},
    {"T.gr", "T.grid"},
    {"R.data", "R.dataflow"},
    {"relish.gra", "relish.gradient"},
    {"def f(alpha):\n    return al", "alpha"},
    {"alphabet = 1\nprint(alph", "alphabet"},
    {"for index in range(3):\n    print(ind", "index"},
    {"imp", "import"},
    {"pri", "print"},
    {"x = [cou", "count"},
    {":redo", ":redo"},
    {":redo", ":redo-derived"},
    {":vars ", "tensor"},
    {"call(M.main, arg={\"", "x"},
    {"call(M.main, arg=[\"", "x="},
    {"M@1.", "1.main"},
    {"M@before.ma", "before.main"},
    {":where M.main.", "M.main.x"},
    {":setup-trainer M.main --optimizer \"adam(", "lr="},
    {":passes M.main -p \"gr", "gradient"},
    {":passes M.main --passes gr", "gradient"},
    {"y = ", "x"},
    {"del ", "x"},
    {"z = x + ", "x"},
    {"M.main(x, ", "w="},
    {"? softm", "softmax"},
    {"help softm", "softmax"},
    {"?softm", "softmax"},
    {":info M.main.", "M.main.x"},
};

TEST_CASE("editor: completion by place") {
  SessionHarness session;
  session(two_layers + "x = ones((2, 3))\ncount = 5\nlabels = {'a': 1}\n");
  session(":snapshot before");
  const auto first = [&](std::string_view text) {
    std::vector<std::string> found;
    for (const Candidate& candidate : complete(session.workspace(), text).candidates) {
      found.push_back(candidate.text);
      if (found.size() == 5) break;
    }
    return found;
  };
  for (const CompletionRow& row : completion_rows) {
    const std::vector<std::string> found = first(row.text);
    INFO(row.text << " -> " << fmt::format("{}", fmt::join(found, ", ")));
    CHECK(std::find(found.begin(), found.end(), row.wanted) != found.end());
  }
  CHECK(first("# cou").empty());
  CHECK(first("y = 'cou").empty());
  CHECK(first("").empty());
  // Where an operator wants a tensor, tensors come first.
  CHECK(first("R.exp(").front() == "x");
}

TEST_CASE("editor: whatever has a name is found by its beginning") {
  SessionHarness session;
  session(two_layers + "x = ones((2, 3))\n");
  int positions = 0, found = 0;
  std::string missed;
  const auto check = [&](const std::string& text, const std::string& wanted) {
    const std::vector<Candidate> candidates = complete(session.workspace(), text).candidates;
    const auto end =
        candidates.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(candidates.size(), 5));
    const bool there =
        std::any_of(candidates.begin(), end, [&](const Candidate& each) { return each.text == wanted; });
    ++positions;
    found += there;
    if (!there) missed += text + " -> " + wanted + "\n";
  };
  const auto begun = [](const std::string& name) { return name.substr(0, name.size() - 2); };
  for (const std::string& name : op_names())
    if (name.size() > 4) check("y = R." + begun(name), "R." + name);
  for (const Command* command : all_commands()) {
    const std::string name = ":" + shell_name(command->name);
    if (!is_session_command(*command) || name.size() < 5) continue;
    check(begun(name), name);
    for (const Option& option : command->options) {
      const std::string flag = "--" + shell_name(option.name);
      if ((option.surfaces & (in_scripts | in_session)) && flag.size() > 5)
        check(name + " M.main " + begun(flag), flag);
    }
    if (command->surfaces & in_scripts)
      for (const Option& option : command->options)
        if ((option.surfaces & in_scripts) && option.name.size() > 3)
          check(fmt::format("{}(M.main, {}", command->name, begun(std::string(option.name))),
                fmt::format("{}=", option.name));
  }
  INFO(missed);
  CHECK(positions >= 200);
  CHECK(found * 100 >= positions * 95);
}

TEST_CASE("editor: keys that nothing is bound to put nothing into the text") {
  const std::vector<OtherKey> keys = other_keys();
  const auto function_of = [&](std::string_view bytes) -> std::string {
    for (const OtherKey& key : keys)
      if (key.bytes == bytes) return key.function;
    return "none";
  };
  CHECK(function_of("\x1b[1;5D") == "ed-prev-word");
  CHECK(function_of("\x1b[1;3C") == "em-next-word");
  CHECK(function_of("\x1b[1;2C") == "relish-right");
  CHECK(function_of("\x1b[1;5A") == "relish-up");
  CHECK(function_of("\x1b[1;2F") == "relish-line-end");
  CHECK(function_of("\x1b[1;5H") == "relish-home");
  CHECK(function_of("\x1b[3;5~") == "em-delete-next-word");
  CHECK(function_of("\x1b[3^") == "em-delete-next-word");
  CHECK(function_of("\x1bOM") == "relish-enter");
  for (const char* word : {"\x1b[5D", "\x1bO5D", "\x1bOd", "\x1b\x1b[D"})
    CHECK(function_of(word) == "ed-prev-word");
  CHECK(function_of("\x1b[d") == "relish-left");
  for (const char* nothing : {"\x1b[5~", "\x1b[6~", "\x1b[15~", "\x1b[24~", "\x1bOP", "\x1b[2~"})
    CHECK(function_of(nothing) == "none");
}

TEST_CASE("editor: the line below tells how a call is written") {
  SessionHarness session;
  session(two_layers);
  const auto status = [&](std::string_view text) { return status_line(session.workspace(), text); };
  CHECK(status("R.nn.softmax(x").starts_with("R.nn.softmax("));
  CHECK(status("M.main(").find("w: R.Tensor((3, 4)") != std::string::npos);
  CHECK(status(":undo").starts_with("goes back"));
  CHECK(status("") == "main, state 1 | interp");
  CHECK(status(": ") == "main, state 1 | interp");
}

TEST_CASE("editor: a command goes on over open brackets") {
  CHECK(missing_in_input(":time M.main --arg x=[1,") == Missing::Bracket);
  CHECK(missing_in_input(":time M.main --arg x=[1,\n  2]\n") == Missing::Nothing);
  const std::vector<InputPart> parts = input_parts("x = 1\n:stats [x,\n  x]\ny = 2\n");
  REQUIRE(parts.size() == 3);
  CHECK(parts[1].text == ":stats [x,\n  x]\n");
  CHECK(parts[2].line == 4);
  SessionHarness session;
  CHECK(session("x = ones((2,))\n:shape [x,\n  x]\nprint(1)\n") == "[0]: (2,)\n[1]: (2,)\n1\n");
}

TEST_CASE("editor: the correction of an input that failed") {
  SessionHarness session;
  session("weight = 1");
  session("print(wieght)\nprint(2)");
  session(":fix");
  CHECK(session.inputs().take_corrected() == "print(weight)\nprint(2)");
  CHECK_FALSE(session.inputs().take_corrected());
  CHECK(session(":fix").starts_with("UsageError"));
  session("def f(a):\n    return a\nwieghts = [wieght, 2]");
  session(":fix");
  CHECK(session.inputs().take_corrected() == "def f(a):\n    return a\nwieghts = [weight, 2]");
  session(":gradint M.main");
  session(":fix");
  CHECK(session.inputs().take_corrected() == ":gradient M.main");
  session("@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    y = R.nn.rleu(x)\n    return y\n");
  session(":fix");
  CHECK(session.inputs().take_corrected().value_or("").find("R.nn.relu(x)") != std::string::npos);
}
