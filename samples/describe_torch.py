# SPDX-License-Identifier: MIT
"""Writes the model file of any PyTorch module, for `gpumemtrace estimate`: the module runs once, and each operation
becomes a layer.

    build/gpumemtrace run --dry-run=any -- python3 samples/describe_torch.py model.py:make --input=2x3x224x224 -o model.json
    build/gpumemtrace estimate model.json --batch=64 --gpu=24GiB

model.py:make is a module, or a class or function that makes one. An input is a shape whose first dimension is the batch
(2 or more), of float32 or with a type (int64:2x128). A dry run uses the kernels of a card, so it keeps the same tensors
for backward as a card does. On a CPU, attention would be decomposed. A program can call json.dump(describe(module,
*inputs), file) instead.

Operations with a type in the format get that type (Linear, Attention …). All others become an `Operation` with the
result's shape and the tensors that PyTorch saved. The list of layers is flat, so --checkpointing cannot be used: it
needs a file with repeated blocks. Constants are not described. A result that is computed only from parameters becomes
an Operation that exists once, not once per sample. """
import argparse
import collections
import importlib.util
import json
import math
import pathlib
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

SCHEMA = "gpumemtrace.model/1"
RANK_MAX = 6
aten = torch.ops.aten

# Operations with one input and a result of the same shape as the input. The fields give the names of their arguments.
ELEMENTWISE = {
    "relu": ("ReLU", ()), "sigmoid": ("Sigmoid", ()), "tanh": ("Tanh", ()), "gelu": ("GELU", ()), "silu": ("SiLU", ()),
    "mish": ("Mish", ()), "hardswish": ("Hardswish", ()), "hardsigmoid": ("Hardsigmoid", ()), "hardtanh": ("ReLU6", ()),
    "leaky_relu": ("LeakyReLU", ()), "softplus": ("Softplus", ()), "_softmax": ("Softmax", ()), "_log_softmax": ("LogSoftmax", ()),
    "native_dropout": ("Dropout", ("p",)),
}  # fmt: skip
INPLACE = {"ReLU", "SiLU", "Mish", "Hardswish", "Hardsigmoid", "ReLU6", "LeakyReLU"}
BATCH_NORMS = {"native_batch_norm", "cudnn_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update"}
ATTENTIONS = {"_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention"}
WINDOWS = ("kernel", "stride", "padding", "dilation")
FACTORIES = ("new_", "zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like")
LOSSES = {"nll_loss_forward", "nll_loss2d_forward"}


def storage_of(tensor):
    return tensor.untyped_storage()._cdata


def tensors_in(arguments):
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            yield argument
        elif isinstance(argument, (list, tuple)):
            yield from tensors_in(argument)


def merged(shape):
    """Returns the shape, merged to at most as many dimensions as the format has."""
    extra = max(0, len(shape) - RANK_MAX)
    return [math.prod(shape[: extra + 1]), *shape[extra + 1 :]] or [1]


class Source:
    """The layer that wrote a storage, and the shape of its result in the file."""

    def __init__(self, name, shape, has_batch):
        self.name, self.shape, self.has_batch = name, list(shape), has_batch


