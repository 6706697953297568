#include "abi/call.hpp"

#include <cstdio>
#include <cstdlib>

#include "loop/job_threads.hpp"
#include "mpi/error_string.hpp"

namespace sorrel::abi {

RankState* come_to_rank() {
  if (sorrel_omp_come_home_1 == nullptr || !sorrel_omp_come_home_1()) return nullptr;
  return mpi::current_rank();
}

RankState* come_to_rank(const char* function) {
  RankState* self = come_to_rank();
  if (self != nullptr) return self;
  std::fprintf(stderr,
               "sorrel: %s was called from a thread that runs no rank: MPI_THREAD_FUNNELED is "
               "provided, only the thread "
               "that called MPI_Init may call MPI\n",
               function);
  std::_Exit(MPI_ERR_OTHER);
}

namespace {

[[noreturn]] void end_job_with(RankState& self, int error_class) {
  char message[512];
  const char* detail = self.detail().text();
  std::snprintf(message, sizeof message, "rank %d: %s: %s%s%s", self.world_rank, self.call,
                mpi::error_string(error_class), detail[0] != '\0' ? ": " : "", detail);
  self.world->job().end_job(&self, error_class, message);
}

}  // namespace

int wrong_phase(RankState& self) {
  const char* when =
      self.phase == mpi::Phase::before_init ? "before MPI_Init" : "after MPI_Finalize";
  return raise(self, self.self_comm, self.fail(MPI_ERR_OTHER, "called %s", when));
}

int raise_no_comm(RankState& self) {
  return raise(self, self.self_comm, self.fail(MPI_ERR_COMM, "the handle is no communicator"));
}

int raise(RankState& self, Comm& comm, int error_class) {
  const mpi::Errhandler& handler = *comm.errhandler;
  switch (handler.action) {
    case mpi::Errhandler::Action::give_back:
      break;
    case mpi::Errhandler::Action::call: {
      MPI_Comm handle = &comm == &self.world_comm  ? MPI_COMM_WORLD
                        : &comm == &self.self_comm ? MPI_COMM_SELF
                                                   : handle_of(comm);
      handler.function(&handle, &error_class);
      break;
    }
    case mpi::Errhandler::Action::fatal:
    case mpi::Errhandler::Action::abort:
      end_job_with(self, error_class);
  }
  self.detail() = {};
  return error_class;
}

}  // namespace sorrel::abi
