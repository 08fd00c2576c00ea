# SPDX-License-Identifier: MIT
"""Stacks as the text output prints them: the program's own line comes first, and all other frames are folded into
counts."""
import pytest

from support.run import load_json, run_command
from support.tracefile import Trace

PYTHON = "/usr/bin/python3.11"
STDLIB = "/usr/lib/python3.11"
PACKAGES = "/home/me/venv/lib/python3.11/site-packages"
TORCH = f"{PACKAGES}/torch"


class Stack:
    """A trace of one allocation. Its frames are added from the innermost to the outermost."""

    def __init__(self, path):
        self.trace = Trace(path)
        self.modules = {}
        self.frames = []

    def native(self, module, function=None, file=None, line=None):
        """Adds a frame in this library. A frame without a function is shown as module and offset."""
        start = self.modules.setdefault(module, 0x100000 * (1 + len(self.modules)))
        address = start + 16 * (1 + len(self.frames))
        if function:
            self.trace.name(address, (file, line, function))
        self.frames.append(address)
        return self

    def python(self, file, line, function):
        self.frames.append((file, line, function))
        return self

    def interpreter(self, *functions):
        for function in functions:
            self.native(PYTHON, function)
        return self

    def write(self):
        if self.trace.path.exists():
            return self.trace.path
        for number, (path, start) in enumerate(self.modules.items(), 1):
            self.trace.rows["module"].append((number, path, None, start, start, start + 0x100000))
        self.trace.alloc(1, stack=self.trace.stack(*self.frames))
        return self.trace.write()

    def text(self, *options, command="peak"):
        """Returns the lines that show the stack in the text, with the site first and without their common
        indentation."""
        lines = run_command(command, *options, self.write()).stdout.splitlines()
        start = next(n for n, line in enumerate(lines) if "100.0 %" in line) + 1
        lines = lines[start:]
        end = next((n for n, line in enumerate(lines) if not line.startswith(" " * 6)), len(lines))
        return [line[6:] for line in lines[:end]]

    def json(self):
        (device,) = load_json("peak", self.write())["devices"]
        return device["sites"][0]


@pytest.fixture
def stack(tmp_path):
    return Stack(tmp_path / "trace.db")


def training(stack):
    """Adds the frames that PyTorch has for an allocation inside a module's forward."""
    stack.native("/opt/libcudart.so.12", "cudaMalloc")
    stack.native("/usr/lib/libc10_cuda.so", "c10::cuda::CUDACachingAllocator::malloc")
    stack.native(f"{TORCH}/lib/libtorch_cpu.so", "at::empty")
    stack.native(f"{TORCH}/lib/libtorch_python.so")
    stack.interpreter("_PyObject_MakeTpCall", "_PyEval_EvalFrameDefault")
    stack.python(f"{TORCH}/nn/modules/linear.py", 125, "Linear.forward")
    stack.python("/home/me/train.py", 88, "Model.forward")
    stack.interpreter("_PyEval_EvalFrameDefault", "_PyFunction_Vectorcall", "PyObject_Call")
    stack.python("/home/me/train.py", 120, "step")
    stack.python("/home/me/train.py", 201, "<module>")
    stack.interpreter("_PyEval_EvalFrameDefault", "PyEval_EvalCode", "Py_RunMain")
    stack.native("/usr/lib/libc.so.6", "__libc_start_main")
    stack.interpreter("_start")
    return stack


def test_the_programs_own_line_comes_first_and_the_folded_stack_below_it(stack):
    assert training(stack).text() == [
        "train.py:88 Model.forward, in Linear.forward",
        "    … 1 CUDA frame, 4 framework frames",
        "    Model.forward  /home/me/train.py:88",
        "    step  /home/me/train.py:120",
        "    <module>  /home/me/train.py:201",
    ]


def test_native_full_shows_every_frame(stack):
    lines = training(stack).text("--native=full")
    assert lines[0] == "train.py:88 Model.forward, in Linear.forward"
    assert len(lines) == 1 + len(stack.frames)
    assert lines[1] == "    cudaMalloc  libcudart.so.12"
    assert lines[-1] == "    _start  python3.11"
    assert not any("…" in line for line in lines)


def test_an_operator_without_python_around_it_is_what_the_line_called(stack):
    stack.native(f"{TORCH}/lib/libc10_cuda.so", "c10::cuda::CUDACachingAllocator::malloc")
    stack.native(f"{TORCH}/lib/libtorch_cpu.so", "at::native::empty")
    stack.native(f"{TORCH}/lib/libtorch_cpu.so", "at::_ops::add_Tensor::call")
    stack.native(f"{TORCH}/lib/libtorch_python.so", "torch::autograd::THPVariable_add")
    stack.native(f"{TORCH}/lib/libtorch_python.so")
    stack.python("/home/me/train.py", 7, "forward")
    assert stack.text()[0] == "train.py:7 forward, in at::_ops::add_Tensor::call"


