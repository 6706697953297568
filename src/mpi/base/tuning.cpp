#include "mpi/base/tuning.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/check.hpp"
#include "base/text.hpp"

namespace sorrel::mpi {

namespace {

constexpr std::array<std::string_view, limit_count> names = {
    "bcast.staged",  "allgather.staged",   "reduce.segment",   "allreduce.direct",
    "reduce.direct", "allreduce.repeated", "reduce.on_arrival"};

/// More than any of these is of use: staging buffers have this size for each member.
constexpr std::size_t bytes_max = std::size_t{1} << 24;

std::string_view take_word(std::string_view& line) {
  constexpr std::string_view blanks = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

template <class Number>
bool read(std::string_view word, Number least, Number most, Number& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() && number >= least &&
         number <= most;
}

/// "any", or a number from 1 on.
bool read_bound(std::string_view word, std::uint32_t& bound) {
  bound = std::numeric_limits<std::uint32_t>::max();
  return word == "any" || read(word, 1U, bound, bound);
}

/// Reads a line; returns what is wrong with it, or "".
std::string read_row(std::string_view line, TuningTable::Row& row) {
  const std::string_view name = take_word(line);
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    std::string known;
    for (const std::string_view each : names)
      known += (known.empty() ? "" : ", ") + std::string(each);
    return text_of("'%s' is not one of %s", std::string(name).c_str(), known.c_str());
  }
  row.limit = static_cast<Limit>(found - names.begin());
  if (!read(take_word(line), std::size_t{0}, bytes_max, row.bytes))
    return text_of("the bytes must be a whole number from 0 to %zu", bytes_max);
  for (std::uint32_t* bound :
       {&row.bounds.ranks_per_worker, &row.bounds.processes, &row.bounds.nodes}) {
    if (!read_bound(take_word(line), *bound))
      return "ranks of a worker, processes and nodes must each be a whole number from 1 on, or any";
  }
  const std::string_view rest = take_word(line);
  return rest.empty() ? "" : text_of("'%s' after the row", std::string(rest).c_str());
}

bool fits(const CollectiveShape& shape, const CollectiveShape& bounds) {
  return shape.ranks_per_worker <= bounds.ranks_per_worker && shape.processes <= bounds.processes &&
         shape.nodes <= bounds.nodes;
}

}  // namespace

std::string_view name_of(Limit limit) {
  return names[static_cast<std::size_t>(limit)];
}

TuningTable::TuningTable() : rows_(default_tuning().begin(), default_tuning().end()) {}

std::optional<std::string> TuningTable::add(std::string_view text) {
  std::vector<Row> rows;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    std::string_view line = whole.substr(0, whole.find('#'));
    if (std::string_view rest = line; take_word(rest).empty()) continue;
    Row row{};
    if (const std::string error = read_row(line, row); !error.empty())
      return text_of("line %d: %s", number, error.c_str());
    rows.push_back(row);
  }
  rows_.insert(rows_.begin(), rows.begin(), rows.end());
  return std::nullopt;
}

CollectiveLimits TuningTable::limits_of(const CollectiveShape& shape) const {
  CollectiveLimits limits{};
  for (std::size_t i = 0; i < limit_count; ++i) {
    const auto row = std::ranges::find_if(rows_, [&](const Row& each) {
      return each.limit == static_cast<Limit>(i) && fits(shape, each.bounds);
    });
    SORREL_CHECK(row != rows_.end(), "no row of %s is for every shape", names[i].data());
    limits[i] = row->bytes;
  }
  return limits;
}

}  // namespace sorrel::mpi
