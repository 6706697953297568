// Random programs of task graphs, compared with a serial computation.
//
//   random_programs [--seed S] [--count N] [--seconds T] [--only K] [--keep FOLDER]
//
// A program has fields on a grid of one to four dimensions over 1 to 9 ranks, and up to three
// graphs that use them, with sweeps, rotations and a subgraph with a reduction; its runs alternate
// between the graphs, end early, fail, or are preceded by a new sweep or a field that is filled.
// The ranks run in this process, on several workers, some with simulated nodes or with ranks that
// move. Bodies are audited, and some take long. Case K of seed S is the same on every machine,
// except for timing.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mpi.h>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

#include "base/prng.hpp"
#include "runtime/embedded.hpp"

using namespace sorrel::graph;

namespace {

using Value = std::uint64_t;

constexpr Value mix(Value value) {
  value ^= value >> 31;
  value *= 0x9e3779b97f4a7c15;
  return value ^ value >> 29;
}

struct Read {
  std::size_t field = 0;
  Footprint footprint;
  /// Cells of the footprint that the body looks at.
  std::vector<Key> offsets;
};

struct SweepPlan {
  std::vector<Read> reads;
  std::vector<std::size_t> writes;
  /// Whether the new value depends on the old one.
  bool is_in_place = false;
  /// Every so many tiles take long; 0: none.
  Index slow_every = 0;
  /// Added to its graph before this of the graph's runs.
  Index first_run = 0;
};

struct GraphPlan {
  std::vector<SweepPlan> sweeps;
  std::vector<std::vector<std::size_t>> rotations;
  bool has_part = false;
};

struct RunPlan {
  std::size_t graph = 0;
  Index steps = 1;
  /// Steps between two conditions; 0: there is no condition.
  Index check_every = 0;
  /// The condition ends the run after this step or later.
  Index ends_after = 0;
  /// A task throws in a run before, after which all fields are filled.
  bool fails_before = false;
  /// This field is filled before; -1: none.
  Index filled = -1;

  [[nodiscard]] Index steps_done() const {
    if (check_every == 0) return steps;
    const Index checks = (std::max<Index>(ends_after, 1) + check_every - 1) / check_every;
    return std::min(steps, checks * check_every);
  }
};

struct Program {
  int dimensions = 1;
  Key cells{1, 1, 1, 1};
  TilingOptions tiling;
  bool says_who_is_near = true;
  std::size_t field_count = 2;
  std::vector<GraphPlan> graphs;
  std::vector<RunPlan> runs;
  int ranks = 1;
  std::uint32_t workers = 1;
  std::uint32_t nodes = 0;
  /// Ranks change their worker at random.
  bool is_shuffled = false;

  [[nodiscard]] Space space() const { return {cells, dimensions}; }

  [[nodiscard]] bool is_periodic() const {
    return std::find(tiling.is_periodic.begin(), tiling.is_periodic.begin() + dimensions, true) !=
           tiling.is_periodic.begin() + dimensions;
  }

  [[nodiscard]] std::string text() const;
};

class Generator {
 public:
  Generator(std::uint64_t seed, std::uint64_t number) : random_(mix(seed) + mix(number + 1)) {}

  Program make() {
    Program p;
    p.dimensions = pick({1, 1, 2, 2, 2, 3, 3, 4});
    p.tiling.halo = between(1, p.dimensions > 2 ? 2 : 3);
    do {
      choose_grid(p);
    } while (p.ranks > 9 || !has_tiling(p));
    p.says_who_is_near = below(4) != 0;
    p.workers = static_cast<std::uint32_t>(between(1, std::min(p.ranks, 3)));
    if (p.ranks > 1 && below(3) == 0) {
      p.nodes = static_cast<std::uint32_t>(between(2, p.ranks));
      // Nodes have equally many workers, or workers equally many nodes.
      if (p.nodes % p.workers != 0 && p.workers % p.nodes != 0) p.workers = 1;
    } else {
      p.is_shuffled = below(3) == 0;
    }
    p.field_count = static_cast<std::size_t>(between(2, 6));
    const Index graphs = pick({1, 1, 1, 2, 2, 3});
    for (Index g = 0; g < graphs; ++g)
      p.graphs.push_back(graph(p));
    for (Index run = 0, runs = between(1, 5); run < runs; ++run)
      p.runs.push_back({static_cast<std::size_t>(below(graphs)), between(1, 7),
                        below(4) == 0 ? between(1, 3) : 0});
    add_changes(p);
    return p;
  }

