// Every global of a program and of its three libraries is a rank's own: constructors, pointers
// between modules, COPY, IFUNC and unique symbols, thread-locals, exceptions, types, look-ups by
// name, exit handlers, the state of the C++ library.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <iostream>
#include <locale>
#include <memory>
#include <mpi.h>
#include <new>

#include "chain_cxx.hpp"

extern "C" [[gnu::weak]] void chain_fortran(int rank, int* sum);

namespace {

int rank;
int failures;

void check(bool is_right, const char* what) {
  if (is_right) return;
  ++failures;
  std::printf("rank %d: wrong: %s\n", rank, what);
}

#define CHECK(expression) check(expression, #expression)

int* exported_pointer = &chain_exported;
int (*const functions[])() = {chain_count, chain_hook};

void let_others_run() {
  for (int i = 0; i < 3; ++i)
    MPI_Barrier(MPI_COMM_WORLD);
}

[[noreturn]] void throw_from_program(int value) {
  throw ChainError("thrown by the program", value);
}

void at_exit() {
  if (chain_exported != 500 + rank) std::printf("rank %d: wrong at exit\n", rank);
}

struct Punctuation : std::numpunct<char> {
  [[nodiscard]] char do_decimal_point() const override {
    return static_cast<char>('a' + rank % 26);
  }
};

void check_data() {
  CHECK(chain_constructed() == 100 && chain_exported == 7 && exported_pointer == &chain_exported);
  CHECK(chain_table[0] == &chain_exported && *chain_table[1] == 101);
  CHECK(chain_name() == "made by a constructor, which counts to 101");
  CHECK(chain_count() == 102 && functions[0]() == 103 && *chain_table[1] == 103);
  CHECK(chain_resolved() == 103);
  CHECK(chain_calls_hook() == 1000 + rank && functions[1]() == 1000 + rank);
  *exported_pointer = 500 + rank;
  chain_inline = rank;
  chain_local_static() = rank;
  let_others_run();
  CHECK(chain_exported == 500 + rank && *chain_table[0] == 500 + rank);
  CHECK(chain_inline_seen() == rank && chain_local_static_seen() == rank);
}

void check_thread_locals() {
  CHECK(*chain_thread_local() == 42 && *chain_thread_local_pointer() == chain_table[1]);
  CHECK(chain_cxx_thread_local == 8 && chain_thread_name() == "of a thread, " + chain_name());
  CHECK(chain_started_thread_agrees());
  *chain_thread_local() = chain_cxx_thread_local = rank;
  chain_thread_name() = std::to_string(rank);
  let_others_run();
  CHECK(*chain_thread_local() == rank && chain_cxx_thread_local == rank);
  CHECK(chain_thread_name() == std::to_string(rank));
  CHECK(chain_key_works());
}

void check_exceptions_and_types() {
  try {
    chain_throw(rank);
  } catch (const ChainError& error) {
    CHECK(error.rank == rank && error.what() == "thrown for " + std::to_string(rank));
  }
  try {
    CHECK(chain_calls(throw_from_program, rank) == 0);
  } catch (const std::runtime_error& error) {
    CHECK(dynamic_cast<const ChainError*>(&error) != nullptr);
  }
  const std::unique_ptr<ChainBase> made(chain_make());
  CHECK(made->value() == 500 + rank && typeid(*made) == typeid(ChainDerived));
  CHECK(dynamic_cast<ChainDerived*>(made.get()) != nullptr);
}

void check_lookups() {
  Dl_info info{};
  CHECK(dladdr(reinterpret_cast<void*>(&chain_count), &info) != 0 &&
        std::strcmp(info.dli_sname, "chain_count") == 0 &&
        info.dli_saddr == reinterpret_cast<void*>(&chain_count));
  CHECK(dlsym(RTLD_DEFAULT, "chain_count") == reinterpret_cast<void*>(&chain_count));
  CHECK(dlsym(RTLD_DEFAULT, "chain_exported") == &chain_exported);
}

void check_cxx_library() {
  std::locale::global(std::locale(std::locale::classic(), new Punctuation));
  static const auto handler = +[] {};
  std::set_new_handler(handler);
  std::cout.precision(rank + 3);
  let_others_run();
  CHECK(std::use_facet<std::numpunct<char>>(std::locale()).decimal_point() == 'a' + rank % 26);
  CHECK(std::get_new_handler() == handler && std::cout.precision() == rank + 3);
}

void check_fortran() {
  if (chain_fortran == nullptr) return;
  int first = 0;
  int second = 0;
  chain_fortran(rank, &first);
  let_others_run();
  chain_fortran(rank, &second);
  CHECK(first == 5 + rank + 1010 + 1 && second == 5 + 2 * rank + 1030 + 2);
}

}  // namespace

extern "C" int chain_hook() {
  return 1000 + rank;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check_data();
  check_thread_locals();
  check_exceptions_and_types();
  check_lookups();
  check_cxx_library();
  check_fortran();
  if (rank < 4) CHECK(chain_runs_own_fork_handlers());
  chain_at_exit(at_exit);
  if (failures == 0) std::cout << "libraries of rank " << rank << " are its own\n";
  MPI_Finalize();
  if (rank % 2 == 0) std::exit(failures != 0);
  return failures != 0;
}
