"""One settings tree, loaded once by `load_settings`, passed down to whoever needs a part of it.

Sources, strongest first: arguments, environment (`CONDENSERY_SECTION__FIELD`), `condensery.toml`, defaults.
"""

from pathlib import Path
from typing import Annotated, Any, Self

import platformdirs
from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, SecretStr, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from condensery import settings_load
from condensery.settings_profiles import AgentName, Profile
from condensery.settings_rules import broken_rules, home_expanded, postgres_url
from condensery.settings_sections import (
    BUNDLED_EMBEDDINGS,
    BUNDLED_LLM,
    Answer,
    App,
    Condense,
    Embeddings,
    EngineName,
    Experts,
    ExtractionName,
    FewShot,
    Guard,
    GuardName,
    History,
    Hyde,
    Ingest,
    Limits,
    Llm,
    Locale,
    Memory,
    Method,
    MethodName,
    Rerank,
    RerankerName,
    Retrieval,
    Section,
    Switch,
)

__all__ = [
    "BUNDLED_EMBEDDINGS",
    "BUNDLED_LLM",
    "Answer",
    "App",
    "Condense",
    "Embeddings",
    "EngineName",
    "Experts",
    "ExtractionName",
    "FewShot",
    "Guard",
    "GuardName",
    "History",
    "Hyde",
    "Ingest",
    "Limits",
    "Llm",
    "Locale",
    "Memory",
    "Method",
    "MethodName",
    "Rerank",
    "RerankerName",
    "Retrieval",
    "Section",
    "Settings",
    "Switch",
    "load_settings",
]


class Settings(BaseSettings):
    """All settings. `Settings()` is the defaults; `load_settings` is how a program gets its own."""

    # Names are exact in arguments and in the file; of variables `settings_load` sees to it.
    model_config = SettingsConfigDict(
        env_prefix=settings_load.ENV_PREFIX,
        env_nested_delimiter=settings_load.ENV_DELIMITER,
        case_sensitive=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
    )

    data_dir: Annotated[Path, BeforeValidator(home_expanded)] = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("condensery", appauthor=False)),
        description="Where the embedded database and everything else of ours lives.",
    )
    database_url: Annotated[SecretStr, AfterValidator(postgres_url)] | None = Field(
        None, description="External Postgres with pgvector; none: the embedded one."
    )
    locale: Locale = Field("en", description="Language of prompts and texts.")
    llm: Llm = Llm()
    embeddings: Embeddings = Embeddings()
    ingest: Ingest = Ingest()
    retrieval: Retrieval = Retrieval()
    hyde: Hyde = Hyde()
    rerank: Rerank = Rerank()
    condense: Condense = Condense()
    history: History = History()
    memory: Memory = Memory()
    few_shot: FewShot = FewShot()
    guard: Guard = Guard()
    experts: Experts = Experts()
    answer: Answer = Answer()
    limits: Limits = Limits()
    gate: Switch = Switch()
    app: App = App()
    agents: dict[AgentName, Profile] = Field(
        default_factory=dict, description="Named agents, each a table [agents.NAME] of the file."
    )

    _sources: dict[str, str] = PrivateAttr(default_factory=dict)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments only: what is around a program comes in through `load_settings`, which says where from."""
        return (init_settings,)

    @property
    def sources(self) -> dict[str, str]:
        """Where each setting that was given came from, by name (`section.field`); what is missing is a default."""
        return self._sources

    @model_validator(mode="after")
    def check_combinations(self) -> Self:
        """Refuse what cannot work together, with the reason."""
        if problems := broken_rules(self):
            raise ValueError("; ".join(problems))
        return self


def load_settings(**overrides: Any) -> Settings:
    """Settings from arguments over environment over TOML file over defaults; raise `ConfigError` naming every fault.

    An override of a section is a dict or the section itself: `load_settings(llm={"model": "none"}, locale="de")`; one
    of a single setting may be named by its path: `load_settings(**{"llm.model": "none"})`.
    """
    settings, sources = settings_load.load(Settings, overrides)
    settings._sources.update(sources)
    return settings
