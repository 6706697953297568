// BASE, OLAP and IDEAL: any MPI.
#include "ft.hpp"

namespace ft {

void exchange_slice(const Transform& transform, const Exchange& e, int step, int slice) {
  const auto size = static_cast<std::size_t>(e.size);
  std::vector<int> out_counts(size), out_begins(size), in_counts(size), in_begins(size);
  for (std::size_t r = 0; r < size; ++r) {
    const int other = static_cast<int>(r);
    if (other == e.place) continue;
    out_counts[r] = static_cast<int>(e.out_count(slice, other));
    out_begins[r] = static_cast<int>(e.out_begin(slice, other));
    in_counts[r] = static_cast<int>(e.in_count(slice, other));
    in_begins[r] = static_cast<int>(e.in_begin(slice, other));
  }
  MPI_Alltoallv(transform.out(e), out_counts.data(), out_begins.data(), MPI_C_DOUBLE_COMPLEX,
                transform.in(e, step), in_counts.data(), in_begins.data(), MPI_C_DOUBLE_COMPLEX,
                e.comm);
}

namespace {

/// Ranks that share a core take turns. Otherwise each rank would do all of its steps before the
/// next one begins, in an order that messages rule out. In an MPI with user-level threads as ranks,
/// an unsuccessful test lets other ranks run.
void take_turns(const Case& c) {
  int has_come = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c.comm, &has_come, MPI_STATUS_IGNORE);
}

}  // namespace

/// An exchange is one slice.
Result run_base(const Case& c, Transform& transform, bool has_messages) {
  const auto exchange = [&](const Exchange& e, int step) {
    has_messages ? exchange_slice(transform, e, step, 0) : take_turns(c);
  };
  MPI_Barrier(c.comm);
  const double began = MPI_Wtime();
  for (int step = 0; step < c.steps; ++step) {
    transform.evolve_and_transform_z(step, 0);
    exchange(transform.first(), step);
    transform.transform_y(step, 0);
    if (!transform.has_second()) continue;
    exchange(transform.second(), step);
    transform.transform_x(step, 0);
  }
  MPI_Barrier(c.comm);
  return {MPI_Wtime() - began, 0};
}

namespace {

/// An exchange in slices, by hand.
class Flow {
 public:
  Flow(const Transform& transform, const Exchange& e) : transform_(transform), e_(e) {}

  void expect(int step) {
    receives_.clear();
    for (int slice = 0; slice < e_.slices; ++slice)
      for (int i = 1; i < e_.size; ++i) {
        const int from = (e_.place + i) % e_.size;
        receives_.emplace_back();
        MPI_Irecv(transform_.in(e_, step) + e_.in_begin(slice, from),
                  static_cast<int>(e_.in_count(slice, from)), MPI_C_DOUBLE_COMPLEX, from, slice,
                  e_.comm, &receives_.back());
      }
  }

  void send(int slice) {
    for (int i = 1; i < e_.size; ++i) {
      const int to = (e_.place + i) % e_.size;
      sends_.emplace_back();
      MPI_Isend(transform_.out(e_) + e_.out_begin(slice, to),
                static_cast<int>(e_.out_count(slice, to)), MPI_C_DOUBLE_COMPLEX, to, slice, e_.comm,
                &sends_.back());
    }
  }

  void wait_for(int slice) {
    MPI_Waitall(e_.size - 1, receives_.data() + slice * (e_.size - 1), MPI_STATUSES_IGNORE);
  }

  void wait_for_all() {
    MPI_Waitall(static_cast<int>(receives_.size()), receives_.data(), MPI_STATUSES_IGNORE);
  }

  void finish_sends() {
    MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
    sends_.clear();
  }

 private:
  const Transform& transform_;
  const Exchange& e_;
  std::vector<MPI_Request> receives_, sends_;
};

}  // namespace

Result run_olap(const Case& c, Transform& transform) {
  Flow first(transform, transform.first()), second(transform, transform.second());
  MPI_Barrier(c.comm);
  const double began = MPI_Wtime();
  for (int step = 0; step < c.steps; ++step) {
    first.expect(step);
    if (transform.has_second()) second.expect(step);
    for (int slice = 0; slice < c.y_slices; ++slice) {
      transform.evolve_and_transform_z(step, slice);
      first.send(slice);
    }
    first.wait_for_all();
    for (int slice = 0; slice < c.z_slices; ++slice) {
      transform.transform_y(step, slice);
      if (transform.has_second()) second.send(slice);
    }
    if (transform.has_second()) {
      for (int slice = 0; slice < c.z_slices; ++slice) {
        second.wait_for(slice);
        transform.transform_x(step, slice);
      }
    }
    first.finish_sends();
    second.finish_sends();
  }
  MPI_Barrier(c.comm);
  return {MPI_Wtime() - began, 0};
}

}  // namespace ft
