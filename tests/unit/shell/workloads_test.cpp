// The workloads of bench/, forward and as steps of training, behind each pass of the compiled tier: a text
// that reads back as it was printed and verifies. Made narrow, they also run from the text of each pass, in
// the interpreter, with the results of the workload as it was written.
#include <catch2/catch.hpp>

#include <fstream>
#include <map>
#include <sstream>

#include "frontend/reader.h"
#include "interp/interpreter.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "jit/jit.h"
#include "tests/golden/tolerance.h"
#include "tests/unit/shell/script_harness.h"

namespace relish::testing {
namespace {

// A text of bench/ without the statements that time it.
std::string workload(const std::string& name) {
  std::ifstream file(std::string(RELISH_SOURCE_DIR) + "/bench/" + name + ".relish");
  REQUIRE(file.good());
  std::stringstream text;
  std::string line;
  while (std::getline(file, line) && !line.starts_with("t = time(") && !line.starts_with("print("))
    text << line << "\n";
  return text.str();
}

constexpr const char* passes[] = {"legalize", "fuse", "schedule", "plan"};

TEST_CASE("the text of a workload behind each pass reads back and verifies") {
  const std::pair<const char*, const char*> workloads[] = {
      {"w1", "Products"}, {"w2", "Classifier"}, {"w3", "S"},        {"w4", "S"},
      {"w5", "S"},        {"w6", "S"},          {"w7", "Movement"}, {"w8", "Logistic"}};
  for (const auto& [name, module] : workloads) {
    Harness harness;
    CAPTURE(name);
    const Ran read = harness.run(workload(name));
    REQUIRE(read.error == "");
    for (const char* pass : passes) {
      CAPTURE(pass);
      const Ran lowered = harness.run(fmt::format("print(lower({}, to=\"{}\"))\n", module, pass));
      REQUIRE(lowered.error == "");
      const ModulePtr again = read_module("again.relish", lowered.output);
      Diagnostics problems;
      verify(*again, problems);
      CHECK(!problems.has_errors());
      CHECK(print(*again) == lowered.output);
    }
  }
}

using Sizes = std::map<std::string, std::string>;

// The text with other numbers for sizes; each is replaced where it stands alone.
std::string with_sizes(const std::string& text, const Sizes& sizes) {
  std::string result, number;
  const auto end_of_number = [&] {
    const auto found = sizes.find(number);
    result += found == sizes.end() ? number : found->second;
    number.clear();
  };
  for (const char c : text) {
    const bool word = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    if (word) {
      number += c;
    } else {
      end_of_number();
      result += c;
    }
  }
  end_of_number();
  return result;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Numbers in [-1, 1) that a float32 holds; integers are 0.
// `open`: sizes for the symbols of the parameters, each its own.
Value value_of_type(const Type& type, std::uint64_t& state, std::map<std::uint64_t, std::int64_t>& open) {
  if (const auto* tuple = type.as<TupleType>()) {
    std::vector<Value> fields;
    for (const Type& field : tuple->fields) fields.push_back(value_of_type(field, state, open));
    return Value::tuple(std::move(fields));
  }
  const auto* tensor = type.as<TensorType>();
  REQUIRE(tensor != nullptr);
  Shape shape;
  for (const Scalar& dim : *tensor->shape) {
    const auto symbol = dim.as_var();
    const auto size = static_cast<std::int64_t>(19 + 8 * open.size());
    shape.push_back(symbol ? open.try_emplace(symbol->id(), size).first->second : dim.as_int().value());
  }
  Tensor made = Tensor::zeros(*tensor->dtype, std::move(shape));
  for (std::int64_t i = 0; is_float(made.dtype()) && i < made.size(); ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    made.set_double(i, static_cast<double>(static_cast<std::int32_t>(state >> 40) - (1 << 23)) / (1 << 23));
  }
  return made;
}

Value widened(const Value& value) {
  if (value.is_tuple()) {
    std::vector<Value> fields;
    for (const Value& field : value.fields()) fields.push_back(widened(field));
    return Value::tuple(std::move(fields));
  }
  if (!value.is_tensor() || !is_float(value.tensor().dtype())) return value;
  Tensor wide = Tensor::zeros(DType::Float64, value.tensor().shape());
  for (std::int64_t i = 0; i < wide.size(); ++i) wide.set_double(i, value.tensor().get_double(i));
  return wide;
}

// What a result is allowed beside the one of the text as it was written, as for whole programs: eight times
// what rounding to float32 makes of it, or what its last operator is allowed.
struct Furthest {
  double distance = 0, allowed = 0;  // of the element that comes nearest to what is allowed
};
void look_at(const Value& found, const Value& wanted, const Value& wide, Furthest& furthest) {
  if (wanted.is_tuple()) {
    REQUIRE(found.fields().size() == wanted.fields().size());
    for (std::size_t i = 0; i < wanted.fields().size(); ++i)
      look_at(found.fields()[i], wanted.fields()[i], wide.fields()[i], furthest);
    return;
  }
  const Tensor &a = found.tensor(), &b = wanted.tensor(), &exact = wide.tensor();
  REQUIRE(a.dtype() == b.dtype());
  REQUIRE(a.shape() == b.shape());
  double spread = 0;
  for (std::int64_t i = 0; i < b.size(); ++i)
    spread = std::max(spread, std::abs(b.get_double(i) - exact.get_double(i)));
  const Closeness last = closeness(6, b.dtype());
  for (std::int64_t i = 0; i < b.size(); ++i) {
    const double distance = std::abs(a.get_double(i) - b.get_double(i));
    const double allowed = 8 * std::max(spread, last.rtol * std::abs(b.get_double(i)) + last.atol);
    if (!(distance * furthest.allowed <= furthest.distance * allowed) || furthest.allowed == 0)
      furthest = {distance, allowed};
    CHECK(distance <= allowed);
  }
}

bool same_bits(const Value& a, const Value& b) {
  if (!a.is_tuple()) return identical(a.tensor(), b.tensor());
  for (std::size_t i = 0; i < a.fields().size(); ++i)
    if (!same_bits(a.fields()[i], b.fields()[i])) return false;
  return true;
}

// Functions of the module in the workload, as they were written in the interpreter, against the interpreter
// on the text behind each pass, and compiled code on any number of threads.
void check_workload(const std::string& name, const std::string& module, const std::string& only,
                    const Sizes& sizes) {
  CAPTURE(name);
  Harness harness;
  const std::string calls_of_loops =
      name != "w1"
          ? ""
          : "    @R.function\n"
            "    def by_hand(a: R.Tensor((512, 512), \"float32\"), b: R.Tensor((512, 512), \"float32\")):\n"
            "        y = R.call_tir(Products.naive_512, (a, b), out_ty=R.Tensor((512, 512), \"float32\"))\n"
            "        return y\n";
  REQUIRE(harness.run(with_sizes(workload(name) + calls_of_loops, sizes)).error == "");
  const auto text_of = [&](const std::string& what) {
    const Ran ran = harness.run(fmt::format("print({})\n", what));
    REQUIRE(ran.error == "");
    return ran.output;
  };
  const std::string written = text_of(module);
  const ModulePtr program = read_module("written.relish", written);
  const ModulePtr wide = read_module(
      "wide.relish", replaced(replaced(written, "\"float32\"", "\"float64\""), "T.float32(", "T.float64("));
  std::vector<std::pair<std::string, ModulePtr>> lowered;
  for (const char* pass : passes)
    lowered.emplace_back(
        pass, read_module("lowered.relish", text_of(fmt::format("lower({}, to=\"{}\")", module, pass))));
  const auto reference = make_interpreter();
  const auto one = make_jit({.threads = 1}), two = on_threads(*one, 2);
  for (const GlobalFunction& each : program->functions) {
    const auto* function = std::get_if<FunctionPtr>(&each);
    if (!function || (!only.empty() && (*function)->name != only)) continue;
    const std::string& entry = (*function)->name;
    CAPTURE(entry);
    std::uint64_t state = 1;
    std::vector<Value> args, wide_args;
    std::map<std::uint64_t, std::int64_t> open;
    for (const Var& param : (*function)->params) args.push_back(value_of_type(param.type(), state, open));
    for (const Value& arg : args) wide_args.push_back(widened(arg));
    const Value wanted = reference->call(program, entry, args),
                exact = reference->call(wide, entry, wide_args);
    Furthest furthest;
    for (const auto& [pass, text] : lowered) {
      CAPTURE(pass);
      look_at(reference->call(text, entry, args), wanted, exact, furthest);
    }
    const Value compiled = one->call(program, entry, args);
    look_at(compiled, wanted, exact, furthest);
    CHECK(same_bits(two->call(program, entry, args), compiled));
    SUCCEED(fmt::format("{} {}: {:.2g} of {:.2g}", name, entry, furthest.distance, furthest.allowed));
  }
}

TEST_CASE("a workload from the text of each pass is the workload as it was written") {
  check_workload("w1", "Products", "",
                 {{"64", "33"},
                  {"128", "19"},
                  {"256", "40"},
                  {"512", "35"},
                  {"1024", "24"},
                  {"2048", "21"},
                  {"784", "37"}});
  const Sizes perceptron{{"64", "5"}, {"784", "37"}, {"128", "19"}};
  check_workload("w2", "Classifier", "", perceptron);
  check_workload("w3", "S", "train_step", perceptron);
  const Sizes lenet{{"64", "6"}, {"32", "4"}, {"28", "12"}, {"3136", "54"}, {"128", "17"}};
  check_workload("w4", "LeNet", "", lenet);
  check_workload("w4", "S", "train_step", lenet);
  const Sizes resnet{{"32", "8"}, {"64", "4"}, {"128", "6"}, {"256", "7"}, {"512", "9"}};
  check_workload("w5", "ResNet", "infer", resnet);
  check_workload("w5", "S", "train_step", resnet);
  const Sizes encoder{{"8", "2"}, {"128", "9"}, {"256", "32"}, {"768", "96"}, {"1024", "40"}, {"64", "8"}};
  check_workload("w6", "Encoder", "", encoder);
  check_workload("w6", "S", "train_step", encoder);
  check_workload("w7", "Movement", "", {{"4194304", "1000"}, {"4096", "9"}, {"1024", "37"}});
  check_workload("w8", "Logistic", "", {{"10000", "130"}});
}

TEST_CASE("a step of the convolutional net as large as it is", "[.][full]") {
  check_workload("w4", "S", "train_step", {});
}

}  // namespace
}  // namespace relish::testing
