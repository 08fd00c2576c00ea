/* SPDX-License-Identifier: MIT */
/* Both sides of the lending process. See lender.h. */
#include "matrix.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lender.h"

static bool spawn(struct lender *lender, int in, int out)
{
    char *const arguments[] = {(char[]){"matrix"}, (char[]){"lend"}, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    /* The path is not /proc/self/exe, because an emulated program must be started in the same
       way as this one. */
    const int status =
        posix_spawn(&lender->process, program_invocation_name, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return status == 0;
}

bool lender_start(struct lender *lender, CUipcMemHandle *handle)
{
    int stop[2], told[2];
    *lender = (struct lender){.stop = -1};
    if (pipe2(stop, O_CLOEXEC) || pipe2(told, O_CLOEXEC))
        return false;
    const bool started = spawn(lender, stop[0], told[1]);
    close(stop[0]);
    close(told[1]);
    lender->stop = stop[1];
    const bool lent = started && read(told[0], handle, sizeof *handle) == (ssize_t)sizeof *handle;
    close(told[0]);
    if (!lent)
        lender_stop(lender);
    return lent;
}

void lender_stop(struct lender *lender)
{
    close(lender->stop);
    if (lender->process > 0)
        waitpid(lender->process, NULL, 0);
}

int lender_main(const struct driver_api *api)
{
    CUcontext context = NULL;
    CUipcMemHandle handle;
    CUdeviceptr address = 0;
    char end;
    if (api->cuInit(0) || api->cuDevicePrimaryCtxRetain(&context, 0) ||
        api->cuCtxSetCurrent(context) || api->cuMemAlloc_v2(&address, LENT_BYTES) ||
        api->cuIpcGetMemHandle(&handle, address) ||
        write(STDOUT_FILENO, &handle, sizeof handle) != (ssize_t)sizeof handle)
        return 1;
    while (read(STDIN_FILENO, &end, 1) > 0)
        ;
    return api->cuMemFree_v2(address) != 0;
}
