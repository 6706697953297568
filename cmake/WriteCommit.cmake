# cmake -D SOURCE=DIR -D HEADER=FILE -P WriteCommit.cmake: writes the commit of the sources as SORREL_COMMIT, "" without
# git. Runs in every build; an unchanged header is left alone, so that nothing is compiled again.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
execute_process(COMMAND git -C ${SOURCE} rev-parse --show-toplevel
  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
# Sources in a folder below another project's repository have no commit of their own.
if(status OR NOT top STREQUAL SOURCE)
  set(commit "")
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#pragma once\n#define SORREL_COMMIT \"${commit}\"\n")
