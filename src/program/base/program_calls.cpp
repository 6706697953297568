#include "program/base/program_calls.hpp"

// The linker's symbols for the begin and the end of the section.
extern "C" {
[[gnu::visibility("hidden")]] extern const char __start_sorrel_calls[];
[[gnu::visibility("hidden")]] extern const char __stop_sorrel_calls[];
}

#define SORREL_PROGRAM_CALL [[gnu::section("sorrel_calls"), gnu::noinline]]

namespace sorrel::program {

namespace {

/// Stands behind a call, which therefore is no jump.
[[gnu::always_inline]] inline void stay() {
  asm volatile("");
}

}  // namespace

SORREL_PROGRAM_CALL int call_program(int (*function)(int, char**, char**),
                                     int argc,
                                     char** argv,
                                     char** environment) {
  const int result = function(argc, argv, environment);
  stay();
  return result;
}

SORREL_PROGRAM_CALL void call_program(void (*function)(int, char**, char**),
                                      int argc,
                                      char** argv,
                                      char** environment) {
  function(argc, argv, environment);
  stay();
}

SORREL_PROGRAM_CALL void call_program(void (*function)()) {
  function();
  stay();
}

SORREL_PROGRAM_CALL void call_program(void (*function)(void*), void* argument) {
  function(argument);
  stay();
}

SORREL_PROGRAM_CALL void call_program(void (*function)(int), int number) {
  function(number);
  stay();
}

SORREL_PROGRAM_CALL void call_program(void (*function)(int, void*), int status, void* argument) {
  function(status, argument);
  stay();
}

SORREL_PROGRAM_CALL void call_program(void (*function)(int, siginfo_t*, void*),
                                      int number,
                                      siginfo_t* info,
                                      void* context) {
  function(number, info, context);
  stay();
}

SORREL_PROGRAM_CALL void* call_program(void* (*function)(void*), void* argument) {
  void* result = function(argument);
  stay();
  return result;
}

bool is_program_call(const void* code) {
  return code >= __start_sorrel_calls && code < __stop_sorrel_calls;
}

}  // namespace sorrel::program
