/* Weakly compressible SPH, derived from an energy, so that conservation can be checked.
 *
 * The density of a particle is a sum over its neighbours, plus the part of its kernel behind the
 * walls. Fluid at rest is assumed to continue there:
 *
 *     rho_i = sum_j m W(x_i - x_j) + rho_w fill(x_i)
 *
 * The internal energy per mass, u(rho), follows from Tait's equation of state: du/drho = p / rho^2,
 * called P below. Pressure and wall forces are the gradient of sum_i m u(rho_i):
 *
 *     a_i = -sum_j m (P_i + P_j) grad W(x_i - x_j)  -  P_i rho_w grad fill(x_i)
 *
 * (Monaghan 2005, Rep. Prog. Phys. 68, with walls). These forces conserve energy exactly. Between
 * particles they also conserve momentum, because the pair term changes sign with i and j. The fluid
 * behind a wall pushes no harder than fluid can, which does not stop every splash; springs outside
 * the box do. Viscosity is Monaghan's, along the line between two particles, for approaching and
 * receding pairs alike. It conserves linear and angular momentum and only ever removes energy.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fluid.h"

#include <takt/takt.h>

#include "parallel.h"

#include <stdlib.h>

/* The support radius in particle spacings; a lattice then has 56 neighbours. */
static const double SUPPORT_IN_SPACINGS = 2.4;

/* Ten times the fastest fall keeps density variations near one percent (Monaghan 1994). */
static const double SOUND_SPEED_IN_FALL_SPEEDS = 10.0;

/* The exponent of Tait's equation for water; medium.h spells the powers out. */
static const double TAIT_EXPONENT = 7.0;

/* Bytes that the loops load for each neighbour, from any cache. Work done once per particle would
 * add a few percent to this and to the operations in medium.h, and is not counted. */
enum {
    DENSITY_PAIR_BYTES = sizeof(uint32_t) + sizeof(vec3),
    FORCE_PAIR_BYTES = sizeof(uint32_t) + 2 * sizeof(vec3) + 2 * sizeof(double),
};

static void sort_into_cells(fluid *f, vec3 **array)
{
    vec3 *from = *array, *to = f->scratch;
    for (size_t i = 0; i < f->count; i++)
        to[i] = from[f->grid.order[i]];
    *array = to;
    f->scratch = from;
}

static bool find_neighbours(fluid *f)
{
    grid_sort(&f->grid, f->position);
    sort_into_cells(f, &f->position);
    sort_into_cells(f, &f->velocity);
    return grid_find_neighbours(&f->grid, f->position);
}

static void compute_density_of(fluid *f, size_t i)
{
    const uint32_t *neighbours = grid_neighbours(&f->grid, i);
    vec3 p = f->position[i];
    double sum = 0.0;
    for (size_t n = 0; n < f->grid.neighbour_count[i]; n++) {
        vec3 r = vec3_sub(p, f->position[neighbours[n]]);
        sum += kernel_value(&f->medium.smoothing, vec3_dot(r, r));
    }
    double density = density_at(&f->medium, p, sum);

    f->density[i] = density;
    f->pressure_term[i] = pressure_at(&f->medium, density) / (density * density);
}

static void compute_density(fluid *f)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "density sums");

    PARALLEL_FOR
    for (size_t i = 0; i < f->count; i++)
        compute_density_of(f, i);
    TAKT_WORK((double)f->grid.pair_count * DENSITY_PAIR_FLOPS,
              (double)f->grid.pair_count * DENSITY_PAIR_BYTES);
}

static particle particle_at(const fluid *f, size_t i)
{
    return (particle){f->position[i], f->velocity[i], f->density[i], f->pressure_term[i]};
}

/* Sums over the neighbours of i, in the order of its list. */
static void compute_forces_on(fluid *f, size_t i)
{
    const uint32_t *neighbours = grid_neighbours(&f->grid, i);
    particle p = particle_at(f, i);
    vec3 pressure = {0}, viscous = {0};

    for (size_t n = 0; n < f->grid.neighbour_count[i]; n++) {
        particle neighbour = particle_at(f, neighbours[n]);
        add_pair(&f->medium, &p, &neighbour, &pressure, &viscous);
    }
    f->wall[i] = wall_acceleration_at(&f->medium, p.position, p.pressure_term);
    f->viscous[i] = viscous;
    f->acceleration[i] = vec3_add(vec3_add(pressure, viscous), f->wall[i]);
    f->acceleration[i].z -= f->medium.gravity;
}

static void compute_forces(fluid *f)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "pair forces");

    PARALLEL_FOR
    for (size_t i = 0; i < f->count; i++)
        compute_forces_on(f, i);
    TAKT_WORK((double)f->grid.pair_count * FORCE_PAIR_FLOPS,
              (double)f->grid.pair_count * FORCE_PAIR_BYTES);
}

/* Returns the time, in s, by which this step's acceleration advances the velocities. Velocities are
 * half a step behind the positions, except at the start, where the fluid is at rest at time
 * zero. */
static double kick_duration(const fluid *f)
{
    return f->steps == 0 ? 0.5 * f->time_step : f->time_step;
}

