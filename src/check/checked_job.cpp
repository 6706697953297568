#include "check/checked_job.hpp"

#include "check/checker.hpp"

namespace sorrel::check {

CheckedJob::CheckedJob(const std::string& folder, std::int32_t rank_count)
    : checker_(folder.empty() ? nullptr : std::make_unique<Checker>(folder, rank_count)) {}

CheckedJob::~CheckedJob() = default;

void CheckedJob::on_error(mpi::RankState& self,
                          int error_class,
                          const char* detail,
                          bool is_fatal) {
  checker_->on_error(self, error_class, detail, is_fatal);
}

void CheckedJob::on_receive(const mpi::Request& receive,
                            const mpi::Envelope& envelope,
                            std::size_t bytes) {
  checker_->on_receive(receive, envelope, bytes);
}

Checker* checker_of(const mpi::RankState& self) {
  // Observers are checked jobs.
  auto* observer = mpi::observer_of(self);
  return observer == nullptr ? nullptr : static_cast<CheckedJob*>(observer)->checker();
}

const char* name_of_call(const mpi::RankState& self) {
  const Checker* checker = checker_of(self);
  return checker == nullptr ? self.fiber.call : checker->name_of_call(self);
}

}  // namespace sorrel::check
