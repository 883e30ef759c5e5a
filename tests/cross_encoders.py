"""A cross-encoder small enough to make on the spot: random weights, a vocabulary of words and letters."""

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = ("dog", "ticket", "costs", "euros", "pass", "annual", "snow", "lantern", "answer", "filler")


def save_tiny_cross_encoder(
    folder: Path, words: Sequence[str] = WORDS, *, max_tokens: int = 48, labels: int = 1
) -> Path:
    """Save a BERT of two layers and 16 dimensions that reads `max_tokens` tokens; what it finds means nothing."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    torch.manual_seed(7)
    letters = [*string.ascii_lowercase, *string.digits, *string.punctuation]
    tokens = [*SPECIAL, *words, *letters, *(f"##{letter}" for letter in letters)]
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    names = {f"{token.strip('[]').lower()}_token": token for token in SPECIAL}
    fast: Any = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=max_tokens, **names)  # type: ignore[no-untyped-call]
    fast.save_pretrained(str(folder))
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=max_tokens,
    )
    config.num_labels = labels
    BertForSequenceClassification(config).save_pretrained(str(folder))
    return folder
