// Sessions that are saved with their values: restored, every state is what it was, bit for bit, nothing runs,
// values are read when they are used, and a damaged part loses itself alone.
#include <catch2/catch.hpp>

#include <chrono>
#include <random>

#include "shell/repl/completion/completion.h"
#include "shell/script/unread_value.h"
#include "tests/unit/changed_variable.h"
#include "tests/unit/shell/session_harness.h"
#include "tests/unit/temporary_folder.h"

using namespace relish;
using relish::testing::bytes_of;
using relish::testing::content_of;
using relish::testing::SessionHarness;
using relish::testing::TemporaryFolder;

namespace {

const std::string saved_model =
    "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2,), \"float32\"), w: R.Tensor((2,), "
    "\"float32\")):\n        y = R.sum(R.multiply(x, w))\n        return y\n";
const std::string saved_free_function =
    "@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    return R.exp(x)\n";

const std::vector<std::string> saved_inputs = {
    "import tvm.relax as rx",
    "w = rand((3,))",
    saved_model,
    ":gradient M.main --wrt w",
    "p = {'w': w, 'n': [1, 2.5, None, 'text', (True, -7)], 2: float('nan')}",
    saved_free_function,
    "g = f; k = M.main",
    "for i in range(3): total = i * 0.5",
    ":snapshot before",
    "def twice(a, n=2):\n    return a * n\n",
    "short = lambda a: a + 1",
    "w = w * 2; h = ones((2, 2), 'int64'); s = h.shape; r = range(2, 9, 3)",
    ":bind-params M.main --set w=[2,3]",
    ":set seed 3",
    "q = rand((2,)); long = 'ab' * 400; big = [q, q, [q]]",
    ":goto before",
    "w = zeros((1,))",
    ":branch other",
    "z = 9223372036854775807; tiny = 5e-324; m = -0.0; b = tensor([True, False])",
    ":undo",
    "k = 5",
};

void run_saved_inputs(SessionHarness& session) {
  for (const std::string& input : saved_inputs) {
    INFO(input);
    const std::string told = session(input);
    REQUIRE(told.find("Error") == std::string::npos);
  }
}

// The states of all nodes, read whole.
std::vector<std::string> contents_of_states(SessionHarness& session) {
  std::vector<std::string> all;
  Workspace& workspace = session.workspace();
  for (std::size_t id = 0; id < workspace.log().size(); ++id) {
    State state = workspace.state_of(id);
    NameMap names;
    state.names.for_each([&](const std::string& name, const ScriptValue& value) {
      names = names.with(name, read_value(value));
    });
    state.names = names;
    all.push_back(content_of(state));
  }
  return all;
}

double milliseconds_of_restore(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("a restored session has the states that were saved, bit for bit") {
  TemporaryFolder folder;
  const std::string path = folder.file("s.rxs");
  SessionHarness first;
  run_saved_inputs(first);
  const std::size_t states = first.workspace().log().size();
  CHECK(first(":save " + path) == fmt::format("saved {} states with their values in {}\n", states - 1, path));
  SessionHarness second;
  CHECK(second(":restore " + path).starts_with(fmt::format("restored {} states; now at ", states - 1)));
  // A function that is made anew is another object of the same text; all else is compared in full.
  CHECK(contents_of_states(second) == contents_of_states(first));
  CHECK(second(":branches") == first(":branches"));
  CHECK(second(":history") == first(":history"));
  CHECK(second(":vars") == first(":vars"));
  CHECK(second("rx.op.exp(zeros((1,)))") == "float32 (1,)\n[1]\n");
  CHECK(second("g(zeros((2,)))") == "float32 (2,)\n[1, 1]\n");
  second(":goto 15");
  CHECK(second("twice(total, 3)") == "3.0\n");
  CHECK(second("short(2)") == "3\n");
  second(":goto other");
  // It goes on: saved again, with what is new.
  second("after = w + 1");
  CHECK(second(":save " + path).starts_with("saved"));
  SessionHarness third;
  CHECK(third(":restore " + path).find("after = w + 1") != std::string::npos);
  CHECK(third("after") == "float32 (1,)\n[1]\n");
  CHECK(third(":undo").starts_with("now at state"));
  CHECK(third(":goto 5").starts_with("now at state 5: p = "));
  CHECK(third("p['n']") == "[1, 2.5, None, 'text', (True, -7)]\n");
}

TEST_CASE("floats that no JSON holds, and constants of functions, are restored") {
  TemporaryFolder folder;
  const std::string path = folder.file("s.rxs");
  SessionHarness first;
  first("xs = [float('inf'), -float('inf'), float('nan'), -0.0, 0.1]");
  first("rows, cols = 2, 3");
  first(":save " + path);
  SessionHarness second;
  second(":restore " + path);
  CHECK(second("xs") == "[inf, -inf, nan, -0.0, 0.1]\n");
  CHECK(second("@R.function\ndef f(x: R.Tensor((rows, cols), \"float32\")):\n    return x").empty());
  CHECK(second("f(ones((2, 3))).shape") == "(2, 3)\n");
}

TEST_CASE("a long list of another state stands in a file beside the statements") {
  TemporaryFolder folder;
  SessionHarness first;
  first("xs = [float(i) / 4 for i in range(20000)]; ys = tuple(range(20000))");
  first("a = xs@1; b = ys@1");
  first("del xs; del ys");
  const std::string path = folder.file("s.relish");
  first(":save " + path);
  CHECK(bytes_of(path).find(".tolist()") != std::string::npos);
  SessionHarness second;
  second(":load " + path);
  CHECK(second("a == [float(i) / 4 for i in range(20000)], b == tuple(range(20000))") == "(True, True)\n");
}

TEST_CASE("states that were given up are made again from their statements after a restore too") {
  TemporaryFolder folder;
  const std::string path = folder.file("s.rxs");
  SessionHarness whole, poor;
  run_saved_inputs(whole);
  poor.workspace().set_budget(0);
  run_saved_inputs(poor);
  std::size_t dropped = 0;
  const Log& log = poor.workspace().log();
  for (std::size_t id = 1; id < log.size(); ++id) dropped += log.node(id).state ? 0 : 1;
  REQUIRE(dropped > 3);
  poor(":save " + path);
  SessionHarness second;
  second(":restore " + path);
  CHECK(contents_of_states(second) == contents_of_states(whole));
}

TEST_CASE("where functions come from is restored with them") {
  TemporaryFolder folder;
  const std::string path = folder.file("s.rxs");
  SessionHarness first;
  first(saved_model);
  first(":gradient M.main --wrt w");
  first(":bind-params M.main --set x=[2,3]");
  first(":save " + path);
  SessionHarness second;
  second(":restore " + path);
  CHECK(second(":info M.main_adjoint").find("made by gradient from main in [2]") != std::string::npos);
  CHECK(second(":redo-derived M").find("M = gradient(M.main, wrt=[\"w\"])") != std::string::npos);
}

// A function that stands in the module before needs no second line.
TEST_CASE("the origin of a function is told once, and known in every state") {
  TemporaryFolder folder;
  const std::string path = folder.file("s.rxs");
  SessionHarness first;
  first(saved_model);
  first(":gradient M.main --wrt w");
  first("M = jvp(M.main)");
  first("M = dce(M)");
  first(":save " + path);
  const std::string bytes = bytes_of(path);
  std::map<std::string, std::size_t> lines;
  for (std::size_t at = bytes.find("\"function\":\""); at != std::string::npos;
       at = bytes.find("\"function\":\"", at + 1)) {
    const std::size_t line = bytes.rfind('\n', at);
    if (bytes.substr(line, 20).find(" origin ") == std::string::npos) continue;
    const std::size_t name = at + std::string_view("\"function\":\"").size();
    ++lines[bytes.substr(name, bytes.find('"', name) - name)];
  }
  CHECK(lines.size() == 2);
  for (const auto& [name, count] : lines) {
    INFO(name);
    CHECK(count == 1);
  }
  for (const std::string state : {"2", "3", "4"}) {
    SessionHarness second;
    second(":restore " + path);
    second(":goto " + state);
    INFO(state);
    CHECK(second(":info M.main_adjoint").find("made by gradient from main in [2]") != std::string::npos);
  }
}

TEST_CASE("values that were shown are restored with the session") {
  TemporaryFolder folder;
  const std::string path = folder.file("s.rxs");
  SessionHarness first;
  first("x = ones((3,))");
  first("x * 2");
  first("[x, 'text']");
  first("lambda a: a");
  first(":save " + path);
  SessionHarness second;
  second("3");
  second(":restore " + path);
  CHECK(second("_2") == "float32 (3,)\n[2, 2, 2]\n");
  CHECK(second("_3[1]") == "text\n");
  CHECK(second("_1").find("showed none or is not kept") != std::string::npos);
  second(":save " + path);
  SessionHarness third;
  third(":restore " + path);
  CHECK(third("_2 + _2") == "float32 (3,)\n[4, 4, 4]\n");
}

TEST_CASE("what a restored session had read from files is read again from there") {
  TemporaryFolder folder;
  const auto put = [&](const std::string& first, const std::string& second) {
    folder.put(
        "m.relish",
        "@I.ir_module\nclass M:\n    @R.function\n    def f(x: R.Tensor((2,), \"float32\")):\n        y = " +
            first +
            "\n        return y\n\n    @R.function\n    def g(x: R.Tensor((2,), \"float32\")):\n        y = " +
            second + "\n        return y\n");
  };
  const std::string file = folder.file("m.relish"), path = folder.file("s.rxs");
  put("R.exp(x)", "R.abs(x)");
  SessionHarness first;
  first("M = load('" + file + "')");
  put("R.exp(x)", "R.negative(x)");
  CHECK(first(":reload M").find("~ g") != std::string::npos);
  first("M = jvp(M.f)");
  first("@R.function\ndef typed(x: R.Tensor((2,), \"float32\")):\n    return R.exp(x)\n");
  first(":save " + path);
  SessionHarness second;
  second(":restore " + path);
  CHECK(second(":reload") == "no function changed\n");
  CHECK(second("M.g(ones((2,)))") == "float32 (2,)\n[-1, -1]\n");
  put("R.sqrt(x)", "R.negative(x)");
  const std::string told = second(":reload M");
  INFO(told);
  CHECK(told.find("~ f") != std::string::npos);
  CHECK(told.find("g") == std::string::npos);
  CHECK(told.find("stale: f_jvp") != std::string::npos);
  CHECK(second("M.f(ones((2,)) * 4)") == "float32 (2,)\n[2, 2]\n");
  CHECK(second(":reload typed").find("expected a module or free function that a file declares") !=
        std::string::npos);
  // And so once more.
  second(":save " + path);
  SessionHarness third;
  third(":restore " + path);
  put("R.sqrt(x)", "R.exp(x)");
  CHECK(third(":reload").find("~ g") != std::string::npos);
  CHECK(third("M.g(zeros((2,)))") == "float32 (2,)\n[1, 1]\n");
}

TEST_CASE("a restored session runs nothing and reads what is used") {
  TemporaryFolder folder;
  const std::string path = folder.file("s.rxs"), written = folder.file("x.npy");
  SessionHarness first;
  first("x = rand((4,)); y = [x, x]");
  first("save(x, '" + written + "')");
  first("z = 1");
  first(":save " + path);
  std::filesystem::remove(written);
  SessionHarness second;
  second(":restore " + path);
  CHECK_FALSE(std::filesystem::exists(written));
  const auto unread = [&](const char* name) {
    return second.workspace().script().environment().peek(name)->is_unread();
  };
  CHECK((unread("x") && unread("y") && !unread("z")));
  CHECK(second(":vars").find("x  tensor    float32 (4,)") != std::string::npos);
  // Nor does what is listed while one types read it.
  complete(second.workspace(), "print(");
  complete(second.workspace(), "R.exp(");
  CHECK((unread("x") && unread("y")));
  second("k = z + 1");
  CHECK(second("x.shape") == "(4,)\n");
  CHECK((!unread("x") && unread("y")));
  // To look is no change.
  CHECK(second(":undo").find("z = 1") != std::string::npos);
  CHECK(second(":diff") == first(":diff"));
}

TEST_CASE("the statements in the archive run as they are") {
  TemporaryFolder folder;
  SessionHarness first;
  first("a = rand((3,))");
  first("for i in range(5): n = i; big = ones(40, 40) * n; bad = 1 // (2 - i)");
  first(":save " + folder.file("s.rxs"));
  // Unpacked by whoever has unzip; the layout is stored entries, so the text can be cut out.
  const std::string bytes = bytes_of(folder.file("s.rxs"));
  const std::size_t begin = bytes.find("# relish: 1 session");
  REQUIRE(begin != std::string::npos);
  const std::string text = bytes.substr(begin, bytes.find("PK\x03\x04", begin) - begin);
  CHECK(text.find("a = rand((3,))\n") != std::string::npos);
  CHECK(text.find("load(\"values.safetensors:t") != std::string::npos);
}

TEST_CASE("a damaged part of a saved session loses itself alone") {
  TemporaryFolder folder;
  SessionHarness first;
  first("u = rand((100,))");
  first("v = rand((100,)) + 1");
  first(saved_model);
  first("n = 5");
  const std::string u = first("u"), v = first("v");
  first(":save " + folder.file("s.rxs"));
  const std::string whole = bytes_of(folder.file("s.rxs"));
  const auto damaged = [&](std::size_t at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    return folder.put("d.rxs", bytes);
  };
  {
    // In the data of u, which come first.
    const float* data = first.workspace().state().names.find("u")->tensor()->view<float>().data();
    const std::string_view raw(reinterpret_cast<const char*>(data), 8);
    SessionHarness session;
    session(":restore " + damaged(whole.find(raw)));
    CHECK(session("u").starts_with("DataError"));
    CHECK(session("u").find("tensor 0 is not as it was written") != std::string::npos);
    CHECK(session("v") == v);
    CHECK(session("n + M.main(v[0:2], v[0:2]) * 0") == "float32 () 5\n");
    CHECK(session("u = 1; u") == "1\n");
  }
  // Wherever a bit is wrong, at most what stands there is missing.
  std::mt19937 random(5);
  std::size_t lost = 0;
  for (int i = 0; i < 150; ++i) {
    const std::size_t at = random() % whole.size();
    INFO("byte " << at);
    SessionHarness session;
    const std::string told = session(":restore " + damaged(at));
    if (!told.starts_with("restored")) {
      CHECK(told.starts_with("DataError"));
      ++lost;
      continue;
    }
    int good = 0;
    good += session("u") == u;
    good += session("v") == v;
    good += session("n") == "5\n";
    good += session("M.main.name").find("DataError") == std::string::npos;
    CHECK(good >= 3);
    // The session goes on.
    CHECK(session("fresh = 2; fresh") == "2\n");
  }
  // The first record says what the file is.
  CHECK(lost <= 10);
  // Cut anywhere.
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    SessionHarness session;
    const std::string told = session(":restore " + folder.put("d.rxs", whole.substr(0, size)));
    INFO("cut at " << size << ": " << told);
    CHECK((told.starts_with("restored") || told.starts_with("DataError")));
  }
}

TEST_CASE("what no session wrote is not replaced, and not restored") {
  TemporaryFolder folder;
  SessionHarness session;
  session("x = 1");
  const std::string other = folder.put("other.rxs", "precious");
  CHECK(session(":save " + other).find("no saved session") != std::string::npos);
  CHECK(bytes_of(other) == "precious");
  CHECK(session(":save " + other + " --overwrite").starts_with("saved 1 state "));
  CHECK(session(":save " + other).starts_with("saved"));
  CHECK(session(":restore " + other).starts_with("UsageError: this session has 1 state of its own"));
  CHECK(session("x") == "1\n");
  // A file of a later form.
  std::string bytes = bytes_of(other);
  SessionHarness fresh;
  const std::string zip = folder.put("zip.rxs", "PK\x03\x04" + std::string(40, ' '));
  CHECK(fresh(":restore " + zip).find("found no session") != std::string::npos);
  // No session was left here.
  const testing::ChangedVariable home("XDG_STATE_HOME", folder.path());
  CHECK(fresh(":restore").starts_with("UsageError"));
}

TEST_CASE("what was undone can be redone behind a restore") {
  TemporaryFolder folder;
  const std::string path = folder.file("s.rxs");
  SessionHarness first;
  for (const char* input : {"a = 1", "a = 2", "a = 3", "a = 4"}) first(input);
  first(":undo 2");
  first(":save " + path);
  SessionHarness second;
  second(":restore " + path);
  CHECK(second("a") == "2\n");
  CHECK(second(":redo").starts_with("now at state 3"));
  CHECK(second("a") == "3\n");
  CHECK(second(":redo").starts_with("now at state 4"));
  CHECK(second(":redo").starts_with("nothing to redo"));
  second(":undo 3");
  second("a = 5");
  CHECK(second(":redo").starts_with("nothing to redo"));
}

TEST_CASE("a session is found by the name that it was saved by") {
  TemporaryFolder folder;
  const std::string plain = folder.file("s6"), states = folder.file("s7");
  SessionHarness first;
  first("a = 1");
  first("b = a + 1");
  CHECK(first(":save " + plain).starts_with("saved 2 inputs in " + plain));
  first(":save " + states + ".rxs");
  SessionHarness second;
  CHECK(second(":load " + plain).empty());
  CHECK(second("b") == "2\n");
  CHECK(second(":restore " + plain) == "UsageError: '" + plain +
                                           "' holds the statements of a session, and not its states; :load " +
                                           plain + " runs them");
  SessionHarness third;
  CHECK(third(":load " + states)
            .starts_with("UsageError: '" + states + ".rxs' holds the states of a session; "));
  CHECK(third(":restore " + states).starts_with("restored 2 states"));
  CHECK(third("b") == "2\n");
  first(":save " + folder.file("s8.relish"));
  SessionHarness fourth;
  CHECK(fourth(":load " + folder.file("s8")).empty());
  CHECK(fourth("b") == "2\n");
  SessionHarness fifth;
  CHECK(fifth.inputs().run_file(states));
  CHECK(fifth("b") == "2\n");
  // The very name counts first, and data are data.
  folder.put("s7", "# a text\n");
  SessionHarness sixth;
  CHECK(sixth(":restore " + states).find("DataError") != std::string::npos);
  sixth("save({'w': ones((2,))}, '" + folder.file("w.npz") + "')");
  CHECK(sixth(":load " + folder.file("w.npz")) == "w = load(\"" + folder.file("w.npz") + "\")\n");
}

TEST_CASE("a session of large tensors is restored at once", "[.][full]") {
  TemporaryFolder folder;
  const std::string path = folder.file("large.rxs");
  {
    SessionHarness first;
    for (int i = 0; i < 4; ++i) first(fmt::format("w{} = ones((256, 1024, 256)) * {}", i, i));
    REQUIRE(first(":save " + path).starts_with("saved 4 states"));
  }
  REQUIRE(std::filesystem::file_size(path) > std::uintmax_t{1} << 30);
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    SessionHarness session;
    best = std::min(best, milliseconds_of_restore([&] { session(":restore " + path); }));
    if (i == 0) CHECK(session("float(w3[0, 0, 0])") == "3.0\n");
  }
  WARN("1 GB restored in " << best << " ms");
  CHECK(best <= 100);
}
