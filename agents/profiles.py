"""From a profile to an agent: its services, which share everything that is opened, and the agents of its kind."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from condensery.agents.chat import ChatAgent
from condensery.agents.expert_rag import ExpertRAGAgent
from condensery.agents.few_shot import FewShotAgent
from condensery.agents.rag import RAGAgent
from condensery.errors import ConfigError
from condensery.models.chat import ChatModel
from condensery.prompts.loader import prompts_for
from condensery.services import Services
from condensery.settings import Settings
from condensery.settings_profiles import AgentKind, profile_of, settings_of
from condensery.workflows.events import ChatStart
from condensery.workflows.examples import read_examples
from condensery.workflows.few_shot import Example
from condensery.workflows.languages import spoken
from condensery.workflows.question_guard import QuestionGuard, open_question_guard
from condensery.workflows.turn import TurnOptions

Talking = RAGAgent | ChatAgent
TALKING: dict[AgentKind, type[RAGAgent] | type[ChatAgent]] = {
    "rag": RAGAgent,
    "expert_rag": ExpertRAGAgent,
    "chat": ChatAgent,
}
"""The kinds that a person talks with: started with a `ChatStart`, ended by `TurnFinished`."""
EARLIER = 3
"""Earlier messages that tell the language of one that is too short to."""


class Profiles:
    """The agents that are declared. What takes time to make, such as the vectors of examples, is made once.

    Raises `ConfigError` naming every agent that cannot be used, with all that is wrong with it.
    """

    def __init__(self, services: Services) -> None:
        self._guards: dict[str, QuestionGuard | None] = {}
        self._labels: dict[str, list[Example]] = {}
        if faults := [fault for name in services.settings.agents if (fault := self._fault(services, name))]:
            raise ConfigError("\n".join(faults))

    def talking(self, services: Services, name: str) -> Talking:
        """The agent called `name`, under the settings of `services`; raises `ConfigError` for one that labels."""
        kind = profile_of(services.settings, name).kind
        if kind not in TALKING:
            raise ConfigError(f"the agent {name} answers no questions, it labels texts: see condensery classify --help")
        return TALKING[kind](self.services(services, name))

    def labelling(self, services: Services, name: str) -> FewShotAgent:
        """The agent called `name`, which labels; raises `ConfigError` for one that does not."""
        profile = profile_of(services.settings, name)
        if profile.examples is None:
            raise ConfigError(f"the agent {name} is of the kind {profile.kind} and has no labels; ask it instead")
        if name not in self._labels:
            self._labels[name] = read_examples(profile.examples)
        return FewShotAgent(self.services(services, name), self._labels[name])

    def services(self, services: Services, name: str) -> Services:
        """The collaborators of the agent called `name`: those of `services` under settings of its own.

        Raises `ConfigError` for what it names and is not here: a model, a file of examples, a prompt.
        """
        profile, settings = profile_of(services.settings, name), settings_of(services.settings, name)
        if name not in self._guards:
            self._guards[name] = open_question_guard(settings.few_shot, services.embedder)
        prompts = prompts_for(settings.locale)
        return replace(
            services.with_settings(settings),
            model=services.model if settings.llm == services.settings.llm else _model(services, settings, name),
            prompts=prompts if profile.prompts is None else prompts.with_templates(profile.prompts),
            question_guard=self._guards[name],
        )

    def _fault(self, services: Services, name: str) -> str | None:
        try:
            own = self.services(services, name)
            own.check_models()
            own.check(own.plan())
            if profile_of(services.settings, name).kind == "few_shot":
                self.labelling(services, name)
        except ConfigError as error:
            told = str(error).startswith(f"the agent {name} ")
            return str(error) if told else f"the agent {name} cannot be used:\n  {error}"
        return None


def _model(services: Services, settings: Settings, name: str) -> ChatModel | None:
    return services.models.get(settings.llm.model, settings.llm.api_key, setting=f"agents.{name}.llm.model")


def narrowed(options: TurnOptions, settings: Settings, name: str) -> TurnOptions:
    """What a caller chose for a turn of the agent called `name`, within the parts of the index that it searches.

    Raises `ConfigError` for a part that it does not.
    """
    own = profile_of(settings, name).namespaces
    wanted = options.scope.namespaces
    if own and (outside := [each for each in wanted if each not in own]):
        raise ConfigError(f"the agent {name} searches {', '.join(own)} and nothing else, got {', '.join(outside)}")
    return options.model_copy(update={"scope": options.scope.model_copy(update={"namespaces": wanted or own})})


async def understanding(agent: Talking, start: ChatStart) -> Talking:
    """The agent with prompts and texts of the language of the message; see `speaking`."""
    services = await speaking(agent.services, start.message, [each.message for each in start.history[-EARLIER:]])
    return agent if services is agent.services else type(agent)(services)


async def speaking(services: Services, message: str, earlier: Sequence[str]) -> Services:
    """The services with texts of the language of `message`, or of those before it; unless settings keep to `locale`."""
    settings = services.settings
    if settings.answer.language == "locale":
        return services
    return services.speaking(await asyncio.to_thread(spoken, message, earlier, settings.locale))
