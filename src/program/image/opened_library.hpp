//! OpenedLibrary - a library of which each rank that opens it (dlopen) has its own instance.
//!
//! The loader loads it once, when the first rank opens it, without running its constructors: the
//! *template image* of the library, from which make() makes a rank's instance. Template images are
//! never unloaded. Any thread; loads and instances are made under one lock. This class runs no code
//! of the library (rank/rank_libraries.hpp does).
#pragma once

#include <link.h>
#include <memory>
#include <string>
#include <vector>

#include "program/image/image.hpp"
#include "program/image/image_slab.hpp"
#include "program/image/library_check.hpp"

namespace sorrel::program {

class OpenedLibrary {
 public:
  using Scope = std::vector<const OpenedLibrary*>;

  OpenedLibrary(std::unique_ptr<Image> image, std::unique_ptr<ImageSlab> slab)
      : image_(std::move(image)), slab_(std::move(slab)) {}

  [[nodiscard]] const Image& image() const { return *image_; }

  [[nodiscard]] const ImageSlab& slab() const { return *slab_; }

  [[nodiscard]] const Module& module() const { return image_->executable(); }

  /// Makes the instance of a rank. Returns why not, or "".
  [[nodiscard]] std::string make(int index) const;

  /// Whether an instance stays once a rank has it: its symbols may be in use everywhere.
  [[nodiscard]] bool has_unique_symbols() const;

  /// Lets look-ups by address find it.
  void publish();

  // Written by load_library(), constant afterwards.
  /// The loader's handle, of the template image; the same for all ranks.
  void* handle = nullptr;
  /// Opened libraries that it needs, directly.
  Scope needs;
  /// Where the loader has looked up its symbols, after what was loaded at the start.
  Scope scope;

 private:
  std::unique_ptr<Image> image_;
  std::unique_ptr<ImageSlab> slab_;
};

/// The opened library with this handle, or null.
[[nodiscard]] const OpenedLibrary* opened_library(const void* handle);

/// The opened library whose template image holds `address`, or null.
[[nodiscard]] const OpenedLibrary* opened_library_of(std::uintptr_t address);

/// Why a rank cannot use a loaded library that ranks share, because `globals` define names that it
/// uses; "" if it can.
[[nodiscard]] std::string binding_conflict(const void* handle, const OpenedLibrary::Scope& globals);

/// `root` and all opened libraries that it needs, in the loader's order of look-ups.
[[nodiscard]] OpenedLibrary::Scope group_of(const OpenedLibrary& root);

/// Why a library that stays loaded has not become an opened library, or "".
[[nodiscard]] std::string load_failure(const void* handle);

struct LoadResult {
  const OpenedLibrary* library = nullptr;
  /// If there is none. Empty: the loader's dlerror() has the reason.
  std::string reason;
};

/// Loads a library that is not loaded, and what it needs. `globals`: libraries that the rank has
/// opened with RTLD_GLOBAL, each with what it needs. `name` if the decision has no path.
[[nodiscard]] LoadResult load_library(const char* name,
                                      const OpenDecision& decision,
                                      const OpenedLibrary::Scope& globals);

}  // namespace sorrel::program
