#include "chunk.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fem {

namespace {

/// A chunk as two messages.
struct Package {
  std::vector<std::int32_t> numbers;
  std::vector<double> values;
};

/// Writes lists, each after its length.
void put(std::vector<std::int32_t>& to, const std::vector<std::int32_t>& list) {
  to.push_back(static_cast<std::int32_t>(list.size()));
  to.insert(to.end(), list.begin(), list.end());
}

std::vector<std::int32_t> take(const std::int32_t*& from) {
  const std::int32_t* list = from + 1;
  from = list + *from;
  return {list, from};
}

/// For each node of the mesh the ranks that use it, ascending.
std::vector<std::vector<std::int32_t>> ranks_of_nodes(const Mesh& mesh, const Cut& cut) {
  std::vector<std::vector<std::int32_t>> ranks(mesh.nodes.size());
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    for (const std::int32_t node : mesh.elements[e]) {
      auto& list = ranks[node];
      const auto at = std::lower_bound(list.begin(), list.end(), cut.rank_of[e]);
      if (at == list.end() || *at != cut.rank_of[e]) list.insert(at, cut.rank_of[e]);
    }
  }
  return ranks;
}

class Packer {
 public:
  Packer(const Mesh& mesh, const Cut& cut, const Supports& supports, int rank_count)
      : mesh_(mesh),
        supports_(supports),
        ranks_(ranks_of_nodes(mesh, cut)),
        elements_(rank_count),
        nodes_(rank_count) {
    for (std::size_t e = 0; e < mesh.elements.size(); ++e)
      elements_[cut.rank_of[e]].push_back(static_cast<std::int32_t>(e));
    for (std::size_t node = 0; node < ranks_.size(); ++node) {
      for (const std::int32_t rank : ranks_[node])
        nodes_[rank].push_back(static_cast<std::int32_t>(node));
    }
  }

  Package pack(int rank) const {
    Package package;
    const auto& nodes = nodes_[rank];
    std::vector<std::int32_t> corners, shared, supported;
    for (const std::int32_t e : elements_[rank]) {
      for (const std::int32_t node : mesh_.elements[e])
        corners.push_back(local(nodes, node));
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Vector &x = mesh_.nodes[nodes[i]], &load = supports_.loads[nodes[i]];
      package.values.insert(package.values.end(), x.begin(), x.end());
      const auto& ranks = ranks_[nodes[i]];
      if (ranks.size() > 1) {
        shared.push_back(static_cast<std::int32_t>(i));
        put(shared, ranks);
      }
      if (supports_.fixed[nodes[i]] != 0 || load != Vector{}) {
        supported.push_back(static_cast<std::int32_t>(i));
        supported.push_back(supports_.fixed[nodes[i]]);
      }
    }
    for (std::size_t i = 0; i < supported.size(); i += 2) {
      const Vector& load = supports_.loads[nodes[supported[i]]];
      package.values.insert(package.values.end(), load.begin(), load.end());
    }
    for (const auto* list : {&nodes, &elements_[rank], &std::as_const(corners),
                             &std::as_const(shared), &std::as_const(supported)})
      put(package.numbers, *list);
    return package;
  }

 private:
  static std::int32_t local(const std::vector<std::int32_t>& nodes, std::int32_t node) {
    return static_cast<std::int32_t>(std::lower_bound(nodes.begin(), nodes.end(), node) -
                                     nodes.begin());
  }

  const Mesh& mesh_;
  const Supports& supports_;
  std::vector<std::vector<std::int32_t>> ranks_, elements_, nodes_;
};

/// A place on Morton's curve through the box of the chunk.
std::uint64_t place_of(const Vector& x, const Vector& low, const Vector& high) {
  constexpr int bits = 10;
  const double extent = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2], 1e-300});
  std::uint64_t place = 0;
  for (int d = 0; d < 3; ++d) {
    const double part = (x[d] - low[d]) / extent * ((1 << bits) - 1);
    const auto cell = static_cast<std::uint64_t>(std::clamp(part, 0.0, (1 << bits) - 1.0));
    for (int b = 0; b < bits; ++b)
      place |= (cell >> b & 1U) << (3 * b + d);
  }
  return place;
}

/// Elements and nodes of a chunk before they are put into order.
struct Parts {
  std::vector<std::int32_t> nodes, elements, corners, shared, supported;
  std::vector<Vector> x, loads;

  Vector centre(std::size_t e) const {
    Vector sum{};
    for (int n = 0; n < 4; ++n) {
      for (int d = 0; d < 3; ++d)
        sum[d] += x[corners[4 * e + n]][d] / 4;
    }
    return sum;
  }
};

Parts unpack(const Package& package) {
  Parts parts;
  const std::int32_t* from = package.numbers.data();
  for (auto* list :
       {&parts.nodes, &parts.elements, &parts.corners, &parts.shared, &parts.supported})
    *list = take(from);
  const double* value = package.values.data();
  for (auto [list, count] :
       {std::pair(&parts.x, parts.nodes.size()), {&parts.loads, parts.supported.size() / 2}}) {
    for (std::size_t i = 0; i < count; ++i, value += 3)
      list->push_back({value[0], value[1], value[2]});
  }
  return parts;
}