 private:
  Index below(Index count) {
    return static_cast<Index>(random_.below(static_cast<std::uint64_t>(count)));
  }

  Index between(Index low, Index high) { return low + below(high - low + 1); }

  template <class T>
  T pick(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<Index>(values.size())));
  }

  /// What changes between runs. After the rest: older programs stay the same but for this.
  void add_changes(Program& p) {
    for (RunPlan& run : p.runs) {
      run.ends_after = below(2) == 0 ? run.steps : between(1, run.steps);
      if (below(6) == 0) run.filled = below(static_cast<Index>(p.field_count));
      if (below(8) == 0) run.steps = 0;
      run.fails_before = p.ranks == 1 && !p.is_periodic() && below(3) == 0;
    }
    for (GraphPlan& graph : p.graphs)
      for (std::size_t sweep = 1; sweep < graph.sweeps.size(); ++sweep)
        graph.sweeps[sweep].first_run =
            std::max(graph.sweeps[sweep - 1].first_run, below(3) == 0 ? between(1, 2) : 0);
  }

  void choose_grid(Program& p) {
    p.ranks = 1;
    const Index halo = p.tiling.halo;
    const Index longest = p.dimensions == 1 ? 9 : p.dimensions == 2 ? 3 : 2;
    for (std::size_t d = 0; d < static_cast<std::size_t>(p.dimensions); ++d) {
      const Index ranks = between(1, longest);
      p.tiling.ranks[d] = ranks;
      p.ranks *= static_cast<int>(ranks);
      p.tiling.is_periodic[d] = below(2) != 0;
      p.cells[d] = ranks * between(halo, p.dimensions > 2 ? halo + 1 : halo + 5) + below(ranks);
      p.tiling.tile[d] = below(3) == 0 ? 0 : between(halo, halo + 2);
      p.tiling.skin[d] = below(4) == 0 ? halo + 1 : 0;
    }
    p.tiling.has_skin = below(4) != 0;
  }

  static bool has_tiling(const Program& p) {
    try {
      for (int rank = 0; rank < p.ranks; ++rank) {
        TilingOptions options = p.tiling;
        options.rank = rank;
        options.has_skin = false;
        const AnyTiling tiling(p.space(), options);
      }
    } catch (const GraphError&) {
      return false;
    }
    return true;
  }

  GraphPlan graph(const Program& p) {
    GraphPlan plan;
    for (Index sweep = 0, sweeps = between(1, 4); sweep < sweeps; ++sweep)
      plan.sweeps.push_back(this->sweep(p));
    std::vector<std::size_t> left;
    for (std::size_t field = 0; field < p.field_count; ++field)
      left.push_back(field);
    for (std::size_t i = left.size(); i-- > 1;)
      std::swap(left[i], left[static_cast<std::size_t>(below(static_cast<Index>(i) + 1))]);
    while (left.size() > 1 && below(4) != 0) {
      const auto length = static_cast<std::ptrdiff_t>(
          between(2, std::min<Index>(5, static_cast<Index>(left.size()))));
      plan.rotations.emplace_back(left.end() - length, left.end());
      left.resize(left.size() - static_cast<std::size_t>(length));
    }
    plan.has_part = below(3) == 0;
    return plan;
  }

  SweepPlan sweep(const Program& p) {
    SweepPlan plan;
    const auto field_count = static_cast<Index>(p.field_count);
    std::set<std::size_t> writes;
    for (Index i = 0, count = pick({1, 1, 1, 2}); i < count; ++i)
      writes.insert(static_cast<std::size_t>(below(field_count)));
    plan.writes.assign(writes.begin(), writes.end());
    for (Index i = 0, count = pick({0, 1, 1, 2, 2, 3}); i < count; ++i) {
      Read read;
      read.field = static_cast<std::size_t>(below(field_count));
      read.footprint = {between(0, p.tiling.halo), below(2) != 0};
      if (writes.contains(read.field)) read.footprint.radius = 0;
      for (int offset = 0; offset < 6; ++offset)
        read.offsets.push_back(offset_within(read.footprint, p.dimensions));
      plan.reads.push_back(std::move(read));
    }
    plan.is_in_place = below(2) != 0;
    plan.slow_every = pick({0, 1, 3});
    return plan;
  }

  /// Often at the end of the footprint.
  Key offset_within(const Footprint& footprint, int dimensions) {
    Key offset{};
    const auto along = [&] {
      const Index radius = footprint.radius;
      return below(2) == 0 ? between(-radius, radius) : pick({-radius, radius});
    };
    if (!footprint.is_box) {
      offset[static_cast<std::size_t>(below(dimensions))] = along();
      return offset;
    }
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d)
      offset[d] = along();
    return offset;
  }

  sorrel::Prng random_;
};

