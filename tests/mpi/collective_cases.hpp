//! Random collectives for the tests of the nonblocking and the persistent forms: a case is one call
//! with buffers of its own; the blocking form gives the expected result. On an intercommunicator,
//! too: the root is in either group, and both groups pass the same number of elements to
//! MPI_Reduce_scatter.
#pragma once

#include <algorithm>
#include <vector>

#include "check.h"

/// x -> a x + b over the integers modulo 2^32: composition is associative and does not commute.
struct Affine {
  uint32_t a, b;
};

inline void compose(void* left, void* right, int* count, MPI_Datatype* type) {
  // A user's function may ask for its type, which is a call of MPI.
  MPI_Aint lower, extent;
  MPI_Type_get_extent(*type, &lower, &extent);
  for (int i = 0; i < *count; i++) {
    Affine first, second;
    memcpy(&first, static_cast<char*>(left) + i * extent, sizeof first);
    memcpy(&second, static_cast<char*>(right) + i * extent, sizeof second);
    const Affine both = {second.a * first.a, second.a * first.b + second.b};
    memcpy(static_cast<char*>(right) + i * extent, &both, sizeof both);
  }
}

/// Objects that all cases of a rank use.
struct Objects {
  MPI_Datatype affine, gapped;
  MPI_Op composition;

  Objects() {
    MPI_Type_contiguous(2, MPI_UINT32_T, &affine);
    MPI_Type_commit(&affine);
    // Two of three integers.
    MPI_Datatype pair;
    MPI_Type_vector(2, 1, 2, MPI_UINT32_T, &pair);
    MPI_Type_create_resized(pair, 0, 16, &gapped);
    MPI_Type_commit(&gapped);
    MPI_Type_free(&pair);
    MPI_Op_create(compose, 0, &composition);
  }

  ~Objects() {
    MPI_Type_free(&affine);
    MPI_Type_free(&gapped);
    MPI_Op_free(&composition);
  }
};

enum class Form { blocking, nonblocking, persistent };

class Case {
 public:
  enum Kind {
    barrier,
    bcast,
    gather,
    gatherv,
    scatter,
    scatterv,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,
    alltoallw,
    reduce,
    allreduce,
    reduce_scatter,
    reduce_scatter_block,
    scan,
    exscan,
    kind_count
  };

  /// `random` is the same on all ranks.
  Case(const Objects& objects, uint64_t* random, MPI_Comm comm, int count_max)
      : comm_(comm), me_(rank_in(comm)), local_ranks_(size_of(comm)), ranks_(local_ranks_) {
    int is_inter = 0;
    MPI_Comm_test_inter(comm, &is_inter);
    if (is_inter) MPI_Comm_remote_size(comm, &ranks_);
    kind_ = static_cast<Kind>(random_below(random, is_inter ? scan : kind_count));
    choose_root(random_below(random, local_ranks_ + (is_inter ? ranks_ : 0)), is_inter != 0);
    count_ =
        random_below(random, 4) == 0 ? random_below(random, count_max) : random_below(random, 6);
    is_in_place_ = random_below(random, 3) == 0 && !is_inter;
    key_ = random_next(random);
    choose_type(objects, random_below(random, 4));
    if (is_per_rank()) count_ = count_ / (is_inter ? local_ranks_ + ranks_ : ranks_) + count_ % 2;
    if (is_inter && is_scattered_reduction()) {
      total_ = count_ % 3 * local_ranks_ * ranks_;
      count_ = total_ / local_ranks_;
    }
    set_lists();
    send_.resize(bytes());
    receive_.resize(bytes());
    refill();
  }

  /// New contents, the same on each call with the same number.
  void refill() {
    ++fill_count_;
    pattern_fill(send_.data(), send_.size(), key_ + static_cast<uint64_t>(me_ * 7 + fill_count_));
    pattern_fill(receive_.data(), receive_.size(),
                 key_ + static_cast<uint64_t>(me_ * 11 + fill_count_ + 3));
    if (type_ == MPI_DOUBLE) {
      // Sums depend on the order, but not on luck with special values.
      for (size_t i = 0; i + 8 <= send_.size(); i += 8) {
        const double value = 1.0 / static_cast<double>(send_[i] + 3 * me_ + 1);
        memcpy(&send_[i], &value, 8);
        memcpy(&receive_[i], &value, 8);
      }
    }
    expected_ = receive_;
    send_before_ = send_;
  }

  /// Runs the blocking form into the expected buffer.
  void run_blocking() {
    receive_.swap(expected_);
    call(Form::blocking, nullptr);
    receive_.swap(expected_);
  }

  void start(MPI_Request* request) { call(Form::nonblocking, request); }

