"""The one fact that is wanted from a GGUF file before it is loaded, read from its header.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (little endian, versions 2 and 3).
"""

import struct
from pathlib import Path
from typing import Any, BinaryIO

from condensery.errors import ConfigError

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


def trained_window(path: Path) -> int | None:
    """Return the window the model was trained with, in tokens; None when the file does not say.

    Raises `ConfigError` when `path` cannot be read or is no GGUF file.
    """
    try:
        with path.open("rb") as file:
            return _context_length(file)
    except OSError as error:
        raise ConfigError(f"cannot read the model file {path} ({error.strerror}); check its path") from error
    except (struct.error, UnicodeDecodeError, KeyError) as error:
        raise ConfigError(f"{path} is no complete GGUF model file; download it again or check its path") from error


def _context_length(file: BinaryIO) -> int | None:
    magic, version, _, entries = _unpack(file, "4sIQQ")
    if magic != b"GGUF" or version < 2:
        raise KeyError(magic)
    for _ in range(entries):
        key, value = _text(file), _value(file, _unpack(file, "I")[0])
        if key.endswith(".context_length"):
            return int(value)
    return None


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _text(file)
    if kind == _ARRAY:
        item, length = _unpack(file, "IQ")
        return [_value(file, item) for _ in range(length)]
    return _unpack(file, _SCALARS[kind])[0]


def _text(file: BinaryIO) -> str:
    (length,) = _unpack(file, "Q")
    return _unpack(file, f"{length}s")[0].decode("utf-8") if length < 2**31 else _too_long()


def _too_long() -> str:
    raise KeyError("a string of 2 GiB")


def _unpack(file: BinaryIO, form: str) -> tuple[Any, ...]:
    size = struct.calcsize(f"<{form}")
    return struct.unpack(f"<{form}", file.read(size))
