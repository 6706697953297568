//! JobBindings - how `libsorrel`, in a process of a job, forwards all calls to the library that
//! runs the job.
//!
//! Both libraries export sorrel.h, and a program may load both: the order of linking decides which
//! one it calls. libmpi_abi defines sorrel_job_bindings_3(); libsorrel calls it if it is defined. A
//! later layout gets another number.
#pragma once

#include "sorrel.h"

namespace sorrel::loop {

struct JobBindings {
  decltype(&sorrel_yield) yield;
  decltype(&sorrel_parallel_for) parallel_for;
  decltype(&sorrel_parallel_reduce) parallel_reduce;
  decltype(&sorrel_loop_threads) loop_threads;
  decltype(&sorrel_limit_threads) limit_threads;
  decltype(&sorrel_freeze_threads) freeze_threads;
  decltype(&sorrel_set_threads) set_threads;
  decltype(&sorrel_is_comm_worker) is_comm_worker;
  decltype(&sorrel_explain_waits) explain_waits;
};

}  // namespace sorrel::loop

extern "C" [[gnu::weak]] const sorrel::loop::JobBindings* sorrel_job_bindings_3(void);
