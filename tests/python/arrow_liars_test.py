"""Arrow producers that break the rules of the C interface: ValueError, and not a crash."""

import ctypes

import fenchel
import numpy as np
import pytest


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


SchemaPointer, ArrayPointer, StreamPointer = map(ctypes.POINTER, (Schema, Array, Stream))
ReleaseSchema = ctypes.CFUNCTYPE(None, SchemaPointer)
ReleaseArray = ctypes.CFUNCTYPE(None, ArrayPointer)
ReleaseStream = ctypes.CFUNCTYPE(None, StreamPointer)
GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, StreamPointer, SchemaPointer)
GetNext = ctypes.CFUNCTYPE(ctypes.c_int, StreamPointer, ArrayPointer)
GetError = ctypes.CFUNCTYPE(ctypes.c_void_p, StreamPointer)

Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(SchemaPointer)),
    ("dictionary", SchemaPointer),
    ("release", ReleaseSchema),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ArrayPointer)),
    ("dictionary", ArrayPointer),
    ("release", ReleaseArray),
    ("private_data", ctypes.c_void_p),
]
Stream._fields_ = [
    ("get_schema", GetSchema),
    ("get_next", GetNext),
    ("get_last_error", GetError),
    ("release", ReleaseStream),
    ("private_data", ctypes.c_void_p),
]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

DATA = np.arange(4.0)
REASON = ctypes.create_string_buffer(b"no")


@ReleaseSchema
def release_schema(schema):
    schema.contents.release = ReleaseSchema()


@ReleaseArray
def release_array(array):
    array.contents.release = ReleaseArray()


@ReleaseStream
def release_stream(stream):
    stream.contents.release = ReleaseStream()


class Producer:
    """A table with one column x of four doubles; what a test changes is a lie."""

    def __init__(self):
        self.column = Schema(b"g", b"x", release=release_schema)
        self.columns = (SchemaPointer * 1)(ctypes.pointer(self.column))
        self.schema = Schema(b"+s", b"", n_children=1, children=self.columns, release=release_schema)
        self.buffers = (ctypes.c_void_p * 2)(None, DATA.ctypes.data)
        self.child = Array(4, 0, 0, 2, buffers=self.buffers, release=release_array)
        self.children = (ArrayPointer * 1)(ctypes.pointer(self.child))
        self.nothing = (ctypes.c_void_p * 1)(None)
        self.array = Array(4, 0, 0, 1, 1, self.nothing, self.children, release=release_array)
        self.names = (b"arrow_schema", b"arrow_array")

    def __arrow_c_array__(self, requested_schema=None):
        return (
            new_capsule(ctypes.addressof(self.schema), self.names[0], None),
            new_capsule(ctypes.addressof(self.array), self.names[1], None),
        )


def test_an_honest_producer():
    (batch,) = fenchel.batches(Producer())
    np.testing.assert_array_equal(batch[:, 0], DATA)


def lie(**changes):
    def change(producer):
        for path, value in changes.items():
            part, attribute = path.split("__")
            setattr(getattr(producer, part), attribute, value)

    return pytest.param(change, id=str(changes)[:60])


@pytest.mark.parametrize(
    "change",
    [
        lie(schema__format=None),
        lie(schema__n_children=-1),
        lie(schema__children=None),
        lie(schema__children=(SchemaPointer * 1)()),
        lie(column__format=None),
        lie(schema__release=ReleaseSchema()),
        lie(array__release=ReleaseArray()),
        lie(array__length=-1),
        lie(array__length=5),
        lie(array__length=2**62, child__length=2**62),
        lie(array__offset=-1),
        lie(array__offset=1),
        lie(array__offset=2**63 - 1),
        lie(array__n_children=0),
        lie(array__children=None),
        lie(array__children=(ArrayPointer * 1)()),
        lie(array__buffers=None),
        lie(child__release=ReleaseArray()),
        lie(child__length=3),
        lie(child__offset=-1),
        lie(child__offset=2**63 - 1),
        lie(child__n_buffers=0),
        lie(child__n_buffers=1),
        lie(child__buffers=None),
        lie(child__buffers=(ctypes.c_void_p * 2)()),
    ],
)
def test_lies(change):
    producer = Producer()
    change(producer)
    with pytest.raises(ValueError, match="arrow"):
        list(fenchel.batches(producer))


@pytest.mark.parametrize("names", [(b"arrow_array", b"arrow_array"), (b"arrow_schema", b"other")])
def test_capsules_of_another_name(names):
    producer = Producer()
    producer.names = names
    with pytest.raises(ValueError):
        list(fenchel.batches(producer))


def test_what_is_no_capsule():
    class Liar:
        def __arrow_c_stream__(self, requested_schema=None):
            return 3

    with pytest.raises(ValueError):
        list(fenchel.batches(Liar()))


def reason(stream):
    return ctypes.addressof(REASON)


class StreamProducer:
    """A stream whose functions are those of a test."""

    def __init__(self, get_schema, get_next, get_last_error=None):
        self.source = Producer()

        def schema(stream, out):
            out[0] = self.source.schema
            return 0

        self.stream = Stream(
            GetSchema(schema) if get_schema is None else get_schema,
            get_next,
            GetError() if get_last_error is None else get_last_error,
            release_stream,
        )

    def __arrow_c_stream__(self, requested_schema=None):
        return new_capsule(ctypes.addressof(self.stream), b"arrow_array_stream", None)


@pytest.mark.parametrize(
    "producer, message",
    [
        (lambda: StreamProducer(GetSchema(), GetNext()), "get_schema"),
        (lambda: StreamProducer(None, GetNext()), "get_next"),
        (lambda: StreamProducer(GetSchema(lambda stream, out: 0), GetNext(lambda stream, out: 0)), "format"),
        (lambda: StreamProducer(GetSchema(lambda stream, out: 5), GetNext(lambda stream, out: 0)), "the schema cannot"),
        (lambda: StreamProducer(None, GetNext(lambda stream, out: 22)), "batch 0 cannot be read: Invalid argument"),
        (lambda: StreamProducer(None, GetNext(lambda stream, out: 5), GetError(reason)), "read: no"),
    ],
)
def test_streams_that_fail(producer, message):
    with pytest.raises(ValueError, match=message):
        list(fenchel.batches(producer()))
