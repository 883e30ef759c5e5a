"""The main job makes no connection beyond this machine."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples" / "docs"

SCRIPT = """
import asyncio, socket, sys

LOCAL = {"127.0.0.1", "::1", "localhost"}

def audit(event, args):
    if event == "socket.connect" and args[0].family != socket.AF_UNIX and args[1][0] not in LOCAL:
        print("CONNECTED", args[1], flush=True)
        raise PermissionError(f"connection to {args[1]}")
    if event == "socket.getaddrinfo" and args[0] not in LOCAL | {None, ""}:
        print("LOOKED UP", args[0], flush=True)
        raise PermissionError(f"look-up of {args[0]}")
    if event == "socket.sendto" and args[0].family != socket.AF_UNIX and args[1][0] not in LOCAL:
        print("SENT", args[1], flush=True)
        raise PermissionError(f"datagram to {args[1]}")

sys.addaudithook(audit)

from pathlib import Path
import condensery

async def main():
    data_dir, documents, mode, engine = sys.argv[1:]
    options = {"answer": {"mode": mode}, "llm": {"max_output_tokens": 16}}
    async with condensery.open_app(data_dir=data_dir, **options) as app:
        await app.ingest([Path(documents) / "tariffs.md"])
        first = await app.ask("How much is a ticket for a dog?", conversation_id="c")
        second = await app.ask("And for a bicycle?", conversation_id="c", engine=engine)
        print(first.outcome, first.answer_mode, second.outcome, second.answer_mode)

asyncio.run(main())
"""


def main_job(folder: Path, mode: str, engine: str) -> str:
    command = [sys.executable, "-c", SCRIPT, str(folder), str(EXAMPLES), mode, engine]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def test_quoting_connects_to_nothing_outside(short_dir: Path) -> None:
    assert main_job(short_dir, "extractive", "expand_context") == "answered extractive answered extractive"


def test_writing_with_the_bundled_model_connects_to_nothing_outside(short_dir: Path) -> None:
    assert main_job(short_dir, "generated", "condense_context") == "answered generated answered generated"
