# SPDX-License-Identifier: MIT
"""JAX: a compiled product."""
import jax
import jax.numpy as jnp

x = jnp.ones((1024, 1024), jnp.float32)
float(jax.jit(lambda x: (x @ x).sum())(x))
print("done on", jax.devices()[0].platform)
