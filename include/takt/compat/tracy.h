/* takt/compat/tracy.h - lets Takt record a program that is annotated for Tracy. Include this header
 * instead of tracy/Tracy.hpp or tracy/TracyC.h.
 *
 * Takt ignores:
 * - colors of messages, colors chosen at run time, frame images, plot settings, program
 *   information, source callbacks and parameters;
 * - the stack depth of macros that end with S: with_stack records call stacks for all scopes;
 * - zones of graphics APIs: these macros compile to nothing. CUDA needs no zones with Takt.
 * Takt records in another form:
 * - ZoneText, ZoneName and ZoneValue become arguments of the thread's innermost open scope, with
 *   the keys "text", "name" and "value". Texts are cut at 255 bytes.
 * - FrameMark and FrameMarkNamed become TAKT_FRAME. FrameMarkStart and FrameMarkEnd become a span
 *   on the track "frames"; at most sixteen such frames are open at a time.
 * - Messages become marks. Named memory pools become one memory.
 * - A lock becomes a scope "wait for NAME" while a thread waits, and a track NAME with a span
 *   "held". A shared lock has one span "held shared" from its first reader to its last.
 * - A fiber becomes a track of its name that shows when the fiber ran. Scopes stay on their thread:
 *   do not keep a scope open across TracyFiberEnter or TracyFiberLeave.
 * Names must be literals where Tracy requires literals. With TAKT_DISABLE nothing is recorded.
 *
 * The macro names are those of Tracy 0.11.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_COMPAT_TRACY_H
#define TAKT_COMPAT_TRACY_H

#include <takt/memory.h>
#include <takt/scope.h>

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Implementation of the macros; not for programs. --------------------------------------- */

/* Frozen. */
typedef struct takt_tracy_lock {
    takt_name  wait;
    takt_track track;
    takt_span  held;
} takt_tracy_lock;

/* Frozen. */
typedef struct takt_tracy_frame {
    const char *name; /* NULL: free */
    takt_span   span;
} takt_tracy_frame;

/* One instance for the whole program, however many files include this header. */
__attribute__((weak)) takt_tracy_frame takt_tracy_frames[16];
__attribute__((weak)) __thread takt_span takt_tracy_fiber;

typedef char takt_tracy_text[256];

/* Copies `text` and appends a NUL; longer text is cut. */
static inline const char *takt_tracy_copy(takt_tracy_text copy, const char *text, size_t size)
{
    size_t kept = size < sizeof(takt_tracy_text) ? size : sizeof(takt_tracy_text) - 1;
    __builtin_memcpy(copy, text, kept);
    copy[kept] = '\0';
    return copy;
}

static inline void takt_tracy_mark(const char *text, size_t size)
{
    takt_tracy_text copy;
    takt_mark(takt_tracy_copy(copy, text, size));
}

static inline void takt_tracy_frame_begin(const char *name)
{
    takt_track track = takt_track_named("frames");
    for (int i = 0; i < 16; i++) {
        const char *none = NULL;
        if (__atomic_compare_exchange_n(&takt_tracy_frames[i].name, &none, name, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            takt_tracy_frames[i].span = takt_span_begin(track, name);
            return;
        }
    }
}

static inline void takt_tracy_frame_end(const char *name)
{
    for (int i = 0; i < 16; i++) {
        if (__atomic_load_n(&takt_tracy_frames[i].name, __ATOMIC_ACQUIRE) == name) {
            takt_span_end(takt_tracy_frames[i].span);
            __atomic_store_n(&takt_tracy_frames[i].name, TAKT_CAST(const char *, NULL),
                             __ATOMIC_RELEASE);
            return;
        }
    }
}

static inline void takt_tracy_fiber_leave(void)
{
    takt_span_end(takt_tracy_fiber);
    takt_tracy_fiber = 0;
}

static inline void takt_tracy_fiber_enter(const char *name)
{
    takt_tracy_fiber_leave();
    takt_tracy_fiber = takt_span_begin(takt_track_named(name), name);
}

static inline void takt_tracy_lock_name(takt_tracy_lock *lock, const char *name, size_t size)
{
    char  wait[9 + sizeof(takt_tracy_text)] = "wait for ";
    char *own = wait + 9;
    lock->track = takt_track_named(takt_tracy_copy(own, name, size));
    lock->wait = takt_name_make(wait, 9 + __builtin_strlen(own));
}

static inline void takt_tracy_lock_held(takt_tracy_lock *lock)
{
    lock->held = takt_span_begin(lock->track, "held");
}

static inline void takt_tracy_lock_left(takt_tracy_lock *lock)
{
    takt_span held = lock->held;
    lock->held = 0;
    takt_span_end(held);
}

/* Returns NULL if memory is exhausted. All C lock macros accept NULL. */
static inline takt_tracy_lock *takt_tracy_lock_make(const char *name)
{
    takt_tracy_lock *lock = TAKT_CAST(takt_tracy_lock *, calloc(1, sizeof *lock));
    if (lock)
        takt_tracy_lock_name(lock, name, __builtin_strlen(name));
    return lock;
}

#ifdef __cplusplus
}
#endif

