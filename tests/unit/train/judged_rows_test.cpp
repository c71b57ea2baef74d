// How many rows that are only looked at go through a model at once.
#include "train/judged_rows.h"

#include <catch2/catch.hpp>

#include "support/limits.h"
#include "tests/unit/train/linear_model.h"

namespace relish {
namespace {

using testing::linear_data;
using testing::linear_program;

TEST_CASE("rows of a judged batch are many of a light model, and few where memory is short") {
  const TrainingProgram program = linear_program(ScalarVar("n", DType::Int64));
  const DataSet data = linear_data(50);
  const std::uint64_t limit = limits().memory_bytes;
  CHECK(judged_rows(program, data, 4) == 256);
  CHECK(judged_rows(program, data, 1000) == 256);
  limits().memory_bytes = 1;
  CHECK(judged_rows(program, data, 4) == 4);
  CHECK(judged_rows(program, data, 1000) == 256);
  // A quarter of the limit is for all values of a call, more with each row.
  std::int64_t before = 0;
  for (const std::uint64_t bytes : {1000, 4000, 16000}) {
    limits().memory_bytes = bytes;
    const std::int64_t rows = judged_rows(program, data, 1);
    CHECK(rows >= before * 4);
    CHECK(rows < 256);
    before = rows;
  }
  CHECK(before > 4);
  limits().memory_bytes = limit;
}

}  // namespace
}  // namespace relish
