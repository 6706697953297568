#include "tools/sorrel/docs/manual.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace sorrel::tool {

namespace {

namespace fs = std::filesystem;

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string title_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("# ")) return line.substr(2);
  }
  return "";
}

std::string small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return text;
}

/// Removes all from each `begin` to the `end` behind it.
void remove_parts(std::string& text, std::string_view begin, std::string_view end) {
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    const std::size_t last = text.find(end, at + begin.size());
    if (last == std::string::npos) return;
    text.erase(at, last + end.size() - at);
  }
}

}  // namespace

std::vector<ManualPage> read_manual(const std::string& folder) {
  std::vector<ManualPage> pages;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() != ".md") continue;
    const std::string path = entry.path().string();
    std::string title = title_of(path);
    if (title.empty()) continue;
    fs::path name = entry.path().lexically_relative(folder);
    pages.push_back({.name = name.replace_extension().generic_string(),
                     .title = std::move(title),
                     .path = path});
  }
  std::ranges::sort(pages, {}, &ManualPage::name);
  return pages;
}

std::vector<ManualPage> pages_of(const std::vector<ManualPage>& manual, const std::string& topic) {
  std::string name = small_letters(topic.substr(0, topic.find('#')));
  if (name.starts_with("docs/")) name.erase(0, 5);
  if (name.ends_with(".md")) name.erase(name.size() - 3);
  std::vector<ManualPage> found;
  if (name.empty()) return found;
  for (const ManualPage& page : manual) {
    if (page.name == name) return {page};
    if (page.name.ends_with("/" + name)) found.push_back(page);
  }
  return found;
}

std::vector<ManualPage> pages_with(const std::vector<ManualPage>& manual, const std::string& word) {
  std::vector<ManualPage> found;
  const std::string wanted = small_letters(word);
  std::ranges::copy_if(manual, std::back_inserter(found), [&](const ManualPage& page) {
    return small_letters(text_of_file(page.path)).find(wanted) != std::string::npos;
  });
  return found;
}

std::string readable_text(const std::string& markdown) {
  std::string text = markdown;
  remove_parts(text, "<!--", "-->\n");
  remove_parts(text, "```{toctree}", "```\n");
  return text;
}

}  // namespace sorrel::tool
