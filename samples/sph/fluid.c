/* Weakly compressible SPH, derived from an energy so that there is something to check.
 *
 * Each particle's density is a sum over its neighbours and the share of its kernel that lies behind
 * the walls, as though fluid at rest continued there:
 *
 *     rho_i = sum_j m W(x_i - x_j) + rho_w fill(x_i)
 *
 * Its internal energy u(rho), per mass, follows from Tait's equation of state: du/drho = p / rho^2,
 * called P below. Pressure and wall forces are the gradient of sum_i m u(rho_i):
 *
 *     a_i = -sum_j m (P_i + P_j) grad W(x_i - x_j)  -  P_i rho_w grad fill(x_i)
 *
 * (Monaghan 2005, Rep. Prog. Phys. 68, with walls). So they conserve energy exactly, and between
 * particles momentum too, because the pair term changes sign with i and j. Fluid behind a wall
 * pushes no harder than fluid can, which does not stop every splash: springs outside the box do.
 * Viscosity is Monaghan's, along the line between two particles, for approaching and receding pairs
 * alike: it conserves linear and angular momentum and only ever takes energy away.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fluid.h"

#include <takt/takt.h>

#include "parallel.h"

#include <stdlib.h>

/* The support radius in particle spacings: 56 neighbours in the lattice. */
static const double SUPPORT_IN_SPACINGS = 2.4;

/* Ten times the fastest fall keeps the density within about one percent (Monaghan 1994). */
static const double SOUND_SPEED_IN_FALL_SPEEDS = 10.0;

/* Of Tait's equation for water; the functions below spell its powers out. */
static const double TAIT_EXPONENT = 7.0;

/* Work per neighbour, counted in the source: additions, multiplications, divisions and square roots
 * are one operation each. Bytes are what the loops load, from whichever cache. What is done once
 * per particle adds a few percent and is left out. */
enum {
    DISTANCE_FLOPS = 8,
    DENSITY_PAIR_FLOPS = DISTANCE_FLOPS + KERNEL_VALUE_FLOPS + 1,
    DENSITY_PAIR_BYTES = sizeof(uint32_t) + sizeof(vec3),
    FORCE_PAIR_FLOPS = DISTANCE_FLOPS + KERNEL_SLOPE_FLOPS + 29,
    FORCE_PAIR_BYTES = sizeof(uint32_t) + 2 * sizeof(vec3) + 2 * sizeof(double),
};

static double tait_stiffness(const fluid *f)
{
    return f->setup.rest_density * f->sound_speed * f->sound_speed / TAIT_EXPONENT;
}

/* Pa. Below the rest density there is no pressure rather than tension, which would make particles
 * clump. The energy below is clipped alike, so the balance holds. The price: half a kernel is empty
 * at a free surface, so the topmost layers close up, and fluid at rest stands two thirds of a
 * spacing too low. */
static double pressure_at(const fluid *f, double density)
{
    double s = density / f->setup.rest_density;
    if (!(s > 1.0))
        return 0.0;
    double s2 = s * s;

    return tait_stiffness(f) * (s2 * s2 * s2 * s - 1.0);
}

/* J/kg: the integral of p / rho^2 from the rest density. */
static double internal_energy_at(const fluid *f, double density)
{
    double s = density / f->setup.rest_density;
    if (!(s > 1.0))
        return 0.0;
    double s2 = s * s;
    double integral = s2 * s2 * s2 / 6.0 + 1.0 / s - 7.0 / 6.0;

    return tait_stiffness(f) / f->setup.rest_density * integral;
}

/* The share of a kernel at x that lies between two parallel walls, and its derivative. */
static double open_between(const kernel *k, double x, double length, double *derivative)
{
    *derivative = kernel_over_plane(k, x) - kernel_over_plane(k, length - x);
    return 1.0 - kernel_beyond_plane(k, x) - kernel_beyond_plane(k, length - x);
}

/* The share of a kernel at p that lies behind the walls. The product is exact for one wall; along
 * edges and in corners it treats the kernel as separable, which Wendland's nearly is. The gradient
 * is that of this very formula, so energy does not notice. */
