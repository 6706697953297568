//! Visibility of the C entry points.
#pragma once

#define SORREL_FACE extern "C" __attribute__((visibility("default")))
