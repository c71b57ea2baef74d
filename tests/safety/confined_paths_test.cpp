// No script touches a file outside its folder, by any command and any option. The attempts are made from the
// registry of commands, so that a new one is tried as soon as it is there: one without an entry in the table
// of calls fails the test.
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "shell/command.h"
#include "tests/generate/random.h"
#include "tests/safety/program.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

namespace fs = std::filesystem;
using generate::Random;

// A call that is right, so that an option that is changed in it is reached.
struct Call {
  std::string subject;
  std::map<std::string, std::string> options;
  std::string tier = "interp";  // whose programs start soonest
};

const std::map<std::string, Call>& right_calls() {
  const std::string arg = "{\"x\": x, \"w\": w}";
  static const std::map<std::string, Call> calls = {
      {"run", {"\"other.relish\"", {}}},
      {"call", {"M.main", {{"arg", arg}}}},
      {"check", {"M", {}}},
      {"fmt", {"M", {}}},
      {"type", {"M.main", {}}},
      {"gradient", {"M.scalar", {}}},
      {"vjp", {"M.main", {}}},
      {"jvp", {"M.main", {}}},
      {"hvp", {"M.scalar", {}}},
      {"jacobian", {"M.main", {}}},
      {"bind_params", {"M.main", {{"set", "{\"w\": w}"}}}},
      {"append_loss", {"M.main", {{"loss", "\"mse\""}}}},
      {"optimizer", {"M.main", {{"optimizer", "\"sgd(lr=0.1)\""}}}},
      {"setup_trainer", {"M.main", {{"loss", "\"mse\""}, {"optimizer", "\"sgd(lr=0.1)\""}}}},
      {"decompose", {"M.main", {{"mode", "\"training\""}}}},
      {"legalize", {"M", {}}},
      {"fuse", {"M", {}}},
      {"lower", {"M", {{"to", "\"schedule\""}}}},
      {"schedule", {"M", {}}},
      {"dce", {"M", {}}},
      {"fold", {"M", {}}},
      {"simplify", {"M", {}}},
      {"canonicalize", {"M", {}}},
      {"cse", {"M", {}}},
      {"unroll", {"M", {}}},
      {"inline", {"M", {}}},
      {"to_dataflow", {"M", {}}},
      {"lambda_lift", {"M", {}}},
      {"expand_tuples", {"M", {}}},
      {"lift_params", {"M", {}}},
      {"dead_parameters", {"M", {}}},
      {"normalize", {"M", {}}},
      {"topological_sort", {"M", {}}},
      {"bind_symbols", {"M.main", {}}},
      {"passes", {"M.main", {{"passes", "\"legalize\""}}}},
      {"train",
       {"M.main",
        {{"data", "(x, y)"}, {"loss", "\"mse\""}, {"optimizer", "\"sgd(lr=0.1)\""}, {"steps", "1"}}}},
      {"evaluate",
       {"M.main",
        {{"data", "(x, y)"}, {"params", "{\"w\": w}"}, {"loss", "\"mse\""}, {"metrics", "[\"loss\"]"}}}},
      {"predict", {"M.main", {{"data", "x"}, {"params", "{\"w\": w}"}}}},
      {"runs", {"\"job\"", {}}},
      {"plot", {"\"job\"", {}}},
      {"time", {"M.main", {{"arg", arg}, {"runs", "1"}}}},
      {"profile", {"M.main", {{"arg", arg}, {"runs", "1"}}, "jit"}},
      {"memory", {"M.main", {{"arg", arg}}, "jit"}},
      {"llvm", {"M.main", {{"unoptimized", "True"}}, "jit"}},
      {"asm", {"M.main", {}, "jit"}},
      {"compare_tiers", {"M.main", {{"arg", arg}}, "jit"}},
      {"machine", {"", {}}},
      {"cache", {"", {}}},
      {"check_gradients", {"M.scalar", {{"arg", arg}}}},
      {"load", {"\"x.npy\"", {}}},
      {"save", {"x, \"saved.npy\"", {}}},
      {"ops", {"\"add\"", {}}},
      {"doc", {"\"add\"", {}}},
      {"help", {"\"call\"", {}}},
      {"version", {"", {}}},
  };
  return calls;
}

