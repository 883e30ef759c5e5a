"""The folder that Chainlit works in: its configuration, our texts and looks. It lies in the data directory, not here.

Everything but the secret is written anew at each start, so that nothing of an older version stays.
"""

import importlib.util
import json
import os
import secrets
from collections.abc import Mapping
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from condensery.errors import ConfigError
from condensery.prompts.loader import Prompts, prompts_for
from condensery.settings import Settings

LANGUAGES = {"en": "en-US", "de": "de-DE", "fr": "fr-FR", "it": "it"}
"""Our locales, by the names of Chainlit's translations."""

COOKIE_NAME = "condensery"

CONFIG = """\
[project]
allow_origins = []
session_timeout = 3600

[features]
unsafe_allow_html = false
user_message_markdown = false
edit_message = false
auto_tag_thread = false

[features.spontaneous_file_upload]
enabled = false

[UI]
name = "Condensery"
description = "Chat with your documents"
language = {language}
default_theme = "light"
cot = "full"
confirm_new_chat = false
custom_css = "/public/style.css"
custom_meta_url = "/"
custom_meta_image_url = "/favicon"

[meta]
generated_by = {version}
"""


def prepare(settings: Settings) -> Path:
    """Write the folder and point Chainlit to it, which reads its environment when it is imported.

    Raises ConfigError when Chainlit is missing or the data directory cannot be written.
    """
    folder = settings.data_dir / "ui"
    try:
        _write(folder, prompts_for(settings.locale))
        secret = kept_secret(folder / "secret")
    except OSError as error:
        raise ConfigError(
            f"cannot write to {folder}: {error.strerror}; make it writable, or set data_dir (CONDENSERY_DATA_DIR) "
            "to a folder that is"
        ) from error
    _set_environment(os.environ, folder, secret)  # type: ignore[arg-type]  # os.environ is a mutable mapping too
    return folder


def kept_secret(path: Path) -> str:
    """The key that signs the browser's cookie: made at the first start, readable by its owner only."""
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(48))
    except FileExistsError:
        path.chmod(0o600)
    return path.read_text()


def _chainlit() -> Path:
    """Where Chainlit is installed, without importing it: it would take the working directory for its own."""
    spec = importlib.util.find_spec("chainlit")
    if spec is None or spec.origin is None:
        raise ConfigError("the chat app needs Chainlit: pip install 'condensery[app]'")
    return Path(spec.origin).parent


def _set_environment(environ: dict[str, str], folder: Path, secret: str) -> None:
    """Settings of another Chainlit app, from the shell or an .env file here, must not reach this one."""
    for name in list(environ):
        if name.startswith(("CHAINLIT_", "LITERAL_", "SLACK_", "TEAMS_", "DISCORD_", "OAUTH_")):
            del environ[name]
    environ["CHAINLIT_APP_ROOT"] = str(folder)
    environ["CHAINLIT_ENV_FILE"] = str(folder / "no.env")
    environ["CHAINLIT_AUTH_SECRET"] = secret
    environ["CHAINLIT_AUTH_COOKIE_NAME"] = COOKIE_NAME


def _write(folder: Path, prompts: Prompts) -> None:
    language = LANGUAGES.get(prompts.locale, prompts.locale)
    package = resources.files("condensery")
    translations = folder / ".chainlit" / "translations"
    for path in (translations, folder / "public"):
        path.mkdir(parents=True, exist_ok=True)
    version = metadata.version("chainlit")
    config = CONFIG.format(language=json.dumps(language), version=json.dumps(version))
    (folder / ".chainlit" / "config.toml").write_text(config, encoding="utf-8")
    texts = json.dumps(translation(language, prompts), ensure_ascii=False)
    (translations / f"{language}.json").write_text(texts, encoding="utf-8")
    _copy(package / "chainlit.md", folder / f"chainlit_{language}.md")
    for file in (package / "ui" / "public").iterdir():
        _copy(file, folder / "public" / file.name)


def _copy(source: Traversable, target: Path) -> None:
    target.write_bytes(source.read_bytes())


def translation(language: str, prompts: Prompts) -> dict[str, Any]:
    """Chainlit's own texts in this language, with ours where ours say more."""
    own = _chainlit() / "translations" / f"{language}.json"
    texts: dict[str, Any] = json.loads(own.read_text(encoding="utf-8"))
    chat = {
        "input": {"placeholder": prompts.text("ui.placeholder")},
        "messages": {"status": {"using": "", "used": ""}},  # a step's name says it all
        "watermark": prompts.text("ui.watermark"),
    }
    return merged(texts, {"chat": chat, "navigation": {"header": {"readme": prompts.text("ui.help")}}})


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the values of `over`, dictionaries merged."""
    both = {key: merged(base[key], value) if isinstance(value, dict) else value for key, value in over.items()}
    return {**base, **both}
