//! Halo - the exchange of ghost cells between the blocks of a partitioned grid.
//!
//! Over any communicator with enough ranks and any arrays. Rank r of the communicator has the block
//! at coords_of(r, grid, brick). Each field is a view of its block with `halo_width` ghosts on both
//! sides of every dimension that has more than one cell. Uses the functions of the MPI standard
//! only. One thread at a time; make() and the destructor are collective.
//!
//! With a star stencil, ghosts at edges and corners are not exchanged and are undefined. With a box
//! stencil all ghosts are exchanged, one dimension after the other.
#pragma once

#include <memory>
#include <mpi.h>
#include <span>

#include <sorrel/grid/array_view.hpp>
#include <sorrel/grid/plan.hpp>
#include <sorrel/result.hpp>

namespace sorrel::grid {

/// The exchange of ghost cells between the blocks of a partitioned grid: made once, used in every
/// step. Movable, not copyable.
class Halo {
 public:
  /// Collective over `comm`; the Halo keeps a duplicate of it until its destructor. May suspend.
  /// `cut` gives process grid, brick and pack: a plan's best(), another cut, or the caller's own.
  /// Ranks beyond the grid call make() without fields and exchange nothing. Errors are the same on
  /// every rank only if the arguments are.
  ///
  /// @param comm has at least as many ranks as the cut
  /// @param problem the grid, its stencil, and the width of the halo
  /// @param cut which rank has which block, and how its faces are packed
  /// @param fields a view of each array with its ghosts, whose memory must outlive the Halo; none
  /// beyond the grid
  /// @return the exchange, or one line that says which argument is wrong
  [[nodiscard]] static Result<Halo> make(MPI_Comm comm,
                                         const Problem& problem,
                                         const Cut& cut,
                                         std::span<const ArrayView> fields);

  /// The other one may only be destroyed or assigned to.
  Halo(Halo&&) noexcept;
  /// Leaves the other one in that state. Ends the exchange of this one; collective. May suspend.
  ///
  /// @return this exchange
  Halo& operator=(Halo&&) noexcept;
  /// Collective. May suspend.
  ~Halo();

  /// Fills the ghosts of all fields: begin() and finish(). May suspend.
  void exchange();

  /// exchange() in two parts, so that cells that are neither sent nor ghosts can be updated in
  /// between. No field's sent cells or ghosts may be accessed until finish() returns. May suspend.
  void begin();
  /// Ends what begin() has started. May suspend.
  void finish();

  /// Between begin() and finish(): progresses messages. May suspend.
  void poll();

  /// @return the problem that make() was given
  [[nodiscard]] const Problem& problem() const;

  /// @return the cells of this rank; empty for a rank beyond the grid
  [[nodiscard]] Box<3> block() const;

 private:
  struct Parts;
  explicit Halo(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace sorrel::grid
