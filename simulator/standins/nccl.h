/* SPDX-License-Identifier: MIT */
/*
 * A communicator of the stand-in for NCCL: this rank among others that are not there.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_H

struct communicator {
    int rank, rank_count;
};

#endif
