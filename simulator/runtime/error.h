/* SPDX-License-Identifier: MIT */
/*
 * Errors of the runtime: conversion of the driver's results, and the last errors of each thread and
 * of the process. Thread-safe.
 */
#pragma once

#include "gpumemtrace/cuda/abi.h"

/* Converts a result of the driver. */
cudaError_t error_of_driver(CUresult result);
/* Stores the thread's last error and returns it. */
cudaError_t error_remember(cudaError_t error);
/* The first fatal error of this process; cudaSuccess: none. */
cudaError_t error_fatal(void);

/* The body of the functions in missing.S. */
cudaError_t runtime_function_missing(const char *name);
