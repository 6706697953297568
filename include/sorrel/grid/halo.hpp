//! Halo - the exchange of ghosts between the blocks of a cut grid.
//!
//! Over any communicator with enough ranks and any arrays: rank r of the communicator has the block
//! at coords_of(r, grid, brick), and each field is a view of its block with `halo_width` ghosts on
//! both sides of every dimension that has more than one cell. Speaks MPI by the standard's own
//! functions. One owner at a time; make() and the destructor are collective.
//!
//! With a star stencil ghosts at edges and corners are not exchanged and may hold anything. With a
//! box stencil all of them are, one dimension after the other.
#pragma once

#include <memory>
#include <mpi.h>
#include <span>

#include <sorrel/grid/array_view.hpp>
#include <sorrel/grid/plan.hpp>
#include <sorrel/result.hpp>

namespace sorrel::grid {

class Halo {
 public:
  /// Collective over `comm`, of which a duplicate is kept until the Halo ends. `cut` names process
  /// grid, brick and pack: a plan's best(), any other candidate, or one's own. Ranks behind the
  /// grid take part in make() without fields and exchange nothing. Troubles are the same on every
  /// rank only if the arguments are; the fields' memory must outlive the Halo.
  [[nodiscard]] static Result<Halo> make(MPI_Comm comm,
                                         const Problem& problem,
                                         const Candidate& cut,
                                         std::span<const ArrayView> fields);

  Halo(Halo&&) noexcept;
  Halo& operator=(Halo&&) noexcept;
  ~Halo();

  /// Fills the ghosts of all fields. May suspend.
  void exchange();

  /// The same in two parts, for cells to be updated between them that are neither sent nor ghosts.
  /// No field's sent cells or ghosts may be touched until finish() returns. finish() may suspend.
  void begin();
  void finish();

  /// Between begin() and finish(): moves messages on. May suspend.
  void poll();

  [[nodiscard]] const Problem& problem() const;

  /// This rank's cells; no extents behind the grid.
  [[nodiscard]] Block block() const;

 private:
  struct Parts;
  explicit Halo(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace sorrel::grid
