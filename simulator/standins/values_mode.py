# SPDX-License-Identifier: MIT
"""
The second part of values.py, in one namespace with it (dryrun_values.S): the dispatch mode that computes the operators. It must
make no CUDA call and allocate no memory of a card.
"""
# pylint: disable=undefined-variable

def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            if isinstance(item, torch.Tensor):
                yield item
            elif isinstance(item, (list, tuple)):
                yield from tensors_in(item)


class Operation:
    """One call of an operator, with its arguments as CPU tensors."""

    def __init__(self, plan, func, args, kwargs):
        self.plan, self.func, self.args, self.kwargs = plan, func, args, kwargs
        self.state, self.copies, self.large = KNOWN, {}, False
        self.generator_state = None

    def copy_of(self, tensor, ignored):
        """A CPU tensor with the tensor's values."""
        if not tensor.is_cuda:
            if tensor.layout is not torch.strided or tensor.numel() * tensor.element_size() > self.plan.limit:
                self.large = True
                raise Unknown
            return tensor
        if tensor.layout is not torch.strided or tensor.numel() * tensor.element_size() > self.plan.limit:
            self.large = True
            raise Unknown
        found = self.copies.get(id(tensor))
        if found is not None:
            return found[1]
        copy = torch.empty(tensor.shape, dtype=tensor.dtype)
        state = contents.read(tensor, copy) if tensor.numel() else KNOWN
        # Contents ignore the tensor's conjugate and negative bits, so the copy gets the same bits.
        if tensor.is_conj():
            copy = torch._conj(copy)
        if tensor.is_neg():
            copy = torch._neg_view(copy)
        if not ignored:
            self.state = min(self.state, state)
        self.copies[id(tensor)] = (tensor, copy, state)
        return copy

    def on_cpu(self, value, ignored=False):
        if isinstance(value, torch.Tensor):
            return self.copy_of(value, ignored)
        if isinstance(value, (list, tuple)):
            return [self.on_cpu(item, ignored) for item in value]
        if isinstance(value, torch.device):
            return CPU if value.type == "cuda" else value
        if isinstance(value, torch.Generator):
            return None
        return value

    def gather(self):
        """Reads the arguments. The operation's state becomes their lowest state."""
        plan = self.plan
        try:
            if not plan.computed:
                raise Unknown
            self.cpu_args = [
                self.on_cpu(value, plan.ignored[i])
                for i, value in enumerate(self.args)
            ]
            self.cpu_kwargs = {}
            for i, name in enumerate(plan.names):
                if name in self.kwargs:
                    self.cpu_kwargs[name] = self.on_cpu(self.kwargs[name], plan.written[i] and plan.args[i].is_out)
            if self.cpu_kwargs.get("pin_memory"):
                self.cpu_kwargs["pin_memory"] = False
        except Unknown:
            self.state = UNKNOWN

    def seed(self):
        """Keeps the state of the card's generator before the operator draws from it."""
        if not self.plan.random:
            return
        generator = self.kwargs.get("generator")
        if generator is None:
            device = self.kwargs.get("device")
            index = device.index if isinstance(device, torch.device) else None
            for tensor in tensors_in(self.args):
                if tensor.is_cuda:
                    index = tensor.device.index
                    break
            generators = torch.cuda.default_generators
            generator = generators[index or 0] if generators else None
        if generator is not None:
            self.generator_state = bytes(generator.get_state().numpy())

    def compute(self):
        if self.generator_state is None:
            return self.func._op(*self.cpu_args, **self.cpu_kwargs)
        seed = random.Random(self.generator_state).getrandbits(63)
        before = torch.default_generator.get_state()
        try:
            torch.default_generator.manual_seed(seed)
            return self.func._op(*self.cpu_args, **self.cpu_kwargs)
        finally:
            torch.default_generator.set_state(before)

    def guess_arguments(self):
        """Called before values are read: replaces unknown values of the arguments by plausible ones, which all later readers get
        too."""
        for tensor in tensors_in(list(self.args) + list(self.kwargs.values())):
            if tensor.is_cuda and tensor.numel() * tensor.element_size() <= BYTES_MAX and \
                    tensor.layout is torch.strided and id(tensor) in self.copies:
                _, copy, state = self.copies[id(tensor)]
                if state == UNKNOWN:
                    contents.guess(tensor, guesses.fill(copy))
                    self.copies[id(tensor)] = (tensor, copy, GUESSED)
        self.state = GUESSED

    def written_arguments(self):
        """Yields (card tensor, its copy or None) for every argument that the operator writes to."""
        for i, value in enumerate(self.args):
            if self.plan.written[i]:
                yield from self._pairs(value)
        for i, name in enumerate(self.plan.names):
            if self.plan.written[i] and name in self.kwargs:
                yield from self._pairs(self.kwargs[name])

    def _pairs(self, value):
        for tensor in tensors_in(value):
            if tensor.is_cuda:
                found = self.copies.get(id(tensor))
                yield tensor, found[1] if found else None


