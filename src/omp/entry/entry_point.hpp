//! Visibility of the C entry points.
#pragma once

#define SORREL_ENTRY_POINT extern "C" __attribute__((visibility("default")))
