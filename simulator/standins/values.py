# SPDX-License-Identifier: MIT
"""
Computes values of PyTorch in a dry run: after each operator on small tensors of a simulated card, runs the same operator with
PyTorch's CPU kernels and writes the result to the card's contents. dryrun_torch.c runs this file, in dry runs only, when
PyTorch's extension is loaded. This file must make no CUDA call and allocate no memory of a card; it accesses contents only
through the functions of simulator/values.h.

Each value is unknown, guessed (plausible but not computed, or computed from a guess) or known. For torch 1.13 and later, Python
3.8 and later.
"""
import collections
import ctypes
import dis
import functools
import os
import random
import sys
import threading

UNKNOWN, GUESSED, KNOWN = 0, 1, 2
# The largest tensor that is computed, and the largest for operators whose cost grows faster than the tensor's size.
BYTES_MAX, HEAVY_BYTES_MAX = 1 << 20, 1 << 16
MASKS_KEPT = 256
# The most runs of elements that store_set writes.
RUNS_MAX = 4096
# After this many readings of guesses at one line, the program is assumed to poll in a loop.
MANY_READINGS = 1000
OWN_FILE = __file__
# After a failed backward pass, the program waits for the workers of the pass: how many times, and how long each time.
WORKER_WAITS, WORKER_WAIT_S = 50, 0.005


class Contents:
    """The functions of simulator/values.h."""

    def __init__(self):
        driver = ctypes.PyDLL(None)
        word, pointer = ctypes.c_int64, ctypes.c_void_p
        self.types = [word * rank for rank in range(65)]
        self.begin = self._function(driver, "begin", ctypes.c_int, ctypes.c_int)
        self.end = self._function(driver, "end", ctypes.c_uint)
        self.expect_words = self._function(driver, "expect", None, pointer, ctypes.c_uint)
        self.kept = self._function(driver, "kept", ctypes.c_int)
        tensor = (ctypes.c_uint64, ctypes.c_uint, pointer, pointer, ctypes.c_uint, pointer)
        self.read_words = self._function(driver, "read", ctypes.c_int, *tensor)
        self.write_words = self._function(driver, "write", None, *tensor, ctypes.c_int)
        self.guess_words = self._function(driver, "guess", None, *tensor)
        self.state_of_bytes = self._function(driver, "state", ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64)
        self.forget_bytes = self._function(driver, "forget", None, ctypes.c_uint64, ctypes.c_uint64)
        self.let_autocast = self._function(driver, "let_autocast", None)
        self.note = self._function(driver, "note", ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint)
        self.note_float = self._function(driver, "note_float", None)

    @staticmethod
    def _function(driver, name, result, *arguments):
        function = getattr(driver, "gpumemtrace_values_" + name)
        function.restype, function.argtypes = result, arguments
        return function

    # A contiguous tensor is passed as one element of the tensor's size.

    def read(self, tensor, copy):
        if tensor.is_contiguous():
            return self.read_words(tensor.data_ptr(), 0, None, None, tensor.numel() * tensor.element_size(), copy.data_ptr())
        words = self.types[tensor.dim()]
        return self.read_words(tensor.data_ptr(), tensor.dim(), words(*tensor.shape), words(*tensor.stride()),
                               tensor.element_size(), copy.data_ptr())

    def write(self, tensor, copy, state):
        values = copy.data_ptr() if copy is not None else None
        if values and tensor.is_contiguous():
            self.write_words(tensor.data_ptr(), 0, None, None, tensor.numel() * tensor.element_size(), values, state)
            return
        words = self.types[tensor.dim()]
        self.write_words(tensor.data_ptr(), tensor.dim(), words(*tensor.shape), words(*tensor.stride()),
                         tensor.element_size(), values, state)

    def guess(self, tensor, copy):
        """Writes the copy to unknown elements of the tensor, and copies the tensor's other elements to the copy."""
        words = self.types[tensor.dim()]
        self.guess_words(tensor.data_ptr(), tensor.dim(), words(*tensor.shape), words(*tensor.stride()),
                         tensor.element_size(), copy.data_ptr())

    def forget(self, tensor):
        if not tensor.is_cuda or tensor.layout is not torch.strided:
            return
        count = tensor.numel()
        if count and tensor.is_contiguous():
            self.forget_bytes(tensor.data_ptr(), count * tensor.element_size())
        elif count:
            self.write(tensor, None, UNKNOWN)

    def expect(self, answers):
        self.expect_words(self.types[len(answers)](*answers), len(answers))


