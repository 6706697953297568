#include "report/deadlock_report.hpp"

#include <vector>

#include "base/text.hpp"
#include "report/wait_chains.hpp"
#include "report/wait_rows.hpp"

namespace sorrel::report {

namespace {

/// What there is on the way.
std::string messages(const WaitTable& table) {
  std::uint64_t count = 0;
  for (const Unreceived& messages : table.unreceived())
    count += messages.count;
  if (count == 0) return ", and no message is in flight\n";
  if (count == 1) return ", and the message that has come matches no receive\n";
  return text_of(", and the %ju messages that have come match no receive\n", std::uintmax_t{count});
}

std::string headline(const WaitTable& table, std::int32_t rank_count) {
  const auto waiting = static_cast<std::int32_t>(table.waits().size());
  const std::int32_t unknown = table.unknown_count();
  std::string text = text_of("sorrel: deadlock: %d of %d ranks wait", waiting, rank_count);
  if (table.is_part()) return text + ", and no other rank can let them go on\n";
  if (unknown > 0) {
    text += text_of(", the state of %d is unknown", unknown);
  } else if (waiting < rank_count) {
    text += ", the others have ended";
  }
  return text + messages(table);
}

/// Lines about messages that are shown.
constexpr std::size_t message_line_count_max = 8;

std::string unreceived(const WaitTable& table) {
  std::string text;
  std::uint64_t left_out = 0;
  for (std::size_t i = 0; i < table.unreceived().size(); ++i) {
    const Unreceived& messages = table.unreceived()[i];
    if (i >= message_line_count_max) {
      left_out += messages.count;
      continue;
    }
    text += text_of("rank %d does not receive ", messages.rank);
    text += messages.count == 1 ? "a message "
                                : text_of("%ju messages ", std::uintmax_t{messages.count});
    text += messages.text + "\n";
  }
  if (left_out > 0) text += text_of("… and %ju more messages\n", std::uintmax_t{left_out});
  return text;
}

/// Number of steps of a cycle that are named at its beginning and at its end.
constexpr std::size_t steps_at_begin = 8;
constexpr std::size_t steps_at_end = 2;

/// "cycle: 0 waits for 1 waits for 0", without the middle of a long one.
std::string cycle(const std::vector<std::int32_t>& ranks) {
  const bool is_long = ranks.size() > steps_at_begin + steps_at_end + 1;
  std::string text = "cycle: ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (is_long && i == steps_at_begin) {
      const std::size_t left_out = ranks.size() - steps_at_begin - steps_at_end;
      text += text_of("… %zu more … ", left_out);
      i += left_out;
    }
    text += text_of("%d waits for ", ranks[i]);
  }
  return text + text_of("%d\n", ranks.front());
}

std::string trail(const WaitTable& table, std::int32_t rank_count) {
  const auto end = WaitChains(table).first_end(rank_count);
  if (!end) return {};
  if (!end->ended) return cycle(end->cycle);
  return text_of("rank %d has ended, and rank %d waits for it\n", *end->ended, end->waiting);
}

}  // namespace

std::string deadlock_report(const WaitTable& table, std::int32_t rank_count) {
  return headline(table, rank_count) + wait_rows(table.waits(), rank_count) + unreceived(table) +
         trail(table, rank_count);
}

}  // namespace sorrel::report