static double wall_fill(const fluid *f, vec3 p, vec3 *gradient)
{
    vec3 d;
    double x = open_between(&f->kernel, p.x, f->setup.box.x, &d.x);
    double y = open_between(&f->kernel, p.y, f->setup.box.y, &d.y);
    double z = open_between(&f->kernel, p.z, f->setup.box.z, &d.z);

    *gradient = (vec3){-d.x * y * z, -d.y * x * z, -d.z * x * y};
    return 1.0 - x * y * z;
}

/* How far back into the box p would have to go along one axis, in m. */
static double way_back(double x, double length)
{
    if (x < 0.0)
        return -x;
    return x > length ? length - x : 0.0;
}

static vec3 way_into_box(const fluid *f, vec3 p)
{
    return (vec3){
        way_back(p.x, f->setup.box.x),
        way_back(p.y, f->setup.box.y),
        way_back(p.z, f->setup.box.z),
    };
}

/* J/kg: height, and the springs behind the walls. */
static double potential_energy_at(const fluid *f, vec3 p)
{
    vec3 back = way_into_box(f, p);

    return f->setup.gravity * p.z + 0.5 * f->wall_stiffness * vec3_dot(back, back);
}

static vec3 wall_acceleration_at(const fluid *f, vec3 p, double pressure_term)
{
    vec3 gradient;
    wall_fill(f, p, &gradient);
    vec3 pressure = vec3_scale(-pressure_term * f->wall_density, gradient);

    return vec3_add_scaled(pressure, f->wall_stiffness, way_into_box(f, p));
}

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
        sum += kernel_value(&f->kernel, vec3_dot(r, r));
    }
    vec3 gradient;
    double density = f->mass * sum + f->wall_density * wall_fill(f, p, &gradient);

    f->density[i] = density;
    f->pressure_term[i] = pressure_at(f, density) / (density * density);
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

/* Kinematic, m^2/s: what Monaghan's alpha amounts to in three dimensions, alpha h c / 10. */
static double kinematic_viscosity(const fluid *f)
{
    return f->setup.viscosity * (0.5 * f->kernel.radius) * f->sound_speed / 10.0;
}

/* Sums over the pairs of i, in the order of its list. Every factor of a term but r is the same, bit
 * for bit, when i and j change places, so what j gives to i is exactly what i takes from j. */
static void compute_forces_on(fluid *f, size_t i)
{
    const uint32_t *neighbours = grid_neighbours(&f->grid, i);
    const double soften = 0.0025 * f->kernel.radius * f->kernel.radius; /* 0.01 h^2, m^2 */
    const double drag = 20.0 * kinematic_viscosity(f); /* 10 nu over the mean of two densities */
    vec3 p = f->position[i], v = f->velocity[i];
    vec3 pressure = {0}, viscous = {0};

    for (size_t n = 0; n < f->grid.neighbour_count[i]; n++) {
        uint32_t j = neighbours[n];
        vec3 r = vec3_sub(p, f->position[j]);
        double r_squared = vec3_dot(r, r);
        double slope = f->mass * kernel_slope(&f->kernel, r_squared);
        double approach = vec3_dot(r, vec3_sub(v, f->velocity[j]));
        double density = f->density[i] + f->density[j];
        double push = -slope * (f->pressure_term[i] + f->pressure_term[j]);
        double pull = slope * drag * approach / (density * (r_squared + soften));

        pressure = vec3_add_scaled(pressure, push, r);
        viscous = vec3_add_scaled(viscous, pull, r);
    }
    f->wall[i] = wall_acceleration_at(f, p, f->pressure_term[i]);
    f->viscous[i] = viscous;
    f->acceleration[i] = vec3_add(vec3_add(pressure, viscous), f->wall[i]);
    f->acceleration[i].z -= f->setup.gravity;
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

/* How long velocities are moved on by this step's acceleration. They live half a step before the
 * positions, except at the start, where the fluid is at rest at time zero. */
static double kick_duration(const fluid *f)
{
    return f->steps == 0 ? 0.5 * f->time_step : f->time_step;
}

/* Sums, by one thread and in storage order, energies and momentum at the time of the positions;
 * velocities are brought there by the first part of this step's kick, `to_now` seconds. Returns the
 * power of viscosity in W; `force`, in N, becomes that of gravity and walls. */
static double sum_particles(const fluid *f, double to_now, fluid_balance *b, vec3 *force)
{
    double power = 0.0;
    b->kinetic = b->potential = b->internal = 0.0;
    b->momentum = *force = (vec3){0};
    for (size_t i = 0; i < f->count; i++) {
        vec3 v = vec3_add_scaled(f->velocity[i], to_now, f->acceleration[i]);
        b->kinetic += 0.5 * f->mass * vec3_dot(v, v);
        b->potential += f->mass * potential_energy_at(f, f->position[i]);
        b->internal += f->mass * internal_energy_at(f, f->density[i]);
        b->momentum = vec3_add_scaled(b->momentum, f->mass, v);
        *force = vec3_add_scaled(*force, f->mass, f->wall[i]);
        power += f->mass * vec3_dot(f->viscous[i], v);
    }
    force->z -= f->mass * (double)f->count * f->setup.gravity;
    return power;
}

/* The larger one, and not a number if either is not: broken physics must not pass for exact. */
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
    double scale = f->mass * (double)f->count * f->fall_speed;
    b->momentum_error = worst(b->momentum_error, sqrt(vec3_dot(excess, excess)) / scale);
}

