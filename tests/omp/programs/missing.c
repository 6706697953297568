// Calls what our OpenMP library does not have: offloading.
int main(void) {
  int result = 1;
#pragma omp target map(result)
  result = 0;
  return result;
}
