//! What ranks have on GPUs, by their processes. Ranks that use no driver have nothing here.
//!
//! Any thread, unless marked otherwise.
#pragma once

#include <memory>

#include "program/state/device_state.hpp"

namespace sorrel::program {

class RankProcess;

/// Null: the rank has used no driver. Without any rank that has, one load and one branch.
[[nodiscard]] DeviceState* device_state_of(const RankProcess& process);

/// The state that the rank has then: the first that is set.
DeviceState& set_device_state(const RankProcess& process, std::unique_ptr<DeviceState> state);

/// At the rank's end, on its worker. May suspend.
void end_device_state(const RankProcess& process);

void remove_device_state(const RankProcess& process);

}  // namespace sorrel::program
