#include <limits>

#include "mpi/base/tuning.hpp"

namespace sorrel::mpi {

namespace {

constexpr std::uint32_t any = std::numeric_limits<std::uint32_t>::max();

// Estimates: `sorrel bench collectives` measures a machine, and writes a table of the same rows.
constexpr TuningTable::Row rows[] = {
    // limit, bytes, at most {ranks of a worker, processes, nodes}
    {Limit::bcast_staged, 16384, {any, any, any}},
    {Limit::allgather_staged, 512, {any, any, any}},
    {Limit::reduce_segment, 4096, {any, any, any}},
    {Limit::allreduce_direct, 8192, {any, 8, any}},
    {Limit::allreduce_direct, 0, {any, any, any}},
    {Limit::reduce_direct, 8192, {any, 8, any}},
    {Limit::reduce_direct, 0, {any, any, any}},
    {Limit::allreduce_repeated, 32768, {1, 1, any}},
    {Limit::allreduce_repeated, 0, {any, any, any}},
    {Limit::reduce_on_arrival, 8192, {1, 1, any}},
    {Limit::reduce_on_arrival, 4096, {4, 1, any}},
    {Limit::reduce_on_arrival, 16384, {16, 1, any}},
    {Limit::reduce_on_arrival, 131072, {any, 1, any}},
    {Limit::reduce_on_arrival, 0, {any, any, any}},
};

}  // namespace

std::span<const TuningTable::Row> default_tuning() {
  return rows;
}

}  // namespace sorrel::mpi
