// What a job prints while it runs: on a terminal and elsewhere; and the points of a sweep.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <regex>
#include <set>

#include "shell/commands/training/sweep_plan.h"
#include "shell/progress.h"
#include "tests/unit/catch_failure.h"
#include "tests/unit/shell/script_harness.h"
#include "tests/unit/temporary_folder.h"

namespace relish {
namespace {

using testing::rule_of;

StepReport report_at(std::int64_t step, std::int64_t steps, double seconds) {
  StepReport report;
  report.step = step;
  report.total_steps = steps;
  report.epoch = 1;
  report.loss = 0.123456789;
  report.samples = step * 64;
  report.seconds = seconds;
  report.logged = true;
  return report;
}

TEST_CASE("the log of a million steps has less than a megabyte") {
  auto output = std::make_unique<StringOutput>();
  const StringOutput& text = *output;
  Session session({}, std::move(output));
  {
    TrainingProgress progress(session, std::nullopt);
    constexpr std::int64_t steps = 1'000'000;
    for (std::int64_t step = 1; step <= steps; ++step) {
      // Every tenth is logged, a step takes a tenth of a second, an epoch a hundred steps.
      StepReport report = report_at(step, steps, 0.1 * static_cast<double>(step));
      report.epoch = (step - 1) / 100 + 1;
      report.logged = step % 10 == 0 || step == 1;
      progress.on_step(report);
      if (step % 100 == 0)
        progress.on_epoch(
            {report, 0.5, {{"accuracy", 0.123456}}, Metrics{{"accuracy", 0.123456}, {"loss", 0.5}}});
    }
  }
  CHECK(text.text().size() < 1'000'000);
  CHECK(text.text().size() > 100'000);
  CHECK(text.text().find("step 1000000 ") != std::string::npos);
  CHECK(text.text().find("epoch 10000 mean") != std::string::npos);
}

// Standard error as a terminal of 200 columns while it lives.
class TerminalErrors {
 public:
  TerminalErrors() : saved_(::dup(STDERR_FILENO)), host_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    REQUIRE(::grantpt(host_) == 0);
    REQUIRE(::unlockpt(host_) == 0);
    const int terminal = ::open(::ptsname(host_), O_RDWR | O_NOCTTY);
    REQUIRE(terminal >= 0);
    winsize size{};
    size.ws_col = 200;
    size.ws_row = 50;
    ::ioctl(terminal, TIOCSWINSZ, &size);
    ::dup2(terminal, STDERR_FILENO);
    ::close(terminal);
    ::setenv("TERM", "xterm", 1);
  }
  ~TerminalErrors() { restore(); }
  TerminalErrors(const TerminalErrors&) = delete;

  std::string take() {
    ::fcntl(host_, F_SETFL, O_NONBLOCK);
    std::string text;
    char buffer[4096];
    for (ssize_t size = 0; (size = ::read(host_, buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(size));
    restore();
    return text;
  }

 private:
  void restore() {
    if (saved_ < 0) return;
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
    ::close(host_);
    saved_ = -1;
  }
  int saved_, host_;
};

TEST_CASE("a terminal has one live line, whose time left is never negative") {
  auto output = std::make_unique<StringOutput>();
  const StringOutput& plain = *output;
  Session session({}, std::move(output));
  std::string shown;
  {
    TerminalErrors terminal;
    {
      TrainingProgress progress(session, Every{1000, 0});
      // Goes on behind step 900 of 1000, which took others 5000 seconds; its first step compiles for 50.
      for (std::int64_t step = 901; step <= 1000; ++step) {
        const double seconds = 5050 + static_cast<double>(step - 901);
        progress.on_step(report_at(step, 1000, seconds));
        if (step == 950)
          progress.on_epoch(
              {report_at(step, 1000, seconds), 0.5, {}, Metrics{{"accuracy", 0.75}, {"loss", 2}}});
      }
    }
    shown = terminal.take();
  }
  INFO(shown);
  CHECK(shown.find('\n') == std::string::npos);
  CHECK(shown.find("\r 90% step 901/1000 loss 0.123457 ") != std::string::npos);
  // A second a step of 64 samples; the first step, with its compiling, is no part of the pace.
  CHECK(std::regex_search(shown, std::regex("step 950/1000 loss 0.123457 64 samples/s 50s left [0-9]+ MiB")));
  CHECK(shown.find("step 951/1000 loss 0.123457 validation accuracy 0.75 64 samples/s 49s left") !=
        std::string::npos);
  CHECK(shown.find("step 1000/1000") != std::string::npos);
  CHECK(shown.find("-") == std::string::npos);
  CHECK(shown.ends_with("\r\x1b[K"));
  CHECK(plain.text().find("step 1000 epoch 1 loss 0.123457\n") != std::string::npos);
}

TEST_CASE("a loop of statements over a second says on a terminal which round runs") {
  testing::Harness harness(testing::Harness::interpreter());
  std::string shown, quick;
  testing::Ran ran;
  {
    TerminalErrors terminal;
    harness.run("for i in range(1000):\n    n = i\n");
    quick = terminal.take();
  }
  CHECK(quick.empty());
  {
    TerminalErrors terminal;
    ran = harness.run(
        "begin = clock()\n"
        "for i in range(1000000000):\n"
        "    for k in range(100):\n"
        "        n = k\n"
        "    if clock() - begin > 1.3:\n"
        "        break\n");
    shown = terminal.take();
  }
  INFO(shown);
  CHECK(ran.error.empty());
  CHECK(std::regex_search(shown,
                          std::regex("\rloop at line 2: round [0-9]+ of 1000000000, 1s, [0-9hm]+ left")));
  CHECK(shown.find("line 3") == std::string::npos);
  CHECK(shown.ends_with("\r\x1b[K"));
}

TEST_CASE("the report has the options of a job as text, and of a function its name") {
  const testing::TemporaryFolder folder;
  Settings settings = testing::Harness::interpreter();
  settings.roots = {folder.path()};
  testing::Harness harness(settings);
  const testing::Ran ran = harness.run(
      "@R.function\n"
      "def main(x: R.Tensor((4, 1), \"float32\"), w: R.Tensor((1, 1), \"float32\")):\n"
      "    return R.matmul(x, w)\n"
      "@R.function\n"
      "def distance(p: R.Tensor((4, 1), \"float32\"), y: R.Tensor((4, 1), \"float32\")):\n"
      "    return R.mean(R.abs(p - y))\n"
      "t = train(main, data=(ones((8, 1)), ones((8, 1))), loss=distance, optimizer=\"sgd(lr=0.1)\", steps=1, "
      "tensorboard=True, run_dir=\"" +
      folder.path() + "/job\")\n");
  CHECK(ran.error.empty());
  const std::string report = testing::bytes_of(folder.file("job/report.json"));
  CHECK(report.find("\"loss\": \"the function 'distance'\"") != std::string::npos);
  CHECK(report.find("\"optimizer\": \"sgd(lr=0.1)\"") != std::string::npos);
  CHECK(report.find("\"tensorboard\"") == std::string::npos);
  CHECK(testing::bytes_of(folder.file("job/events.out.tfevents.relish")).find("brain.Event:2") !=
        std::string::npos);
}

TEST_CASE("the points of a sweep") {
  const std::vector<SweepAxis> axes = sweep_axes({"lr=0.1,0.01", "name=\"a/b\",[1,2],c"});
  REQUIRE(axes.size() == 2);
  CHECK(axes[1].values == std::vector<std::string>{"\"a/b\"", "[1,2]", "c"});
  const std::vector<SweepPoint> all = sweep_points(axes, 0, 0);
  REQUIRE(all.size() == 6);
  CHECK(all[0].folder == "lr=0.1,name=_a_b_");
  CHECK(all[1].folder == "lr=0.1,name=_1_2_");
  CHECK(all[3].values ==
        std::vector<std::pair<std::string, std::string>>{{"lr", "0.01"}, {"name", "\"a/b\""}});
  // Some of them, the same ones for a seed, and each once.
  std::set<std::string> drawn;
  for (const SweepPoint& point : sweep_points(axes, 4, 1)) drawn.insert(point.folder);
  CHECK(drawn.size() == 4);
  for (const SweepPoint& point : sweep_points(axes, 3, 1)) CHECK(drawn.contains(point.folder));
  CHECK(sweep_points(axes, 99, 1).size() == 6);
  // Values that a name of a folder cannot tell apart.
  const std::vector<SweepPoint> alike = sweep_points(sweep_axes({"x=a/b,a:b"}), 0, 0);
  CHECK(alike[0].folder != alike[1].folder);
  CHECK(sweep_points(sweep_axes({"x=" + std::string(300, 'a')}), 0, 0)[0].folder == "point-0");

  for (const char* wrong : {"lr", "=1", "lr=", "lr=1,", "lr=1,1"})
    CHECK(rule_of([&] { sweep_axes({wrong}); }) == "UsageError: sweep.values");
  CHECK(rule_of([&] { sweep_axes({"lr=1", "lr=2"}); }) == "UsageError: sweep.values");
  std::string many = "x=0";
  for (int i = 1; i < 400; ++i) many += "," + std::to_string(i);
  CHECK(rule_of([&] { sweep_points(sweep_axes({many, "y" + many.substr(1)}), 0, 0); }) ==
        "UsageError: sweep.size");
}

}  // namespace
}  // namespace relish