  void init(MPI_Request* request) { call(Form::persistent, request); }

  void check() const {
    const auto difference = std::mismatch(receive_.begin(), receive_.end(), expected_.begin());
    if (difference.first != receive_.end() || send_ != send_before_) {
      fprintf(stderr, "kind %d, root %d, count %d, in place %d, %d ranks: rank %d differs at %d\n",
              kind_, root_, count_, is_in_place_, ranks_, me_,
              static_cast<int>(difference.first - receive_.begin()));
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }

 private:
  bool is_reduction() const { return kind_ >= reduce; }

  bool is_per_rank() const { return kind_ >= gather && kind_ <= alltoallw; }

  bool is_scattered_reduction() const {
    return kind_ == reduce_scatter || kind_ == reduce_scatter_block;
  }

  /// `number` is that of the root among the ranks of both groups, from the first rank of the group
  /// that has the lower world rank.
  void choose_root(int number, bool is_inter) {
    root_ = number;
    is_root_ = me_ == number;
    if (!is_inter) return;
    MPI_Group groups[2], world;
    const int first = 0;
    int first_ranks[2];
    MPI_Comm_group(comm_, &groups[0]);
    MPI_Comm_remote_group(comm_, &groups[1]);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < 2; i++) {
      MPI_Group_translate_ranks(groups[i], 1, &first, world, &first_ranks[i]);
      MPI_Group_free(&groups[i]);
    }
    MPI_Group_free(&world);
    const bool is_low = first_ranks[0] < first_ranks[1];
    const int low_size = is_low ? local_ranks_ : ranks_;
    const bool is_root_low = number < low_size;
    const int rank = is_root_low ? number : number - low_size;
    is_root_ = is_low == is_root_low && rank == me_;
    root_ = is_root_ ? MPI_ROOT : is_low == is_root_low ? MPI_PROC_NULL : rank;
  }

  void choose_type(const Objects& objects, int number) {
    type_ = number == 0 ? MPI_UINT32_T : number == 1 ? MPI_DOUBLE : objects.affine;
    op_ = number < 2 ? MPI_SUM : objects.composition;
    if (number == 3) type_ = objects.gapped;
    if (number == 3 && is_reduction()) {
      // The function reads eight bytes of each element.
      type_ = objects.affine;
    }
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type_, &lower, &extent);
    extent_ = static_cast<int>(extent);
  }

  /// Block i of every rank has `count_ + (i + j) % 2` elements where lists are given, with gaps.
  int list_count(int from, int to) const { return count_ + (from + 2 * to) % 3; }

  void set_lists() {
    const int list_length = std::max(ranks_, local_ranks_);
    const auto n = static_cast<size_t>(list_length);
    for (auto* list : {&send_counts_, &receive_counts_, &send_places_, &receive_places_,
                       &send_offsets_, &receive_offsets_})
      list->resize(n);
    types_.assign(n, type_);
    const int pitch = count_ + 3;
    for (int i = 0; i < list_length; i++) {
      const auto at = static_cast<size_t>(i);
      const bool is_all = kind_ == alltoallv || kind_ == alltoallw;
      // In place, the amounts between two ranks must be the same in both directions.
      const int there = is_in_place_ ? count_ : list_count(me_, i);
      const int back = is_in_place_ ? count_ : list_count(i, me_);
      send_counts_[at] = is_all ? there : list_count(i, 0);
      receive_counts_[at] = is_all ? back : list_count(i, 0);
      send_places_[at] = i * pitch;
      receive_places_[at] = (list_length - 1 - i) * pitch;
      send_offsets_[at] = i * pitch * extent_;
      receive_offsets_[at] = (list_length - 1 - i) * pitch * extent_;
      if (total_ >= 0) receive_counts_[at] = count_;
    }
    // Unlike numbers, as far as the sum allows it.
    if (total_ > 0 && local_ranks_ > 1) {
      receive_counts_[0]--;
      receive_counts_[static_cast<size_t>(local_ranks_ - 1)]++;
    }
  }

  size_t bytes() const {
    const int blocks =
        is_per_rank() || is_scattered_reduction() ? std::max(ranks_, local_ranks_) : 1;
    return static_cast<size_t>((count_ + 3) * blocks * extent_ + 16);
  }

  int own_list_count() const { return list_count(me_, 0); }

  void call(Form form, MPI_Request* request);

  MPI_Comm comm_;
  int me_;
  /// The ranks of the caller's group, and those with which it exchanges data.
  int local_ranks_, ranks_;
  Kind kind_;
  int root_, count_;
  bool is_root_;
  /// For a scattered reduction between groups: the elements of an operand.
  int total_ = -1;
  bool is_in_place_;
  uint64_t key_;
  int fill_count_ = 0;
  MPI_Datatype type_;
  int extent_;
  MPI_Op op_;
  std::vector<int> send_counts_, receive_counts_, send_places_, receive_places_;
  std::vector<int> send_offsets_, receive_offsets_;
  std::vector<MPI_Datatype> types_;
  std::vector<unsigned char> send_, receive_, expected_, send_before_;
};

