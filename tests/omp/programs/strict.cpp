// Taskloops with exact grains and numbers: how many iterations each task has.
#include <cstdio>

namespace {

int made = 0;

struct Number {
  int value = 0;
  Number() = default;

  Number(const Number&) : value(++made) {}
};

void print(const char* what, int* sizes) {
  std::printf("%s:", what);
  for (int i = 0; i < 64; ++i) {
    if (sizes[i] != 0) std::printf(" %d", sizes[i]);
    sizes[i] = 0;
  }
  std::puts("");
  made = 0;
}

}  // namespace

int main() {
  Number number;
  int sizes[64] = {};
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp taskloop grainsize(strict : 7) firstprivate(number) shared(sizes)
    for (int i = 0; i < 30; ++i)
      sizes[number.value]++;
    print("grains of 7", sizes);
#pragma omp taskloop grainsize(strict : 10) firstprivate(number) shared(sizes)
    for (int i = 0; i < 30; ++i)
      sizes[number.value]++;
    print("grains of 10", sizes);
#pragma omp taskloop grainsize(strict : 50) firstprivate(number) shared(sizes)
    for (int i = 0; i < 30; ++i)
      sizes[number.value]++;
    print("one grain", sizes);
#pragma omp taskloop num_tasks(strict : 4) firstprivate(number) shared(sizes)
    for (long long i = 30; i > 0; --i)
      sizes[number.value]++;
    print("4 tasks", sizes);
#pragma omp taskloop grainsize(strict : 4) firstprivate(number) shared(sizes)
    for (unsigned long long i = 0; i < 45; i += 3)
      sizes[number.value]++;
    print("grains of 4", sizes);
  }
}
