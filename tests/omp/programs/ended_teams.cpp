// Thread-local objects and values of keys are destroyed when the threads of a team end: with the
// thread that was their master, and when the program pauses OpenMP.
#include <cstdio>
#include <omp.h>
#include <pthread.h>
#include <thread>
#include <time.h>

namespace {

int destroyed = 0;
int values_destroyed = 0;

struct Object {
  int uses = 0;

  ~Object() { __atomic_fetch_add(&destroyed, 1, __ATOMIC_SEQ_CST); }
};

thread_local Object object;
pthread_key_t key;

// The other library's threads end a moment after their master.
int wait_for(const int& count, int wanted) {
  for (int i = 0; i < 20000 && __atomic_load_n(&count, __ATOMIC_SEQ_CST) < wanted; ++i) {
    const timespec pause{0, 2'000'000};
    nanosleep(&pause, nullptr);
  }
  return __atomic_load_n(&count, __ATOMIC_SEQ_CST);
}

void use(int threads) {
#pragma omp parallel num_threads(threads)
  {
    object.uses++;
    pthread_setspecific(key, &object);
  }
}

int nested() {
  int count = 0;
#pragma omp parallel num_threads(3) reduction(+ : count)
  {
#pragma omp parallel num_threads(2) reduction(+ : count)
    {
      object.uses++;
      count++;
    }
  }
  return count;
}

}  // namespace

int main() {
  pthread_key_create(&key,
                     [](void*) { __atomic_fetch_add(&values_destroyed, 1, __ATOMIC_SEQ_CST); });
  for (int round = 1; round <= 3; ++round) {
    std::thread([] {
      use(8);
      use(8);
    }).join();
    std::printf("threads of an ended team: %d objects, %d values\n", wait_for(destroyed, 8 * round),
                wait_for(values_destroyed, 8 * round));
  }
  use(5);
  const int before = destroyed;
  std::printf("paused %d\n", omp_pause_resource_all(omp_pause_hard));
  std::printf("threads of a paused team: %d\n", wait_for(destroyed, before + 4) - before);
  // The next team is a new one, with new objects.
  int fresh = 0;
#pragma omp parallel num_threads(5) reduction(+ : fresh)
  fresh += object.uses == 0;
  std::printf("fresh objects: %d\n", fresh);
  omp_set_max_active_levels(2);
  std::thread([] { std::printf("nested %d\n", nested()); }).join();
  return 0;
}
