/* SPDX-License-Identifier: MIT */
/* link: cuda */
/* Error Log Management Functions: registered callbacks are never called. */
#include "sim_device.h"

static void never(void *data, CUlogLevel level, char *message, size_t length)
{
    (void)data, (void)level, (void)message, (void)length;
    CHECK(!"the driver has something to say");
}

/* cuLogsRegisterCallback: callback_out is optional; CUDA_ERROR_INVALID_VALUE. */
PART(a_callback_is_registered_before_cu_init_and_never_called)
{
    CUlogsCallbackHandle handle = NULL;
    EXPECT(cuLogsRegisterCallback(never, NULL, &handle), 0);
    EXPECT(cuLogsRegisterCallback(never, NULL, NULL), 0);
    EXPECT(cuLogsRegisterCallback(NULL, NULL, &handle), CUDA_ERROR_INVALID_VALUE);
    CHECK(handle);
    begin_cuda();
    EXPECT(cuMemFree_v2(1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuLogsUnregisterCallback(handle), 0);
    EXPECT(cuLogsUnregisterCallback(NULL), CUDA_ERROR_INVALID_VALUE);
}

SIM_MAIN()
