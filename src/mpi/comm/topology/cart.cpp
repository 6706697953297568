#include "mpi/comm/topology/cart.hpp"

namespace sorrel::mpi {

int CartTopology::make(std::span<const int> dims,
                       std::span<const int> periods,
                       int rank_count_max,
                       Pointer* result,
                       ErrorDetail& detail) {
  const std::shared_ptr<CartTopology> cart(new CartTopology);
  std::int64_t cells = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 1)
      return detail.fail(MPI_ERR_DIMS, "dims[%zu] is %d; it must be at least 1", i, dims[i]);
    cells *= dims[i];
    if (cells > rank_count_max)
      return detail.fail(MPI_ERR_TOPOLOGY,
                         "dims describes a grid of at least %lld ranks; the communicator has %d",
                         static_cast<long long>(cells), rank_count_max);
    cart->dims_.push_back({.extent = dims[i], .is_periodic = periods[i] != 0, .stride = 1});
  }
  cart->finish();
  *result = cart;
  return MPI_SUCCESS;
}

void CartTopology::finish() {
  size_ = 1;
  for (std::size_t i = dims_.size(); i-- > 0;) {
    dims_[i].stride = size_;
    size_ *= dims_[i].extent;
  }
}

int CartTopology::rank_of(const int* coords, int* rank, ErrorDetail& detail) const {
  int sum = 0;
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    const Dimension& dimension = dims_[i];
    int coordinate = coords[i];
    if (coordinate < 0 || coordinate >= dimension.extent) {
      if (!dimension.is_periodic)
        return detail.fail(
            MPI_ERR_ARG,
            "coords[%zu] is %d; in a dimension that is not periodic it must be in 0..%d", i,
            coordinate, dimension.extent - 1);
      coordinate %= dimension.extent;
      if (coordinate < 0) coordinate += dimension.extent;
    }
    sum += coordinate * dimension.stride;
  }
  *rank = sum;
  return MPI_SUCCESS;
}

void CartTopology::coords_of(int rank, int* coords, int count) const {
  for (int i = 0; i < count; ++i)
    coords[i] = coordinate_of(rank, dims_[static_cast<std::size_t>(i)]);
}

CartTopology::Shift CartTopology::shift(int rank, int dimension, int displacement) const {
  const Dimension& along = dims_[static_cast<std::size_t>(dimension)];
  const int here = coordinate_of(rank, along);
  // In 64 bits, because a program may shift by any number.
  const auto neighbour = [&](std::int64_t coordinate) {
    if (coordinate < 0 || coordinate >= along.extent) {
      if (!along.is_periodic) return MPI_PROC_NULL;
      coordinate %= along.extent;
      if (coordinate < 0) coordinate += along.extent;
    }
    return rank + (static_cast<int>(coordinate) - here) * along.stride;
  };
  return {.source = neighbour(std::int64_t{here} - displacement),
          .destination = neighbour(std::int64_t{here} + displacement)};
}

CartTopology::Pointer CartTopology::slice(const int* remain_dims) const {
  const std::shared_ptr<CartTopology> kept(new CartTopology);
  for (std::size_t i = 0; i < dims_.size(); ++i)
    if (remain_dims[i] != 0) kept->dims_.push_back(dims_[i]);
  kept->finish();
  return kept;
}

CartTopology::Slice CartTopology::slice_of(int rank, const int* remain_dims) const {
  Slice slice{.color = 0, .key = 0};
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    int& number = remain_dims[i] != 0 ? slice.key : slice.color;
    number = number * dims_[i].extent + coordinate_of(rank, dims_[i]);
  }
  return slice;
}

Neighborhood CartTopology::neighborhood_of(int rank) const {
  Neighborhood around{.sources = {}, .destinations = {}, .is_paired = true};
  for (int dimension = 0; dimension < dimension_count(); ++dimension) {
    const Shift both = shift(rank, dimension, 1);
    around.sources.push_back(both.source);
    around.sources.push_back(both.destination);
  }
  around.destinations = around.sources;
  return around;
}

}  // namespace sorrel::mpi