def fresh(result, written):
    """Returns the card tensors among the results that are not arguments."""
    taken = {id(tensor) for tensor, _ in written}
    return [tensor for tensor in tensors_in(result if isinstance(result, (list, tuple)) else [result])
            if tensor.is_cuda and id(tensor) not in taken]


def store(operation, result):
    """Computes the operator on the CPU if all tensors are small, and writes the results. False: they are unknown."""
    plan = operation.plan
    written = list(operation.written_arguments())
    outputs = fresh(result, written)
    if not all(is_small(tensor, plan.limit) and tensor.layout is torch.strided for tensor in outputs):
        return False
    before = operation.copies[id(operation.args[0])][2] if plan.sets else operation.state
    if before < operation.state and sets_only(operation):
        return store_set(operation)
    operation.state = min(operation.state, before)
    if operation.state == UNKNOWN:
        return False
    if operation.answered is None:
        try:
            computed = operation.compute()
        except Exception:
            return False
    else:
        computed = operation.answered[0]
    for tensor, copy in written:
        if copy is None or copy.shape != tensor.shape:
            return False
    for tensor, copy in written:
        contents.write(tensor, copy.contiguous(), operation.state)
    if outputs:
        flat = list(tensors_in(computed if isinstance(computed, (list, tuple)) else [computed]))
        # An optional result may have another shape on the CPU.
        if len(flat) != len(outputs) or flat[0].shape != outputs[0].shape:
            return False
        for tensor, value in zip(outputs, flat):
            if value.shape != tensor.shape:
                contents.forget(tensor)
                continue
            if value.dtype != tensor.dtype:
                value = value.to(tensor.dtype)
            if tensor.numel():
                contents.write(tensor, value.contiguous(), operation.state)
    return True