/// Between the ranks of MPI_COMM_WORLD below one third and all other ranks. With one rank: null.
inline MPI_Comm make_intercomm() {
  const int ranks = size_of(MPI_COMM_WORLD), me = rank_in(MPI_COMM_WORLD);
  if (ranks == 1) return MPI_COMM_NULL;
  const int cut = (ranks + 2) / 3;
  MPI_Comm own, inter;
  MPI_Comm_split(MPI_COMM_WORLD, me < cut, 0, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, me < cut ? cut : 0, 5, &inter);
  MPI_Comm_free(&own);
  return inter;
}

inline void Case::call(Form form, MPI_Request* request) {
  const bool is_root = is_root_;
  const bool in_place = is_in_place_;
  void* receive = receive_.data();
  const void* send = in_place ? MPI_IN_PLACE : send_.data();
  const void* root_send = in_place && is_root ? MPI_IN_PLACE : send_.data();
  void* root_receive = in_place && is_root ? MPI_IN_PLACE : receive;
  const int* counts = receive_counts_.data();
  const int* places = receive_places_.data();
// The three forms of a function, whose arguments are the same up to the communicator.
#define CALL(Name, name, ...)                                            \
  form == Form::blocking      ? MPI_##Name(__VA_ARGS__, comm_)           \
  : form == Form::nonblocking ? MPI_I##name(__VA_ARGS__, comm_, request) \
                              : MPI_##Name##_init(__VA_ARGS__, comm_, MPI_INFO_NULL, request)
  int error = MPI_SUCCESS;
  switch (kind_) {
    case barrier:
      error = form == Form::blocking      ? MPI_Barrier(comm_)
              : form == Form::nonblocking ? MPI_Ibarrier(comm_, request)
                                          : MPI_Barrier_init(comm_, MPI_INFO_NULL, request);
      break;
    case bcast:
      error = CALL(Bcast, bcast, receive, count_, type_, root_);
      break;
    case gather:
      error = CALL(Gather, gather, root_send, count_, type_, receive, count_, type_, root_);
      break;
    case gatherv:
      error = CALL(Gatherv, gatherv, root_send, own_list_count(), type_, receive, counts, places,
                   type_, root_);
      break;
    case scatter:
      error =
          CALL(Scatter, scatter, send_.data(), count_, type_, root_receive, count_, type_, root_);
      break;
    case scatterv:
      error = CALL(Scatterv, scatterv, send_.data(), counts, places, type_, root_receive,
                   own_list_count(), type_, root_);
      break;
    case allgather:
      error = CALL(Allgather, allgather, send, count_, type_, receive, count_, type_);
      break;
    case allgatherv:
      error = CALL(Allgatherv, allgatherv, send, own_list_count(), type_, receive, counts, places,
                   type_);
      break;
    case alltoall:
      error = CALL(Alltoall, alltoall, send, count_, type_, receive, count_, type_);
      break;
    case alltoallv:
      error = CALL(Alltoallv, alltoallv, send, send_counts_.data(), send_places_.data(), type_,
                   receive, counts, places, type_);
      break;
    case alltoallw: {
      // The array of types is in use until the call returns only: the library keeps what it needs.
      const std::vector<MPI_Datatype> types = types_;
      error = CALL(Alltoallw, alltoallw, send, send_counts_.data(), send_offsets_.data(),
                   types.data(), receive, counts, receive_offsets_.data(), types.data());
      break;
    }
    case reduce:
      error = CALL(Reduce, reduce, root_send, receive, count_, type_, op_, root_);
      break;
    case allreduce:
      error = CALL(Allreduce, allreduce, send, receive, count_, type_, op_);
      break;
    case reduce_scatter: {
      error = CALL(Reduce_scatter, reduce_scatter, send, receive, counts, type_, op_);
      break;
    }
    case reduce_scatter_block:
      error = CALL(Reduce_scatter_block, reduce_scatter_block, send, receive, count_, type_, op_);
      break;
    case scan:
      error = CALL(Scan, scan, send, receive, count_, type_, op_);
      break;
    case exscan:
      error = CALL(Exscan, exscan, send, receive, count_, type_, op_);
      break;
    case kind_count:
      break;
  }
#undef CALL
  CHECK_EQUAL(error, MPI_SUCCESS);
}
