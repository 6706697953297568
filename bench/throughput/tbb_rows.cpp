// Rows of apps/fluid by oneTBB's parallel_for: a program for comparison in `sorrel bench
// throughput`.
extern "C" {
#include "shared.h"
}

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

extern "C" void run_rows(struct solver* s, row_kernel kernel, double*) {
  tbb::parallel_for(tbb::blocked_range<int>(0, s->n), [=](const tbb::blocked_range<int>& rows) {
    for (int i = rows.begin(); i < rows.end(); i++)
      kernel(s, i);
  });
}
