#include "tools/sorrel/try/verdict.hpp"

#include <cmath>
#include <fmt/core.h>
#include <vector>

#include "base/check.hpp"
#include "tools/sorrel/common/shell_line.hpp"

namespace sorrel::tool {

namespace {

/// The index of the fastest comparable trial of Sorrel, or of other MPIs.
std::size_t fastest(std::span<const Trial> trials, bool is_sorrel) {
  std::size_t found = Verdict::none;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!trials[i].is_comparable() || trials[i].setup.is_sorrel != is_sorrel) continue;
    if (found == Verdict::none || trials[i].summary().mean < trials[found].summary().mean)
      found = i;
  }
  return found;
}

std::size_t simplest_good(std::span<const Trial> trials, std::size_t fastest) {
  SORREL_ASSERT(fastest < trials.size(), "trial %zu of %zu", fastest, trials.size());
  const double limit = gain_worth_having * trials[fastest].summary().mean;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].setup.is_sorrel && trials[i].is_comparable() && trials[i].summary().mean <= limit)
      return i;
  }
  return fastest;
}

std::size_t first_comparable(std::span<const Trial> trials) {
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].is_comparable()) return i;
  }
  return Verdict::none;
}

std::string interval(const RatioEstimate& ratio) {
  if (!std::isfinite(ratio.high)) return "too few runs for an interval";
  return fmt::format("{:.2f} to {:.2f}", ratio.low, ratio.high);
}

/// "1.52 times as fast as" or "1.20 times as long as": of the best trial.
std::string comparison(const RatioEstimate& gain, const std::string& baseline) {
  if (gain.value >= 1)
    return fmt::format("is {:.2f} times as fast as `{}` ({})", gain.value, baseline,
                       interval(gain));
  const RatioEstimate loss{.value = 1 / gain.value,
                           .low = 1 / gain.high,
                           .high = gain.low > 0 ? 1 / gain.low : INFINITY};
  return fmt::format("takes {:.2f} times as long as `{}` ({})", loss.value, baseline,
                     interval(loss));
}

/// With the program, and this command by its name.
std::string shown_command(const TrialSetup& setup) {
  SORREL_ASSERT(!setup.command.empty(), "a trial without a command");
  std::vector<std::string> words = setup.command;
  words[0] = words[0].substr(words[0].rfind('/') + 1);
  return shell_line(words);
}

std::string reason_of_none(std::span<const Trial> trials) {
  for (const Trial& trial : trials) {
    if (trial.setup.is_sorrel && !trial.failure.empty())
      return fmt::format("`{}` {}", trial.setup.label, trial.failure);
  }
  return "no run was possible";
}

}  // namespace

Verdict verdict_of(std::span<const Trial> trials) {
  Verdict verdict;
  const std::size_t fastest_of_sorrel = fastest(trials, true);
  if (fastest_of_sorrel == Verdict::none) return verdict;
  verdict.best = simplest_good(trials, fastest_of_sorrel);
  verdict.baseline = fastest(trials, false);
  if (verdict.baseline == Verdict::none) verdict.baseline = first_comparable(trials);
  SORREL_ASSERT(verdict.baseline < trials.size(), "the best trial is not comparable");
  if (verdict.best == verdict.baseline) {
    verdict.gain = {.value = 1, .low = 1, .high = 1};
    verdict.kind = Verdict::Kind::does_not_help;
    return verdict;
  }
  verdict.gain = ratio_of(trials[verdict.baseline].summary(), trials[verdict.best].summary());
  if (verdict.gain.low > gain_worth_having)
    verdict.kind = Verdict::Kind::helps;
  else if (verdict.gain.high < gain_worth_having)
    verdict.kind = Verdict::Kind::does_not_help;
  else
    verdict.kind = Verdict::Kind::is_not_sure;
  return verdict;
}

std::string sentence_of(const Verdict& verdict,
                        std::span<const Trial> trials,
                        bool is_sure,
                        double elapsed_s) {
  if (verdict.kind == Verdict::Kind::cannot_compare)
    return fmt::format("Sorrel could not run this program: {}.", reason_of_none(trials));
  SORREL_ASSERT(verdict.best < trials.size() && verdict.baseline < trials.size(),
                "trials %zu and %zu of %zu", verdict.best, verdict.baseline, trials.size());
  const Trial& best = trials[verdict.best];
  const std::string compared = comparison(verdict.gain, trials[verdict.baseline].setup.label);
  const std::string longer = fmt::format(" More runs: --budget {:.0f}", std::ceil(4 * elapsed_s));
  if (!is_sure && verdict.best == verdict.baseline)
    return fmt::format("Not sure after {:.0f} s: no command was surely faster than `{}`.{}",
                       elapsed_s, best.setup.label, longer);
  if (!is_sure && verdict.kind != Verdict::Kind::helps)
    return fmt::format("Not sure after {:.0f} s: of Sorrel's runs `{}` was the best; it {}.{}",
                       elapsed_s, best.setup.label, compared, longer);
  if (verdict.best == verdict.baseline)
    return fmt::format(
        "Sorrel does not help this program here: no other number of ranks or option is more than "
        "{:.0f} % faster than `{}`.",
        100 * (gain_worth_having - 1), best.setup.label);
  if (verdict.kind == Verdict::Kind::does_not_help)
    return fmt::format("Sorrel does not help this program here: its best, `{}`, {}.",
                       best.setup.label, compared);
  // Surely faster than the baseline; another command of Sorrel may be faster still.
  return fmt::format("Use `{}`: it {}.{}", shown_command(best.setup), compared,
                     is_sure ? "" : " Another command may be better still." + longer);
}

}  // namespace sorrel::tool
