# SPDX-License-Identifier: MIT
"""Sets of parameters, of which only one is trained, in hand-written traces."""
import pytest

from support.pool_run import PoolRun
from support.run import load_json

MAIN = ("/home/me/train.py", 40, "main")
ADAM = "/usr/lib/python3/dist-packages/torch/optim/adam.py"
AUTOGRAD = "/usr/lib/python3/dist-packages/torch/autograd/__init__.py"
CHECKPOINT = "/usr/lib/python3/dist-packages/torch/utils/checkpoint.py"
SIZES = [30, 20, 10]


def made_by(line):
    return ("/home/me/train.py", 5, "Model.__init__"), ("/home/me/train.py", line, "make"), MAIN


class Training(PoolRun):
    """Makes two models, and trains those of which `trained` is true, for one step and a forward."""

    def __init__(self, path, sizes=(SIZES, SIZES), trained=(True, False)):
        super().__init__(path)
        self.models = list(zip(sizes, trained))
        with self.trace.phase("init"):
            for number, (model, _) in enumerate(self.models):
                for mib in model:
                    self.alloc(mib, *made_by(20 + number))
        self.trained = [mib for model, is_trained in self.models if is_trained for mib in model]

    def forward(self):
        with self.trace.phase("forward"):
            return [self.alloc(5, ("/home/me/train.py", 9, "Model.forward"), MAIN) for _ in range(4)]

    def call_backward(self, line):
        """Makes the gradient of the loss, on the thread that calls backward."""
        with self.trace.phase("backward"):
            root = (AUTOGRAD, 50, "_make_grads"), (AUTOGRAD, 340, "backward")
            self.free(self.alloc(1, *root, ("/home/me/train.py", line, "main")))

    def backward(self, mibs):
        with self.trace.phase("backward"):
            return [self.alloc(mib, "AccumulateGrad, backward (autograd)") for mib in mibs]

    def step(self):
        with self.trace.phase("optimizer"):
            for mib in self.trained:
                self.alloc(mib, (ADAM, 100, "Adam._init_group"), (ADAM, 50, "Adam.step"), MAIN)
                self.alloc(mib, (ADAM, 101, "Adam._init_group"), (ADAM, 50, "Adam.step"), MAIN)

    def one_step(self):
        self.free(*self.forward(), *self.backward(self.trained))
        self.step()

    def said(self, command):
        if not self.trace.path.exists():
            self.trace.write()
        texts = [row["text"] for row in load_json(command, self.trace.path)["verdict"] if row["role"] == "why"]
        return " ".join(text for text in texts if "of parameters" in text)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trace.db"


def test_a_frozen_model_of_the_size_of_the_trained_one_is_named_with_both_lines(path):
    run = Training(path)
    run.one_step()
    run.forward()
    said = run.said("peak")
    assert "60.00 MiB by train.py:21 make beside 60.00 MiB by train.py:20 make" in said
    assert said.endswith("only one of the two has gradients.")


def test_oom_names_it_too(path):
    run = Training(path, trained=(False, True))
    run.one_step()
    run.forward()
    with run.trace.phase("forward"):
        run.fail(500, ("/home/me/train.py", 9, "Model.forward"), MAIN)
    assert "second set of parameters is live, 60.00 MiB by train.py:21 make" in run.said("oom")


def test_two_models_that_are_both_trained_are_none(path):
    run = Training(path, trained=(True, True))
    run.one_step()
    run.forward()
    assert not run.said("peak")


def test_a_model_of_other_sizes_is_none(path):
    run = Training(path, sizes=(SIZES, [25, 25, 10]))
    run.one_step()
    run.forward()
    assert not run.said("peak")


def test_gradients_that_the_first_backward_has_not_finished_tell_nothing(path):
    run = Training(path, trained=(True, True))
    run.forward()
    run.backward(SIZES)
    assert not run.said("peak")


@pytest.mark.parametrize("then", ["forward", "step"])
def test_gradients_that_live_after_the_first_backward_tell_it(path, then):
    run = Training(path)
    run.free(*run.forward())
    run.backward(SIZES)
    getattr(run, then)()
    assert run.said("peak").endswith("only one of the two has gradients.")


def test_two_models_of_two_optimizers_are_none(path):
    run = Training(path, trained=(True, True))
    run.free(*run.forward(), *run.backward(run.trained))
    run.trained = SIZES
    run.step()
    run.forward()
    assert not run.said("peak")


def test_a_checkpoint_that_the_first_backward_computes_again_tells_nothing(path):
    run = Training(path, trained=(True, True))
    run.free(*run.forward())
    with run.trace.phase("backward"):
        run.backward(SIZES)
        for _ in range(4):
            run.alloc(50, ("/home/me/train.py", 9, "Model.forward"), (CHECKPOINT, 9, "unpack_hook"))
    assert not run.said("peak")


def test_a_forward_of_lines_that_never_ran_before_may_be_another_models_turn(path):
    run = Training(path)
    run.one_step()
    with run.trace.phase("forward"):
        run.alloc(5, ("/home/me/train.py", 13, "Other.forward"), MAIN)
        run.fail(900, ("/home/me/train.py", 13, "Other.forward"), MAIN)
    assert not run.said("oom")


@pytest.mark.parametrize("second_line, said", [(60, False), (50, True)])
def test_models_that_two_lines_train_in_turn_are_none(path, second_line, said):
    run = Training(path)
    for line in (50, second_line):
        kept = run.forward()
        run.call_backward(line)
        run.free(*kept, *run.backward(run.trained))
    run.forward()
    assert bool(run.said("peak")) == said


def test_two_layers_that_are_alike_are_no_sets(path):
    run = Training(path, sizes=([40, 20], [40, 20]))
    run.one_step()
    run.forward()
    assert not run.said("peak")


@pytest.mark.parametrize("trained", [0, 1, 2])
def test_a_third_set_is_named_because_any_of_the_three_may_be_the_trained_one(path, trained):
    run = Training(path, sizes=[SIZES] * 3, trained=[number == trained for number in range(3)])
    run.one_step()
    run.forward()
    assert run.said("peak") == (
        "3 like sets of parameters are live, 60.00 MiB by train.py:20 make, 60.00 MiB by train.py:21 make and "
        "60.00 MiB by train.py:22 make, and only one of them has gradients."
    )


def test_parameters_outside_the_sets_may_have_the_gradients(path):
    run = Training(path)
    with run.trace.phase("init"):
        for number, mib in enumerate(SIZES):
            run.alloc(mib, ("/home/me/train.py", 30 + number, "main"))
    run.one_step()
    run.forward()
    assert run.said("peak").endswith("at most one of the two has gradients.")