std::string Program::text() const {
  const auto key = [&](const Key& values) {
    std::string text;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d)
      text += (d == 0 ? "" : "x") + std::to_string(values[d]);
    return text;
  };
  const auto list = [](const std::vector<std::size_t>& fields) {
    std::string text;
    for (const std::size_t field : fields)
      text += " " + std::to_string(field);
    return text;
  };
  std::string text = "  cells " + key(cells) + ", ranks " + key(tiling.ranks) + ", tile " +
                     key(tiling.tile) + ", skin " + (tiling.has_skin ? key(tiling.skin) : "none") +
                     ", halo " + std::to_string(tiling.halo) + ", periodic";
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d)
    text += tiling.is_periodic[d] ? " yes" : " no";
  text += ", near " + std::string(says_who_is_near ? "said" : "not said") + ", workers " +
          std::to_string(workers) + ", nodes " + std::to_string(nodes) +
          (is_shuffled ? ", ranks move\n" : "\n");
  for (const GraphPlan& graph : graphs) {
    text += graph.has_part ? "  graph with a part\n" : "  graph\n";
    for (const SweepPlan& sweep : graph.sweeps) {
      text += "    sweep reads";
      for (const Read& read : sweep.reads)
        text += " " + std::to_string(read.field) + (read.footprint.is_box ? ":box" : ":star") +
                std::to_string(read.footprint.radius);
      text += ", writes" + list(sweep.writes) + (sweep.is_in_place ? " in place" : "") +
              ", from run " + std::to_string(sweep.first_run) + "\n";
    }
    for (const auto& rotation : graph.rotations)
      text += "    rotate" + list(rotation) + "\n";
  }
  for (const RunPlan& run : runs)
    text += "  run graph " + std::to_string(run.graph) + ", steps " + std::to_string(run.steps) +
            ", check every " + std::to_string(run.check_every) + ", ends after " +
            std::to_string(run.ends_after) + ", filled " + std::to_string(run.filled) +
            (run.fails_before ? ", after a failure\n" : "\n");
  return text;
}

// ---- what a body computes, for any way to read and write

Value value_before(std::size_t field, const Key& cell) {
  Value value = field + 1;
  for (const Index index : cell)
    value = mix(value + static_cast<Value>(index + 64));
  return value;
}

/// read(field, cell), write(field, cell, value).
template <class ReadCell, class WriteCell>
void compute(const SweepPlan& sweep, const Key& cell, ReadCell&& read, WriteCell&& write) {
  Value value = 17;
  for (std::size_t r = 0; r < sweep.reads.size(); ++r) {
    for (const Key& offset : sweep.reads[r].offsets) {
      Key at = cell;
      for (std::size_t d = 0; d < at.size(); ++d)
        at[d] += offset[d];
      value = mix(value + read(r, at));
    }
  }
  for (std::size_t w = 0; w < sweep.writes.size(); ++w)
    write(w, cell, mix(value + w), sweep.is_in_place);
}

// ---- the serial computation

class Serial {
 public:
  explicit Serial(const Program& program)
      : program_(program),
        box_(program.space().box()),
        run_counts_(program.graphs.size()),
        outside_(program.field_count),
        buffers_(program.field_count) {
    for (std::size_t field = 0; field < program.field_count; ++field) {
      names_.push_back(field);
      fill(field);
    }
  }

  void run(const RunPlan& run) {
    const GraphPlan& graph = program_.graphs[run.graph];
    if (run.fails_before)
      for (std::size_t field = 0; field < program_.field_count; ++field)
        fill(field);
    if (run.filled >= 0) fill(static_cast<std::size_t>(run.filled));
    const Index number = run_counts_[run.graph]++;
    for (Index step = 0; step < run.steps_done(); ++step) {
      for (const SweepPlan& sweep : graph.sweeps)
        if (sweep.first_run <= number) this->sweep(sweep);
      for (const std::vector<std::size_t>& rotation : graph.rotations) {
        const std::size_t first = names_[rotation[0]];
        for (std::size_t i = 0; i + 1 < rotation.size(); ++i)
          names_[rotation[i]] = names_[rotation[i + 1]];
        names_[rotation.back()] = first;
      }
    }
  }

