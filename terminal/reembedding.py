"""`condensery memory reembed`: what is remembered, for another embedding model."""

from condensery.memory.reembedding import reembed
from condensery.models.embedding import open_embedder
from condensery.storage.database import open_database
from condensery.terminal.memory_commands import counted
from condensery.terminal.options import Options
from condensery.terminal.output import out
from condensery.terminal.running import Code
from condensery.terminal.spinner import spinning


async def embed_anew(options: Options) -> Code:
    """Embed every fact of everybody with the model of embeddings.model."""
    settings = options.settings()
    embedder = open_embedder(settings.embeddings)
    try:
        async with open_database(settings) as database:
            with spinning("Embedding what is remembered…"):
                count = await reembed(database, embedder)
    finally:
        await embedder.close()
    out.say(f"embedded {counted(count, 'fact')} with {embedder.name}")
    return Code.OK
