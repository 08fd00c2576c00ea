/* SPDX-License-Identifier: MIT */
// link:
/*
 * Prints a stack of functions with mangled names: several forms of C++, and Rust's legacy and v0
 * forms, as names of plain functions.
 */
#include "print_stack.h"

#include <functional>

static volatile int keep; /* used after calls, to prevent tail calls */

extern "C" {
void rust_new() __asm__("_RNvNtCs1234_5train5model7forward");
void rust_old() __asm__("_ZN5train5model8backward17h0123456789abcdefE");
void c_clone() __asm__("c_name.constprop.0");
}

__attribute__((noinline)) void rust_new()
{
    PRINT_STACK();
    keep++;
}

__attribute__((noinline)) void rust_old()
{
    rust_new();
    keep++;
}

__attribute__((noinline)) void c_clone()
{
    rust_old();
    keep++;
}

namespace nn {
namespace {

struct Layer {
    __attribute__((noinline)) void forward(int)
    {
        c_clone();
        keep++;
    }
};

template <typename T> __attribute__((noinline)) void apply(T count)
{
    Layer().forward(static_cast<int>(count));
    keep++;
}

} // namespace

void run()
{
    std::function<void()> step = [] {
        apply<long>(1);
        keep++;
    };
    step();
    keep++;
}
} // namespace nn

int main()
{
    nn::run();
    return keep > 0 ? 0 : 1;
}
