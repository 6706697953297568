#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

#include <sorrel/grid/machine_file.hpp>

#include "unit/grid/simple_machine.hpp"

namespace sorrel::grid {
namespace {

// The simple machine's file with one text replaced by another.
std::string trouble_after(const std::string& old_text, const std::string& new_text) {
  std::string json = to_json(simple_machine());
  const std::size_t place = json.find(old_text);
  EXPECT_NE(place, std::string::npos) << old_text;
  json.replace(place, old_text.size(), new_text);
  return parse_machine(json).error_or("");
}

TEST(MachineFile, WhatIsWrittenIsReadBack) {
  Machine machine = simple_machine();
  machine.sources = {{.value = "skin_penalty", .text = "a guess", .is_assumed = true},
                     {.value = "copy", .text = "measured", .is_assumed = false}};
  machine.blocked = machine.copy;
  const Result<Machine> again = parse_machine(to_json(machine));
  ASSERT_TRUE(again.has_value()) << again.error();
  EXPECT_EQ(to_json(again.value()), to_json(parse_machine(to_json(again.value())).value()));
  EXPECT_EQ(again.value().links.front().gap_s_per_byte, 1e-9);
  EXPECT_EQ(again.value().blocked.rates.size(), 1U);
  EXPECT_TRUE(again.value().datatype.is_empty());
}

TEST(MachineFile, SourcesAreKeptAndWhatHasNoneIsAssumed) {
  Machine machine = simple_machine();
  machine.sources = {{.value = "copy", .text = "measured", .is_assumed = false}};
  const Machine again = parse_machine(to_json(machine)).value();
  for (const Source& source : again.sources)
    EXPECT_EQ(source.is_assumed, source.value != "copy") << source.value;
}

TEST(MachineFile, MissingAndAbsurdValuesAreNamed) {
  EXPECT_EQ(trouble_after("\"skin_penalty\"", "\"skin\""),
            "skin_penalty is missing; it must be an object with a value and its source");
  EXPECT_EQ(trouble_after("1000000000.0", "-5"),
            "flops_per_second is -5; it must be from 1000 to 1e+18");
  EXPECT_EQ(trouble_after("1000000000.0", "\"fast\""),
            "flops_per_second has no value; it must be a number");
  EXPECT_EQ(
      trouble_after("\"contention\": {\n    \"value\": 1.0", "\"contention\": {\"value\": 0.5"),
      "link 'wire': contention is 0.5; it must be from 1 to 1e+06");
  EXPECT_EQ(trouble_after("\"links\"", "\"chains\""),
            "links is missing; it must be a list of objects");
  EXPECT_EQ(trouble_after("\"source\": \"not stated\"", "\"source\": \"\""),
            "processors has no source; state the origin of the value");
  EXPECT_EQ(trouble_after("\"processors\": {\n  \"value\": 0", "\"processors\": {\"value\": 1.5"),
            "processors is 1.5; it must be a whole number");
}

TEST(MachineFile, TheConditionsOfAMeasurementAreKeptAndMayBeMissing) {
  Machine machine = simple_machine();
  EXPECT_FALSE(parse_machine(to_json(machine)).value().measurement);
  machine.measurement = {.date = "2026-11-22 13:05 UTC", .spread = 0.25, .other_work = 0.5};
  const Machine whole = parse_machine(to_json(machine)).value();
  EXPECT_EQ(whole.measurement->date, "2026-11-22 13:05 UTC");
  EXPECT_EQ(whole.measurement->spread, 0.25);
  EXPECT_EQ(whole.measurement->other_work, 0.5);
  machine.measurement = {.date = "", .spread = {}, .other_work = {}};
  const Machine bare = parse_machine(to_json(machine)).value();
  ASSERT_TRUE(bare.measurement);
  EXPECT_FALSE(bare.measurement->spread || bare.measurement->other_work);
  const std::string refusal =
      "measurement must be an object with a date, which is a text, and with spread and "
      "other_work, which are numbers from 0 on and may be left out";
  EXPECT_EQ(trouble_after("{", "{\"measurement\": 5,"), refusal);
  EXPECT_EQ(trouble_after("{", "{\"measurement\": {\"date\": \"\", \"spread\": -1},"), refusal);
}

Machine machine_with_torus() {
  Machine machine = simple_machine();
  machine.links.front().torus =
      Torus{.extents = {4, 3}, .wraps = false, .hop_s = 1e-7, .hop_contention = 0.25};
  return machine;
}

TEST(MachineFile, ATorusIsKeptAndMayBeMissing) {
  EXPECT_FALSE(parse_machine(to_json(simple_machine())).value().links.front().torus);
  const Machine machine = machine_with_torus();
  const Machine again = parse_machine(to_json(machine)).value();
  const Torus& torus = again.links.front().torus.value();
  EXPECT_EQ(torus.extents, (std::vector<int>{4, 3}));
  EXPECT_FALSE(torus.wraps);
  EXPECT_EQ(torus.hop_s, 1e-7);
  EXPECT_EQ(torus.hop_contention, 0.25);
  EXPECT_EQ(to_json(again), to_json(parse_machine(to_json(again)).value()));
}

TEST(MachineFile, AWrongTorusIsNamed) {
  const auto error_with = [](const auto& change) {
    Machine machine = machine_with_torus();
    change(machine);
    return parse_machine(to_json(machine)).error_or("");
  };
  EXPECT_EQ(error_with([](Machine& m) { m.links.front().torus->extents = {4, 0}; }),
            "link 'wire': the extents of the torus must be all 0 or all at least 1");
  EXPECT_EQ(error_with([](Machine& m) { m.links.front().torus->extents = {1024, 1024}; }),
            "link 'wire': the number of nodes of the torus is 1.04858e+06; it must be from 1 to "
            "65536");
  EXPECT_EQ(error_with([](Machine& m) { m.links.front().torus->hop_s = -1; }),
            "link 'wire': hop_seconds is -1; it must be from 0 to 1000");
  EXPECT_EQ(error_with([](Machine& m) { m.links.push_back(simple_machine().links.front()); }),
            "link 'wire' has a torus; only the last link, the outermost, may have one");
  std::string text = to_json(machine_with_torus());
  text.replace(text.find("\"wraps\": false"), 14, "\"wraps\": \"no\"");
  EXPECT_EQ(parse_machine(text).error(),
            "links[0].torus must have a value, a list of whole numbers from 0 to 65536, and wraps, "
            "which is true or false");
  text = to_json(machine_with_torus());
  text.replace(text.find("\"hop_seconds\""), 13, "\"hops_second\"");
  EXPECT_EQ(parse_machine(text).error(),
            "links[0].hop_seconds is missing; it must be an object with a value and its source");
}

TEST(MachineFile, NamesMayNotBeEmptyForMessagesUseThem) {
  EXPECT_EQ(trouble_after("\"name\": \"simple\"", "\"name\": \"\""),
            "name is missing or empty; it must be a text");
  EXPECT_EQ(trouble_after("\"name\": \"wire\"", "\"name\": \"\""),
            "links[0].name is missing or empty; it must be a text");
}

TEST(MachineFile, UnknownNamesAreRefused) {
  EXPECT_EQ(trouble_after("{", "{\"clock\": {},"),
            "clock is not known; allowed are name, comment, processors, flops_per_second, "
            "row_start_seconds, ghost_share, skin_penalty, row_end_seconds, poll_seconds, memory, "
            "planes, copy, blocked, datatype, links, measurement");
}

TEST(MachineFile, OtherFilesAreRefused) {
  EXPECT_EQ(parse_machine("").error(), "this is not JSON");
  EXPECT_EQ(parse_machine("{").error(), "this is not JSON");
  EXPECT_EQ(parse_machine("[]").error(), "a machine file is one JSON object");
  EXPECT_EQ(load_machine("/nowhere").error(), "the machine file /nowhere does not exist");
}

TEST(MachineFile, DamagedFilesAreRefusedWithoutHarm) {
  const std::string json = to_json(simple_machine());
  for (std::size_t length = 0; length + 2 < json.size(); length += 7)
    EXPECT_FALSE(parse_machine(std::string_view(json).substr(0, length)).has_value()) << length;
}

TEST(MachineFile, IsSavedAndLoaded) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("machine" + std::to_string(getpid()))).string();
  ASSERT_TRUE(save_machine(simple_machine(), path));
  EXPECT_EQ(load_machine(path).value().name, "simple");
  std::remove(path.c_str());
  EXPECT_EQ(save_machine(simple_machine(), "/nowhere/m").error(), "cannot write /nowhere/m.new");
}

TEST(MachineFile, ThoseOfTheRepositoryAreGoodAndMarkTheirAssumptions) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(SORREL_MACHINES)) {
    const Result<Machine> machine = load_machine(file.path().string());
    ASSERT_TRUE(machine.has_value()) << machine.error();
    EXPECT_FALSE(machine.value().sources.empty());
    ++count;
  }
  EXPECT_GE(count, 4);
}

}  // namespace
}  // namespace sorrel::grid
