/* SPDX-License-Identifier: MIT */
/*
 * What analyzer/util/size.c calls util/size.h when it is compiled into the simulator.
 */
#include "analyzer/util/size.h"