  /// Cells outside have the values that their buffer was filled with.
  [[nodiscard]] Value at(std::size_t field, Key cell) const {
    bool is_outside = false;
    for (std::size_t d = 0; d < cell.size(); ++d) {
      const Index extent = program_.space().extents()[d];
      if (program_.tiling.is_periodic[d]) cell[d] = (cell[d] + extent) % extent;
      is_outside = is_outside || cell[d] < 0 || cell[d] >= extent;
    }
    const std::size_t buffer = names_[field];
    return is_outside ? value_before(outside_[buffer], cell) : buffers_[buffer][place(cell)];
  }

 private:
  void fill(std::size_t field) {
    const std::size_t buffer = names_[field];
    outside_[buffer] = field;
    buffers_[buffer].clear();
    for (const Key& cell : box_)
      buffers_[buffer].push_back(value_before(field, cell));
  }

  [[nodiscard]] std::size_t place(const Key& cell) const {
    return static_cast<std::size_t>(program_.space().index_of(cell));
  }

  void sweep(const SweepPlan& sweep) {
    // No sweep reads around the cells that it writes, so it may write as it goes.
    for (const Key& cell : box_) {
      compute(
          sweep, cell,
          [&](std::size_t r, const Key& at) { return this->at(sweep.reads[r].field, at); },
          [&](std::size_t w, const Key& at, Value value, bool is_in_place) {
            Value& old = buffers_[names_[sweep.writes[w]]][place(at)];
            old = is_in_place ? mix(old) + value : value;
          });
    }
  }

  const Program& program_;
  sorrel::Box<dimension_count_max> box_;
  /// The buffer of each field.
  std::vector<std::size_t> names_;
  /// How often each graph has run.
  std::vector<Index> run_counts_;
  /// The field that each buffer was when it was filled.
  std::vector<std::size_t> outside_;
  std::vector<std::vector<Value>> buffers_;
};

// ---- the same by graphs

void take_long() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
  while (std::chrono::steady_clock::now() < until) {
  }
}

template <std::size_t dimensions>
class Parallel {
 public:
  Parallel(const Program& program, int rank)
      : program_(program), rank_(rank), tiling_(point(program.cells), options(program, rank)) {
    for (std::size_t field = 0; field < program.field_count; ++field) {
      fields_.push_back(std::make_unique<OwnField>(tiling_, "f" + std::to_string(field)));
      for (const Key& cell : any_tiling().block_with_ghosts())
        (*fields_.back())[point(cell)] = first_value(field, cell);
    }
    for (const GraphPlan& plan : program.graphs)
      add(plan);
  }

  /// Returns the number of wrong values.
  int run(const RunPlan& plan) {
    if (plan.fails_before) fail(plan);
    if (plan.filled >= 0) fill(static_cast<std::size_t>(plan.filled));
    const Index number = run_counts_[plan.graph]++;
    for (const SweepPlan& sweep : program_.graphs[plan.graph].sweeps)
      if (sweep.first_run == number && number != 0) add(*graphs_[plan.graph], sweep);
    RunOptions options{.steps = plan.steps};
    if (plan.check_every != 0) {
      options.until = [&](Index done) { return done >= plan.ends_after; };
      options.check_every = plan.check_every;
    }
    int wrong = 0;
    if (graphs_[plan.graph]->run(options).steps != plan.steps_done()) ++wrong;
    if (sums_[plan.graph] == nullptr || plan.steps == 0) return wrong;
    // Each of three tasks of each rank adds its key and the step.
    const Index sum = program_.ranks * (3 + 3 * (plan.steps_done() - 1));
    return sums_[plan.graph]->last() == sum ? wrong : wrong + 1;
  }

  [[nodiscard]] int count_wrong(const Serial& right) const {
    int wrong = 0;
    for (std::size_t field = 0; field < fields_.size(); ++field)
      for (const Key& cell : any_tiling().block())
        if ((*fields_[field])[point(cell)] != right.at(field, cell)) ++wrong;
    return wrong;
  }

