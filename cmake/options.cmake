# Compiler flags, build types and build options. Every target of the project links relish_options, so that all
# of them agree on the flags that decide floating point results.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# A folder's sources do not wait for the libraries of the folders below it, only for what these generate.
set(CMAKE_OPTIMIZE_DEPENDENCIES ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithAsserts CACHE STRING "RelWithAsserts, Debug or Sanitize" FORCE)
endif()

# NDEBUG stays undefined everywhere: the internal checks of a release are those of the tests.
set(CMAKE_C_FLAGS_RELWITHASSERTS "-O2")
set(CMAKE_CXX_FLAGS_RELWITHASSERTS "-O2")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g -D_GLIBCXX_ASSERTIONS")
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS")

set(RELISH_SANITIZE "" CACHE STRING "Sanitizers for all targets, as -fsanitize= takes them")
option(RELISH_FUZZ "Build only the reading layers and their libFuzzer targets (needs clang)" OFF)
set(RELISH_STDLIB_ARCHIVE "" CACHE FILEPATH "In that build: a built librelish_stdlib.a to use as it is, without sanitizers")
option(RELISH_PCH "Precompile headers" ON)
# Sources of one folder that are compiled together read its headers once, which halves a build from nothing. Work on
# single files goes faster without, for all folders or for those that one works on.
option(RELISH_UNITY "Compile several sources of a folder at once" ON)
set(RELISH_APART "" CACHE STRING "Folders whose sources are compiled one by one all the same")
set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)
set(RELISH_LINKER "auto" CACHE STRING "auto (mold, else lld, else the default), mold, lld or default")

# Folders whose code is run through once for every command or statement: to optimize it further takes a fifth of a
# build from nothing, and no command's time showed it. Those that walk over programs and data are not among them.
set(RELISH_COLD_FOLDERS shell stdlib train transform)

# A compiler cache where one is installed. It sees through precompiled headers when it compares their contents and
# takes no notice of time stamps.
option(RELISH_CCACHE "Compile through ccache where it is installed" ON)
find_program(RELISH_CCACHE_PROGRAM ccache)
if(RELISH_CCACHE AND RELISH_CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros
    CCACHE_PCH_EXTSUM=1
    "${RELISH_CCACHE_PROGRAM}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  else()
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endif()

# The compiler's own garbage collector takes a tenth of its time and gives little back: it begins at 1 GB here (a
# compilation of several sources ends at 1.3 GB instead of 1.0).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=1048576>")
endif()

add_library(relish_options INTERFACE)
target_include_directories(relish_options INTERFACE "${CMAKE_SOURCE_DIR}")
target_compile_definitions(relish_options INTERFACE RELISH_VERSION="${PROJECT_VERSION}")

# No contraction into fused multiply-add and no machine-specific code: a result of the interpreter has the same
# bits on every machine. Sections let the linker drop the parts of the LLVM and ANTLR archives that nobody calls.
target_compile_options(relish_options INTERFACE
  -Wall -Wextra -ffp-contract=off -ffunction-sections -fdata-sections)
# The id of a build tells the objects in the cache of compiled code from those of other builds.
target_link_options(relish_options INTERFACE -Wl,--gc-sections -Wl,--as-needed -Wl,--build-id=sha1)
# A program at a fixed address: of one that may lie anywhere the loader writes 120,000 addresses, most of them LLVM's,
# before anything runs, which took a fifth of what a short command takes. Who wants it anywhere (packagers of a
# hardened system) says so. Sanitizers place programs themselves.
option(RELISH_PIE "Programs that the system may place at any address, which start later" OFF)
if(NOT RELISH_SANITIZE AND NOT RELISH_PIE)
  target_link_options(relish_options INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()

# A member that is not named keeps its default, which is how operators are declared. GCC 12 sees reads of the
# inactive members of variants and of strings' small buffers that are none.
target_compile_options(relish_options INTERFACE -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(relish_options INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overread
    -Wno-stringop-overflow -Wno-restrict)
  # No cold parts apart from their functions: one that is empty has the address of the next, and an exception that
  # passes through that one then finds the empty one's table, which ends the process. clang-tidy does not know it.
  option(RELISH_READ_BY_CLANG "The commands are written for clang-tidy" OFF)
  if(NOT RELISH_READ_BY_CLANG)
    target_compile_options(relish_options INTERFACE -fno-reorder-blocks-and-partition)
  endif()
endif()

if(RELISH_SANITIZE)
  target_compile_options(relish_options INTERFACE
    -fsanitize=${RELISH_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(relish_options INTERFACE -fsanitize=${RELISH_SANITIZE})
endif()
if(RELISH_FUZZ)
  target_compile_options(relish_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

set(relish_linker_name "default")
if(RELISH_LINKER STREQUAL "auto")
  # A mold or lld of the compiler's own search path; clang looks for plain names too.
  find_program(RELISH_MOLD mold)
  find_program(RELISH_LLD NAMES ld.lld)
  if(RELISH_MOLD)
    set(relish_linker_name "mold")
  elseif(RELISH_LLD)
    set(relish_linker_name "lld")
  endif()
else()
  set(relish_linker_name "${RELISH_LINKER}")
endif()
if(NOT relish_linker_name STREQUAL "default")
  target_link_options(relish_options INTERFACE -fuse-ld=${relish_linker_name})
  # What runs at the start alone, and what hardly ever runs, on pages of their own.
  target_link_options(relish_options INTERFACE -Wl,-z,keep-text-section-prefix)
endif()
message(STATUS "Relish: build type ${CMAKE_BUILD_TYPE}, linker ${relish_linker_name}, "
  "precompiled headers ${RELISH_PCH}")
