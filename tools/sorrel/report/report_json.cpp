#include "tools/sorrel/report/report_json.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/check.hpp"
#include "tools/sorrel/trace/thread_use_json.hpp"

namespace sorrel::tool {

namespace {

/// Rows of the lists that are in the order of what matters.
constexpr std::size_t row_count_max = 200;

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

Json json_of(const WaitSums& sums) {
  Json json = Json::object();
  for (std::size_t kind = 0; kind < sums.size(); ++kind) {
    if (sums[kind].ns == 0) continue;
    json[std::string(key_of(static_cast<WaitKind>(kind)))] = {
        {"seconds", seconds(sums[kind].ns)}, {"exposed_seconds", seconds(sums[kind].exposed_ns)}};
  }
  return json;
}

class JsonMaker {
 public:
  JsonMaker(const JobTrace& job, const Analysis& analysis) : job_(job), analysis_(analysis) {
    SORREL_ASSERT(analysis.ranks.size() == job.ranks.size() &&
                      analysis.workers.size() == job.workers.size() &&
                      analysis.sites.size() == job.sites.size(),
                  "the analysis of %zu ranks, %zu workers and %zu places is another job's",
                  analysis.ranks.size(), analysis.workers.size(), analysis.sites.size());
  }

  [[nodiscard]] Json make() const {
    Json json;
    json["seconds"] = seconds(job_.end_ns);
    json["rank_count"] = job_.ranks.size();
    json["worker_count"] = job_.workers.size();
    json["process_count"] = job_.process_count;
    json["event_count"] = job_.event_count;
    json["computing_seconds"] = seconds(analysis_.compute_ns);
    json["transfer_seconds"] = seconds(analysis_.mpi_ns);
    json["waiting_seconds"] = seconds(analysis_.wait_ns());
    json["exposed_waiting_seconds"] = seconds(analysis_.exposed_ns());
    json["waits"] = json_of(analysis_.waits);
    json["behind_waits"] = behind(analysis_.blames, row_count_max);
    json["ranks"] = ranks();
    json["workers"] = workers();
    json["threads"] = json_of(job_.use);
    if (job_.use.are_taken()) json["taken"] = job_.use.taken_text();
    json["calls"] = calls();
    json["critical_path"] = path();
    json["messages"] = messages();
    return json;
  }

 private:
  void add_site(Json& json, std::uint32_t site) const {
    if (site == no_index) return;
    SORREL_ASSERT(site < job_.sites.size(), "place %u of %zu", site, job_.sites.size());
    json["call"] = job_.sites[site].function;
    json["place"] = text_of(&job_.sites[site].place);
  }

  [[nodiscard]] Json behind(const std::vector<Blame>& blames, std::size_t count_max) const {
    Json rows = Json::array();
    for (const Blame& blame : blames) {
      if (rows.size() == count_max) break;
      Json row;
      row["what"] = key_of(blame.kind);
      if (blame.rank != no_index) row["rank"] = job_.ranks[blame.rank].number;
      add_site(row, blame.site);
      row["seconds"] = seconds(blame.ns);
      rows.push_back(std::move(row));
    }
    return rows;
  }

  [[nodiscard]] Json ranks() const {
    Json rows = Json::array();
    for (std::size_t r = 0; r < job_.ranks.size(); ++r) {
      const RankTimes& times = analysis_.ranks[r];
      rows.push_back({{"rank", job_.ranks[r].number},
                      {"process", job_.ranks[r].process},
                      {"computing_seconds", seconds(times.compute_ns)},
                      {"transfer_seconds", seconds(times.mpi_ns)},
                      {"waiting_seconds", seconds(times.wait_ns())},
                      {"exposed_waiting_seconds", seconds(times.exposed_ns())},
                      {"waits", json_of(times.waits)},
                      {"behind_waits", behind(times.blames, times.blames.size())}});
    }
    return rows;
  }

