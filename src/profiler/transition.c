#include "profiler/transition.h"

static bool is_recording(takt_action action)
{
    return action == TAKT_ACTION_RECORD || action == TAKT_ACTION_RECORD_AND_SAVE;
}

/* What must end before `to` begins. */
static uint32_t leave(takt_action from, takt_action to)
{
    switch (from) {
    case TAKT_ACTION_WARMUP:
        if (to == TAKT_ACTION_NONE)
            return TKT_DO_WARN | TKT_DO_DISCARD;
        return to == TKT_STOPPED ? TKT_DO_DISCARD : 0;
    case TAKT_ACTION_RECORD:
        if (is_recording(to))
            return 0;
        return to == TKT_STOPPED ? TKT_DO_SAVE : TKT_DO_WARN | TKT_DO_DISCARD;
    case TAKT_ACTION_RECORD_AND_SAVE:
        return TKT_DO_SAVE;
    default:
        return 0;
    }
}

/* What `to` begins with, when nothing goes on from before. */
static uint32_t arrive(takt_action from, takt_action to)
{
    if (to == TAKT_ACTION_WARMUP)
        return TKT_DO_PREPARE;
    if (!is_recording(to))
        return 0;
    return from == TAKT_ACTION_WARMUP ? TKT_DO_START : TKT_DO_PREPARE | TKT_DO_START;
}

uint32_t tkt_transition(takt_action from, takt_action to)
{
    uint32_t left = leave(from, to);
    bool goes_on = left == 0 && ((from == TAKT_ACTION_WARMUP && to == TAKT_ACTION_WARMUP) ||
                                 (from == TAKT_ACTION_RECORD && is_recording(to)));
    return goes_on ? 0 : left | arrive(from, to);
}
