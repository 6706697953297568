// BASE, OLAP and IDEAL: any MPI.
#include <algorithm>
#include <cmath>

#include "jacobi.hpp"

namespace jacobi {

namespace {

struct Box {
  Cells lo, hi;
};

/// One end of one dimension, with its messages.
struct Face {
  int dimension, end;
  Box sent, ghosts;
  std::vector<double> out, in;
};

template <class Copy>
void for_rows(const Box& box, Copy copy) {
  for (long i = box.lo[0]; i < box.hi[0]; ++i)
    for (long j = box.lo[1]; j < box.hi[1]; ++j)
      copy(i, j, box.lo[2], box.hi[2] - box.lo[2]);
}

void relax_box(const Case& c, Array& to, const Array& from, const Box& box) {
  Cells extents;
  for (int d = 0; d < 3; ++d) {
    extents[d] = box.hi[d] - box.lo[d];
    if (extents[d] <= 0) return;
  }
  relax(to.at(box.lo[0], box.lo[1], box.lo[2]), from.at(box.lo[0], box.lo[1], box.lo[2]),
        to.plane(), to.row(), extents, c.source());
}

class Halo {
 public:
  explicit Halo(const Case& c) : c_(c) {
    for (int d = 0; d < 3; ++d) {
      for (int end = 0; end < 2; ++end) {
        if (c.neighbours[d][end] == MPI_PROC_NULL) continue;
        Face face{d, end, {c.lo, c.hi}, {c.lo, c.hi}, {}, {}};
        face.sent.lo[d] = end == 0 ? c.lo[d] : c.hi[d] - 1;
        face.sent.hi[d] = face.sent.lo[d] + 1;
        face.ghosts.lo[d] = end == 0 ? c.lo[d] - 1 : c.hi[d];
        face.ghosts.hi[d] = face.ghosts.lo[d] + 1;
        long count = 1;
        for (int e = 0; e < 3; ++e)
          count *= face.sent.hi[e] - face.sent.lo[e];
        face.out.resize(static_cast<std::size_t>(count));
        face.in.resize(static_cast<std::size_t>(count));
        faces_.push_back(std::move(face));
      }
    }
    requests_.resize(2 * faces_.size());
  }

  const std::vector<Face>& faces() const { return faces_; }

  void exchange(Array& u) {
    copy_out(u);
    // One dimension after the other, each end with its neighbour's other end.
    for (int d = 0; d < 3; ++d) {
      for (int end = 0; end < 2; ++end) {
        Face* out = find(d, end);
        Face* in = find(d, 1 - end);
        MPI_Sendrecv(out ? out->out.data() : nullptr, out ? static_cast<int>(out->out.size()) : 0,
                     MPI_DOUBLE, c_.neighbours[d][end], 2 * d + end, in ? in->in.data() : nullptr,
                     in ? static_cast<int>(in->in.size()) : 0, MPI_DOUBLE,
                     c_.neighbours[d][1 - end], 2 * d + end, c_.comm, MPI_STATUS_IGNORE);
      }
    }
    copy_in(u);
  }

  void copy_out(const Array& u) {
    for (Face& face : faces_)
      pack(u, face);
  }

  void copy_in(Array& u) const {
    for (const Face& face : faces_)
      unpack(u, face);
  }

  void begin(Array& u) {
    for (std::size_t i = 0; i < faces_.size(); ++i) {
      Face& face = faces_[i];
      MPI_Irecv(face.in.data(), static_cast<int>(face.in.size()), MPI_DOUBLE,
                c_.neighbours[face.dimension][face.end], 2 * face.dimension + 1 - face.end, c_.comm,
                &requests_[i]);
    }
    for (std::size_t i = 0; i < faces_.size(); ++i) {
      Face& face = faces_[i];
      pack(u, face);
      MPI_Isend(face.out.data(), static_cast<int>(face.out.size()), MPI_DOUBLE,
                c_.neighbours[face.dimension][face.end], 2 * face.dimension + face.end, c_.comm,
                &requests_[faces_.size() + i]);
    }
  }

  void finish(Array& u) {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    for (Face& face : faces_)
      unpack(u, face);
  }

 private:
  Face* find(int dimension, int end) {
    for (Face& face : faces_)
      if (face.dimension == dimension && face.end == end) return &face;
    return nullptr;
  }

  static void pack(const Array& u, Face& face) {
    double* out = face.out.data();
    for_rows(face.sent, [&](long i, long j, long k, long count) {
      out = std::copy_n(u.at(i, j, k), count, out);
    });
  }

  static void unpack(Array& u, const Face& face) {
    const double* in = face.in.data();
    for_rows(face.ghosts, [&](long i, long j, long k, long count) {
      std::copy_n(in, count, u.at(i, j, k));
      in += count;
    });
  }

  const Case& c_;
  std::vector<Face> faces_;
  std::vector<MPI_Request> requests_;
};

/// The cells that need no ghost, and the remaining cells in slabs that do not overlap.
Box split(const Case& c, std::vector<Box>& skin) {
  Box interior{c.lo, c.hi};
  for (int d = 0; d < 3; ++d) {
    for (int end = 0; end < 2; ++end) {
      if (c.neighbours[d][end] == MPI_PROC_NULL || interior.hi[d] <= interior.lo[d]) continue;
      Box slab = interior;
      (end == 0 ? slab.hi[d] : slab.lo[d]) = end == 0 ? slab.lo[d] + 1 : slab.hi[d] - 1;
      (end == 0 ? interior.lo[d] : interior.hi[d]) += end == 0 ? 1 : -1;
      skin.push_back(slab);
    }
  }
  return interior;
}

/// Ranks that share a core take turns. Otherwise each rank would do all of its steps before the
/// next one begins, with its block in the cache: less memory traffic than in any order that
/// messages allow. In an MPI with user-level threads as ranks, an unsuccessful test lets other
/// ranks run.
void take_turns(const Case& c) {
  int has_come = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c.comm, &has_come, MPI_STATUS_IGNORE);
}

}  // namespace

Result run_plain(const Case& c, bool has_messages, bool has_overlap, bool has_copies) {
  Array u(c), v(c);
  u.fill(c);
  v.fill(c);
  Halo halo(c);
  std::vector<Box> skin;
  const Box interior = split(c, skin);

  MPI_Barrier(c.comm);
  Result result;
  result.began = MPI_Wtime();
  for (int step = 0; step < c.steps; ++step) {
    if (has_overlap) {
      halo.begin(u);
      relax_box(c, v, u, interior);
      halo.finish(u);
      for (const Box& slab : skin)
        relax_box(c, v, u, slab);
    } else {
      if (has_messages) {
        halo.exchange(u);
      } else {
        if (has_copies) halo.copy_out(u);
        take_turns(c);
        if (has_copies) halo.copy_in(u);
      }
      relax_box(c, v, u, {c.lo, c.hi});
    }
    u.swap(v);
  }
  result.ended = MPI_Wtime();
  // A rank that compares must not delay the steps of another one.
  MPI_Barrier(c.comm);
  const Answer end(c, c.steps);
  for_rows({c.lo, c.hi}, [&](long i, long j, long k, long count) {
    for (long x = 0; x < count; ++x)
      result.error = std::max(result.error, std::abs(*u.at(i, j, k + x) - end.at(i, j, k + x)));
  });
  return result;
}

}  // namespace jacobi
