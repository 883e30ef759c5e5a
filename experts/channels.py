"""The ways to an expert. A new one is a line in `CHANNELS`."""

from collections.abc import Callable
from datetime import datetime

from condensery.errors import UnknownName
from condensery.experts.types import ExpertChannel
from condensery.experts.webhook import Webhook
from condensery.settings import Experts
from condensery.workflows.events import CondensedQuestion


class Desk:
    """A queue: whoever sits at the desk sees what is open in the table of requests (`condensery experts list`)."""

    name = "desk"

    async def send(self, question: CondensedQuestion, *, request_id: str, expires_at: datetime) -> None:
        """Nothing to carry: the request lies there already."""


def _desk(settings: Experts) -> ExpertChannel:
    return Desk()


def _webhook(settings: Experts) -> ExpertChannel:
    return Webhook(settings)


CHANNELS: dict[str, Callable[[Experts], ExpertChannel]] = {"desk": _desk, "webhook": _webhook}


def open_channel(name: str, settings: Experts) -> ExpertChannel:
    """The channel called `name`; raises `UnknownName`, and `ConfigError` for one that cannot be used as set."""
    if name not in CHANNELS:
        raise UnknownName("expert channel", name, list(CHANNELS))
    return CHANNELS[name](settings)