bool names_a_path(OptionKind kind) {
  return kind == OptionKind::Tensors || kind == OptionKind::InputFile || kind == OptionKind::OutputFile ||
         kind == OptionKind::OutputFolder;
}

std::string text_of(const std::string& command, const Call& call) {
  std::string text = command + "(" + call.subject;
  for (const auto& [name, value] : call.options)
    text += (text.ends_with("(") ? "" : ", ") + name + "=" + value;
  return text + ")\n";
}

const char* const prelude =
    "M = load(\"m.relish\")\n"
    "x = ones((8, 3))\n"
    "y = ones((8, 1))\n"
    "w = ones((3, 1))\n";

const char* const model =
    "@I.ir_module\n"
    "class M:\n"
    "    @R.function\n"
    "    def main(x: R.Tensor((8, 3), \"float32\"), w: R.Tensor((3, 1), \"float32\")):\n"
    "        return R.matmul(x, w)\n"
    "    @R.function\n"
    "    def scalar(x: R.Tensor((8, 3), \"float32\"), w: R.Tensor((3, 1), \"float32\")):\n"
    "        return R.sum(R.matmul(x, w))\n";

// The folder of a script, and beside it what it must not touch.
class Place {
 public:
  Place() {
    fs::create_directories(box() + "/sub");
    fs::create_directory(outside());
    folder_.put("box/m.relish", model);
    folder_.put("box/other.relish", "print(1)\n");
    fs::create_directory(box() + "/job");
    folder_.put("box/job/report.json", R"({"status": "finished", "steps": 2})");
    folder_.put("box/job/metrics.jsonl", "{\"step\":1,\"loss\":0.5}\n{\"step\":2,\"loss\":0.25}\n");
    run("save(ones((8, 3)), \"x.npy\")\nsave(ones((8, 1)), \"y.npy\")\nsave({\"w\": ones((3, 1))}, "
        "\"w.npz\")\n");
    for (const char* name : {"x.npy", "y.npy", "w.npz", "m.relish"})
      fs::copy_file(box() + "/" + name, outside() + "/" + name);
    fs::create_directory(outside() + "/runs");
    fs::create_symlink("../outside", box() + "/lnk");
    for (const char* name : {"x.npy", "w.npz", "m.relish"}) {
      fs::create_symlink(std::string("../outside/") + name, box() + "/link-" + name);
      fs::create_hard_link(outside() + "/" + name, box() + "/hard-" + name);
    }
    ::mkfifo((box() + "/pipe.npy").c_str(), 0600);
    watch_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    constexpr std::uint32_t touched =
        IN_ACCESS | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_ATTRIB;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(outside()))
      ::inotify_add_watch(watch_, entry.path().c_str(), touched);
    ::inotify_add_watch(watch_, outside().c_str(), touched);
    before_ = everything();
    drain();
  }
  ~Place() { ::close(watch_); }
  Place(const Place&) = delete;

  std::string box() const { return folder_.file("box"); }
  std::string outside() const { return folder_.file("outside"); }

  TrialResult run(const std::string& text, const std::string& tier = "interp") const {
    folder_.put("box/s.relish", text);
    return run_trial({{"run", "s.relish", "--tier", tier}, box()});
  }

  // Whether something outside was read or written since the last question, or a source of the box changed.
  bool touched() {
    const bool any = drain();
    const std::map<std::string, std::string> now = everything();
    const bool changed = now != before_;
    before_ = now;
    drain();  // looking at the folder is an access too
    return any || changed;
  }

  // The paths that lead out, in all their spellings.
  std::vector<std::string> ways_out() const {
    std::vector<std::string> ways;
    for (const std::string name : {"x.npy", "w.npz", "m.relish", "new.npz", "runs"}) {
      for (const std::string& folder :
           {std::string("../outside/"), outside() + "/", std::string("lnk/"), std::string("./lnk/"),
            std::string("sub/../lnk/"), std::string("sub/../../outside/"),
            std::string("/proc/self/cwd/../outside/"), "/proc/self/root" + outside() + "/",
            "/" + outside() + "/", box() + "/lnk/", box() + "/../outside/", box() + "/sub/../lnk/"})
        ways.push_back(folder + name);
      ways.push_back("lnk/" + name + ":w");
      ways.push_back("../outside/" + name + "\\0.npz");
    }
    for (const char* name : {"link-x.npy", "link-w.npz", "link-m.relish", "hard-x.npy", "hard-w.npz",
                             "hard-m.relish", "link-w.npz:w", "link-w.npz:w:x", "pipe.npy", "lnk", "..",
                             "m.relish\\0.npy", "m.relish\\0.npz", "w.npz\\0", "other.relish\\0x"})
      ways.emplace_back(name);
    return ways;
  }

 private:
  // Whether there was any event.
  bool drain() const {
    char events[4096];
    bool any = false;
    while (::read(watch_, events, sizeof events) > 0) any = true;
    return any;
  }

  // The bytes of the files outside, and of the sources in the box but the script itself.
  std::map<std::string, std::string> everything() const {
    std::map<std::string, std::string> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(outside())) {
      struct stat info = {};
      ::lstat(entry.path().c_str(), &info);
      files[entry.path()] = std::to_string(info.st_ino) + " " + std::to_string(info.st_size) + " " +
                            std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec);
    }
    for (const char* name : {"m.relish", "other.relish"}) files[name] = bytes_of(box() + "/" + name);
    return files;
  }

  TemporaryFolder folder_;
  int watch_ = -1;
  std::map<std::string, std::string> before_;
};

