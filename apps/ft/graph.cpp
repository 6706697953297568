// GRAPH: slices, and the messages that each of them needs. The next step's first transforms need
// none of this step's messages, so they run while these travel.
#include <cstdio>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

#include "ft.hpp"

namespace ft {

using namespace sorrel::graph;

namespace {

std::span<std::byte> bytes_of(Value* values, long count) {
  return std::as_writable_bytes(std::span(values, static_cast<std::size_t>(count)));
}

/// The messages of an exchange. A slice leaves when `before` has made it, and frees its room for
/// another slice when it has left. Received data is ordered by slice and sender.
Family add_exchange(sorrel::Graph& g,
                    const char* name,
                    const Transform& transform,
                    const Exchange& e,
                    int tag,
                    Family& before,
                    const std::vector<int>& ranks) {
  const Space space{e.slices, e.size - 1};
  const auto other_of = [&e](const Key& key) {
    return static_cast<int>((e.place + 1 + key[1]) % e.size);
  };
  const Family send =
      g.send(std::string("send ") + name, space, [&, other_of, ranks, tag](const Key& key, int) {
         const int slice = static_cast<int>(key[0]), to = other_of(key);
         return Message{
             ranks[static_cast<std::size_t>(to)], tag + slice,
             bytes_of(transform.out(e) + e.out_begin(slice, to), e.out_count(slice, to))};
       }).after(before, at(dim(0)));
  if (e.rooms < e.slices) before.after(send, at(dim(0) - e.rooms, every));
  before.after(send, at(dim(0) + (e.slices - e.rooms), every), previous_step);
  return g.receive(
      std::string("receive ") + name, space, [&, other_of, ranks, tag](const Key& key, int slot) {
        const int slice = static_cast<int>(key[0]), from = other_of(key);
        return Message{
            ranks[static_cast<std::size_t>(from)], tag + slice,
            bytes_of(transform.in(e, slot) + e.in_begin(slice, from), e.in_count(slice, from))};
      });
}

/// World ranks of the ranks that exchange with this one.
std::vector<int> ranks_of(const Case& c, bool is_first) {
  std::vector<int> ranks;
  for (int i = 0; i < (is_first ? c.along : c.across); ++i)
    ranks.push_back(is_first ? i * c.across + c.across_position : c.along_position * c.across + i);
  return ranks;
}

}  // namespace

Result run_graph(const Case& c, Transform& transform, bool is_explained) {
  // Received data is read after all of it has arrived; it is larger than a cache.
  sorrel::Graph g(over_mpi(c.comm, {.is_read_late = true}));
  const auto step_of = [](const Task& task) { return static_cast<int>(task.step); };
  const auto slice_of = [](const Task& task) { return static_cast<int>(task.key[0]); };
  auto z = g.family("evolve, z", {c.y_slices}).body([&](const Task& task) {
    transform.evolve_and_transform_z(step_of(task), slice_of(task));
  });
  auto y =
      g.family(transform.has_second() ? "y" : "y, x", {c.z_slices}).body([&](const Task& task) {
        transform.transform_y(step_of(task), slice_of(task));
      });
  // Two steps at a time: there are two receive buffers, and a third step waits until the first has
  // ended.
  z.after(z, previous_step);
  if (c.y_fills) y.priority(Priority::fill);
  // A line of y needs all slices; the rank's own share is written among the received ones.
  y.after(z, everything);
  if (transform.first().size > 1)
    y.after(add_exchange(g, "y and z", transform, transform.first(), 0, z, ranks_of(c, true)),
            everything);
  if (transform.has_second()) {
    auto x = g.family("x", {c.z_slices}).body([&](const Task& task) {
      transform.transform_x(step_of(task), slice_of(task));
    });
    x.after(y).after(add_exchange(g, "x and y", transform, transform.second(), c.y_slices, y,
                                  ranks_of(c, false)),
                     at(dim(0), every));
  }
  if (is_explained && c.rank == 0) std::fputs(g.print().c_str(), stdout);

  // Prepares the run. All ranks have their buffers by now.
  g.run({.steps = 0});
  MPI_Barrier(c.comm);
  const double began = MPI_Wtime();
  const Report report = g.run({.steps = c.steps});
  MPI_Barrier(c.comm);
  return {MPI_Wtime() - began, report.waiting_seconds};
}

}  // namespace ft