/* Sums with one thread, in storage order. `to_now` is the first part of this step's kick, in s. */
static fluid_sums sum_particles(const fluid *f, double to_now)
{
    fluid_sums sums = {0};
    for (size_t i = 0; i < f->count; i++) {
        particle p = particle_at(f, i);
        add_to_sums(&f->medium, &sums, &p, to_now, f->acceleration[i], f->viscous[i], f->wall[i]);
    }
    return sums;
}

/* Returns the larger value, or NaN if either is NaN: broken physics must not pass for exact. */
static double worst(double a, double b)
{
    return (b <= a || isnan(a)) ? a : b;
}

static void compare_balance(const fluid *f, fluid_balance *b)
{
    double energy = b->kinetic + b->potential + b->internal + b->dissipated;
    if (f->steps == 0)
        b->energy_start = energy;
    double off = fabs(energy - b->energy_start) / b->energy_start;
    b->energy_error = worst(b->energy_error, off);

    vec3 excess = vec3_sub(b->momentum, b->impulse);
    double scale = f->medium.mass * (double)f->count * f->fall_speed;
    b->momentum_error = worst(b->momentum_error, sqrt(vec3_dot(excess, excess)) / scale);
}

/* Energies and momentum hold at the time of the positions, to which the first part of this step's
 * kick brings the velocities. Impulse and dissipation grow with the kick: the first part is added
 * before the comparison, the rest after it. */
static void update_balance(fluid *f)
{
    TAKT_SCOPE("balance");
    fluid_balance *b = &f->balance;
    double after_now = 0.5 * f->time_step;
    double to_now = kick_duration(f) - after_now;
    fluid_sums sums = f->device ? fluid_cuda_sums(f->device, to_now) : sum_particles(f, to_now);
    vec3 force = sums.force;

    force.z -= f->medium.mass * (double)f->count * f->medium.gravity;
    b->kinetic = sums.kinetic;
    b->potential = sums.potential;
    b->internal = sums.internal;
    b->momentum = sums.momentum;
    b->impulse = vec3_add_scaled(b->impulse, to_now, force);
    b->dissipated -= to_now * sums.power;
    compare_balance(f, b);
    b->impulse = vec3_add_scaled(b->impulse, after_now, force);
    b->dissipated -= after_now * sums.power;
    TAKT_COUNTER("kinetic energy", b->kinetic);
}

static void move_particles(fluid *f)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "leapfrog");
    double kick = kick_duration(f);

    PARALLEL_FOR
    for (size_t i = 0; i < f->count; i++) {
        f->velocity[i] = vec3_add_scaled(f->velocity[i], kick, f->acceleration[i]);
        f->position[i] = vec3_add_scaled(f->position[i], f->time_step, f->velocity[i]);
    }
}

/* The same phases as on the host. The device works while the host launches the next phase, until
 * the host waits for the sums of the balance. */
static bool step_on_device(fluid *f)
{
    TAKT_SCOPE("step");
    TAKT_PHASE("neighbours");
    fluid_cuda_sort(f->device);
    TAKT_PHASE("density");
    fluid_cuda_density(f->device);
    TAKT_PHASE("forces");
    fluid_cuda_forces(f->device);
    TAKT_PHASE("integrate");
    update_balance(f);
    fluid_cuda_move(f->device, kick_duration(f), f->time_step);
    f->steps++;
    return fluid_cuda_is_fine(f->device);
}

bool fluid_step(fluid *f)
{
    if (f->device)
        return step_on_device(f);
    TAKT_SCOPE("step");
    TAKT_PHASE("neighbours");
    if (!find_neighbours(f))
        return false;
    TAKT_PHASE("density");
    compute_density(f);
    TAKT_PHASE("forces");
    compute_forces(f);
    TAKT_PHASE("integrate");
    update_balance(f);
    move_particles(f);
    f->steps++;
    return true;
}

/* A lattice of particles, each in the middle of a cube. */
typedef struct lattice {
    size_t x, y, z;
    double spacing;
} lattice;

static size_t at_least_one(double wanted)
{
    return wanted >= 1.0 ? (size_t)wanted : 1;
}

/* Chooses a spacing that divides the width, so that the fluid meets both side walls alike. */
static lattice fit_lattice(const fluid_setup *setup)
{
    vec3 column = setup->column;
    double wanted = cbrt(column.x * column.y * column.z / (double)setup->particles);
    size_t y = at_least_one(column.y / wanted + 0.5);
    double spacing = column.y / (double)y;

    return (lattice){
        .x = at_least_one(column.x / spacing + 0.5),
        .y = y,
        .z = at_least_one(column.z / spacing + 0.5),
        .spacing = spacing,
    };
}

/* Returns the kernel summed over the lattice around one particle, up to the layer z_last, in
 * 1/m^3. */
static double sum_over_lattice(const kernel *k, double spacing, int reach, int z_last)
{
    double sum = 0.0;
    for (int z = -reach; z <= z_last; z++) {
        for (int y = -reach; y <= reach; y++) {
            for (int x = -reach; x <= reach; x++) {
                double r_squared = spacing * spacing * (x * x + y * y + z * z);
                if (r_squared < k->radius * k->radius)
                    sum += kernel_value(k, r_squared);
            }
        }
    }
    return sum;
}

