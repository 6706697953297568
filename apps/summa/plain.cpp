// BASE, OLAP and IDEAL: any MPI.
#include "summa.hpp"

namespace summa {

namespace {

/// The panels of one matrix in flight along a row or a column of the grid, by hand.
struct Stream {
  MPI_Comm comm;
  std::size_t ahead;
  std::vector<std::vector<double>> landings{};
  std::vector<MPI_Request> receives = std::vector<MPI_Request>(ahead + 1, MPI_REQUEST_NULL);
  std::vector<MPI_Request> sends{};

  /// The owner sends panel k to each rank of the row or column; these receive it where they have
  /// room.
  void begin(std::size_t k, double* own, long count, int owner) {
    int place = 0, places = 0;
    MPI_Comm_rank(comm, &place);
    MPI_Comm_size(comm, &places);
    if (own == nullptr) {
      MPI_Irecv(landings[k % landings.size()].data(), static_cast<int>(count), MPI_DOUBLE, owner, 0,
                comm, &receives[k % receives.size()]);
      return;
    }
    for (int i = 1; i < places; ++i) {
      sends.emplace_back();
      MPI_Isend(own, static_cast<int>(count), MPI_DOUBLE, (place + i) % places, 0, comm,
                &sends.back());
    }
  }

  const double* wait(std::size_t k, const double* own) {
    MPI_Wait(&receives[k % receives.size()], MPI_STATUS_IGNORE);
    return own != nullptr ? own : landings[k % landings.size()].data();
  }

  void finish() { MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE); }
};

/// Ranks that share a core take turns. Otherwise each rank would multiply all of its panels before
/// the next one begins, with its block of C in the cache: an order that messages rule out. In an
/// MPI with user-level threads as ranks, an unsuccessful test lets other ranks run.
void take_turns(const Case& c) {
  int has_come = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c.grid, &has_come, MPI_STATUS_IGNORE);
}

}  // namespace

Result run_base(const Case& c, Blocks& blocks, bool has_messages) {
  const std::vector<Panel> panels = panels_of(c);
  std::vector<double> a_landing(static_cast<std::size_t>(blocks.a_count_max()));
  std::vector<double> b_landing(static_cast<std::size_t>(blocks.b_count_max()));
  MPI_Barrier(c.grid);
  const double began = MPI_Wtime();
  for (const Panel& panel : panels) {
    double* own_a = blocks.own_a(panel);
    double* own_b = blocks.own_b(panel);
    double* a = own_a != nullptr ? own_a : a_landing.data();
    double* b = own_b != nullptr ? own_b : b_landing.data();
    if (has_messages) {
      MPI_Bcast(a, static_cast<int>(blocks.a_count(panel)), MPI_DOUBLE, panel.column, c.along_row);
      MPI_Bcast(b, static_cast<int>(blocks.b_count(panel)), MPI_DOUBLE, panel.row, c.along_column);
    } else {
      take_turns(c);
    }
    blocks.multiply(a, b, panel);
  }
  MPI_Barrier(c.grid);
  return {MPI_Wtime() - began, 0};
}

Result run_olap(const Case& c, Blocks& blocks) {
  const std::vector<Panel> panels = panels_of(c);
  Stream a{c.along_row, static_cast<std::size_t>(c.a_ahead)};
  Stream b{c.along_column, static_cast<std::size_t>(c.b_ahead)};
  a.landings.assign(a.ahead + 1,
                    std::vector<double>(static_cast<std::size_t>(blocks.a_count_max())));
  b.landings.assign(b.ahead + 1,
                    std::vector<double>(static_cast<std::size_t>(blocks.b_count_max())));
  std::size_t a_begun = 0, b_begun = 0;
  MPI_Barrier(c.grid);
  const double began = MPI_Wtime();
  for (std::size_t k = 0; k < panels.size(); ++k) {
    for (; a_begun <= k + a.ahead && a_begun < panels.size(); ++a_begun)
      a.begin(a_begun, blocks.own_a(panels[a_begun]), blocks.a_count(panels[a_begun]),
              panels[a_begun].column);
    for (; b_begun <= k + b.ahead && b_begun < panels.size(); ++b_begun)
      b.begin(b_begun, blocks.own_b(panels[b_begun]), blocks.b_count(panels[b_begun]),
              panels[b_begun].row);
    const double* a_values = a.wait(k, blocks.own_a(panels[k]));
    const double* b_values = b.wait(k, blocks.own_b(panels[k]));
    blocks.multiply(a_values, b_values, panels[k]);
  }
  a.finish();
  b.finish();
  MPI_Barrier(c.grid);
  return {MPI_Wtime() - began, 0};
}

}  // namespace summa
