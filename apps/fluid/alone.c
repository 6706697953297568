// Rows one after the other: what the others are measured against.
#include "shared.h"

void run_rows(struct solver* s, row_kernel kernel, double* changed) {
  (void)changed;
  for (int i = 0; i < s->n; i++)
    kernel(s, i);
}