# --- facts about operators, by name without overload ---

def names(text):
    return frozenset(text.split())


# Operators that write nothing: their results are their arguments or views of them.
NOTHING = names("""detach detach_ alias lift lift_fresh set_ record_stream is_pinned _has_same_storage_numel _version
 _reshape_alias sym_size sym_stride sym_numel sym_storage_offset size stride dim numel is_contiguous is_same_size""")
# Operators whose results contain stale memory.
EMPTY = names("empty empty_strided empty_like new_empty new_empty_strided empty_permuted resize_ _efficientzerotensor")
# Operators that do not read the tensor that they write to.
OVERWRITES = names("""zero_ fill_ copy_ uniform_ normal_ bernoulli_ random_ exponential_ geometric_ cauchy_
 log_normal_ _foreach_zero_ _foreach_copy_""")
# Operators that set some elements of their first argument and leave the others unchanged.
SETS = names("scatter_ index_copy_ index_fill_ index_put_ _index_put_impl_ masked_fill_")
# Operators that pass values of their arguments to the host.
READS = names("_local_scalar_dense _to_copy copy_ to _pin_memory")
# Operators whose cost grows faster than the tensor's size.
HEAVY = names("""mm bmm matmul addmm baddbmm addbmm addmv mv dot vdot ger addr _scaled_mm _grouped_mm convolution
 convolution_backward _convolution cdist _cdist_forward linear _linalg_svd linalg_qr linalg_inv_ex linalg_cholesky_ex
 _linalg_solve_ex _linalg_eigh linalg_lu_factor_ex _scaled_dot_product_flash_attention
 _scaled_dot_product_efficient_attention _scaled_dot_product_attention_math scaled_dot_product_attention lstm gru
 _thnn_fused_lstm_cell _fft_c2c _fft_r2c _fft_c2r""")
# Operators without an equal operator on the CPU, or whose values no program needs.
NOT_COMPUTED = names("""_scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention
 _scaled_dot_product_cudnn_attention _cudnn_rnn _fused_rms_norm cudnn_batch_norm _thnn_fused_lstm_cell
 _efficient_attention_forward _flash_attention_forward""")
# Random operators, for releases of PyTorch where operators have no tags.
RANDOM = names("""uniform_ normal_ bernoulli bernoulli_ random_ exponential_ geometric_ cauchy_ log_normal_ rand
 randn randint rand_like randn_like randint_like randperm normal multinomial native_dropout poisson rrelu_with_noise""")
