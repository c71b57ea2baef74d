# Compares docs/session.svg with what docs/draw_session.awk draws of the transcript, which the test `golden` holds to
# what the program says.
# Usage: cmake -DSOURCE_DIR=… -P check_session_picture.cmake
execute_process(COMMAND awk -f docs/draw_session.awk tests/golden/repl/first-session.session
  WORKING_DIRECTORY "${SOURCE_DIR}" OUTPUT_VARIABLE drawn RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "docs/draw_session.awk failed: ${status}")
endif()
file(READ "${SOURCE_DIR}/docs/session.svg" committed)
if(NOT drawn STREQUAL committed)
  message(FATAL_ERROR "docs/session.svg is stale: run ./dev docs and commit it")
endif()
