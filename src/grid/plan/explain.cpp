// The text output of a plan: names, why(), table().
#include <algorithm>
#include <cstddef>

#include <sorrel/grid/plan.hpp>

#include "base/text.hpp"
#include "grid/plan/face.hpp"
#include "grid/plan/figures.hpp"

namespace sorrel::grid {
namespace {

double percent_over(double value, double base) {
  return 100 * (value / base - 1);
}

int cut_count(const ProcessGrid& grid) {
  return static_cast<int>(std::count_if(grid.begin(), grid.end(), [](int n) { return n > 1; }));
}

// "" or "; dimensions 0 and 2 stay uncut, as requested"
std::string uncut_text(const Problem& problem) {
  std::string names;
  int count = 0;
  for (std::size_t d = 0; d < problem.is_uncut.size(); ++d) {
    if (!problem.is_uncut[d]) continue;
    names += text_of("%s%zu", count == 0 ? "" : " and ", d);
    ++count;
  }
  if (count == 0) return "";
  return text_of("; dimension%s %s stay%s uncut, as requested", count == 1 ? "" : "s",
                 names.c_str(), count == 1 ? "s" : "");
}

std::string cut_line(const Plan& plan, int rank_count) {
  const Cut& best = plan.best();
  int neighbours = 0;
  std::int64_t bytes = 0;
  for (const Face& face : faces_of(plan.problem(), best.grid)) {
    if (face.is_own) continue;
    neighbours += face.side_count;
    bytes += face.side_count * face.bytes;
  }
  std::string line =
      text_of("cut %s: blocks of %s cells, %d neighbour%s, %s sent by a rank in a step",
              name_of(best.grid, plan.problem()).c_str(),
              extents_text(largest_block(plan.problem(), best.grid), plan.problem()).c_str(),
              neighbours, neighbours == 1 ? "" : "s", size_text(bytes).c_str());
  line += uncut_text(plan.problem());
  if (plan.used_ranks() < rank_count) {
    line += text_of("; %d of %d ranks get no block, since the grid cannot be cut into more",
                    rank_count - plan.used_ranks(), rank_count);
    if (plan.problem().halo_width > 1)
      line += text_of(": no block may be thinner than the halo of %lld cells",
                      static_cast<long long>(plan.problem().halo_width));
  }
  return line;
}

std::string time_line(const Prediction& time) {
  const auto share = [&](double seconds) { return 100 * seconds / time.step_s(); };
  return text_of(
      "a step takes %s: computing %.0f %%, packing %.0f %%, messages %.0f %%, waiting "
      "%.0f %%",
      seconds_text(time.step_s()).c_str(), share(time.compute_s), share(time.pack_s),
      share(time.wire_s), share(time.wait_s));
}

std::string face_line(const Plan& plan) {
  std::string line = "faces:";
  const char* separator = "";
  for (const Face& face : faces_of(plan.problem(), plan.grid())) {
    if (face.side_count == 0) continue;
    line += text_of("%s across dimension %zu %s", separator, face.dimension,
                    name_of(plan.best().pack[face.dimension]));
    if (plan.best().pack[face.dimension] != Pack::direct)
      line += text_of(" (runs of %s, %s apart)", size_text(face.run_bytes).c_str(),
                      size_text(face.stride_bytes).c_str());
    const Hops& hops = plan.best().hops[face.dimension];
    if (hops.most > 0)
      line += text_of(", %.3g hop%s away (at most %d)", hops.mean, hops.most == 1 ? "" : "s",
                      hops.most);
    separator = ",";
  }
  return *separator == '\0' ? "faces: none, no data is exchanged" : line;
}

// For an alternative; one that ties with the choice may be predicted to be faster.
std::string slower_text(double percent) {
  return percent < 0 ? text_of("%.1f %% faster unless copies take longer than predicted", -percent)
                     : text_of("%.1f %% slower", percent);
}

// The best cut of another number of dimensions, and the cut of MPI_Dims_create.
std::string alternatives_line(const Plan& plan) {
  const Cut& best = plan.best();
  const double step_s = best.time.step_s();
  const auto& all = plan.cuts();
  const auto other = std::find_if(all.begin(), all.end(), [&](const Cut& cut) {
    return cut_count(cut.grid) != cut_count(best.grid);
  });
  std::string line = "alternatives:";
  if (other == all.end()) {
    line += " no grid cuts more or fewer dimensions;";
  } else {
    line += text_of(" the best %d-D cut, %s, is %s%s;", cut_count(other->grid),
                    name_of(other->grid, plan.problem()).c_str(),
                    slower_text(percent_over(other->time.step_s(), step_s)).c_str(),
                    other->time.step_s() < step_s
                        ? ""
                        : text_of(" by %s", losing_term(other->time, best.time)).c_str());
  }
  const Cut& balanced = plan.balanced();
  const double gain = percent_over(balanced.time.step_s(), step_s);
  line += balanced.grid == best.grid
              ? std::string(" MPI_Dims_create makes the same cut")
              : text_of(" MPI_Dims_create's %s is %s",
                        name_of(balanced.grid, plan.problem()).c_str(), slower_text(gain).c_str());
  return line;
}

// The best cut with and without overlap, side by side.
std::string overlap_line(const Plan& plan) {
  const Cut& best = plan.best();
  const bool is_plain = best.overlap.kind == Overlap::Kind::none;
  const auto& all = plan.cuts();
  const auto other = std::find_if(all.begin(), all.end(), [&](const Cut& cut) {
    return cut.grid == best.grid && (cut.overlap.kind == Overlap::Kind::none) != is_plain;
  });
  if (other == all.end()) return "overlap: none, no messages to wait for";
  const Prediction& plain = is_plain ? best.time : other->time;
  const Prediction& overlapped = is_plain ? other->time : best.time;
  return text_of("overlap: %s; it would hide %s of waiting and cost %s more to compute",
                 name_of(best.overlap).c_str(),
                 seconds_text(plain.wait_s - overlapped.wait_s).c_str(),
                 seconds_text(overlapped.compute_s - plain.compute_s).c_str());
}

}  // namespace

const char* name_of(Pack pack) {
  constexpr const char* names[] = {"none", "direct", "rows", "blocked", "datatype"};
  return names[static_cast<std::size_t>(pack)];
}

std::string name_of(const Overlap& overlap) {
  switch (overlap.kind) {
    case Overlap::Kind::faces_first:
      return "faces first";
    case Overlap::Kind::tiles:
      return text_of("%d tiles", overlap.tile_count);
    case Overlap::Kind::none:
      break;
  }
  return "none";
}

std::string name_of(const ProcessGrid& grid, const Problem& problem) {
  return extents_text({grid[0], grid[1], grid[2]}, problem);
}

const char* losing_term(const Prediction& other, const Prediction& best) {
  const struct {
    const char* name;
    double loss;
  } terms[] = {{"compute", other.compute_s - best.compute_s},
               {"pack", other.pack_s - best.pack_s},
               {"wire", other.wire_s - best.wire_s},
               {"wait", other.wait_s - best.wait_s}};

  return std::max_element(
             std::begin(terms), std::end(terms),
             [](const auto& left, const auto& right) { return left.loss < right.loss; })
      ->name;
}

std::string Plan::why() const {
  return cut_line(*this, rank_count_) + "\n" + time_line(time()) + "\n" + face_line(*this) + "\n" +
         alternatives_line(*this) + "\n" + overlap_line(*this) + "\n";
}

std::string Plan::table(int row_count) const {
  std::string text = text_of("%-16s %-12s %10s %10s %10s %10s %10s %8s  %s\n", "grid", "overlap",
                             "step", "compute", "pack", "wire", "wait", "slower", "lost by");
  std::vector<ProcessGrid> shown;
  for (const Cut& cut : cuts_) {
    if (static_cast<int>(shown.size()) == row_count) break;
    if (std::find(shown.begin(), shown.end(), cut.grid) != shown.end()) continue;
    shown.push_back(cut.grid);
    const Prediction& time = cut.time;
    const bool is_best = &cut == &best();
    text += text_of("%-16s %-12s %10s %10s %10s %10s %10s %7.1f%%  %s\n",
                    name_of(cut.grid, problem_).c_str(), name_of(cut.overlap).c_str(),
                    seconds_text(time.step_s()).c_str(), seconds_text(time.compute_s).c_str(),
                    seconds_text(time.pack_s).c_str(), seconds_text(time.wire_s).c_str(),
                    seconds_text(time.wait_s).c_str(),
                    percent_over(time.step_s(), this->time().step_s()),
                    is_best ? "-" : losing_term(time, this->time()));
  }
  return text;
}

}  // namespace sorrel::grid
