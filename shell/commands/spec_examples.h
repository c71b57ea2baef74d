// How options that take a name with options of its own are spelt as a str, for the declarations of all
// commands that have them.
#pragma once

#include <string_view>

namespace relish {

inline constexpr std::string_view loss_example = "\"mse\", or an @R.function of the predictions and targets";
inline constexpr std::string_view optimizer_example =
    "\"adam(lr=0.001)\", or an @R.function that gives new parameters and states";
inline constexpr std::string_view schedule_example = "\"cosine(warmup=100)\"";
inline constexpr std::string_view init_example = "\"xavier_uniform\"";
inline constexpr std::string_view early_stopping_example = "\"loss(patience=5)\"";

}  // namespace relish
