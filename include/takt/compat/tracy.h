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

/* ---- Implementation of the macros; not for programs. --------------------------------------- */

/* Code of these macros, in a branch that is never taken while macros are off. */
#if TAKT_IS_OFF
#define TAKT_TRACY_DO(call) TAKT_DO_IF(0, call)
#else
#define TAKT_TRACY_DO(call) (call)
#endif

TAKT_INLINES_BEGIN

TAKT_INLINE void takt_tracy_lock_held(takt_tracy_lock *lock)
{
    lock->held = takt_span_begin(lock->track, "held");
}

TAKT_INLINE void takt_tracy_lock_left(takt_tracy_lock *lock)
{
    takt_span held = lock->held;
    lock->held = 0;
    takt_span_end(held);
}

TAKT_INLINES_END

/* ---- Macros of both languages ---------------------------------------------------------------- */

typedef takt_open TracyCZoneCtx;

#define TAKT_TRACY_IS_ON (TAKT_WHEN(TAKT_NORMAL_BIT) != 0)
#define TAKT_TRACY_TEXT(key, text, size)                                                           \
    TAKT_SITE_DO(takt_tracy_arg_v1, TAKT_NORMAL_BIT, takt_text_at_, TAKT_SITE_ARG,                 \
                 TAKT_INSTEAD_ARG, key, TAKT_COMMA(text) TAKT_COMMA(size))
#define TAKT_TRACY_VALUE(value)                                                                    \
    TAKT_SITE_DO(takt_arg_uint_v1, TAKT_NORMAL_BIT, takt_value_at_, TAKT_SITE_ARG,                 \
                 TAKT_INSTEAD_ARG, "value", TAKT_COMMA TAKT_TO(uint64_t, value))

#define TAKT_TRACY_OPENED(color, name, active)                                                     \
    ((active) ? TAKT_OPENED(TAKT_SITE(takt_zone_at_, TAKT_INSTEAD_SCOPE, TAKT_SITE_SCOPE,          \
                                      TAKT_LEVEL_NORMAL, TAKT_NULL, name, TAKT_NULL,               \
                                      TAKT_COLOR(color)),                                          \
                            TAKT_NORMAL_BIT)                                                       \
              : takt_not_opened())
#define TAKT_TRACY_OPEN(zone, color, name, active)                                                 \
    TAKT_QUIET_BEGIN                                                                               \
    const TracyCZoneCtx zone = TAKT_TRACY_OPENED(color, name, active)                              \
    TAKT_QUIET_END
#define TAKT_TRACY_CLOSE(zone) TAKT_CLOSED(zone)

#define TracyCZone(ctx, active)                        TracyCZoneC(ctx, 0, active)
#define TracyCZoneN(ctx, name, active)                 TracyCZoneNC(ctx, name, 0, active)
#define TracyCZoneC(ctx, color, active)                                                            \
    TAKT_TRACY_OPEN(ctx, color, TAKT_FUNCTION_NAME, active)
#define TracyCZoneNC(ctx, name, color, active)                                                     \
    TAKT_TRACY_OPEN(ctx, color, name, active)
#define TracyCZoneS(ctx, depth, active)                TracyCZone(ctx, active)
#define TracyCZoneNS(ctx, name, depth, active)         TracyCZoneN(ctx, name, active)
#define TracyCZoneCS(ctx, color, depth, active)        TracyCZoneC(ctx, color, active)
#define TracyCZoneNCS(ctx, name, color, depth, active) TracyCZoneNC(ctx, name, color, active)
#define TracyCZoneEnd(ctx)                             TAKT_TRACY_CLOSE(ctx)
#define TracyCZoneText(ctx, text, size)                TAKT_TRACY_TEXT("text", text, size)
#define TracyCZoneName(ctx, text, size)                TAKT_TRACY_TEXT("name", text, size)
#define TracyCZoneValue(ctx, value)                    TAKT_TRACY_VALUE(value)
#define TracyCZoneColor(ctx, color)                    ((void)(ctx))

