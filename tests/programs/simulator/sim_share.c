/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * One of several processes on the same simulated card: prints the result of cuInit, then executes
 * each line of stdin and prints its result and the free memory:
 *
 *     alloc MIB      free      look
 */
#include "gpumemtrace/cuda/abi.h"
#include "sim_check.h"

static CUdeviceptr block;

static int obey(const char *line)
{
    if (!strncmp(line, "alloc ", 6))
        return (int)cuMemAlloc_v2(&block, strtoul(line + 6, NULL, 10) * MIB);
    return strncmp(line, "free", 4) ? 0 : (int)cuMemFree_v2(block);
}

int main(void)
{
    char line[100];
    CUcontext context;
    int result = (int)cuInit(0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("init %d\n", result);
    if (result)
        return 0;
    while (fgets(line, sizeof line, stdin)) {
        size_t left = 0, total = 0;
        if (cuMemGetInfo_v2(&left, &total))
            EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
        result = obey(line);
        EXPECT(cuMemGetInfo_v2(&left, &total), 0);
        printf("%d %zu\n", result, left / MIB);
    }
    return 0;
}