/* Chooses mass and wall density so that a lattice has exactly the rest density, inside and beside a
 * wall half a spacing away. The values of a continuum are some percent off; in a fluid this stiff,
 * that causes an explosion at the start. */
static void calibrate(medium *m, double spacing)
{
    const int reach = (int)(m->smoothing.radius / spacing) + 1;
    double whole = sum_over_lattice(&m->smoothing, spacing, reach, reach);
    double behind = sum_over_lattice(&m->smoothing, spacing, reach, -1);

    m->mass = m->rest_density / whole;
    m->wall_density = m->mass * behind / kernel_beyond_plane(&m->smoothing, 0.5 * spacing);
}

/* Makes the medium. `viscosity` is kinematic, in m^2/s: in three dimensions Monaghan's alpha
 * amounts to alpha h c / 10. The drag is ten times that over the mean of two densities. */
static medium medium_of(const fluid_setup *setup, double spacing, double sound_speed)
{
    medium m = {
        .smoothing = kernel_of_radius(SUPPORT_IN_SPACINGS * spacing),
        .box = setup->box,
        .rest_density = setup->rest_density,
        .gravity = setup->gravity,
        .stiffness = setup->rest_density * sound_speed * sound_speed / TAIT_EXPONENT,
    };
    double viscosity = setup->viscosity * (0.5 * m.smoothing.radius) * sound_speed / 10.0;

    m.drag = 20.0 * viscosity;
    m.wall_stiffness = pow(sound_speed / m.smoothing.radius, 2.0);
    calibrate(&m, spacing);
    return m;
}

static void place_particles(fluid *f, const lattice *l)
{
    size_t i = 0;
    for (size_t z = 0; z < l->z; z++) {
        for (size_t y = 0; y < l->y; y++) {
            for (size_t x = 0; x < l->x; x++) {
                vec3 p = {(double)x + 0.5, (double)y + 0.5, (double)z + 0.5};
                f->position[i++] = vec3_scale(l->spacing, p);
            }
        }
    }
}

static bool allocate(fluid *f)
{
    f->position = calloc(f->count, sizeof *f->position);
    f->velocity = calloc(f->count, sizeof *f->velocity);
    f->density = calloc(f->count, sizeof *f->density);
    f->pressure_term = calloc(f->count, sizeof *f->pressure_term);
    f->acceleration = calloc(f->count, sizeof *f->acceleration);
    f->viscous = calloc(f->count, sizeof *f->viscous);
    f->wall = calloc(f->count, sizeof *f->wall);
    f->scratch = calloc(f->count, sizeof *f->scratch);
    return grid_init(&f->grid, f->setup.box, f->medium.smoothing.radius, f->count) && f->position &&
           f->velocity && f->density && f->pressure_term && f->acceleration && f->viscous &&
           f->wall && f->scratch;
}

static bool is_sensible(const fluid_setup *setup)
{
    vec3 box = setup->box, column = setup->column;

    return setup->particles > 0 && setup->particles < UINT32_MAX / 2 && column.x > 0.0 &&
           column.x <= box.x && column.y > 0.0 && column.y == box.y && column.z > 0.0 &&
           column.z <= box.z && setup->rest_density > 0.0 && setup->gravity > 0.0 &&
           setup->viscosity >= 0.0 && setup->time_step > 0.0;
}

fluid *fluid_create(const fluid_setup *setup)
{
    if (!is_sensible(setup))
        return NULL;
    fluid *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    lattice l = fit_lattice(setup);
    f->setup = *setup;
    f->count = l.x * l.y * l.z;
    f->spacing = l.spacing;
    f->fall_speed = sqrt(2.0 * setup->gravity * setup->column.z);
    f->sound_speed = SOUND_SPEED_IN_FALL_SPEEDS * f->fall_speed;
    f->medium = medium_of(setup, l.spacing, f->sound_speed);
    f->time_step = setup->time_step * 0.5 * f->medium.smoothing.radius / f->sound_speed;
    if (!allocate(f)) {
        fluid_destroy(f);
        return NULL;
    }
    place_particles(f, &l);
    return f;
}

bool fluid_move_to_device(fluid *f)
{
    f->device = fluid_cuda_create(&f->medium, &f->grid, f->position);
    return f->device;
}

void fluid_destroy(fluid *f)
{
    if (!f)
        return;
    fluid_cuda_destroy(f->device);
    grid_fini(&f->grid);
    free(f->position);
    free(f->velocity);
    free(f->density);
    free(f->pressure_term);
    free(f->acceleration);
    free(f->viscous);
    free(f->wall);
    free(f->scratch);
    free(f);
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
    return hash;
}

uint64_t fluid_hash(const fluid *f)
{
    if (f->device)
        fluid_cuda_read(f->device, f->position, f->velocity);
    uint64_t hash = UINT64_C(14695981039346656037);
    hash = hash_bytes(hash, f->position, f->count * sizeof *f->position);
    return hash_bytes(hash, f->velocity, f->count * sizeof *f->velocity);
}
