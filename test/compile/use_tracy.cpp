// The macros of takt/compat/tracy.h that C++ has, and those of an engine around Takt's own.
#include <takt/compat/tracy.h>
#include <takt/takt.hpp>

#include <mutex>
#if __cplusplus >= 201703L
#include <shared_mutex>
#endif

#define JPH_PROFILE_TAG2(line)         takt_profile_##line
#define JPH_PROFILE_FUNCTION()         TAKT_FUNCTION()
#define JPH_PROFILE(name)              takt::Scope JPH_PROFILE_TAG2(here)(name)
#define JPH_PROFILE_THREAD_START(name) takt_thread_name(name)

namespace engine
{

int update(const char *job, int bodies);

class World
{
  public:
    int step(int bodies)
    {
        ZoneScoped;
        ZoneValue(bodies);
        ZoneValue(static_cast<std::uint64_t>(bodies));
        std::lock_guard<LockableBase(std::mutex)> guard(lock_);
        LockMark(lock_);
        return bodies + 1;
    }

  private:
    TracyLockable(std::mutex, lock_);
    TracyLockableN(std::recursive_mutex, other_, "another");
};

int update(const char *job, int bodies)
{
    JPH_PROFILE_THREAD_START("main");
    JPH_PROFILE_FUNCTION();
    JPH_PROFILE(job);
    ZoneScopedN("zones");
    ZoneText(job, 3);
    {
        ZoneScopedNC("colour", 0xFF0000);
        ZoneNamed(named, bodies > 1);
        ZoneNamedN(with_name, "name", true);
        ZoneTransientN(made, job, true);
        ZoneNameV(made, job, 3);
        TracyGpuZone("gpu");
    }
    World world;
    int result = world.step(bodies);
#if __cplusplus >= 201703L
    TracySharedLockable(std::shared_mutex, shared);
    {
        std::shared_lock<SharedLockableBase(std::shared_mutex)> reader(shared);
    }
    LockableName(shared, "shared", 6);
#endif
    TracyPlot("bodies", static_cast<int64_t>(bodies));
    TracyPlotConfig("bodies", 0, true, true, 0);
    TracyMessageL("message");
    TracyMessage(job, 2);
    TracyAlloc(&result, sizeof result);
    TracyFree(&result);
    TracyFiberEnter("fiber");
    TracyFiberLeave;
    tracy::SetThreadName("worker");
    FrameMarkStart("frame");
    FrameMarkEnd("frame");
    FrameMarkNamed("named");
    FrameMark;
    return result + (ZoneIsActive ? 1 : 0) + (TracyIsConnected ? 1 : 0);
}

} // namespace engine
