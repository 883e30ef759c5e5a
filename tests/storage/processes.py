"""Another process that uses an embedded database."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OPEN_IN_ANOTHER_PROCESS = """
import asyncio, sys
from pathlib import Path
from condensery.settings import Settings
from condensery.storage.database import open_database

async def main():
    async with open_database(Settings(data_dir=Path(sys.argv[1]))):
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


@contextmanager
def another_process(data_dir: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that holds the database of `data_dir` open until its input is closed."""
    command = [sys.executable, "-c", OPEN_IN_ANOTHER_PROCESS, str(data_dir)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True) as process:
        yield process
        process.communicate()
