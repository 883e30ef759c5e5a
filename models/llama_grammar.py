"""A JSON schema as the grammar that llama.cpp keeps a reply to."""

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llama_cpp.llama_grammar import LlamaGrammar

_SURROGATES = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def grammar_of(schema: dict[str, Any]) -> "LlamaGrammar":
    """Return the grammar of replies that are JSON of `schema`."""
    from llama_cpp.llama_grammar import LlamaGrammar, json_schema_to_gbnf

    rules = json_schema_to_gbnf(json.dumps(schema))
    return LlamaGrammar.from_string(_SURROGATES.sub(_one_character, rules), verbose=False)


def _one_character(pair: re.Match[str]) -> str:
    """The converter writes characters beyond U+FFFF as two escapes, which a grammar would read as two characters."""
    return str(json.loads(f'"{pair.group()}"'))
