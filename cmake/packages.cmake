# The Debian packages that Relish builds on; `./dev` installs them. What only one folder uses (LLVM, TBB, ANTLR,
# CLI11, libedit) is looked up in that folder's CMakeLists.txt.

find_package(Threads REQUIRED)
# Small libraries are linked statically: to load one takes a tenth of a millisecond of each start.
set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(tsl-hopscotch-map 2.3 REQUIRED)