def test_what_cuda_or_a_function_of_the_program_allocates_was_called_in_no_framework(stack):
    stack.native("/opt/libcudart.so.12", "cudaMalloc").native("/home/me/main", "make")
    stack.native(f"{TORCH}/lib/libtorch_cpu.so", "at::_ops::add_Tensor::call")
    assert stack.text()[0] == "make (main)"
    assert stack.json()["called"] is None


def test_the_report_shows_the_site_and_its_callers(stack):
    for line in range(5):
        stack.python("/home/me/train.py", 10 + line, f"f{line}")
    assert stack.text(command="report") == [
        "train.py:10 f0",
        "    f1  /home/me/train.py:11",
        "    f2  /home/me/train.py:12",
        "    f3  /home/me/train.py:13",
        "    …",
    ]


def test_the_last_caller_is_followed_by_no_mark(stack):
    for line in range(4):
        stack.python("/home/me/train.py", 10 + line, f"f{line}")
    stack.interpreter("Py_RunMain")
    assert stack.text(command="report")[-1] == "    f3  /home/me/train.py:13"


def test_machines_get_every_frame_with_its_role_and_the_site(stack):
    site = training(stack).json()
    assert (site["site"], site["called"]) == ("train.py:88 Model.forward", "Linear.forward")
    assert len(site["frames"]) == len(stack.frames)
    assert [frame["role"] for frame in site["frames"]] == (
        ["cuda"] + ["framework"] * 3 + ["interpreter"] * 2 + ["framework", "program"]
        + ["interpreter"] * 3 + ["program"] * 2 + ["interpreter"] * 3 + ["runtime", "interpreter"]
    )


def test_frames_of_the_recorder_are_not_even_counted(stack):
    stack.native("/x/libgpumemtrace.so", "cudaMalloc").python("/home/me/train.py", 1, "main")
    assert stack.text() == ["train.py:1 main", "    main  /home/me/train.py:1"]


def test_a_native_function_of_the_program_is_a_site_too(stack):
    stack.native("/opt/libcudart.so.12", "cudaMalloc")
    stack.native("/home/me/libmine.so", "mine::Buffer::grow", "/home/me/buffer.cc", 40)
    stack.python("/home/me/train.py", 88, "forward")
    assert stack.text() == [
        "buffer.cc:40 mine::Buffer::grow",
        "    … 1 CUDA frame",
        "    mine::Buffer::grow  /home/me/buffer.cc:40",
        "    forward  /home/me/train.py:88",
    ]


def test_a_named_line_goes_before_a_place_without_a_name(stack):
    stack.native("/home/me/libmine.so").python("/home/me/train.py", 88, "forward")
    assert stack.text()[0] == "train.py:88 forward"
    assert stack.text()[1].startswith("    libmine.so+0x")


# --- compiled code of a framework ---


def test_compiled_code_is_a_detail_of_the_line_that_called_it(stack):
    stack.native(f"{TORCH}/lib/libtorch_cpu.so", "at::empty")
    stack.python("/tmp/torchinductor_me/ab/cab.py", 120, "call")
    stack.python(f"{TORCH}/_inductor/output_code.py", 600, "CompiledFxGraph.__call__")
    stack.python(f"{TORCH}/_dynamo/eval_frame.py", 600, "_fn")
    stack.python("/home/me/train.py", 30, "step")
    stack.python("/home/me/train.py", 50, "main")
    place = "    call  /tmp/torchinductor_me/ab/cab.py:120"
    assert stack.text() == [
        "train.py:30 step, in compiled code", "    … 1 framework frame", place, "    … 2 framework frames",
        "    step  /home/me/train.py:30", "    main  /home/me/train.py:50",
    ]  # fmt: skip
    assert stack.text(command="report") == ["train.py:30 step, in compiled code", place, "    main  /home/me/train.py:50"]
    assert stack.json()["called"] == "compiled code"


def test_a_function_that_compiled_code_calls_back_is_the_programs(stack):
    stack.python("/home/me/ops.py", 7, "my_alloc")
    stack.python("<eval_with_key>.5", 12, "forward")
    stack.python("/home/me/train.py", 30, "step")
    assert stack.text()[0] == "train.py:30 step, in my_alloc"


def test_compiled_code_on_a_thread_of_backward_heads_nothing_while_its_operator_is_known(stack):
    stack.python("<eval_with_key>.5", 12, "forward")
    autograd(stack)
    assert stack.text()[:2] == ["MmBackward0", "    forward  <eval_with_key>.5:12"]


