/* Memory of windows. */
#include "profiler/cycle.h"

#include "base/lock.h"
#include "record/log.h"

#define READY (TKT_MOST_CYCLES + 2) /* the one that records, and the next */

static tkt_mutex lock = TKT_MUTEX_INIT;
static tkt_window *spares; /* lock */
static uint32_t users;     /* lock; spares are kept for them */

static void free_all(tkt_window *window)
{
    while (window) {
        tkt_window *next = window->next;
        for (size_t i = 0; i < window->folds_made; i++)
            tkt_fold_fini(&window->folds.items[i]);
        TKT_ARRAY_FREE(&window->folds);
        tkt_free(window->frames);
        tkt_free(window);
        window = next;
    }
}

tkt_fold *tkt_window_add_fold(tkt_window *window)
{
    tkt_fold *fold = TKT_ARRAY_ADD(&window->folds);
    if (fold && window->folds.count > window->folds_made) {
        *fold = (tkt_fold){0};
        window->folds_made = window->folds.count;
    }
    return fold;
}

/* Makes it as good as new, but for the room in its arrays. */
static void clear(tkt_window *window)
{
    tkt_window empty = {.folds = window->folds,
                        .folds_made = window->folds_made,
                        .frames = window->frames};
    empty.folds.count = 0;
    *window = empty;
}

tkt_window *tkt_window_make(void)
{
    tkt_mutex_lock(&lock);
    tkt_window *window = spares;
    if (window)
        spares = window->next;
    tkt_mutex_unlock(&lock);
    if (!window)
        return tkt_alloc_zeroed(sizeof *window);
    window->next = NULL;
    return window;
}

void tkt_window_unmake(tkt_window *window)
{
    for (size_t i = 0; i < window->folds.count; i++)
        tkt_fold_clear(&window->folds.items[i]);
    tkt_devices_fini(&window->devices);
    clear(window);
    tkt_mutex_lock(&lock);
    bool is_kept = users > 0;
    if (is_kept) {
        window->next = spares;
        spares = window;
    }
    tkt_mutex_unlock(&lock);
    if (!is_kept)
        free_all(window);
}

static void add_spare(void)
{
    tkt_window *window = tkt_alloc_zeroed(sizeof *window);
    if (window)
        tkt_window_unmake(window);
}

void tkt_windows_keep(void)
{
    tkt_mutex_lock(&lock);
    bool is_first = users++ == 0;
    tkt_mutex_unlock(&lock);
    for (uint32_t i = 0; is_first && i < READY; i++)
        add_spare();
}

void tkt_windows_keep_no_more(void)
{
    tkt_mutex_lock(&lock);
    tkt_window *unused = --users == 0 ? spares : NULL;
    if (users == 0)
        spares = NULL;
    tkt_mutex_unlock(&lock);
    free_all(unused);
}
