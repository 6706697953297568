//! Generations - the folder of a job's checkpoints: makes a checkpoint visible in one step when it
//! is whole, keeps the one before it, and finds the newest whole one.
//!
//! A generation is a folder `ckpt.N` with a file for each process and a manifest, which has the
//! lengths and checks of the files. One process of the job begins and commits; each process writes
//! its file in between. Every call blocks its thread. Errors are texts for users; empty: success.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/segment_file.hpp"

namespace sorrel::checkpoint {

/// The text of a manifest. Pure.
[[nodiscard]] std::string encode_manifest(std::uint64_t generation,
                                          const std::vector<FileSeal>& files);

struct Manifest {
  std::uint64_t generation = 0;
  /// By process.
  std::vector<FileSeal> files;
};

/// Nothing if the text is not a result of encode_manifest(). Pure.
[[nodiscard]] std::optional<Manifest> decode_manifest(const std::string& text);

class Generations {
 public:
  /// A folder that exists.
  explicit Generations(std::string folder) : folder_(std::move(folder)) {}

  /// One more than the largest number of a generation that is there, whole or not; 1 if none is.
  [[nodiscard]] std::uint64_t next() const;

  /// Makes the folder of a generation, not visible yet. Removes what interrupted ones have left.
  [[nodiscard]] std::string begin(std::uint64_t generation) const;

  /// Where a process writes its file, between begin() and commit().
  [[nodiscard]] std::string path_to_write(std::uint64_t generation, std::uint32_t process) const;

  /// Makes a generation visible, when all its files are finished; `files` are their seals by
  /// process. Then removes all but this one and the one before it. If this call is interrupted at
  /// any point, the generation is either not visible or whole.
  [[nodiscard]] std::string commit(std::uint64_t generation,
                                   const std::vector<FileSeal>& files) const;

  /// After an error of a file or of commit(): removes what has been written, as far as possible.
  void discard(std::uint64_t generation) const;

  struct Found {
    /// 0: there is no whole generation.
    std::uint64_t generation = 0;
    std::uint32_t process_count = 0;

    /// Newer ones that are not whole.
    struct Damaged {
      std::uint64_t generation;
      std::string reason;
    };

    std::vector<Damaged> passed_over;
  };

  /// The newest generation of which every byte agrees with its check.
  [[nodiscard]] Found find_newest() const;

  /// Renames a generation that is not whole, so that it does not count as one that is kept.
  [[nodiscard]] std::string set_aside(std::uint64_t generation) const;

  /// The file of a process in a visible generation.
  [[nodiscard]] std::string path_of(std::uint64_t generation, std::uint32_t process) const;

 private:
  [[nodiscard]] std::vector<std::uint64_t> numbers() const;
  [[nodiscard]] std::string folder_of(std::uint64_t generation) const;
  [[nodiscard]] std::string error_of(std::uint64_t generation, std::uint32_t& process_count) const;

  std::string folder_;
};

}  // namespace sorrel::checkpoint
