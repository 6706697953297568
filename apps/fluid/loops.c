// Rows by sorrel_parallel_for.
#include <sorrel.h>

#include "shared.h"

struct loop {
  struct solver* s;
  row_kernel kernel;
};

static int run_part(void* argument, int64_t begin, int64_t end) {
  const struct loop* loop = argument;
  for (int64_t i = begin; i < end; i++)
    loop->kernel(loop->s, (int)i);
  return 0;
}

void run_rows(struct solver* s, row_kernel kernel, double* changed) {
  (void)changed;
  struct loop loop = {s, kernel};
  sorrel_parallel_for(0, s->n, run_part, &loop, NULL);
}
