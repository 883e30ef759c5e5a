"""The estimate of tokens must never be under what a real tokenizer counts: held against the bundled model's own."""

import json
import random
from pathlib import Path

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import MockLLM

from condensery.models import token_estimate
from condensery.models.adapters import Adapter
from condensery.models.llama_vocabulary import Vocabulary
from condensery.models.token_estimate import estimate_tokens

_dice = random.Random(1)  # noqa: S311 - texts of a test
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_ITEMS = [{"id": _dice.getrandbits(40), "name": f"item_{i}", "price": i * 1.37, "ok": True} for i in range(20)]

TEXTS = {
    "English prose": "The lantern hangs high above the harbour, and whoever wants to see it must climb the stairs. "
    * 4,
    "shouting": "THE MINISTRY OF TRANSPORT ANNOUNCES THE CLOSURE OF THE EASTERN VIADUCT. " * 4,
    "identifiers": "HttpServletRequestWrapper delegates getParameterMap() to XmlBeanDefinitionReader; see §6.5. " * 4,
    "Python": Path(token_estimate.__file__).read_text(encoding="utf-8"),
    "JSON": json.dumps(_ITEMS),
    "indented JSON": json.dumps(_ITEMS, indent=4),
    "a log": "\n".join(
        f"2026-01-05T09:1{i % 6}:37.{i * 137 % 1000:03d}Z WARN [pool-{i}] c.e.HttpClient - retry={i} status=503 "
        f"id={_dice.getrandbits(64):016x}"
        for i in range(20)
    ),
    "a table": "\n".join(f"| {i} | item {i * 7} | {i * 1.25:.2f} EUR | -{i}% |" for i in range(60)),
    "numbers": " ".join(str(_dice.getrandbits(30)) for _ in range(100)),
    "hexadecimal": f"{_dice.getrandbits(5000):x}",
    "base64": "".join(_dice.choice(_LETTERS) for _ in range(1500)),
    "addresses": "https://www.example.com/path/page.html?id=12345&source=news&ref=abc_DEF-ghi#section-2 " * 8,
    "white space": "a\n\n\n\nb\t\t\tc      d\r\n\r\n" * 40,
    "indents": "".join(" " * (i % 40) + "x\n" for i in range(200)),
    "mathematics": "∀x∈ℝ: ∑_{i=1}^{n} xᵢ² ≥ 0 ∧ √2 ≈ 1.414 → ∞ " * 10,
    "emoji": "👍🎉😀🚀❤️🏳️‍🌈👩‍👩‍👧‍👦🇩🇪" * 8,
    "stacked accents": "Z̷̡̛a̵l̸g̶o̴ t̷e̸x̵t̶ " * 20,
    "full width": "ＡＢＣ１２３½²③ﬁ" * 20,
    "German": "Die Kündigungsfrist für Aushilfskräfte beträgt während der Probezeit zwei Wochen; Überstunden werden "
    "durch Freizeitausgleich abgegolten, sofern betriebliche Gründe nicht entgegenstehen. " * 4,
    "French": "L'établissement a été fermé à cause d'une inondation; les réservations seront remboursées. " * 4,
    "Italian": "La società è stata fondata nell'anno millenovecento; perché costano così poco? " * 4,
    "Polish": "Zgodnie z polityką urlopową firmy każdy pracownik może wykorzystać piętnaście dni urlopu. " * 5,
    "Finnish": "Yhtiön lomakäytännön mukaan jokaisella työntekijällä on oikeus palkalliseen lomaan. " * 5,
    "Turkish": "Şirketin izin politikasına göre her çalışan yılda on beş gün ücretli izin kullanabilir. " * 5,
    "Vietnamese": "Chính sách nghỉ phép của công ty quy định mỗi nhân viên được nghỉ mười lăm ngày có lương. " * 5,
    "Russian": "Политика компании предусматривает пятнадцать дней оплачиваемого отпуска. " * 5,
    "Greek": "Η πολιτική της εταιρείας προβλέπει δεκαπέντε ημέρες άδειας για κάθε εργαζόμενο. " * 5,
    "Hebrew": "מדיניות החופשות של החברה קובעת שלכל עובד יש חמישה עשר ימי חופשה בתשלום. " * 5,
    "Arabic": "تنص سياسة الإجازات في الشركة على أن لكل موظف خمسة عشر يوما من الإجازة المدفوعة كل عام. " * 5,
    "Hindi": "कंपनी की छुट्टी नीति के अनुसार प्रत्येक कर्मचारी को हर साल पंद्रह दिन की छुट्टी मिलती है। " * 5,
    "Thai": "ประเทศไทยมีทะเลที่สวยงามและอาหารที่อร่อย นักท่องเที่ยวจำนวนมากเดินทางมาที่นี่ทุกปี " * 5,
    "Chinese": "公司的年假政策规定每位员工每年可以享受十五天的带薪休假，超出部分需要部门经理批准。" * 5,
    "Japanese": "会社の休暇制度では、すべての従業員が毎年十五日の有給休暇を取得できます。カタカナ。" * 5,
    "Korean": "회사의 휴가 정책에 따르면 모든 직원은 매년 십오 일의 유급 휴가를 사용할 수 있습니다. " * 5,
}


@pytest.fixture
def vocabulary(gguf: Path) -> Vocabulary:
    return Vocabulary(gguf)


@pytest.mark.parametrize("kind", TEXTS)
def test_the_estimate_is_never_under_the_real_count_nor_useless(kind: str, vocabulary: Vocabulary) -> None:
    real = len(vocabulary.tokenize(TEXTS[kind]))
    assert real <= estimate_tokens(TEXTS[kind]) < 3 * real


def test_pasting_kinds_of_text_together_keeps_the_bound(vocabulary: Vocabulary) -> None:
    everything = "\n".join(TEXTS.values())
    assert len(vocabulary.tokenize(everything)) <= estimate_tokens(everything)


def test_nothing_costs_next_to_nothing() -> None:
    assert estimate_tokens("") <= 1


async def test_an_adapter_without_a_tokenizer_counts_every_message_by_the_estimate() -> None:
    messages = [ChatMessage(content=TEXTS["a log"]), ChatMessage(content=TEXTS["Thai"])]
    count = await Adapter(MockLLM(), 4096).count_tokens(messages)
    assert count > estimate_tokens(TEXTS["a log"]) + estimate_tokens(TEXTS["Thai"])
