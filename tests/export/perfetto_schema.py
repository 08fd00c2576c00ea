# SPDX-License-Identifier: MIT
"""Perfetto's own description of its traces, from its package on PyPI, for whatever release of protobuf is here: the package's
module asks for one of its own, and what it describes is a literal in that module."""
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
    """The fields that the schema does not know, of this message and those in it."""
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
    """The packets; what is no field of the schema is an error."""
    trace = trace_class()()
    trace.MergeFromString(path.read_bytes())
    assert unknown_fields(trace) == []
    return trace.packet
