# relish_add_folder(NAME [EXCLUDE FILE...] [SOURCES FILE...]): the static library relish_NAME of all sources below
# the calling folder, plus generated SOURCES, linked to the folders that cmake/layers.cmake allows. A folder with
# headers only becomes an interface library.

# relish_add_pch(NAME HEADER...): a precompiled header that targets of the same flags use by relish_use_pch.
function(relish_add_pch name)
  if(NOT RELISH_PCH)
    return()
  endif()
  set(anchor "${RELISH_GENERATED_DIR}/${name}_anchor.cpp")
  file(CONFIGURE OUTPUT "${anchor}" CONTENT "// Owner of the precompiled header ${name}.\n")
  add_library(${name} STATIC "${anchor}")
  target_link_libraries(${name} PUBLIC relish_options fmt::fmt Threads::Threads)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  # Not through the compiler cache, which would preprocess with the header of before, and find that one again.
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "${CMAKE_SOURCE_DIR}/cmake/compile_header.sh")
  endif()
endfunction()

# relish_use_pch(TARGET PCH)
function(relish_use_pch target pch)
  if(RELISH_PCH)
    target_precompile_headers(${target} REUSE_FROM ${pch})
  endif()
endfunction()

# Of the layers below ir, and of ir and all above it, which include its headers nearly everywhere.
set(relish_standard_headers
  <algorithm> <array> <cmath> <cstddef> <cstdint> <cstring> <filesystem> <functional> <map> <memory>
  <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <unordered_set> <utility> <variant>
  <vector> <fmt/format.h> <fmt/ranges.h>)
set(relish_ir_headers "${CMAKE_SOURCE_DIR}/ir/operators/op.h" "${CMAKE_SOURCE_DIR}/ir/printer/printer.h")
relish_add_pch(relish_pch ${relish_standard_headers})
relish_add_pch(relish_pch_ir ${relish_standard_headers} ${relish_ir_headers})

function(relish_add_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 FOLDER "" "" "EXCLUDE;SOURCES")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  foreach(excluded IN LISTS FOLDER_EXCLUDE)
    list(REMOVE_ITEM sources "${CMAKE_CURRENT_SOURCE_DIR}/${excluded}")
  endforeach()
  list(APPEND sources ${FOLDER_SOURCES})

  list(TRANSFORM RELISH_USES_${name} PREPEND relish_ OUTPUT_VARIABLE uses)
  if(sources)
    add_library(relish_${name} STATIC ${sources})
    target_link_libraries(relish_${name} PUBLIC relish_options fmt::fmt Threads::Threads ${uses})
    if(CMAKE_BUILD_TYPE STREQUAL "RelWithAsserts" AND name IN_LIST RELISH_COLD_FOLDERS)
      target_compile_options(relish_${name} PRIVATE -O1)
    endif()
    if(RELISH_UNITY AND NOT name IN_LIST RELISH_APART)
      set_target_properties(relish_${name} PROPERTIES UNITY_BUILD ON)
    endif()
    if(name STREQUAL "support" OR name STREQUAL "runtime")
      relish_use_pch(relish_${name} relish_pch)
    else()
      relish_use_pch(relish_${name} relish_pch_ir)
    endif()
  else()
    add_library(relish_${name} INTERFACE)
    target_link_libraries(relish_${name} INTERFACE relish_options fmt::fmt Threads::Threads ${uses})
  endif()
endfunction()

# relish_folder_link(NAME LIBRARY...): links LIBRARY to relish_NAME whether or not it has sources yet.
function(relish_folder_link name)
  get_target_property(type relish_${name} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_link_libraries(relish_${name} INTERFACE ${ARGN})
  else()
    target_link_libraries(relish_${name} PUBLIC ${ARGN})
  endif()
endfunction()

# relish_folder_include(NAME DIRECTORY...): adds system include directories to relish_NAME alone.
function(relish_folder_include name)
  get_target_property(type relish_${name} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    target_include_directories(relish_${name} SYSTEM PRIVATE ${ARGN})
  endif()
endfunction()
