// More regions with a loop of schedule(auto) than a team has slots for constructs.
#include <stdio.h>

int main(void) {
  long sum = 0;
  int largest = 0;
  for (int round = 0; round < 40; round++) {
#pragma omp parallel num_threads(3)
    {
#pragma omp for schedule(auto) reduction(+ : sum)
      for (long i = 100; i >= 0; i--)
        sum += i;
    }
#pragma omp parallel for num_threads(3) schedule(auto) reduction(max : largest)
    for (int i = 0; i < 50; i++)
      largest = largest > i ? largest : i;
#pragma omp parallel for num_threads(3) schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < 10; i++)
      sum++;
  }
  printf("sum %ld, largest %d\n", sum, largest);
  return 0;
}
