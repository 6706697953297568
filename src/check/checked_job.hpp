//! CheckedJob - a job that may be checked: passes the events in the library on to its checker.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "mpi/match/observer.hpp"

namespace sorrel::check {

class Checker;

class CheckedJob : public mpi::Observer {
 public:
  /// `folder`: for the findings; "": the job is not checked.
  CheckedJob(const std::string& folder, std::int32_t rank_count);
  ~CheckedJob() override;
  CheckedJob(const CheckedJob&) = delete;
  CheckedJob& operator=(const CheckedJob&) = delete;

  /// Null if the job is not checked.
  [[nodiscard]] Checker* checker() const { return checker_.get(); }

  void on_error(mpi::RankState& self, int error_class, const char* detail, bool is_fatal) override;
  void on_receive(const mpi::Request& receive,
                  const mpi::Envelope& envelope,
                  std::size_t bytes) override;

 private:
  const std::unique_ptr<Checker> checker_;
};

/// The checker of a rank's job; null: the run is not checked.
[[nodiscard]] Checker* checker_of(const mpi::RankState& self);

/// The function that the program has called, where the library runs another one for a check.
[[nodiscard]] const char* name_of_call(const mpi::RankState& self);

}  // namespace sorrel::check
