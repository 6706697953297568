#include "tools/sorrel/report/timeline.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/check.hpp"

namespace sorrel::tool {

namespace {

constexpr std::size_t state_count =
    static_cast<std::size_t>(RowState::first_wait) + wait_kind_count;
constexpr int state_bits = 4;
static_assert(state_count <= 1U << state_bits);

/// Bins of the coarse levels over the time of the job.
constexpr std::array<std::int64_t, 2> bin_counts = {2048, 32768};
/// The finest level has bins at least so short, if it has bins.
constexpr std::int64_t finest_bin_count = 1 << 18;

/// Spans one after the other from time 0 on.
class SpanList {
 public:
  void add(RowState state, std::uint32_t detail, Interval time) {
    fill(time.begin);
    push(state, detail, time.end);
  }

  /// The time until then has no state.
  void fill(std::int64_t until) { push(RowState::nothing, 0, until); }

  std::vector<Span> take() { return std::move(spans_); }

  [[nodiscard]] std::int64_t end() const { return end_; }

 private:
  void push(RowState state, std::uint32_t detail, std::int64_t until) {
    if (until <= end_) return;
    const std::int64_t ns = until - end_;
    if (!spans_.empty() && spans_.back().state == state && spans_.back().detail == detail) {
      spans_.back().ns += ns;
    } else {
      spans_.push_back({.state = state, .detail = detail, .ns = ns});
    }
    end_ = until;
  }

