"""The default threshold of a recall, on facts and questions that fit and that do not, with the bundled model."""

import numpy as np
import pytest

from condensery.models.embedding import Embedder
from condensery.settings import Memory

FITTING = """
I live in Oslo.|Where do I live?|What are good restaurants near my home in Oslo?
I like tea.|tea|Which drink should I order, tea or coffee?
I am a vegetarian.|What can I eat at the canteen?|Is there a vegetarian menu?
My dog is called Rex.|What is my dog's name?|Can I bring my dog on the train?
I work as a nurse.|What is my job?|Which shift rules apply to nurses?
I prefer aisle seats.|Which seat should I book?|Can I reserve an aisle seat?
I am allergic to nuts.|Does the cake contain nuts?|Which snacks are safe with my allergy?
I have two children.|Are there discounts for my children?|How many children do I have?
My car is electric.|Where can I charge my car?|Which parking is there for electric cars?
I was born in 1984.|How old am I?|What year was I born?
I speak Italian and German.|Which languages do I speak?|Is there a tour in Italian?
I use a wheelchair.|Is the station accessible by wheelchair?|Is the museum barrier-free for me?
I moved to Basel.|Where did I move to?|Which tax office is responsible in Basel?
I play the violin.|What instrument do I play?|Where can I practise the violin?
My employee number is 4711.|What is my employee number?|What is my personnel number?
I have diabetes.|Which diet suits my diabetes?|Are there sugar-free desserts?
I commute by bicycle.|Can I take my bicycle on the train?|Is there bicycle parking at the office?
I study physics in Bern.|What do I study?|Are there student discounts in Bern?
My wife's name is Clara.|What is my wife called?|What is Clara's birthday?
I do not drink alcohol.|Which alcohol-free drinks are there?|Is there wine at the reception?
Ich wohne in Zürich.|Wo wohne ich?|Welche Kündigungsfrist gilt in Zürich?
Ich bin Vegetarierin.|Was kann ich in der Kantine essen?|Gibt es vegetarische Menüs?
Mein Hund heißt Bello.|Wie heißt mein Hund?|Darf mein Hund mit in den Zug?
J'habite à Lyon.|Où est-ce que j'habite ?|Quels sont les horaires à Lyon ?
Je suis allergique aux noix.|Ce gâteau contient-il des noix ?|Quelles allergies ai-je ?
Vivo a Torino.|Dove vivo?|Quali musei ci sono a Torino?
Lavoro come insegnante.|Che lavoro faccio?|Ci sono sconti per insegnanti?
""".strip()
"""A fact and two questions that it bears on, per line."""

UNRELATED = (
    "How does a rocket engine work?",
    "rockets",
    "What is the capital of Mongolia?",
    "How long is the Golden Gate Bridge?",
    "How do I reset the router?",
    "What is the refund window?",
    "Which paragraph regulates the deposit?",
    "How many bits has a byte?",
    "Who wrote Don Quixote?",
    "What is the boiling point of lead?",
    "Wie funktioniert ein Kernreaktor?",
    "Comment fonctionne la photosynthèse ?",
    "Quanto è alto il Cervino?",
    "When was the treaty signed?",
    "What does error code 504 mean?",
)


@pytest.fixture
async def facts(shared_embedder: Embedder) -> tuple[list[list[str]], np.ndarray]:
    """The lines above, and the vectors of their facts."""
    lines = [line.split("|") for line in FITTING.splitlines()]
    return lines, np.array(await shared_embedder.embed_documents([line[0] for line in lines]))


async def test_what_bears_on_a_question_is_recalled(
    facts: tuple[list[list[str]], np.ndarray], shared_embedder: Embedder
) -> None:
    lines, vectors = facts
    scores = [
        float(vectors[i] @ np.array(await shared_embedder.embed_query(question)))
        for i, line in enumerate(lines)
        for question in line[1:]
    ]
    assert len(scores) >= 40
    assert np.mean(np.array(scores) >= Memory().threshold) >= 0.95


async def test_what_does_not_is_hardly_ever(
    facts: tuple[list[list[str]], np.ndarray], shared_embedder: Embedder
) -> None:
    scores = [facts[1] @ np.array(await shared_embedder.embed_query(question)) for question in UNRELATED]
    assert np.size(scores) >= 200
    assert np.mean(np.array(scores) >= Memory().threshold) <= 0.05
