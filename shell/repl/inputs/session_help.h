// The page of `:help`: what a session does, by theme.
#pragma once

#include <string>

namespace relish {

std::string session_help();

}  // namespace relish