// How a path may stand in a value.
std::vector<std::string> values_with(const std::string& path) {
  const std::string text = "\"" + path + "\"", file = "\"@" + path + "\"";
  return {text,
          file,
          "(" + text + ", " + text + ")",
          "[" + text + ", \"y.npy\"]",
          "{\"w\": " + text + "}",
          "{\"w\": " + file + "}",
          "[\"w=@" + path + "\"]",
          "\"bind_params(params='" + path + "')\"",
          "\"bind_params(set=['w=@" + path + "'])\""};
}

struct Attempt {
  std::string text;
  bool must_be_refused = false;  // the option names a path and nothing else
  std::string tier = "interp";
};

// Every command and option with every way out, in every form.
std::vector<Attempt> attempts(const Place& place) {
  std::vector<Attempt> result;
  const std::vector<std::string> ways = place.ways_out();
  for (const Command* command : all_commands()) {
    if (!(command->surfaces & in_scripts)) continue;
    const std::string name(command->name);
    const auto found = right_calls().find(name);
    INFO("the command " << name << " has no entry here");
    REQUIRE(found != right_calls().end());
    for (const std::string& way : ways) {
      const std::string text = "\"" + way + "\"";
      Call call = found->second;
      for (const std::string& subject : {text, "x, " + text, "M, " + text, "{\"w\": w}, " + text}) {
        call.subject = subject;
        result.push_back({prelude + text_of(name, call), false, call.tier});
      }
      if (name == "load") {
        result.push_back(
            {std::string(prelude) + "lib = load(" + text +
             ")\n@R.function\ndef f(x: R.Tensor((8, 3), \"float32\")):\n    return lib.main(x, x)\n"});
      }
      for (const Option& option : command->options) {
        if (!(option.surfaces & in_scripts)) continue;
        for (const std::string& value : values_with(way)) {
          Call changed = found->second;
          changed.options[std::string(option.name)] = value;
          result.push_back(
              {prelude + text_of(name, changed), names_a_path(option.kind) && value == text, changed.tier});
        }
      }
    }
  }
  return result;
}

void check_attempt(Place& place, const Attempt& attempt) {
  const TrialResult result = place.run(attempt.text, attempt.tier);
  INFO(attempt.text << result.messages);
  CHECK_FALSE(place.touched());
  CHECK(result.exit_code != 70);
  CHECK(result.signal == 0);
  if (attempt.must_be_refused) CHECK(result.exit_code == 10);
}