# Operators that draw from a distribution whose parameters are tensors. Unknown parameters are guessed first, so that
# the results fit the distribution.
DRAWS = names("_sample_dirichlet _standard_gamma bernoulli binomial poisson")
# Operators that read a count back from the card before they know the shape of their result, and the values that they read.
READ_BACK = {
    "nonzero": lambda result, *_: [len(result)],
    "masked_select": lambda result, *_: [len(result)],
    "_coalesce": lambda result, *_: [result._nnz()],
    "_to_sparse": lambda result, *_: [result._nnz()],
    "_unique2": lambda result, *_: [len(result[0])],
    "_unique": lambda result, *_: [len(result[0])],
    "unique_dim": lambda result, _, dim, *__: [result[0].shape[dim]],
    "unique_dim_consecutive": lambda result, _, dim, *__: [result[0].shape[dim]],
    "unique_consecutive": lambda result, *args: [result[0].shape[args[3] or 0] if len(args) > 3 else len(result[0])],
    "bincount": lambda result, x, *_: [int(x.min()), int(x.max())] if x.numel() else [0],
    "repeat_interleave": lambda result, *_: [len(result), 1],
    "equal": lambda result, *_: [int(result)],
    "allclose": lambda result, *_: [int(result)],
    "multinomial": lambda *_: [1, 0],
    "normal": lambda *_: [1],
}
# Operators among these whose readings are checks, and the values with which the checks pass.
CHECKS = {"multinomial": [1, 0], "normal": [1], "equal": [1], "allclose": [1]}
# Comparisons. If their arguments are single unknown numbers, these are guessed first, so that a loop that waits for the result
# compares the number that its program prints.
COMPARISONS = names("gt lt ge le")
# Unknown results of these operators are True or False, so that assertions of the program hold and no value is infinite. The
# exception is `any` along a dimension of a small tensor, which asks which rows have an element: it is True for each row, so that
# a search goes on.
HOLDS = {"all": True, "_is_all_true": True, "isfinite": True, "any": False, "_is_any_true": False, "isnan": False, "isinf": False,
         "equal": True}
# Operators that return indices: the position of the indices among the results. The indices are into a dimension of the first
# argument.
INDICES = {"topk": 1, "sort": 1, "max": 1, "min": 1, "argmax": 0, "argmin": 0, "argsort": 0, "kthvalue": 1,
           "median": 1, "nanmedian": 1, "mode": 1, "multinomial": 0, "_unique2": 1, "cummax": 1, "cummin": 1}



def bounds_of_list(x, indices, *_):
    """The bounds of the indices in x[…]. With a mask, which stands for several dimensions, nothing is checked."""
    if any(index is not None and index.dtype in (torch.bool, torch.uint8) for index in indices):
        return []
    return [(index, -size, size, None) for index, size in zip(indices, x.shape) if index is not None]


def bounds_along(x, dim, index, *_):
    return [(index, 0, x.shape[dim] if x.dim() else 1, None)]


# Bounds that the card's kernels assert: a tensor of indices, the lowest, the end, and one more index that is allowed.
BOUNDS = {
    "embedding": lambda weight, index, *_: [(index, 0, weight.shape[0], None)],
    "nll_loss_forward": lambda x, target, weight, reduction, ignored: [(target, 0, x.shape[-1], ignored)],
    "nll_loss2d_forward": lambda x, target, weight, reduction, ignored: [(target, 0, x.shape[1], ignored)],
    **dict.fromkeys(names("index index_put index_put_ _index_put_impl_"), bounds_of_list),
    **dict.fromkeys(names("""gather scatter scatter_ scatter_add scatter_add_ index_select index_add index_add_
     index_copy index_copy_ index_fill index_fill_"""), bounds_along),
}

# Operators for whose results something is known even if their arguments are unknown.
SAYS_SOMETHING = frozenset(HOLDS) | frozenset(INDICES) | DRAWS | names("eq ne histc _amp_foreach_non_finite_check_and_unscale_")


def has_kernel(schema, key):
    name = schema.name + ("." + schema.overload_name if schema.overload_name else "")
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, key)


