//! Generations - the checkpoints of a job in a folder.
//!
//! A generation is a folder `ckpt.N`. README.md has the protocol.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/generation_store.hpp"

namespace sorrel::checkpoint {

class Generations final : public GenerationStore {
 public:
  /// A folder that exists.
  explicit Generations(std::string folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::string begin(std::uint64_t generation) const override;
  [[nodiscard]] std::string path_to_write(std::uint64_t generation,
                                          std::uint32_t process) const override;

  [[nodiscard]] bool has_files() const override { return false; }

  /// A full device is an error of a write.
  [[nodiscard]] std::string room_error(std::uint64_t /*bytes*/) const override { return ""; }

  [[nodiscard]] std::string commit(std::uint64_t generation,
                                   const std::vector<FileSeal>& files) const override;
  void discard(std::uint64_t generation) const override;

  /// Renames it.
  [[nodiscard]] std::string set_aside(std::uint64_t generation) const override;
  [[nodiscard]] std::string path_of(std::uint64_t generation, std::uint32_t process) const override;

 private:
  [[nodiscard]] std::vector<std::uint64_t> numbers() const override;
  [[nodiscard]] std::string manifest_of(std::uint64_t generation) const override;
  [[nodiscard]] std::string folder_of(std::uint64_t generation) const;

  std::string folder_;
};

}  // namespace sorrel::checkpoint
