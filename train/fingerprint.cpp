// Numbers of bytes, in four lanes so that they are as fast as memory.
#include "train/fingerprint.h"

#include <bit>
#include <cstring>

namespace relish {
namespace {

constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;

std::uint64_t mixed(std::uint64_t so_far, std::uint64_t word) { return std::rotl((so_far ^ word) * odd, 29); }

std::uint64_t number_of(const Tensor& tensor) {
  std::uint64_t lanes[4] = {1, 2, 3, 4};
  const auto* bytes = static_cast<const char*>(tensor.data());
  const auto count = static_cast<std::size_t>(tensor.byte_size());
  for (std::size_t at = 0; at < count; at += sizeof lanes) {
    std::uint64_t words[4] = {};
    std::memcpy(words, bytes + at, std::min(sizeof words, count - at));
    for (int i = 0; i < 4; ++i) lanes[i] = mixed(lanes[i], words[i]);
  }
  std::uint64_t all = count;
  for (const std::uint64_t lane : lanes) all = mixed(all, lane);
  return all;
}

// Calls `see` for the means until it returns false.
template <class See>
bool each_mean(const Value& states, const See& see) {
  for (const Value& field : states.fields()) {
    if (field.is_tuple() ? !each_mean(field, see) : field.tensor().rank() != 0 && !see(field.tensor()))
      return false;
  }
  return true;
}

}  // namespace

Fingerprint fingerprint_of(const TrainingState& state) {
  Fingerprint result;
  for (const Tensor& tensor : state.parameters) result.parameters.push_back(number_of(tensor));
  each_mean(state.optimizer_states, [&](const Tensor& mean) {
    result.means.push_back(number_of(mean));
    return true;
  });
  return result;
}

bool nothing_moved(const Fingerprint& before, const StepFunction::Results& after) {
  bool moved = false;
  for (std::size_t i = 0; i < after.parameters.size() && !moved; ++i)
    moved = before.parameters[i] != number_of(after.parameters[i]);
  if (!moved) return true;
  std::size_t next = 0;
  return !before.means.empty() && each_mean(after.optimizer_states, [&](const Tensor& mean) {
    return before.means[next++] == number_of(mean);
  });
}

}  // namespace relish