/* ---- Macros of both languages ---------------------------------------------------------------- */

typedef takt_open TracyCZoneCtx;

#ifndef TAKT_DISABLE

static inline int takt_tracy_is_on(void)
{
    return takt_is_on(TAKT_NORMAL_BIT);
}

static inline takt_open takt_tracy_open(takt_site *site, bool is_active)
{
    takt_open none = {NULL, 0};
    return is_active ? takt_scope_open(site, TAKT_NORMAL_BIT) : none;
}

static inline void takt_tracy_arg(takt_site *key, const char *text, size_t size)
{
    takt_tracy_text copy;
    takt_arg_string_v1(key, takt_tracy_copy(copy, text, size));
}

#define TAKT_TRACY_TEXT(key, text, size)                                                           \
    TAKT_SITE_DO(takt_tracy_arg, TAKT_NORMAL_BIT, TAKT_SITE_ARG, TAKT_INSTEAD_ARG, key,            \
                 TAKT_COMMA(text) TAKT_COMMA(size))
#define TAKT_TRACY_VALUE(value)                                                                    \
    TAKT_SITE_DO(takt_arg_uint_v1, TAKT_NORMAL_BIT, TAKT_SITE_ARG, TAKT_INSTEAD_ARG, "value",      \
                 TAKT_COMMA TAKT_CAST(uint64_t, value))

#define TAKT_TRACY_SITE(id, color, name)                                                           \
    TAKT_STATIC_SITE(TAKT_JOIN(takt_site_, id), TAKT_INSTEAD_SCOPE, TAKT_SITE_SCOPE,               \
                     TAKT_LEVEL_NORMAL, NULL, name, NULL, TAKT_COLOR(color))
#define TAKT_TRACY_OPEN(id, zone, color, name, active)                                             \
    TAKT_TRACY_SITE(id, color, name);                                                              \
    const TracyCZoneCtx zone = takt_tracy_open(&TAKT_JOIN(takt_site_, id), (active) != 0)
#define TAKT_TRACY_CLOSE(zone) takt_scope_close(zone)

#else

static inline int takt_tracy_is_on(void)
{
    return 0;
}

#define TAKT_TRACY_TEXT(key, text, size) ((void)sizeof((text) != NULL && (size) != 0))
#define TAKT_TRACY_VALUE(value)          ((void)sizeof(value))
#define TAKT_TRACY_OPEN(id, zone, color, name, active)                                             \
    const TracyCZoneCtx zone = {NULL, sizeof(active)}
#define TAKT_TRACY_CLOSE(zone) ((void)(zone))

#endif

#define TracyCZone(ctx, active)                        TracyCZoneC(ctx, 0, active)
#define TracyCZoneN(ctx, name, active)                 TracyCZoneNC(ctx, name, 0, active)
#define TracyCZoneC(ctx, color, active)                                                            \
    TAKT_TRACY_OPEN(__COUNTER__, ctx, color, TAKT_FUNCTION_NAME, active)
#define TracyCZoneNC(ctx, name, color, active)                                                     \
    TAKT_TRACY_OPEN(__COUNTER__, ctx, color, name, active)