  std::vector<Span> spans_;
  std::int64_t end_ = 0;
};

RowState state_of(WaitKind kind) {
  return static_cast<RowState>(static_cast<std::size_t>(RowState::first_wait) +
                               static_cast<std::size_t>(kind));
}

RowState state_of(WorkKind kind) {
  return static_cast<RowState>(static_cast<std::size_t>(RowState::in_loop) +
                               static_cast<std::size_t>(kind));
}

void add_number(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

void add_span(std::string& bytes, RowState state, std::uint32_t detail, std::int64_t length) {
  add_number(bytes, static_cast<std::uint64_t>(state) | std::uint64_t{detail} << state_bits);
  add_number(bytes, static_cast<std::uint64_t>(length));
}

/// Writes spans as bins of equal length.
class Bins {
 public:
  Bins(std::string& bytes, std::int64_t unit_ns) : bytes_(bytes), unit_ns_(unit_ns) {}

  void add(const Span& span) {
    const auto state = static_cast<std::size_t>(span.state);
    SORREL_ASSERT(state < state_count && filled_ns_ < unit_ns_, "state %zu, %lld ns of a bin",
                  state, static_cast<long long>(filled_ns_));
    std::int64_t rest = span.ns;
    while (rest > 0) {
      const std::int64_t here = std::min(rest, unit_ns_ - filled_ns_);
      owed_ns_[state] += here;
      if (here > detail_ns_[state]) {
        details_[state] = span.detail;
        detail_ns_[state] = here;
      }
      filled_ns_ += here;
      rest -= here;
      if (filled_ns_ < unit_ns_) return;
      finish_bin();
      // Whole bins of one state.
      const std::int64_t whole = rest / unit_ns_;
      if (whole > 0) {
        push(span.state, span.detail, whole);
        rest -= whole * unit_ns_;
      }
    }
  }

  void finish() {
    if (filled_ns_ > 0) finish_bin();
    flush();
  }

 private:
  void finish_bin() {
    SORREL_ASSERT(filled_ns_ > 0 && filled_ns_ <= unit_ns_, "%lld ns of a bin of %lld",
                  static_cast<long long>(filled_ns_), static_cast<long long>(unit_ns_));
    const auto largest = std::ranges::max_element(owed_ns_);
    const auto state = static_cast<std::size_t>(largest - owed_ns_.begin());
    push(static_cast<RowState>(state), details_[state], 1);
    *largest -= unit_ns_;
    detail_ns_.fill(0);
    filled_ns_ = 0;
  }

  void push(RowState state, std::uint32_t detail, std::int64_t count) {
    if (count_ > 0 && (state != state_ || detail != detail_)) flush();
    state_ = state;
    detail_ = detail;
    count_ += count;
  }

  void flush() {
    if (count_ > 0) add_span(bytes_, state_, detail_, count_);
    count_ = 0;
  }

  std::string& bytes_;
  const std::int64_t unit_ns_;
  std::int64_t filled_ns_ = 0;
  /// By state: time that no bin has shown, less bins that had too little.
  std::array<std::int64_t, state_count> owed_ns_{};
  std::array<std::uint32_t, state_count> details_{};
  std::array<std::int64_t, state_count> detail_ns_{};
  RowState state_ = RowState::nothing;
  std::uint32_t detail_ = 0;
  std::int64_t count_ = 0;
};

class LevelMaker {
 public:
  LevelMaker(const JobTrace& job, const WaitCauses& causes) : job_(job), causes_(causes) {}

  /// `unit_ns` 1: exact spans. Nothing if that takes more than `bytes_max`.
  [[nodiscard]] std::optional<TimelineLevel> make(std::int64_t unit_ns,
                                                  std::size_t bytes_max) const {
    TimelineLevel level{.unit_ns = unit_ns, .bytes = {}, .row_begins = {0}};
    const std::size_t rank_count = job_.ranks.size();
    for (std::uint32_t row = 0; row < rank_count + job_.workers.size(); ++row) {
      add_row(level.bytes,
              row < rank_count
                  ? spans_of_rank(job_, causes_, row)
                  : spans_of_worker(job_, row - static_cast<std::uint32_t>(rank_count)),
              unit_ns);
      if (level.bytes.size() > bytes_max) return std::nullopt;
      level.row_begins.push_back(level.bytes.size());
    }
    SORREL_ASSERT(level.row_begins.size() == rank_count + job_.workers.size() + 1,
                  "%zu rows of %zu ranks", level.row_begins.size() - 1, rank_count);
    return level;
  }

 private:
  static void add_row(std::string& bytes, const std::vector<Span>& spans, std::int64_t unit_ns) {
    if (unit_ns == 1) {
      for (const Span& span : spans)
        add_span(bytes, span.state, span.detail, span.ns);
      return;
    }
    Bins bins(bytes, unit_ns);
    for (const Span& span : spans)
      bins.add(span);
    bins.finish();
  }

  const JobTrace& job_;
  const WaitCauses& causes_;
};

}  // namespace

std::vector<Span> spans_of_rank(const JobTrace& job, const WaitCauses& causes, std::uint32_t rank) {
  SORREL_ASSERT(rank < job.ranks.size(), "rank %u of %zu", rank, job.ranks.size());
  const TracedRank& self = job.ranks[rank];
  const Interval life = job.life_of(self);
  SpanList spans;
  spans.fill(life.begin);
  auto work = self.work.begin();
  // Computing, with the loops and tasks in it. Computing has the detail of the call that ends it.
  const auto add_computing = [&](std::int64_t until, std::uint32_t detail) {
    while (work != self.work.end() && work->time.begin < until) {
      spans.add(RowState::computes, detail, {spans.end(), work->time.begin});
      spans.add(state_of(work->kind), work->site + 1,
                {spans.end(), std::min(work->time.end, until)});
      // It goes on after a call or a wait.
      if (work->time.end > until) return;
      ++work;
    }
    spans.add(RowState::computes, detail, {spans.end(), until});
  };
  std::uint32_t next_wait = 0;
  // Waits up to a moment, with the time between them in the given state.
  const auto add = [&](std::int64_t until, RowState state, std::uint32_t detail) {
    if (state == RowState::computes) return add_computing(until, detail);
    spans.add(state, detail, {spans.end(), until});
  };
  const auto add_until = [&](std::int64_t until, RowState state, std::uint32_t detail) {
    for (; next_wait < self.waits.size() && self.waits[next_wait].time.begin < until; ++next_wait) {
      add(self.waits[next_wait].time.begin, state, detail);
      for (const WaitPart& part : causes.parts_of(rank, next_wait))
        spans.add(state_of(part.kind), detail, part.time);
    }
    add(until, state, detail);
  };
  for (const Call& call : self.calls) {
    add_until(call.time.begin, RowState::computes, call.site + 1);
    add_until(call.time.end, RowState::in_mpi, call.site + 1);
  }
  add_until(life.end, RowState::computes, 0);
  return spans.take();
}

std::vector<Span> spans_of_worker(const JobTrace& job, std::uint32_t worker) {
  SORREL_ASSERT(worker < job.workers.size(), "worker %u of %zu", worker, job.workers.size());
  const TracedWorker& self = job.workers[worker];
  SpanList spans;
  auto idle = self.idle.begin();
  auto help = self.help.begin();
  const auto add_idle_until = [&](std::int64_t until) {
    for (;;) {
      const bool has_idle = idle != self.idle.end() && idle->begin < until;
      const bool has_help = help != self.help.end() && help->time.begin < until;
      if (!has_idle && !has_help) return;
      if (has_help && (!has_idle || help->time.begin < idle->begin)) {
        spans.add(state_of(help->kind), help->site + 1, help->time);
        ++help;
      } else {
        spans.add(RowState::idle, 0, *idle);
        ++idle;
      }
    }
  };
  for (const Run& run : self.runs) {
    add_idle_until(run.time.begin);
    spans.add(RowState::computes, run.rank + 1, run.time);
  }
  add_idle_until(job.end_ns + 1);
  return spans.take();
}

std::vector<TimelineLevel> make_levels(const JobTrace& job,
                                       const WaitCauses& causes,
                                       std::size_t bytes_max) {
  const LevelMaker maker(job, causes);
  std::vector<TimelineLevel> levels;
  std::size_t bytes = 0;
  const auto add = [&](std::int64_t unit_ns) {
    std::optional<TimelineLevel> level = maker.make(unit_ns, bytes_max - bytes);
    if (!level) return false;
    bytes += level->bytes.size();
    SORREL_ASSERT(bytes <= bytes_max, "%zu bytes of %zu", bytes, bytes_max);
    levels.push_back(std::move(*level));
    return true;
  };
  std::optional<TimelineLevel> exact = maker.make(1, bytes_max);
  for (const std::int64_t bin_count : bin_counts) {
    const std::int64_t unit_ns =
        std::max<std::int64_t>(2, (job.end_ns + bin_count - 1) / bin_count);
    std::optional<TimelineLevel> level = maker.make(unit_ns, bytes_max - bytes);
    if (!level) break;
    // As long as the exact one: of no use.
    if (exact && 2 * level->bytes.size() > exact->bytes.size()) break;
    bytes += level->bytes.size();
    levels.push_back(std::move(*level));
  }
  if (exact && exact->bytes.size() <= bytes_max - bytes) {
    levels.push_back(std::move(*exact));
    return levels;
  }
  for (std::int64_t bin_count = finest_bin_count; bin_count > bin_counts.back(); bin_count /= 2)
    if (add(std::max<std::int64_t>(2, (job.end_ns + bin_count - 1) / bin_count))) break;
  return levels;
}

}  // namespace sorrel::tool
