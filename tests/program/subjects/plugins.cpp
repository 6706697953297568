// Each rank opens plug-ins and must find instances of its own, as in a process of its own.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <string>
#include <thread>
#include <vector>

#include "plugin_parts.hpp"

int host_rank = -1;
// Not destroyed: plug-ins end after the host.
auto& notes = *new std::vector<std::string>;

extern "C" void host_note(const char* what) {
  notes.emplace_back(what);
}

namespace {

std::string folder;

void require(bool condition, const char* what) {
  if (condition) return;
  const char* error = dlerror();
  std::printf("rank %d: %s: %s\n", host_rank, what, error != nullptr ? error : "no error");
  std::fflush(stdout);
  std::_Exit(1);
}

std::string path_of(const char* name) {
  return folder + "/libsubject_plugin_" + name + ".so";
}

void* open(const char* name, int flags = RTLD_NOW) {
  void* library = dlopen(path_of(name).c_str(), flags);
  require(library != nullptr, name);
  return library;
}

template <class Function>
Function* get(void* library, const char* name) {
  void* found = dlsym(library, name);
  require(found != nullptr, name);
  return reinterpret_cast<Function*>(found);
}

int ranks_between() {
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}

bool has_notes(const std::vector<std::string>& expected) {
  const bool is_equal = notes == expected;
  if (!is_equal) {
    for (const std::string& note : notes)
      std::printf("note: %s\n", note.c_str());
  }
  return is_equal;
}

int count_files(dl_phdr_info* info, std::size_t, void* count) {
  *static_cast<int*>(count) += std::strstr(info->dlpi_name, "plugin_parts") != nullptr;
  return 0;
}

void check_thread_locals(void* library, int first) {
  auto* change = get<int(int)>(library, "plugin_thread_locals");
  require(change(host_rank) == first * 1000 + 7 * 1000 + host_rank * 1001, "thread-locals");
}

void check_addresses(void* library) {
  Dl_info info;
  auto* target = get<int*()>(library, "plugin_target");
  require(dladdr(reinterpret_cast<void*>(target), &info) != 0 &&
              std::strstr(info.dli_fname, "plugin_parts") != nullptr &&
              std::strcmp(info.dli_sname, "plugin_target") == 0 &&
              info.dli_saddr == reinterpret_cast<void*>(target),
          "dladdr");
  require(dlvsym(library, "plugin_target", "NONE") == nullptr, "dlvsym");
  require(dlsym(RTLD_DEFAULT, "plugin_target") == nullptr, "RTLD_LOCAL");
  auto* find = get<const void*(const char*)>(library, "plugin_find");
  require(find("plugin_target") == reinterpret_cast<void*>(target), "RTLD_DEFAULT in the plug-in");
  require(find("host_rank") == &host_rank, "RTLD_DEFAULT of the host");
  auto* next = get<const void*(const char*)>(library, "plugin_next_definition");
  require(next("base_count") == dlsym(library, "base_count"), "RTLD_NEXT");
  require(next("malloc") != nullptr && next("plugin_target") == nullptr, "RTLD_NEXT of others");
  int count = 0;
  dl_iterate_phdr(count_files, &count);
  require(count == 1, "dl_iterate_phdr");
}

void check_state(void* library) {
  require(get<const char*()>(library, "plugin_text")() == "of rank " + std::to_string(host_rank),
          "constructor");
  auto* next = get<int()>(library, "plugin_next");
  auto* base_count = get<int>(library, "base_count");
  require(*base_count == 10, "data of the dependency");
  for (int i = 0; i < host_rank; ++i)
    next();
  ranks_between();
  require(*base_count == 10 + 101 * host_rank, "data of the dependency is shared");
  int* target = get<int*()>(library, "plugin_target")();
  require(*target == 3, "static data");
  *target = host_rank;
  require(get<int()>(library, "plugin_through_name")() == 21, "data bound by name");
  ranks_between();
  require(*target == host_rank, "static data is shared");
  *target = 3;
}

void check_exceptions(void* library) {
  require(get<int()>(library, "plugin_catches")() == 1, "exception inside");
  int caught = -1;
  try {
    get<void(int)>(library, "plugin_throws")(host_rank);
  } catch (int value) {
    caught = value;
  }
  require(caught == host_rank, "exception from the plug-in");
}

void check_threads(void* library) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([library, i] {
      void* again = open("parts");
      require(again == library, "handle of a thread");
      require(get<int(int)>(library, "plugin_thread_locals")(i) == 7000 + 1001 * i,
              "thread-locals of a thread");
      check_exceptions(library);
      dlclose(again);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

void all_parts() {
  void* library = open("parts");
  require(has_notes({"base begins", "plug-in begins"}), "constructors");
  notes.clear();
  check_state(library);
  check_thread_locals(library, 0);
  check_addresses(library);
  check_exceptions(library);
  check_threads(library);
  require(notes.empty(), "constructors have run again");
  require(dlopen("libsubject_plugin_parts.so", RTLD_NOW | RTLD_NOLOAD) == library, "RTLD_NOLOAD");
  require(dlclose(library) == 0, "count of uses");
  // It stays for the destructor of a thread-local object.
  require(dlclose(library) == 0 && notes.empty(), "destructors of a library in use");
}

void closing() {
  void* library = open("parts");
  void* base = open("base");
  check_state(library);
  notes.clear();
  get<void()>(library, "plugin_at_exit")();
  require(open("parts") == library && dlclose(library) == 0 && notes.empty(), "count of uses");
  require(dlclose(base) == 0 && notes.empty(), "a library that another one needs");
  require(dlclose(library) == 0, "dlclose");
  require(has_notes({"handler", "plug-in ends", "base ends"}), "destructors");
  require(dlopen(path_of("parts").c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr, "closed");
  notes.clear();
  check_state(open("parts"));
}

// Each rank for itself, and never all at once.
void some_ranks() {
  if (host_rank % 3 != 1) {
    ranks_between();
    ranks_between();
    require(dlopen(path_of("base").c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr,
            "opened by another rank");
    void* late = open("base");
    require(get<int()>(late, "base_next")() == 11, "the second instance is as the first was");
    return;
  }
  void* base = open("base");
  require(has_notes({"base begins"}), "constructors");
  require(get<int()>(base, "base_next")() == 11, "state");
  ranks_between();
  require(dlclose(base) == 0 && has_notes({"base begins", "base ends"}), "dlclose");
  base = open("base");
  require(get<int()>(base, "base_next")() == 11, "state of a new instance");
  ranks_between();
}

void scopes() {
  // In ranks without the provider, the user's weak reference stays null, in whichever order.
  const bool has_provider = host_rank % 2 == 1;
  if (host_rank % 4 < 2) ranks_between();
  if (has_provider) {
    void* provider = open("provider", RTLD_NOW | RTLD_GLOBAL);
    require(dlsym(RTLD_DEFAULT, "provided") == dlsym(provider, "provided"), "RTLD_GLOBAL");
    require(dlsym(dlopen(nullptr, RTLD_NOW), "provided") == dlsym(provider, "provided"),
            "dlopen of null");
    *get<int*()>(provider, "provided_address")() = host_rank;
  } else {
    require(dlsym(RTLD_DEFAULT, "provided") == nullptr, "RTLD_GLOBAL of another rank");
  }
  const int value = get<int()>(open("user"), "user_value")();
  require(value == (has_provider ? host_rank + 10 * (host_rank + 1) : -5), "symbols of the scope");
  if (host_rank % 4 >= 2) ranks_between();
}

void opener() {
  require(get<int()>(open("opener"), "opener_value")() == 1, "a plug-in opens a plug-in");
  require(get<int()>(open("opener"), "opener_value")() == 2, "its state");
}

// The host's own definition, or the plug-in's: one for the rank in any case.
void unique() {
  require(get<int()>(open("parts"), "plugin_shared")() == 1, "a variable that a process has once");
  require(shared_by_plugins() == 1, "the host's own");
}

void spaces() {
  require(dlmopen(LM_ID_NEWLM, path_of("base").c_str(), RTLD_NOW) == nullptr &&
              std::strstr(dlerror(), "name space") != nullptr,
          "dlmopen");
  require(dlopen(path_of("base").c_str(), RTLD_NOW | RTLD_DEEPBIND) == nullptr &&
              std::strstr(dlerror(), "RTLD_DEEPBIND") != nullptr,
          "RTLD_DEEPBIND");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &host_rank);
  folder = argv[1];
  const std::string part = argv[2];
  if (part == "all") all_parts();
  if (part == "closing") closing();
  if (part == "some") some_ranks();
  if (part == "scopes") scopes();
  if (part == "opener") opener();
  if (part == "unique") unique();
  if (part == "spaces") spaces();
  std::printf("plug-ins of rank %d are its own\n", host_rank);
  MPI_Finalize();
  return 0;
}