#define TracyCAlloc(ptr, size)                 TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracyCAllocN(ptr, size, name)          TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracyCAllocS(ptr, size, depth)         TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracyCAllocNS(ptr, size, depth, name)  TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracyCSecureAlloc(ptr, size)           TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracyCSecureAllocN(ptr, size, name)    TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracyCSecureAllocS(ptr, size, depth)   TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracyCSecureAllocNS(ptr, size, depth, name) TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracyCFree(ptr)                        TAKT_TRACY_DO(takt_memory_freed(ptr))
#define TracyCFreeN(ptr, name)                 TAKT_TRACY_DO(takt_memory_freed(ptr))
#define TracyCFreeS(ptr, depth)                TAKT_TRACY_DO(takt_memory_freed(ptr))
#define TracyCFreeNS(ptr, depth, name)         TAKT_TRACY_DO(takt_memory_freed(ptr))
#define TracyCSecureFree(ptr)                  TAKT_TRACY_DO(takt_memory_freed(ptr))
#define TracyCSecureFreeN(ptr, name)           TAKT_TRACY_DO(takt_memory_freed(ptr))
#define TracyCSecureFreeS(ptr, depth)          TAKT_TRACY_DO(takt_memory_freed(ptr))
#define TracyCSecureFreeNS(ptr, depth, name)   TAKT_TRACY_DO(takt_memory_freed(ptr))

#define TracyCMessage(text, size)              TAKT_TRACY_DO(takt_tracy_mark_v1(text, size))
#define TracyCMessageL(text)                   TAKT_TRACY_DO(takt_mark(text))
#define TracyCMessageC(text, size, color)      TAKT_TRACY_DO(takt_tracy_mark_v1(text, size))
#define TracyCMessageLC(text, color)           TAKT_TRACY_DO(takt_mark(text))
#define TracyCMessageS(text, size, depth)      TAKT_TRACY_DO(takt_tracy_mark_v1(text, size))
#define TracyCMessageLS(text, depth)           TAKT_TRACY_DO(takt_mark(text))
#define TracyCMessageCS(text, size, color, depth) TAKT_TRACY_DO(takt_tracy_mark_v1(text, size))
#define TracyCMessageLCS(text, color, depth)   TAKT_TRACY_DO(takt_mark(text))

#define TracyCFrameMark                                TAKT_FRAME("frame");
#define TracyCFrameMarkNamed(name)                     TAKT_FRAME(name);
#define TracyCFrameMarkStart(name)             TAKT_TRACY_DO(takt_tracy_frame_begin_v1(name));
#define TracyCFrameMarkEnd(name)               TAKT_TRACY_DO(takt_tracy_frame_end_v1(name));
#define TracyCFrameImage(image, width, height, offset, flip) ((void)(image));

#define TracyCPlot(name, value)                TAKT_TRACY_DO(takt_counter(name, TAKT_TO(double, value)))
#define TracyCPlotF(name, value)               TAKT_TRACY_DO(takt_counter(name, TAKT_TO(double, value)))
#define TracyCPlotI(name, value)               TAKT_TRACY_DO(takt_counter(name, TAKT_TO(double, value)))
#define TracyCPlotConfig(name, type, step, fill, color) ((void)(name))
#define TracyCAppInfo(text, size)                      ((void)(text))

typedef takt_tracy_lock *TracyCLockCtx;
#if TAKT_IS_OFF
#define TracyCLockAnnounce(lock) ((lock) = TAKT_NULL)
#else
#define TracyCLockAnnounce(lock) ((lock) = takt_tracy_lock_make_v1(#lock))
#endif
#define TAKT_TRACY_LOCK(lock, call)     TAKT_TRACY_DO((lock) ? (call) : (void)0)
#define TracyCLockTerminate(lock)       TAKT_TRACY_DO(free(lock))
#define TracyCLockBeforeLock(lock)      TAKT_TRACY_LOCK(lock, takt_begin_name((lock)->wait))
#define TracyCLockAfterLock(lock)                                                                  \
    TAKT_TRACY_LOCK(lock, (takt_end(), takt_tracy_lock_held(lock)))
#define TracyCLockAfterUnlock(lock)     TAKT_TRACY_LOCK(lock, takt_tracy_lock_left(lock))
#define TracyCLockAfterTryLock(lock, acquired)                                                     \
    TAKT_TRACY_LOCK((lock) && (acquired), takt_tracy_lock_held(lock))
#define TracyCLockMark(lock)            ((void)(lock))
#define TracyCLockCustomName(lock, name, size)                                                     \
    TAKT_TRACY_LOCK(lock, takt_tracy_lock_name_v1(lock, name, size))

#define TracyCSetThreadName(name)              TAKT_TRACY_DO(takt_thread_name(name))
#define TracyCFiberEnter(name)                 TAKT_TRACY_DO(takt_tracy_fiber_v1(name))
#define TracyCFiberLeave                       TAKT_TRACY_DO(takt_tracy_fiber_v1(TAKT_NULL))
#define TracyCIsConnected              TAKT_TRACY_IS_ON
#define TracyCIsStarted                1

