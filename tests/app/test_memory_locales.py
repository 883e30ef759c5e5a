"""Forgetting, switching off, and other people's facts, in every language."""

import pytest

from condensery.tests.app.helpers import OpenApp

LIVES = {"en": "I live in {}.", "de": "Ich wohne in {}.", "fr": "J'habite à {}.", "it": "Abito a {}."}
WHERE = {"en": "Where do I live?", "de": "Wo wohne ich?", "fr": "Où est-ce que j'habite ?", "it": "Dove abito?"}
locales = pytest.mark.parametrize("locale", LIVES)


@locales
async def test_forgetting_is_of_one_person_and_off_is_off_and_nobody_is_told_of_another(
    corpus_app: OpenApp, locale: str
) -> None:
    lives, where = LIVES[locale], WHERE[locale]
    async with corpus_app() as app:

        async def told(user: str) -> str:
            turn = await app.ask(where, user_id=user)
            recalled = [fact.text for fact in await app.services.recaller.of_user(user, where)]
            return " ".join([turn.answer, *recalled])

        for user, city in (("ada", "Oslo"), ("bob", "Bergen")):
            await app.ask(lives.format(city), user_id=user)
            assert await app.memory_settled(user)
        for user, own, other in (("ada", "Oslo", "Bergen"), ("bob", "Bergen", "Oslo")):
            assert own in (await app.ask(where, user_id=user)).answer
            answer = await told(user)
            assert other not in answer
        assert "Oslo" not in (answer := await told("eve"))
        assert "Bergen" not in answer
        await app.memory.off("bob")
        assert "Bergen" not in await told("bob")
        await app.ask(lives.format("Rome"), user_id="bob")
        assert await app.memory_settled("bob")
        assert [fact.text for fact in await app.memory.list("bob")] == [lives.format("Bergen")]
        await app.memory.on("bob")
        assert (await app.memory.forget("ada", everything=True)).facts == 1
        assert "Oslo" not in await told("ada")
        assert "Bergen" in await told("bob")
