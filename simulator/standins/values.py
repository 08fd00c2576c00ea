# SPDX-License-Identifier: MIT
"""
Values of PyTorch in a dry run: after each operator on small tensors of a simulated card, computes the same
operator with PyTorch's kernels for the CPU and writes the result into the card's contents. dryrun.c runs this
file, in dry runs only, when PyTorch's extension is loaded. It must make no CUDA call and take no memory of a
card: it sees contents through the functions of simulator/values.h alone.

Each tensor is unknown, guessed (a plausible value that nobody computed, or made from one) or known.
For torch 1.13 and later, Python 3.8 and later.
"""
import ctypes
import random
import sys
import threading

UNKNOWN, GUESSED, KNOWN = 0, 1, 2
# The largest tensor that is computed, and the largest one for operators whose cost grows faster than their size.
BYTES_MAX, HEAVY_BYTES_MAX = 1 << 20, 1 << 16
MASKS_KEPT = 256
# So many readings of guesses by one line are taken for a loop that waits.
MANY_READINGS = 1000
OWN_FILE = __file__
# How long a backward that failed waits for its workers, at the most and at a time.
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
        self.state_of_bytes = self._function(driver, "state", ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64)
        self.forget_bytes = self._function(driver, "forget", None, ctypes.c_uint64, ctypes.c_uint64)
        self.let_autocast = self._function(driver, "let_autocast", None)
        self.note = self._function(driver, "note", ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint)

    @staticmethod
    def _function(driver, name, result, *arguments):
        function = getattr(driver, "gpumemtrace_values_" + name)
        function.restype, function.argtypes = result, arguments
        return function

    # Without gaps, a tensor is one element of its size.

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


# --- what is known of operators, by name without overload ---

def names(text):
    return frozenset(text.split())


# Nothing is written: what they return is what they got, seen otherwise.
NOTHING = names("""detach detach_ alias lift lift_fresh set_ record_stream is_pinned _has_same_storage_numel _version
 _reshape_alias sym_size sym_stride sym_numel sym_storage_offset size stride dim numel is_contiguous is_same_size""")
# What they return holds what the memory held before.
EMPTY = names("empty empty_strided empty_like new_empty new_empty_strided empty_permuted resize_ _efficientzerotensor")
# The operator does not read what it writes to.
OVERWRITES = names("""zero_ fill_ copy_ uniform_ normal_ bernoulli_ random_ exponential_ geometric_ cauchy_
 log_normal_ _foreach_zero_ _foreach_copy_""")
# The host gets values of the arguments themselves.
READS = names("_local_scalar_dense _to_copy copy_ to _pin_memory")
# The cost grows faster than the size.
HEAVY = names("""mm bmm addmm baddbmm addbmm addmv mv dot vdot ger addr _scaled_mm _grouped_mm convolution
 convolution_backward _convolution cdist _cdist_forward linear _linalg_svd linalg_qr linalg_inv_ex linalg_cholesky_ex
 _linalg_solve_ex _linalg_eigh linalg_lu_factor_ex _scaled_dot_product_flash_attention
 _scaled_dot_product_efficient_attention _scaled_dot_product_attention_math scaled_dot_product_attention lstm gru
 _thnn_fused_lstm_cell _fft_c2c _fft_r2c _fft_c2r""")
# Not the same as the operator of the CPU, or of no use.
NOT_COMPUTED = names("""_scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention
 _scaled_dot_product_cudnn_attention _cudnn_rnn _fused_rms_norm cudnn_batch_norm _thnn_fused_lstm_cell
 _efficient_attention_forward _flash_attention_forward""")
# Random, where operators have no tags yet.
RANDOM = names("""uniform_ normal_ bernoulli bernoulli_ random_ exponential_ geometric_ cauchy_ log_normal_ rand
 randn randint rand_like randn_like randint_like randperm normal multinomial native_dropout poisson rrelu_with_noise""")
# Operators that read a count back before they can say what shape they return: what they read.
READ_BACK = {
    "nonzero": lambda result, *_: [len(result)],
    "masked_select": lambda result, *_: [len(result)],
    "_unique2": lambda result, *_: [len(result[0])],
    "_unique": lambda result, *_: [len(result[0])],
    "unique_dim": lambda result, *_: [len(result[0])],
    "unique_consecutive": lambda result, *_: [len(result[0])],
    "bincount": lambda result, x, *_: [int(x.min()), int(x.max())] if x.numel() else [0],
    "repeat_interleave": lambda result, *_: [len(result), 1],
    "equal": lambda result, *_: [int(result)],
    "allclose": lambda result, *_: [int(result)],
    "multinomial": lambda *_: [1, 0],
    "normal": lambda *_: [1],
}
# Of these, what they read are checks that pass.
CHECKS = {"multinomial": [1, 0], "normal": [1], "equal": [1], "allclose": [1]}
# Of one number with another: a loop that waits for it sees what its program prints.
COMPARISONS = names("gt lt ge le")
# Their results are True, or False, where nobody knows: what programs assert holds, nothing is infinite.
HOLDS = {"all": True, "isfinite": True, "any": False, "isnan": False, "isinf": False, "equal": True}
# Which of their results are indices, and into which dimension of the first argument.
INDICES = {"topk": 1, "sort": 1, "max": 1, "min": 1, "argmax": 0, "argmin": 0, "argsort": 0, "kthvalue": 1,
           "median": 1, "nanmedian": 1, "mode": 1, "multinomial": 0, "_unique2": 1, "cummax": 1, "cummin": 1}

