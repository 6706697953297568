// State that belongs to one thread: thread_local objects, errno, exceptions, pthread keys, in
// regions of several native threads.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <locale.h>
#include <omp.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

thread_local std::string name = "unnamed";
thread_local int count = 0;
pthread_key_t key;

int check_thread(int me) {
  name = "thread " + std::to_string(me);
  errno = 1000 + me;
  count++;
  pthread_setspecific(key, reinterpret_cast<void*>(static_cast<long>(me + 1)));
#pragma omp barrier
  int right = name == "thread " + std::to_string(me) && errno == 1000 + me &&
              pthread_getspecific(key) == reinterpret_cast<void*>(static_cast<long>(me + 1));
  try {
    std::vector<char> some(100 + static_cast<size_t>(me));
    if (me % 2 == 0) throw std::runtime_error(name);
#pragma omp critical
    right = right && some.size() > 99;
  } catch (const std::exception& error) {
    // Other threads run while this one is inside its handler.
#pragma omp critical
    right = right && std::strcmp(error.what(), name.c_str()) == 0;
  }
#pragma omp barrier
  pthread_attr_t attributes;
  void* bottom = nullptr;
  size_t bytes = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &bottom, &bytes);
  pthread_attr_destroy(&attributes);
  char here = 0;
  return right && &here >= bottom && &here < static_cast<char*>(bottom) + bytes;
}

int regions() {
  int right = 1;
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(6) reduction(&& : right)
    right = right && check_thread(omp_get_thread_num()) && count == round + 1;
  }
  return right;
}

/// Threads that spin for each other in a loop of the program: more threads than cores.
int take_turns() {
  std::atomic<int> turn{0};
#pragma omp parallel num_threads(5)
  {
    const int me = omp_get_thread_num();
    while (turn.load() != 4 - me) {
    }
    turn++;
  }
  return turn.load();
}

}  // namespace

int main() {
  pthread_key_create(&key, nullptr);
  std::printf("main %d\n", regions());
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        long sum = 0;
        for (int j = 0; j < 30; ++j) {
#pragma omp parallel for num_threads(3) reduction(+ : sum) schedule(dynamic)
          for (int k = 0; k < 100; ++k)
            sum += k;
        }
        right += sum == 30L * 4950;
      });
    for (std::thread& thread : threads)
      thread.join();
    std::printf("native threads %d\n", right.load());
  }
  // Memory allocated on one thread is freed on another.
  std::vector<std::string*> strings(1000);
#pragma omp parallel for num_threads(8) schedule(static, 1)
  for (int i = 0; i < 1000; ++i)
    strings[static_cast<size_t>(i)] = new std::string(100, 'x');
#pragma omp parallel for num_threads(5) schedule(dynamic, 1)
  for (int i = 0; i < 1000; ++i)
    delete strings[static_cast<size_t>(i)];
  std::printf("memory\n");
  std::printf("turns %d\n", take_turns());
  // Also on a thread that comes after others have ended.
  std::thread([] { std::printf("turns %d\n", take_turns()); }).join();
  return 0;
}
