// Cartesian topologies. MPI 5.0, chapter 8.
#include <span>

#include "abi/call.hpp"
#include "mpi/comm/topology/cart.hpp"
#include "mpi/comm/topology/dims.hpp"
#include "mpi/comm/topology/reorder.hpp"
#include "mpi/job/comm_create.hpp"

namespace sorrel::abi {
namespace {

using mpi::CartTopology;

MPI_Comm handle_or_null(Comm* comm) {
  return comm == nullptr ? MPI_COMM_NULL : handle_of(*comm);
}

// The grid that the arguments of a binding describe.
int make_cart(RankState& self,
              const Comm& comm,
              int ndims,
              const int dims[],
              const int periods[],
              CartTopology::Pointer* cart) {
  if (ndims < 0) return self.fail(MPI_ERR_DIMS, "ndims is %d; it must not be negative", ndims);
  SORREL_NOT_NULL_IF(ndims > 0, dims);
  SORREL_NOT_NULL_IF(ndims > 0, periods);
  const auto count = static_cast<std::size_t>(ndims);
  return CartTopology::make(std::span(dims, count), std::span(periods, count), comm.size(), cart,
                            self.detail());
}

// Calls body(self, comm, grid), for a communicator with a grid.
template <class Body>
[[gnu::always_inline]] inline int call_on_cart(MPI_Comm handle, const char* function, Body&& body) {
  return call_on(handle, function, [&](RankState& self, Comm& comm) {
    if (comm.cart == nullptr)
      return self.fail(MPI_ERR_TOPOLOGY,
                       "comm has no Cartesian topology; MPI_Cart_create makes one that has");
    return body(self, comm, *comm.cart);
  });
}

int check_room(RankState& self, const CartTopology& cart, int maxdims) {
  if (maxdims >= cart.dimension_count()) return MPI_SUCCESS;
  return self.fail(MPI_ERR_ARG, "maxdims is %d; it must be at least the number of dimensions, %d",
                   maxdims, cart.dimension_count());
}

}  // namespace

extern "C" {

int PMPI_Dims_create(int nnodes, int ndims, int dims[]) {
  return call("MPI_Dims_create", [&](RankState& self) {
    if (ndims < 0) return self.fail(MPI_ERR_DIMS, "ndims is %d; it must not be negative", ndims);
    SORREL_NOT_NULL_IF(ndims > 0, dims);
    return mpi::dims_create(nnodes, std::span(dims, static_cast<std::size_t>(ndims)),
                            self.detail());
  });
}

// Without reorder ranks keep their order: neighbours in the last dimension then share a worker.
int PMPI_Cart_create(MPI_Comm comm_old,
                     int ndims,
                     const int dims[],
                     const int periods[],
                     int reorder,
                     MPI_Comm* comm_cart) {
  return call_on(comm_old, "MPI_Cart_create", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(comm_cart);
    CartTopology::Pointer cart;
    if (const int error = make_cart(self, c, ndims, dims, periods, &cart); error != MPI_SUCCESS)
      return error;
    Comm* made = nullptr;
    const int color = c.rank < cart->size() ? 0 : MPI_UNDEFINED;
    const int key = reorder != 0 && color == 0 ? mpi::reordered_rank(c, *cart) : c.rank;
    const int error = comm_split(self, c, color, key, &made);
    if (made != nullptr) made->cart = cart;
    *comm_cart = handle_or_null(made);
    return error;
  });
}

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  return call_on_cart(comm, "MPI_Cart_sub", [&](RankState& self, Comm& c, const CartTopology&) {
    SORREL_NOT_NULL(newcomm);
    // Retained during the call, which may suspend.
    const CartTopology::Pointer cart = c.cart;
    SORREL_NOT_NULL_IF(cart->dimension_count() > 0, remain_dims);
    const CartTopology::Slice slice = cart->slice_of(c.rank, remain_dims);
    Comm* made = nullptr;
    const int error = comm_split(self, c, slice.color, slice.key, &made);
    if (made != nullptr) made->cart = cart->slice(remain_dims);
    *newcomm = handle_or_null(made);
    return error;
  });
}

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
  return call_on_cart(comm, "MPI_Cart_get",
                      [&](RankState& self, Comm& c, const CartTopology& cart) {
                        if (const int error = check_room(self, cart, maxdims); error != MPI_SUCCESS)
                          return error;
                        SORREL_NOT_NULL_IF(cart.dimension_count() > 0, dims);
                        SORREL_NOT_NULL_IF(cart.dimension_count() > 0, periods);
                        SORREL_NOT_NULL_IF(cart.dimension_count() > 0, coords);
                        for (int i = 0; i < cart.dimension_count(); ++i) {
                          dims[i] = cart.extent(i);
                          periods[i] = cart.is_periodic(i) ? 1 : 0;
                        }
                        cart.coords_of(c.rank, coords, cart.dimension_count());
                        return MPI_SUCCESS;
                      });
}

