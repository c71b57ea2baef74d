// Data that stay in files: the rows are those of the tensors, and a job over them ends with the same bytes.
#include <catch2/catch.hpp>
#include <filesystem>

#include "runtime/files.h"
#include "runtime/row_files.h"
#include "support/limits.h"
#include "tests/unit/catch_failure.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/train/linear_model.h"
#include "train/windows.h"

namespace relish {
namespace {

using testing::linear_data;
using testing::linear_program;
using testing::LinearEvaluator;
using testing::rule_of;
using testing::TemporaryFolder;

Tensor all_rows_of(const Column& column) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < column.rows(); ++i) rows.push_back(i);
  return column.gather(rows);
}

TEST_CASE("rows of files are those of the tensors in them") {
  const TemporaryFolder folder;
  const Tensor x = linear_data(10).inputs[0].tensor();
  write_npy(folder.file("x.npy"), x);
  write_safetensors(folder.file("x.safetensors"), {{"other", Tensor::zeros(DType::Int8, {3})}, {"x", x}});
  write_npz(folder.file("x.npz"), {{"x", x}});
  for (const char* name : {"x.npy", "x.safetensors:x"}) {
    INFO(name);
    const Column column(open_rows(folder.file(name)));
    CHECK(!column.in_memory());
    CHECK(column.shape() == x.shape());
    CHECK(identical(all_rows_of(column), x));
    const std::vector<std::int64_t> some = {7, 2, 3, 4, 2};
    CHECK(identical(column.gather(some), gather_rows(x, some)));
  }
  CHECK(open_rows(folder.file("x.npz")) == nullptr);
  CHECK(rule_of([&] { open_rows(folder.file("x.safetensors:y")); }) == "DataError: file.entry");

  // An IDX file of the int16 256 and 2, big end first.
  const std::string idx("\0\0\x0B\x01\0\0\0\x02\x01\0\0\x02", 12);
  folder.put("y.idx", idx);
  const Column labels(open_rows(folder.file("y.idx")));
  CHECK(labels.dtype() == DType::Int16);
  CHECK(all_rows_of(labels).get_int(0) == 256);
  CHECK(all_rows_of(labels).get_int(1) == 2);
}

TEST_CASE("rows of several files follow each other") {
  const TemporaryFolder folder;
  const Tensor x = linear_data(10).inputs[0].tensor();
  const std::vector<std::int64_t> head = {0, 1, 2}, tail = {3, 4, 5, 6, 7, 8, 9};
  write_npy(folder.file("a.npy"), gather_rows(x, head));
  write_npy(folder.file("b.npy"), gather_rows(x, tail));
  const Column column(
      joined_rows({open_rows(folder.file("a.npy")), open_rows(folder.file("b.npy"))}, {"a", "b"}));
  CHECK(identical(all_rows_of(column), x));
  const std::vector<std::int64_t> mixed = {2, 3, 9, 0, 4, 1};
  CHECK(identical(column.gather(mixed), gather_rows(x, mixed)));
  const auto wide = rows_of_tensor(Tensor::zeros(DType::Float64, {4, 3}));
  CHECK(rule_of([&] { joined_rows({open_rows(folder.file("a.npy")), wide}, {"a.npy", "wide"}); }) ==
        "DataError: data.parts");
}

TEST_CASE("rows that are read ahead leave most of the memory to the steps") {
  const TemporaryFolder folder;
  write_npy(folder.file("x.npy"), Tensor::zeros(DType::Float32, {64, 1000}));
  write_npy(folder.file("y.npy"), Tensor::zeros(DType::Int8, {64}));
  const std::vector<Column> columns = {Column(open_rows(folder.file("x.npy"))),
                                       Column(open_rows(folder.file("y.npy")))};
  const BatchOrder order(64, {4});
  const WindowReader windows(columns, order);
  const std::uint64_t limit = limits().memory_bytes, of_step = 4 * 4001;
  limits().memory_bytes = 8 * 3 * of_step;
  CHECK(windows.most_steps() == 3);
  limits().memory_bytes = 8 * 3 * of_step - 1;
  CHECK(windows.most_steps() == 2);
  limits().memory_bytes = 1000;
  CHECK(windows.most_steps() == 1);
  limits().memory_bytes = std::uint64_t{1} << 40;
  CHECK(windows.most_steps() == static_cast<std::int64_t>((64 << 20) / of_step));
  limits().memory_bytes = limit;
}

TEST_CASE("a job over files ends with the bytes of one over tensors, and stops when a file gets shorter") {
  const TemporaryFolder folder;
  const DataSet data = linear_data(50);
  write_npy(folder.file("x.npy"), data.inputs[0].tensor());
  write_npy(folder.file("y.npy"), data.targets[0].tensor());
  const DataSet files = {{Column(open_rows(folder.file("x.npy")))},
                         {Column(open_rows(folder.file("y.npy")))}};
  TrainOptions options;
  options.epochs = 6;
  options.batch_size = 8;
  options.validation = files;
  LinearEvaluator evaluator;
  const TrainingProgram program = linear_program(ScalarVar("n", DType::Int64));
  const TrainResult whole = train(evaluator, program, data, options);
  const TrainResult read = train(evaluator, program, files, options);
  CHECK(identical(whole.parameters[0].second, read.parameters[0].second));
  CHECK(whole.epoch_loss == read.epoch_loss);
  CHECK(read.validation.at("loss") == whole.validation.at("loss"));

  std::filesystem::resize_file(folder.file("x.npy"), 200);
  CHECK(rule_of([&] { train(evaluator, program, files, options); }).starts_with("DataError: "));
}

}  // namespace
}  // namespace relish
