//! GenerationStore - where the checkpoints of a job are: makes each visible in one step when it is
//! whole, keeps the one before it, and finds the newest whole one.
//!
//! A generation has a file for each process and a manifest, which has the lengths and checks of the
//! files. One process of the job begins and commits; each process writes its file in between. Every
//! call blocks its thread. Errors are texts for users; empty: success.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/segment_file.hpp"

namespace sorrel::checkpoint {

struct Manifest {
  /// The version of Sorrel and the machine that have written it, in one line.
  std::string writer;
  std::uint64_t generation = 0;
  /// By process.
  std::vector<FileSeal> files;
  /// UserKey::code_of() the manifest without it, and what its store adds; "": it has none.
  std::string code;
};

/// The text of a manifest. Pure.
[[nodiscard]] std::string encode_manifest(const Manifest& manifest);

/// Nothing if the text is not a result of encode_manifest(). Pure.
[[nodiscard]] std::optional<Manifest> decode_manifest(const std::string& text);

class GenerationStore {
 public:
  virtual ~GenerationStore() = default;

  /// One more than the largest number of a generation that is there; 1 if none is.
  [[nodiscard]] std::uint64_t next() const;

  /// Makes room for a generation, not visible yet. Removes what interrupted ones have left.
  [[nodiscard]] virtual std::string begin(std::uint64_t generation) const = 0;

  /// Where a process writes its file, between begin() and commit().
  [[nodiscard]] virtual std::string path_to_write(std::uint64_t generation,
                                                  std::uint32_t process) const = 0;

  [[nodiscard]] virtual Place place() const = 0;

  /// The key of the codes of files; null: files have none. It lives as long as the store.
  [[nodiscard]] virtual const UserKey* key() const { return nullptr; }

  /// Before so many bytes are written: why there is no room for them.
  [[nodiscard]] virtual std::string room_error(std::uint64_t bytes) const = 0;

  /// Makes a generation visible, when all its files are finished; `files` are their seals by
  /// process. Then removes all but this one and the one before it. If this call is interrupted at
  /// any point, the generation is either not visible or whole.
  [[nodiscard]] virtual std::string commit(std::uint64_t generation,
                                           const std::vector<FileSeal>& files) const = 0;

  /// After an error of a file or of commit(): removes what has been written, as far as possible.
  virtual void discard(std::uint64_t generation) const = 0;

  /// Why a generation is not whole, of every byte; "": it is.
  [[nodiscard]] std::string error_of(std::uint64_t generation) const;

  /// Nothing: it is damaged, or cannot be read.
  [[nodiscard]] std::optional<Manifest> manifest(std::uint64_t generation) const;

  /// The numbers of visible generations, the largest first.
  [[nodiscard]] virtual std::vector<std::uint64_t> numbers() const = 0;

  struct Found {
    /// 0: there is no whole generation.
    std::uint64_t generation = 0;

    /// Newer ones that are not whole.
    struct Damaged {
      std::uint64_t generation;
      std::string reason;
    };

    std::vector<Damaged> passed_over;
  };

  /// The newest generation of which every byte agrees with its check.
  [[nodiscard]] Found find_newest() const;

  /// Puts a generation that is not whole where it does not count as one that is kept.
  [[nodiscard]] virtual std::string set_aside(std::uint64_t generation) const = 0;

  /// The file of a process in a visible generation.
  [[nodiscard]] virtual std::string path_of(std::uint64_t generation,
                                            std::uint32_t process) const = 0;

 protected:
  [[nodiscard]] virtual std::string manifest_of(std::uint64_t generation) const = 0;

  /// Reads the text at manifest_of(). Returns an error, or "".
  [[nodiscard]] std::string read_manifest(std::uint64_t generation, std::string& text) const;
};

}  // namespace sorrel::checkpoint
