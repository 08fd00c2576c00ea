/* SPDX-License-Identifier: MIT */
// link: cudart13
/*
 * A small model in C++ whose allocations come through methods, templates, lambdas and inlined
 * calls. tests/golden/cpp.txt holds its stacks, with the line numbers of this file.
 */
#include "gpumemtrace/cuda/abi.h"

#include <cstdlib>

static volatile int keep; /* used after calls, to prevent tail calls */

namespace nn {
namespace {

inline void *raw(size_t bytes)
{
    void *block = nullptr;
    if (cudaMalloc(&block, bytes) != 0)
        std::abort();
    return block;
}

} // namespace

template <typename T> class Tensor {
public:
    __attribute__((noinline)) explicit Tensor(size_t count)
    {
        data_ = raw(count * sizeof(T));
        keep++;
    }

private:
    void *data_;
};

struct Layer {
    virtual ~Layer() = default;
    virtual void forward(size_t batch) = 0;
};

struct Linear : Layer {
    __attribute__((noinline)) void forward(size_t batch) override
    {
        Tensor<float> result(batch << 18);
        keep++;
    }
};

struct Dropout : Layer {
    __attribute__((noinline)) void forward(size_t batch) override
    {
        auto mask = [batch] { Tensor<char> bits(batch << 18); };
        mask();
        keep++;
    }
};

} // namespace nn

__attribute__((noinline)) static void step(nn::Layer *const *layers, int count)
{
    for (int i = 0; i < count; i++) {
        layers[i]->forward(2);
        keep++;
    }
}

int main()
{
    nn::Linear linear;
    nn::Dropout dropout;
    nn::Layer *layers[] = {&linear, &dropout};
    step(layers, 2);
    return keep > 0 ? 0 : 1;
}