class Plan:
    """The facts about one overload of an operator, which are computed once."""

    def __init__(self, func):
        schema = func._schema
        self.name = schema.name.split("::")[-1]
        self.is_aten = schema.name.startswith("aten::")
        # The stand-in for NCCL writes the results of collectives.
        self.is_collective = "c10d" in schema.name.split("::")[0]
        self.args = schema.arguments
        self.written = [argument.alias_info is not None and argument.alias_info.is_write for argument in self.args]
        self.names = [argument.name for argument in self.args]
        self.writes = any(self.written)
        returned = [value.alias_info for value in schema.returns]
        # A view shares its argument's memory.
        self.is_view = bool(returned) and all(info is not None and not info.is_write for info in returned)
        self.nothing = self.is_aten and (self.is_view or self.name in NOTHING) and not self.writes or self.name in NOTHING
        self.empty = self.name in EMPTY
        self.overwrites = self.name in OVERWRITES
        self.sets = self.name in SETS and "reduce" not in self.names
        self.reads = self.name in READS
        # In inference mode, operators arrive that autograd decomposes otherwise. Operators that choose their
        # implementation by more than their arguments' sizes (linear, matmul) are not decomposed.
        self.is_composite = self.name not in HEAVY and has_kernel(schema, "CompositeImplicitAutograd") and \
            not has_kernel(schema, "CUDA")
        self.made_by = "CompositeImplicitAutograd"
        # Operators by which fully_shard copies in and out are Python code that calls other operators.
        if schema.name.startswith("fsdp::") and has_kernel(schema, "CUDA"):
            self.is_composite, self.made_by = True, "CUDA"
        self.limit = HEAVY_BYTES_MAX if self.name in HEAVY else BYTES_MAX
        self.computed = self.is_aten and not self.empty and self.name not in NOT_COMPUTED
        self.bounds = BOUNDS.get(self.name)
        self.read_back = READ_BACK.get(self.name)
        if self.name == "repeat_interleave" and "repeats" not in self.names[:1]:
            self.read_back = None
        tag = getattr(getattr(torch, "Tag", None), "nondeterministic_seeded", None)
        self.random = tag in func.tags if tag is not None and hasattr(func, "tags") else self.name in RANDOM
        self.random = self.random or self.name in RANDOM
        self.has_device = "device" in self.names
        self.op = func._op
        self.written_at = [i for i, is_written in enumerate(self.written) if is_written]
        # Arguments whose previous contents do not matter.
        self.ignored = [written and (self.overwrites or self.sets or argument.is_out)
                        for written, argument in zip(self.written, self.args)]
        self.fills = self.name in ("index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index")
        # If the arguments are unknown, nothing is known of the results, and the operator reads nothing back.
        self.may_pass = self.read_back is None and self.bounds is None and not self.fills and \
            self.name not in SAYS_SOMETHING and self.name not in COMPARISONS


def tensor_size(value):
    return value.numel() if isinstance(value, torch.Tensor) else 0


def is_small(tensor, limit):
    return tensor.numel() * tensor.element_size() <= limit


class Unknown(Exception):
    pass


# --- the line of the program that reads ---

class Installed(dict):
    """Whether a file belongs to an installed package. pip leaves a .dist-info folder beside a package that it installs, also with
    --target. The program itself is not an installed package."""

    def __missing__(self, path):
        is_one = self[path] = not self._is_main(path) and (
            path.startswith(OTHERS) or path.startswith("<frozen") or "/site-packages/" in path or "/dist-packages/" in path or
            any(path.startswith(folder + "/") and self._has_packages(folder) for folder in map(str, sys.path) if folder))
        return is_one

    @staticmethod
    def _is_main(path):
        return path == getattr(sys.modules.get("__main__"), "__file__", None)

    @staticmethod
    def _has_packages(folder):
        if folder not in folders:
            try:
                folders[folder] = any(name.endswith(".dist-info") for name in os.listdir(folder))
            except OSError:
                folders[folder] = False
        return folders[folder]


folders, installed = {}, Installed()


def program_line():
    """The innermost frame of the program: not of an installed package, Python's library or this file."""
    frame, first = sys._getframe(1), None
    while frame is not None:
        path = frame.f_code.co_filename
        if path != OWN_FILE:
            first = first or frame
            if not installed[path]:
                return frame
        frame = frame.f_back
    return first


def program_place():
    frame = program_line()
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("(no Python frame)", 0)


float_counts = collections.Counter()  # by place
# Parts of PyTorch that check values, and allocate the same whatever the values are.
CHECKERS = (os.sep + os.path.join("torch", "nn", "init.py"), os.sep + os.path.join("torch", "distributions", ""))