int PMPI_Cartdim_get(MPI_Comm comm, int* ndims) {
  return call_on_cart(comm, "MPI_Cartdim_get",
                      [&](RankState& self, Comm&, const CartTopology& cart) {
                        SORREL_NOT_NULL(ndims);
                        *ndims = cart.dimension_count();
                        return MPI_SUCCESS;
                      });
}

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank) {
  return call_on_cart(comm, "MPI_Cart_rank", [&](RankState& self, Comm&, const CartTopology& cart) {
    SORREL_NOT_NULL(rank);
    SORREL_NOT_NULL_IF(cart.dimension_count() > 0, coords);
    return cart.rank_of(coords, rank, self.detail());
  });
}

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
  return call_on_cart(
      comm, "MPI_Cart_coords", [&](RankState& self, Comm&, const CartTopology& cart) {
        if (rank < 0 || rank >= cart.size())
          return self.fail(MPI_ERR_RANK, "rank is %d; it must be in 0..%d", rank, cart.size() - 1);
        if (const int error = check_room(self, cart, maxdims); error != MPI_SUCCESS) return error;
        SORREL_NOT_NULL_IF(cart.dimension_count() > 0, coords);
        cart.coords_of(rank, coords, cart.dimension_count());
        return MPI_SUCCESS;
      });
}

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  return call_on_cart(comm, "MPI_Cart_shift",
                      [&](RankState& self, Comm& c, const CartTopology& cart) {
                        SORREL_NOT_NULL(rank_source);
                        SORREL_NOT_NULL(rank_dest);
                        if (direction < 0 || direction >= cart.dimension_count())
                          return self.fail(MPI_ERR_DIMS, "direction is %d; it must be in 0..%d",
                                           direction, cart.dimension_count() - 1);
                        const CartTopology::Shift shift = cart.shift(c.rank, direction, disp);
                        *rank_source = shift.source;
                        *rank_dest = shift.destination;
                        return MPI_SUCCESS;
                      });
}

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int* newrank) {
  return call_on(comm, "MPI_Cart_map", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(newrank);
    CartTopology::Pointer cart;
    if (const int error = make_cart(self, c, ndims, dims, periods, &cart); error != MPI_SUCCESS)
      return error;
    *newrank = c.rank < cart->size() ? c.rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
  });
}

int PMPI_Topo_test(MPI_Comm comm, int* status) {
  return call_on(comm, "MPI_Topo_test", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(status);
    *status = c.cart != nullptr ? MPI_CART : MPI_UNDEFINED;
    return MPI_SUCCESS;
  });
}

SORREL_WEAK(int, MPI_Dims_create, (int nnodes, int ndims, int dims[]))
SORREL_WEAK(int,
            MPI_Cart_create,
            (MPI_Comm comm_old,
             int ndims,
             const int dims[],
             const int periods[],
             int reorder,
             MPI_Comm* comm_cart))
SORREL_WEAK(int, MPI_Cart_sub, (MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm))
SORREL_WEAK(int,
            MPI_Cart_get,
            (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]))
SORREL_WEAK(int, MPI_Cartdim_get, (MPI_Comm comm, int* ndims))
SORREL_WEAK(int, MPI_Cart_rank, (MPI_Comm comm, const int coords[], int* rank))
SORREL_WEAK(int, MPI_Cart_coords, (MPI_Comm comm, int rank, int maxdims, int coords[]))
SORREL_WEAK(int,
            MPI_Cart_shift,
            (MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest))
SORREL_WEAK(int,
            MPI_Cart_map,
            (MPI_Comm comm, int ndims, const int dims[], const int periods[], int* newrank))
SORREL_WEAK(int, MPI_Topo_test, (MPI_Comm comm, int* status))

}  // extern "C"

}  // namespace sorrel::abi
