#include "seams.hpp"

#include <map>

namespace fem {

Seams::Seams(const Chunk& chunk, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::map<std::int32_t, std::vector<std::int32_t>> nodes_with;  // by neighbour
  for (const SharedNode& shared : chunk.shared) {
    nodes_.push_back(shared.node);
    for (const std::int32_t other : shared.ranks) {
      if (other != rank) nodes_with[other].push_back(shared.node);
    }
  }
  std::map<std::int32_t, std::int32_t> next_place;
  auto part_count = static_cast<std::int32_t>(nodes_.size());
  next_place[rank] = 0;
  for (const auto& [other, nodes] : nodes_with) {
    next_place[other] = part_count;
    part_count += static_cast<std::int32_t>(nodes.size());
    sent_nodes_.insert(sent_nodes_.end(), nodes.begin(), nodes.end());
  }
  // Both sides of a seam list its nodes in the order of the whole mesh.
  for (const SharedNode& shared : chunk.shared) {
    starts_.push_back(static_cast<std::int32_t>(places_.size()));
    for (const std::int32_t other : shared.ranks)
      places_.push_back(next_place[other]++);
  }
  starts_.push_back(static_cast<std::int32_t>(places_.size()));
  parts_.resize(part_count);
  sent_.resize(sent_nodes_.size());
  std::size_t at = 0;
  for (const auto& [other, nodes] : nodes_with) {
    const int count = static_cast<int>(3 * nodes.size());
    MPI_Request request;
    MPI_Recv_init(parts_[nodes_.size() + at].data(), count, MPI_DOUBLE, other, 0, comm, &request);
    receives_.push_back(request);
    MPI_Send_init(sent_[at].data(), count, MPI_DOUBLE, other, 0, comm, &request);
    sends_.push_back(request);
    at += nodes.size();
  }
}

Seams::~Seams() {
  for (auto* list : {&receives_, &sends_}) {
    for (MPI_Request& request : *list)
      MPI_Request_free(&request);
  }
}

void Seams::begin(const std::vector<Vector>& parts) {
  MPI_Startall(static_cast<int>(receives_.size()), receives_.data());
  for (std::size_t i = 0; i < sent_nodes_.size(); ++i)
    sent_[i] = parts[sent_nodes_[i]];
  MPI_Startall(static_cast<int>(sends_.size()), sends_.data());
}

void Seams::wait() {
  MPI_Waitall(static_cast<int>(receives_.size()), receives_.data(), MPI_STATUSES_IGNORE);
  MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
}

void Seams::finish(std::vector<Vector>& sums) {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    parts_[i] = sums[nodes_[i]];
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Vector sum{};
    for (std::int32_t p = starts_[i]; p < starts_[i + 1]; ++p) {
      for (int d = 0; d < 3; ++d)
        sum[d] += parts_[places_[p]][d];
    }
    sums[nodes_[i]] = sum;
  }
}

}  // namespace fem
