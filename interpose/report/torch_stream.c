/* SPDX-License-Identifier: MIT */
/*
 * Finds the stream of a tensor. Just before PyTorch's allocator takes a block, it calls a function
 * that converts the thread's current stream to the driver's stream. The recorder defines that
 * function and notes its result. So the last result of that function on this thread is the stream
 * of the block, and PyTorch need not be asked.
 */
#include "gpumemtrace/event.h"
#include "torch.h"

/* c10::cuda::CUDAStream: a Device and PyTorch's own number of the stream, which is not the driver's
 * stream. */
struct cuda_stream {
    int8_t device_type, device_index;
    int64_t id;
};

struct last_stream {
    uint64_t stream;
    int device_after; /* device + 1; 0: none yet */
};
static _Thread_local struct last_stream last GMT_TLS_INITIAL_EXEC;

uint64_t torch_stream(int device)
{
    return last.device_after == device + 1 ? last.stream : STREAM_UNKNOWN;
}

/* cudaStream_t c10::cuda::CUDAStream::stream() const */
TORCH_FUNCTION(void *, _ZNK3c104cuda10CUDAStream6streamEv, (const struct cuda_stream *current),
               "libc10_cuda.so", return NULL, {
                   void *const stream = real(current);
                   last.stream = (uint64_t)(uintptr_t)stream;
                   last.device_after = current->device_index + 1;
                   return stream;
               })