TEST_CASE("a right call of every command is right, and its paths are reached") {
  Place place;
  for (const Command* command : all_commands()) {
    if (!(command->surfaces & in_scripts)) continue;
    const std::string name(command->name);
    const auto found = right_calls().find(name);
    INFO("the command " << name << " has no entry here");
    REQUIRE(found != right_calls().end());
    const TrialResult plain = place.run(prelude + text_of(name, found->second), found->second.tier);
    INFO(text_of(name, found->second) << plain.messages);
    CHECK(plain.exit_code == 0);
    for (const Option& option : command->options) {
      if (!(option.surfaces & in_scripts) || !names_a_path(option.kind)) continue;
      Call call = found->second;
      call.options[std::string(option.name)] = option.kind == OptionKind::OutputFolder ? "\"made\""
                                               : name == "plot"                        ? "\"made.svg\""
                                               : option.kind == OptionKind::OutputFile ? "\"made.npz\""
                                                                                       : "\"w.npz\"";
      if (option.name == "params") {
        call.options.erase("set");
        if (call.options.count("arg")) call.options["arg"] = "{\"x\": x}";
      }
      if (option.name == "expect") continue;  // its values are those of a call
      const TrialResult result = place.run(prelude + text_of(name, call), call.tier);
      INFO(text_of(name, call) << result.messages);
      CHECK(result.exit_code == 0);
    }
  }
  CHECK_FALSE(place.touched());
  CHECK(fs::exists(place.box() + "/made"));
  CHECK(fs::exists(place.box() + "/made.npz"));
}

TEST_CASE("a script's own folder and those of its jobs are named by absolute paths too") {
  const TemporaryFolder folder;
  fs::create_directories(folder.file("job/sub"));
  fs::create_directories(folder.file("job/other"));
  const auto run = [&](const std::string& text, std::vector<std::string> options = {}) {
    folder.put("job/s.relish", text);
    options.insert(options.begin(), {"run", "job/s.relish", "--tier", "interp"});
    return run_trial({options, folder.file(".")});
  };
  const std::string kept = "save(ones((2,)), path)\nprint(load(path))\n";
  for (const char* name : {"/a.npy", "/sub/a.npy", "/./sub//a.npy"}) {
    const TrialResult result = run("path = \"" + folder.file("job") + name + "\"\n" + kept);
    INFO(result.messages);
    CHECK(result.exit_code == 0);
  }
  CHECK(fs::exists(folder.file("job/a.npy")));
  // The folder above it is another one, and so is one whose name begins alike.
  for (const char* name : {"a.npy", "job/../a.npy", "jobs/a.npy"})
    CHECK(run("path = \"" + folder.file(name) + "\"\n" + kept).exit_code == 10);

  // What a job says of its folder, from wherever the script is run and whoever named it.
  const std::string job =
      "@R.function\n"
      "def main(x: R.Tensor((\"n\", 2), \"float32\"), w: R.Tensor((2, 1), \"float32\")):\n"
      "    return R.matmul(x, w)\n"
      "def trained(**more):\n"
      "    return train(main, data=(ones((4, 2)), ones((4, 1))), loss=\"mse\", optimizer=\"sgd(lr=0.1)\", "
      "steps=1, **more)[\"run_dir\"] + \"/mine.npy\"\n"
      "path = trained()\n" +
      kept + "path = trained()\n" + kept;
  const std::string away = folder.file("away");
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {"--run-dir", "near"}, {"--run-dir", away}}) {
    const TrialResult result = run(job, options);
    INFO(result.messages);
    CHECK(result.exit_code == 0);
    const std::string made = options.empty()        ? folder.file("runs/s-1")
                             : options[1] == "near" ? folder.file("near")
                                                    : away;
    CHECK(fs::exists(made + "/mine.npy"));
    CHECK(fs::exists(made + "/job-2/mine.npy"));
  }
  const TrialResult named = run(job + "path = trained(run_dir=\"other/of-it\")\n" + kept);
  INFO(named.messages);
  CHECK(named.exit_code == 0);
  CHECK(fs::exists(folder.file("job/other/of-it/mine.npy")));
}

TEST_CASE("what a script does outside is seen by this test") {
  Place place;
  CHECK_FALSE(place.touched());
  bytes_of(place.outside() + "/x.npy");
  CHECK(place.touched());
  CHECK_FALSE(place.touched());
  std::ofstream(place.outside() + "/new") << "x";
  CHECK(place.touched());
}

