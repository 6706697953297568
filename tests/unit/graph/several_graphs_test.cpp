// Several graphs that use the same fields, run in turn over the same ranks, compared with a loop.
#include <gtest/gtest.h>
#include <mpi.h>
#include <string>
#include <utility>
#include <vector>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

#include "graph/dag/ghosts.hpp"
#include "unit/runtime/rank_run.hpp"

namespace sorrel::graph {
namespace {

constexpr Index cells = 24;

/// All cells of a grid of one dimension, with those outside at both ends.
using Whole = std::vector<long>;

long start_value(Index i) {
  return i * i % 17 + 3;
}

Whole whole() {
  Whole values;
  for (Index i = -1; i <= cells; ++i)
    values.push_back(start_value(i));
  return values;
}

constexpr auto weighted = [](const auto& u, Index i) { return u(i - 1) + 2 * u(i) + 3 * u(i + 1); };

template <class Value>
void for_whole(Whole& to, const Whole& from, Value value) {
  const auto at = [&](Index i) { return from[static_cast<std::size_t>(i) + 1]; };
  Whole result = to;
  for (Index i = 0; i < cells; ++i)
    result[static_cast<std::size_t>(i) + 1] = value(at, i);
  to = std::move(result);
}

class SeveralGraphs {
 public:
  explicit SeveralGraphs(int rank) : rank_(rank) {
    for (Field<long, 1>* field : {&a, &b, &c})
      for (const auto& [i] : tiling.block_with_ghosts())
        (*field)(i) = start_value(i);
  }

  [[nodiscard]] Graph graph() const { return Graph(over_mpi(MPI_COMM_WORLD)); }

  static int rank_count() {
    int count = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    return count;
  }

  static void add(Graph& g, Field<long, 1>& from, Field<long, 1>& to) {
    g.over(tiling_of(from), "weighted")
        .reads(from, star(1))
        .writes(to)
        .body([](const Box<1>& part, auto u, auto v) {
          for (Index i = part.lo[0]; i < part.hi[0]; ++i)
            v(i) = weighted(u, i) % 1000;
        });
  }

  static const Tiling<1>& tiling_of(const Field<long, 1>& field) { return field.tiling(); }

  void expect(const Field<long, 1>& field, const Whole& right, int turn) const {
    for (Index i = tiling.block().lo[0]; i < tiling.block().hi[0]; ++i)
      EXPECT_EQ(field(i), right[static_cast<std::size_t>(i) + 1])
          << field.name() << "(" << i << "), rank " << rank_ << ", turn " << turn;
  }

 private:
  int rank_;

