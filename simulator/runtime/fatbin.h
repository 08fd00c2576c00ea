/* SPDX-License-Identifier: MIT */
/*
 * Finds the architectures that nvcc compiled a program's code for. Reads only headers of the fat
 * binary.
 */
#pragma once

/*
 * Returns the architecture of the part that a device of this capability would run. It is machine
 * code of the same major number, or else PTX; in both cases it is the newest part that is not newer
 * than the device. If no part fits, a real device would fail, but this function returns the
 * architecture of the oldest part. 0: no part is known. wrapped: the argument of
 * __cudaRegisterFatBinary. Architectures and capabilities are numbers as in sm_75.
 */
int fatbin_architecture(const void *wrapped, int capability);