#define TracyCZoneS(ctx, depth, active)                TracyCZone(ctx, active)
#define TracyCZoneNS(ctx, name, depth, active)         TracyCZoneN(ctx, name, active)
#define TracyCZoneCS(ctx, color, depth, active)        TracyCZoneC(ctx, color, active)
#define TracyCZoneNCS(ctx, name, color, depth, active) TracyCZoneNC(ctx, name, color, active)
#define TracyCZoneEnd(ctx)                             TAKT_TRACY_CLOSE(ctx)
#define TracyCZoneText(ctx, text, size)                TAKT_TRACY_TEXT("text", text, size)
#define TracyCZoneName(ctx, text, size)                TAKT_TRACY_TEXT("name", text, size)
#define TracyCZoneValue(ctx, value)                    TAKT_TRACY_VALUE(value)
#define TracyCZoneColor(ctx, color)                    ((void)(ctx))

#define TracyCAlloc(ptr, size)                         takt_memory_allocated(ptr, size)
#define TracyCAllocN(ptr, size, name)                  takt_memory_allocated(ptr, size)
#define TracyCAllocS(ptr, size, depth)                 takt_memory_allocated(ptr, size)
#define TracyCAllocNS(ptr, size, depth, name)          takt_memory_allocated(ptr, size)
#define TracyCSecureAlloc(ptr, size)                   takt_memory_allocated(ptr, size)
#define TracyCSecureAllocN(ptr, size, name)            takt_memory_allocated(ptr, size)
#define TracyCSecureAllocS(ptr, size, depth)           takt_memory_allocated(ptr, size)
#define TracyCSecureAllocNS(ptr, size, depth, name)    takt_memory_allocated(ptr, size)
#define TracyCFree(ptr)                                takt_memory_freed(ptr)
#define TracyCFreeN(ptr, name)                         takt_memory_freed(ptr)
#define TracyCFreeS(ptr, depth)                        takt_memory_freed(ptr)
#define TracyCFreeNS(ptr, depth, name)                 takt_memory_freed(ptr)
#define TracyCSecureFree(ptr)                          takt_memory_freed(ptr)
#define TracyCSecureFreeN(ptr, name)                   takt_memory_freed(ptr)
#define TracyCSecureFreeS(ptr, depth)                  takt_memory_freed(ptr)
#define TracyCSecureFreeNS(ptr, depth, name)           takt_memory_freed(ptr)

#define TracyCMessage(text, size)                      takt_tracy_mark(text, size)
#define TracyCMessageL(text)                           takt_mark(text)
#define TracyCMessageC(text, size, color)              takt_tracy_mark(text, size)
#define TracyCMessageLC(text, color)                   takt_mark(text)
#define TracyCMessageS(text, size, depth)              takt_tracy_mark(text, size)
#define TracyCMessageLS(text, depth)                   takt_mark(text)
#define TracyCMessageCS(text, size, color, depth)      takt_tracy_mark(text, size)
#define TracyCMessageLCS(text, color, depth)           takt_mark(text)

#define TracyCFrameMark                                TAKT_FRAME("frame");
#define TracyCFrameMarkNamed(name)                     TAKT_FRAME(name);
#define TracyCFrameMarkStart(name)                     takt_tracy_frame_begin(name);
#define TracyCFrameMarkEnd(name)                       takt_tracy_frame_end(name);
#define TracyCFrameImage(image, width, height, offset, flip) ((void)(image));

#define TracyCPlot(name, value)                        takt_counter(name, TAKT_CAST(double, value))
#define TracyCPlotF(name, value)                       takt_counter(name, TAKT_CAST(double, value))
#define TracyCPlotI(name, value)                       takt_counter(name, TAKT_CAST(double, value))
#define TracyCPlotConfig(name, type, step, fill, color) ((void)(name))
#define TracyCAppInfo(text, size)                      ((void)(text))

typedef takt_tracy_lock *TracyCLockCtx;
#define TracyCLockAnnounce(lock)       ((lock) = takt_tracy_lock_make(#lock))
#define TracyCLockTerminate(lock)      free(lock)
#define TracyCLockBeforeLock(lock)     ((lock) ? takt_begin_name((lock)->wait) : (void)0)
#define TracyCLockAfterLock(lock)      ((lock) ? (takt_end(), takt_tracy_lock_held(lock)) : (void)0)
#define TracyCLockAfterUnlock(lock)    ((lock) ? takt_tracy_lock_left(lock) : (void)0)
#define TracyCLockAfterTryLock(lock, acquired)                                                     \
    ((lock) && (acquired) ? takt_tracy_lock_held(lock) : (void)0)