# Something can be said of their results, whatever their arguments hold.
SAYS_SOMETHING = frozenset(HOLDS) | frozenset(INDICES) | names("eq ne _amp_foreach_non_finite_check_and_unscale_")


class Plan:
    """What is known of one overload, found out once."""

    def __init__(self, func):
        schema = func._schema
        self.name = schema.name.split("::")[-1]
        self.is_aten = schema.name.startswith("aten::")
        # The collectives' results are the stand-in's for NCCL.
        self.is_collective = "c10d" in schema.name.split("::")[0]
        self.args = schema.arguments
        self.written = [argument.alias_info is not None and argument.alias_info.is_write for argument in self.args]
        self.names = [argument.name for argument in self.args]
        self.writes = any(self.written)
        returned = [value.alias_info for value in schema.returns]
        # A view shares the memory of its argument.
        self.is_view = bool(returned) and all(info is not None and not info.is_write for info in returned)
        self.nothing = self.is_aten and (self.is_view or self.name in NOTHING) and not self.writes or self.name in NOTHING
        self.empty = self.name in EMPTY
        self.overwrites = self.name in OVERWRITES
        self.reads = self.name in READS
        self.limit = HEAVY_BYTES_MAX if self.name in HEAVY else BYTES_MAX
        self.computed = self.is_aten and not self.empty and self.name not in NOT_COMPUTED
        self.read_back = READ_BACK.get(self.name)
        if self.name == "repeat_interleave" and "repeats" not in self.names[:1]:
            self.read_back = None
        tag = getattr(getattr(torch, "Tag", None), "nondeterministic_seeded", None)
        self.random = tag in func.tags if tag is not None and hasattr(func, "tags") else self.name in RANDOM
        self.random = self.random or self.name in RANDOM
        self.has_device = "device" in self.names
        self.op = func._op
        self.written_at = [i for i, is_written in enumerate(self.written) if is_written]
        # What an argument held before does not matter.
        self.ignored = [written and (self.overwrites or argument.is_out) for written, argument in zip(self.written, self.args)]
        self.fills = self.name in ("index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index")
        # Of arguments that nobody knows, nothing can be said of the results, and nothing is read back.
        self.may_pass = self.read_back is None and not self.fills and \
            self.name not in SAYS_SOMETHING and self.name not in COMPARISONS


class Unknown(Exception):
    pass


# --- where the program reads ---

def program_line():
    """The innermost frame of the program: neither PyTorch's, Python's own nor this file's."""
    frame, first = sys._getframe(1), None
    while frame is not None:
        path = frame.f_code.co_filename
        if path != OWN_FILE:
            first = first or frame
            if not path.startswith(OTHERS) and not path.startswith("<frozen"):
                return frame
        frame = frame.f_back
    return first


def note_reading():
    frame = program_line()
    path, line = (frame.f_code.co_filename, frame.f_lineno) if frame else ("(no Python frame)", 0)
    if contents.note(path.encode("utf-8", "backslashreplace"), line) == MANY_READINGS:
        sys.stderr.write("gpumemtrace: dry run: %s:%d has read values nobody computed %d times; a loop that waits for one may "
                         "never end: give it a number of steps\n" % (path, line, MANY_READINGS))


# --- guesses ---

class Guesses:
    def __init__(self):
        self.random = random.Random(0)
        self.counts = {}

    def fill(self, copy):
        """A plausible value for each element. Floats of one line get smaller, as a loss does; if it asks on, every other one is
        near 1, as an accuracy."""
        kind = copy.dtype
        if kind is torch.bool:
            values = [self.random.random() < 0.5 for _ in range(copy.numel())]
            if len(values) == 2 or len(values) > 2 and len(set(values)) == 1:
                values = [i % 2 == 0 for i in range(len(values))]
        elif kind.is_floating_point or kind.is_complex:
            frame = program_line()
            place = (frame.f_code.co_filename, frame.f_lineno) if frame else None
            count = self.counts[place] = self.counts.get(place, 0) + 1
            values = [self.random.uniform(0.5, 1.0) / count for _ in range(min(copy.numel(), 4096))]
            if count > MANY_READINGS:
                values = [1 - value if count % 2 else value / count for value in values]
            values = (values * (copy.numel() // len(values) + 1))[:copy.numel()]
        else:
            return copy.fill_(1)
        return copy.copy_(torch.tensor(values, dtype=torch.bool if kind is torch.bool else torch.float64)
                          .reshape(copy.shape))

    def indices(self, copy, below, dim, distinct):
        """Indices below `below`, balanced: along `dim` distinct where there are enough."""
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
    """Masks that have selected. A kernel that no operator launched makes the contents of all tensors unknown; the backward of a
    selection must then find the mask of its forward, or their shapes differ."""

    def __init__(self):
        self.kept = {}

    @staticmethod
    def place(mask):
        return mask._version, mask.storage_offset(), tuple(mask.shape), mask.stride()

    def keep(self, mask, copy):
        # The weak reference keeps the number from being another's.
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
