#include "mpi/io/shared_pointer.hpp"

#include "mpi/rma/operations.hpp"
#include "mpi/rma/passive.hpp"

namespace sorrel::mpi {

namespace {

const Datatype& number_type() {
  return *datatype_from_handle(MPI_INT64_T);
}

/// Combines `operand` with the number in the window.
int combine(File& file, MPI_Op op, std::int64_t operand, std::int64_t* before) {
  Win& win = *file.pointer_window;
  const TypedBuffer origin{.buffer = &operand, .count = 1, .type = &number_type()};
  const TypedBuffer result{.buffer = before, .count = 1, .type = &number_type()};
  const TargetBuffer target{.rank = 0, .displacement = 0, .count = 1, .type = &number_type()};
  const int error = get_accumulate(win, origin, result, target, *op_from_handle(op), {});
  return error != MPI_SUCCESS ? error : flush(win, 0);
}

}  // namespace

int advance_shared_pointer(File& file, std::int64_t etypes, std::int64_t* before) {
  if (file.pointer_window != nullptr)
    return combine(file, etypes == 0 ? MPI_NO_OP : MPI_SUM, etypes, before);
  *before = file.shared->shared_position.fetch_add(etypes, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

int set_shared_pointer(File& file, std::int64_t etypes) {
  std::int64_t unused = 0;
  if (file.pointer_window != nullptr) return combine(file, MPI_REPLACE, etypes, &unused);
  file.shared->shared_position.store(etypes, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

int divide_shared_range(const Member& member,
                        File& file,
                        std::int64_t etypes,
                        std::int64_t* begin) {
  const Op& op = *op_from_handle(MPI_SUM);
  std::int64_t end = etypes;
  const ReductionArguments sum{.send = &etypes,
                               .receive = &end,
                               .count = 1,
                               .type = number_type(),
                               .op = op,
                               .kernel = predefined_kernel(op, number_type())};
  if (member.comm.size() > 1) {
    if (const int error = scan(member, sum, ScanKind::inclusive); error != MPI_SUCCESS)
      return error;
  }
  // The last member knows the sum.
  const std::int32_t last = member.comm.size() - 1;

  struct {
    std::int64_t first = 0;
    std::int64_t error = MPI_SUCCESS;
  } range;

  if (member.comm.rank == last) range.error = advance_shared_pointer(file, end, &range.first);
  if (last > 0) {
    const TypedBuffer buffer{.buffer = &range, .count = 2, .type = &number_type()};
    if (const int error = broadcast(member, buffer, last); error != MPI_SUCCESS) return error;
  }
  *begin = range.first + end - etypes;
  return static_cast<int>(range.error);
}

}  // namespace sorrel::mpi