/* ---- C++ ------------------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C++" {
namespace tracy {
inline namespace TAKT_INLINES_OF(TAKT_VERSION_MAJOR, TAKT_VERSION_MINOR) {

#if !TAKT_IS_OFF

/* Wraps a mutex of the program and records waits and holds. */
template <typename Mutex> class Lockable {
public:
    TAKT_HOST_INLINE explicit Lockable(const char *name) : mutex_(), lock_(), depth_(0)
    {
        takt_tracy_lock_name_v1(&lock_, name, __builtin_strlen(name));
    }
    Lockable(const Lockable &) = delete;
    Lockable &operator=(const Lockable &) = delete;

    TAKT_HOST_INLINE void lock()
    {
        {
            takt_scope_guard wait(takt_scope_made_v1(lock_.wait));
            mutex_.lock();
        }
        enter();
    }
    TAKT_HOST_INLINE void unlock()
    {
        if (--depth_ == 0)
            takt_tracy_lock_left(&lock_);
        mutex_.unlock();
    }
    TAKT_HOST_INLINE bool try_lock()
    {
        bool is_locked = mutex_.try_lock();
        if (is_locked)
            enter();
        return is_locked;
    }
    TAKT_HOST_INLINE void Mark(const void *) noexcept {}
    TAKT_HOST_INLINE void CustomName(const char *name, size_t size)
    {
        takt_tracy_lock_name_v1(&lock_, name, size);
    }

protected:
    Mutex           mutex_;
    takt_tracy_lock lock_;

private:
    TAKT_HOST_INLINE void enter()
    {
        if (depth_++ == 0)
            takt_tracy_lock_held(&lock_);
    }

    unsigned depth_; /* how often its owner has locked a recursive mutex */
};

template <typename Mutex> class SharedLockable : public Lockable<Mutex> {
public:
    TAKT_HOST_INLINE explicit SharedLockable(const char *name)
        : Lockable<Mutex>(name), is_changing_(false), readers_(0), shared_(0)
    {
    }

    TAKT_HOST_INLINE void lock_shared()
    {
        {
            takt_scope_guard wait(takt_scope_made_v1(this->lock_.wait));
            this->mutex_.lock_shared();
        }
        enter_shared();
    }
    TAKT_HOST_INLINE void unlock_shared()
    {
        begin_change();
        if (--readers_ == 0)
            takt_span_end(shared_);
        end_change();
        this->mutex_.unlock_shared();
    }
    TAKT_HOST_INLINE bool try_lock_shared()
    {
        bool is_locked = this->mutex_.try_lock_shared();
        if (is_locked)
            enter_shared();
        return is_locked;
    }

private:
    TAKT_HOST_INLINE void enter_shared()
    {
        begin_change();
        if (readers_++ == 0)
            shared_ = takt_span_begin(this->lock_.track, "held shared");
        end_change();
    }

    /* Readers come and go at the same time; the first and the last change the count with its span. */
    TAKT_HOST_INLINE void begin_change()
    {
        while (__atomic_test_and_set(&is_changing_, __ATOMIC_ACQUIRE))
            continue;
    }
    TAKT_HOST_INLINE void end_change() { __atomic_clear(&is_changing_, __ATOMIC_RELEASE); }

    bool      is_changing_;
    unsigned  readers_;
    takt_span shared_; /* open while there are readers */
};

#endif

TAKT_HOST_INLINE void SetThreadName(const char *name) { TAKT_TRACY_DO(takt_thread_name(name)); }
TAKT_HOST_INLINE void SetThreadNameWithHint(const char *name, int) { SetThreadName(name); }
TAKT_HOST_INLINE bool IsProfilerStarted() { return true; }

} /* inline namespace */
} /* namespace tracy */
} /* extern "C++" */

#define TAKT_TRACY_GUARD(zone, color, name, active)                                                \
    TAKT_QUIET_BEGIN                                                                               \
    TAKT_GUARD(zone, TAKT_TRACY_OPENED(color, name, active))                                       \
    TAKT_QUIET_END
#define TAKT_TRACY_NAMED(zone, name, active)                                                       \
    TAKT_GUARD(zone, (active) ? TAKT_NAMED(name) : takt_not_opened())

#define ZoneNamed(zone, active)                          ZoneNamedC(zone, 0, active)
#define ZoneNamedN(zone, name, active)                   ZoneNamedNC(zone, name, 0, active)
#define ZoneNamedC(zone, color, active)                                                            \
    TAKT_TRACY_GUARD(zone, color, TAKT_FUNCTION_NAME, active)
#define ZoneNamedNC(zone, name, color, active)                                                     \
    TAKT_TRACY_GUARD(zone, color, name, active)
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
#define ZoneIsActive                   TAKT_TRACY_IS_ON
#define ZoneIsActiveV(zone)            TAKT_TRACY_IS_ON

