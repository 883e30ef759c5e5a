"""Where mem0 lives: told before its first import to report nothing, fetch nothing, and keep to a folder of ours.

mem0 reads its environment when it is imported. By default it then reports to its makers, fetches notices, downloads a
spaCy model when spaCy is there, writes to the home directory, and logs what people said.
"""

import logging
import os
import threading
from importlib import import_module
from pathlib import Path
from types import ModuleType

FOLDER = "mem0"
HISTORY = "history.db"

_LOGGERS = ("mem0", "mem0.vector_stores", "mem0.memory")
_SILENT = logging.CRITICAL + 1
_importing = threading.Lock()


def history_path(data_dir: Path) -> Path:
    """The SQLite file in which mem0 notes what it stores and changes."""
    return data_dir.expanduser().absolute() / FOLDER / HISTORY


def import_mem0(data_dir: Path) -> ModuleType:
    """Import mem0's memory module, which takes seconds: call it off the event loop. Its folder exists afterwards.

    The folder is that of the first call in a process; what mem0 keeps there is a random number.
    """
    folder = history_path(data_dir).parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _importing:
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ["MEM0_DIR"] = str(folder)
        _silence()
        main = import_module("mem0.memory.main")
        _keep_to_this_machine(main)
    return main


def _silence() -> None:
    """Its messages and tracebacks quote facts; what fails is raised, and we report it in our words."""
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(_SILENT)


def _keep_to_this_machine(main: ModuleType) -> None:
    """Say it again for a mem0 that the program around us had imported before, and let it look for no spaCy model."""
    for module in (main, import_module("mem0.memory.telemetry")):
        module.MEM0_TELEMETRY = False  # type: ignore[attr-defined]
    models = import_module("mem0.utils.spacy_models")
    models._load_failed_full = models._load_failed_lemma = True  # type: ignore[attr-defined]
