# SPDX-License-Identifier: MIT
"""Perfetto's descriptors of its trace format, from its PyPI package. The package's module works with one release of
protobuf only. So the module is not imported: the serialized descriptor, a literal in it, is read from the source, and
works with any release."""
import ast

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from support.run import BUILD

MODULE = BUILD / "perfetto/perfetto/protos/perfetto/trace/perfetto_trace_pb2.py"


def trace_class():
    if not MODULE.exists():
        pytest.skip("no descriptors of Perfetto; make check-export gets them from PyPI")
    (serialized,) = (node.args[0].value for node in ast.walk(ast.parse(MODULE.read_text()))
                     if isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "AddSerializedFile")  # fmt: skip
    pool = descriptor_pool.DescriptorPool()
    pool.Add(descriptor_pb2.FileDescriptorProto.FromString(serialized))
    descriptor = pool.FindMessageTypeByName("perfetto.protos.Trace")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


def unknown_fields(message):
    """Returns the fields of the message and of its inner messages that the schema does not know."""
    if hasattr(message, "UnknownFields"):
        found = list(message.UnknownFields())
    else:
        from google.protobuf import unknown_fields as own

        found = list(own.UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for inner in value if field.label == field.LABEL_REPEATED else [value]:
                found += unknown_fields(inner)
    return found


def read(path):
    """Returns the packets. A field that the schema does not know is an error."""
    trace = trace_class()()
    trace.MergeFromString(path.read_bytes())
    assert unknown_fields(trace) == []
    return trace.packet
