// FT of the NAS parallel benchmarks: a diffusion equation solved by Fourier transforms in three
// dimensions, with known checksums of each step. Four variants:
//
//   base    transposes by MPI_Alltoallv, which block               plain MPI
//   olap    transposes in slices that travel during transforms     plain MPI, by hand
//   ideal   as base, without any message: wrong values, the reference for the others
//   graph   a sorrel::Graph of slices and their messages
//
// Ranks form a grid of `across` x `along`. In *frequency* space a rank has part of x (by `across`)
// and of y (by `along`), and all z. A step goes
//
//   evolve, transform z  -> exchange y, z ->  transform y  -> exchange x, y ->  transform x,
//   checksum
//
// and ends in *real* space with part of y (by `across`) and of z (by `along`), and all x. With
// across = 1 (slabs, 1-D) there is no second exchange; otherwise these are pencils (2-D). The local
// transforms and copies are the same in all variants.
#pragma once

#include <algorithm>
#include <complex>
#include <memory>
#include <mpi.h>
#include <string>
#include <vector>

namespace ft {

using Value = std::complex<double>;

struct Range {
  long lo = 0, hi = 0;

  long length() const { return hi - lo; }

  Range operator&(const Range& other) const {
    return {std::max(lo, other.lo), std::max(std::max(lo, other.lo), std::min(hi, other.hi))};
  }
};

/// Part `index` of 0 .. n cut into `count` parts, which differ by one at most.
Range part_of(long n, long count, long index);

/// part_of() for any range.
Range part_of(const Range& range, long count, long index);

/// The benchmark's definition of a class of problems, or a mesh of which it has none.
struct Problem {
  std::string name;  ///< "class A" or "mesh 1024x1024x512"
  long nx, ny, nz;
  std::vector<Value> checksums;  ///< one for each step; empty: none are known

  long values() const { return nx * ny * nz; }
};

/// By its letter: S, W, A, B or C; null for any other letter.
const Problem* problem(char letter);

/// The benchmark's random numbers: those from `first` on, each between 0 and 1.
void random_numbers(long first, double* numbers, long count);

/// Ranks that exchange data, and its layout: `slices` pieces for each of them. A rank's piece for
/// itself is written directly among the received ones.
struct Exchange {
  MPI_Comm comm = MPI_COMM_NULL;
  int size = 1, place = 0;
  int slices = 1;
  int rooms = 1;  ///< buffers for outgoing slices, used in turn; divides `slices`

  std::vector<long> out_begins;  // slices x (size + 1), each from the beginning of its room
  std::vector<long> in_begins;   // size x slices + 1
  long room = 0;                 // values of the longest slice

  /// Where the piece of a slice for a position begins.
  long out_begin(int slice, int to) const {
    return slice % rooms * room + out_begins[static_cast<std::size_t>(slice * (size + 1) + to)];
  }

  long out_count(int slice, int to) const {
    return out_begin(slice, to + 1) - out_begin(slice, to);
  }

  /// Received data is stored by sender, so that the pieces of one slice may arrive together.
  std::size_t in_piece(int slice, int from) const {
    return static_cast<std::size_t>(from * slices + slice);
  }

  long in_begin(int slice, int from) const { return in_begins[in_piece(slice, from)]; }

  long in_count(int slice, int from) const {
    return in_begins[in_piece(slice, from) + 1] - in_begin(slice, from);
  }

  long out_total() const { return rooms * room; }

  long in_total() const { return in_begins.back(); }
};

struct Case {
  const Problem* problem = nullptr;
  int steps = 0;
  int across = 1, along = 1;                    ///< the grid of ranks
  int across_position = 0, along_position = 0;  ///< this rank's position
  int rank = 0;
  int y_slices = 1;      ///< number of pieces of a rank's part of y, in the first exchange
  int z_slices = 1;      ///< number of pieces of its part of z, transformed and sent one by one
  int rooms = 0;         ///< graph: buffers for outgoing slices; 0: as many as there are slices
  bool y_fills = false;  ///< graph: y runs only while no slice can be made
  std::string plans;     ///< file of FFTW's measurements; empty: each run measures
  MPI_Comm comm = MPI_COMM_NULL;
};

/// Memory for transforms, aligned for them, zero.
class Array {
 public:
  explicit Array(long count);

  Value* data() const { return values_.get(); }

 private:
  struct Free {
    void operator()(Value* values) const;
  };

  std::unique_ptr<Value[], Free> values_;
};

/// One rank's share: its data, the local transforms, and the copies into and out of messages.
class Transform {
 public:
  /// With `slots` receive buffers, which steps use in turn, and at most `rooms` buffers for
  /// outgoing slices, or one for each (0).
  Transform(const Case& c, int slots, int rooms);
  ~Transform();
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  /// The initial state in frequency space; all ranks call it.
  void prepare();

  /// The three parts of a step, by slices. A later part reads data of other ranks from in().
  void evolve_and_transform_z(int step, int slice);
  /// With one rank across, this continues with x and the checksum.
  void transform_y(int step, int slice);
  void transform_x(int step, int slice);

  const Exchange& first() const { return first_; }

  const Exchange& second() const { return second_; }

  bool has_second() const { return second_.size > 1; }

  Value* out(const Exchange& exchange) const;
  Value* in(const Exchange& exchange, int step) const;

  /// Sums of all steps over the values of all ranks, on all ranks.
  std::vector<Value> checksums() const;

  /// The difference between the squares of the last result and those of its frequencies, of all
  /// ranks, as a share of their sum: by Parseval's theorem, no more than rounding.
  double energy_error() const;

 private:
  struct Plans;
  class Scratch;

  void make_plans();
  void plan_all();
  Exchange make_first(int rooms) const;
  Exchange make_second(int rooms) const;
  Value* target(const Exchange& e, int step, int slice, int to) const;
  void evolve(long y, Value* plane);
  void gather_y(int step, long z, Value* plane) const;
  void finish_plane(int step, int slice, long z, Value* plane);
  void move_to_frequency_space();
  void fill_with_random_numbers();

  const Case& c_;
  const long nx_, ny_, nz_;
  // Ranges of this rank: in frequency space, between the exchanges and in real space.
  const Range x_, y_of_frequency_, z_, y_;
  const Exchange first_, second_;
  const int slots_;
  bool evolves_ = true;
  std::unique_ptr<Plans> plans_;
  std::unique_ptr<Scratch> scratch_;
  Array frequency_;                                     // y, z, x
  Array result_;                                        // z, y, x
  Array first_out_, second_out_;                        // by room
  std::vector<Array> first_in_, second_in_;             // by slot
  std::vector<double> factor_x_, factor_y_, factor_z_;  // of one step
  std::vector<Value> sums_;                             // step, slice
};

struct Result {
  double seconds = 0;
  double waiting_seconds = 0;  ///< graph: for messages, without any task
};

Result run_base(const Case& c, Transform& transform, bool has_messages);
Result run_olap(const Case& c, Transform& transform);
Result run_graph(const Case& c, Transform& transform, bool is_explained);

/// Memory of all ranks together, in bytes: the arrays of a Transform with this many receive
/// buffers, and what prepare() needs beside them.
double bytes_needed(const Case& c, int slots, int rooms);

/// Sends the pieces of a slice to their owners, before it returns.
void exchange_slice(const Transform& transform, const Exchange& exchange, int step, int slice);

}  // namespace ft