 private:
  using OwnField = Field<Value, dimensions>;
  using Point = std::array<Index, dimensions>;
  using Views = std::vector<View<Value, dimensions, true>>;

  [[nodiscard]] const AnyTiling& any_tiling() const { return tiling_; }

  Value first_value(std::size_t field, const Key& cell) {
    Key wrapped = cell;
    for (std::size_t d = 0; d < cell.size(); ++d) {
      const Index extent = program_.space().extents()[d];
      if (program_.tiling.is_periodic[d]) wrapped[d] = (cell[d] + extent) % extent;
    }
    return value_before(field, wrapped);
  }

  void fill(std::size_t field) {
    fields_[field]->fill([&](auto... indices) {
      Key cell{};
      std::size_t d = 0;
      ((cell[d++] = indices), ...);
      return first_value(field, cell);
    });
  }

  /// A run in which a task throws. What it leaves in the fields is not defined.
  void fail(const RunPlan& plan) {
    fails_at_ = plan.steps / 2;
    try {
      graphs_[plan.graph]->run({.steps = plan.steps + 1});
      std::fprintf(stderr, "a task throws, and run() does not\n");
      std::abort();
    } catch (const std::runtime_error&) {
    }
    fails_at_ = -1;
    for (std::size_t field = 0; field < fields_.size(); ++field)
      fill(field);
  }

  static Point point(const Key& cell) {
    Point result{};
    std::copy_n(cell.begin(), dimensions, result.begin());
    return result;
  }

  static TilingOptions options(const Program& program, int rank) {
    TilingOptions options = program.tiling;
    options.rank = rank;
    return program.says_who_is_near ? tiling_over(MPI_COMM_WORLD, options) : options;
  }

  void add(const GraphPlan& plan) {
    graphs_.push_back(std::make_unique<sorrel::Graph>(over_mpi(MPI_COMM_WORLD)));
    sorrel::Graph& graph = *graphs_.back();
    for (const SweepPlan& sweep : plan.sweeps)
      if (sweep.first_run == 0) add(graph, sweep);
    for (const std::vector<std::size_t>& rotation : plan.rotations) {
      OwnField* f[5] = {};
      for (std::size_t i = 0; i < rotation.size(); ++i)
        f[i] = fields_[rotation[i]].get();
      if (rotation.size() == 2) graph.rotate(*f[0], *f[1]);
      if (rotation.size() == 3) graph.rotate(*f[0], *f[1], *f[2]);
      if (rotation.size() == 4) graph.rotate(*f[0], *f[1], *f[2], *f[3]);
      if (rotation.size() == 5) graph.rotate(*f[0], *f[1], *f[2], *f[3], *f[4]);
    }
    sums_.emplace_back();
    parts_.emplace_back();
    if (!plan.has_part) return;
    parts_.back() = std::make_unique<sorrel::Graph>(over_mpi(MPI_COMM_WORLD));
    sorrel::Graph& part = *parts_.back();
    sums_.back() = std::make_unique<Reduction<Index>>(part, "sum", Index{0});
    Family tasks = part.family("part", {3});
    const Contribution<Index> own = sums_.back()->of(tasks);
    tasks.body([own](const Task& task) { own(task) += task.key[0] + task.step; });
    graph.add("added", part);
  }

  void add(sorrel::Graph& graph, const SweepPlan& sweep) {
    Family tiles = graph.family("sweep", tiling_.tiles());
    std::vector<Declaration> declared;
    for (const Read& read : sweep.reads)
      declared.push_back({fields_[read.field].get(), false, read.footprint});
    for (const std::size_t field : sweep.writes)
      declared.push_back({fields_[field].get(), true, {}});
    tiles.body([this, &sweep, declared](const Task& task) {
      const Index number = tiling_.tiles().index_of(task.key) + task.step + rank_;
      if (task.step == fails_at_ && number == task.step) throw std::runtime_error("as planned");
      if (sweep.slow_every != 0 && number % sweep.slow_every == 0) take_long();
      const sorrel::Box<dimension_count_max> cells = any_tiling().cells(task.key);
      Views views;
      for (const Declaration& one : declared)
        views.emplace_back(*one.field, task.step,
                           Permission{one.field, "sweep", task, cells, one.footprint});
      const auto at = [&](std::size_t view, const Key& cell) -> Value& {
        return views[view][point(cell)];
      };
      for (const Key& cell : cells) {
        compute(sweep, cell, at, [&](std::size_t w, const Key& to, Value value, bool is_in_place) {
          Value& old = at(sweep.reads.size() + w, to);
          old = is_in_place ? mix(old) + value : value;
        });
      }
    });
    graph.declare(tiles, tiling_, declared);
  }

