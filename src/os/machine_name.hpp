//! Machine name - this machine in words, for messages. Reads files of /proc.
#pragma once

#include <string>

namespace sorrel::os {

/// "AMD EPYC 7B13"; "unknown" where the kernel does not say.
[[nodiscard]] std::string processor_name();

/// "c12, x86_64, AMD EPYC 7B13, Linux 6.18.0, glibc 2.36": one line, without control characters.
[[nodiscard]] std::string machine_name();

}  // namespace sorrel::os