/* Impulse and dissipation grow as the kick moves velocities: up to now before the comparison, and
 * by the rest of it after. */
static void update_balance(fluid *f)
{
    TAKT_SCOPE("balance");
    fluid_balance *b = &f->balance;
    double after_now = 0.5 * f->time_step;
    double to_now = kick_duration(f) - after_now;
    vec3 force;
    double power = sum_particles(f, to_now, b, &force);

    b->impulse = vec3_add_scaled(b->impulse, to_now, force);
    b->dissipated -= to_now * power;
    compare_balance(f, b);
    b->impulse = vec3_add_scaled(b->impulse, after_now, force);
    b->dissipated -= after_now * power;
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

bool fluid_step(fluid *f)
{
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

/* A lattice of particles, each in the middle of its cube. */
typedef struct lattice {
    size_t x, y, z;
    double spacing;
} lattice;

static size_t at_least_one(double wanted)
{
    return wanted >= 1.0 ? (size_t)wanted : 1;
}

/* The spacing divides the width, so that the fluid meets both side walls alike. */
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

/* The kernel summed over the lattice around one particle, up to the layer z_last, in 1/m^3. */
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
 * wall half a spacing away. Those of a continuum miss by some percent, which in a fluid this stiff
 * is a bang at the start. */
static void calibrate(fluid *f)
{
    const int reach = (int)(f->kernel.radius / f->spacing) + 1;
    double whole = sum_over_lattice(&f->kernel, f->spacing, reach, reach);
    double behind = sum_over_lattice(&f->kernel, f->spacing, reach, -1);

    f->mass = f->setup.rest_density / whole;
    f->wall_density = f->mass * behind / kernel_beyond_plane(&f->kernel, 0.5 * f->spacing);
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
    return grid_init(&f->grid, f->setup.box, f->kernel.radius, f->count) && f->position &&
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
    f->kernel = kernel_of_radius(SUPPORT_IN_SPACINGS * l.spacing);
    f->fall_speed = sqrt(2.0 * setup->gravity * setup->column.z);
    f->sound_speed = SOUND_SPEED_IN_FALL_SPEEDS * f->fall_speed;
    f->wall_stiffness = pow(f->sound_speed / f->kernel.radius, 2.0);
    f->time_step = setup->time_step * 0.5 * f->kernel.radius / f->sound_speed;
    calibrate(f);
    if (!allocate(f)) {
        fluid_destroy(f);
        return NULL;
    }
    place_particles(f, &l);
    return f;
}

void fluid_destroy(fluid *f)
{
    if (!f)
        return;
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
    uint64_t hash = UINT64_C(14695981039346656037);
    hash = hash_bytes(hash, f->position, f->count * sizeof *f->position);
    return hash_bytes(hash, f->velocity, f->count * sizeof *f->velocity);
}
