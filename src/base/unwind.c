/* The unwinder is libgcc's. It is loaded at run time, as glibc's backtrace() does, so the
 * library itself needs no libgcc_s. backtrace() is not enough: it does not tell where an address
 * is stored. */
#include "base/dynlib.h"

#include <pthread.h>
#include <unwind.h>

/* The frame of a function that has called another one. */
typedef struct frame {
    uintptr_t stack_pointer;
    uintptr_t frame_pointer;
} frame;

typedef struct walk {
    frame callee; /* of the function whose caller comes next */
    uintptr_t caller;
    tkt_return *returns;
    uint32_t count;
    uint32_t most;
} walk;

static struct {
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
    uintptr_t (*address)(struct _Unwind_Context *);
    uintptr_t (*stack_pointer)(struct _Unwind_Context *);
    uintptr_t (*reg)(struct _Unwind_Context *, int);
} unwinder;

static void load(void)
{
    void *library = tkt_library_open("libgcc_s.so.1");
    if (!library)
        return;
    *(void **)&unwinder.address = tkt_library_symbol(library, "_Unwind_GetIP");
    *(void **)&unwinder.stack_pointer = tkt_library_symbol(library, "_Unwind_GetCFA");
    *(void **)&unwinder.reg = tkt_library_symbol(library, "_Unwind_GetGR");
    if (unwinder.address && unwinder.stack_pointer && unwinder.reg)
        /* release: pairs with the acquire in tkt_unwind(), on threads that did not load it */
        __atomic_store_n((void **)&unwinder.backtrace,
                         tkt_library_symbol(library, "_Unwind_Backtrace"), __ATOMIC_RELEASE);
}

bool tkt_unwind_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return unwinder.backtrace != NULL;
}

/* ---- Places of return addresses -------------------------------------------------------------- */

#if defined(__x86_64__)
static frame frame_of(struct _Unwind_Context *context)
{
    return (frame){unwinder.stack_pointer(context), 0};
}

/* The call stores the return address just below `end`, where the callee's frame ends. */
static const uintptr_t *place_in(const frame *callee, uintptr_t end)
{
    (void)callee;
    return (const uintptr_t *)end - 1;
}

static uintptr_t without_signature(uintptr_t address)
{
    return address;
}
#else
static frame frame_of(struct _Unwind_Context *context)
{
    enum {
        X29 = 29 /* its DWARF number, too */
    };
    return (frame){unwinder.stack_pointer(context), unwinder.reg(context, X29)};
}

/* By default, compilers keep a frame pointer here. The callee then has a frame record: the caller's
 * x29, then the return address (AAPCS64, "The Frame Pointer"). NULL when the record is not in the
 * callee's own frame, which ends at `end`. */
static const uintptr_t *place_in(const frame *callee, uintptr_t end)
{
    uintptr_t place = callee->frame_pointer + sizeof(uintptr_t);
    bool is_own = place % sizeof(uintptr_t) == 0 && place >= callee->stack_pointer && place < end;
    return is_own ? (const uintptr_t *)place : NULL;
}

/* Functions compiled with -mbranch-protection sign the address that they store. Hint 7 is xpaclri,
 * which removes the signature; processors without signatures treat it as a nop. */
static uintptr_t without_signature(uintptr_t address)
{
    register uintptr_t x30 __asm__("x30") = address;
    __asm__("hint 7" : "+r"(x30));
    return x30;
}
#endif

/* True if the address is still in its slot. The stack may hold anything there, so sanitizers must
 * not check it. */
__attribute__((no_sanitize("address", "thread"))) static bool holds(const tkt_return *at)
{
    return without_signature(*at->slot) == at->address;
}

/* The place of the address on the stack; NULL if it is not where the compiler should have put
 * it. */
static const uintptr_t *slot_of(const frame *callee, uintptr_t end, uintptr_t address)
{
    tkt_return found = {address, place_in(callee, end)};
    return found.slot && holds(&found) ? found.slot : NULL;
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *user)
{
    walk *w = user;
    uintptr_t address = unwinder.address(context);
    const frame callee = w->callee;
    w->callee = frame_of(context);
    if (w->count == 0 && address != w->caller)
        return _URC_NO_REASON;
    if (address == 0 || w->count == w->most)
        return _URC_END_OF_STACK;
    /* The unwinder's stack pointer of a function is the end of its callee's frame. */
    const uintptr_t *slot = slot_of(&callee, w->callee.stack_pointer, address);
    w->returns[w->count++] = (tkt_return){address, slot};
    return _URC_NO_REASON;
}

uint32_t tkt_unwind(const void *caller, tkt_return *out, uint32_t most)
{
    walk w = {.caller = (uintptr_t)caller, .returns = out, .most = most};
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
    *(void **)&backtrace = __atomic_load_n((void **)&unwinder.backtrace, __ATOMIC_ACQUIRE);
    backtrace(on_frame, &w);
    return w.count;
}

bool tkt_unwind_is_same(const tkt_return *returns, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!returns[i].slot || !holds(&returns[i]))
            return false;
    return true;
}