TEST_CASE("200 random scripts touch nothing outside their folder") {
  Place place;
  const std::vector<Attempt> all = attempts(place);
  Random random(42);
  for (int i = 0; i < 200; ++i) check_attempt(place, random.pick(all));
}

TEST_CASE("options that are a path refuse every way out") {
  Place place;
  std::vector<Attempt> some = attempts(place);
  std::erase_if(some, [](const Attempt& attempt) { return !attempt.must_be_refused; });
  CHECK(some.size() > 100);
  Random random(43);
  for (int i = 0; i < 100; ++i) check_attempt(place, random.pick(some));
}

TEST_CASE("every option that is a path refuses every way out, and 4,000 scripts touch nothing", "[full]") {
  Place place;
  const std::vector<Attempt> all = attempts(place);
  for (const Attempt& attempt : all)
    if (attempt.must_be_refused) check_attempt(place, attempt);
  Random random(44);
  for (int i = 0; i < 4000; ++i) check_attempt(place, random.pick(all));
}

TEST_CASE("a path of a batch of calls is not cut off") {
  Place place;
  const std::string before = bytes_of(place.box() + "/m.relish");
  for (const char* fields :
       {"\"out\": \"m.relish\\u0000.npz\"", "\"params\": \"w.npz\\u0000\"", "\"expect\": \"w.npz\\u0000x\"",
        "\"arg\": {\"x\": \"@x.npy\\u0000\", \"w\": \"ones\"}"}) {
    std::ofstream(place.box() + "/calls.jsonl")
        << "{\"file\": \"m.relish\", \"function\": \"main\", " << fields
        << (std::string(fields).starts_with("\"arg") ? "" : ", \"arg\": {\"x\": \"ones\", \"w\": \"ones\"}")
        << "}\n";
    const TrialResult result =
        run_trial({{"call", "--batch", "calls.jsonl", "--tier", "interp"}, place.box()});
    INFO(fields << "\n" << result.messages);
    CHECK(result.exit_code == 10);
    CHECK(bytes_of(place.box() + "/m.relish") == before);
  }
}

TEST_CASE("what the command line gives is opened, and only that") {
  Place place;
  const auto with_set = [&](const std::string& text, std::vector<std::string> more) {
    std::ofstream(place.box() + "/s.relish") << text;
    std::vector<std::string> words = {"run", "s.relish", "--tier", "interp"};
    words.insert(words.end(), more.begin(), more.end());
    return run_trial({words, place.box()}).exit_code;
  };
  const std::string given = "d = arg(\"d\", \"\")\n";
  const std::string loads = given + "print(load(d).shape)\n";
  CHECK(with_set(loads, {"--set", "d=../outside/x.npy"}) == 0);
  CHECK(with_set(loads, {"--set", "d=" + place.outside() + "/x.npy"}) == 0);
  CHECK(with_set(loads, {"--set", "d=link-x.npy"}) == 0);
  CHECK(with_set(given + "load(d + \"/x.npy\")\n", {"--set", "d=../outside"}) == 0);
  // Not what climbs out of it again, and not everything because a slash was given.
  CHECK(with_set(given + "load(d + \"/../elsewhere/x.npy\")\n", {"--set", "d=" + place.outside()}) == 10);
  CHECK(with_set(given + "load(\"" + place.outside() + "/x.npy\")\n", {"--set", "d=/"}) == 10);
  CHECK(with_set("load(\"" + place.outside() + "/x.npy\")\n", {"--root", place.outside()}) == 0);
  CHECK(with_set("save(load(\"x.npy\"), \"lnk/made.npy\")\n", {"--root", "lnk"}) == 0);
  CHECK(with_set("save(load(\"x.npy\"), \"lnk/../../made.npy\")\n", {"--root", "lnk"}) == 10);
  fs::create_symlink(place.box(), place.outside() + "/back");
  CHECK(with_set("load(\"" + place.outside() + "/back/x.npy\")\n", {"--root", place.outside()}) == 10);
}

}  // namespace
}  // namespace relish::testing
