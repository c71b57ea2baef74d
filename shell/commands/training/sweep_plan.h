// What a sweep goes through: values by name on the command line, and the points of their grid.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace relish {

struct SweepAxis {
  std::string name;
  std::vector<std::string> values;
};
// One job: a value for each name.
struct SweepPoint {
  std::vector<std::pair<std::string, std::string>> values;
  std::string folder;  // "lr=0.1,width=64": of the job, in the folder of the sweep
  // The options of all jobs with which that of the point ended well; none while none did.
  std::optional<std::vector<std::string>> done_with;
};

// "lr=0.1,0.01" and their like. UsageError.
std::vector<SweepAxis> sweep_axes(const std::vector<std::string>& words);
// All points, the last name changing fastest; or, with `most` > 0, so many of them, drawn by the seed.
// UsageError when there are too many.
std::vector<SweepPoint> sweep_points(const std::vector<SweepAxis>& axes, std::int64_t most,
                                     std::uint64_t seed);

}  // namespace relish
