#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include <sorrel/grid/machine_file.hpp>

#include "base/small_file.hpp"
#include "base/text.hpp"

namespace sorrel::grid {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t file_bytes_max = std::size_t{1} << 20;

// The names. Reader and writer use the same lists, so their names agree.

template <class Visitor, class AnyMachine>
void visit_numbers(AnyMachine& machine, Visitor&& visit) {
  visit("processors", machine.processor_count);
  visit("flops_per_second", machine.flops_per_second);
  visit("row_start_seconds", machine.row_start_s);
  visit("ghost_share", machine.ghost_share);
  visit("skin_penalty", machine.skin_penalty);
  visit("row_end_seconds", machine.row_end_s);
  visit("poll_seconds", machine.poll_s);
}

template <class Visitor, class AnyLink>
void visit_link_numbers(AnyLink& link, Visitor&& visit) {
  visit("group_ranks", link.group_ranks);
  visit("group_count", link.group_count);
  visit("overhead_seconds", link.overhead_s);
  visit("overhead_seconds_per_byte", link.overhead_s_per_byte);
  visit("latency_seconds", link.latency_s);
  visit("gap_seconds_per_byte", link.gap_s_per_byte);
  visit("contention", link.contention);
  visit("progress_share", link.progress_share);
  visit("announced_bytes", link.announced_bytes);
}

template <class Visitor, class AnyTorus>
void visit_torus_numbers(AnyTorus& torus, Visitor&& visit) {
  visit("hop_seconds", torus.hop_s);
  visit("hop_contention", torus.hop_contention);
}

template <class Visitor, class AnyMachine>
void visit_tables(AnyMachine& machine, Visitor&& visit) {
  visit("copy", machine.copy);
  visit("blocked", machine.blocked);
  visit("datatype", machine.datatype);
}

/// Reads one file; keeps the first error and does nothing after it.
class Reader {
 public:
  Machine read(const Json& json) {
    Machine machine;
    if (!json.is_object()) {
      fail("a machine file is one JSON object");
      return machine;
    }
    machine.name = name_of(json);
    if (machine.name.empty()) fail("name is missing or empty; it must be a text");
    visit_numbers(machine, [&](const char* name, auto& value) { number(json, name, "", value); });
    memory(json, machine);
    planes(json, machine);
    visit_tables(machine, [&](const char* name, CopyTable& table) { rates(json, name, table); });
    links(json, machine);
    measurement(json, machine);
    check_unknown(json, "");
    machine.sources = std::move(sources_);
    return machine;
  }

  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void fail(std::string text) {
    if (error_.empty()) error_ = std::move(text);
  }

  // "" if there is no name, or `json` is not an object.
  static std::string name_of(const Json& json) {
    const bool is_there = json.is_object() && json.contains("name") && json["name"].is_string();
    return is_there ? json["name"].get<std::string>() : "";
  }

  // The member `name` of `json`, which is an object; null, with an error recorded, if missing.
  const Json* member(const Json& json, const std::string& name, const std::string& where) {
    known_.push_back(where + name);
    const auto found = json.find(name);
    if (found != json.end() && found->is_object()) return &*found;
    fail(text_of("%s%s is %s; it must be an object with a value and its source", where.c_str(),
                 name.c_str(), found == json.end() ? "missing" : found->type_name()));
    return nullptr;
  }

  void source_of(const Json& entry, const std::string& name) {
    const auto text = entry.find("source");
    if (text == entry.end() || !text->is_string() || text->get<std::string>().empty())
      return fail(text_of("%s has no source; state the origin of the value", name.c_str()));
    const auto assumed = entry.find("assumed");
    if (assumed != entry.end() && !assumed->is_boolean())
      return fail(text_of("assumed of %s must be true or false", name.c_str()));
    sources_.push_back({.value = name,
                        .text = text->get<std::string>(),
                        .is_assumed = assumed != entry.end() && assumed->get<bool>()});
  }

  template <class Value>
  void number(const Json& json, const char* name, const std::string& where, Value& value) {
    const Json* entry = member(json, name, where);
    if (entry == nullptr) return;
    const std::string full = where + name;
    const auto found = entry->find("value");
    if (found == entry->end() || !found->is_number())
      return fail(text_of("%s has no value; it must be a number", full.c_str()));
    const double read = found->get<double>();
    // The bounds are checked with the whole machine; here, only that the value fits the variable.
    if (std::abs(read) > 1e9 && !std::is_same_v<Value, double>)
      return fail(text_of("%s is %g; it must be from 0 to 1e+06", full.c_str(), read));
    value = static_cast<Value>(read);
    if (static_cast<double>(value) != read)
      return fail(text_of("%s is %g; it must be a whole number", full.c_str(), read));
    source_of(*entry, full);
  }

