/* The macros of takt/compat/tracy.h that C has, in the shapes in which engines wrap them. */
#include <takt/compat/tracy.h>

#define b2TracyCZoneC(ctx, color, active)        TracyCZoneC(ctx, color, active)
#define b2TracyCZoneNC(ctx, name, color, active) TracyCZoneNC(ctx, name, color, active)
#define b2TracyCZoneEnd(ctx)                     TracyCZoneEnd(ctx)

int use_tracy(int bodies, const char *text, void *block, size_t size);

static int collide(int bodies)
{
    b2TracyCZoneNC(collide, "Narrow Phase", 0x3CB371, true);
    if (bodies < 2) {
        b2TracyCZoneEnd(collide);
        return 0;
    }
    int pairs = 0;
    for (int i = 0; i < bodies; i++) {
        b2TracyCZoneC(body, 0xFF0000, bodies > 10);
        pairs += i;
        b2TracyCZoneEnd(body);
    }
    b2TracyCZoneEnd(collide);
    return pairs;
}

static TracyCLockCtx queue_lock;

int use_tracy(int bodies, const char *text, void *block, size_t size)
{
    TracyCZone(all, 1);
    TracyCZoneText(all, text, size);
    TracyCZoneName(all, text, size);
    TracyCZoneValue(all, bodies);
    TracyCZoneColor(all, 0xFF);
    TracyCSetThreadName("worker");
    TracyCAlloc(block, size);
    TracyCFree(block);
    TracyCMessage(text, size);
    TracyCMessageL("literal");
    TracyCPlot("bodies", bodies);
    TracyCPlotF("ratio", 0.5f);
    TracyCPlotI("count", bodies);
    TracyCLockAnnounce(queue_lock);
    TracyCLockCustomName(queue_lock, "queue", 5);
    TracyCLockBeforeLock(queue_lock);
    TracyCLockAfterLock(queue_lock);
    TracyCLockAfterUnlock(queue_lock);
    TracyCLockAfterTryLock(queue_lock, 0);
    TracyCLockTerminate(queue_lock);
    TracyCFrameMarkStart("physics") int pairs = collide(bodies);
    TracyCFrameMarkEnd("physics") TracyCFrameMark TracyCFiberEnter("fiber");
    TracyCFiberLeave;
    TracyCZoneEnd(all);
    return pairs + (TracyCIsConnected);
}
