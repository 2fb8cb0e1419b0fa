"""The wire, spoken from outside: SP framing over a plain socket, and messages in msgpack.

Written from the protocol's page alone and sharing no code with the client library: what the daemon gets wrong with a
stranger's client shows here. Bytes can be sent at any level: raw, as frames, as messages.
"""

import os
import select
import socket
import struct
import time

import msgpack

REQ, REP, PUB, SUB = 0x30, 0x31, 0x20, 0x21
METHODS = ["frustum", "hiz", "box", "exact", "query", "auto"]
GRADES = ["exact", "conservative", "guarded", "lagged", "frustum", "all", "region"]
DEPTHS = {"zero_to_one": 0, "reversed": 1, "neg_one_to_one": 2}
YS = {"up": 0, "down": 1}
NONE = (1 << 64) - 1
PATIENCE = float(os.environ.get("VISD_TEST_PATIENCE", "1")) * 30  # seconds for anything to answer


class Closed(Exception):
    """The daemon closed the connection."""


class Late(Exception):
    """No answer in time."""


class Refused(Exception):
    def __init__(self, reply):
        super().__init__(f"{reply['name']}: {reply['text']}")
        self.name, self.text, self.reply = reply["name"], reply["text"], reply


def pack(array_type, values):
    return struct.pack(f"<{len(values)}{array_type}", *values)


def unpack(array_type, data):
    return list(struct.unpack(f"<{len(data) // struct.calcsize(array_type)}{array_type}", data))


class Peer:
    """One connection, byte by byte."""

    def __init__(self, url, greet=REQ, timeout=PATIENCE):
        self.ipc = url.startswith("ipc://")
        self.timeout = timeout
        if self.ipc:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            # Blocking, so that it waits for a place in a full backlog, but not for ever.
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(timeout), 0))
            self.sock.connect(url[len("ipc://"):])
        else:
            host, port = url.split("://")[1].rsplit(":", 1)
            self.sock = socket.create_connection((host, int(port)), timeout)
        self.sock.settimeout(timeout)
        if greet is not None:
            self.raw(self.greeting(greet))
            self.protocol = self.expect_greeting()

    @staticmethod
    def greeting(protocol):
        return b"\0SP\0" + struct.pack(">HH", protocol, 0)

    def expect_greeting(self):
        got = self.exactly(8)
        assert got[:4] == b"\0SP\0" and got[6:] == b"\0\0", f"not a greeting: {got!r}"
        return struct.unpack(">H", got[4:6])[0]

    def raw(self, data):
        self.sock.sendall(data)

    def frame_header(self, length):
        return (b"\x01" if self.ipc else b"") + struct.pack(">Q", length)

    def frame(self, body):
        self.raw(self.frame_header(len(body)) + body)

    def exactly(self, count):
        got = bytearray()
        while len(got) < count:
            try:
                piece = self.sock.recv(min(count - len(got), 1 << 20))
            except socket.timeout:
                raise Late(f"{len(got)} of {count} bytes came") from None
            except ConnectionResetError:
                raise Closed() from None
            if not piece:
                raise Closed()
            got += piece
        return bytes(got)

    def read_frame(self):
        if self.ipc:
            kind = self.exactly(1)
            assert kind == b"\x01", f"a frame begins with {kind!r}"
        (length,) = struct.unpack(">Q", self.exactly(8))
        assert length < 1 << 30, f"a frame of {length} bytes"
        return self.exactly(length)

    def closed_within(self, seconds):
        """Whether the daemon closes this connection in time; what it still sends is thrown away."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.sock], [], [], left)[0]:
                return False
            try:
                if not self.sock.recv(65536):
                    return True
            except ConnectionError:
                return True

    def close(self):
        self.sock.close()

    def reset(self):
        """Leaves without a goodbye."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


