// hydro SIDE STEPS - an explicit gas flow whose every step allocates its temporary arrays.
//
// The Euler equations of a perfect gas (gamma 1.4) in a periodic box, SIDE^3 cells for each rank,
// the ranks in a row along z; finite volumes with Rusanov's flux (Rusanov 1961), a step by the
// greatest wave speed of all ranks. As hydrodynamics proxies do, a step allocates arrays of the
// size of the mesh for primitive variables, wave speeds and fluxes, and frees them. Prints
//   result step VALUE us    a line for each step
// Exits 1 if mass or energy is not conserved to rounding, or if the pressure is not positive.
#include <math.h>

#include "probe.h"

enum { field_count = 5, density = 0, energy = 4 };

static const double gamma_of_gas = 1.4, courant = 0.3;

// Cells (x, y, z) of a rank, x fastest; layers z = 0 and z = side + 1 are ghosts.
struct gas {
  int rank, ranks, side;
  size_t layer;  // cells of a layer
  double* fields[field_count];
};

// What a step computes from the fields, for all cells and ghosts.
struct primitives {
  double *velocity[3], *pressure, *speed;
};

static double* new_array(size_t count) {
  double* array = malloc(count * sizeof *array);
  if (array == NULL) probe_fail("hydro: out of memory");
  return array;
}

static size_t cells_with_ghosts(const struct gas* gas) {
  return gas->layer * ((size_t)gas->side + 2);
}