  const Program& program_;
  int rank_;
  Tiling<dimensions> tiling_;
  std::vector<std::unique_ptr<OwnField>> fields_;
  std::vector<std::unique_ptr<sorrel::Graph>> parts_;
  std::vector<std::unique_ptr<sorrel::Graph>> graphs_;
  /// The sum of each graph with a part.
  std::vector<std::unique_ptr<Reduction<Index>>> sums_;
  /// How often each graph has run.
  std::vector<Index> run_counts_ = std::vector<Index>(program_.graphs.size());
  /// The step in which tasks throw; -1: none.
  Index fails_at_ = -1;
};

/// Returns the number of wrong values.
template <std::size_t dimensions>
int count_wrong(const Program& program, int rank) {
  int wrong = 0;
  Parallel<dimensions> parallel(program, rank);
  Serial serial(program);
  for (const RunPlan& run : program.runs) {
    wrong += parallel.run(run);
    serial.run(run);
    wrong += parallel.count_wrong(serial);
  }
  return wrong;
}

/// Returns 1 after a wrong value or an exception.
int run_rank(const Program& program, int rank) {
  constexpr std::array counts{count_wrong<1>, count_wrong<2>, count_wrong<3>, count_wrong<4>};
  MPI_Init(nullptr, nullptr);
  int wrong = 0;
  try {
    wrong = counts[static_cast<std::size_t>(program.dimensions) - 1](program, rank);
  } catch (const GraphError& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (wrong != 0) std::fprintf(stderr, "rank %d: %d values are wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}

bool is_right(const Program& program, std::uint64_t seed) {
  sorrel::runtime::Config config;
  config.rank_count = program.ranks;
  config.worker_count = program.workers;
  config.stack_bytes = std::size_t{1} << 18;
  if (program.is_shuffled) config.shuffle_seed = seed + 1;
  if (program.nodes != 0) {
    config.wire = sorrel::launch::WireSpec{.node_count = program.nodes,
                                           .latency_ns = 5'000,
                                           .jitter_ns = 20'000,
                                           .bytes_per_second = 2e9,
                                           .seed = seed};
  }
  return sorrel::runtime::run_embedded(config, [&](int rank) { return run_rank(program, rank); }) ==
         0;
}

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t count = 100;
  double seconds = 1e9;
  std::optional<std::uint64_t> only;
  std::string keep;
};

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--seed") options.seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--count") options.count = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--seconds") options.seconds = std::atof(argv[i + 1]);
    if (name == "--only") options.only = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--keep") options.keep = argv[i + 1];
  }
  return options;
}

void report(const Options& options,
            const char* command,
            std::uint64_t number,
            const Program& program) {
  const std::string repeat = std::string(command) + " --seed " + std::to_string(options.seed) +
                             " --only " + std::to_string(number) + "\n";
  std::printf("case %llu of seed %llu is wrong: %s%s", static_cast<unsigned long long>(number),
              static_cast<unsigned long long>(options.seed), repeat.c_str(),
              program.text().c_str());
  if (options.keep.empty()) return;
  const std::string name =
      options.keep + "/graph-" + std::to_string(options.seed) + "-" + std::to_string(number);
  if (std::FILE* file = std::fopen(name.c_str(), "w"); file != nullptr) {
    std::fputs((repeat + program.text()).c_str(), file);
    std::fclose(file);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  const auto began = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  std::uint64_t number = options.only.value_or(0);
  const std::uint64_t end = options.only ? number + 1 : options.count;
  int wrong = 0;
  for (; number < end && seconds() < options.seconds; ++number) {
    const Program program = Generator(options.seed, number).make();
    if (is_right(program, options.seed + number)) continue;
    report(options, argv[0], number, program);
    ++wrong;
  }
  std::printf("%llu programs, %d wrong, %.1f s\n",
              static_cast<unsigned long long>(number - options.only.value_or(0)), wrong, seconds());
  return wrong == 0 ? 0 : 1;
}