# --- stacks without a frame of the program ---


def autograd(stack):
    library = f"{TORCH}/lib/libtorch_cpu.so"
    for function in (
        "c10::alloc", "at::empty", "at::_ops::mm::call", "torch::autograd::generated::MmBackward0_apply",
        "torch::autograd::generated::MmBackward0::apply", "torch::autograd::Node::operator()",
        "torch::autograd::Engine::evaluate_function", "torch::autograd::Engine::thread_main",
        "torch::autograd::Engine::thread_init",
    ):
        stack.native(library, function)
    stack.native("/usr/lib/libstdc++.so.6")
    return stack.native("/usr/lib/libc.so.6", "start_thread")


def test_a_backward_thread_is_headed_by_its_operator_and_shows_its_native_stack(stack):
    assert autograd(stack).text() == [
        "MmBackward0, backward (autograd)",
        "    c10::alloc  libtorch_cpu.so",
        "    at::empty  libtorch_cpu.so",
        "    at::_ops::mm::call  libtorch_cpu.so",
        "    … 5 runtime frames",
        "    backward (autograd)",
    ]


def test_the_report_shows_what_a_backward_thread_was_asked_for(stack):
    assert autograd(stack).text(command="report") == [
        "MmBackward0, backward (autograd)",
        "    c10::alloc  libtorch_cpu.so",
        "    at::empty  libtorch_cpu.so",
        "    at::_ops::mm::call  libtorch_cpu.so",
    ]


@pytest.mark.parametrize(
    "function, operator",
    [
        ("torch::autograd::AccumulateGrad::apply", "AccumulateGrad"),
        ("torch::autograd::CppNode<my::Scan<float> >::apply", "CppNode<my::Scan<float> >"),
        ("torch::autograd::Engine::other", "backward (autograd)"),
    ],
)  # fmt: skip
def test_the_operator_of_a_backward_is_the_node_that_was_applied(stack, function, operator):
    for name in (function, "torch::autograd::Engine::thread_main"):
        stack.native(f"{TORCH}/lib/libtorch_cpu.so", name)
    assert stack.text()[0].split(", ")[0] == operator


def test_the_label_of_a_thread_is_a_frame_of_its_own_for_machines(stack):
    frames = autograd(stack).json()["frames"]
    assert [(f["kind"], f["function"]) for f in frames if f["kind"] == "label"] == [("label", "backward (autograd)")]
    assert len(frames) == len(stack.frames) + 1


def test_a_thread_with_python_frames_needs_no_label(stack):
    """On a backward thread, a function of the program was called back."""
    stack.python("/home/me/train.py", 30, "Exp.backward")
    autograd(stack)
    assert stack.text()[0] == "train.py:30 Exp.backward"
    assert all(frame["kind"] != "label" for frame in stack.json()["frames"])


def test_a_thread_that_the_recorder_labelled_gets_no_second_label(stack):
    stack.native(f"{TORCH}/lib/libtorch_cpu.so", "torch::autograd::Engine::thread_main")
    stack.frames.append("backward (autograd)")
    stack.native("/usr/lib/libc.so.6", "start_thread")
    assert [frame["kind"] for frame in stack.json()["frames"]] == ["native", "label", "native"]


def test_without_a_label_the_outermost_frame_of_a_framework_is_the_site(stack):
    stack.native("/opt/libcudart.so.12", "cudaMalloc")
    stack.native("/usr/lib/libtorch_cpu.so", "at::empty")
    stack.native("/usr/lib/libtorch_cpu.so", "torch::jit::Runner::loop")
    stack.native("/usr/lib/libc.so.6", "start_thread")
    assert stack.text() == [
        "torch::jit::Runner::loop (libtorch_cpu.so)",
        "    cudaMalloc  libcudart.so.12",
        "    at::empty  libtorch_cpu.so",
        "    torch::jit::Runner::loop  libtorch_cpu.so",
    ]


def test_a_stack_of_plumbing_alone_is_headed_by_its_outermost_frame(stack):
    stack.interpreter("PyObject_Call", "Py_RunMain")
    assert stack.text() == ["Py_RunMain (python3.11)"]


def test_a_template_around_the_programs_code_is_the_site_where_that_was_inlined(stack):
    run = "std::thread::_State_impl<train()::{lambda()#1}>::_M_run"
    stack.native("/opt/libcudart.so.12", "cudaMalloc")
    stack.native("/home/me/train", run)
    stack.native("/home/me/train", "std::thread::run")
    stack.native("/usr/lib/libstdc++.so.6", "execute_native_thread_routine")
    stack.native("/usr/lib/libc.so.6", "clone3")
    assert stack.text()[0] == f"{run} (train)"