def guess_outputs(operation, result):
    """Writes what is known about results that were not computed."""
    plan, args = operation.plan, operation.args
    written = list(operation.written_arguments())
    outputs = fresh(result, written)
    for tensor, _ in written:
        contents.forget(tensor)
    for tensor in outputs:
        contents.forget(tensor)
    if plan.name in INDICES and outputs and isinstance(args[0], torch.Tensor):
        which = INDICES[plan.name]
        if which < len(outputs) and outputs[which].dtype == torch.int64 and is_small(outputs[which], BYTES_MAX):
            guess_indices(plan, args, operation.kwargs, outputs[which])
    elif plan.name == "any" and len(args) > 1 and len(outputs) == 1 and is_small(args[0], BYTES_MAX):
        contents.write(outputs[0], torch.ones(outputs[0].shape, dtype=outputs[0].dtype), GUESSED)
    elif plan.name in HOLDS and len(outputs) == 1 and is_small(outputs[0], BYTES_MAX):
        copy = torch.full(outputs[0].shape, HOLDS[plan.name], dtype=outputs[0].dtype)
        contents.write(outputs[0], copy, GUESSED)
    elif plan.name in ("eq", "ne") and len(args) > 1 and (args[1] is args[0] or is_infinity(args[1])) and \
            is_small(outputs[0], BYTES_MAX):
        copy = torch.full(outputs[0].shape, (plan.name == "eq") == (args[1] is args[0]), dtype=outputs[0].dtype)
        contents.write(outputs[0], copy, GUESSED)
    elif plan.name == "sum" and outputs and isinstance(args[0], torch.Tensor) and args[0].dtype is torch.bool and \
            is_small(outputs[0], BYTES_MAX):
        half = args[0].numel() // max(outputs[0].numel(), 1) // 2
        contents.write(outputs[0], torch.full(outputs[0].shape, half, dtype=outputs[0].dtype), GUESSED)
    elif plan.name in ("bincount", "histc") and outputs and outputs[0].numel() and is_small(outputs[0], BYTES_MAX):
        bins = outputs[0].numel()
        counts = [args[0].numel() // bins + (i < args[0].numel() % bins) for i in range(bins)]
        contents.write(outputs[0], torch.tensor(counts, dtype=outputs[0].dtype), GUESSED)
    elif plan.name == "_amp_foreach_non_finite_check_and_unscale_":
        copy = torch.zeros(args[1].shape, dtype=args[1].dtype)
        contents.write(args[1], copy, GUESSED)


def masks_of(operation):
    """Returns how many elements each mask in x[…] selects. Unknown masks are guessed and set guessed_masks."""
    indices = operation.args[1]
    answers = []
    for index in indices:
        if not isinstance(index, torch.Tensor) or index.dtype not in (torch.bool, torch.uint8) or not index.is_cuda:
            continue
        try:
            copy = operation.copy_of(index, True)
        except Unknown:
            answers.append(index.numel() // 2)
            operation.guessed_masks = True
            continue
        state = operation.copies[id(index)][2]
        if state == UNKNOWN:
            if not masks.recall(index, copy):
                guesses.fill(copy)
            contents.guess(index, copy)
            operation.copies[id(index)] = (index, copy, GUESSED)
        masks.keep(index, copy)
        if state != KNOWN:
            operation.guessed_masks = True
        answers.append(int(copy.count_nonzero()))
    return answers


def answer(operation):
    """Sets the values that the operator will read back before it knows the shapes of its results."""
    plan = operation.plan
    if plan.fills:
        answers = masks_of(operation)
        if answers:
            contents.expect(answers)
        return
    if plan.name in COMPARISONS and operation.state == UNKNOWN and not operation.large and \
            all(tensor.numel() == 1 for tensor in cuda_in(operation.args)):
        operation.guess_arguments()
    if plan.read_back is None:
        return
    if operation.state == UNKNOWN and not operation.large and hasattr(operation, "cpu_args"):
        if plan.name not in CHECKS:
            operation.guess_arguments()
    if operation.state == UNKNOWN:
        first = operation.args[0]
        count = operation.args[1].numel() if plan.name == "masked_select" else tensor_size(first)
        guess = {"bincount": [0, 0], "repeat_interleave": [count, 1]}.get(plan.name, [count // 2 or 1])
        if plan.name == "_coalesce":
            guess = [first._nnz()]
        contents.expect(CHECKS.get(plan.name, guess))
        operation.guessed_masks = plan.name not in ("multinomial", "normal")
        return
    try:
        operation.answered = (operation.compute(),)
    except Exception:
        operation.state = UNKNOWN
        return
    contents.expect(plan.read_back(operation.answered[0], *operation.cpu_args))
    operation.guessed_masks = operation.state == GUESSED and plan.name not in ("multinomial", "normal")


def carefully(do, operation, *more):
    """Calls do(operation, …). An error in this file must not end the program: the results are then unknown."""
    try:
        do(operation, *more)
    except Exception as error:
        operation.state = UNKNOWN
        for tensor in list(cuda_in(operation.args)) + list(cuda_in(more)):
            contents.forget(tensor)
        if operation.plan.name not in mistakes:
            mistakes.add(operation.plan.name)
            sys.stderr.write("gpumemtrace: values of %s are not known: %s: %s\n"
                             % (operation.plan.name, type(error).__name__, error))


def check_bounds(plan, args):
    """Warns if an index is out of bounds. Only known indices are checked, because guessed ones are always within bounds."""
    for index, least, end, other in plan.bounds(*args):
        if not index.is_cuda or not index.numel() or not is_small(index, BYTES_MAX):
            continue
        copy = torch.empty(index.shape, dtype=index.dtype)
        if contents.read(index, copy) != KNOWN:
            continue
        outside = (copy < least) | (copy >= end)
        if other is not None:
            outside &= copy != other
        place = program_place()
        if outside.any() and place not in outside_at:
            outside_at.add(place)
            sys.stderr.write("gpumemtrace: dry run: %s:%d: %s gets index %d, and there are %d; on a card its kernel asserts, and the "
                             "program ends at its next wait for the card\n"
                             % (*place, plan.name.strip("_"), int(copy[outside][0]), end))


def prepare(operation):
    if operation.plan.bounds:
        check_bounds(operation.plan, operation.args)
    operation.gather()
    operation.seed()
    if operation.plan.name in DRAWS and operation.state == UNKNOWN and not operation.large:
        operation.guess_arguments()
    answer(operation)
    if operation.plan.reads and operation.state == UNKNOWN and to_host(operation.plan, operation.args, operation.kwargs):
        operation.guess_arguments()


def is_single_float(args):
    return bool(args) and isinstance(args[0], Tensor) and args[0].numel() == 1 and args[0].is_floating_point()


def run(plan, func, args, kwargs):
    operation = Operation(plan, func, args, kwargs)
    operation.answered, operation.guessed_masks = None, False
    on_host = plan.reads and to_host(plan, args, kwargs)
    capturing = contents.begin(plan.reads and not (on_host and goes_through_another(plan, args, kwargs)))
    try:
        if not capturing:
            carefully(prepare, operation)
        contents.let_autocast()
        result = func._op(*args, **kwargs)
    except BaseException:
        args = kwargs = operation = None
        contents.end()
        raise
    readings = contents.end()
    carefully(guess_outputs if capturing else settle, operation, result)
    if on_host and not capturing:
        carefully(hand_over, operation, result)
    if operation.guessed_masks or (readings and operation.state != KNOWN and
                                   not plan.name.startswith(("linalg_", "_linalg"))):
        note_reading(is_single_float(args))
    return result


def is_unknown(plan, args):
    """Whether the results are certainly unknown, because an argument is large or its contents are unknown. Checks that cost more
    are left to Operation."""
    limit, ignored, least = plan.limit, plan.ignored, contents.state_of_bytes
    for i, value in enumerate(args):
        for tensor in (value,) if isinstance(value, Tensor) else value if isinstance(value, (list, tuple)) else ():
            if not isinstance(tensor, Tensor):
                continue
            count = tensor.numel()
            if count > limit or (bytes_ := count * tensor.element_size()) > limit or tensor.layout is not strided:
                return True
            if count and not ignored[i] and tensor.is_cuda and tensor.is_contiguous() and \
                    not least(tensor.data_ptr(), bytes_):
                return True
    return False


def pass_over(plan, args, kwargs):
    """Runs an operator. Nothing is known of its results."""
    contents.begin(plan.reads)
    try:
        contents.let_autocast()
        result = plan.op(*args, **kwargs)
    except BaseException:
        args = kwargs = None
        contents.end()
        raise
    if contents.end() and not plan.name.startswith(("linalg_", "_linalg")):
        note_reading(is_single_float(args))
    if isinstance(result, Tensor):
        contents.forget(result)
    else:
        for tensor in cuda_in([result]):
            contents.forget(tensor)
    for i in plan.written_at:
        for tensor in tensors_in(args[i:i + 1] or [kwargs.get(plan.names[i])]):
            if tensor is not result:
                contents.forget(tensor)
    return result


def resize(plan, args, kwargs):
    """Runs resize_. The tensor's old elements stay, and new ones are unknown. New bytes (uint8) are set to 0, because PyTorch
    pads pickled objects with them to the length of the longest and reads them back without using them."""
    tensor, kept = args[0], args[0].numel() * args[0].element_size()
    contents.begin(False)
    try:
        plan.op(*args, **kwargs)
    finally:
        contents.end()
    taken = tensor.numel() * tensor.element_size()
    if taken > kept and tensor.dtype is torch.uint8 and taken <= BYTES_MAX:
        contents.write_words(tensor.data_ptr() + kept, 0, None, None, taken - kept, bytes(taken - kept), KNOWN)
    elif taken > kept:
        contents.forget_bytes(tensor.data_ptr() + kept, taken - kept)
    return tensor


def take_apart(key, func, args, kwargs):
    """Runs a composite operator; the operators that it calls reach the mode. It uses the C++ implementation, because decompose()
    would prefer one in Python."""
    contents.let_autocast()
    push()
    try:
        return func._op_dk(getattr(torch._C.DispatchKey, key), *args, **kwargs)
    finally:
        pop()


def run_uncomputed(func, args, kwargs):
    contents.begin(True)
    try:
        return func._op(*args, **kwargs)
    finally:
        contents.end()


def is_on_card(plan, args, kwargs):
    for value in args:
        if isinstance(value, Tensor):
            if value.is_cuda:
                return True
        elif isinstance(value, (list, tuple)):
            for _ in cuda_in(value):
                return True
    if not kwargs:
        return False
    device = kwargs.get("device") if plan.has_device else None
    if device is not None and (device if isinstance(device, torch.device) else torch.device(device)).type == "cuda":
        return True
    return any(True for _ in cuda_in(list(kwargs.values())))


def to_host(plan, args, kwargs):
    """Whether the operator copies values of the card to the host."""
    if plan.name == "_local_scalar_dense":
        return True
    if plan.name == "copy_":
        return not args[0].is_cuda
    device = kwargs.get("device")
    return device is not None and torch.device(device).type != "cuda"


def goes_through_another(plan, args, kwargs):
    """Whether a kernel of the operator first gathers the values in other memory of the card, because they have gaps or another
    type."""
    if plan.name == "_local_scalar_dense":
        return False
    source = args[1] if plan.name == "copy_" else args[0]
    dtype = args[0].dtype if plan.name == "copy_" else kwargs.get("dtype") or source.dtype
    return dtype != source.dtype or not source.is_contiguous() or plan.name == "copy_" and not args[0].is_contiguous()


def hand_over(operation, result):
    """Writes the computed values to the host's tensor. For copy_ the operator has done that."""
    if operation.plan.name != "_to_copy" or operation.state == UNKNOWN or not is_small(result, operation.plan.limit):
        return
    result.copy_(operation.compute())


def settle(operation, result):
    if operation.state == UNKNOWN or operation.plan.empty or not operation.plan.computed:
        guess_outputs(operation, result)
    elif not operation.plan.writes and not any(True for _ in cuda_in([result])):
        pass
    elif not store(operation, result):
        operation.state = UNKNOWN
        guess_outputs(operation, result)


def cuda_in(values):
    for tensor in tensors_in(values):
        if tensor.is_cuda:
            yield tensor


def make_mode():
    from torch.utils._python_dispatch import TorchDispatchMode
    plans = {}
    overload = torch._ops.OpOverload
    modes_left = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)
    plain = torch.Tensor.__torch_dispatch__

    class Values(TorchDispatchMode):
        supports_higher_order_operators = True

        @classmethod
        def is_infra_mode(cls):
            return True

        @classmethod
        def ignore_compile_internals(cls):
            return True

        @classmethod
        def _should_skip_dynamo(cls):
            return False

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            # PyTorch's own modes, such as that of fake tensors, come after ours; nothing is computed then.
            if modes_left():
                return func(*args, **kwargs)
            for kind in types:
                if kind.__torch_dispatch__ is not plain:
                    return NotImplemented
            plan = plans.get(func)
            if plan is None:
                if not isinstance(func, overload):
                    return func(*args, **kwargs)
                plan = plans[func] = Plan(func)
            if plan.is_composite and (plan.has_device or is_on_card(plan, args, kwargs)):
                return take_apart(plan.made_by, func, args, kwargs)
            if plan.nothing:
                return plan.op(*args, **kwargs)
            if plan.is_collective:
                return run_uncomputed(func, args, kwargs)
            if not is_on_card(plan, args, kwargs):
                return plan.op(*args, **kwargs)
            try:
                if plan.name == "resize_" and args[0].is_contiguous():
                    return resize(plan, args, kwargs)
                if plan.may_pass and (not plan.computed or is_unknown(plan, args)) and \
                        not (plan.reads and to_host(plan, args, kwargs)) and \
                        not (plan.name == "sum" and args[0].dtype is torch.bool):
                    return pass_over(plan, args, kwargs)
                return run(plan, func, args, kwargs)
            except BaseException:
                args = kwargs = None  # because a traceback keeps this frame
                raise

    return Values
