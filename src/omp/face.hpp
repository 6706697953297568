//! What every source of the C faces needs: their visibility.
#pragma once

#define SORREL_FACE extern "C" __attribute__((visibility("default")))
