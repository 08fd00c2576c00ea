/* SPDX-License-Identifier: MIT */
/*
 * The architectures that nvcc built a program's code for. It reads only the headers of a fat binary
 * and must not know the code.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_FATBIN_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_FATBIN_H

/*
 * Returns the architecture of the piece that a device of this capability would run: a binary of the
 * same major number, else PTX; in both cases the newest that is not newer than the device. If none
 * fits, a real device would refuse; this one takes the oldest piece. 0: no known piece. wrapped is
 * the argument of __cudaRegisterFatBinary. Architectures and capabilities are numbers as in sm_75.
 */
int fatbin_architecture(const void *wrapped, int capability);

#endif
