// Calls of PyTorch and NumPy, made here: what the message writes instead is run, and gives PyTorch's and
// NumPy's numbers. The calls, the names and the numbers are those of tests/numbers/foreign.py.
#include <catch2/catch.hpp>

#include <cctype>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "ir/operators/op.h"
#include "shell/commands/subject.h"
#include "stdlib/catalog_doc.h"
#include "stdlib/foreign_names.h"
#include "stdlib/surface.h"
#include "tests/unit/shell/script_harness.h"

namespace relish::testing {
namespace {

using Json = nlohmann::json;

Json numbers_of(const std::string& name) {
  return Json::parse(std::ifstream(std::string(RELISH_SOURCE_DIR) + "/tests/numbers/foreign/" + name));
}

// tensor([1.0, nan], "float64").reshape((2,)) of a committed value.
std::string tensor_text(const Json& value, const std::string& dtype) {
  std::string items;
  for (const Json& each : value["values"]) {
    const std::string number = each.is_string() ? "float(\"" + each.get<std::string>() + "\")" : each.dump();
    items += (items.empty() ? "" : ", ") + number;
  }
  std::string shape;
  for (const Json& dim : value["shape"]) shape += dim.dump() + ", ";
  return fmt::format("tensor([{}], \"{}\").reshape(({}))", items, dtype,
                     shape.empty() ? "" : shape.substr(0, shape.size() - 1));
}

// The statement that compares `found` with a committed value: prints True.
std::string comparison(const std::string& found, const Json& value) {
  if (value.is_array()) {
    std::string all;
    for (std::size_t i = 0; i < value.size(); ++i)
      all += (i > 0 ? " and " : "") + comparison(fmt::format("{}[{}]", found, i), value[i]);
    return all;
  }
  if (value["shape"].empty() && !value["values"][0].is_string())
    return fmt::format("abs(float({}) - {}) < 1e-5", found, value["values"][0].dump());
  if (value["shape"].empty()) return fmt::format("str(float({})) == {}", found, value["values"][0].dump());
  std::string shape;
  for (const Json& dim : value["shape"]) shape += dim.dump() + ",";
  return fmt::format(
      "tuple({0}.shape) == ({1}) and allclose(R.astype({0}, \"float64\"), {2}, rtol=2e-5, atol=2e-6)", found,
      shape, tensor_text(value, "float64"));
}

// What a message proposes for a call, whole; empty when it proposes none.
std::string proposed(const std::string& call, const std::string& message) {
  constexpr std::string_view written = "; write ", meant = "; did you mean '";
  if (const std::size_t at = message.find(meant); at != message.npos) {
    const std::size_t begin = at + meant.size();
    return message.substr(begin, message.find('\'', begin) - begin) + call.substr(call.find('('));
  }
  const std::size_t at = message.find(written);
  if (at == message.npos) return "";
  const std::string text = message.substr(at + written.size());
  return text.substr(0, text.find(", which "));
}

std::string values_text() {
  std::string text;
  for (const Json& value : numbers_of("values.json"))
    text += fmt::format("{} = {}\n", value["name"].get<std::string>(),
                        tensor_text(value, value["dtype"].get<std::string>()));
  return text;
}

// The committed values whose names a call has, as parameters of a function and as its arguments.
struct Operands {
  std::string parameters, arguments;
};
Operands operands_of(const std::string& call, const Json& values) {
  Operands result;
  std::set<std::string> words;
  std::string word;
  for (std::size_t i = 0; i <= call.size(); ++i) {
    const char c = i < call.size() ? call[i] : ' ';
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (letter) {
      word += c;
      continue;
    }
    if (!word.empty() && (i <= word.size() || call[i - word.size() - 1] != '.') && c != '=')
      words.insert(word);
    word.clear();
  }
  for (const Json& value : values) {
    const std::string name = value["name"].get<std::string>();
    if (!words.contains(name)) continue;
    std::string shape;
    for (const Json& dim : value["shape"]) shape += dim.dump() + ", ";
    result.parameters += fmt::format("{}{}: R.Tensor(({}), \"{}\")", result.parameters.empty() ? "" : ", ",
                                     name, shape, value["dtype"].get<std::string>());
    result.arguments += (result.arguments.empty() ? "" : ", ") + name;
  }
  return result;
}

// The word of a call: "relu" of F.relu(x).
std::string word_of(const std::string& call) {
  const std::string callee = call.substr(0, call.find('('));
  return callee.substr(callee.rfind('.') + 1);
}

}  // namespace

TEST_CASE("what is proposed for a call of another library gives that library's numbers", "[shell]") {
  Harness harness;
  REQUIRE(harness.run(values_text()).error.empty());
  for (const Json& entry : numbers_of("calls.json")) {
    const std::string call = entry["call"].get<std::string>();
    INFO(call);
    const Ran refused = harness.run("found = " + call);
    std::string expression = call;  // a method that tensors have here too
    if (!refused.error.empty()) {
      INFO(refused.error);
      expression = proposed(call, refused.error);
      CHECK(!expression.empty());
      if (expression.empty()) continue;
    } else {
      CHECK(call.substr(0, call.find('.')).size() == 1);
    }
    INFO(expression);
    const Ran ran = harness.run("found = " + expression);
    CHECK(ran.error == "");
    if (!ran.error.empty() || entry["result"].is_string()) continue;
    const Ran compared = harness.run("print(" + comparison("found", entry["result"]) + ")");
    CHECK(compared.error == "");
    CHECK(compared.output == "True\n");
  }
}

TEST_CASE("what is proposed for such a call in a function checks there and gives the same numbers",
          "[shell]") {
  Harness harness;
  REQUIRE(harness.run(values_text()).error.empty());
  const Json values = numbers_of("values.json");
  int pasted = 0;
  for (const Json& entry : numbers_of("calls.json")) {
    const std::string call = entry["call"].get<std::string>();
    const Operands operands = operands_of(call, values);
    if (operands.parameters.empty() || entry["result"].is_string()) continue;
    INFO(call);
    const auto declared = [&](const std::string& body) {
      return harness.run(fmt::format("@R.function\ndef f({}):\n    found = {}\n    return found\n",
                                     operands.parameters, body));
    };
    const std::string refused = declared(call).error;
    INFO(refused);
    const std::string expression = proposed(call, refused);
    // What is for statements alone says so, and an item of an argument is a fault of its own.
    if (expression.empty() || refused.find(" in a statement") != refused.npos) continue;
    if (call.find("[:") != call.npos || call.find(":]") != call.npos) continue;
    INFO(expression);
    const Ran read = declared(expression);
    CHECK(read.error == "");
    if (!read.error.empty()) continue;
    ++pasted;
    const Ran compared = harness.run(
        fmt::format("found = f({})\nprint({})", operands.arguments, comparison("found", entry["result"])));
    CHECK(compared.error == "");
    CHECK(compared.output == "True\n");
  }
  CHECK(pasted > 300);
}

TEST_CASE("every name of torch.nn.functional and NumPy is the same, answered, or told to be none",
          "[shell]") {
  const Json names = numbers_of("names.json");
  std::set<std::string> called;
  for (const Json& entry : numbers_of("calls.json")) {
    const std::string call = entry["call"].get<std::string>();
    called.insert((call.starts_with("F.") ? "F." : call.starts_with("np.") ? "np." : "") + word_of(call));
  }
  Harness harness;
  REQUIRE(harness.run("x = ones((2, 2))").error.empty());
  for (const std::string library : {"F", "np"}) {
    std::set<std::string> without, functions;
    for (const Json& each : names["functions"][library]) functions.insert(each.get<std::string>());
    for (const Json& each : names["without_numbers"][library]) without.insert(each.get<std::string>());
    for (const Json& each : names[library]) {
      const std::string name = each.get<std::string>();
      INFO(library << "." << name);
      if (called.contains(library + "." + name) || without.contains(name)) continue;
      // Not called and not excused: then nothing may be proposed for it, under no prefix. (Losses and
      // commands are words, not expressions.)
      const std::string message = harness.run(fmt::format("found = {}.{}(x)", library, name)).error;
      INFO(message);
      const auto words = written_instead(name);
      const bool in_words = words && words->starts_with("the ");
      CHECK((in_words || message.find("; nothing here does") != message.npos ||
             message.find("; nothing here is called so") != message.npos ||
             message.find("; relish ops ") != message.npos));
      const std::string advice = operator_advice(name);
      INFO(advice);
      CHECK((in_words || advice.empty() || !functions.contains(name)));
    }
  }
}

TEST_CASE("what is proposed for a method of lists on a tensor runs and has the shape that is meant",
          "[shell]") {
  Harness harness;
  REQUIRE(harness.run("v = tensor([1.0, 2.0])\nm = ones((2, 2))\ns = tensor(3.0)\nr = 0.5\n").error.empty());
  const std::pair<std::string, std::string> calls[] = {
      {"v.append(1)", "(3,)"},    {"v.append(0.5)", "(3,)"},
      {"v.append(r)", "(3,)"},    {"v.append(s)", "(3,)"},
      {"v.append(v)", "(4,)"},    {"v.append([3, 4])", "(4,)"},
      {"m.append(v)", "(3, 2)"},  {"m.append([3, 4])", "(3, 2)"},
      {"m.append(m)", "(4, 2)"},  {"v.extend([3, 4])", "(4,)"},
      {"v.extend(v)", "(4,)"},    {"m.extend(m)", "(4, 2)"},
      {"v.insert(1, 7)", "(3,)"}, {"v.pop()", "()"}};
  for (const auto& [call, shape] : calls) {
    const std::string message = harness.run(call).error;
    INFO(message);
    const std::string text = proposed(call, message).substr(0, proposed(call, message).find(", and "));
    INFO(text);
    CHECK(harness.run("print((" + text + ").shape)").output == shape + "\n");
  }
  CHECK(harness.run("v.append(1)")
            .error.ends_with("; write R.concat((v, tensor([1], v.dtype)), axis=0), which is a new value"));
  CHECK(harness.run("m.append(1)").error.ends_with("; relish doc append says what is written here"));
}

TEST_CASE("names that are one slip from a library's are answered, others are not", "[shell]") {
  Harness harness;
  REQUIRE(harness.run("x = ones((2, 2))").error.empty());
  const auto told = [&](const std::string& text) { return harness.run(text).error; };
  CHECK(told("torch.reluu(x)").find("; did you mean 'torch.relu'? here it is R.nn.relu") !=
        std::string::npos);
  CHECK(told("np.maen(x)").find("; did you mean 'np.mean'? here it is R.mean") != std::string::npos);
  CHECK(told("nn.Linaer(2, 3)").find("; did you mean 'nn.Linear'?") != std::string::npos);
  CHECK(told("optim.SDG(x)").ends_with("; nothing here is called so"));
  CHECK(told("optim.adamw").find("did you mean 'optim.AdamW'") != std::string::npos);
  CHECK(told("nn.ReLu()").find("did you mean 'nn.ReLU'? write R.nn.relu(x)") != std::string::npos);
  CHECK(told("nn.Conv1d(1, 2, 3)").ends_with("; write R.nn.conv1d, whose kernels are a parameter"));
  CHECK(told("nn.Conv7d(1, 2, 3)").find("did you mean") == std::string::npos);
  CHECK(told("nn.MSELoss()").ends_with("; use the loss mse of train"));
  CHECK(told("np.remun(x)").find("did you mean") == std::string::npos);
  CHECK(told("optim.SGD").ends_with("; write optimizer=\"sgd\" in train or setup_trainer"));
}

// Where a call means something else in either order, docs/coming-from.md says so.
TEST_CASE("operators called with the arguments in another library's order are refused", "[shell]") {
  Harness harness;
  REQUIRE(harness
              .run("x = rand((4, 4), seed=1)\nw = ones((4,))\ni = tensor([[0, 1, 2, 3]])\nk = key(0)\n"
                   "images = rand((1, 2, 4, 4), seed=2)\nkernels = ones((3, 2, 2, 2))\nbias = ones((3,))\n")
              .error.empty());
  const char* calls[] = {"nn.batch_norm(x, w, w, w, w)",
                         "nn.layer_norm(x, (4,), w, w)",
                         "nn.rms_norm(x, (4,), w)",
                         "nn.group_norm(images, 2, ones((2,)), ones((2,)))",
                         "nn.conv2d(images, kernels, bias)",
                         "nn.conv2d(images, kernels, None, 2)",
                         "nn.pad(x, (1, 1))",
                         "nn.dropout(x, 0.5, True)",
                         "nn.attention(images, images, images, True)",
                         "gather_elements(x, 0, i)",
                         "scatter_elements(x, 0, i, i)",
                         "take(x, 0, i)",
                         "where(x, x > 0, w)",
                         "full(0.5, (2, 2))",
                         "permute_dims(x, 1, 0)",
                         "reshape(x, 2, 8)",
                         "tile(x, 2, 2)",
                         "flip(x, 0, 1)",
                         "one_hot(i, 5)",
                         "einsum(\"ij,jk->ik\", x, x)",
                         "concat(x, x)",
                         "stack(x, x)",
                         "random.normal(0.0, 1.0, (2, 2))",
                         "random.normal(k, 0.0, 1.0, (2,))",
                         "random.randint(0, 10, (3,))",
                         "random.randint(k, 0, 10, (3,))",
                         "random.bernoulli(k, 0.3, (3,))",
                         "random.categorical(k, x, (4,))",
                         "random.choice(k, 10, (3,))",
                         "random.permutation(k, x)",
                         "image.resize2d(images, (8, 8), \"linear\")",
                         "ones(2, 3)",
                         "broadcast_to(x, 4, 4)",
                         "matmul(x, x, x)"};
  for (const char* call : calls) {
    INFO(call);
    const Ran ran = harness.run(std::string("found = R.") + call);
    INFO(ran.error);
    CHECK(ran.error_class == "TypeError");
  }
}

TEST_CASE("names of other libraries in functions are answered too", "[shell]") {
  Harness harness;
  const auto told = [&](const std::string& body) {
    return harness
        .run("@R.function\ndef f(x: R.Tensor((4, 4), \"float32\")):\n    y = " + body + "\n    return y\n")
        .error;
  };
  CHECK(told("x.clamp(min=0)").ends_with("; write R.maximum(x, 0)"));
  CHECK(told("torch.topk(x, 2, dim=1)").ends_with("; write R.topk(x, 2, axis=1)"));
  CHECK(told("np.sum(x, axis=0)").find("; write R.sum(x, axis=0), which keeps the dtype") !=
        std::string::npos);
  CHECK(told("F.relu(x)").ends_with("; did you mean 'R.nn.relu'?"));
  CHECK(told("max(x, 0.0)").ends_with("; write R.maximum(x, 0.0)"));
  CHECK(told("max(x)").ends_with("; did you mean 'R.max'?"));
  CHECK(told("torch.zeros(2, 3)").ends_with("; write R.zeros((2, 3), \"float32\")"));
  CHECK(told("x * np.pi").ends_with("; write 3.141592653589793"));
  CHECK(told("np.fft.fft(x)").find("did you mean") == std::string::npos);
  CHECK(told("R.zeros((2, 3))").ends_with("argument 'dtype' is missing; write dtype=\"float32\""));
  CHECK(
      told("F.mse_loss(torch.relu(x), x)") ==
      "found a call of 'F.mse_loss', which an R.function cannot call; write R.mean(R.square(R.nn.relu(x) - x)), "
      "which is the loss mse of train");
}

TEST_CASE("a library's name that the script binds is the script's", "[shell]") {
  CHECK(run_alone("np = {\"pi\": 3}\nprint(np[\"pi\"])\n") == "3\n");
  CHECK(run_alone("F = 3\nprint(F.relu(2))\n") == "TypeError: an int has no attribute 'relu'");
  CHECK(run_alone("def f(torch):\n    return torch.sum()\nprint(f(ones((2,))))\n") == "2.0\n");
}

TEST_CASE("methods take PyTorch's names of axis and keepdims", "[shell]") {
  CHECK(
      run_alone("x = ones((2, 3))\nprint(x.sum(dim=1), x.mean(dim=0, keepdim=True).shape, x.any(dim=1))\n") ==
      "float32 (2,)\n[3, 3] (1, 3) bool (2,)\n[True, True]\n");
  CHECK(run_alone("x = ones((2, 3))\nx.sum(1, dim=0)\n") ==
        "UsageError: sum: 'axis' is given twice, as dim too");
  CHECK(run_alone("x = ones((2, 3))\nx.sum(dims=0)\n").find("axis, keepdims") != std::string::npos);
}

}  // namespace relish::testing
