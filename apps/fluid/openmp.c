// Rows by OpenMP.
#include "shared.h"

void run_rows(struct solver* s, row_kernel kernel, double* changed) {
  (void)changed;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < s->n; i++)
    kernel(s, i);
}