#define TracyCLockMark(lock)           ((void)(lock))
#define TracyCLockCustomName(lock, name, size)                                                     \
    ((lock) ? takt_tracy_lock_name(lock, name, size) : (void)0)

#define TracyCSetThreadName(name)      takt_thread_name(name)
#define TracyCFiberEnter(name)         takt_tracy_fiber_enter(name)
#define TracyCFiberLeave               takt_tracy_fiber_leave()
#define TracyCIsConnected              takt_tracy_is_on()
#define TracyCIsStarted                1

/* ---- C++ ------------------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C++" {
namespace tracy {

/* A zone whose name is made at run time. */
class TaktNamedZone {
public:
    TaktNamedZone(const char *name, bool is_active) noexcept : is_active_(is_active)
    {
        if (is_active_)
            takt_begin(name);
    }
    ~TaktNamedZone()
    {
        if (is_active_)
            takt_end();
    }
    TaktNamedZone(const TaktNamedZone &) = delete;
    TaktNamedZone &operator=(const TaktNamedZone &) = delete;

private:
    bool is_active_;
};

/* Wraps a mutex of the program and records waits and holds. */
template <typename Mutex> class Lockable {
public:
    explicit Lockable(const char *name) : mutex_(), lock_()
    {
        takt_tracy_lock_name(&lock_, name, __builtin_strlen(name));
    }
    Lockable(const Lockable &) = delete;
    Lockable &operator=(const Lockable &) = delete;

    void lock()
    {
        takt_begin_name(lock_.wait);
        mutex_.lock();
        takt_end();
        takt_tracy_lock_held(&lock_);
    }
    void unlock()
    {
        takt_tracy_lock_left(&lock_);
        mutex_.unlock();
    }
    bool try_lock()
    {
        bool is_locked = mutex_.try_lock();
        if (is_locked)
            takt_tracy_lock_held(&lock_);
        return is_locked;
    }
    void Mark(const void *) noexcept {}
    void CustomName(const char *name, size_t size) { takt_tracy_lock_name(&lock_, name, size); }

protected:
    Mutex           mutex_;
    takt_tracy_lock lock_;
};

template <typename Mutex> class SharedLockable : public Lockable<Mutex> {
public:
    explicit SharedLockable(const char *name) : Lockable<Mutex>(name), readers_(0), shared_(0) {}

    void lock_shared()
    {
        takt_begin_name(this->lock_.wait);
        this->mutex_.lock_shared();
        takt_end();
        enter();
    }
    void unlock_shared()
    {
        if (__atomic_sub_fetch(&readers_, 1, __ATOMIC_ACQ_REL) == 0)
            show(0);
        this->mutex_.unlock_shared();
    }
    bool try_lock_shared()
    {
        bool is_locked = this->mutex_.try_lock_shared();
        if (is_locked)
            enter();
        return is_locked;
    }

private:
    void enter()
    {
        if (__atomic_fetch_add(&readers_, 1, __ATOMIC_ACQ_REL) == 0)
            show(takt_span_begin(this->lock_.track, "held shared"));
    }
    void show(takt_span span)
    {
        takt_span_end(__atomic_exchange_n(&shared_, span, __ATOMIC_ACQ_REL));
    }

    unsigned  readers_;
    takt_span shared_; /* open while there are readers */
};

inline void SetThreadName(const char *name) { takt_thread_name(name); }
inline void SetThreadNameWithHint(const char *name, int) { takt_thread_name(name); }
inline bool IsProfilerStarted() { return true; }

} /* namespace tracy */
} /* extern "C++" */

#ifndef TAKT_DISABLE
#define TAKT_TRACY_GUARD(id, zone, color, name, active)                                            \
    TAKT_TRACY_SITE(id, color, name);                                                              \
    takt_scope_guard zone(takt_tracy_open(&TAKT_JOIN(takt_site_, id), (active)))
#define TAKT_TRACY_NAMED(zone, name, active) tracy::TaktNamedZone zone(name, active)
#else
#define TAKT_TRACY_GUARD(id, zone, color, name, active) ((void)(active))
#define TAKT_TRACY_NAMED(zone, name, active)            ((void)(active))
#endif

#define ZoneNamed(zone, active)                          ZoneNamedC(zone, 0, active)
#define ZoneNamedN(zone, name, active)                   ZoneNamedNC(zone, name, 0, active)
#define ZoneNamedC(zone, color, active)                                                            \
    TAKT_TRACY_GUARD(__COUNTER__, zone, color, TAKT_FUNCTION_NAME, active)
