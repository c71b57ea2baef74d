# What `./dev test NAME` builds and runs: the named tests, and of the build folder what their commands name.
# Usage: cmake -DSOURCE_DIR=… -DPRESET=… -P check_dev_test.cmake
# `--dry-run` alone is called here, which does neither.
function(expect_plan names wanted)
  separate_arguments(words UNIX_COMMAND "${names}")
  execute_process(COMMAND "${SOURCE_DIR}/dev" test --preset "${PRESET}" --dry-run ${words}
    OUTPUT_VARIABLE found ERROR_VARIABLE errors RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "./dev test --dry-run ${names} ends with ${status}: ${errors}")
  endif()
  string(REPLACE "\n" ", " found "${found}")
  if(NOT found STREQUAL wanted)
    message(FATAL_ERROR "./dev test ${names}\n  found    ${found}\n  expected ${wanted}")
  endif()
endfunction()

expect_plan("test_support" "test test_support, build tests/test_support")
expect_plan("layers" "test layers")
expect_plan("test_support layers" "test test_support, test layers, build tests/test_support")
# A name is matched whole, a pattern too; several tests of one program need it once.
expect_plan("test_ops" "test test_ops, build tests/test_ops")
expect_plan("test_ops_[01]" "test test_ops_0, test test_ops_1, build tests/test_ops")
expect_plan("coverage" "test coverage, build relish")
# Programs that stand inside an argument; arguments of ctest; the slow tests.
expect_plan("manual" "test manual, build relish, build tests/manual_examples")
expect_plan("-R ^test_i" "test test_ir, test test_interp, build tests/test_interp, build tests/test_ir")
expect_plan("--full scale_growth" "test scale_growth, build relish, build tests/scale_growth")

execute_process(COMMAND "${SOURCE_DIR}/dev" test --preset "${PRESET}" --dry-run no_such_test
  OUTPUT_VARIABLE found ERROR_VARIABLE errors RESULT_VARIABLE status)
if(status EQUAL 0 OR NOT errors MATCHES "no test is called no_such_test")
  message(FATAL_ERROR "./dev test no_such_test ends with ${status}: ${found}${errors}")
endif()
