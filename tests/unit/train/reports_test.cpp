// What is said of jobs behind them: records read back, charts, the page, event files, confusion.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "tests/unit/catch_failure.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/train/linear_model.h"
#include "train/report/chart.h"
#include "train/report/confusion.h"
#include "train/report/event_file.h"
#include "train/report/report_page.h"

namespace relish {
namespace {

using testing::bytes_of;
using testing::failure_of;
using testing::rule_of;
using testing::TemporaryFolder;

std::string put_run(const TemporaryFolder& folder, const std::string& name, const std::string& report,
                    const std::string& metrics) {
  std::filesystem::create_directories(folder.file(name));
  folder.put(name + "/report.json", report);
  folder.put(name + "/metrics.jsonl", metrics);
  return folder.file(name);
}

TEST_CASE("a run folder is read back") {
  const TemporaryFolder folder;
  const std::string path =
      put_run(folder, "a-10",
              R"({"status": "finished", "steps": 20, "epochs": 2, "seconds": 1.5, "batch_size": 8, "seed": 3,
                  "settings": {"lr": "0.1"}, "options": {"loss": "mse"}, "weights": "final.safetensors"})",
              "{\"step\":1,\"epoch\":1,\"loss\":4.0,\"lr\":0.1}\n"
              "{\"step\":10,\"epoch\":1,\"loss\":null,\"accuracy\":0.5,\"validation_loss\":3.0,"
              "\"validation_accuracy\":0.75}\n"
              "{\"step\":20,\"epoch\":2,\"loss\":1.0,\"accuracy\":0.5,\"validation_loss\":2.0,"
              "\"validation_accuracy\":0.25}\n"
              "{\"step\":21,\"ep");
  const RunRecord run = read_run(path);
  CHECK(run.state == "finished");
  CHECK(run.step == 20);
  CHECK(run.seconds == 1.5);
  CHECK(run.options == std::vector<std::pair<std::string, std::string>>{
                           {"lr", "0.1"}, {"loss", "mse"}, {"batch_size", "8"}, {"seed", "3"}});
  REQUIRE(run.curve("loss") != nullptr);
  CHECK(run.curve("loss")->points.size() == 2);
  CHECK(run.curve("epoch") == nullptr);
  CHECK(judged_metric(run) == "validation_accuracy");
  CHECK(best_of(run, "validation_accuracy")->point.step == 10);
  CHECK(best_of(run, "validation_loss")->point.value == 2);
  CHECK_FALSE(best_of(run, "nothing"));

  put_run(folder, "a-9", R"({"status": "running", "steps": 0, "seconds": 0})",
          "{\"step\":4,\"wall_s\":2.5}\n");
  std::filesystem::create_directories(folder.file("b"));
  CHECK(find_runs(folder.path()) == std::vector<std::string>{folder.file("a-9"), folder.file("a-10")});
  CHECK(read_run(folder.file("a-9")).state == "killed");
  CHECK(read_run(folder.file("a-9")).seconds == 2.5);
  const int lock = ::open(folder.put("a-9/lock", "").c_str(), O_RDWR);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  CHECK(read_run(folder.file("a-9")).state == "running");
  ::close(lock);

  // A job that was killed before it wrote its report has its lock and metrics without a line.
  std::filesystem::create_directories(folder.file("c"));
  folder.put("c/metrics.jsonl", "");
  CHECK(find_runs(folder.file("c")).empty());
  const int begun = ::open(folder.put("c/lock", "").c_str(), O_RDWR);
  REQUIRE(::flock(begun, LOCK_EX) == 0);
  CHECK(read_run(folder.file("c")).state == "running");
  ::close(begun);
  CHECK(find_runs(folder.file("c")) == std::vector<std::string>{folder.file("c")});
  CHECK(read_run(folder.file("c")).state == "killed");
  CHECK(read_run(folder.file("c")).step == 0);
  // One that did a step had a report.
  folder.put("c/metrics.jsonl", "{\"step\":1}\n");
  CHECK(is_damaged_run(folder.file("c")));
  CHECK(rule_of([&] { read_run(folder.file("c")); }) == "DataError: run.report");

