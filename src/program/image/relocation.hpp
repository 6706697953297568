//! RelocationKind - what a dynamic relocation writes into its slot, by the architecture's number.
//!
//! Pure. Source: System V ABI supplements for x86_64 and AArch64 ("ELF for the Arm 64-bit
//! Architecture", 2023Q3).
#pragma once

#include <cstdint>
#include <elf.h>

namespace sorrel::program {

enum class RelocationKind : std::uint8_t {
  address,               // an address, of this image or of another
  resolved,              // the address that a resolver function has returned
  jump_slot,             // as `address`, but a lazy loader may have left it unbound
  relative,              // an address of this image, whatever its value
  copy,                  // a whole object, copied from the library that defines it
  thread_local_storage,  // an offset or a module number: the same in every image
  unknown,
};

[[nodiscard]] constexpr RelocationKind relocation_kind_x86_64(std::uint32_t type) {
  switch (type) {
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
      return RelocationKind::address;
    case R_X86_64_IRELATIVE:
      return RelocationKind::resolved;
    case R_X86_64_JUMP_SLOT:
      return RelocationKind::jump_slot;
    case R_X86_64_RELATIVE:
      return RelocationKind::relative;
    case R_X86_64_COPY:
      return RelocationKind::copy;
    case R_X86_64_NONE:
    case R_X86_64_DTPMOD64:
    case R_X86_64_DTPOFF64:
    case R_X86_64_TPOFF64:
    case R_X86_64_TLSDESC:
    case R_X86_64_SIZE64:
      return RelocationKind::thread_local_storage;
    default:
      return RelocationKind::unknown;
  }
}

[[nodiscard]] constexpr RelocationKind relocation_kind_aarch64(std::uint32_t type) {
  switch (type) {
    case R_AARCH64_ABS64:
    case R_AARCH64_GLOB_DAT:
      return RelocationKind::address;
    case R_AARCH64_IRELATIVE:
      return RelocationKind::resolved;
    case R_AARCH64_JUMP_SLOT:
      return RelocationKind::jump_slot;
    case R_AARCH64_RELATIVE:
      return RelocationKind::relative;
    case R_AARCH64_COPY:
      return RelocationKind::copy;
    case R_AARCH64_NONE:
    case R_AARCH64_TLS_DTPMOD:
    case R_AARCH64_TLS_DTPREL:
    case R_AARCH64_TLS_TPREL:
    case R_AARCH64_TLSDESC:
      return RelocationKind::thread_local_storage;
    default:
      return RelocationKind::unknown;
  }
}

/// Whether code uses the result of this relocation for thread-local variables without a call of
/// __tls_get_addr().
[[nodiscard]] constexpr bool is_direct_thread_local_access(std::uint16_t machine,
                                                           std::uint32_t type) {
  if (machine == EM_AARCH64) return type == R_AARCH64_TLS_TPREL || type == R_AARCH64_TLSDESC;
  return type == R_X86_64_TPOFF64 || type == R_X86_64_TLSDESC;
}

/// The kind of relocation `type` for ELF machine `machine` (EM_X86_64 or EM_AARCH64).
[[nodiscard]] constexpr RelocationKind relocation_kind(std::uint16_t machine, std::uint32_t type) {
  return machine == EM_AARCH64 ? relocation_kind_aarch64(type) : relocation_kind_x86_64(type);
}

}  // namespace sorrel::program