static void exchange(const struct gas* gas, double* field) {
  double *first = field + gas->layer, *last = field + gas->layer * (size_t)gas->side;
  double *below = field, *above = last + gas->layer;
#ifdef SORREL_BENCH_ALONE_MPI_H
  memcpy(below, last, gas->layer * sizeof *field);
  memcpy(above, first, gas->layer * sizeof *field);
#else
  const int up = (gas->rank + 1) % gas->ranks, down = (gas->rank + gas->ranks - 1) % gas->ranks;
  const int count = (int)gas->layer;
  MPI_Sendrecv(last, count, MPI_DOUBLE, up, 0, below, count, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(first, count, MPI_DOUBLE, down, 1, above, count, MPI_DOUBLE, up, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
#endif
}

static struct primitives new_primitives(const struct gas* gas) {
  const size_t count = cells_with_ghosts(gas);
  struct primitives p = {
      {new_array(count), new_array(count), new_array(count)}, new_array(count), new_array(count)};
  for (size_t i = 0; i < count; i++) {
    const double rho = gas->fields[density][i];
    double kinetic = 0;
    for (int d = 0; d < 3; d++) {
      p.velocity[d][i] = gas->fields[1 + d][i] / rho;
      kinetic += 0.5 * rho * p.velocity[d][i] * p.velocity[d][i];
    }
    p.pressure[i] = (gamma_of_gas - 1) * (gas->fields[energy][i] - kinetic);
    p.speed[i] = sqrt(gamma_of_gas * p.pressure[i] / rho);
  }
  return p;
}

static void free_primitives(struct primitives* p) {
  for (int d = 0; d < 3; d++)
    free(p->velocity[d]);
  free(p->pressure), free(p->speed);
}

// The flux of field f along d in a cell.
static double flux_in(
    const struct gas* gas, const struct primitives* p, int f, int d, size_t cell) {
  const double carried = gas->fields[f][cell] * p->velocity[d][cell];
  if (f == 1 + d) return carried + p->pressure[cell];
  return f == energy ? carried + p->velocity[d][cell] * p->pressure[cell] : carried;
}

// The next cell along d; periodic in x and y.
static size_t next_cell(const struct gas* gas, int x, int y, size_t cell, int d) {
  const size_t side = (size_t)gas->side;
  if (d == 0) return x + 1 < gas->side ? cell + 1 : cell + 1 - side;
  if (d == 1) return y + 1 < gas->side ? cell + side : cell + side - gas->layer;
  return cell + gas->layer;
}

// Adds the fluxes along d to `change`, by the faces above all cells of the layers 0 to side.
static void add_fluxes(const struct gas* gas,
                       const struct primitives* p,
                       int d,
                       double* change[field_count]) {
  const size_t count = cells_with_ghosts(gas);
  double* fluxes[field_count];
  for (int f = 0; f < field_count; f++)
    fluxes[f] = new_array(count);
  for (int z = 0; z <= gas->side; z++)
    for (int y = 0; y < gas->side; y++)
      for (int x = 0; x < gas->side; x++) {
        const size_t cell = (size_t)z * gas->layer + (size_t)(y * gas->side + x);
        const size_t next = next_cell(gas, x, y, cell, d);
        const double here = fabs(p->velocity[d][cell]) + p->speed[cell],
                     there = fabs(p->velocity[d][next]) + p->speed[next];
        const double greatest = here > there ? here : there;
        for (int f = 0; f < field_count; f++)
          fluxes[f][cell] = 0.5 * (flux_in(gas, p, f, d, cell) + flux_in(gas, p, f, d, next)) -
                            0.5 * greatest * (gas->fields[f][next] - gas->fields[f][cell]);
      }
  for (int z = 0; z <= gas->side; z++)
    for (int y = 0; y < gas->side; y++)
      for (int x = 0; x < gas->side; x++) {
        const size_t cell = (size_t)z * gas->layer + (size_t)(y * gas->side + x);
        const size_t next = next_cell(gas, x, y, cell, d);
        for (int f = 0; f < field_count; f++) {
          change[f][cell] -= fluxes[f][cell];
          change[f][next] += fluxes[f][cell];
        }
      }
  for (int f = 0; f < field_count; f++)
    free(fluxes[f]);
}

static double greatest_speed(const struct gas* gas, const struct primitives* p) {
  double mine = 0, all = 0;
  for (size_t i = gas->layer; i < gas->layer * ((size_t)gas->side + 1); i++)
    for (int d = 0; d < 3; d++)
      mine = fmax(mine, fabs(p->velocity[d][i]) + p->speed[i]);
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

static void step(struct gas* gas) {
  for (int f = 0; f < field_count; f++)
    exchange(gas, gas->fields[f]);
  struct primitives p = new_primitives(gas);
  const double ratio = courant / (3 * greatest_speed(gas, &p));  // step over width of a cell
  double* change[field_count];
  const size_t count = cells_with_ghosts(gas);
  for (int f = 0; f < field_count; f++) {
    change[f] = new_array(count);
    memset(change[f], 0, count * sizeof(double));
  }
  for (int d = 0; d < 3; d++)
    add_fluxes(gas, &p, d, change);
  for (int f = 0; f < field_count; f++) {
    for (size_t i = gas->layer; i < gas->layer * ((size_t)gas->side + 1); i++)
      gas->fields[f][i] += ratio * change[f][i];
    free(change[f]);
  }
  free_primitives(&p);
}

static double total(const struct gas* gas, int field) {
  double mine = 0, all = 0;
  for (size_t i = gas->layer; i < gas->layer * ((size_t)gas->side + 1); i++)
    mine += gas->fields[field][i];
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

// A dense, hot ball in the middle of a gas that moves along z.
static void fill(struct gas* gas) {
  const double middle = 0.5 * gas->side, radius = 0.25 * gas->side;
  for (int z = 1; z <= gas->side; z++)
    for (int y = 0; y < gas->side; y++)
      for (int x = 0; x < gas->side; x++) {
        const size_t cell = (size_t)z * gas->layer + (size_t)(y * gas->side + x);
        const double dx = x + 0.5 - middle, dy = y + 0.5 - middle, dz = z - 0.5 - middle;
        const double in_ball = exp(-(dx * dx + dy * dy + dz * dz) / (radius * radius));
        const double rho = 1 + in_ball, velocity = 0.3, pressure = 1 + 4 * in_ball;
        gas->fields[density][cell] = rho;
        gas->fields[1][cell] = gas->fields[2][cell] = 0;
        gas->fields[3][cell] = rho * velocity;
        gas->fields[energy][cell] = pressure / (gamma_of_gas - 1) + 0.5 * rho * velocity * velocity;
      }
}

static const char* judge(const struct gas* gas, double mass, double joules) {
  if (!(fabs(total(gas, density) / mass - 1) < 1e-11)) return "mass is not conserved";
  if (!(fabs(total(gas, energy) / joules - 1) < 1e-11)) return "energy is not conserved";
  struct primitives p = new_primitives(gas);
  double least = p.pressure[gas->layer];
  for (size_t i = gas->layer; i < gas->layer * ((size_t)gas->side + 1); i++)
    if (!(p.pressure[i] >= least)) least = p.pressure[i];
  free_primitives(&p);
  return least > 0 ? NULL : "the pressure is not positive";
}

int main(int argc, char** argv) {
  struct gas gas;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &gas.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &gas.ranks);
  gas.side = argc > 1 ? atoi(argv[1]) : 30;
  const int steps = argc > 2 ? atoi(argv[2]) : 100;
  if (gas.side < 2 || gas.side > 500 || steps < 1) probe_fail("hydro SIDE STEPS");
  gas.layer = (size_t)gas.side * (size_t)gas.side;
  for (int f = 0; f < field_count; f++)
    gas.fields[f] = probe_allocate(cells_with_ghosts(&gas) * sizeof(double));
  double* samples = probe_allocate((size_t)steps * sizeof *samples);

  fill(&gas);
  const double mass = total(&gas, density), joules = total(&gas, energy);
  double before = probe_now();
  for (int i = 0; i < steps; i++) {
    step(&gas);
    const double after = probe_now();
    samples[i] = (after - before) * 1e6;
    before = after;
  }
  const char* wrong = judge(&gas, mass, joules);
  if (wrong != NULL) probe_fail(wrong);
  for (int i = 0; gas.rank == 0 && i < steps; i++)
    probe_print("step", samples[i], "us");
  for (int f = 0; f < field_count; f++)
    free(gas.fields[f]);
  free(samples);
  MPI_Finalize();
  return 0;
}
