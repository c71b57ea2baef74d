// The one main of all Catch2 test programs, compiled once because Catch2's implementation is slow to build.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
