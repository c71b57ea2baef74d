// What a job is, as far as its numbers go: the functions it calls and the options and data that decide what
// they compute. Two jobs of one identity end with the same bytes; a checkpoint is resumed by no other.
#pragma once

#include <map>
#include <string>

#include "train/trainer.h"

namespace relish {

struct JobIdentity {
  std::map<std::string, std::string> functions;  // SHA-256 of the canonical text, by name
  std::map<std::string, std::string> options;    // as text, by name
  // Values of arg() of the script. What they decide stands above; where that differs, they say from where.
  std::map<std::string, std::string> settings = {};
};

// The functions that the program names and those that they call, without comments; batch size, seed, start
// values, data, metrics, tier and, where the learning rate follows a schedule, the number of steps.
JobIdentity identity_of(const Trainer& trainer);

// How `now` differs from what was saved, for a message: "option batch_size is 32, the checkpoint has 64", one
// clause a difference; empty for none.
std::string difference(const JobIdentity& saved, const JobIdentity& now);

}  // namespace relish
