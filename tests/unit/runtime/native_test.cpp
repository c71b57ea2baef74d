// Native functions: who may be called, what goes over and comes back, what is refused. The libraries are
// those of tests/native.
#include <catch2/catch.hpp>
#include <filesystem>

#include "runtime/format.h"
#include "runtime/native.h"
#include "tests/unit/catch_failure.h"
#include "tests/unit/temporary_folder.h"

namespace relish {
namespace {

using testing::bytes_of;
using testing::failure_of;
using testing::rule_of;
using testing::TemporaryFolder;
namespace fs = std::filesystem;

const std::string forms = RELISH_NATIVE_FOLDER "/forms.so";
const std::string linear = RELISH_NATIVE_FOLDER "/linear.so";

NativeFunctions& natives() { return NativeFunctions::instance(); }

Tensor matrix(Shape shape, const std::vector<float>& values) {
  return Tensor::from<float>(std::move(shape), values);
}

Tensor floats(const std::vector<float>& values) {
  return matrix({static_cast<std::int64_t>(values.size())}, values);
}

Value call(const std::string& name, const std::vector<Value>& args = {}) {
  std::vector<NativeArgument> given;
  for (std::size_t i = 0; i < args.size(); ++i) given.push_back(native_argument(args[i], name, i, {}));
  return call_native(name, given, {});
}

struct OptedIn {
  OptedIn() {
    natives().opt_in(forms);
    natives().opt_in(linear);
  }
  ~OptedIn() { natives().clear(); }
};

TEST_CASE("native: no function without its library") {
  CHECK(failure_of([] { call("env.linear"); }) ==
        "PolicyError: native function 'env.linear' is not opted in; expected its library with --native");
  OptedIn opted;
  CHECK(failure_of([] { call("env.lineal"); }) ==
        "PolicyError: native function 'env.lineal' is not opted in; no library named with --native defines "
        "'__tvm_ffi_env_lineal'");
  for (const char* name : {"system", "execve", "dlopen", "getenv", "malloc", "env_linear()", ""}) {
    CHECK(rule_of([&] { call(name); }) == "PolicyError: native.unknown");
  }
}

TEST_CASE("native: tensors go over and destinations come back") {
  OptedIn opted;
  Tensor y = Tensor::zeros(DType::Float32, {1, 2});
  Tensor x = matrix({1, 3}, {1, 2, 3});
  Tensor w = matrix({3, 2}, {1, 0, 0, 1, 1, 1});
  CHECK(call("env.linear", {x, w, floats({10, 20}), y}).is_void());
  CHECK(format_tensor(y) == "float32 (1, 2)\n[[14, 25]]");
  CHECK(failure_of([&] { call("env.linear", {x, x, floats({10, 20}), y}); }) ==
        "RuntimeError: native function 'env.linear': ValueError: the shapes of x, w, b and y do not fit");
  Tensor least = Tensor::zeros(DType::Float32, {});
  Tensor greatest = Tensor::zeros(DType::Float32, {});
  call("env.extremes", {floats({3, -1, 7}), least, greatest});
  CHECK(least.get_double(0) == -1);
  CHECK(greatest.get_double(0) == 7);
}

TEST_CASE("native: numbers, bools, strings and shapes as arguments") {
  OptedIn opted;
  Tensor y = Tensor::zeros(DType::Float32, {2});
  auto affine = [&](bool negate, const std::string& how) {
    call("env.affine", {floats({1, 2}), ScalarValue::of_real(1.5), ScalarValue::of_int(-3),
                        ScalarValue::of_bool(negate), how, y});
    return format_tensor(y);
  };
  CHECK(affine(false, "scale") == "float32 (2,)\n[1.5,   3]");
  CHECK(affine(true, "shift") == "float32 (2,)\n[2, 1]");
  CHECK(failure_of([&] { affine(false, "turn"); }) ==
        "RuntimeError: native function 'env.affine': ValueError: unknown mode 'turn'");
  CHECK(call("env.volume", {ShapeValue{{2, 3, 4}}}).scalar().integer == 24);
  CHECK(call("env.count", {Value(), ShapeValue{{}}, floats({})}).scalar().integer == 3);
  CHECK(rule_of([&] { call("env.count", {Value::tuple({Value()})}); }) == "RuntimeError: native.argument");
  CHECK(rule_of([&] { call("env.count", {std::string("a\0b", 3)}); }) == "RuntimeError: native.argument");
}

TEST_CASE("native: every dtype has the code of the interface") {
  OptedIn opted;
  const std::pair<DType, int> codes[] = {
      {DType::Bool, 6008},   {DType::Int8, 8},       {DType::Int16, 16},      {DType::Int32, 32},
      {DType::Int64, 64},    {DType::UInt8, 1008},   {DType::UInt16, 1016},   {DType::UInt32, 1032},
      {DType::UInt64, 1064}, {DType::Float16, 2016}, {DType::BFloat16, 4016}, {DType::Float32, 2032},
      {DType::Float64, 2064}};
  static_assert(std::size(codes) == dtype_count);
  for (const auto& [dtype, code] : codes)
    CHECK(call("env.element", {Tensor::zeros(dtype, {1})}).scalar().integer == code);
}

TEST_CASE("native: results") {
  OptedIn opted;
  CHECK(call("env.total", {floats({1, 2.5})}).scalar().real == 3.5);
  CHECK(call("env.greeting").string() == "hello");
  const std::int64_t before = call("env.released_rows").scalar().integer;
  Value row = call("env.row");
  CHECK(format_tensor(row.tensor()) == "float32 (3,)\n[1, 2, 3]");
  CHECK(call("env.released_rows").scalar().integer == before + 1);
  Tensor x = floats({1, 2});
  Value doubled = call("env.double_inplace", {x});
  CHECK(format_tensor(doubled.tensor()) == "float32 (2,)\n[2, 4]");
  CHECK(rule_of([] { call("env.strange"); }) == "RuntimeError: native.result");
}

TEST_CASE("native: failures") {
  OptedIn opted;
  CHECK(failure_of([] { call("env.fail"); }) ==
        "RuntimeError: native function 'env.fail': RuntimeError: the device is on fire");
  // What was raised before is not told again.
  CHECK(failure_of([] { call("env.fail_silently"); }) ==
        "RuntimeError: native function 'env.fail_silently': returned 7 and gave no reason");
}

TEST_CASE("native: one symbol under another name") {
  natives().opt_in("my.eleven=" + forms + ":other_name");
  CHECK(call("my.eleven").scalar().integer == 11);
  natives().opt_in("env.total=" + forms);
  CHECK(call("env.total", {floats({1})}).scalar().real == 1);
  CHECK(rule_of([] { call("env.count"); }) == "PolicyError: native.unknown");
  CHECK(rule_of([] { natives().opt_in("my.eleven=" + forms + ":other_name"); }) ==
        "UsageError: native.twice");
  CHECK(failure_of([] { natives().opt_in("env.x=" + forms + ":nothing"); }) ==
        "UsageError: " + forms + ": --native env.x: the library defines no function 'nothing'");
  // Functions of the C library are in reach of the loader, but not of this option.
  CHECK(rule_of([] { natives().opt_in("env.x=" + forms + ":system"); }) == "UsageError: native.symbol");
  natives().clear();
}

TEST_CASE("native: libraries that others could change are refused") {
  TemporaryFolder folder;
  const std::string path = folder.put("lib.so", bytes_of(forms));
  auto rule = [&](const std::string& library) {
    const std::string found = rule_of([&] { natives().opt_in(library); });
    natives().clear();
    return found;
  };
  fs::permissions(path, fs::perms(0644));
  CHECK(rule(path) == "no failure");
  fs::permissions(path, fs::perms(0664));
  CHECK(failure_of([&] { natives().opt_in(path); }) ==
        "PolicyError: " + path + ": the library is writable by a group; expected by its owner alone");
  fs::permissions(path, fs::perms(0646));
  CHECK(failure_of([&] { natives().opt_in("a.b=" + path + ":other_name"); }).find("writable by everybody") !=
        std::string::npos);
  fs::permissions(path, fs::perms(0644));
  for (int mode : {0770, 0707, 01777}) {
    fs::permissions(folder.path(), fs::perms(mode));
    CHECK(rule(path) == "PolicyError: native.writable");
  }
  fs::permissions(folder.path(), fs::perms(0700));
  // A link in a folder of others is no better than a library there.
  const std::string open_folder = folder.file("open");
  fs::create_directory(open_folder);
  fs::create_symlink(path, open_folder + "/link.so");
  CHECK(rule(open_folder + "/link.so") == "no failure");
  fs::permissions(open_folder, fs::perms(0777));
  CHECK(rule(open_folder + "/link.so") == "PolicyError: native.writable");
}

TEST_CASE("native: what is no library") {
  TemporaryFolder folder;
  CHECK(failure_of([&] { natives().opt_in(folder.file("none.so")); }) ==
        "IOError: " + folder.file("none.so") + ": cannot open: No such file or directory");
  CHECK(rule_of([&] { natives().opt_in(folder.put("text.so", "hello")); }) == "IOError: native.library");
  CHECK(rule_of([&] { natives().opt_in(folder.path()); }) == "IOError: native.library");
  CHECK(rule_of([&] { natives().opt_in(""); }) == "IOError: native.library");
}

TEST_CASE("native: the manual's example is the one that is tested") {
  const std::string manual = bytes_of(RELISH_SOURCE_DIR "/docs/native.md");
  const std::string source = bytes_of(RELISH_SOURCE_DIR "/tests/native/linear.c");
  CHECK(!source.empty());
  CHECK(manual.find("```c\n" + source + "```") != std::string::npos);
}

}  // namespace
}  // namespace relish
