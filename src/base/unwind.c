/* The unwinder is libgcc's, found at run time as glibc's backtrace() finds it: the library itself
 * needs no libgcc_s. backtrace() would do, but does not tell where an address stands. */
#include "base/unwind.h"

#include "base/dynlib.h"

#include <pthread.h>
#include <unwind.h>

typedef struct walk {
    uintptr_t caller;
    tkt_return *returns;
    uint32_t count;
    uint32_t most;
} walk;

static struct {
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
    uintptr_t (*address)(struct _Unwind_Context *);
    uintptr_t (*stack_pointer)(struct _Unwind_Context *);
} unwinder;

static void load(void)
{
    void *library = tkt_library_open("libgcc_s.so.1");
    if (!library)
        return;
    *(void **)&unwinder.address = tkt_library_symbol(library, "_Unwind_GetIP");
    *(void **)&unwinder.stack_pointer = tkt_library_symbol(library, "_Unwind_GetCFA");
    if (unwinder.address && unwinder.stack_pointer)
        *(void **)&unwinder.backtrace = tkt_library_symbol(library, "_Unwind_Backtrace");
}

bool tkt_unwind_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return unwinder.backtrace != NULL;
}

/* What stands on the stack may be anybody's, with a sanitizer's marks on it. */
__attribute__((no_sanitize("address", "thread"))) static bool holds(const tkt_return *at)
{
    return *at->slot == at->address;
}

/* A frame's stack pointer is where its callee's frame ended. On x86-64 the call has left the return
 * address just below; elsewhere the callee has put it where it likes. */
static const uintptr_t *slot_of(uintptr_t stack_pointer, uintptr_t address)
{
    tkt_return found = {address, (const uintptr_t *)stack_pointer - 1};
    return holds(&found) ? found.slot : NULL;
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *user)
{
    walk *w = user;
    uintptr_t address = unwinder.address(context);
    if (w->count == 0 && address != w->caller)
        return _URC_NO_REASON;
    if (address == 0 || w->count == w->most)
        return _URC_END_OF_STACK;
    uintptr_t stack_pointer = unwinder.stack_pointer(context);
    w->returns[w->count++] = (tkt_return){address, slot_of(stack_pointer, address)};
    return _URC_NO_REASON;
}

uint32_t tkt_unwind(const void *caller, tkt_return *out, uint32_t most)
{
    walk w = {.caller = (uintptr_t)caller, .returns = out, .most = most};
    unwinder.backtrace(on_frame, &w);
    return w.count;
}

bool tkt_unwind_is_same(const tkt_return *returns, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!returns[i].slot || !holds(&returns[i]))
            return false;
    return true;
}
