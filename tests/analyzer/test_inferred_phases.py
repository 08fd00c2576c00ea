# SPDX-License-Identifier: MIT
"""Phases that the program does not name are inferred from the stacks of allocations."""
import pytest

from support.run import load_json, run_command
from support.tracefile import MIB

TORCH = "/venv/lib/python3.12/site-packages/torch"
MODULE = f"{TORCH}/nn/modules/module.py"
MAIN = ("/home/me/train.py", 3, "<module>")

# The frames are innermost first, the order in which a recorder writes them.
STACKS = {
    "init": [(MODULE, 900, "Module._apply"), (MODULE, 1300, "Module.cuda"), MAIN],
    "copied": [(f"{TORCH}/_tensor.py", 170, "Tensor.__deepcopy__"), ("/usr/lib/python3.12/copy.py", 143, "deepcopy"),
               (f"{TORCH}/optim/swa_utils.py", 230, "AveragedModel.__init__"), MAIN],
    "created": [("/home/me/model.py", 9, "Mine.__init__"), MAIN],
    "forward": [(f"{TORCH}/nn/functional.py", 9, "linear"), (MODULE, 1700, "Module._call_impl"), MAIN],
    "loss": [(f"{TORCH}/nn/functional.py", 3000, "cross_entropy"), MAIN],
    "backward": ["backward (autograd)"],
    "root of backward": [(f"{TORCH}/autograd/__init__.py", 200, "_make_grads"),
                         (f"{TORCH}/_tensor.py", 600, "Tensor.backward"), MAIN],
    "recomputed": [(MODULE, 1700, "Module._call_impl"), (f"{TORCH}/utils/checkpoint.py", 9, "f"),
                   "backward (autograd)"],
    "optimizer": [(f"{TORCH}/optim/adam.py", 100, "Adam._init_group"),
                  (f"{TORCH}/optim/optimizer.py", 480, "Optimizer.profile_hook_step.<locals>.wrapper"), MAIN],
    "in the step": [(f"{TORCH}/optim/adam.py", 500, "_multi_tensor_adam"),
                    (f"{TORCH}/optim/optimizer.py", 480, "Optimizer.profile_hook_step.<locals>.wrapper"), MAIN],
    "clipping": [(f"{TORCH}/nn/utils/clip_grad.py", 95, "_get_total_norm"), ("/home/me/train.py", 8, "train"), MAIN],
    "closure": [(MODULE, 1700, "Module._call_impl"), ("/home/me/train.py", 40, "closure"),
                (f"{TORCH}/optim/lbfgs.py", 100, "LBFGS.step"), MAIN],
    "loss of a closure": [("/venv/lightning/automatic.py", 59, "ClosureResult._clone_loss"), ("/venv/lightning/automatic.py", 131, "Closure.closure"),
                          (f"{TORCH}/optim/adamw.py", 100, "AdamW.step"), MAIN],
    "scaler": [(f"{TORCH}/amp/grad_scaler.py", 168, "GradScaler._lazy_init_scale_growth_tracker"),
               (f"{TORCH}/amp/grad_scaler.py", 208, "GradScaler.scale"), MAIN],
    "unscaled": [(f"{TORCH}/amp/grad_scaler.py", 281, "GradScaler._unscale_grads_"),
                 (f"{TORCH}/amp/grad_scaler.py", 340, "GradScaler.unscale_"), MAIN],
    "loader": [("/home/me/data.py", 9, "Set.__getitem__"), (f"{TORCH}/utils/data/dataloader.py", 7, "f"), MAIN],
    "loader of accelerate": [("/lib/accelerate/utils/operations.py", 160, "send_to_device"),
                             ("/lib/accelerate/data_loader.py", 570, "DataLoaderShard.__iter__"), MAIN],
    "batch of Lightning": [("/lib/lightning/fabric/utilities/apply_func.py", 104, "move_data_to_device"),
                           ("/lib/lightning/pytorch/core/hooks.py", 612, "DataHooks.transfer_batch_to_device"), MAIN],
    "batch of Fabric": [("/lib/lightning/fabric/utilities/apply_func.py", 104, "move_data_to_device"),
                        ("/lib/lightning/fabric/wrappers.py", 327, "_FabricDataLoader.__iter__"), MAIN],
    "metric of Lightning": [("/lib/lightning/fabric/utilities/apply_func.py", 104, "move_data_to_device"),
                            ("/lib/lightning/pytorch/trainer/connectors/logger_connector/result.py", 514, "_ResultCollection.to"), MAIN],
    "own": [("/home/me/train.py", 12, "main"), MAIN],
    "native": [0x1234],
}


