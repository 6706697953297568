// Copying typed data: dense, a matrix's column, its face; compared with a loop written by hand.
//
// Bytes per second count the data once.
#include <benchmark/benchmark.h>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/copy.hpp"

namespace sorrel::bench {

namespace {

using mpi::Datatype;

const Datatype& double_type() {
  return *mpi::datatype_from_handle(MPI_DOUBLE);
}

void set_bytes(benchmark::State& state, std::int64_t doubles) {
  state.SetBytesProcessed(state.iterations() * doubles * static_cast<std::int64_t>(sizeof(double)));
}

void copy_dense(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  std::vector<double> source(count, 1.0);
  std::vector<double> target(count);
  for (auto _ : state) {
    mpi::copy(source.data(), count, double_type(), target.data(), count, double_type());
    benchmark::ClobberMemory();
  }
  set_bytes(state, state.range(0));
}

BENCHMARK(copy_dense)->Arg(1)->Arg(128)->Arg(4096)->Arg(131072);

/// One column of a square matrix, to a dense buffer.
void copy_column(benchmark::State& state) {
  const std::int64_t side = state.range(0);
  const auto count = static_cast<std::size_t>(side);
  Datatype* column = nullptr;
  SORREL_CHECK(mpi::make_vector({.count = side, .block_length = 1, .stride = side}, double_type(),
                                column) == MPI_SUCCESS);
  std::vector<double> matrix(count * count, 1.0);
  std::vector<double> target(count);
  for (auto _ : state) {
    mpi::copy(matrix.data(), 1, *column, target.data(), count, double_type());
    benchmark::ClobberMemory();
  }
  set_bytes(state, side);
  column->release();
}

BENCHMARK(copy_column)->Arg(32)->Arg(512);

void copy_column_by_hand(benchmark::State& state) {
  const auto side = static_cast<std::size_t>(state.range(0));
  std::vector<double> matrix(side * side, 1.0);
  std::vector<double> target(side);
  for (auto _ : state) {
    for (std::size_t row = 0; row < side; ++row)
      target[row] = matrix[row * side];
    benchmark::ClobberMemory();
  }
  set_bytes(state, state.range(0));
}

BENCHMARK(copy_column_by_hand)->Arg(32)->Arg(512);

/// The middle quarter of a square matrix, from one matrix to another: both sides are strided.
void copy_block_to_block(benchmark::State& state) {
  const std::int64_t side = state.range(0);
  const std::int64_t sizes[] = {side, side};
  const std::int64_t parts[] = {side / 2, side / 2};
  const std::int64_t starts[] = {side / 4, side / 4};
  Datatype* block = nullptr;
  SORREL_CHECK(mpi::make_subarray({.dimensions = 2,
                                   .sizes = mpi::Integers(sizes),
                                   .subsizes = mpi::Integers(parts),
                                   .starts = mpi::Integers(starts),
                                   .order = mpi::ArrayOrder::c},
                                  double_type(), block) == MPI_SUCCESS);
  std::vector<double> source(static_cast<std::size_t>(side * side), 1.0);
  std::vector<double> target(source.size());
  for (auto _ : state) {
    mpi::copy(source.data(), 1, *block, target.data(), 1, *block);
    benchmark::ClobberMemory();
  }
  set_bytes(state, parts[0] * parts[1]);
  block->release();
}

BENCHMARK(copy_block_to_block)->Arg(32)->Arg(512);

}  // namespace

}  // namespace sorrel::bench