#define FrameMark                      TAKT_FRAME("frame")
#define FrameMarkNamed(name)           TAKT_FRAME(name)
#define FrameMarkStart(name)           TAKT_TRACY_DO(takt_tracy_frame_begin_v1(name))
#define FrameMarkEnd(name)             TAKT_TRACY_DO(takt_tracy_frame_end_v1(name))
#define FrameImage(image, width, height, offset, flip) ((void)(image))

#define TracyPlot(name, value)         TAKT_TRACY_DO(takt_counter(name, TAKT_TO(double, value)))
#define TracyPlotConfig(name, type, step, fill, color) ((void)(name))
#define TracyAppInfo(text, size)       ((void)(text))
#define TracyMessage(text, size)       TAKT_TRACY_DO(takt_tracy_mark_v1(text, size))
#define TracyMessageL(text)            TAKT_TRACY_DO(takt_mark(text))
#define TracyMessageC(text, size, color) TAKT_TRACY_DO(takt_tracy_mark_v1(text, size))
#define TracyMessageLC(text, color)    TAKT_TRACY_DO(takt_mark(text))
#define TracyMessageS(text, size, depth) TAKT_TRACY_DO(takt_tracy_mark_v1(text, size))
#define TracyMessageLS(text, depth)    TAKT_TRACY_DO(takt_mark(text))
#define TracyMessageCS(text, size, color, depth) TAKT_TRACY_DO(takt_tracy_mark_v1(text, size))
#define TracyMessageLCS(text, color, depth) TAKT_TRACY_DO(takt_mark(text))

#define TracyAlloc(ptr, size)          TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracyAllocN(ptr, size, name)   TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracyAllocS(ptr, size, depth)  TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracyAllocNS(ptr, size, depth, name) TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracySecureAlloc(ptr, size)    TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracySecureAllocN(ptr, size, name) TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracySecureAllocS(ptr, size, depth) TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracySecureAllocNS(ptr, size, depth, name) TAKT_TRACY_DO(takt_memory_allocated(ptr, size))
#define TracyFree(ptr)                 TAKT_TRACY_DO(takt_memory_freed(ptr))
#define TracyFreeN(ptr, name)          TAKT_TRACY_DO(takt_memory_freed(ptr))
#define TracyFreeS(ptr, depth)         TAKT_TRACY_DO(takt_memory_freed(ptr))
#define TracyFreeNS(ptr, depth, name)  TAKT_TRACY_DO(takt_memory_freed(ptr))
#define TracySecureFree(ptr)           TAKT_TRACY_DO(takt_memory_freed(ptr))
#define TracySecureFreeN(ptr, name)    TAKT_TRACY_DO(takt_memory_freed(ptr))
#define TracySecureFreeS(ptr, depth)   TAKT_TRACY_DO(takt_memory_freed(ptr))
#define TracySecureFreeNS(ptr, depth, name) TAKT_TRACY_DO(takt_memory_freed(ptr))

/* Off, a lock is the program's own: all files that share one have it on, or all have it off. */
#if TAKT_IS_OFF
#define TracyLockable(type, lock)              type lock
#define TracyLockableN(type, lock, name)       type lock
#define TracySharedLockable(type, lock)        type lock
#define TracySharedLockableN(type, lock, name) type lock
#define LockableBase(type)                     type
#define SharedLockableBase(type)               type
#define LockableName(lock, name, size)         ((void)(lock), (void)(name), (void)(size))
#else
#define TracyLockable(type, lock)              tracy::Lockable<type> lock{#lock}
#define TracyLockableN(type, lock, name)       tracy::Lockable<type> lock{name}
#define TracySharedLockable(type, lock)        tracy::SharedLockable<type> lock{#lock}
#define TracySharedLockableN(type, lock, name) tracy::SharedLockable<type> lock{name}
#define LockableBase(type)                     tracy::Lockable<type>
#define SharedLockableBase(type)               tracy::SharedLockable<type>
#define LockableName(lock, name, size)         (lock).CustomName(name, size)
#endif
#define LockMark(lock)                         ((void)(lock))

#define TracyFiberEnter(name)          TAKT_TRACY_DO(takt_tracy_fiber_v1(name))
#define TracyFiberEnterHint(name, hint) TAKT_TRACY_DO(takt_tracy_fiber_v1(name))
#define TracyFiberLeave                TAKT_TRACY_DO(takt_tracy_fiber_v1(TAKT_NULL))

#define TracyIsConnected               TAKT_TRACY_IS_ON
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