  // Reads a list of rows of `width` numbers; calls take(row).
  template <class Take>
  void rows(const Json& entry, const std::string& name, std::size_t width, Take&& take) {
    const auto list = entry.find("rates");
    if (list == entry.end() || !list->is_array())
      return fail(text_of("%s has no rates; they must be a list", name.c_str()));
    for (const Json& row : *list) {
      const bool is_good = row.is_array() && row.size() == width &&
                           std::all_of(row.begin(), row.end(), [](const Json& number) {
                             return number.is_number() && std::abs(number.get<double>()) <= 1e18;
                           });
      if (!is_good)
        return fail(
            text_of("rates of %s must each be %zu numbers of at most 1e+18", name.c_str(), width));
      take(row);
    }
    source_of(entry, name);
  }

  static std::int64_t bytes(const Json& number) {
    return static_cast<std::int64_t>(number.get<double>());
  }

  void memory(const Json& json, Machine& machine) {
    const Json* entry = member(json, "memory", "");
    if (entry == nullptr) return;
    rows(*entry, "memory", 2, [&](const Json& row) {
      machine.memory.push_back(
          {.size_bytes = bytes(row[0]), .bytes_per_second = row[1].get<double>()});
    });
  }

  // Whether an optional member is missing.
  [[nodiscard]] bool is_left_out(const Json& json,
                                 const std::string& name,
                                 const std::string& where = "") {
    if (json.contains(name)) return false;
    known_.push_back(where + name);
    return true;
  }

  void planes(const Json& json, Machine& machine) {
    if (is_left_out(json, "planes")) return;
    const Json* entry = member(json, "planes", "");
    if (entry == nullptr) return;
    rows(*entry, "planes", 3, [&](const Json& row) {
      machine.planes.push_back({.plane_bytes = bytes(row[0]),
                                .set_bytes = bytes(row[1]),
                                .slowdown = row[2].get<double>()});
    });
  }

  void rates(const Json& json, const std::string& name, CopyTable& table) {
    // Only the plain copy is required; the other tables are faster alternatives.
    if (name != "copy" && is_left_out(json, name)) return;
    const Json* entry = member(json, name, "");
    if (entry == nullptr) return;
    rows(*entry, name, 4, [&](const Json& row) {
      table.rates.push_back({.run_bytes = bytes(row[0]),
                             .stride_bytes = bytes(row[1]),
                             .set_bytes = bytes(row[2]),
                             .bytes_per_second = row[3].get<double>()});
    });
  }

  void links(const Json& json, Machine& machine) {
    known_.emplace_back("links");
    const auto list = json.find("links");
    if (list == json.end() || !list->is_array())
      return fail("links is missing; it must be a list of objects");
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Json& entry = (*list)[i];
      const std::string where = text_of("links[%zu].", i);
      Link link;
      link.name = name_of(entry);
      if (link.name.empty()) return fail(where + "name is missing or empty; it must be a text");
      visit_link_numbers(link,
                         [&](const char* name, auto& value) { number(entry, name, where, value); });
      torus(entry, where, link);
      check_unknown(entry, where);
      machine.links.push_back(std::move(link));
    }
  }

  void torus(const Json& json, const std::string& where, Link& link) {
    if (is_left_out(json, "torus", where)) return;
    const Json* entry = member(json, "torus", where);
    if (entry == nullptr) return;
    const std::string name = where + "torus";
    Torus torus;
    const auto list = entry->find("value");
    const bool is_good =
        list != entry->end() && list->is_array() &&
        std::all_of(list->begin(), list->end(), [](const Json& extent) {
          return extent.is_number_unsigned() && extent.get<std::uint64_t>() <= torus_node_count_max;
        });
    const auto wraps = entry->find("wraps");
    if (!is_good || wraps == entry->end() || !wraps->is_boolean())
      return fail(
          text_of("%s must have a value, a list of whole numbers from 0 to %d, and wraps, "
                  "which is true or false",
                  name.c_str(), torus_node_count_max));
    for (const Json& extent : *list)
      torus.extents.push_back(extent.get<int>());
    torus.wraps = wraps->get<bool>();
    source_of(*entry, name);
    visit_torus_numbers(torus,
                        [&](const char* each, auto& value) { number(json, each, where, value); });
    link.torus = std::move(torus);
  }

  // A measurement is not a property of the machine, so it has no source.
  void measurement(const Json& json, Machine& machine) {
    if (is_left_out(json, "measurement")) return;
    known_.emplace_back("measurement");
    const Json& entry = json["measurement"];
    const auto is_share = [&](const char* name) {
      return !entry.contains(name) || (entry[name].is_number() && entry[name].get<double>() >= 0);
    };
    if (!entry.is_object() || !entry.contains("date") || !entry["date"].is_string() ||
        !is_share("spread") || !is_share("other_work"))
      return fail(
          "measurement must be an object with a date, which is a text, and with spread and "
          "other_work, which are numbers from 0 on and may be left out");
    const auto share = [&](const char* name) {
      return entry.contains(name) ? std::optional(entry[name].get<double>()) : std::nullopt;
    };
    machine.measurement = {.date = entry["date"].get<std::string>(),
                           .spread = share("spread"),
                           .other_work = share("other_work")};
  }

