#include "launch/rank_variables.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace sorrel::launch {

namespace {

struct RankVariable {
  std::string_view name;  ///< ended by a null character
  std::int32_t RankNumbers::* number;
};

/// Ordered by their numbers.
const std::array<RankVariable, 12> rank_variables = {
    RankVariable{"SORREL_RANK", &RankNumbers::rank},
    RankVariable{"PMI_RANK", &RankNumbers::rank},
    RankVariable{"OMPI_COMM_WORLD_RANK", &RankNumbers::rank},
    RankVariable{"SORREL_SIZE", &RankNumbers::rank_count},
    RankVariable{"PMI_SIZE", &RankNumbers::rank_count},
    RankVariable{"OMPI_COMM_WORLD_SIZE", &RankNumbers::rank_count},
    RankVariable{"SORREL_LOCAL_RANK", &RankNumbers::local_rank},
    RankVariable{"MPI_LOCALRANKID", &RankNumbers::local_rank},
    RankVariable{"OMPI_COMM_WORLD_LOCAL_RANK", &RankNumbers::local_rank},
    RankVariable{"SORREL_LOCAL_SIZE", &RankNumbers::local_rank_count},
    RankVariable{"MPI_LOCALNRANKS", &RankNumbers::local_rank_count},
    RankVariable{"OMPI_COMM_WORLD_LOCAL_SIZE", &RankNumbers::local_rank_count}};

}  // namespace

std::string text_of_rank_variables(const RankNumbers& numbers) {
  // Made for each rank: one allocation and few conversions.
  constexpr std::size_t bytes_usual = 304;
  std::string text;
  text.reserve(bytes_usual);
  std::array<char, 12> digits{};
  char* end = digits.data();
  std::int32_t RankNumbers::* written = nullptr;
  for (const RankVariable& variable : rank_variables) {
    if (variable.number != written) {
      written = variable.number;
      end = std::to_chars(digits.begin(), digits.end(), numbers.*written).ptr;
    }
    text.append(variable.name);
    text += '=';
    text.append(digits.data(), end);
    text += '\0';
  }
  return text;
}

void set_rank_variables(const RankNumbers& numbers) {
  for (const RankVariable& variable : rank_variables)
    setenv(variable.name.data(), std::to_string(numbers.*variable.number).c_str(), 1);
}

void unset_rank_variables() {
  for (const RankVariable& variable : rank_variables)
    unsetenv(variable.name.data());
}

}  // namespace sorrel::launch
