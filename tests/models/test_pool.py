"""A stage's own model: which specs are one model, whose key goes where, and what is wrong with a spec."""

import shutil
from pathlib import Path

import pytest
from llama_index.core.llms import ChatMessage
from pydantic import SecretStr

from condensery.errors import ConfigError, ProviderError
from condensery.models.chat import ChatModel, open_chat_model
from condensery.models.pool import ModelPool
from condensery.services import open_services
from condensery.settings import BUNDLED_LLM, Llm, Settings, load_settings

ENDPOINT = "openai:http://127.0.0.1:9/v1#qwen3"
HELLO = [ChatMessage(role="user", content="Hello")]


def pool(**settings: object) -> tuple[ModelPool, ChatModel | None]:
    llm = Llm.model_validate(settings)
    main = open_chat_model(llm)
    return ModelPool(llm, main), main


def key_of(model: ChatModel | None) -> str:
    return str(model._adapter._client.api_key)  # type: ignore[union-attr]


def test_an_empty_spec_is_the_models_of_the_llm_section() -> None:
    models, main = pool(model=ENDPOINT)
    assert models.get("") is main
    assert models.get(ENDPOINT) is main
    assert models.get(ENDPOINT.replace("qwen3", "small")) is not main


def test_equal_specs_share_one_model_however_the_path_is_written(gguf: Path, tmp_path: Path) -> None:
    models, main = pool()
    assert models.get(BUNDLED_LLM) is main
    assert models.get(str(gguf)) is main
    copy = tmp_path / "own.gguf"
    shutil.copy(gguf, copy)
    first = models.get(str(copy))
    assert first is not main
    assert models.get(f"{tmp_path}/../{tmp_path.name}/own.gguf") is first
    (tmp_path / "link.gguf").symlink_to(copy)
    assert models.get(str(tmp_path / "link.gguf")) is first


def test_none_is_no_model_and_opens_nothing() -> None:
    models, main = pool(model=ENDPOINT)
    assert models.get("none") is None
    assert models.get("") is main
    nothing, _ = pool(model="none")
    assert nothing.get("") is None
    assert nothing.get(ENDPOINT) is not None


def test_the_key_of_the_llm_section_goes_to_its_own_endpoint_only() -> None:
    models, _ = pool(model=ENDPOINT, api_key="main-key")
    assert key_of(models.get(ENDPOINT.replace("qwen3", "small"))) == "main-key"
    assert key_of(models.get("openai:http://127.0.0.1:10/v1#small")) == "none"
    assert key_of(models.get("openai:http://127.0.0.1:10/v1#small", SecretStr("own-key"))) == "own-key"


async def test_a_closed_pool_has_closed_what_it_opened_and_not_the_main_model(gguf: Path, tmp_path: Path) -> None:
    shutil.copy(gguf, tmp_path / "own.gguf")
    models, main = pool()
    own = models.get(str(tmp_path / "own.gguf"))
    assert own is not None
    assert main is not None
    await models.close()
    with pytest.raises(ProviderError, match="closed"):
        await own.complete(HELLO, max_tokens=1)
    assert (await main.complete(HELLO, max_tokens=1)).finish_reason == "length"
    await main.close()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gpt", "condense.model is 'gpt', which is none of its forms"),
        ("openai:localhost#x", "condense.model is 'openai:localhost#x', but an endpoint is written openai:URL#MODEL"),
        ("missing.gguf", "condense.model names missing.gguf, but there is no such file"),
    ],
)
async def test_a_spec_that_names_no_model_is_refused_when_services_open(
    settings: Settings, spec: str, message: str
) -> None:
    wrong = settings.model_copy(update={"condense": settings.condense.model_copy(update={"model": spec})})
    with pytest.raises(ConfigError, match=message):
        async with open_services(wrong):
            pass


async def test_the_engine_gets_the_condense_model_and_services_close_it(settings: Settings) -> None:
    small = ENDPOINT.replace("qwen3", "small")
    own = settings.model_copy(update={"condense": settings.condense.model_copy(update={"model": small})})
    async with open_services(own) as services:
        model = services.model_for(small)
        assert model is not None
        assert model.name == "small"
        assert services.engine("condense_context")._model is model  # type: ignore[attr-defined]
        assert services.model_for("") is services.model
    assert model._adapter._client.is_closed()


def test_the_engine_that_rewrites_needs_its_own_model_or_the_llm_sections() -> None:
    assert load_settings(llm={"model": "none"}, condense={"engine": "condense_context", "model": ENDPOINT})
    for model in ("", "none"):
        with pytest.raises(ConfigError, match=r"set condense\.model or llm\.model"):
            load_settings(llm={"model": "none"}, condense={"engine": "condense_context", "model": model})
    with pytest.raises(ConfigError, match=r"set condense\.model or llm\.model"):
        load_settings(condense={"engine": "condense_context", "model": "none"})
