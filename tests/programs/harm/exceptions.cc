// SPDX-License-Identifier: MIT
// link: cudart13
//
// Throws COUNT exceptions over 20 frames after a first CUDA call (so that the recorder is awake),
// prints CPU nanoseconds for one, and which library _Unwind_RaiseException belongs to.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

extern "C" int cudaMalloc(void **pointer, std::size_t bytes);

static int depth_reached;

static void throw_at(int depth)
{
    if (depth == 0)
        throw depth_reached;
    throw_at(depth - 1);
    depth_reached++; // not a tail call
}

static double cpu_ns()
{
    std::timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1000;
    void *block = nullptr;
    long caught = 0;
    if (cudaMalloc(&block, 1 << 20) != 0)
        return 3;
    const double start = cpu_ns();
    for (long i = 0; i < count; i++) {
        try {
            throw_at(20);
        } catch (int) {
            caught++;
        }
    }
    const double each = (cpu_ns() - start) / static_cast<double>(count);
    void *raise = dlsym(RTLD_DEFAULT, "_Unwind_RaiseException");
    Dl_info info;
    const bool known = raise != nullptr && dladdr(raise, &info) != 0;
    const char *slash = known ? std::strrchr(info.dli_fname, '/') : nullptr;
    std::printf("ns %.0f\nraised by %s\n", each, slash != nullptr ? slash + 1 : "?");
    return caught == count ? 0 : 4;
}