 public:
  const Tiling<1> tiling{{cells},
                         tiling_over(MPI_COMM_WORLD, {.ranks = {rank_count()}, .tile = {3}})};
  Field<long, 1> a{tiling, "a"};
  Field<long, 1> b{tiling, "b"};
  Field<long, 1> c{tiling, "c"};
};

void right_step(Whole& from, Whole& to) {
  for_whole(to, from, [](const auto& u, Index i) { return weighted(u, i) % 1000; });
}

/// The first graph rotates a and b; the second one finds them in the buffers where it left them.
void one_of_two_rotates(int rank) {
  SeveralGraphs all(rank);
  Graph first = all.graph();
  Graph second = all.graph();
  SeveralGraphs::add(first, all.a, all.b);
  first.rotate(all.a, all.b);
  second.over(all.tiling, "double").writes(all.a).body([](const Box<1>& part, auto u) {
    for (Index i = part.lo[0]; i < part.hi[0]; ++i)
      u(i) = u(i) * 2 + 1;
  });
  SeveralGraphs::add(second, all.a, all.c);
  Whole a = whole(), b = whole(), c = whole();
  for (int turn = 0; turn < 4; ++turn) {
    first.run();
    right_step(a, b);
    std::swap(a, b);
    second.run();
    for_whole(a, a, [](const auto& u, Index i) { return u(i) * 2 + 1; });
    right_step(a, c);
    all.expect(all.a, a, turn);
    all.expect(all.b, b, turn);
    all.expect(all.c, c, turn);
  }
}

/// Rotations that share a field: buffers wander through all three.
void rotations_share_a_field(int rank) {
  SeveralGraphs all(rank);
  Graph first = all.graph();
  Graph second = all.graph();
  SeveralGraphs::add(first, all.a, all.b);
  first.rotate(all.a, all.b);
  SeveralGraphs::add(second, all.b, all.c);
  SeveralGraphs::add(second, all.c, all.b);
  second.rotate(all.b, all.c);
  Whole a = whole(), b = whole(), c = whole();
  for (int turn = 0; turn < 6; ++turn) {
    const int count = turn % 3 + 1;
    first.run({.steps = count});
    for (int step = 0; step < count; ++step)
      right_step(a, b), std::swap(a, b);
    second.run();
    right_step(b, c), right_step(c, b), std::swap(b, c);
    all.expect(all.a, a, turn);
    all.expect(all.b, b, turn);
    all.expect(all.c, c, turn);
  }
}

void run(void (*body)(int rank)) {
  for (const test::Shape& shape :
       {test::Shape{1, 1}, test::Shape{2, 1}, test::Shape{4, 2}, test::on_nodes(3, 1, 3)})
    EXPECT_EQ(test::run_ranks(shape, body), 0);
}

TEST(SeveralGraphs, AGraphFindsFieldsThatAnotherOneHasRotated) {
  run(one_of_two_rotates);
}

TEST(SeveralGraphs, RotationsMayShareAField) {
  run(rotations_share_a_field);
}

/// A sweep writes in one graph, and another graph reads around the cells.
void one_writes_and_another_reads(int rank) {
  SeveralGraphs all(rank);
  Graph first = all.graph();
  Graph second = all.graph();
  first.over(all.tiling, "double").writes(all.a).body([](const Box<1>& part, auto u) {
    for (Index i = part.lo[0]; i < part.hi[0]; ++i)
      u(i) = u(i) * 2 + 1;
  });
  SeveralGraphs::add(second, all.a, all.c);
  Whole a = whole(), c = whole();
  for (int turn = 0; turn < 3; ++turn) {
    first.run();
    for_whole(a, a, [](const auto& u, Index i) { return u(i) * 2 + 1; });
    // The second run finds the ghosts filled.
    for (int times = 0; times < 2; ++times) {
      second.run();
      right_step(a, c);
      all.expect(all.c, c, turn);
    }
  }
}

TEST(SeveralGraphs, GhostsOfWhatAnotherGraphHasWrittenAreFilled) {
  run(one_writes_and_another_reads);
}

TEST(SeveralGraphs, GhostsThatNothingCanFillAreAnError) {
  const Tiling tiling({8}, {.ranks = {2}, .tile = {2}});
  Field<long, 1> u(tiling, "u");
  const auto nothing = [](const Box<1>&, auto...) {};
  Graph writes, reads;
  writes.over(tiling, "writes").writes(u).body(nothing);
  reads.over(tiling, "reads").reads(u, star(1)).body(nothing);
  reads.run();
  writes.run();
  EXPECT_THROW(reads.run(), GraphError);
  u.fill([](Index) { return 0L; });
  reads.run();
}

TEST(Ghosts, ARunKnowsWhichItFindsAndLeaves) {
  // now = old's neighbours, in a rotation of three: each buffer is read two steps after its write.
  const Buffers buffers(3, {{0, 1, 2}});
  const std::vector<Accesses> delayed{{{0, false, star(2)}, {2, true, {}}}};
  const std::vector<Footprint> needed = ghosts_needed(delayed, buffers, 5);
  EXPECT_EQ(needed[0].radius, 2);
  EXPECT_EQ(needed[1].radius, 2);
  EXPECT_EQ(needed[2].radius, 0) << "the run writes it first";
  EXPECT_EQ(ghosts_needed(delayed, buffers, 1)[1].radius, 0) << "not in the first step";
  const auto left = ghosts_left(delayed, derive(delayed, buffers), buffers, 2);
  EXPECT_EQ(left[2]->radius, 2);
  EXPECT_EQ(left[0]->radius, 2) << "next of the second step";
  EXPECT_FALSE(left[1].has_value());
  const std::vector<Accesses> alone{{{0, true, {}}}};
  EXPECT_EQ(ghosts_left(alone, derive(alone, Buffers(1, {})), Buffers(1, {}), 1)[0]->radius, 0);
}

TEST(SeveralGraphs, AMessageOfTheProgramHasNoTagOfASweep) {
  EXPECT_EQ(test::run_ranks(
                {2, 1},
                [](int rank) {
                  SeveralGraphs all(rank);
                  Graph g = all.graph();
                  SeveralGraphs::add(g, all.a, all.b);
                  SeveralGraphs::add(g, all.b, all.a);
                  std::byte byte{};
                  for (int tag = tag_max; tag > tag_max - 16; --tag)
                    g.send("mine", {1}, [&byte, rank, tag](const Key&, int) {
                      return Message{1 - rank, tag, std::span(&byte, 1), {}};
                    });
                  try {
                    g.run();
                    ADD_FAILURE() << "no error";
                  } catch (const GraphError& error) {
                    EXPECT_NE(std::string(error.what()).find("is used by a message of the program"),
                              std::string::npos)
                        << error.what();
                  }
                }),
            0);
}

}  // namespace
}  // namespace sorrel::graph
