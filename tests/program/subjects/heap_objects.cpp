// heap_objects: C++ containers, exceptions and threads of every rank use the rank's own heap.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mpi.h>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

struct alignas(256) Wide {
  double values[40] = {};
};

void require(bool condition, const char* what) {
  if (condition) return;
  std::printf("failed: %s\n", what);
  std::abort();
}

// Before main, and of the rank's own library.
const std::string made_early(1000, 'e');

bool are_near(const void* first, const void* second) {
  constexpr std::intptr_t near_bytes = 256 << 10;
  return std::abs(reinterpret_cast<std::intptr_t>(first) -
                  reinterpret_cast<std::intptr_t>(second)) < near_bytes;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto by_new = std::make_unique<int>(rank);
  void* by_malloc = std::malloc(10);
  require(are_near(by_new.get(), by_malloc), "operator new uses the rank's heap");
  require(are_near(made_early.data(), by_malloc), "constructors use the rank's heap");
  std::free(by_malloc);
  std::map<int, std::vector<std::string>> texts;
  for (int step = 0; step < 20; ++step) {
    for (int i = 0; i < 300; ++i)
      texts[i % 40].push_back(std::string(static_cast<std::size_t>(i), 'a'));
    MPI_Barrier(MPI_COMM_WORLD);
    for (auto& [key, list] : texts)
      list.resize(list.size() / 2);
    auto wide = std::make_unique<Wide[]>(10);
    require(reinterpret_cast<std::uintptr_t>(wide.get()) % 256 == 0, "operator new aligns");
    try {
      if (step % 2 == 0) throw std::vector<int>(1000, step);
    } catch (const std::vector<int>& thrown) {
      require(thrown[999] == step, "exceptions carry memory");
    }
  }
  std::vector<std::vector<double>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results)
    threads.emplace_back([&result] { result.assign(50'000, 1.5); });
  for (std::thread& thread : threads)
    thread.join();
  for (const auto& result : results)
    require(result.back() == 1.5, "threads allocate");
  volatile std::size_t much = SIZE_MAX / 4;
  bool was_refused = false;
  try {
    char* volatile block = new char[much];
    delete[] block;
  } catch (const std::bad_alloc&) {
    was_refused = true;
  }
  require(was_refused, "impossible requests throw");
  std::printf("objects of rank %d have a heap\n", rank);
  MPI_Finalize();
  return 0;
}
