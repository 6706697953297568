#include "mpi/p2p/request_pool.hpp"

namespace sorrel::mpi {

void RequestPool::refill() {
  constexpr std::size_t slab_request_count = 32;
  slabs_.push_back(std::make_unique<Request[]>(slab_request_count));
  for (std::size_t i = 0; i < slab_request_count; ++i)
    give_back(slabs_.back()[i]);
}

}  // namespace sorrel::mpi