/// The elements in their new order: those with shared nodes first, else as in the mesh or near.
std::vector<std::size_t> order_elements(const Parts& parts,
                                        const std::vector<bool>& is_shared,
                                        Order order,
                                        std::size_t& seam_count) {
  std::vector<std::size_t> sorted(parts.elements.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  if (order == Order::near) {
    Vector low = parts.x.front(), high = low;
    for (const Vector& x : parts.x) {
      for (int d = 0; d < 3; ++d) {
        low[d] = std::min(low[d], x[d]);
        high[d] = std::max(high[d], x[d]);
      }
    }
    std::vector<std::uint64_t> places(sorted.size());
    for (std::size_t e = 0; e < places.size(); ++e)
      places[e] = place_of(parts.centre(e), low, high);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
  }
  const auto seam_end = std::stable_partition(sorted.begin(), sorted.end(), [&](std::size_t e) {
    const auto corner = parts.corners.begin() + static_cast<std::ptrdiff_t>(4 * e);
    return std::any_of(corner, corner + 4, [&](std::int32_t n) { return is_shared[n]; });
  });
  seam_count = static_cast<std::size_t>(seam_end - sorted.begin());
  return sorted;
}

/// New numbers of the nodes.
std::vector<std::int32_t> order_nodes(const Parts& parts,
                                      const std::vector<std::size_t>& elements,
                                      Order order) {
  std::vector<std::int32_t> numbers(parts.nodes.size(), -1);
  if (order == Order::file) {
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  std::int32_t next = 0;
  for (const std::size_t e : elements) {
    for (int n = 0; n < 4; ++n) {
      std::int32_t& number = numbers[parts.corners[4 * e + n]];
      if (number < 0) number = next++;
    }
  }
  return numbers;
}

Chunk build(const Package& package, Order order, int rank) {
  const Parts parts = unpack(package);
  std::vector<bool> is_shared(parts.nodes.size());
  const std::int32_t* end = parts.shared.data() + parts.shared.size();
  Chunk chunk;
  for (const std::int32_t* from = parts.shared.data(); from != end;) {
    const std::int32_t node = *from++;
    is_shared[node] = true;
    chunk.shared.push_back({node, take(from)});
  }
  const auto elements = order_elements(parts, is_shared, order, chunk.seam_element_count);
  const auto numbers = order_nodes(parts, elements, order);
  chunk.global_nodes.resize(numbers.size());
  chunk.x.resize(numbers.size());
  chunk.is_counted.assign(numbers.size(), 1);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    chunk.global_nodes[numbers[i]] = parts.nodes[i];
    chunk.x[numbers[i]] = parts.x[i];
  }
  for (SharedNode& shared : chunk.shared) {
    shared.node = numbers[shared.node];
    chunk.is_counted[shared.node] = shared.ranks.front() == rank;
  }
  for (std::size_t i = 0; i < parts.loads.size(); ++i)
    chunk.supports.push_back({numbers[parts.supported[2 * i]],
                              static_cast<std::uint8_t>(parts.supported[2 * i + 1]),
                              parts.loads[i]});
  for (const std::size_t e : elements) {
    std::array<std::int32_t, 4> nodes;
    std::array<Vector, 4> corners;
    for (int n = 0; n < 4; ++n) {
      nodes[n] = numbers[parts.corners[4 * e + n]];
      corners[n] = chunk.x[nodes[n]];
    }
    chunk.elements.push_back(make_element(nodes, corners));
    chunk.global_elements.push_back(parts.elements[e]);
    chunk.centres_x.push_back(parts.centre(e)[0]);
  }
  return chunk;
}

}  // namespace

double Chunk::dot(const std::vector<Vector>& a, const std::vector<Vector>& b) const {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (is_counted[i]) sum += a[i][0] * b[i][0] + a[i][1] * b[i][1] + a[i][2] * b[i][2];
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

Chunk distribute(
    const Mesh* mesh, const Cut* cut, const Supports* supports, Order order, MPI_Comm comm) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank == 0) {
    const Packer packer(*mesh, *cut, *supports, size);
    for (int to = 1; to < size; ++to) {
      const Package package = packer.pack(to);
      const int counts[2] = {static_cast<int>(package.numbers.size()),
                             static_cast<int>(package.values.size())};
      MPI_Send(counts, 2, MPI_INT, to, 0, comm);
      MPI_Send(package.numbers.data(), counts[0], MPI_INT32_T, to, 0, comm);
      MPI_Send(package.values.data(), counts[1], MPI_DOUBLE, to, 0, comm);
    }
    return build(packer.pack(0), order, rank);
  }
  int counts[2] = {};
  MPI_Recv(counts, 2, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  Package package{std::vector<std::int32_t>(counts[0]), std::vector<double>(counts[1])};
  MPI_Recv(package.numbers.data(), counts[0], MPI_INT32_T, 0, 0, comm, MPI_STATUS_IGNORE);
  MPI_Recv(package.values.data(), counts[1], MPI_DOUBLE, 0, 0, comm, MPI_STATUS_IGNORE);
  return build(package, order, rank);
}

}  // namespace fem