  void check_unknown(const Json& object, const std::string& where) {
    for (const auto& [name, value] : object.items()) {
      if (name == "name" || name == "comment") continue;
      if (std::find(known_.begin(), known_.end(), where + name) == known_.end())
        fail(text_of("%s%s is not known; allowed are name, comment%s", where.c_str(), name.c_str(),
                     known_below(where).c_str()));
    }
  }

  // Returns ", a, b": the allowed members of the object at `where`.
  [[nodiscard]] std::string known_below(const std::string& where) const {
    std::string names;
    for (const std::string& known : known_)
      if (known.starts_with(where) && known.find('.', where.size()) == std::string::npos)
        names += ", " + known.substr(where.size());
    return names;
  }

  std::string error_;
  std::vector<std::string> known_;
  std::vector<Source> sources_;
};

class Writer {
 public:
  explicit Writer(const Machine& machine) : machine_(machine) {}

  Json write() const {
    Json json;
    json["name"] = machine_.name;
    visit_numbers(machine_, [&](const char* name, const auto& value) {
      json[name] = with_source(name, {{"value", value}});
    });
    Json levels = Json::array();
    for (const MemoryLevel& level : machine_.memory)
      levels.push_back({level.size_bytes, level.bytes_per_second});
    json["memory"] = with_source("memory", {{"rates", levels}});
    Json planes = Json::array();
    for (const PlaneCost& cost : machine_.planes)
      planes.push_back({cost.plane_bytes, cost.set_bytes, cost.slowdown});
    if (!planes.empty()) json["planes"] = with_source("planes", {{"rates", planes}});
    visit_tables(machine_, [&](const char* name, const CopyTable& table) {
      if (!table.is_empty()) json[name] = with_source(name, {{"rates", rows_of(table)}});
    });
    json["links"] = links();
    if (machine_.measurement) {
      const Measurement& measurement = *machine_.measurement;
      json["measurement"] = {{"date", measurement.date}};
      if (measurement.spread) json["measurement"]["spread"] = *measurement.spread;
      if (measurement.other_work) json["measurement"]["other_work"] = *measurement.other_work;
    }
    return json;
  }

 private:
  static Json rows_of(const CopyTable& table) {
    Json rows = Json::array();
    for (const CopyRate& rate : table.rates)
      rows.push_back({rate.run_bytes, rate.stride_bytes, rate.set_bytes, rate.bytes_per_second});
    return rows;
  }

  Json links() const {
    Json list = Json::array();
    for (std::size_t i = 0; i < machine_.links.size(); ++i) {
      const Link& link = machine_.links[i];
      Json entry;
      entry["name"] = link.name;
      const auto write = [&](const char* name, const auto& value) {
        entry[name] = with_source(text_of("links[%zu].%s", i, name), {{"value", value}});
      };
      visit_link_numbers(link, write);
      if (link.torus) {
        write("torus", link.torus->extents);
        entry["torus"]["wraps"] = link.torus->wraps;
        visit_torus_numbers(*link.torus, write);
      }
      list.push_back(std::move(entry));
    }
    return list;
  }

  Json with_source(const std::string& name, Json entry) const {
    const auto found = std::find_if(machine_.sources.begin(), machine_.sources.end(),
                                    [&](const Source& source) { return source.value == name; });
    const bool is_known = found != machine_.sources.end();
    entry["source"] = is_known ? found->text : "not stated";
    if (!is_known || found->is_assumed) entry["assumed"] = true;
    return entry;
  }

  const Machine& machine_;
};

}  // namespace

Result<Machine> parse_machine(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return Error{"this is not JSON"};
  Reader reader;
  Machine machine = reader.read(json);
  if (!reader.error().empty()) return Error{reader.error()};
  if (const Result<void> good = check(machine); !good) return Error{good.error()};
  return machine;
}

Result<Machine> load_machine(const std::string& path) {
  std::string text;
  if (const std::string error = read_small_file(path, file_bytes_max, text); !error.empty())
    return Error{text_of("the machine file %s %s", path.c_str(), error.c_str())};
  Result<Machine> machine = parse_machine(text);
  if (!machine.has_value()) return Error{path + ": " + machine.error()};
  return machine;
}

std::string to_json(const Machine& machine) {
  return Writer(machine).write().dump(1) + "\n";
}

Result<void> save_machine(const Machine& machine, const std::string& path) {
  const std::string passing = path + ".new";
  // Removes any file of this name: opening a pipe would block.
  std::remove(passing.c_str());
  {
    std::ofstream file(passing);
    file << to_json(machine);
    if (!file.flush()) return Error{"cannot write " + passing};
  }
  if (std::rename(passing.c_str(), path.c_str()) != 0) return Error{"cannot write " + path};
  return {};
}

}  // namespace sorrel::grid
