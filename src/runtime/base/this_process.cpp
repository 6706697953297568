#include "runtime/base/this_process.hpp"

#include <atomic>

#include "os/own_process.hpp"

namespace sorrel::runtime {

namespace {

std::atomic<Job*> the_job{nullptr};

}  // namespace

void set_job_of_process(Job* job) {
  os::record_own_process();
  // Release, pairs with job_of_process(): the job is made.
  the_job.store(job, std::memory_order_release);
}

Job* job_of_process() {
  return the_job.load(std::memory_order_acquire);
}

}  // namespace sorrel::runtime
