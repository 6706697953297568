#include "options.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

namespace fem {

const char* const help =
    "Linear elasticity on tetrahedra, a chunk of the mesh for each rank. Exits 1 if a check of "
    "the\n"
    "answer fails, 2 if an argument or the mesh is wrong.\n\n"
    "Usage: fem [options]\n\n"
    "  --mesh FILE         of gmsh, format 4.1 (a box)\n"
    "  --cells AxBxC       of the box, six tetrahedra each (40x10x10)\n"
    "  --size AxBxC        of the box, m (0.4x0.1x0.1)\n"
    "  --case NAME         pull: held at the least x, pulled at the greatest (default)\n"
    "                      bar: a straight bar on planes of symmetry, with --method equilibrium\n"
    "                      compared with its exact elongation\n"
    "                      patch: the surface displaced linearly, which the inside must follow\n"
    "  --method NAME       steps: explicit, in time (default); equilibrium: conjugate gradients\n"
    "  --steps N           in time (200)\n"
    "  --energy-every N    steps between checks of the energy (a tenth of the steps)\n"
    "  --traction P        Pa (1e8)\n"
    "  --young E           Pa (210e9)\n"
    "  --poisson NU        from 0, below 0.5 (0.3)\n"
    "  --density RHO       kg/m^3 (7850)\n"
    "  --zone WIDTH        part of the length in which elements cost more; it moves (0)\n"
    "  --zone-iterations N of an element in the zone (32)\n"
    "  --zone-period N     steps until the zone is where it began (1000)\n"
    "  --softening A       of the zone's material: 0 linear (0)\n"
    "  --cut NAME          metis (default), bisection\n"
    "  --order NAME        of nodes and elements in a chunk: near (default), file\n"
    "  --vtu NAME          writes NAME.pvtu and NAME.RANK.vtu, for ParaView\n"
    "  --picture FILE      writes an SVG of the stress and of the cut\n"
    "  --csv               prints a line of names and a line of numbers\n\n"
    "Examples:\n"
    "  sorrel run -n 16 fem --cells 80x25x25 --zone 0.2\n"
    "  sorrel run -n 7 fem --case bar --method equilibrium\n"
    "  gmsh -3 -format msh41 -bin apps/fem/plate.geo -o plate.msh\n"
    "  sorrel run -n 16 fem --mesh plate.msh --steps 1000 --vtu plate --picture plate.svg\n";

namespace {

double number(const std::string& name, const char* text, double low, double high) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != 0 || !(value >= low && value <= high)) {
    char line[200];
    std::snprintf(line, sizeof line, "%s %.80s: a number from %g to %g is expected", name.c_str(),
                  text, low, high);
    throw Error(line);
  }
  return value;
}

int whole(const std::string& name, const char* text, int low, int high) {
  const double value = number(name, text, low, high);
  if (value != std::floor(value)) throw Error(name + " " + text + ": not a whole number");
  return static_cast<int>(value);
}

template <typename Choice>
Choice choose(const std::string& name,
              const char* text,
              const std::map<std::string_view, Choice>& choices) {
  const auto found = choices.find(text);
  if (found != choices.end()) return found->second;
  std::string names;
  for (const auto& [choice, value] : choices)
    names += (names.empty() ? "" : ", ") + std::string(choice);
  throw Error(name + " " + text + ": one of these is expected: " + names);
}

Vector three(const std::string& name, const char* text, double low, double high) {
  Vector values{};
  char rest = 0;
  if (std::sscanf(text, "%lfx%lfx%lf%c", &values[0], &values[1], &values[2], &rest) != 3)
    throw Error(name + " " + text + ": three numbers are expected, as 40x10x10");
  for (const double value : values) {
    if (!(value >= low && value <= high)) throw Error(name + " " + text + ": out of range");
  }
  return values;
}

void read_option(Options& options, const std::string& name, const char* value) {
  const auto is = [&](const char* other) { return name == other; };
  if (is("--mesh"))
    options.mesh = value;
  else if (is("--cells")) {
    const Vector cells = three(name, value, 1, 1000);
    if (cells[0] * cells[1] * cells[2] > 5e7) throw Error(name + " " + value + ": too many");
    for (int d = 0; d < 3; ++d)
      options.cells[d] = static_cast<int>(cells[d]);
  } else if (is("--size"))
    options.size = three(name, value, 1e-6, 1e6);
  else if (is("--case"))
    options.problem = choose<Case>(
        name, value, {{"pull", Case::pull}, {"bar", Case::bar}, {"patch", Case::patch}});
  else if (is("--method"))
    options.method = choose<Method>(
        name, value, {{"steps", Method::steps}, {"equilibrium", Method::equilibrium}});
  else if (is("--steps"))
    options.steps = whole(name, value, 1, 100'000'000);
  else if (is("--energy-every"))
    options.energy_every = whole(name, value, 1, 100'000'000);
  else if (is("--traction"))
    options.traction = number(name, value, -1e12, 1e12);
  else if (is("--young"))
    options.material.young = number(name, value, 1, 1e15);
  else if (is("--poisson"))
    options.material.poisson = number(name, value, 0, 0.499);
  else if (is("--density"))
    options.material.density = number(name, value, 1e-3, 1e6);
  else if (is("--zone"))
    options.zone.width = number(name, value, 0, 1);
  else if (is("--zone-iterations"))
    options.zone.iterations = whole(name, value, 1, 100'000);
  else if (is("--zone-period"))
    options.zone.period_steps = whole(name, value, 2, 100'000'000);
  else if (is("--softening"))
    options.material.softening = number(name, value, 0, 1e6);
  else if (is("--cut"))
    options.cut = choose<CutMethod>(
        name, value, {{"metis", CutMethod::metis}, {"bisection", CutMethod::bisection}});
  else if (is("--order"))
    options.order = choose<Order>(name, value, {{"near", Order::near}, {"file", Order::file}});
  else if (is("--vtu"))
    options.vtu = value;
  else if (is("--picture"))
    options.picture = value;
  else
    throw Error("no option " + name + "; --help lists them");
}

}  // namespace

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help") {
      options.is_help = true;
      return options;
    }
    if (name == "--csv") {
      options.is_csv = true;
      continue;
    }
    if (name.rfind("--", 0) != 0) throw Error("no option " + name + "; --help lists them");
    if (i + 1 == argc) throw Error(name + " needs a value");
    read_option(options, name, argv[++i]);
  }
  if (options.method == Method::equilibrium && options.material.softening > 0 &&
      options.zone.exists())
    throw Error("--method equilibrium needs a linear material: --softening 0");
  if (options.energy_every == 0) options.energy_every = std::max(1, options.steps / 10);
  return options;
}

}  // namespace fem
