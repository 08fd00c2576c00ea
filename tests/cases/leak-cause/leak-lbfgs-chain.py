# SPDX-License-Identifier: MIT
"""Relaxes positions with a limited-memory quasi-Newton method. --cut: detaches the histories from their graphs."""
import sys

import torch

CUT = "--cut" in sys.argv
ATOMS, HISTORY, STEPS = 60_000, 10, 40


def forces_of(positions, springs):
    energy = (positions @ springs).square().sum()
    return -torch.autograd.grad(energy, positions)[0]


def direction(forces, moves, changes):
    q = -forces
    for i in reversed(range(moves.shape[1])):
        move, change = moves[:, i], changes[:, i]
        rho = 1.0 / (move * change).sum()
        alpha = rho * (move * q).sum()
        q = q - alpha * change
    return -q


def relax(positions, springs):
    forces = forces_of(positions, springs)
    moves = torch.zeros(ATOMS, 0, 3, device="cuda")
    changes = torch.zeros(ATOMS, 0, 3, device="cuda")
    for step in range(STEPS):
        new_positions = positions + 0.01 * direction(forces, moves, changes)
        new_forces = forces_of(new_positions, springs)
        move = new_positions - positions
        if CUT:
            move = move.detach()
        grown_moves = torch.cat([moves, move.unsqueeze(1)], dim=1)
        grown_changes = torch.cat([changes, (forces - new_forces).unsqueeze(1)], dim=1)
        moves, changes = grown_moves[:, -HISTORY:], grown_changes[:, -HISTORY:]
        positions, forces = new_positions, new_forces
        if CUT:
            positions = positions.detach().requires_grad_()
        if step % 10 == 9:
            print(step + 1, torch.cuda.memory_allocated(), flush=True)
    return positions


relax(torch.randn(ATOMS, 3, device="cuda", requires_grad=True), torch.randn(3, 4, device="cuda"))
