// GRAPH: the panels that each product needs; the messages and their order follow from these edges.
#include <cstdio>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

#include "summa.hpp"

namespace summa {

using namespace sorrel::graph;

namespace {

/// The panels in the order in which this rank multiplies them: from its own row's on, cyclically.
/// The sums may be made in any order. This order begins with the local rows of B, and each node of
/// ranks then sends to one other node at a time instead of to all of them.
std::vector<Panel> panels_from_own(const Case& c) {
  std::vector<Panel> panels = panels_of(c);
  const auto is_own = [&](const Panel& panel) { return panel.row == c.row; };
  std::rotate(panels.begin(), std::find_if(panels.begin(), panels.end(), is_own), panels.end());
  return panels;
}

/// The panels of one matrix, for one rank: its own panels and received ones.
struct Side {
  const char* name;
  int place = 0, places = 0;    ///< in the row or column along which the panels travel
  Index slots = 1;              ///< of the landing
  std::vector<double> landing;  ///< a slot for each panel that may be in flight or in use
  long slot_values = 0;
  std::function<int(const Panel&)> owner;  ///< its place
  std::function<int(int)> rank;            ///< of a place
  std::function<double*(const Panel&)> own;
  std::function<long(const Panel&)> count;

  double* values(const std::vector<Panel>& panels, Index k) {
    double* in_place = own(panels[static_cast<std::size_t>(k)]);
    return in_place != nullptr ? in_place : landing.data() + k % slots * slot_values;
  }
};

/// The messages of one matrix, as families: panels to send, and each run of panels to receive.
void add_messages(sorrel::Graph& g, Family& product, Side& side, const std::vector<Panel>& panels) {
  const auto count = static_cast<Index>(panels.size());
  const std::string name = side.name;
  const int tag = name == "A" ? 0 : static_cast<int>(count);
  const auto message = [&side, &panels, tag](Index k, int place) {
    const Panel& panel = panels[static_cast<std::size_t>(k)];
    return Message{side.rank(place), tag + panel.number,
                   std::as_writable_bytes(std::span(side.values(panels, k),
                                                    static_cast<std::size_t>(side.count(panel))))};
  };
  const auto owns = [&](Index k) {
    return side.owner(panels[static_cast<std::size_t>(k)]) == side.place;
  };
  std::vector<Index> own;
  for (Index first = 0, last = 0; first < count; first = last) {
    for (last = first; last < count && owns(last) == owns(first); ++last)
      if (owns(last)) own.push_back(last);
    if (owns(first)) continue;
    auto receive = g.receive("receive " + name + " from " + std::to_string(first), {last - first},
                             [&side, &panels, message, first](const Key& key, int) {
                               const Index k = first + key[0];
                               return message(k, side.owner(panels[static_cast<std::size_t>(k)]));
                             });
    product.after(receive, at(dim(0) - first));
    // The last user of the slot has finished with it.
    receive.after(product, at(dim(0) + (first - side.slots), every));
  }
  // The rank's own panels may be sent at once; each receiver decides when.
  if (own.empty() || side.places == 1) return;
  g.send("send " + name, {static_cast<Index>(own.size()), side.places - 1},
         [&side, message, own](const Key& key, int) {
           // The first send goes to the preceding rank, which needs the panel next.
           const auto other =
               static_cast<int>((side.place + side.places - 1 - key[1]) % side.places);
           return message(own[static_cast<std::size_t>(key[0])], other);
         });
}

}  // namespace

Result run_graph(const Case& c, Blocks& blocks, bool is_explained) {
  const std::vector<Panel> panels = panels_from_own(c);
  const auto count = static_cast<Index>(panels.size());
  std::array<Side, 2> sides;
  Side &a = sides[0], &b = sides[1];
  a.slots = std::min<Index>(c.a_ahead + 1, count), b.slots = std::min<Index>(c.b_ahead + 1, count);
  a.name = "A", a.place = c.column, a.places = c.columns, a.slot_values = blocks.a_count_max();
  a.owner = [](const Panel& panel) { return panel.column; };
  a.rank = [&](int place) { return c.rank_at(c.row, place); };
  a.own = [&](const Panel& panel) { return blocks.own_a(panel); };
  a.count = [&](const Panel& panel) { return blocks.a_count(panel); };
  b.name = "B", b.place = c.row, b.places = c.rows, b.slot_values = blocks.b_count_max();
  b.owner = [](const Panel& panel) { return panel.row; };
  b.rank = [&](int place) { return c.rank_at(place, c.column); };
  b.own = [&](const Panel& panel) { return blocks.own_b(panel); };
  b.count = [&](const Panel& panel) { return blocks.b_count(panel); };

  const long rows = blocks.rows().length();
  const long tile = c.tile == 0 ? rows : std::min(c.tile, rows);
  sorrel::Graph g(over_mpi(c.grid));
  auto product = g.family("product", {count, (rows + tile - 1) / tile}).body([&](Index k, Index i) {
    blocks.multiply(a.values(panels, k), b.values(panels, k), panels[static_cast<std::size_t>(k)],
                    i * tile, std::min(tile, rows - i * tile));
  });
  // All products add to the same C.
  product.after(product, offset(-1, 0));
  for (Side& side : sides) {
    side.landing.resize(static_cast<std::size_t>(side.slot_values * side.slots));
    add_messages(g, product, side, panels);
  }
  if (is_explained && c.rank == 0) std::fputs(g.print().c_str(), stdout);

  // Prepares the run. All ranks have their buffers by now.
  g.run({.steps = 0});
  MPI_Barrier(c.grid);
  const double began = MPI_Wtime();
  const Report report = g.run();
  MPI_Barrier(c.grid);
  return {MPI_Wtime() - began, report.waiting_seconds};
}

}  // namespace summa