def words_of(instruction):
    return instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)


@functools.lru_cache(None)
def is_compared(code, at):
    """Whether the function compares the result of its call at this offset: in the rest of the line, or by a variable that the
    line sets."""
    starts, lines, line = dict(dis.findlinestarts(code)), {}, None
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset, line)
        lines.setdefault(line, []).append(instruction)
    own = next((line for line in lines.values() if any(instruction.offset == at for instruction in line)), ())
    rest = [instruction for instruction in own if instruction.offset > at]
    if any(instruction.opname == "COMPARE_OP" for instruction in rest):
        return True
    names = {words_of(instruction)[0] for instruction in rest if instruction.opname.startswith("STORE_")}
    return any(any(instruction.opname == "COMPARE_OP" for instruction in line) and
               any(instruction.opname.startswith("LOAD_") and names.intersection(words_of(instruction)) for instruction in line)
               for line in lines.values())


def note_reading(is_float):
    """Counts a reading of values that were not computed. Single floats that the caller does not compare are counted together,
    because no shape follows from them."""
    caller = sys._getframe(1)
    while caller is not None and caller.f_code.co_filename == OWN_FILE:
        caller = caller.f_back
    if caller is not None and any(part in caller.f_code.co_filename for part in CHECKERS):
        return
    path, line = program_place()
    if is_float and caller is not None and not is_compared(caller.f_code, caller.f_lasti):
        contents.note_float()
        float_counts[path, line] += 1
        count = float_counts[path, line]
    else:
        count = contents.note(path.encode("utf-8", "backslashreplace"), line)
    if count == MANY_READINGS:
        sys.stderr.write("gpumemtrace: dry run: %s:%d has read values that the dry run could not compute %d times; "
                         "a loop that waits for one may never end: give it a number of steps\n" % (path, line, MANY_READINGS))


# --- guesses ---

