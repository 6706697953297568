//! Cutting a regular grid over ranks: what to include for all of it.
#pragma once

#include <sorrel/grid/machine.hpp>
#include <sorrel/grid/machine_file.hpp>
#include <sorrel/grid/plan.hpp>
#include <sorrel/grid/problem.hpp>
