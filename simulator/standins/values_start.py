# SPDX-License-Identifier: MIT
"""
The last part of values.py, in one namespace with it (dryrun_values.S): starts the mode in every thread when PyTorch is imported,
and lets PyTorch's threads end as they do without it. It must allocate no memory of a card.
"""
# pylint: disable=undefined-variable

def let_higher_order_operators_pass():
    """Adds a rule for the mode to each higher-order operator, because in releases before supports_higher_order_operators an
    operator without such a rule raises."""
    kind = getattr(torch._ops, "HigherOrderOperator", None)
    if kind is None or hasattr(type(mode).__mro__[1], "supports_higher_order_operators"):
        return

    def add_rule(operator):
        try:
            operator.py_impl(type(mode))(lambda own, *args, **kwargs: operator(*args, **kwargs))
        except (AssertionError, AttributeError, TypeError):
            pass

    begin = kind.__init__

    def __init__(self, *args, **kwargs):
        begin(self, *args, **kwargs)
        add_rule(self)

    kind.__init__ = __init__
    for operator in list(getattr(torch._ops, "_higher_order_ops", {}).values()):
        add_rule(operator)


def keys_of_autocast():
    """The dispatch key by which PyTorch enters a mode, as a bit mask, and the key of autocast; 0: unknown."""
    try:
        keys = torch._C.DispatchKey
        if not hasattr(torch._C.DispatchKeySet, "raw_repr"):  # before PyTorch 2.1: bits of backends, then of keys from 1 on
            return ctypes.c_uint64(1 << torch._C._dispatch_num_backends() + int(keys.PythonTLSSnapshot) - 1), int(keys.AutocastCUDA)
        return ctypes.c_uint64(torch._C.DispatchKeySet(keys.PythonTLSSnapshot).raw_repr()), int(keys.AutocastCUDA)
    except AttributeError:
        return ctypes.c_uint64(0), 0


def push():
    torch._C._push_on_torch_dispatch_stack(mode)


def pop():
    torch.utils._python_dispatch._pop_mode()


def let_texts_compute():
    """Keeps the mode on while PyTorch converts a tensor to text. PyTorch switches all modes off for that, and the kernels would
    then run outside operators. The operators run on the card as without the mode, and are computed."""
    plain = torch._tensor_str._str_intern

    def _str_intern(*args, **kwargs):
        if torch._C._len_torch_dispatch_stack():
            return plain(*args, **kwargs)
        push()
        try:
            return plain(*args, **kwargs)
        finally:
            pop()

    if hasattr(torch._C, "_len_torch_dispatch_stack"):
        torch._tensor_str._str_intern = _str_intern


def let_guards_match():
    """Keeps the mode on while Dynamo makes guards. Dynamo switches all modes off while it compiles, and its guards compare the
    dispatch keys of that moment. Releases that do not leave out a mode's keys would compile each call anew, up to the limit."""
    if hasattr(type(mode).__mro__[1], "ignore_compile_internals"):
        return

    def wrap():
        kind = getattr(sys.modules["torch._dynamo.guards"], "CheckFunctionManager", None)
        begin = getattr(kind, "__init__", None)

        def __init__(self, *args, **kwargs):
            push()
            try:
                begin(self, *args, **kwargs)
            finally:
                pop()

        if kind:
            kind.__init__ = __init__

    when_imported("torch._dynamo.guards", wrap)


def watch_threads():
    inner = threading.Thread._bootstrap_inner

    def _bootstrap_inner(self):
        push()
        inner(self)

    threading.Thread._bootstrap_inner = _bootstrap_inner


def let_workers_end():
    """Lets a failed backward wait until its workers have dropped the exception. A worker of autograd that has raised holds the
    graph, and so the graph's memory, until it gets Python's lock. Without Python code in operators, a worker drops it at once."""
    import time

    def references(error):
        return sys.getrefcount(error)

    def seen(do):
        try:
            do()
        except BaseException as error:
            return references(error)

    def fail():
        raise ValueError

    alone = seen(fail)

    class Engine(type(torch.autograd.Variable._execution_engine)):
        def run_backward(self, *args, **kwargs):
            try:
                return super().run_backward(*args, **kwargs)
            except BaseException as error:
                args = kwargs = None
                for _ in range(WORKER_WAITS):
                    time.sleep(WORKER_WAIT_S)
                    if references(error) <= alone:
                        break
                time.sleep(WORKER_WAIT_S)
                raise

    torch.autograd.Variable._execution_engine = Engine()


def let_graphs_end():
    """Lets the end of the program wait until each worker of autograd has run one more graph, which is empty and takes no memory.
    A worker drops a graph, and with it objects of Python that PyTorch 2.15 keeps there, a moment after backward has returned.
    If Python has ended by then, PyTorch aborts the program."""
    import atexit

    def take_another(device):
        leaf = torch.empty(0, device=device, requires_grad=True)
        torch.autograd.Variable._execution_engine.run_backward((leaf * 1,), (leaf.detach(),), False, False, (), True, True)

    @atexit.register
    def wait():
        try:
            with torch.inference_mode(False), torch.enable_grad():
                for device in range(torch.cuda.device_count()):
                    if torch.cuda.is_initialized() and torch._C._cuda_hasPrimaryContext(device):
                        take_another(device)
        except Exception:
            pass  # no error here may change how the program ends


def say_which_cudnn():
    """Passes the version of cuDNN that this build was made for to the stand-in, because PyTorch chooses code paths by it."""
    try:
        parts = torch._C._cudnn.getCompileVersion()
    except AttributeError:
        return
    ctypes.PyDLL(None).gpumemtrace_dryrun_set_cudnn(*map(int, parts))


def start():
    global torch, Tensor, strided, CPU, mode, contents, guesses, masks, mistakes, outside_at, OTHERS, StorageWeakRef
    import sysconfig
    import torch
    be_alone()
    say_which_cudnn()
    let_graphs_end()
    Tensor, strided = torch.Tensor, torch.strided
    contents = Contents()
    if not contents.kept():
        return
    CPU, guesses, masks, mistakes, outside_at = torch.device("cpu"), Guesses(), Masks(), set(), set()
    from torch.multiprocessing.reductions import StorageWeakRef
    OTHERS = tuple({os.path.dirname(os.path.dirname(torch.__file__)) + "/", sysconfig.get_paths()["stdlib"] + "/"})
    mode = make_mode()()
    ctypes.PyDLL(None).gpumemtrace_values_mode_is_pushed(*keys_of_autocast())
    let_higher_order_operators_pass()
    let_streams_pass()
    push()
    let_texts_compute()
    let_guards_match()
    watch_threads()
    let_workers_end()


def watch_import(spec, do):
    """Calls `do` as soon as the module is imported."""
    plain = type(spec)

    class Importing(plain):
        @property
        def _initializing(self):
            return self.__dict__["_initializing"]

        @_initializing.setter
        def _initializing(self, value):
            self.__dict__["_initializing"] = value
            if not value:
                self.__class__ = plain
                do()

    spec.__class__ = Importing


def when_imported(name, do):
    """As watch_import, for a module whose import has not begun."""
    from importlib.machinery import PathFinder

    class Finder:
        @staticmethod
        def find_spec(asked, path=None, _target=None):
            if asked != name:
                return None
            sys.meta_path.remove(Finder)
            spec = PathFinder.find_spec(name, path)
            if spec:
                watch_import(spec, do)
            return spec

    sys.meta_path.insert(0, Finder)


watch_import(sys.modules["torch"].__spec__, start)
