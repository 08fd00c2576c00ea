/* SPDX-License-Identifier: MIT */
/*
 * The stream of a tensor. Just before PyTorch's allocator takes a block, it converts the thread's
 * current stream to the driver's by a function that other libraries can define. So the last result
 * of that function on this thread is the stream of the block. PyTorch is asked nothing.
 */
#include "gpumemtrace/event.h"
#include "torch.h"

/* c10::cuda::CUDAStream: a Device and a number, which is not the driver's stream. */
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
