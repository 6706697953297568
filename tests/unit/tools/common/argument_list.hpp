//! ArgumentList - a command line for a test: pointers as in argv, with the null pointer at the end.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "tools/sorrel/common/command.hpp"

namespace sorrel::tool {

class ArgumentList {
 public:
  ArgumentList(std::initializer_list<const char*> words) : texts_(words.begin(), words.end()) {
    for (std::string& text : texts_)
      pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }

  [[nodiscard]] Arguments arguments() const { return Arguments(pointers_).first(texts_.size()); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

inline std::vector<std::string> strings(Arguments arguments) {
  return {arguments.begin(), arguments.end()};
}

}  // namespace sorrel::tool