def test_a_label_of_the_recorder_is_a_site(stack):
    stack.frames.append("warm up")
    stack.native("/usr/lib/libc.so.6", "start_thread")
    assert stack.text() == ["warm up", "    warm up"]


def test_an_allocation_without_a_stack_says_so(stack):
    assert stack.text() == ["(no stack was taken)"]
    assert stack.json()["site"] is None


# --- rules ---


ROLES = [
    ("cuda", ("native", "/usr/lib/libcudart.so.13")),
    ("cuda", ("native", f"{PACKAGES}/nvidia/cublas/lib/libcublasLt.so.12")),
    ("cuda", ("native", "/home/me/train", "cudart::contextState::loadCubin")),
    ("cuda", ("python", f"{PACKAGES}/nvidia/dali/pipeline.py", 1, "run")),
    ("framework", ("python", f"{PACKAGES}/torch/nn/modules/module.py", 1, "_call_impl")),
    ("framework", ("python", "/usr/lib/python3/dist-packages/torch/optim/adam.py", 1, "step")),
    ("framework", ("python", "/somewhere/torch/nn/modules/linear.py", 1, "Linear.forward")),
    ("framework", ("native", "/usr/lib/x86_64-linux-gnu/libtorch_cuda.so")),
    ("framework", ("native", "/home/me/train", "thrust::device_vector<int>::resize")),
    ("compiled", ("python", "<eval_with_key>.5", 12, "forward")),
    ("compiled", ("python", "<eval_with_key>.5 from /home/me/train.py:9 in step", 12, "forward")),
    ("compiled", ("python", "/tmp/torchinductor_me/ab/cab.py", 12, "call")),
    ("compiled", ("python", f"/home/me/.cache/ab/cab{'x2' * 24}x.py", 12, "call")),
    ("program", ("python", "/home/me/ab/cab.py", 12, "call")),
    ("interpreter", ("python", f"{STDLIB}/threading.py", 1, "run")),
    ("interpreter", ("python", "<frozen importlib._bootstrap>", 1, "_load")),
    ("interpreter", ("native", "/home/me/.pyenv/versions/3.12.1/bin/python3.12")),
    ("interpreter", ("native", f"{STDLIB}/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so")),
    ("interpreter", ("native", "/usr/lib/x86_64-linux-gnu/libffi.so.8")),
    ("runtime", ("native", "/usr/lib/x86_64-linux-gnu/libc.so.6")),
    ("runtime", ("native", "[vdso]")),
    ("runtime", ("native", "/home/me/train", "std::vector<float>::_M_realloc_insert")),
    ("runtime", ("native", "/home/me/train", "core::iter::traits::iterator::Iterator::fold")),
    ("runtime", ("native", "/home/me/train", "<alloc::boxed::Box<F> as core::ops::Fn<A>>::call")),
    ("runtime", ("native", "/home/me/train", "__rust_try")),
    ("program", ("native", "/home/me/train", "<alloc::vec::Vec<u8> as train::Layer>::forward")),
    ("program", ("native", "/home/me/train", "<train::Batches as core::iter::Iterator>::next")),
    ("program", ("native", "/home/me/train", "core::Engine::run")),
    ("program", ("native", "/home/me/train", "stdlib_like::run")),
    ("cuda", ("native", "/home/me/train", "cudaMalloc<float>")),
    ("cuda", ("native", "/home/me/train", "cudaMallocManaged<float>")),
    ("program", ("native", "/home/me/train", "cudaMallocChecked")),
    ("program", ("native", "/home/me/libcudalike/train", "cudaCheck")),
    ("program", ("python", "/home/me/python3/train.py", 1, "main")),
    ("program", ("python", "<stdin>", 1, "<module>")),
    ("program", ("python", "/home/me/torch/train.py", 1, "main")),
]


def test_a_frame_has_the_role_of_the_first_rule_that_matches(stack):
    for _, (how, *what) in ROLES:
        getattr(stack, how)(*what)
    found = [frame["role"] for frame in stack.json()["frames"]]
    assert len(found) == len(ROLES)
    wrong = [f"{frame} is {role}, not {told}" for (role, frame), told in zip(ROLES, found) if role != told]
    assert not wrong, "\n".join(wrong)


def test_a_long_function_is_cut_for_people_only(stack):
    name = "deep::" * 60 + "end"
    stack.native("/home/me/train", name, "/home/me/train.cc", 3)
    (site, line) = stack.text()
    assert site.startswith("train.cc:3 deep::") and site.endswith("…") and len(site) < 150
    assert line.endswith("…  /home/me/train.cc:3")
    assert stack.json()["frames"][0]["function"] == name
