// Calls offloading, which this OpenMP library does not support.
int main(void) {
  int result = 1;
#pragma omp target map(result)
  result = 0;
  return result;
}
