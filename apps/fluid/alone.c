// Rows one after the other: the reference for the other ways.
#include "shared.h"

void run_rows(struct solver* s, row_kernel kernel, double* changed) {
  (void)changed;
  for (int i = 0; i < s->n; i++)
    kernel(s, i);
}
