"""Workers that are killed at random moments lose no fact and store none twice."""

from pathlib import Path

from condensery.evals.worker_kills import kill_workers


async def test_every_fact_is_stored_once_though_workers_are_killed(short_dir: Path) -> None:
    outcomes = await kill_workers(short_dir, kills=6, seed=7)
    assert outcomes.facts == 36
    assert outcomes.wrong == {}
