/* SPDX-License-Identifier: MIT */
/*
 * Finds the Python variables that keep memory alive. At a few moments, a Python program of ours
 * (walk.py) walks over the objects of the recorded program, without changing any of them. This room
 * is the only part of the recorder that takes the GIL.
 *
 *     first block of PyTorch ──pending call──► attach: atexit and PyTorch's observer of failures
 *     growth by a quarter    ──pending call──┐
 *     out of memory          ──observer──────┼──► walk ──► rows ──► ring
 *     signal                 ──pending call──┤
 *     gpumemtrace_holders, end of the program┘
 *
 * A pending call runs on Python's main thread between two instructions, with the GIL.
 */
#pragma once

#include <stdint.h>

/* Call it after each event of PyTorch's pool. change_bytes: the bytes of a new block, or minus the
 * bytes of a freed one. Callable from a hook, with any lock held. Keeps errno. */
void holders_note(int64_t change_bytes);
