#include "launch/rank_variables.hpp"

#include <charconv>
#include <cstdlib>

namespace sorrel::launch {

std::string text_of_rank_variables(const RankNumbers& numbers) {
  constexpr std::size_t bytes_max = 512;
  std::string text;
  text.reserve(bytes_max);
  for (const RankVariable& variable : rank_variables) {
    std::array<char, 12> digits{};
    const auto end =
        std::to_chars(digits.begin(), digits.end(), numbers.*variable.number).ptr;
    text.append(variable.name).append(1, '=').append(digits.begin(), end).append(1, '\0');
  }
  return text;
}

void set_rank_variables(const RankNumbers& numbers) {
  for (const RankVariable& variable : rank_variables)
    setenv(variable.name, std::to_string(numbers.*variable.number).c_str(), 1);
}

void unset_rank_variables() {
  for (const RankVariable& variable : rank_variables)
    unsetenv(variable.name);
}

}  // namespace sorrel::launch
