# SPDX-License-Identifier: MIT
"""Descriptors of pprof's messages, for protobuf's own decoder. The numbers and types of the fields are those of
github.com/google/pprof/blob/main/proto/profile.proto."""
import gzip

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FIELDS = {
    "Profile": "sample_type=1:*ValueType sample=2:*Sample mapping=3:*Mapping location=4:*Location function=5:*Function "
               "string_table=6:*string drop_frames=7:int64 keep_frames=8:int64 time_nanos=9:int64 duration_nanos=10:int64 "
               "period_type=11:ValueType period=12:int64 comment=13:*int64 default_sample_type=14:int64",
    "ValueType": "type=1:int64 unit=2:int64",
    "Sample": "location_id=1:*uint64 value=2:*int64 label=3:*Label",
    "Label": "key=1:int64 str=2:int64 num=3:int64 num_unit=4:int64",
    "Mapping": "id=1:uint64 memory_start=2:uint64 memory_limit=3:uint64 file_offset=4:uint64 filename=5:int64 build_id=6:int64",
    "Location": "id=1:uint64 mapping_id=2:uint64 address=3:uint64 line=4:*Line is_folded=5:bool",
    "Line": "function_id=1:uint64 line=2:int64",
    "Function": "id=1:uint64 name=2:int64 system_name=3:int64 filename=4:int64 start_line=5:int64",
}  # fmt: skip


def add_field(message, text):
    name, number, kind = text.replace("=", ":").split(":")
    field = message.field.add(name=name, number=int(number))
    field.label = field.LABEL_REPEATED if kind.startswith("*") else field.LABEL_OPTIONAL
    kind = kind.lstrip("*")
    if kind in FIELDS:
        field.type, field.type_name = field.TYPE_MESSAGE, f".profile.{kind}"
    else:
        field.type = getattr(field, f"TYPE_{kind.upper()}")


def profile_class():
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="profile", syntax="proto3")
    for name, fields in FIELDS.items():
        message = file.message_type.add(name=name)
        for field in fields.split():
            add_field(message, field)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName("profile.Profile")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


def read(path):
    """Returns the profile. A field that the schema does not know is an error."""
    profile = profile_class()()
    with gzip.open(path) as file:
        profile.ParseFromString(file.read())
    assert not list(profile.UnknownFields())
    return profile