class Guesses:
    def __init__(self):
        self.random = random.Random(0)
        self.counts = {}

    def fill(self, copy):
        """Fills the copy with plausible values. Half of a mask's elements are True, so that a mask that is computed again selects
        as many elements. Floats that are read at one line get smaller, as a loss does. If the line reads on (MANY_READINGS),
        each value comes twice, as a loss that no longer falls, and every other value is near 1, as an accuracy."""
        kind = copy.dtype
        if kind is torch.bool:
            half = copy.numel() // 2 if copy.numel() > 1 else self.random.randrange(2)
            values = [True] * half + [False] * (copy.numel() - half)
            self.random.shuffle(values)
        elif kind.is_floating_point or kind.is_complex:
            place = program_place()
            count = self.counts[place] = self.counts.get(place, 0) + 1
            source = self.random
            if count > MANY_READINGS:
                count //= 2
                source = random.Random(count)
            values = [source.uniform(0.5, 1.0) / count for _ in range(min(copy.numel(), 4096))]
            if source is not self.random:
                values = [1 - value if count % 2 else value / count for value in values]
            values = (values * (copy.numel() // len(values) + 1))[:copy.numel()]
        else:
            return copy.fill_(1)
        return copy.copy_(torch.tensor(values, dtype=torch.bool if kind is torch.bool else torch.float64)
                          .reshape(copy.shape))

    def indices(self, copy, below, dim, distinct):
        """Fills the copy with balanced indices below `below`; along `dim` they are distinct if there are enough."""
        if not copy.numel() or below < 1:
            return copy.zero_()
        generator = torch.Generator().manual_seed(self.random.getrandbits(32))
        if not copy.dim():
            return copy.fill_(self.random.randrange(below))
        rows = copy.movedim(dim, -1)
        length = rows.shape[-1]
        if distinct and length <= below and rows.numel() // length * below <= 1 << 22:
            drawn = torch.rand(rows.shape[:-1] + (below,), generator=generator).argsort(-1)[..., :length]
        else:
            drawn = torch.randint(below, rows.shape, generator=generator)
        rows.copy_(drawn)
        return copy


def is_infinity(value):
    return isinstance(value, float) and value in (float("inf"), float("-inf"))


def guess_indices(plan, args, kwargs, output):
    source = args[0]
    dim = args[2] if plan.name in ("topk", "kthvalue") and len(args) > 2 else None
    if plan.name in ("sort", "argsort", "max", "min", "argmax", "argmin", "median", "nanmedian", "mode", "cummax",
                     "cummin") and len(args) > 1:
        dim = args[1]
    dim = kwargs.get("dim", dim)
    if plan.name == "multinomial" or dim is None and plan.name in ("topk", "sort", "argsort", "kthvalue", "mode"):
        dim = -1
    if not isinstance(dim, int) or not source.dim():
        below, dim, distinct = source.numel(), -1, False
    else:
        below = source.shape[dim]
        distinct = plan.name in ("topk", "sort", "argsort", "multinomial") and output.dim() == source.dim()
    copy = torch.empty(output.shape, dtype=output.dtype)
    contents.write(output, guesses.indices(copy, below, dim if distinct else -1, distinct), GUESSED)


class Masks:
    """Masks that were used as an index. A kernel outside operators makes the contents of all tensors unknown. The backward of a
    selection must then find the mask of its forward, or their shapes differ."""

    def __init__(self):
        self.kept = {}

    @staticmethod
    def place(mask):
        version = None if mask.is_inference() else mask._version
        return version, mask.storage_offset(), tuple(mask.shape), mask.stride()

    def keep(self, mask, copy):
        # The weak reference keeps cdata from being reused by another storage.
        storage = StorageWeakRef(mask.untyped_storage())
        if len(self.kept) >= MASKS_KEPT:
            for old in [key for key, value in self.kept.items() if value[0].expired()] or [next(iter(self.kept))]:
                del self.kept[old]
        self.kept[storage.cdata] = (storage, self.place(mask), copy.clone())

    def recall(self, mask, copy):
        kept = self.kept.get(mask.untyped_storage()._cdata)
        if kept is None or kept[1] != self.place(mask):
            return False
        copy.copy_(kept[2])
        return True


# --- operators that no mode can see ---

def let_streams_pass():
    """Hides record_stream from the mode, because PyTorch before 2.1 cannot pass a stream to a mode."""
    if torch.__version__ >= (2, 1):
        return
    plain = Tensor.record_stream

    def record_stream(self, stream):
        if type(self) not in (Tensor, torch.nn.Parameter):
            return plain(self, stream)
        guard = torch._C._DisableTorchDispatch()
        try:
            return plain(self, stream)
        finally:
            del guard

    Tensor.record_stream = record_stream


# --- operators that set some elements ---

def sets_only(operation):
    """Whether the operator sets the same elements to the same values, whatever the first argument contains."""
    names_, first = operation.plan.names, operation.args[0]
    index = names_.index("accumulate") if "accumulate" in names_ else len(operation.args)
    is_added = any(operation.args[index:index + 1]) or operation.kwargs.get("accumulate")
    return not is_added and first.is_contiguous() and not any(other is operation.cpu_args[0] for other in tensors_in(operation.cpu_args[1:]))


def store_set(operation):
    """Writes only the elements that the operator sets. False: they are too scattered."""
    tensor, copy, results = operation.args[0], operation.cpu_args[0], []
    for before in (0, 1):
        copy.fill_(before)
        operation.compute()
        results.append(copy.flatten().clone())
    is_set = ((results[0] == results[1]) | (results[0] != results[0])).byte()
    ends = torch.nn.functional.pad(is_set, (1, 1)).diff().nonzero().flatten().tolist()
    if len(ends) > 2 * RUNS_MAX:
        return False
    size = tensor.element_size()
    for first, end in zip(ends[::2], ends[1::2]):
        contents.write_words(tensor.data_ptr() + first * size, 0, None, None, (end - first) * size,
                             results[0].data_ptr() + first * size, operation.state)
    return True