  CHECK(rule_of([&] { read_run(folder.file("none")); }) == "IOError: file.system");
  CHECK(rule_of([&] { read_run(folder.file("b")); }) == "DataError: run.report");
  folder.put("a-9/metrics.jsonl", "{\"step\":1}\nnonsense\n{\"step\":2}\n");
  CHECK(rule_of([&] { read_run(folder.file("a-9")); }) == "DataError: run.metrics");
  CHECK(failure_of([&] { read_run(folder.file("a-9")); }).find("line 2") != std::string::npos);
}

TEST_CASE("numbers and files of a run folder that no job wrote do no harm") {
  const TemporaryFolder folder;
  const std::string path =
      put_run(folder, "a", R"({"status": "finished", "steps": -1e300, "seconds": 1e300})",
              "{\"step\":1e300,\"loss\":1,\"\\u001b[2J\":2}\n");
  const RunRecord run = read_run(path);
  CHECK(run.step == 9'000'000'000'000'000);
  for (const Chart& chart : charts_of({run}, {"\x1b[2J"}))
    CHECK(braille_chart(chart, {}).find('\x1b') == std::string::npos);
  std::filesystem::remove(path + "/metrics.jsonl");
  REQUIRE(::mkfifo((path + "/metrics.jsonl").c_str(), 0600) == 0);
  CHECK(read_run(path).curves.empty());
}

TEST_CASE("a line of metrics means the same however its JSON is written") {
  const TemporaryFolder folder;
  const std::string report = R"({"status": "running"})";
  const RunRecord plain =
      read_run(put_run(folder, "a", report,
                       "{\"step\":1,\"loss\":-2.5e-3,\"lr\":0.1,\"wall_s\":7}\n{\"step\":2,\"loss\":0}\n"));
  const RunRecord other = read_run(
      put_run(folder, "b", report,
              "{\"\\u0073tep\": 1, \"loss\" : -2.5E-03,\t\"lr\": 1e-1, \"x\": null, \"wall_s\": 7.0}\n"
              "{\"step\": 2, \"y\": [1], \"loss\": 0.0}\n"));
  for (const RunRecord* run : {&plain, &other}) {
    CHECK(run->step == 2);
    CHECK(run->seconds == 7);
    REQUIRE(run->curves.size() == 3);
    REQUIRE(run->curve("loss") != nullptr);
    REQUIRE(run->curve("loss")->points.size() == 2);
    CHECK(run->curve("loss")->points[0].value == -2.5e-3);
    CHECK(run->curve("loss")->points[1].step == 2);
    CHECK(run->curve("lr")->points[0].value == 0.1);
  }
  for (const char* line :
       {"{\"step\":01}", "{\"step\":1.}", "{\"step\":+1}", "{\"step\":inf}", "{\"step\":1,}", "{\"step\":1}}",
        "{\"step\":1e}", "{\"loss\":1}", "{\"step\":-}", "{}"}) {
    INFO(line);
    const std::string path = put_run(folder, "c", report, std::string(line) + "\n");
    CHECK(failure_of([&] { read_run(path); }).starts_with("DataError: "));
  }
}

TEST_CASE("a line of metrics with many names takes the time of their number") {
  const TemporaryFolder folder;
  constexpr int count = 200'000;
  for (const std::string_view space : {"", " "}) {
    std::string metrics;
    for (int line = 1; line <= 2; ++line) {
      metrics += fmt::format("{{\"step\":{}{}", space, line);
      for (int i = 0; i < count; ++i) metrics += fmt::format(",\"m{}\":{}{}", i, space, i % 100 + line);
      metrics += "}\n";
    }
    const auto begin = std::chrono::steady_clock::now();
    const RunRecord run = read_run(put_run(folder, "a", R"({"status": "running"})", metrics));
    // The square of a quarter of the number took 16 seconds.
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
    REQUIRE(run.curves.size() == count);
    CHECK(run.curves[12'345].name == "m12345");
    CHECK(run.curves[12'345].points.size() == 2);
    CHECK(run.curves[12'345].points[1].value == 47);
  }
  // Of two members of one name the last one counts.
  const RunRecord twice = read_run(
      put_run(folder, "b", R"({"status": "running"})",
              "{\"step\":1,\"a\":1,\"a\":2}\n{\"step\":2,\"a\":{\"a\":3},\"b\":[4,{\"c\":5}],\"a\": 6}\n"
              "{\"step\":3,\"a\":7,\"a\":null}\n"));
  REQUIRE(twice.curves.size() == 1);
  REQUIRE(twice.curves[0].points.size() == 2);
  CHECK(twice.curves[0].points[0].value == 2);
  CHECK(twice.curves[0].points[1].value == 6);
}

TEST_CASE("what a job is judged by") {
  RunRecord run;
  CHECK(judged_metric(run).empty());
  run.curves = {{"loss", {}}, {"lr", {}}};
  CHECK(judged_metric(run) == "loss");
  run.curves.push_back({"epoch_loss", {}});
  CHECK(judged_metric(run) == "epoch_loss");
  run.curves.push_back({"accuracy", {}});
  CHECK(judged_metric(run) == "accuracy");
  run.curves.push_back({"validation_loss", {}});
  CHECK(judged_metric(run) == "validation_loss");
  CHECK(is_lower_better("validation_mse"));
  CHECK_FALSE(is_lower_better("validation_accuracy"));
  CHECK(duration_text(-5) == "0s");
  CHECK(duration_text(12.4) == "12s");
  CHECK(duration_text(185) == "3m05s");
  CHECK(duration_text(7620) == "2h07m");
}

TEST_CASE("axes have round marks, and a logarithm where values span decades") {
  const Chart chart{"loss", {{"a", {{0, 1}, {100, 0.5}}}}};
  CHECK(axis_of_steps(chart).marks == std::vector<double>{0, 20, 40, 60, 80, 100});
  const Axis plain = axis_of_values(chart);
  CHECK_FALSE(plain.logarithmic);
  CHECK(plain.place(0.5) == 0);
  CHECK(plain.place(1) == 1);
  const Chart wide{"loss", {{"a", {{0, 1000}, {100, 0.01}}}}};
  const Axis decades = axis_of_values(wide);
  CHECK(decades.logarithmic);
  CHECK(decades.marks == std::vector<double>{0.01, 0.1, 1, 10, 100, 1000});
  CHECK(decades.place(std::sqrt(10.0)) == Approx(0.5));
  // Steps that vanish beside the values, and values that the difference of is none.
  CHECK(axis_of_values({"loss", {{"a", {{0, 1e16}, {1, 1e16 + 2}}}}}).marks.size() <= 20);
  CHECK(axis_of_values({"loss", {{"a", {{0, -1e308}, {1, 1e308}}}}}).place(1e308) == 0.5);
  // One value has an axis too.
  const Axis flat = axis_of_values({"loss", {{"a", {{1, 2}}}}});
  CHECK(flat.place(2) == 0.5);
}

TEST_CASE("a chart of braille characters") {
  const Chart chart{"loss", {{"falls", {{0, 8}, {15, 0}}}, {"none", {}}}};
  BrailleOptions options;
  options.columns = 8;
  options.rows = 2;
  CHECK(braille_chart(chart, options) ==
        "loss\n8 ┤⠉⠒⠤⣀⠀⠀⠀⠀\n0 ┤⠀⠀⠀⠀⠉⠒⠤⣀\n   0     15 step\n   ⠒⠒⠒⠒ falls, last 0\n"
        "   ⠒⠂⠐⠒ none (no finite value)\n");
}

TEST_CASE("an SVG picture is well formed and keeps the extremes of many points") {
  Chart chart{"a<b", {{"x & \"y\"", {}}}};
  for (int i = 0; i < 100'000; ++i) chart.curves[0].points.push_back({double(i), i == 54'321 ? 1e4 : 1.0});
  const std::string svg = svg_charts({chart});
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(svg.find("a&lt;b") != std::string::npos);
  CHECK(svg.find("x &amp; &quot;y&quot;, last 1") != std::string::npos);
  CHECK(svg.size() < 60'000);
  // The greatest value stands at the upper end of its chart.
  CHECK(svg.find(",40.0 ") != std::string::npos);
}

TEST_CASE("charts of several runs") {
  RunRecord a, b;
  a.path = "runs/x-1";
  b.path = "runs/x-2/";
  a.curves = {{"loss", {{1, 1}}}, {"validation_loss", {{1, 1}}}, {"accuracy", {{1, 1}}}};
  b.curves = {{"loss", {{1, 1}}}};
  std::vector<Chart> charts = charts_of({a, b}, {});
  REQUIRE(charts.size() == 1);
  REQUIRE(charts[0].curves.size() == 3);
  CHECK(charts[0].curves[1].label == "x-1 validation_loss");
  CHECK(charts[0].curves[2].label == "x-2 loss");
  charts = charts_of({a}, {"accuracy", "validation_loss"});
  REQUIRE(charts.size() == 2);
  CHECK(charts[1].curves[0].label == "validation_loss");
}

// --- Event files.

struct Record {
  std::string event;
  bool whole;  // both checksums are right
};
std::uint32_t word_at(const std::string& bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}
std::uint32_t unmasked(std::uint32_t word) {
  const std::uint32_t turned = word - 0xA282EAD8U;
  return (turned >> 17U) | (turned << 15U);
}
std::vector<Record> records_of(const std::string& bytes) {
  std::vector<Record> records;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    const bool head = unmasked(word_at(bytes, at + 8)) == crc32c_of(bytes.substr(at, 8));
    const std::string event = bytes.substr(at + 12, length);
    const bool body = unmasked(word_at(bytes, at + 12 + length)) == crc32c_of(event);
    records.push_back({event, head && body});
    at += 16 + length;
  }
  return records;
}

TEST_CASE("an event file has a record for each step, with its checksums") {
  // Of RFC 3720, B.4, and of the check value of CRC-32C.
  CHECK(crc32c_of("123456789") == 0xE3069283U);
  CHECK(crc32c_of(std::string(32, '\0')) == 0x8A9136AAU);
  CHECK(
      version_event(0).ends_with("\x1A\x0D"
                                 "brain.Event:2"));
  // wall_time = 1.0, step = 300, summary {value {tag: "a", simple_value: 0.5}}
  CHECK(scalars_event(1, 300, {{"a", 0.5}}) ==
        std::string("\x09\x00\x00\x00\x00\x00\x00\xF0\x3F\x10\xAC\x02\x2A\x0A\x0A\x08\x0A\x01"
                    "a\x15\x00\x00\x00\x3F",
                    24));

  const TemporaryFolder folder;
  const std::string metrics = folder.put("metrics.jsonl", "{\"step\":1,\"loss\":2.0,\"wall_s\":0.5}\n");
  const std::string path = folder.file("events");
  for (int time = 0; time < 2; ++time) {
    EventFile file(path, metrics, 100);
    file.write(2, 2, {{"loss", 1}});
  }
  // Made anew: the step of the first process that the metrics do not have is gone.
  const std::vector<Record> records = records_of(bytes_of(path));
  REQUIRE(records.size() == 3);
  for (const Record& record : records) CHECK(record.whole);
  CHECK(records[1].event == scalars_event(100.5, 1, {{"loss", 2}}));
  CHECK(records[2].event == scalars_event(102, 2, {{"loss", 1}}));
}

// --- A job.

TEST_CASE("a job leaves a page, and events where they are asked for") {
  const TemporaryFolder folder;
  testing::LinearEvaluator evaluator;
  TrainOptions options;
  options.epochs = 2;
  options.batch_size = 4;
  RunRequest request;
  request.folder.directory = folder.file("run");
  request.description.script = "lines.relish";
  request.description.options = {{"loss", "a|b"}};
  request.tensorboard = true;
  const TrainResult result = train(evaluator, testing::linear_program(ScalarVar("n", DType::Int64)),
                                   testing::linear_data(10), options, &request);
  const std::string page = bytes_of(folder.file("run/report.md"));
  CHECK(page.starts_with("# lines.relish: finished\n"));
  CHECK(page.find("| `loss` | a\\|b |") != std::string::npos);
  CHECK(page.find("| rows | 10 |") != std::string::npos);
  CHECK(page.find("## Curves\n\n```text\nloss") != std::string::npos);
  CHECK(page.find("## Confusion") == std::string::npos);
  CHECK(page.find("Weights: `final.safetensors`") != std::string::npos);
  const std::vector<Record> records =
      records_of(bytes_of(folder.file("run/" + std::string(event_file_name))));
  CHECK(records.size() == 1 + read_run(folder.file("run")).curve("loss")->points.size());
  // A job that was done keeps its page, and the folder can be used again.
  folder.put("run/report.md", "mine");
  request.folder.resume = true;
  CHECK(train(evaluator, testing::linear_program(ScalarVar("n", DType::Int64)), testing::linear_data(10),
              options, &request)
            .steps == result.steps);
  CHECK(bytes_of(folder.file("run/report.md")) == "mine");
}

TEST_CASE("which class is taken for which is counted by the inference form") {
  testing::LinearEvaluator evaluator;
  TrainingProgram program = testing::linear_program(ScalarVar("n", DType::Int64));
  const TensorsByName parameters = {{"w", Tensor::zeros(DType::Float64, {2, 1})},
                                    {"b", Tensor::zeros(DType::Float64, {1})}};
  DataSet data = testing::linear_data(300);
  CHECK_FALSE(count_confusion(evaluator, program, parameters, data, 1000));  // no labels
  Tensor labels = Tensor::zeros(DType::Int64, {300});
  for (std::int64_t i = 0; i < 100; ++i) labels.set_int(i, 1);
  data.targets = {Column(labels)};
  CHECK_FALSE(count_confusion(evaluator, program, parameters, data, 1000));  // nothing says what is positive
  program.judgement.threshold = -0.5;
  std::optional<Confusion> found = count_confusion(evaluator, program, parameters, data, 1000);
  REQUIRE(found);
  CHECK(found->counts == std::vector<std::int64_t>{0, 200, 0, 100});
  CHECK(found->rows == 300);
  program.judgement.threshold = 0.5;
  program.judgement.ignored_label = 1;
  found = count_confusion(evaluator, program, parameters, data, 120);
  REQUIRE(found);
  CHECK(found->counts == std::vector<std::int64_t>{20, 0, 0, 0});
  CHECK(found->all == 300);
}

TEST_CASE("the page of a classifier has a table of what is taken for what") {
  Confusion confusion;
  confusion.data = "validation";
  confusion.rows = 5;
  confusion.all = 9;
  confusion.classes = 2;
  confusion.counts = {3, 0, 1, 1};
  confusion.unjudged = 2;
  const std::string page = report_page({}, confusion);
  CHECK(page.find("Of the first 5 rows of validation data") != std::string::npos);
  CHECK(page.find("| **0** | 3 | | 100.0 % |\n| **1** | 1 | 1 | 50.0 % |\n") != std::string::npos);
  CHECK(page.find("2 rows had a NaN") != std::string::npos);
}

TEST_CASE("the page for a browser has the same, and nothing of a job's texts is read as HTML") {
  RunRecord run;
  run.state = "failed";
  run.error = "found <b> & \"c\"";
  run.options = {{"lr", "0.1"}};
  run.weights = "final.safetensors";
  run.curves = {{"loss", {{1, 4}, {10, 2}}}, {"lr", {{1, 0.1}}}};
  const std::string page = report_html(run, std::nullopt);
  CHECK(page.starts_with("<!DOCTYPE html>\n"));
  CHECK(page.find("<title>Training job: failed</title>") != std::string::npos);
  CHECK(page.find("<p>Ended by: found &lt;b&gt; &amp; &quot;c&quot;</p>") != std::string::npos);
  CHECK(page.find("<tr><td><code>lr</code></td><td>0.1</td></tr>") != std::string::npos);
  CHECK(page.find("<tr><td>loss</td><td>2</td><td>2</td><td>10</td></tr>") != std::string::npos);
  CHECK(page.find("<tr><td>lr</td>") == std::string::npos);  // a curve that is only measured
  CHECK(page.find("<svg ") != std::string::npos);
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.ends_with("</body>\n</html>\n"));
}

}  // namespace
}  // namespace relish