#define ZoneNamedNC(zone, name, color, active)                                                     \
    TAKT_TRACY_GUARD(__COUNTER__, zone, color, name, active)
#define ZoneNamedS(zone, depth, active)                  ZoneNamed(zone, active)
#define ZoneNamedNS(zone, name, depth, active)           ZoneNamedN(zone, name, active)
#define ZoneNamedCS(zone, color, depth, active)          ZoneNamedC(zone, color, active)
#define ZoneNamedNCS(zone, name, color, depth, active)   ZoneNamedNC(zone, name, color, active)
#define ZoneTransient(zone, active)                      ZoneNamed(zone, active)
#define ZoneTransientN(zone, name, active)               TAKT_TRACY_NAMED(zone, name, active)
#define ZoneTransientNC(zone, name, color, active)       TAKT_TRACY_NAMED(zone, name, active)
#define ZoneTransientS(zone, depth, active)              ZoneNamed(zone, active)
#define ZoneTransientNS(zone, name, depth, active)       TAKT_TRACY_NAMED(zone, name, active)
#define ZoneTransientNCS(zone, name, color, depth, active) TAKT_TRACY_NAMED(zone, name, active)

#define ZoneScoped                     TAKT_FUNCTION()
#define ZoneScopedN(name)              TAKT_SCOPE(name)
#define ZoneScopedC(color)             TAKT_SCOPE_COLOR(color, TAKT_FUNCTION_NAME)
#define ZoneScopedNC(name, color)      TAKT_SCOPE_COLOR(color, name)
#define ZoneScopedS(depth)             TAKT_FUNCTION()
#define ZoneScopedNS(name, depth)      TAKT_SCOPE(name)
#define ZoneScopedCS(color, depth)     TAKT_SCOPE_COLOR(color, TAKT_FUNCTION_NAME)
#define ZoneScopedNCS(name, color, depth) TAKT_SCOPE_COLOR(color, name)

#define ZoneText(text, size)           TAKT_TRACY_TEXT("text", text, size)
#define ZoneName(text, size)           TAKT_TRACY_TEXT("name", text, size)
#define ZoneValue(value)               TAKT_TRACY_VALUE(value)
#define ZoneColor(color)               ((void)(color))
#define ZoneTextV(zone, text, size)    TAKT_TRACY_TEXT("text", text, size)
#define ZoneNameV(zone, text, size)    TAKT_TRACY_TEXT("name", text, size)
#define ZoneValueV(zone, value)        TAKT_TRACY_VALUE(value)
#define ZoneColorV(zone, color)        ((void)(color))
#define ZoneIsActive                   (takt_tracy_is_on() != 0)
#define ZoneIsActiveV(zone)            (takt_tracy_is_on() != 0)

#define FrameMark                      TAKT_FRAME("frame")
#define FrameMarkNamed(name)           TAKT_FRAME(name)
#define FrameMarkStart(name)           takt_tracy_frame_begin(name)
#define FrameMarkEnd(name)             takt_tracy_frame_end(name)
#define FrameImage(image, width, height, offset, flip) ((void)(image))

#define TracyPlot(name, value)         takt_counter(name, static_cast<double>(value))
#define TracyPlotConfig(name, type, step, fill, color) ((void)(name))
#define TracyAppInfo(text, size)       ((void)(text))
#define TracyMessage(text, size)       takt_tracy_mark(text, size)
#define TracyMessageL(text)            takt_mark(text)
#define TracyMessageC(text, size, color) takt_tracy_mark(text, size)
#define TracyMessageLC(text, color)    takt_mark(text)
#define TracyMessageS(text, size, depth) takt_tracy_mark(text, size)
#define TracyMessageLS(text, depth)    takt_mark(text)
#define TracyMessageCS(text, size, color, depth) takt_tracy_mark(text, size)
#define TracyMessageLCS(text, color, depth) takt_mark(text)

