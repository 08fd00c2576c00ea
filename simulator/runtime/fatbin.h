/* SPDX-License-Identifier: MIT */
/*
 * What architectures nvcc built a program's code for. It must not know what the code does, and does
 * not look into it: only the headers in front of each piece are read.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_FATBIN_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_FATBIN_H

/*
 * wrapped: what __cudaRegisterFatBinary was given. Architectures and capabilities are numbers as in
 * sm_75. Gives that of the piece which a device of this capability would run: a binary of the same
 * major number, else PTX, the newest that is not newer than the device. Where there is none a real
 * device would refuse; this one takes the oldest there is. 0: nothing that is known.
 */
int fatbin_architecture(const void *wrapped, int capability);

#endif
