// One rank's share of the work, common to all variants.
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fftw3.h>
#include <memory>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "ft.hpp"

namespace ft {

namespace {

constexpr double alpha = 1e-6;

fftw_complex* fftw(Value* values) {
  return reinterpret_cast<fftw_complex*>(values);
}

/// exp(-4 pi^2 alpha k^2) for one dimension and one step.
std::vector<double> factors(long n) {
  const double pi = std::acos(-1.0);
  std::vector<double> factors(static_cast<std::size_t>(n));
  for (long i = 0; i < n; ++i) {
    const auto k = static_cast<double>((i + n / 2) % n - n / 2);
    factors[static_cast<std::size_t>(i)] = std::exp(-4 * pi * pi * alpha * k * k);
  }
  return factors;
}

/// `out_of(s, other)` and `in_of(s, other)` count values.
template <class OutOf, class InOf>
void lay_out(Exchange& e, int rooms, OutOf out_of, InOf in_of) {
  e.rooms = rooms == 0 ? e.slices : std::min(rooms, e.slices);
  while (e.slices % e.rooms != 0)
    --e.rooms;
  for (int s = 0; s < e.slices; ++s) {
    long begin = 0;
    for (int other = 0; other < e.size; ++other) {
      e.out_begins.push_back(begin);
      if (other != e.place) begin += out_of(s, other);
    }
    e.out_begins.push_back(begin);
    e.room = std::max(e.room, begin);
  }
  e.in_begins.assign(1, 0);
  for (int other = 0; other < e.size; ++other)
    for (int s = 0; s < e.slices; ++s)
      e.in_begins.push_back(e.in_begins.back() + in_of(s, other));
}

}  // namespace

/// In pages of 2 MiB where available. Lines of a transform are far apart; with small pages each is
/// in a page of its own.
Array::Array(long count) : values_(nullptr) {
  constexpr std::size_t line = 64, large_page = std::size_t{1} << 21;
  const auto values = static_cast<std::size_t>(std::max(count, 1L));
  const std::size_t unit = values * sizeof(Value) < large_page ? line : large_page;
  const std::size_t bytes = (values * sizeof(Value) + unit - 1) / unit * unit;
  void* memory = std::aligned_alloc(unit, bytes);
  if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
  if (unit == large_page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  values_.reset(static_cast<Value*>(memory));
  std::uninitialized_fill_n(values_.get(), values, Value());
}

void Array::Free::operator()(Value* values) const {
  std::free(values);
}

/// All of them work in place and backward: a forward transform is one of conjugates.
struct Transform::Plans {
  fftw_plan x = nullptr, y = nullptr, z = nullptr;

  Plans() = default;
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  static fftw_plan many(
      long n, long count, long stride, long distance, Value* example, unsigned care) {
    const int length = static_cast<int>(n);
    return fftw_plan_many_dft(1, &length, static_cast<int>(count), fftw(example), nullptr,
                              static_cast<int>(stride), static_cast<int>(distance), fftw(example),
                              nullptr, static_cast<int>(stride), static_cast<int>(distance),
                              FFTW_BACKWARD, care);
  }

  ~Plans() {
    for (fftw_plan plan : {x, y, z})
      fftw_destroy_plan(plan);
  }
};

/// A plane for each running task: tasks of one rank may run on several threads.
class Transform::Scratch {
 public:
  explicit Scratch(long count) : count_(count) {}

  class Plane {
   public:
    explicit Plane(Scratch& scratch) : scratch_(scratch) {
      // Acquire, pairs with the release below: sees the last user's writes to the plane. Each of 64
      // threads, the maximum of a graph, finds a plane.
      while (scratch_.is_taken_[place_].exchange(true, std::memory_order_acquire))
        place_ = (place_ + 1) % scratch_.is_taken_.size();
      std::unique_ptr<Array>& array = scratch_.planes_[place_];
      if (array == nullptr) array = std::make_unique<Array>(scratch_.count_);
    }

    ~Plane() { scratch_.is_taken_[place_].store(false, std::memory_order_release); }

    Plane(const Plane&) = delete;
    Plane& operator=(const Plane&) = delete;

    Value* data() const { return scratch_.planes_[place_]->data(); }

   private:
    Scratch& scratch_;
    std::size_t place_ = 0;
  };

 private:
  const long count_;
  std::array<std::atomic<bool>, 64> is_taken_{};
  std::array<std::unique_ptr<Array>, 64> planes_;
};

Transform::Transform(const Case& c, int slots, int rooms)
    : c_(c),
      nx_(c.problem->nx),
      ny_(c.problem->ny),
      nz_(c.problem->nz),
      x_(part_of(nx_, c.across, c.across_position)),
      y_of_frequency_(part_of(ny_, c.along, c.along_position)),
      z_(part_of(nz_, c.along, c.along_position)),
      y_(part_of(ny_, c.across, c.across_position)),
      first_(make_first(rooms)),
      second_(make_second(rooms)),
      slots_(slots),
      scratch_(std::make_unique<Scratch>(x_.length() * std::max(ny_, nz_))),
      frequency_(y_of_frequency_.length() * nz_ * x_.length()),
      result_(z_.length() * y_.length() * nx_),
      first_out_(first_.out_total()),
      second_out_(has_second() ? second_.out_total() : 0),
      factor_x_(factors(nx_)),
      factor_y_(factors(ny_)),
      factor_z_(factors(nz_)),
      sums_(static_cast<std::size_t>(c.steps * c.z_slices)) {
  for (int slot = 0; slot < slots; ++slot) {
    first_in_.emplace_back(first_.in_total());
    second_in_.emplace_back(has_second() ? second_.in_total() : 0);
  }
  make_plans();
}

/// One rank plans before all others, which are idle meanwhile. FFTW chooses by the clock; with
/// plans made beside other work, transforms differ from run to run, and their times by a third.
/// Ranks that share a process share FFTW, whose planner then works for one rank at a time, and its
/// wisdom.
void Transform::make_plans() {
  fftw_make_planner_thread_safe();
  const bool has_file = !c_.plans.empty();
  if (c_.rank != 0) MPI_Barrier(c_.comm);
  if (has_file) fftw_import_wisdom_from_filename(c_.plans.c_str());
  plan_all();
  if (c_.rank != 0) return;
  // If the file cannot be written, the next run measures again.
  if (has_file) fftw_export_wisdom_to_filename(c_.plans.c_str());
  MPI_Barrier(c_.comm);
}

void Transform::plan_all() {
  // Plans that are kept may take longer to make.
  const unsigned care = c_.plans.empty() ? FFTW_MEASURE : FFTW_PATIENT;
  const Scratch::Plane plane(*scratch_);
  plans_ = std::make_unique<Plans>();
  plans_->x = Plans::many(nx_, y_.length(), 1, nx_, result_.data(), care);
  plans_->y = Plans::many(ny_, x_.length(), x_.length(), 1, plane.data(), care);
  plans_->z = Plans::many(nz_, x_.length(), x_.length(), 1, plane.data(), care);
}

Transform::~Transform() {
  for (MPI_Comm comm : {first_.comm, second_.comm})
    MPI_Comm_free(&comm);
}

/// y, z, x of one y-slice, to the ranks that own z.
Exchange Transform::make_first(int rooms) const {
  Exchange e;
  MPI_Comm_split(c_.comm, c_.across_position, c_.along_position, &e.comm);
  e.size = c_.along, e.place = c_.along_position, e.slices = c_.y_slices;
  lay_out(
      e, rooms,
      [&](int s, int to) {
        return part_of(y_of_frequency_, c_.y_slices, s).length() *
               part_of(nz_, c_.along, to).length() * x_.length();
      },
      [&](int s, int from) {
        return part_of(part_of(ny_, c_.along, from), c_.y_slices, s).length() * z_.length() *
               x_.length();
      });
  return e;
}

/// z, y, x of one z-slice, to the ranks that own y.
Exchange Transform::make_second(int rooms) const {
  Exchange e;
  MPI_Comm_split(c_.comm, c_.along_position, c_.across_position, &e.comm);
  e.size = c_.across, e.place = c_.across_position, e.slices = c_.z_slices;
  lay_out(
      e, rooms,
      [&](int s, int to) {
        return part_of(z_, c_.z_slices, s).length() * part_of(ny_, c_.across, to).length() *
               x_.length();
      },
      [&](int s, int from) {
        return part_of(z_, c_.z_slices, s).length() * y_.length() *
               part_of(nx_, c_.across, from).length();
      });
  return e;
}

Value* Transform::out(const Exchange& exchange) const {
  return (&exchange == &first_ ? first_out_ : second_out_).data();
}

Value* Transform::in(const Exchange& exchange, int step) const {
  return (&exchange == &first_ ? first_in_ : second_in_)[static_cast<std::size_t>(step % slots_)]
      .data();
}

/// Where the piece for a position is written.
Value* Transform::target(const Exchange& e, int step, int slice, int to) const {
  return to == e.place ? in(e, step) + e.in_begin(slice, to) : out(e) + e.out_begin(slice, to);
}

// ---- the parts of a step
// -------------------------------------------------------------------------

void Transform::evolve_and_transform_z(int step, int slice) {
  const Range ys = part_of(y_of_frequency_, c_.y_slices, slice);
  const long row = x_.length();
  const Scratch::Plane plane(*scratch_);
  for (long y = ys.lo; y < ys.hi; ++y) {
    evolve(y, plane.data());
    fftw_execute_dft(plans_->z, fftw(plane.data()), fftw(plane.data()));
    for (int to = 0; to < first_.size; ++to) {
      const Range z = part_of(nz_, c_.along, to);
      std::copy_n(plane.data() + z.lo * row, z.length() * row,
                  target(first_, step, slice, to) + (y - ys.lo) * z.length() * row);
    }
  }
}

/// One step of a plane of y in frequency space, and a copy.
void Transform::evolve(long y, Value* plane) {
  const long row = x_.length();
  Value* state = frequency_.data() + (y - y_of_frequency_.lo) * nz_ * row;
  if (!evolves_) {
    std::copy_n(state, nz_ * row, plane);
    return;
  }
  const double* by_x = factor_x_.data() + x_.lo;
  for (long z = 0; z < nz_; ++z) {
    const double by_y_and_z =
        factor_y_[static_cast<std::size_t>(y)] * factor_z_[static_cast<std::size_t>(z)];
    for (long x = 0; x < row; ++x) {
      state[x] *= by_y_and_z * by_x[x];
      plane[x] = state[x];
    }
    state += row;
    plane += row;
  }
}

void Transform::transform_y(int step, int slice) {
  const Range zs = part_of(z_, c_.z_slices, slice);
  const long row = x_.length();
  for (long z = zs.lo; z < zs.hi; ++z) {
    if (!has_second()) {
      // All x and y are here: the plane belongs to the result.
      Value* plane = result_.data() + (z - z_.lo) * ny_ * nx_;
      gather_y(step, z, plane);
      fftw_execute_dft(plans_->y, fftw(plane), fftw(plane));
      finish_plane(step, slice, z, plane);
      continue;
    }
    const Scratch::Plane plane(*scratch_);
    gather_y(step, z, plane.data());
    fftw_execute_dft(plans_->y, fftw(plane.data()), fftw(plane.data()));
    for (int to = 0; to < second_.size; ++to) {
      const Range y = part_of(ny_, c_.across, to);
      std::copy_n(plane.data() + y.lo * row, y.length() * row,
                  target(second_, step, slice, to) + (z - zs.lo) * y.length() * row);
    }
  }
}

void Transform::gather_y(int step, long z, Value* plane) const {
  const long row = x_.length();
  // Pieces are ordered by sender and slice, so that y goes from the first to the last.
  const Value* from = in(first_, step) + (z - z_.lo) * row;
  for (long y = 0; y < ny_; ++y, from += z_.length() * row)
    std::copy_n(from, row, plane + y * row);
}

void Transform::transform_x(int step, int slice) {
  const Range zs = part_of(z_, c_.z_slices, slice);
  for (long z = zs.lo; z < zs.hi; ++z) {
    Value* plane = result_.data() + (z - z_.lo) * y_.length() * nx_;
    for (int from = 0; from < second_.size; ++from) {
      const Range x = part_of(nx_, c_.across, from);
      const Value* piece = in(second_, step) + second_.in_begin(slice, from) +
                           (z - zs.lo) * y_.length() * x.length();
      for (long y = 0; y < y_.length(); ++y, piece += x.length())
        std::copy_n(piece, x.length(), plane + y * nx_ + x.lo);
    }
    finish_plane(step, slice, z, plane);
  }
}

void Transform::finish_plane(int step, int slice, long z, Value* plane) {
  fftw_execute_dft(plans_->x, fftw(plane), fftw(plane));
  if (!evolves_) return;
  Value sum;
  for (long j = 1; j <= 1024; ++j) {
    const long y = 3 * j % ny_;
    if (5 * j % nz_ == z && y >= y_.lo && y < y_.hi) sum += plane[(y - y_.lo) * nx_ + j % nx_];
  }
  sums_[static_cast<std::size_t>(step * c_.z_slices + slice)] += sum;
}

std::vector<Value> Transform::checksums() const {
  std::vector<Value> mine, all(static_cast<std::size_t>(c_.steps));
  for (std::size_t step = 0; step < all.size(); ++step) {
    Value sum;
    for (int slice = 0; slice < c_.z_slices; ++slice)
      sum += sums_[step * static_cast<std::size_t>(c_.z_slices) + static_cast<std::size_t>(slice)];
    mine.push_back(sum / static_cast<double>(nx_ * ny_ * nz_));
  }
  MPI_Allreduce(mine.data(), all.data(), 2 * c_.steps, MPI_DOUBLE, MPI_SUM, c_.comm);
  return all;
}

double Transform::energy_error() const {
  const auto energy = [](const Array& array, long count) {
    double sum = 0;
    for (long i = 0; i < count; ++i)
      sum += std::norm(array.data()[i]);
    return sum;
  };
  const double values = static_cast<double>(c_.problem->values());
  const std::array mine = {energy(result_, z_.length() * y_.length() * nx_) / values,
                           energy(frequency_, y_of_frequency_.length() * nz_ * x_.length())};
  std::array<double, 2> all{};
  MPI_Allreduce(mine.data(), all.data(), 2, MPI_DOUBLE, MPI_SUM, c_.comm);
  return std::abs(all[0] - all[1]) / all[1];
}

double bytes_needed(const Case& c, int slots, int rooms) {
  const double out = rooms == 0 ? 1 : std::min(1.0, static_cast<double>(rooms) / c.y_slices);
  const int exchanges = c.across > 1 ? 2 : 1;
  constexpr int states = 2, in_preparation = 2;
  return static_cast<double>(c.problem->values()) * sizeof(Value) *
         (states + in_preparation + exchanges * (slots + out));
}

// ---- the beginning
// -------------------------------------------------------------------------------

/// The benchmark's numbers, taken as frequencies, go through a step that is only a transform. The
/// result, moved, is the initial state.
void Transform::prepare() {
  fill_with_random_numbers();
  evolves_ = false;
  for (int slice = 0; slice < c_.y_slices; ++slice) {
    evolve_and_transform_z(0, slice);
    exchange_slice(*this, first_, 0, slice);
  }
  for (int slice = 0; slice < c_.z_slices; ++slice) {
    transform_y(0, slice);
    if (!has_second()) continue;
    exchange_slice(*this, second_, 0, slice);
    transform_x(0, slice);
  }
  evolves_ = true;
  move_to_frequency_space();
}

void Transform::fill_with_random_numbers() {
  for (long y = y_of_frequency_.lo; y < y_of_frequency_.hi; ++y)
    for (long z = 0; z < nz_; ++z) {
      Value* row = frequency_.data() + ((y - y_of_frequency_.lo) * nz_ + z) * x_.length();
      random_numbers(2 * (x_.lo + nx_ * (y + ny_ * z)), reinterpret_cast<double*>(row),
                     2 * x_.length());
      for (long x = 0; x < x_.length(); ++x)
        row[x] = std::conj(row[x]);
    }
}

void Transform::move_to_frequency_space() {
  const auto size = static_cast<std::size_t>(c_.across * c_.along);
  std::vector<int> out_counts(size), out_begins(size + 1), in_counts(size), in_begins(size + 1);
  std::vector<Value> packed,
      received(static_cast<std::size_t>(y_of_frequency_.length() * nz_ * x_.length()));
  packed.reserve(static_cast<std::size_t>(z_.length() * y_.length() * nx_));
  for (std::size_t r = 0; r < size; ++r) {
    const auto across = static_cast<long>(r) % c_.across, along = static_cast<long>(r) / c_.across;
    const Range x = part_of(nx_, c_.across, across), y = part_of(ny_, c_.along, along) & y_;
    for (long k = z_.lo; k < z_.hi; ++k)
      for (long j = y.lo; j < y.hi; ++j) {
        const Value* row = result_.data() + ((k - z_.lo) * y_.length() + j - y_.lo) * nx_;
        for (long i = x.lo; i < x.hi; ++i)
          packed.push_back(std::conj(row[i]));
      }
    out_begins[r + 1] = static_cast<int>(packed.size());
    out_counts[r] = out_begins[r + 1] - out_begins[r];
    const Range y_in = part_of(ny_, c_.across, across) & y_of_frequency_;
    in_counts[r] =
        static_cast<int>(y_in.length() * part_of(nz_, c_.along, along).length() * x_.length());
    in_begins[r + 1] = in_begins[r] + in_counts[r];
  }
  MPI_Alltoallv(packed.data(), out_counts.data(), out_begins.data(), MPI_C_DOUBLE_COMPLEX,
                received.data(), in_counts.data(), in_begins.data(), MPI_C_DOUBLE_COMPLEX, c_.comm);
  const Value* from = received.data();
  for (std::size_t r = 0; r < size; ++r) {
    const auto across = static_cast<long>(r) % c_.across, along = static_cast<long>(r) / c_.across;
    const Range z = part_of(nz_, c_.along, along),
                y = part_of(ny_, c_.across, across) & y_of_frequency_;
    for (long k = z.lo; k < z.hi; ++k)
      for (long j = y.lo; j < y.hi; ++j, from += x_.length())
        std::copy_n(from, x_.length(),
                    frequency_.data() + ((j - y_of_frequency_.lo) * nz_ + k) * x_.length());
  }
}

}  // namespace ft
