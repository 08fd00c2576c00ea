/* SPDX-License-Identifier: MIT */
/* The results that Python's variables hold after their last reader has run. */
#pragma once

#include "plan.h"

/* Plans the holds of variables (struct layer) and of callers. A caller holds a module's argument
 * until the module returns. */
void plan_holds(struct plan *plan);
