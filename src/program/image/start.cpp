#include "program/image/start.hpp"

#include "program/base/libc.hpp"
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

int run_in_process_mode(int argc, char** argv, char** environment) {
  program_begins_in_process_mode();
  return program_start.main(argc, argv, environment);
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
  record_program_libraries();
  if (program_runs_in_process_mode())
    return real(run_in_process_mode, argc, argv, init, fini, loader_fini, stack_end);
  program_start.init = init;
  // The loader runs no destructors of the template image at the end: those of the ranks have run.
  return real(drive, argc, argv, no_constructors, nullptr, nullptr, stack_end);
}