class Recorder(TorchDispatchMode):
    def __init__(self, module, inputs):
        super().__init__()
        self.batch = inputs[0].shape[0]
        self.layers, self.aside, self.names = [], [], collections.Counter()
        self.sources, self.alive, self.saved, self.path = {}, [], [], [""]
        self.parameters, self.described, self.last = {}, set(), None
        for name, tensor in module.named_parameters():
            self.parameters.setdefault(storage_of(tensor), (name, tensor))
        for number, tensor in enumerate(inputs):
            shape = merged(tensor.shape[1:])
            name = "input" if number == 0 else self.add_aside(f"input.{number}", tensor, shape)
            self.sources[storage_of(tensor)] = Source(name, shape, True)
            self.alive.append(tensor)

    # --- layers ---

    def unique(self, name):
        name = name or "layer"
        self.names[name] += 1
        return name if self.names[name] == 1 else f"{name}_{self.names[name]}"

    def add(self, name, kind, reads, **fields):
        """Appends a layer. `reads` has the names of the layers that the layer reads."""
        layer = {"type": kind, "name": self.unique(name), **{key: value for key, value in fields.items() if value is not None}}
        if reads:
            layer["from"] = reads[0] if len(reads) == 1 else list(reads)
        self.layers.append(layer)
        return layer["name"]

    def add_aside(self, name, tensor, shape):
        kind = "Ids" if not tensor.is_floating_point() else "Parameter" if tensor.requires_grad else "Buffer"
        layer = {"type": kind, "name": self.unique(name)}
        if kind == "Ids" or shape:
            layer["shape"] = shape
        self.aside.append(layer)
        return layer["name"]

    def here(self, what):
        return f"{self.path[-1]}.{what}".lstrip(".")

    def shape_of(self, tensor, has_batch):
        """Returns the shape for one sample, wherever the batch is in the shape: "batch * tokens x width" becomes tokens
        x width."""
        shape = list(tensor.shape)
        if not has_batch:
            return merged(shape)
        for i, size in enumerate(shape):
            if size % self.batch == 0:
                shape[i] //= self.batch
                return merged(shape[:i] + shape[i + 1 :] if shape[i] == 1 and len(shape) > 1 else shape)
        return [tensor.numel()]

    def source(self, tensor):
        """Returns the source of a tensor, or None for a constant, which is not described."""
        storage = storage_of(tensor)
        if storage in self.parameters and storage not in self.sources:
            name, parameter = self.parameters[storage]
            shape = merged(parameter.shape)
            self.described.add(storage)
            self.sources[storage] = Source(self.add_aside(name, parameter, shape), shape, False)
        return self.sources.get(storage)

    def read(self, tensor, shape=None):
        """Returns the name of a layer whose result has that shape: the source, or a view of the source."""
        source = self.source(tensor)
        shape = list(shape or self.shape_of(tensor, source.has_batch))
        if shape == source.shape:
            return source.name
        whole, part = math.prod(source.shape), math.prod(shape)
        if part > whole:  # expanded
            return source.name
        name = source.name
        if part < whole:
            name = self.add(f"{name}.flat", "View", [name], shape=[whole]) if len(source.shape) > 1 else name
            name = self.add(f"{name}.part", "Part", [name], out=part)
        return self.add(f"{name}.view", "View", [name], shape=shape) if shape != [part] or part == whole else name

    def read_aligned(self, tensor, like):
        """Does the same as read, but with as many dimensions as the result, for operations that expand their inputs."""
        source = self.source(tensor)
        shape = [1] * (like.dim() - tensor.dim()) + [
            1 if stride == 0 and size > 1 else size for size, stride in zip(tensor.shape, tensor.stride())
        ]
        if source.has_batch and tensor.dim() == like.dim() and shape[0] == self.batch:
            shape = shape[1:]
        elif shape[0] == 1 and len(shape) > 1:
            shape = shape[1:]
        if len(shape) != like.dim() - 1 or len(shape) > RANK_MAX or math.prod(shape) > math.prod(source.shape):
            return None
        return self.read(tensor, shape) if all(size in (1, wide) for size, wide in zip(shape, like.shape[1:])) else None

    # --- operations ---

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        keywords = keywords or {}
        before = self.take_saved()
        result = function(*arguments, **keywords)
        self.describe(function, arguments, keywords, result, before)
        return result

    def take_saved(self):
        """Returns the tensors that autograd saved since the previous operation: its result, or inputs of the present
        operation."""
        saved, self.saved = self.saved, []
        if self.last:
            self.last(saved)
        self.last = None
        return saved

    def describe(self, function, arguments, keywords, result, before):
        name = function.overloadpacket.__name__.rstrip("_")
        outputs = list(tensors_in(result if isinstance(result, (list, tuple)) else [result]))
        inputs = list(tensors_in([*arguments, *keywords.values()]))
        read = [tensor for tensor in inputs if self.source_or_parameter(tensor)]
        self.alive.extend(outputs)
        if not outputs or not read or name.startswith(FACTORIES):
            return
        output = outputs[0]
        is_inplace = storage_of(output) in {storage_of(tensor) for tensor in inputs}
        if is_inplace and not function._schema.is_mutable:
            return  # a view
        if storage_of(output) in self.parameters:
            return
        # A type of the format implies what autograd saves; a custom autograd.Function runs without autograd, so it gets no type.
        has_batch = any(self.source(tensor).has_batch for tensor in read if self.knows(tensor))
        is_known = (has_batch or name == "embedding") and torch.is_grad_enabled() and self.describe_known(name, arguments, keywords, outputs, read, is_inplace)
        if not is_known and not is_inplace:
            self.describe_other(name, outputs, read, before)

    def source_or_parameter(self, tensor):
        return self.knows(tensor) or storage_of(tensor) in self.parameters

    def knows(self, *tensors):
        """True if all tensors are results or inputs, neither constants nor parameters."""
        return all(storage_of(tensor) in self.sources for tensor in tensors)

    def made(self, tensor, layer, has_batch=True, shape=None):
        self.sources[storage_of(tensor)] = Source(layer, shape or self.shape_of(tensor, has_batch), has_batch)
        return True

    def describe_other(self, name, outputs, read, before):
        """Describes an operation that has no type in the format. The layer keeps the tensors that autograd saved."""
        data = [tensor for tensor in read if self.source(tensor)]
        storages = {storage_of(tensor) for tensor in before}
        data.sort(key=lambda tensor: storage_of(tensor) not in storages)  # kept tensors first
        names = list(dict.fromkeys(self.source(tensor).name for tensor in data))
        kept = len({self.source(tensor).name for tensor in data if storage_of(tensor) in storages})
        layer = None
        has_batch = any(self.source(tensor).has_batch for tensor in data)
        for output in outputs:
            if not output.is_floating_point() or output.numel() == 0 or storage_of(output) in self.sources:
                continue
            shape = self.shape_of(output, has_batch)
            layer = self.add(self.here(name), "Operation", names, shape=shape, keeps_inputs=kept or None, once=None if has_batch else True)
            self.made(output, layer, has_batch, shape)
        if layer:
            self.last = self.keeper(self.layers[-1], outputs)

    def keeper(self, layer, outputs):
        """Returns a function that adds to the layer the tensors that were saved after the operation."""
        own = {storage_of(tensor) for tensor in outputs}

        def keep(saved):
            for tensor in saved:
                if storage_of(tensor) in own:
                    layer["keeps_result"] = True
                elif self.knows(tensor):
                    self.keep_input(layer, self.source(tensor).name)
                elif not self.source_or_parameter(tensor):
                    layer["kept"] = layer.get("kept", 0) + (tensor.nbytes if "once" in layer else max(1, tensor.nbytes // self.batch))

        return keep

    @staticmethod
    def keep_input(layer, name):
        reads = layer["from"] if isinstance(layer["from"], list) else [layer["from"]]
        kept = reads[: layer.get("keeps_inputs", 0)]
        if name not in kept and name != layer["name"]:
            layer["from"] = [name, *(other for other in reads if other != name)]
            layer["keeps_inputs"] = len(kept) + 1

    # --- operations with a type in the format ---

    def describe_known(self, name, arguments, keywords, outputs, read, is_inplace):
        """Describes an operation that has a type in the format. Returns False if it has none."""
        output = outputs[0]
        if name in ("addmm", "mm"):
            bias, x, weight = arguments[:3] if name == "addmm" else (None, *arguments[:2])
            return self.describe_linear(bias, x, weight, output)
        if name in ELEMENTWISE:
            return self.describe_elementwise(name, arguments, output, is_inplace)
        if name in BATCH_NORMS | {"native_layer_norm", "native_group_norm", "_fused_rms_norm"}:
            return self.describe_norm(name, arguments, output)
        if name in ATTENTIONS:
            return self.describe_attention(arguments, keywords, output)
        if name in ("add", "mul") and len(read) == 2 and (name == "add" or not is_inplace):
            return self.describe_pair(name, arguments, output, is_inplace)
        if name == "cat":
            return self.describe_cat(arguments, output)
        if name in LOSSES:
            return self.describe_loss(output)
        single = {"convolution": self.describe_convolution, "embedding": self.describe_embedding, "_cudnn_rnn": self.describe_recurrent}
        if name in single:
            return single[name](arguments, output)
        return "pool" in name and self.describe_pool(name, arguments, output)

    def parameter_of(self, tensor):
        """Returns (the parameter's name, whether it was described before), or None if the tensor is no parameter."""
        storage = storage_of(tensor)
        if storage not in self.parameters:
            return None
        seen = storage in self.described
        self.described.add(storage)
        return self.parameters[storage][0].rpartition(".")[0], seen

    def has_parameter(self, tensor):
        return tensor is not None and self.parameter_of(tensor) is not None

    def describe_linear(self, bias, x, weight, output):
        if storage_of(weight) not in self.parameters or not self.knows(x):
            return False
        parameter = self.parameters[storage_of(weight)][1]
        if weight.numel() != parameter.numel():
            return False
        name, is_tied = self.parameter_of(weight)
        has_bias = self.has_parameter(bias) and not is_tied
        transposed = weight.stride() == parameter.stride() and weight.shape == parameter.shape
        layer = self.add(name, "Linear", [self.read(x)], out=weight.shape[1], bias=has_bias, tied=is_tied or None,
                         transposed=transposed or None)  # fmt: skip
        return self.made(output, layer, self.source(x).has_batch)

    def describe_elementwise(self, name, arguments, output, is_inplace):
        kind, fields = ELEMENTWISE[name]
        if is_inplace and kind not in INPLACE:
            return False
        if is_inplace:
            self.drop_clone()
        has_batch = self.source(arguments[0]).has_batch
        values = dict(zip(fields, arguments[1:]))
        layer = self.add(self.here(name), kind, [self.read(arguments[0])], inplace=is_inplace or None, **values)
        return self.made(output, layer, has_batch)

    def drop_clone(self):
        """Drops the copy that autograd makes before some in-place operations, because the types of these operations
        include it."""
        last = self.layers[-1] if self.layers else {"type": None}
        if last["type"] == "Operation" and last["name"].rpartition(".")[2].startswith("clone"):
            self.sources = {storage: source for storage, source in self.sources.items() if source.name != last["name"]}
            self.layers.pop()

    def describe_norm(self, name, arguments, output):
        x = arguments[0]
        if not self.knows(x):
            return False
        weight = arguments[2] if name in ("native_layer_norm", "_fused_rms_norm") else arguments[1]
        bias = None if name == "_fused_rms_norm" else arguments[3 if name == "native_layer_norm" else 2]
        module = self.parameter_of(weight) if weight is not None else None
        fields = {"affine": module is not None and not module[1]}
        if bias is not None:
            self.parameter_of(bias)
        if name in BATCH_NORMS:
            kind = f"BatchNorm{max(1, x.dim() - 2)}d"
        elif name == "native_group_norm":
            kind, fields["groups"] = "GroupNorm", arguments[6]
        else:
            kind, fields["shape"] = "LayerNorm" if name == "native_layer_norm" else "RMSNorm", list(arguments[1])
            if fields["affine"] and kind == "LayerNorm":
                fields["bias"] = bias is not None
        layer = self.add(module[0] if module else self.here(kind.lower()), kind, [self.read(x)], **fields)
        return self.made(output, layer, self.source(x).has_batch)

    def describe_attention(self, arguments, keywords, output):
        query, key, value = arguments[:3]
        if not self.knows(query, key, value):
            return False
        views = [self.read(tensor, [tensor.shape[2], tensor.shape[1] * tensor.shape[3]]) for tensor in (query, key, value)]
        probability = keywords.get("dropout_p", 0.0)
        layer = self.add(self.here("attention"), "Attention", views, heads=query.shape[1], kv_heads=key.shape[1], p=probability)
        return self.made(output, layer, shape=[query.shape[2], query.shape[1] * value.shape[3]])

    def describe_pair(self, name, arguments, output, is_inplace):
        if len(list(tensors_in(arguments[:2]))) < 2:
            return False
        names = [self.read_aligned(tensor, output) for tensor in arguments[:2]]
        has_batch = any(self.source(tensor).has_batch for tensor in arguments[:2])
        if None in names or not has_batch or output.dim() < 2 or output.dim() > RANK_MAX:
            return False
        layer = self.add(self.here(name), name.capitalize(), names, inplace=is_inplace or None)
        return self.made(output, layer, shape=list(output.shape[1:]))

    def describe_cat(self, arguments, output):
        tensors, dim = arguments[0], (arguments[1] if len(arguments) > 1 else 0) % output.dim()
        if dim == 0 or dim not in (1, output.dim() - 1) or not all(self.source(tensor) for tensor in tensors) or len(tensors) < 2:
            return False
        names = [self.read(tensor, [*tensor.shape[1:]]) for tensor in tensors]
        layer = self.add(self.here("cat"), "Cat" if dim == 1 else "CatLast", names)
        return self.made(output, layer, shape=list(output.shape[1:]))

    def describe_convolution(self, arguments, output):
        x, weight, bias, stride, padding, dilation, transposed, output_padding, groups = arguments[:9]
        module = self.parameter_of(weight) if self.knows(x) else None
        if module is None:
            return False
        if bias is not None:
            self.parameter_of(bias)
        rank = weight.dim() - 2
        fields = dict(kernel=list(weight.shape[2:]), stride=list(stride), padding=list(padding), dilation=list(dilation),
                      groups=groups, bias=bias is not None)  # fmt: skip
        if transposed:
            fields.update(out=weight.shape[1] * groups, output_padding=list(output_padding))
        layer = self.add(module[0], f"Conv{'Transpose' if transposed else ''}{rank}d", [self.read(x)],
                         **{"out": weight.shape[0], **fields})  # fmt: skip
        return self.made(output, layer)

    def describe_embedding(self, arguments, output):
        weight, ids = arguments[:2]
        module = self.parameter_of(weight)
        if module is None:
            return False
        source = self.source(ids)
        fields = dict(num=weight.shape[0], dim=weight.shape[1])
        if source and source.has_batch:
            layer = self.add(module[0], "Embedding", [source.name], **fields, tied=module[1] or None)
            return self.made(output, layer)
        positions = self.unique(f"{module[0]}.ids")
        self.aside.append({"type": "Ids", "name": positions, "shape": merged(ids.shape[-1:])})
        if ids.dim() > 1 and ids.shape[0] == self.batch:
            return self.made(output, self.add(module[0], "Embedding", [positions], **fields))
        layer = self.add(module[0], "PositionEmbedding", [positions], **fields)
        return self.made(output, layer, has_batch=False, shape=[*merged(ids.shape[-1:]), weight.shape[1]])

    def describe_recurrent(self, arguments, output):
        x, weights, hidden, layers, bidirectional = arguments[0], arguments[1], arguments[7], arguments[9], arguments[13]
        if not self.knows(x):
            return False
        module = [self.parameter_of(weight) for weight in weights][0]
        kind = {2: "LSTM", 3: "GRU"}.get(arguments[6], "RNN")
        shape = [x.numel() // x.shape[-1] // self.batch, x.shape[-1]]
        dropped = {"p": arguments[11]} if arguments[11] else {}
        layer = self.add(module[0] if module else self.here("rnn"), kind, [self.read(x, shape)], hidden=hidden, layers=layers,
                         bidirectional=bidirectional, bias=len(weights) % 4 == 0, **dropped)  # fmt: skip
        return self.made(output, layer, shape=[shape[0], output.shape[-1]])

    def describe_pool(self, name, arguments, output):
        x, rank = arguments[0], output.dim() - 2
        kind = "MaxPool" if name.startswith("max_pool") else "AdaptiveAvgPool" if "adaptive_avg" in name else "AvgPool"
        if not name.lstrip("_").startswith(("max_pool", "avg_pool", "adaptive_avg_pool")) or not 1 <= rank <= 3:
            return False
        if kind == "AdaptiveAvgPool":
            fields = {"output": list(output.shape[2:])}
        else:
            given = zip(WINDOWS if kind == "MaxPool" else WINDOWS[:3], arguments[1:])
            fields = {field: value for field, value in given if not isinstance(value, (list, tuple)) or value}
            fields = {field: list(value) if isinstance(value, (list, tuple)) else value for field, value in fields.items()}
            place = 5 if kind == "MaxPool" else 4
            if len(arguments) > place:
                fields["ceil_mode"] = arguments[place]
        layer = self.add(self.here("pool"), f"{kind}{rank}d", [self.read(x)], **fields)
        return self.made(output, layer)

    def describe_loss(self, output):
        """Merges the loss with the LogSoftmax that the loss reads: the type TokenLoss includes both."""
        last = self.layers[-1]
        while last["type"] == "View":
            self.layers.pop()
            last = self.layers[-1] if self.layers else {"type": None}
        if last["type"] != "LogSoftmax":
            return False
        last.update(type="TokenLoss", name=self.unique("loss"))
        self.sources.clear()  # operations after a loss are not described
        return True

    # --- modules ---

    def enter(self, path):
        self.path.append(path)

    def leave(self):
        self.path.pop()


def rest_of(recorder, module):
    """Adds the tensors that no operation used: parameters, and buffers except those of batch norms."""
    for storage, (name, tensor) in recorder.parameters.items():
        if storage not in recorder.described:
            recorder.add_aside(name, tensor, merged(tensor.shape))
    for name, tensor in module.named_buffers():
        owner = module.get_submodule(name.rpartition(".")[0])
        if not isinstance(owner, torch.nn.modules.batchnorm._BatchNorm):
            layer = {"type": "Buffer", "name": recorder.unique(name), "shape": merged(tensor.shape)}
            recorder.aside.append({**layer, **({} if tensor.is_floating_point() else {"integer": True})})


def describe(module, *inputs, name=None):
    """Returns the model file of module(*inputs) as a dict. The first dimension of each input is the batch, of 2 or
    more."""
    if not inputs or inputs[0].dim() < 2 or inputs[0].shape[0] < 2:
        raise ValueError("the first input needs a batch of 2 or more in front")
    recorder = Recorder(module, inputs)
    paths = {id(part): path for path, part in module.named_modules()}
    hooks = [part.register_forward_pre_hook(lambda part, _: recorder.enter(paths[id(part)])) for part in module.modules()]
    hooks += [part.register_forward_hook(lambda *_: recorder.leave()) for part in module.modules()]
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: recorder.saved.append(tensor) or tensor, lambda tensor: tensor), recorder:
        module(*inputs)
    recorder.take_saved()
    for hook in hooks:
        hook.remove()
    rest_of(recorder, module)
    first = inputs[0]
    return {"schema": SCHEMA, "name": name or type(module).__name__, "input": merged(first.shape[1:]),
            "dtype": str(next((p.dtype for p in module.parameters()), torch.float32)).removeprefix("torch."),
            "layers": recorder.aside + recorder.layers}  # fmt: skip


def load(text):
    path, _, name = text.rpartition(":")
    spec = importlib.util.spec_from_file_location("described", path)
    loaded = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(pathlib.Path(path).resolve().parent))
    spec.loader.exec_module(loaded)
    found = getattr(loaded, name)
    return found if isinstance(found, torch.nn.Module) else found()


def make_input(text, device):
    kind, _, sizes = text.rpartition(":")
    return torch.zeros([int(size) for size in sizes.split("x")], dtype=getattr(torch, kind or "float32"), device=device)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", help="FILE.py:NAME of a module, or of what makes one")
    parser.add_argument("--input", action="append", required=True, help="[TYPE:]SIZExSIZE…, the batch first; once for each input")
    parser.add_argument("-o", "--output", help="where to write it; standard output")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        print("no GPU and no dry run: attention is composed on a CPU, and keeps more", file=sys.stderr)
    described = describe(load(options.module).to(device).train(), *(make_input(text, device) for text in options.input))
    text = json.dumps(described, indent=1)
    if options.output:
        pathlib.Path(options.output).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
