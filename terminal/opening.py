"""Opening the app for a command."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from condensery.app import App, open_app
from condensery.settings import Settings
from condensery.terminal.options import Options
from condensery.terminal.spinner import spinning


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[App]:
    """The app, with a spinner while it opens."""
    async with AsyncExitStack() as stack:
        with spinning("Opening…"):
            app = await stack.enter_async_context(open_app(settings))
        yield app


def empty_index(options: Options) -> str:
    """What to do about an index without documents."""
    return f"There are no documents yet. Add some: {options.command('ingest PATH')}"
