//! Calls of the program's functions: of constructors, main, handlers.
//!
//! A function whose last action is a call may jump there. The return address that the interposed
//! function sees is then that of this call, in this library, although the program calls. So the
//! code of these functions lies in a section of its own, which is_of_this_library() leaves out.
#pragma once

#include <csignal>

namespace sorrel::program {

int call_program(int (*function)(int, char**, char**), int argc, char** argv, char** environment);
void call_program(void (*function)(int, char**, char**), int argc, char** argv, char** environment);
void call_program(void (*function)());
void call_program(void (*function)(void*), void* argument);
void call_program(void (*function)(int), int number);
void call_program(void (*function)(int, void*), int status, void* argument);
void call_program(void (*function)(int, siginfo_t*, void*),
                  int number,
                  siginfo_t* info,
                  void* context);
void* call_program(void* (*function)(void*), void* argument);

/// Whether `code`, a return address, is that of such a call.
[[nodiscard]] bool is_program_call(const void* code);

}  // namespace sorrel::program