def take(trace, name, size=MIB, **columns):
    """Allocates memory with the stack that has this name in STACKS."""
    return trace.alloc(size, stack=trace.stack(*STACKS[name]), **columns)


def rows(trace):
    device = load_json("phases", trace.write())["devices"][0]
    return {row["path"]: row for row in device["phases"]}


def taken(trace):
    """Returns {phase: MiB allocated in it}."""
    return {name: row["allocated_bytes"] // MIB for name, row in rows(trace).items()}


@pytest.mark.parametrize(
    "stack, phase",
    [("init", "init"), ("copied", "init"), ("forward", "forward"), ("loss", "forward"), ("backward", "backward"),
     ("root of backward", "backward"), ("recomputed", "backward"), ("optimizer", "optimizer"),
     ("closure", "forward"), ("loss of a closure", "forward"), ("scaler", "forward"), ("unscaled", "optimizer"), ("loader", "data"),
     ("loader of accelerate", "data"), ("batch of Lightning", "data"), ("batch of Fabric", "data")],
)
def test_a_stack_tells_its_phase(trace, stack, phase):
    take(trace, stack)
    (row,) = rows(trace).values()
    assert (row["name"], row["source"], row["allocated_bytes"]) == (phase, "inferred", MIB)


@pytest.mark.parametrize("frame", [
    ("/lib/transformers/cache_utils.py", 105, "DynamicLayer.update"),
    ("/lib/vllm/v1/worker/gpu_model_runner.py", 3800, "GPUModelRunner._allocate_kv_cache_tensors"),
])  # fmt: skip
def test_what_keeps_keys_and_values_is_the_kv_cache(trace, frame):
    trace.tensor(trace.alloc(2 * MIB), MIB, stack=trace.stack(frame, (MODULE, 1700, "Module._call_impl"), MAIN))
    (device,) = load_json("peak", trace.write())["devices"]
    assert ("kv_cache", MIB) in [(row["category"], row["bytes"]) for row in device["categories"]]


def test_stacks_without_a_framework_tell_nothing(trace):
    take(trace, "own")
    take(trace, "created")
    take(trace, "native")
    assert taken(trace) == {None: 3}


def test_a_class_of_the_programs_own_is_init_where_a_framework_is_used(trace):
    take(trace, "created")
    take(trace, "forward")
    assert taken(trace) == {"init": 1, "forward": 1}


def test_a_constructor_or_a_metric_inside_a_forward_does_not_change_the_phase(trace):
    for stack in ("init", "forward", "created", "metric of Lightning", "backward"):
        take(trace, stack)
    assert taken(trace) == {"init": 1, "forward": 3, "backward": 1}


def called(trace, line, recorded=False):
    """Allocates a tensor in a call of a module in this line of the program, or in these lines, innermost first."""
    trace.event("autograd-node", address=1, object=7 * recorded, size=0)
    lines = line if isinstance(line, tuple) else (line,)
    stack = trace.stack((MODULE, 1700, "Module._call_impl"), *(("/home/me/train.py", line, f"at_{line}") for line in lines))
    trace.tensor(trace.alloc(2 * MIB, stack=stack), 2 * MIB, stack=stack)


def test_forwards_without_a_backward_are_told_apart_by_the_memory_that_the_program_takes_between_them(trace):
    trace.meta["tells_autograd"] = 1
    for line, recorded in ((10, True), (20, False), (20, False), (10, True)):
        take(trace, "own")
        called(trace, line, recorded)
        if recorded:
            take(trace, "backward")
            take(trace, "optimizer")
    found = rows(trace)
    assert (found["forward"]["count"], found["backward"]["count"]) == (4, 2)


@pytest.mark.parametrize("lines, count", [
    ((20, 20, None, 20), 2),  # line 20 runs again without memory of the program, then with
    ((20, None, 21, None, 22), 1),  # parts of one model, each in a line of its own
    ((20, None, 21, None, 21), 2),
    (((20, 8), None, (20, 8), None, (20, 9)), 3),  # the function is called for another model
    (((20, 8), None, (20, 9)), 1),  # two models of one forward, until it repeats
    ((20, None, 20, None, 21), 2),
])  # fmt: skip
def test_a_call_of_a_module_begins_a_forward_if_its_line_ran_before(trace, lines, count):
    trace.meta["tells_autograd"] = 1
    for line in lines:
        if line:
            called(trace, line)
        else:
            take(trace, "own")
    assert rows(trace)["forward"]["count"] == count


def test_a_forward_that_autograd_records_goes_on_until_its_backward(trace):
    trace.meta["tells_autograd"] = 1
    for _ in range(3):
        called(trace, 20, recorded=True)
        take(trace, "own")
    assert rows(trace)["forward"]["count"] == 1


def test_what_the_program_takes_itself_after_an_iteration_or_the_model_is_data(trace):
    for stack in ("init", "own", "forward", "own", "backward", "own", "forward", "optimizer", "own"):
        take(trace, stack)
    assert taken(trace) == {"init": 1, "data": 3, "forward": 3, "backward": 1, "optimizer": 1}


def test_what_autograd_records_of_the_programs_own_functions_is_forward(trace):
    """The model is not a Module. An allocation during a backward node does not change the phase, and neither does an
    allocation without a node."""
    take(trace, "optimizer")
    for number, backward in ((0, 0), (7, 0), (0, 0), (8, 1)):
        trace.event("autograd-node", address=1, object=number, size=backward)
        trace.tensor(trace.alloc(2 * MIB), 2 * MIB, stack=trace.stack(*STACKS["own"]))
    device = load_json("phases", trace.write())["devices"][0]
    pool = [row for row in device["phases"] if row["layer"] == "pool" and row["allocated_bytes"]]
    # The phase forward continues to the end.
    assert {row["path"]: row["allocated_bytes"] // MIB for row in pool} == {"data": 2, "forward": 6}


def test_frees_and_stacks_that_say_nothing_take_the_current_phase(trace):
    block = take(trace, "init")
    take(trace, "backward")
    trace.free(block)
    trace.alloc(MIB)
    take(trace, "native")
    found = rows(trace)
    assert (found["backward"]["allocated_bytes"], found["backward"]["freed_bytes"]) == (3 * MIB, MIB)
    assert found["init"]["kept_bytes"] == MIB


def test_memory_of_the_host_begins_no_phase(trace):
    take(trace, "forward")
    take(trace, "loader", memory="pinned")
    trace.alloc(MIB)
    assert taken(trace) == {"forward": 2}


def test_a_named_phase_goes_before_an_inferred_one_and_is_not_inside_it(trace):
    take(trace, "forward")
    with trace.phase("mine"):
        take(trace, "backward")
        take(trace, "optimizer")
    trace.alloc(MIB)
    found = rows(trace)
    assert found["mine"]["allocated_bytes"] == 2 * MIB
    assert found["mine"]["source"] == "api"
    assert found["optimizer"]["allocated_bytes"] == MIB


def test_people_do_not_read_of_an_inferred_phase_whose_allocations_are_all_in_named_ones(trace):
    take(trace, "forward")
    with trace.phase("mine"):
        held = take(trace, "backward")
    trace.free(held)  # the free happens in the inferred backward
    assert rows(trace)["backward"]["allocated_bytes"] == 0
    text = run_command("phases", trace.path).stdout
    shown = [line.split()[0] for line in text.split("Phases\n")[1].split("\n\n")[0].splitlines()[1:]]
    assert shown[:2] == ["forward", "mine"] and "backward" not in shown


def train(trace, optimizer, batches=6):
    """Trains for some batches. optimizer(n) is true if the optimizer allocates after batch n."""
    for batch in range(batches):
        take(trace, "forward")  # this tensor is kept, so that each step keeps one more
        trace.free(take(trace, "backward"))
        if optimizer(batch):
            trace.free(take(trace, "optimizer"))


@pytest.mark.parametrize("optimizer", [True, False])
def test_steps_end_with_the_optimizer_or_else_with_backward(trace, optimizer):
    train(trace, lambda batch: optimizer)
    (grown,) = load_json("leaks", trace.write())["devices"][0]["leaks"]["growing"]
    assert grown["steps"] == 6


def steps_of(trace):
    return load_json("steps", trace.write())["devices"][0]["steps"]


def test_a_last_phase_that_allocates_less_than_those_before_it_ends_no_step(trace):
    for births in (2, 3, 2, 1):
        take(trace, "forward")
        for _ in range(births):
            trace.free(take(trace, "backward"))
    assert steps_of(trace)["step_count"] == 3


def test_the_last_step_ends_before_the_program_frees_what_it_keeps(trace):
    weights = [take(trace, "init") for _ in range(4)]
    for _ in range(4):
        held = take(trace, "forward")
        backward = take(trace, "backward")
        trace.free(held)
        trace.free(backward)
    for block in weights:
        trace.free(block)
    found = steps_of(trace)
    assert (found["step_count"], found["steps"][-1]["end_bytes"]) == (4, 4 * MIB)


def train_from_zero_grad(trace, steps, frees):
    """Frees the gradients of a step at the begin of the next one, so that the last ones live to the end."""
    gradients = []
    for _ in range(steps):
        while gradients:
            trace.free(gradients.pop())
        trace.free(take(trace, "forward"))
        gradients = [take(trace, "backward"), take(trace, "backward")]
        for _ in range(frees):
            trace.free(take(trace, "optimizer"))
        trace.free(take(trace, "optimizer"))


@pytest.mark.parametrize("frees", [0, 1])
def test_the_last_step_ends_although_only_the_next_one_would_free_its_gradients(trace, frees):
    train_from_zero_grad(trace, 4, frees)
    assert steps_of(trace)["step_count"] == 4


def test_with_a_cut_end_growth_needs_one_step_more(trace):
    train_from_zero_grad(trace, 4, 1)
    assert load_json("leaks", trace.write())["answer"][0] == (
        "Cannot tell whether memory leaks: 4 steps are too few, at least 5 are needed.")  # fmt: skip


def test_growth_leaves_out_the_gradients_that_live_at_the_last_end(trace):
    train_from_zero_grad(trace, 6, 1)
    answer = load_json("leaks", trace.write())
    (growth,) = answer["devices"][0]["leaks"]["growth"]
    assert (growth["steps"], growth["verdict"], answer["verdict"][0]["text"]) == (
        6, "no leak", "No leak: live bytes do not grow from step to step (6 steps).")  # fmt: skip


def test_a_last_phase_that_a_failure_cut_short_ends_no_step(trace):
    for _ in range(4):
        take(trace, "forward")
        for _ in range(2):
            trace.free(take(trace, "backward"))
    take(trace, "forward")
    trace.free(take(trace, "backward"))
    trace.alloc(MIB, result=2, stack=trace.stack(*STACKS["backward"]))
    assert steps_of(trace)["step_count"] == 4


@pytest.mark.parametrize(
    "optimizer, ends_with, bytes_per_step",
    [
        # Gradients are accumulated over four batches, and later over eight.
        (lambda batch: batch % 4 == 3 if batch < 32 else batch % 8 == 7, "the optimizer", 4 * MIB),
        # SGD with momentum allocates in its first step only.
        (lambda batch: batch == 0, "backward", MIB),
        (lambda batch: batch == 3, "backward", MIB),
    ],
)
def test_an_optimizer_that_allocates_no_more_ends_no_steps(trace, optimizer, ends_with, bytes_per_step):
    train(trace, optimizer, 40)
    (growth,) = load_json("leaks", trace.write())["devices"][0]["leaks"]["growth"]
    assert growth["steps_end_with"] == f"{ends_with}, as the stacks show it"
    assert growth["leak_bytes_per_step"] == bytes_per_step


# --- categories ---


def categories(trace, *options):
    (device,) = load_json("peak", trace.write(), "--layer=pool", *options)["devices"]
    return {row["category"]: row["bytes"] // MIB for row in device["categories"]}


def tensor(trace, name, number, **columns):
    return trace.tensor(0x1000000000 + number * MIB, MIB, stack=trace.stack(*STACKS[name]), **columns)


def test_what_outlives_backward_is_gradients(trace):
    tensor(trace, "backward", 0)
    trace.tensor_free(tensor(trace, "backward", 1))
    tensor(trace, "forward", 2)
    assert categories(trace, "--at=2") == {"gradients": 1, "temporaries": 1}


def test_what_another_thread_frees_has_outlived_backward(trace):
    """zero_grad() runs after an optimizer that allocates nothing. No allocation shows that backward is over."""
    trace.thread_names[2] = "pt_autograd_0"
    gradient = tensor(trace, "backward", 0, thread=2)
    root = tensor(trace, "root of backward", 1)
    trace.tensor_free(root, thread=2)
    trace.tensor_free(gradient)
    assert categories(trace, "--at=2") == {"gradients": 1, "temporaries": 1}


def test_states_are_the_optimizers_also_where_the_program_dies_in_its_first_step(trace):
    blocks = [tensor(trace, "optimizer", 0), tensor(trace, "in the step", 1)]
    for block in blocks:
        trace.tensor_free(block)
    assert categories(trace, "--at=2") == {"optimizer": 1, "temporaries": 1}


def test_the_norm_of_clipped_gradients_is_no_state_of_an_optimizer(trace):
    tensor(trace, "clipping", 0)
    tensor(trace, "forward", 1)
    assert categories(trace, "--at=1") == {"other": 1}


@pytest.mark.parametrize(
    "function, category",
    [("at::cuda::getCurrentCUDABlasHandle()", "workspace"), ("at::cuda::blas::gemm<float>", "workspace"),
     ("at::native::raw_cudnn_convolution_forward_out", "workspace"),
     ("c10d::ProcessGroupNCCL::allreduce", "communication"), ("at::native::linear", "other")],
)
def test_a_function_of_the_framework_tells_more_than_the_phase(trace, function, category):
    trace.rows["module"].append((1, f"{TORCH}/lib/libtorch_cuda.so", None, 0x1000, 0x1000, 0x9000))
    trace.name(0x2000, (None, None, function))
    trace.tensor(0x1000000000, MIB, stack=trace.stack(0x2000, *STACKS["forward"]))
    assert categories(trace) == {category: 1}


@pytest.mark.parametrize(
    "operators, category",
    [(["empty_memory_format::redispatch", "empty_memory_format::call", "addmm::redispatch"], "workspace"),
     (["empty_memory_format::call", "clone::call", "addmm::call"], "other"), (["addmm::call"], "other")],
)
def test_what_addmm_calls_empty_for_is_a_workspace_though_its_function_has_no_name(trace, operators, category):
    trace.rows["module"].append((1, f"{TORCH}/lib/libtorch_cpu.so", None, 0x1000, 0x1000, 0x9000))
    places = [0x2000 + 0x100 * number for number in range(len(operators))]
    for place, operator in zip(places, operators):
        trace.name(place, (None, None, f"at::_ops::{operator}"))
    trace.tensor(0x1000000000, MIB, stack=trace.stack(*places, 0x8000, *STACKS["forward"]))
    assert categories(trace) == {category: 1}


def operators(trace, *names):
    """Returns the native frames of these functions of PyTorch, innermost first."""
    if not trace.rows["module"]:
        trace.rows["module"].append((1, f"{TORCH}/lib/libtorch_cpu.so", None, 0x1000, 0x1000, 0x9000))
    places = [0x2000 + 0x100 * (sum(map(ord, name)) % 64) for name in names]
    for place, name in zip(places, names):
        trace.name(place, (None, None, name))
    return places


def own(trace, operator, number, size=MIB):
    """Makes a tensor in the program's own line with this operator. Returns its address."""
    names = ["at::_ops::empty_memory_format::call", f"at::_ops::{operator}::call"]
    stack = trace.stack(*operators(trace, *names), number + 0x8100, *STACKS["own"])
    return trace.tensor(0x1000000000 + number * MIB, size, stack=stack)


@pytest.mark.parametrize(
    "operator, category",
    [("randn", "input"), ("to_device", "input"), ("_to_copy", "input"), ("tanh", "other"), ("matmul", "other"),
     ("zeros", "other"), ("empty_memory_format", "other"), ("cat", "other")],
)
def test_a_result_that_the_program_computed_or_fills_later_is_no_input(trace, operator, category):
    tensor(trace, "init", 0)
    own(trace, operator, 1, 2 * MIB)
    assert categories(trace) == {"parameters": 1, category: 2}


@pytest.mark.parametrize("operator", ["zeros", "_to_copy", "cat", "stack"])
@pytest.mark.parametrize("backwards, category", [(0, "temporaries"), (1, "input"), (2, "other")])
def test_a_constant_or_a_tensor_of_a_parameters_size_is_an_input_if_one_backward_uses_it_up(trace, operator, backwards, category):
    tensor(trace, "init", 0)
    batch = own(trace, operator, 1)
    for number in range(backwards):
        tensor(trace, "forward", 8)
        trace.tensor(0x1001000000, 3 * MIB, stack=trace.stack(*STACKS["backward"]))
    own(trace, "tanh", 16)
    trace.tensor_free(batch)
    assert categories(trace, "--at=2") == {"parameters": 1, category: 1}


@pytest.mark.parametrize("operator, category", [("_to_copy", "input"), ("tanh", "activations")])
def test_the_first_batch_after_an_evaluation_is_an_input(trace, operator, category):
    trace.meta["tells_autograd"] = 1
    trace.tensor_free(tensor(trace, "forward", 0))
    batch = own(trace, operator, 1)
    trace.tensor_free(tensor(trace, "backward", 2))
    own(trace, "tanh", 3)
    trace.tensor_free(batch)
    assert categories(trace, "--at=3") == {category: 1}


def train_two_steps(trace, gradients):
    """Trains two steps, each with so many gradients."""
    for _ in range(2):
        tensor(trace, "forward", 100)
        kept = [tensor(trace, "backward", 110 + number) for number in range(gradients)]
        own(trace, "tanh", 101)
        for gradient in kept:
            trace.tensor_free(gradient)


@pytest.mark.parametrize("gradients, category", [(2, {"parameters": 2, "optimizer": 4}), (1, {"input": 2, "other": 4}), (3, {"input": 2, "other": 4})])
def test_weights_and_states_that_the_program_made_itself_are_known_by_the_number_of_gradients(trace, gradients, category):
    trace.free(trace.alloc(MIB, stack=trace.stack(*STACKS["loader"])))  # from now on its own lines make data
    for number in range(2):
        own(trace, "randn", number)
    for number in range(2, 6):
        own(trace, "zeros_like", number)
    train_two_steps(trace, gradients)
    assert categories(trace, "--at=8") == category


def test_a_tensor_that_a_checkpoint_computes_again_is_an_activation(trace):
    trace.event("autograd-node", address=1, object=7, size=0)
    trace.tensor_free(tensor(trace, "recomputed", 0))
    trace.event("autograd-node", address=1, object=0, size=0)
    trace.tensor_free(tensor(trace, "recomputed", 1))
    tensor(trace, "forward", 2)
    assert categories(trace, "--at=2") == {"activations": 1}


@pytest.mark.parametrize("gradient, category", [(2 * MIB, "parameters"), (MIB, "other"), (None, "other")])
def test_what_a_constructor_of_the_program_made_is_a_parameter_if_a_gradient_has_its_size(trace, gradient, category):
    trace.tensor(0x1000000000, 2 * MIB, stack=trace.stack(*STACKS["created"]))
    tensor(trace, "forward", 8)
    if gradient:
        trace.tensor(0x1001000000, gradient, stack=trace.stack(*STACKS["backward"]))
        trace.tensor_free(tensor(trace, "in the step", 32))
    assert categories(trace, "--at=1") == {category: 2}


@pytest.mark.parametrize("name", ["iteration", "forward"])
def test_a_range_around_a_whole_step_hides_neither_backward_nor_the_optimizer(trace, name):
    with trace.phase(name):
        tensor(trace, "forward", 0)
        tensor(trace, "backward", 1)
        tensor(trace, "optimizer", 2)
    assert categories(trace) == {"activations": 1, "gradients": 1, "optimizer": 1}


def test_a_range_inside_a_backward_keeps_its_own_purpose(trace):
    tensor(trace, "backward", 0)
    with trace.phase("allreduce"):
        tensor(trace, "backward", 1)
    assert categories(trace) == {"gradients": 1, "communication": 1}


def test_a_cache_that_a_forward_without_backward_keeps_is_neither_activation_nor_temporary(trace):
    """The cache of a step dies after the next step has made its own. The other tensor dies inside its step."""
    old = None
    for step in range(3):
        new = tensor(trace, "forward", step)
        if old:
            trace.tensor_free(old)
        trace.tensor_free(tensor(trace, "loss", 8 + step))
        old = new
    assert categories(trace, "--at=6") == {"other": 1, "temporaries": 1}


@pytest.mark.parametrize("recorded, category", [(True, "activations"), (False, "other")])
def test_a_run_that_died_before_backward_had_activations_if_autograd_recorded(trace, recorded, category):
    trace.meta["tells_autograd"] = 1
    if recorded:
        trace.event("autograd-node", address=1, object=7, size=0)
    tensor(trace, "forward", 0)
    trace.alloc(64 * MIB, result=2, stack=trace.stack(*STACKS["forward"]))
    assert categories(trace, "--at=end") == {category: 1}


CAST = ["at::_ops::_to_copy::call", "at::autocast::cached_cast"]


@pytest.mark.parametrize("weight, sizes, category", [
    (2, (1, 1), "temporaries"), (2, (1, 2), "other"),
    (4, (2, 3), "temporaries"), (4, (2, 4), "other"),  # a larger block may have a rest of at most 1 MiB, which no tensor uses
])  # fmt: skip
def test_what_autocast_casts_for_an_argument_that_is_always_a_weight_is_a_copy_of_weights(trace, weight, sizes, category):
    trace.tensor(0x1000000000, weight * MIB, stack=trace.stack(*STACKS["init"]))
    for number, size in enumerate(sizes, 1):
        stack = trace.stack(*operators(trace, *CAST), 0x8000, *STACKS["forward"])
        trace.tensor(0x1000000000 + 4 * number * MIB, size * MIB, stack=stack)
    assert categories(trace) == {"parameters": weight, category: sum(sizes)}
    said = "16-bit copies of weights that autocast made" in run_command("peak", trace.path).stdout.replace("\n", " ")
    assert said == (category == "temporaries")


@pytest.mark.parametrize("first", [0, 1])
def test_an_optimizer_that_allocates_once_is_known_by_the_clipping_before_it(trace, first):
    """A fused AdamW makes its state in its first step, which a gradient scaler may skip, and allocates nothing more."""
    clip = trace.stack(*STACKS["clipping"])
    for step in range(5):
        trace.free(trace.alloc(512, stack=trace.stack("backward (autograd)")))
        trace.free(trace.alloc(512, stack=clip))
        if step == first:
            trace.alloc(MIB, stack=trace.stack(("/lib/torch/optim/adam.py", 179, "Adam.step"), ("train.py", 9, "train")))
        trace.free(trace.alloc(512, stack=trace.stack(("train.py", 5, "load"))))
    found = load_json("steps", trace.write())["devices"][0]["steps"]
    assert (found["step_count"], found["steps_end_with"]) == (5, "the optimizer, as the stacks show it")


@pytest.mark.parametrize("name", ["own", "created", "loader"])
def test_a_thread_beside_the_model_ends_no_phase(trace, name):
    """A thread that loads the next batch runs in any phase. Its memory is of none of them."""
    take(trace, "forward")
    for _ in range(3):
        take(trace, "backward", thread=3)
        take(trace, name, thread=2)
    take(trace, "own")
    found = {path: (row["count"], row["allocated_bytes"] // MIB) for path, row in rows(trace).items()}
    assert found == {"forward": (1, 1), "backward": (1, 3), "data": (1, 1), None: (1, 3)}


def test_the_thread_that_runs_the_model_changes(trace):
    take(trace, "init")
    take(trace, "forward", thread=2)
    take(trace, "backward", thread=3)
    take(trace, "own", thread=2)
    assert taken(trace) == {"init": 1, "forward": 1, "backward": 1, "data": 1}


def test_the_thread_of_autograd_that_computes_a_checkpoint_again_does_not_lead(trace):
    for step in range(3):
        for number, (name, thread) in enumerate((("loader", 1), ("forward", 1), ("recomputed", 2), ("backward", 2))):
            trace.event("autograd-node", address=1, object=7 if number in (1, 2) else 0, size=0, thread=thread)
            tensor(trace, name, 4 * step + number, thread=thread)
    assert {path: row["count"] for path, row in rows(trace).items()} == {"data": 3, "forward": 3, "backward": 3}


@pytest.mark.parametrize("with_step, steps", [((3, 7), 2), ((3,), 8), ((0, 2, 3, 5, 6), 8)])
def test_the_clipping_of_a_micro_batch_ends_no_step(trace, with_step, steps):
    """Unless the same clipping was seen in two phases with an optimizer's step, and in as many without."""
    for micro in range(9):
        trace.free(trace.alloc(512, stack=trace.stack("backward (autograd)")))
        if micro == 8:
            break
        trace.free(trace.alloc(512, stack=trace.stack(*STACKS["clipping"])))
        if micro in with_step:
            trace.free(trace.alloc(512, stack=trace.stack(("/lib/torch/optim/adam.py", 179, "Adam.step"), MAIN)))
        trace.free(trace.alloc(512, stack=trace.stack(("train.py", 5, "load"))))
    assert load_json("steps", trace.write())["devices"][0]["steps"]["step_count"] == steps


@pytest.mark.parametrize("kept, steps", [(4, 3), (1, 12)])
def test_the_gradients_tell_the_micro_batches_of_an_optimizer_that_allocates_nothing(trace, kept, steps):
    """Plain SGD: each backward is followed by clipping. Gradients are dropped after every `kept` backwards."""
    for micro in range(12):
        if micro % kept == 0:
            gradient = trace.alloc(MIB, stack=trace.stack("backward (autograd)"))
        trace.free(trace.alloc(512, stack=trace.stack("backward (autograd)")))
        trace.free(trace.alloc(512, stack=trace.stack(*STACKS["clipping"])))
        if micro % kept == kept - 1:
            trace.free(gradient)
        trace.free(trace.alloc(512, stack=trace.stack("load")))
    assert load_json("steps", trace.write())["devices"][0]["steps"]["step_count"] == steps
