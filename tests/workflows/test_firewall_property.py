"""Messages with inlined documents, pushed through the whole graph with recording doubles for all collaborators."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from condensery.agents.rag import RAGAgent
from condensery.memory.in_memory import InMemoryMemory
from condensery.memory.recalling import Recaller
from condensery.models.chat import ChatModel
from condensery.models.pool import ModelPool
from condensery.prompts.loader import prompts_for
from condensery.retrieval.plans import METHOD_NAMES
from condensery.retrieval.types import Chunk, Scope, ScoredChunk, SearchQuery
from condensery.services import Services
from condensery.settings import Settings
from condensery.testing import ScriptedLLM
from condensery.workflows.engines.base import ChatEngine
from condensery.workflows.engines.table import ENGINES
from condensery.workflows.events import AgentCall, ChatStart, TurnFinished
from condensery.workflows.extractive import Quote
from condensery.workflows.turn import Exchange, OutboxEntry, Turn, TurnKey, TurnOptions

MARK = "MARKED"
SETTINGS = Settings.model_validate({"rerank": {"reranker": "llm"}})
STAGES = {"hypothesize": {"question": ""}, "judge": {"question": "", "passage": ""}}
QUESTION = "How long is the track?"
CHUNK = ScoredChunk(chunk=Chunk(id="c", text="It is 2,140 metres long.", source="a.md"), score=1)


class Recorder:
    """Stands for the retriever, the quoter and the turn store, and keeps what each was given."""

    def __init__(self) -> None:
        self.searched: list[str] = []
        self.stored: list[Turn] = []
        self.outbox: list[OutboxEntry | None] = []

    async def search(self, query: SearchQuery, *, scope: Scope, limit: int) -> list[ScoredChunk]:
        self.searched += [query.text, query.passage or "", *(probe.text for probe in query.probes)]
        return [CHUNK]

    async def quote(self, question: str, chunks: Sequence[ScoredChunk], *, told: str = "", limit: int) -> list[Quote]:
        self.searched += [question, told]
        return []

    async def save(self, turn: Turn, outbox: OutboxEntry | None = None) -> None:
        self.stored.append(turn)
        self.outbox.append(outbox)

    @property
    def effects(self) -> str:
        """Everything that reached search, quoting or the outbox."""
        return "\n".join([*self.searched, *(entry.model_dump_json() for entry in self.outbox if entry)])


def services(recorder: Recorder, llm: ScriptedLLM | None) -> Services:
    """The real services class over doubles; an engine that repeats the raw message would be caught."""
    model = ChatModel(llm, name="scripted", context_window=4096) if llm else None
    made = Services(
        settings=SETTINGS,
        models=ModelPool(SETTINGS.llm, model),
        database=cast(Any, None),
        embedder=cast(Any, None),
        model=model,
        turns=cast(Any, recorder),
        documents=cast(Any, SimpleNamespace(sentences=None)),
        retrieval=cast(Any, SimpleNamespace()),
        prompts=prompts_for("en"),
        memory=cast(Any, InMemoryMemory()),
    )
    return cast(Services, _Doubled(made, recorder))


async def _yes(user_id: str) -> bool:
    return True


class _Doubled:
    """The services with their retriever and quoter replaced."""

    def __init__(self, made: Services, recorder: Recorder) -> None:
        self._made = made
        self._recorder = recorder
        self.quoter = recorder
        self.memory_users = SimpleNamespace(enabled=_yes)
        self.recaller = Recaller(made.memory, _yes, made.settings.memory)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)

    def retriever(self, name: str) -> Recorder:
        return self._recorder

    def engine(self, name: str) -> ChatEngine:
        return self._made.engine(name)


blocks = st.lists(
    st.sampled_from([MARK, "lorem", "12:01", "WARN", "a.", "b?", "\n", "\n\n", "{x}"]), min_size=1, max_size=120
)
shapes = st.sampled_from(
    [
        "<context>{block}</context> {question}",
        "<document index='1'>{block}</document>\n\n{question}",
        "{question}\n```\n{block}\n```",
        "{question}\n~~~\n{block}",
        "{question}\n<file>{block}",
        "{question}\n\n{filler} {block}",
        "> {quoted}\n\n{question}",
    ]
)


@st.composite
def messages(draw: st.DrawFn) -> str:
    """A question with an inlined document in one of the forms in which clients and people send them."""
    block = " ".join([*draw(blocks), MARK]).replace("```", "").replace("<", "")
    return draw(shapes).format(
        block=block,
        quoted=block.replace("\n", "\n> "),
        question=QUESTION,
        filler="Pasted words without a question. " * 20,
    )


@settings(max_examples=150)
@given(
    messages(),
    messages(),
    st.sampled_from(sorted(ENGINES)),
    st.sampled_from(METHOD_NAMES),
    st.booleans(),
    st.booleans(),
)
async def test_nothing_of_an_inlined_document_reaches_search_or_the_outbox(
    message: str, earlier: str, engine: str, method: str, with_model: bool, programmatic: bool
) -> None:
    recorder = Recorder()
    llm = ScriptedLLM(lambda sent: "Rewritten: " + (sent[-1].content or ""), "It is 2,140 metres long [1].")
    agent = RAGAgent(services(recorder, llm if with_model else None))
    start = (AgentCall if programmatic else ChatStart)(
        key=TurnKey(turn_id="t", conversation_id="c", user_id="u"),
        message=message,
        history=(
            Exchange(message=earlier, answer=f"It is long, {MARK}."),
            Exchange(message="How high is it?", answer=f"It is 3 metres high, {MARK}."),
        ),
        options=TurnOptions(engine=engine, method=method),
    )
    finished = await agent.run(start_event=start)
    assert isinstance(finished, TurnFinished)
    assert MARK not in recorder.effects
    assert recorder.stored[0].message == message
    stages = {prompts_for("en").render(name, **gaps).splitlines()[0] for name, gaps in STAGES.items()}
    assert not [
        call for call in (llm.calls if llm else ()) if call.text.splitlines()[0] in stages and MARK in call.text
    ]
    if with_model and llm.calls:
        answered = llm.calls[-1].messages[-1].content or ""
        assert message in answered
