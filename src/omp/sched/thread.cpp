#include "omp/sched/thread.hpp"

namespace sorrel::omp {

constinit thread_local Thread* own_thread [[gnu::tls_model("initial-exec")]] = nullptr;

}  // namespace sorrel::omp