class Client(Peer):
    """A requester. request() is one round trip; send() and receive() keep several in flight."""

    def __init__(self, url, hello=True, name="test", client=None, timeout=PATIENCE):
        super().__init__(url, REQ, timeout)
        assert self.protocol == REP, f"greeted with {self.protocol:#x}"
        self.n = 0
        self.words = 0
        self.waiting = {}
        self.client = client or os.urandom(16)
        self.number = 0
        self.view_key = 0
        if hello:
            self.about = self.request("hello", version=1, client=self.client, name=name)
            self.number = self.about["batch_number"]

    def send_body(self, body):
        """A request's message as bytes, whatever they are; answers carry the same word back."""
        self.words += 1
        word = struct.pack(">I", 0x80000000 | self.words)
        self.frame(word + body)
        return word

    def receive_body(self, word):
        while word not in self.waiting:
            body = self.read_frame()
            self.waiting[body[:4]] = body[4:]
        return self.waiting.pop(word)

    def send(self, kind, **fields):
        self.n += 1
        message = {"t": kind, "n": self.n}
        message.update(fields)
        return self.send_body(msgpack.packb(message, use_bin_type=True)), self.n

    def receive(self, ticket):
        word, n = ticket
        reply = msgpack.unpackb(self.receive_body(word), raw=False, strict_map_key=False)
        assert reply["n"] == n, f"the answer to {n} says {reply['n']}"
        if reply["t"] == "error":
            raise Refused(reply)
        return reply

    def request(self, kind, **fields):
        return self.receive(self.send(kind, **fields))

    def send_raw_message(self, data):
        """Any bytes as a message; returns the reply, which may be an error, as it is."""
        return msgpack.unpackb(self.receive_body(self.send_body(data)), raw=False, strict_map_key=False)

    # --- what tests say often ---

    def stats(self):
        return {row["name"]: row["value"] for row in self.request("stats")["values"]}

    def scene_create(self, name="s", **fields):
        return self.request("scene_create", name=name, **fields)["row"]["scene"]

    def scene_row(self, scene):
        return self.request("scene_info", scene=scene)["row"]

    def batch(self, scene, items, **fields):
        self.number += 1
        try:
            return self.request("batch", scene=scene, client=self.client, number=self.number, items=items, **fields)
        except Refused:
            self.number -= 1
            raise

    def view_open(self, scene, **fields):
        self.view_key += 1
        if "method" in fields:
            fields["method"] = METHODS.index(fields["method"])
        return View(self, self.request("view_open", scene=scene, client=self.client, key=self.view_key, **fields))

    def object_ids(self, scene):
        ids, first = [], 0
        while True:
            page = self.request("objects", scene=scene, first=first, count=4096)
            ids += unpack("Q", page["ids"])
            first = page["next"]
            if not first:
                return ids


def camera_map(camera):
    out = {"view": pack("d", camera["view"]), "proj": pack("d", camera["proj"]), "width": camera["width"], "height": camera["height"]}
    if "depth" in camera:
        out["depth"] = DEPTHS[camera["depth"]]
    if "y" in camera:
        out["y"] = YS[camera["y"]]
    for key in ("samples", "caps", "layers", "min_pixels"):
        if key in camera:
            out[key] = float(camera[key]) if key == "min_pixels" else camera[key]
    if camera.get("clip_planes"):
        out["clip_planes"] = pack("d", [x for plane in camera["clip_planes"] for x in plane])
    return out


class Result:
    """An answer, its list unpacked."""

    def __init__(self, fields):
        self.fields = fields
        self.err = fields["err"]
        self.grade = GRADES[fields["grade"]]
        self.method = METHODS[fields["method"]]
        self.stats = fields.get("stats", {})
        self.ids = unpack("I", fields["ids32"]) if "ids32" in fields else unpack("Q", fields.get("ids64", b""))

    def __getattr__(self, name):
        return self.fields[name]

    @property
    def set(self):
        return set(self.ids)

    def check(self):
        """What must be true of every full list."""
        assert len(self.ids) == self.count, f"count says {self.count}, the list has {len(self.ids)}"
        assert len(self.set) == len(self.ids), "an id is listed twice"
        assert self.digest == digest(self.ids), "the digest is not of this list"
        times = self.times
        order = [times[k] for k in ("received", "queued", "gpu_start", "gpu_end", "replied") if times[k]]
        assert order == sorted(order), f"times run backwards: {times}"
        return self


def splitmix64(x):
    mask = (1 << 64) - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def digest(ids):
    return sum(splitmix64(i) for i in ids) & ((1 << 64) - 1)


class View:
    def __init__(self, client, reply):
        self.client, self.view, self.frame = client, reply["view"], reply["last_frame"]

    def next_frame(self, camera, **fields):
        self.frame += 1
        if "method" in fields:
            fields["method"] = METHODS.index(fields["method"])
        return {"view": self.view, "frame": self.frame, "camera": camera_map(camera), **fields}

    def send(self, camera, **fields):
        return self.client.send("frames", frames=[self.next_frame(camera, **fields)])

    def receive(self, ticket):
        return Result(self.client.receive(ticket)["results"][0])

    def cull(self, camera, **fields):
        result = self.receive(self.send(camera, **fields))
        assert result.err == 0, f"err {result.err}: {result.fields.get('text')}"
        assert result.frame == self.frame
        return result if result.all else result.check()

    def set(self, **fields):
        return self.client.request("view_set", view=self.view, **fields)

    def close(self):
        return self.client.request("view_close", view=self.view)


class Subscriber(Peer):
    def __init__(self, url, timeout=PATIENCE):
        super().__init__(url, SUB, timeout)
        assert self.protocol == PUB, f"greeted with {self.protocol:#x}"
        self.n = 0  # of the last event: they are numbered without gaps

    def event(self, of=None):
        """(topic, map) of the next event; of: of these topics, by their beginning."""
        while True:
            topic, _, message = self.read_frame().partition(b"\0")
            event = msgpack.unpackb(message, raw=False)
            assert event["n"] == self.n + 1, f"event {event['n']} comes after {self.n}"
            self.n = event["n"]
            if of is None or topic.decode().startswith(of):
                return topic.decode(), event
