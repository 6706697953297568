#include "mpi/datatype/darray.hpp"

#include <algorithm>
#include <vector>

namespace sorrel::mpi {

namespace {

/// One dimension of the array, as the caller's rank sees it.
struct Dimension {
  std::int64_t size;
  std::int64_t block;
  /// Processes that take turns, and the caller's turn.
  std::int64_t process_count;
  std::int64_t coordinate;
};

int fail_at(ErrorDetail& detail, const char* name, int i, long long value, const char* need) {
  return detail.fail(MPI_ERR_ARG, "%s[%d] is %lld; it must be %s", name, i, value, need);
}

/// The block length of a dimension: the argument of its distribution, or the default.
int find_block(const DarrayShape& shape, int i, Dimension& dimension, ErrorDetail& detail) {
  const int argument = shape.arguments[i];
  const bool is_default = argument == MPI_DISTRIBUTE_DFLT_DARG;
  if (!is_default && shape.distributions[i] != MPI_DISTRIBUTE_NONE && argument < 1)
    return fail_at(detail, "array_of_dargs", i, argument,
                   "at least 1, or MPI_DISTRIBUTE_DFLT_DARG");
  switch (shape.distributions[i]) {
    case MPI_DISTRIBUTE_NONE:
      if (dimension.process_count != 1)
        return fail_at(detail, "array_of_psizes", i, dimension.process_count,
                       "1 where the distribution is MPI_DISTRIBUTE_NONE");
      dimension.block = dimension.size;
      return MPI_SUCCESS;
    case MPI_DISTRIBUTE_BLOCK:
      dimension.block =
          is_default ? (dimension.size + dimension.process_count - 1) / dimension.process_count
                     : argument;
      if (dimension.block * dimension.process_count < dimension.size)
        return fail_at(detail, "array_of_dargs", i, argument,
                       "large enough for the blocks to cover the dimension");
      return MPI_SUCCESS;
    case MPI_DISTRIBUTE_CYCLIC:
      dimension.block = is_default ? 1 : argument;
      return MPI_SUCCESS;
    default:
      return fail_at(detail, "array_of_distribs", i, shape.distributions[i],
                     "MPI_DISTRIBUTE_BLOCK, _CYCLIC or _NONE");
  }
}

int find_dimensions(const DarrayShape& shape,
                    std::vector<Dimension>& dimensions,
                    ErrorDetail& detail) {
  std::int64_t grid_size = 1;
  for (int i = 0; i < shape.dimensions; ++i) {
    const auto index = static_cast<std::size_t>(i);
    if (shape.sizes[index] < 1)
      return fail_at(detail, "array_of_gsizes", i, shape.sizes[index], "at least 1");
    if (shape.grid[i] < 1)
      return fail_at(detail, "array_of_psizes", i, shape.grid[i], "at least 1");
    grid_size *= shape.grid[i];
    if (grid_size > shape.process_count) break;
    dimensions.push_back(
        {.size = shape.sizes[index], .block = 0, .process_count = shape.grid[i], .coordinate = 0});
    if (const int error = find_block(shape, i, dimensions.back(), detail); error != MPI_SUCCESS)
      return error;
  }
  if (grid_size != shape.process_count)
    return detail.fail(MPI_ERR_ARG,
                       "array_of_psizes describes a grid of %s than size, %d processes",
                       grid_size > shape.process_count ? "more" : "fewer", shape.process_count);
  std::int64_t rest = shape.rank;
  for (auto dimension = dimensions.rbegin(); dimension != dimensions.rend(); ++dimension) {
    dimension->coordinate = rest % dimension->process_count;
    rest /= dimension->process_count;
  }
  return MPI_SUCCESS;
}

/// `row` repeated at the caller's positions in one dimension; the extent is the whole dimension's.
int make_dimension(const Dimension& dimension, const Datatype& row, Datatype*& made) {
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> displacements;
  const std::int64_t period = dimension.block * dimension.process_count;
  for (std::int64_t first = dimension.coordinate * dimension.block; first < dimension.size;
       first += period) {
    lengths.push_back(std::min(dimension.block, dimension.size - first));
    displacements.push_back(first * row.extent());
  }
  // An array of no numbers must not be a null pointer.
  lengths.push_back(0);
  displacements.push_back(0);
  std::int64_t extent = 0;
  if (__builtin_mul_overflow(dimension.size, row.extent(), &extent)) return MPI_ERR_ARG;
  Datatype* blocks = nullptr;
  int error = make_hindexed(static_cast<std::int64_t>(lengths.size()) - 1, lengths.data(),
                            displacements.data(), row, blocks);
  if (error != MPI_SUCCESS) return error;
  error = make_resized(0, extent, *blocks, made);
  blocks->release();
  return error;
}

}  // namespace

int make_darray(const DarrayShape& shape,
                const Datatype& old_type,
                Datatype*& new_type,
                ErrorDetail& detail) {
  std::vector<Dimension> dimensions;
  if (const int error = find_dimensions(shape, dimensions, detail); error != MPI_SUCCESS)
    return error;
  // From the fastest dimension to the slowest.
  if (shape.order == ArrayOrder::c) std::reverse(dimensions.begin(), dimensions.end());
  Datatype* row = nullptr;
  int error = make_dup(old_type, row);
  for (const Dimension& dimension : dimensions) {
    if (error != MPI_SUCCESS) return error;
    Datatype* made = nullptr;
    error = make_dimension(dimension, *row, made);
    row->release();
    row = made;
  }
  if (error == MPI_SUCCESS) new_type = row;
  return error;
}

}  // namespace sorrel::mpi
