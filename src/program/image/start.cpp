#include "program/image/start.hpp"

#include <cstddef>
#include <cstdint>
#include <link.h>

#include "program/base/libc.hpp"
#include "program/image/driver_libraries.hpp"
#include "program/image/library_check.hpp"

namespace sorrel::program {

namespace {

using LibcStartMain = int(Main main,
                          int argc,
                          char** argv,
                          LegacyInit init,
                          void (*fini)(),
                          void (*loader_fini)(),
                          void* stack_end);

// For drive(): the signature of main has no room for it.
ProgramStart program_start;

int drive(int argc, char** argv, char** environment) {
  program_start.argc = argc;
  program_start.argv = argv;
  program_start.environment = environment;
  return program_driver(program_start);
}

/// As the C library does for programs linked since glibc 2.34.
void run_constructors_of_executable(int argc, char** argv, char** environment) {
  const link_map& executable = *_r_debug.r_map;
  const auto at = [&](std::uintptr_t offset) { return executable.l_addr + offset; };
  const LegacyInit* constructors = nullptr;
  std::size_t bytes = 0;
  for (const ElfW(Dyn)* entry = executable.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_INIT)
      reinterpret_cast<LegacyInit>(at(entry->d_un.d_ptr))(argc, argv, environment);
    if (entry->d_tag == DT_INIT_ARRAY)
      constructors = reinterpret_cast<const LegacyInit*>(at(entry->d_un.d_ptr));
    if (entry->d_tag == DT_INIT_ARRAYSZ) bytes = entry->d_un.d_val;
  }
  for (std::size_t i = 0; i < bytes / sizeof(LegacyInit); ++i)
    constructors[i](argc, argv, environment);
}

/// The program's constructors, in a process of its own. What begins before them ends after the
/// destructors of static objects: these may call MPI.
void begin_in_process_mode(int argc, char** argv, char** environment) {
  program_begins_in_process_mode();
  const LegacyInit init = program_start.init;
  (init != nullptr ? init : run_constructors_of_executable)(argc, argv, environment);
}

// Replaces the program's constructors, which run once per rank, on its stack.
void no_constructors(int, char**, char**) {}

}  // namespace

}  // namespace sorrel::program

SORREL_INTERPOSED int __libc_start_main(sorrel::program::Main main,
                                        int argc,
                                        char** argv,
                                        sorrel::program::LegacyInit init,
                                        void (*fini)(),
                                        void (*loader_fini)(),
                                        void* stack_end) {
  using namespace sorrel::program;
  auto* real = next_definition<LibcStartMain>("__libc_start_main");
  if (program_driver == nullptr) return real(main, argc, argv, init, fini, loader_fini, stack_end);
  program_start.main = main;
  program_start.init = init;
  record_program_libraries();
  record_driver_libraries();
  if (program_runs_in_process_mode())
    return real(main, argc, argv, begin_in_process_mode, fini, loader_fini, stack_end);
  // The loader runs no destructors of the template image at the end: those of the ranks have run.
  return real(drive, argc, argv, no_constructors, nullptr, nullptr, stack_end);
}
