//! OutsideCall - while it exists, the rank waits outside of MPI, in a call of the C library or of a
//! driver: tables of waits name that call, and no place in the program.
//!
//! By the rank, on its worker, around the switch to other ranks.
#pragma once

#include <utility>

#include "core/fiber.hpp"
#include "program/state/outside_wait.hpp"

namespace sorrel::program {

class OutsideCall {
 public:
  OutsideCall(OutsideWaitMark& mark,
              core::Fiber& fiber,
              const OutsideWait& wait,
              const OutsideSubject& subject = {})
      : mark_(mark),
        fiber_(fiber),
        outer_call_(std::exchange(fiber.call, wait.call)),
        outer_site_(std::exchange(fiber.call_site, nullptr)) {
    mark_.set(wait, subject);
  }

  ~OutsideCall() {
    fiber_.call = outer_call_;
    fiber_.call_site = outer_site_;
    mark_.clear();
  }

  OutsideCall(const OutsideCall&) = delete;
  OutsideCall& operator=(const OutsideCall&) = delete;

 private:
  OutsideWaitMark& mark_;
  core::Fiber& fiber_;
  const char* const outer_call_;
  const void* const outer_site_;
};

}  // namespace sorrel::program