  [[nodiscard]] Json workers() const {
    Json rows = Json::array();
    for (std::size_t w = 0; w < job_.workers.size(); ++w) {
      rows.push_back({{"process", job_.workers[w].process},
                      {"worker", job_.workers[w].number},
                      {"ranks", analysis_.workers[w].rank_count},
                      {"computing_seconds", seconds(analysis_.workers[w].compute_ns)},
                      {"transfer_seconds", seconds(analysis_.workers[w].mpi_ns)},
                      {"idle_seconds", seconds(analysis_.workers[w].idle_ns)},
                      {"without_thread_seconds", seconds(analysis_.workers[w].away_ns)}});
    }
    return rows;
  }

  [[nodiscard]] Json calls() const {
    std::vector<std::size_t> order(job_.sites.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::size_t site) { return analysis_.sites[site].ns; });
    Json rows = Json::array();
    for (const std::size_t site : order) {
      // Loops and tasks are no calls.
      if (analysis_.sites[site].count == 0) continue;
      Json row;
      add_site(row, static_cast<std::uint32_t>(site));
      row["count"] = analysis_.sites[site].count;
      row["shortest_seconds"] = seconds(analysis_.sites[site].range.begin);
      row["longest_seconds"] = seconds(analysis_.sites[site].range.end);
      row["seconds"] = seconds(analysis_.sites[site].ns);
      row["waits"] = json_of(analysis_.sites[site].waits);
      rows.push_back(std::move(row));
    }
    return rows;
  }

  [[nodiscard]] Json path() const {
    Json rows = Json::array();
    for (const PathShare& share : analysis_.path_shares) {
      if (rows.size() == row_count_max) break;
      Json row;
      row["what"] = key_of(share.step.kind);
      row["rank"] = job_.ranks[share.step.rank].number;
      add_site(row, share.step.site);
      row["seconds"] = seconds(share.ns);
      row["steps"] = share.count;
      rows.push_back(std::move(row));
    }
    return rows;
  }

  [[nodiscard]] Json messages() const {
    Json rows = Json::array();
    for (const MatrixCell& cell : analysis_.matrix) {
      rows.push_back({{"from", job_.ranks[cell.source].number},
                      {"to", job_.ranks[cell.destination].number},
                      {"count", cell.count},
                      {"bytes", cell.bytes}});
    }
    return rows;
  }

  const JobTrace& job_;
  const Analysis& analysis_;
};

}  // namespace

std::string_view key_of(PathKind kind) {
  constexpr std::array<std::string_view, 5> keys = {"computes", "in_mpi", "in_flight", "waits",
                                                    "scheduling"};
  const auto index = static_cast<std::size_t>(kind);
  SORREL_ASSERT(index < keys.size(), "kind %zu has no key", index);
  return keys[index];
}

std::string_view key_of(RootKind kind) {
  constexpr std::array<std::string_view, 5> keys = {"computes", "in_mpi", "in_flight", "ready",
                                                    "other"};
  const auto index = static_cast<std::size_t>(kind);
  SORREL_ASSERT(index < keys.size(), "kind %zu has no key", index);
  return keys[index];
}

Json json_of(const JobTrace& job, const Analysis& analysis, const Outlook& outlook) {
  Json json = JsonMaker(job, analysis).make();
  json["advice"] = Json::array();
  for (const Advice& advice : outlook.advice)
    json["advice"].push_back({{"text", advice.text}, {"evidence", advice.evidence}});
  json["replayed_seconds"] = seconds(outlook.replayed_ns);
  json["not_predicted"] = outlook.not_predicted;
  json["predictions"] = Json::array();
  for (const Prediction& prediction : outlook.predictions) {
    json["predictions"].push_back({{"what", prediction.what},
                                   {"seconds", seconds(prediction.ns)},
                                   {"least_seconds", seconds(prediction.range.begin)},
                                   {"most_seconds", seconds(prediction.range.end)}});
  }
  return json;
}

}  // namespace sorrel::tool
