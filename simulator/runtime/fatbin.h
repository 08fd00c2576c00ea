/* SPDX-License-Identifier: MIT */
/*
 * Finds the architectures that nvcc compiled a program's code for. Reads only headers of the fat
 * binary.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_FATBIN_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_FATBIN_H

/*
 * Returns the architecture of the part that a device of this capability would run: machine code of
 * the same major number, else PTX; in both cases the newest that is not newer than the device. If
 * none fits, returns the oldest part, where a real device would fail. 0: no part is known. wrapped
 * is the argument of __cudaRegisterFatBinary. Architectures and capabilities are numbers as in
 * sm_75.
 */
int fatbin_architecture(const void *wrapped, int capability);

#endif
