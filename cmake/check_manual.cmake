# Compares the generated pages of the manual with what the program prints.
# Usage: cmake -DPROGRAM=relish -DDOCS=docs -DEXAMPLES=manual_examples -P check_manual.cmake
function(check_page name command option)
  execute_process(COMMAND "${PROGRAM}" ${command} ${option} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "relish ${command} ${option} failed: ${status}")
  endif()
  file(READ "${DOCS}/${name}.md" committed)
  if(NOT printed STREQUAL committed)
    message(FATAL_ERROR "docs/${name}.md is stale: run ./dev docs and commit it")
  endif()
endfunction()

# The page of coverage, made by the program that runs the manual's examples; it fails for a row without a test.
execute_process(COMMAND "${EXAMPLES}" --coverage OUTPUT_VARIABLE printed RESULT_VARIABLE status
  ERROR_VARIABLE problems)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the tables of the text surface are not covered:\n${problems}")
endif()
file(READ "${DOCS}/coverage.md" committed)
if(NOT printed STREQUAL committed)
  message(FATAL_ERROR "docs/coverage.md is stale: run ./dev docs and commit it")
endif()

check_page(operators ops --markdown)
check_page(other-libraries ops --elsewhere)
check_page(commands help --markdown)
