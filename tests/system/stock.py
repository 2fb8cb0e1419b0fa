"""Stock nng sockets, as a client that knows nothing of ours would use them: Debian's libnng, called as it is."""

import ctypes

OPTIONS = {"recv-timeout": 20000, "send-timeout": 20000}  # milliseconds: a fault ends in an error, not in waiting


class Socket(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32)]  # nng_socket, which nng passes by value


class Nng:
    """A REQ or SUB socket that has dialled one URL. It ends with the test's process: nng 1.5.2 may hang in closing it."""

    def __init__(self, kind, url, subscribe=None):
        self.nng = ctypes.CDLL("libnng.so.1")
        self.nng.nng_strerror.restype = ctypes.c_char_p
        self.socket = Socket()
        self.call({"req": self.nng.nng_req0_open, "sub": self.nng.nng_sub0_open}[kind], ctypes.byref(self.socket))
        for name, value in OPTIONS.items():
            self.call(self.nng.nng_socket_set_ms, self.socket, name.encode(), ctypes.c_int32(value), may_lack=kind == "sub")
        if subscribe is not None:
            self.call(self.nng.nng_socket_set, self.socket, b"sub:subscribe", subscribe, ctypes.c_size_t(len(subscribe)))
        self.call(self.nng.nng_dial, self.socket, url.encode(), None, ctypes.c_int(0))

    def call(self, function, *arguments, may_lack=False):
        status = function(*arguments)
        if status != 0 and not (may_lack and status == 9):  # NNG_ENOTSUP
            raise RuntimeError(f"{function.__name__}: {self.nng.nng_strerror(status).decode()}")

    def send(self, body):
        self.call(self.nng.nng_send, self.socket, body, ctypes.c_size_t(len(body)), ctypes.c_int(0))

    def receive(self):
        message = ctypes.c_void_p()
        self.call(self.nng.nng_recvmsg, self.socket, ctypes.byref(message), ctypes.c_int(0))
        self.nng.nng_msg_body.restype = ctypes.c_void_p
        self.nng.nng_msg_len.restype = ctypes.c_size_t
        body = ctypes.string_at(self.nng.nng_msg_body(message), self.nng.nng_msg_len(message))
        self.nng.nng_msg_free(message)
        return body
