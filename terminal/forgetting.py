"""`condensery forget`: documents out of the index."""

from condensery.services import Services
from condensery.terminal.opening import opened
from condensery.terminal.options import Options
from condensery.terminal.output import err, out
from condensery.terminal.running import Code


async def forget(sources: list[str], options: Options, *, namespace: str | None) -> Code:
    """Remove documents by the names that `condensery documents` lists; 1 when one of them is not there."""
    settings = options.settings()
    where = namespace or settings.ingest.namespace
    code = Code.OK
    async with opened(settings) as app:
        for source in sources:
            if await app.services.documents.remove(source, where):
                out.say(f"forgot {source}")
            else:
                err.say(await not_there(source, where, app.services, options), style="red")
                code = Code.FAILED
    return code


async def not_there(source: str, namespace: str, services: Services, options: Options) -> str:
    """Say that there is no such document, and where there is one or what lists them."""
    records = await services.documents.list()
    others = [record.namespace for record in records if record.source == source]
    hint = f"it is in {', '.join(others)}: add --namespace" if others else f"see {options.command('documents')}"
    return f"there is no document {source} in the namespace {namespace}; {hint}"
