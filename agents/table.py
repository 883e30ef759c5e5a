"""The agents there are. A new one is a line here."""

from llama_index.core.workflow import Workflow

from condensery.agents.chat import ChatAgent
from condensery.agents.expert_rag import ExpertConsultation, ExpertRAGAgent
from condensery.agents.few_shot import FewShotAgent
from condensery.agents.memory_writer import MemoryWriterAgent
from condensery.agents.rag import RAGAgent
from condensery.agents.title import TitleAgent
from condensery.errors import UnknownName

AGENTS: dict[str, type[Workflow]] = {
    "rag": RAGAgent,
    "chat": ChatAgent,
    "expert_rag": ExpertRAGAgent,
    "expert_consultation": ExpertConsultation,
    "memory_writer": MemoryWriterAgent,
    "few_shot": FewShotAgent,
    "title": TitleAgent,
}


def agent_class(name: str) -> type[Workflow]:
    """The agent called `name`; raises `UnknownName`, which lists the choices."""
    if name not in AGENTS:
        raise UnknownName("agent", name, list(AGENTS))
    return AGENTS[name]
