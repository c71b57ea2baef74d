# relish_add_folder(NAME [EXCLUDE FILE...] [SOURCES FILE...]): the static library relish_NAME of all sources below
# the calling folder, plus generated SOURCES, linked to the folders that cmake/layers.cmake allows. A folder with
# headers only becomes an interface library.

if(RELISH_PCH AND NOT TARGET relish_pch)
  file(WRITE "${RELISH_GENERATED_DIR}/pch_anchor.cpp.new" "// Owner of the shared precompiled header.\n")
  configure_file("${RELISH_GENERATED_DIR}/pch_anchor.cpp.new" "${RELISH_GENERATED_DIR}/pch_anchor.cpp" COPYONLY)
  add_library(relish_pch STATIC "${RELISH_GENERATED_DIR}/pch_anchor.cpp")
  target_link_libraries(relish_pch PUBLIC relish_options fmt::fmt Threads::Threads)
  target_precompile_headers(relish_pch PRIVATE
    <algorithm> <array> <cmath> <cstddef> <cstdint> <cstring> <filesystem> <functional> <map> <memory>
    <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <unordered_set> <utility> <variant>
    <vector> <fmt/format.h> <fmt/ranges.h>)
endif()

function(relish_use_pch target)
  if(RELISH_PCH)
    target_precompile_headers(${target} REUSE_FROM relish_pch)
  endif()
endfunction()

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
    relish_use_pch(relish_${name})
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
