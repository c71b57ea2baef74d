// The modules of the benchmarks, without the statements behind them.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "tests/unit/loops/helpers.h"

namespace relish::test {

// The module that the script begins with. Tests run in the folder of the sources.
inline ModulePtr benchmark_module(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file.good());
  std::stringstream text;
  std::string line;
  for (bool inside = true; inside && std::getline(file, line);) {
    inside = line.empty() || line[0] == ' ' || line[0] == '#' || line[0] == '@' || line.starts_with("class");
    if (inside) text << line << "\n";
  }
  return read_module(path, text.str());
}

}  // namespace relish::test
