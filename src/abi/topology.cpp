// Cartesian topologies. MPI 5.0, chapter 8.
#include <span>

#include "abi/body.hpp"
#include "mpi/comm/topology/cart.hpp"
#include "mpi/comm/topology/dims.hpp"
#include "mpi/comm/topology/reorder.hpp"
#include "mpi/job/comm_create.hpp"

namespace sorrel::abi {
namespace {

using mpi::CartTopology;

// The grid that the arguments of a binding describe.
int make_cart(RankState& self,
              const Comm& comm,
              int ndims,
              const int dims[],
              const int periods[],
              CartTopology::Pointer* cart) {
  if (ndims < 0) return self.fail(MPI_ERR_DIMS, "ndims is %d; it must not be negative", ndims);
  const auto count = static_cast<std::size_t>(ndims);
  return CartTopology::make(std::span(dims, count), std::span(periods, count), comm.size(), cart,
                            self.detail());
}

int check_room(RankState& self, const CartTopology& cart, int maxdims) {
  if (maxdims >= cart.dimension_count()) return MPI_SUCCESS;
  return self.fail(MPI_ERR_ARG, "maxdims is %d; it must be at least the number of dimensions, %d",
                   maxdims, cart.dimension_count());
}

}  // namespace

namespace body {

int Dims_create(RankState& self, int nnodes, int ndims, int dims[]) {
  if (ndims < 0) return self.fail(MPI_ERR_DIMS, "ndims is %d; it must not be negative", ndims);
  return mpi::dims_create(nnodes, std::span(dims, static_cast<std::size_t>(ndims)), self.detail());
}

// Without reorder ranks keep their order: neighbours in the last dimension then share a worker.
int Cart_create(RankState& self,
                Comm& comm,
                int ndims,
                const int dims[],
                const int periods[],
                int reorder,
                MPI_Comm* comm_cart) {
  CartTopology::Pointer cart;
  if (const int error = make_cart(self, comm, ndims, dims, periods, &cart); error != MPI_SUCCESS)
    return error;
  Comm* made = nullptr;
  const int color = comm.rank < cart->size() ? 0 : MPI_UNDEFINED;
  const int key = reorder != 0 && color == 0 ? mpi::reordered_rank(comm, *cart) : comm.rank;
  const int error = comm_split(self, comm, color, key, &made);
  if (made != nullptr) made->topology = cart;
  *comm_cart = handle_or_null(made);
  return error;
}

int Cart_sub(RankState& self,
             Comm& comm,
             const CartTopology& cart,
             const int remain_dims[],
             MPI_Comm* newcomm) {
  // Retained during the call, which may suspend.
  const mpi::Topology::Pointer retained = comm.topology;
  SORREL_NOT_NULL_IF(cart.dimension_count() > 0, remain_dims);
  const CartTopology::Slice slice = cart.slice_of(comm.rank, remain_dims);
  Comm* made = nullptr;
  const int error = comm_split(self, comm, slice.color, slice.key, &made);
  if (made != nullptr) made->topology = cart.slice(remain_dims);
  *newcomm = handle_or_null(made);
  return error;
}

int Cart_get(RankState& self,
             Comm& comm,
             const CartTopology& cart,
             int maxdims,
             int dims[],
             int periods[],
             int coords[]) {
  if (const int error = check_room(self, cart, maxdims); error != MPI_SUCCESS) return error;
  for (int i = 0; i < cart.dimension_count(); ++i) {
    dims[i] = cart.extent(i);
    periods[i] = cart.is_periodic(i) ? 1 : 0;
  }
  cart.coords_of(comm.rank, coords, cart.dimension_count());
  return MPI_SUCCESS;
}

int Cartdim_get(RankState& /*self*/, Comm& /*comm*/, const CartTopology& cart, int* ndims) {
  *ndims = cart.dimension_count();
  return MPI_SUCCESS;
}

int Cart_rank(
    RankState& self, Comm& /*comm*/, const CartTopology& cart, const int coords[], int* rank) {
  SORREL_NOT_NULL_IF(cart.dimension_count() > 0, coords);
  return cart.rank_of(coords, rank, self.detail());
}

int Cart_coords(RankState& self,
                Comm& /*comm*/,
                const CartTopology& cart,
                int rank,
                int maxdims,
                int coords[]) {
  if (rank < 0 || rank >= cart.size())
    return self.fail(MPI_ERR_RANK, "rank is %d; it must be in 0..%d", rank, cart.size() - 1);
  if (const int error = check_room(self, cart, maxdims); error != MPI_SUCCESS) return error;
  cart.coords_of(rank, coords, cart.dimension_count());
  return MPI_SUCCESS;
}

int Cart_shift(RankState& self,
               Comm& comm,
               const CartTopology& cart,
               int direction,
               int disp,
               int* rank_source,
               int* rank_dest) {
  if (direction < 0 || direction >= cart.dimension_count())
    return self.fail(MPI_ERR_DIMS, "direction is %d; it must be in 0..%d", direction,
                     cart.dimension_count() - 1);
  const CartTopology::Shift shift = cart.shift(comm.rank, direction, disp);
  *rank_source = shift.source;
  *rank_dest = shift.destination;
  return MPI_SUCCESS;
}

int Cart_map(
    RankState& self, Comm& comm, int ndims, const int dims[], const int periods[], int* newrank) {
  CartTopology::Pointer cart;
  if (const int error = make_cart(self, comm, ndims, dims, periods, &cart); error != MPI_SUCCESS)
    return error;
  *newrank = comm.rank < cart->size() ? comm.rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int Topo_test(RankState& /*self*/, Comm& comm, int* status) {
  static constexpr int constants[] = {MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH};
  *status =
      comm.topology == nullptr ? MPI_UNDEFINED : constants[static_cast<int>(comm.topology->kind())];
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