#define TracyAlloc(ptr, size)          takt_memory_allocated(ptr, size)
#define TracyAllocN(ptr, size, name)   takt_memory_allocated(ptr, size)
#define TracyAllocS(ptr, size, depth)  takt_memory_allocated(ptr, size)
#define TracyAllocNS(ptr, size, depth, name) takt_memory_allocated(ptr, size)
#define TracySecureAlloc(ptr, size)    takt_memory_allocated(ptr, size)
#define TracySecureAllocN(ptr, size, name) takt_memory_allocated(ptr, size)
#define TracySecureAllocS(ptr, size, depth) takt_memory_allocated(ptr, size)
#define TracySecureAllocNS(ptr, size, depth, name) takt_memory_allocated(ptr, size)
#define TracyFree(ptr)                 takt_memory_freed(ptr)
#define TracyFreeN(ptr, name)          takt_memory_freed(ptr)
#define TracyFreeS(ptr, depth)         takt_memory_freed(ptr)
#define TracyFreeNS(ptr, depth, name)  takt_memory_freed(ptr)
#define TracySecureFree(ptr)           takt_memory_freed(ptr)
#define TracySecureFreeN(ptr, name)    takt_memory_freed(ptr)
#define TracySecureFreeS(ptr, depth)   takt_memory_freed(ptr)
#define TracySecureFreeNS(ptr, depth, name) takt_memory_freed(ptr)

#define TracyLockable(type, lock)              tracy::Lockable<type> lock{#lock}
#define TracyLockableN(type, lock, name)       tracy::Lockable<type> lock{name}
#define TracySharedLockable(type, lock)        tracy::SharedLockable<type> lock{#lock}
#define TracySharedLockableN(type, lock, name) tracy::SharedLockable<type> lock{name}
#define LockableBase(type)                     tracy::Lockable<type>
#define SharedLockableBase(type)               tracy::SharedLockable<type>
#define LockMark(lock)                         ((void)(lock))
#define LockableName(lock, name, size)         (lock).CustomName(name, size)

#define TracyFiberEnter(name)          takt_tracy_fiber_enter(name)
#define TracyFiberEnterHint(name, hint) takt_tracy_fiber_enter(name)
#define TracyFiberLeave                takt_tracy_fiber_leave()

#define TracyIsConnected               (takt_tracy_is_on() != 0)
#define TracyIsStarted                 true
#define TracySetProgramName(name)      ((void)(name))
#define TracyNoop                      ((void)0)
#define TracySourceCallbackRegister(callback, data)    ((void)(callback))
#define TracyParameterRegister(callback, data)         ((void)(callback))
#define TracyParameterSetup(index, name, is_bool, value) ((void)(name))

/* OpenGL, Vulkan, OpenCL, CUDA and Direct3D: statements that do nothing. */
#define TracyGpuContext
#define TracyGpuContextName(...)
#define TracyGpuNamedZone(...)
#define TracyGpuNamedZoneC(...)
#define TracyGpuZone(...)
#define TracyGpuZoneC(...)
#define TracyGpuZoneTransient(...)
#define TracyGpuCollect
#define TracyVkContext(...)           nullptr
#define TracyVkContextCalibrated(...) nullptr
#define TracyVkDestroy(...)
#define TracyVkContextName(...)
#define TracyVkNamedZone(...)
#define TracyVkNamedZoneC(...)
#define TracyVkZone(...)
#define TracyVkZoneC(...)
#define TracyVkZoneTransient(...)
#define TracyVkCollect(...)
#define TracyCLContext(...)           nullptr
#define TracyCLDestroy(...)
#define TracyCLContextName(...)
#define TracyCLNamedZone(...)
#define TracyCLZone(...)
#define TracyCLZoneSetEvent(...)
#define TracyCLCollect(...)
#define TracyCUDAContext()            nullptr
#define TracyCUDAContextDestroy(...)
#define TracyCUDAContextName(...)
#define TracyCUDAStartProfiling(...)
#define TracyCUDAStopProfiling(...)
#define TracyCUDACollect(...)
#define TracyD3D11Context(...)        nullptr
#define TracyD3D11Destroy(...)
#define TracyD3D11ContextName(...)
#define TracyD3D11Zone(...)
#define TracyD3D11ZoneC(...)
#define TracyD3D11Collect(...)
#define TracyD3D12Context(...)        nullptr
#define TracyD3D12Destroy(...)
#define TracyD3D12ContextName(...)
#define TracyD3D12NewFrame(...)
#define TracyD3D12Zone(...)
#define TracyD3D12ZoneC(...)
#define TracyD3D12Collect(...)
#endif
#endif
