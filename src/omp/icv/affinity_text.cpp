#include "omp/icv/affinity_text.hpp"

#include <cstring>
#include <string_view>
#include <type_traits>

namespace sorrel::omp {

namespace {

struct Field {
  char letter;
  std::string_view name;
  std::string (*value_of)(const AffinityFields& fields);
};

template <auto Member>
std::string value_of(const AffinityFields& fields) {
  if constexpr (std::is_same_v<decltype(fields.*Member), const std::string&>)
    return fields.*Member;
  else
    return std::to_string(fields.*Member);
}

constexpr Field known_fields[] = {
    {'t', "team_num", value_of<&AffinityFields::team_number>},
    {'T', "num_teams", value_of<&AffinityFields::team_count>},
    {'L', "nesting_level", value_of<&AffinityFields::level>},
    {'n', "thread_num", value_of<&AffinityFields::thread_number>},
    {'N', "num_threads", value_of<&AffinityFields::thread_count>},
    {'a', "ancestor_tnum", value_of<&AffinityFields::ancestor>},
    {'H', "host", value_of<&AffinityFields::host>},
    {'P', "process_id", value_of<&AffinityFields::process>},
    {'i', "native_thread_id", value_of<&AffinityFields::native_thread>},
    {'A', "thread_affinity", value_of<&AffinityFields::cpus>}};

std::string value_of(char letter, const AffinityFields& fields) {
  for (const Field& field : known_fields)
    if (field.letter == letter) return field.value_of(fields);
  return "undefined";
}

/// The letter of the field at `text`, and the length of its name.
char take_name(std::string_view text, std::size_t& length) {
  length = 1;
  if (text.empty()) return '\0';
  if (text.front() != '{') return text.front();
  const std::size_t end = text.find('}');
  if (end == std::string_view::npos) return '\0';
  length = end + 1;
  for (const Field& field : known_fields) {
    if (text.substr(1, end - 1) == field.name) return field.letter;
  }
  return '\0';
}

/// Takes the letter if it is the next one.
bool take_letter(std::string_view& text, char letter) {
  if (text.empty() || text.front() != letter) return false;
  text.remove_prefix(1);
  return true;
}

std::size_t take_width(std::string_view& text) {
  constexpr std::size_t width_max = 1000;
  std::size_t width = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    if (width < width_max) width = width * 10 + static_cast<std::size_t>(text.front() - '0');
    text.remove_prefix(1);
  }
  return width;
}

/// Takes a field behind its '%', "[0][.][width]name": pad with zeros, align right, minimum width.
/// At the right, zeros would change a number.
std::string take_field(std::string_view& rest, const AffinityFields& fields) {
  const bool has_zeros = take_letter(rest, '0');
  const bool is_right = take_letter(rest, '.');
  const std::size_t width = take_width(rest);
  std::size_t length = 0;
  std::string value = value_of(take_name(rest, length), fields);
  rest.remove_prefix(length < rest.size() ? length : rest.size());
  const std::size_t missing = value.size() < width ? width - value.size() : 0;
  if (!is_right) return value + std::string(missing, ' ');
  if (!has_zeros) return std::string(missing, ' ') + value;
  // Zeros stand behind the sign: the ancestor of an initial thread is -1.
  const std::size_t sign_length = value.starts_with('-') ? 1 : 0;
  return value.insert(sign_length, missing, '0');
}

}  // namespace

std::string format_affinity(const std::string& format, const AffinityFields& fields) {
  std::string result;
  std::string_view rest = format;
  while (!rest.empty()) {
    const char letter = rest.front();
    rest.remove_prefix(1);
    if (letter != '%' || take_letter(rest, '%')) {
      result += letter;
    } else {
      result += take_field(rest, fields);
    }
  }
  return result;
}

std::size_t copy_text(const std::string& text, char* buffer, std::size_t bytes) {
  if (bytes != 0) {
    const std::size_t count = text.size() < bytes ? text.size() : bytes - 1;
    std::memcpy(buffer, text.data(), count);
    buffer[count] = '\0';
  }
  return text.size();
}

}  // namespace sorrel::omp
