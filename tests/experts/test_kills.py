"""Runs that wait survive the end of every process that touches them; `evals/expert_kills.py` does it at length."""

from pathlib import Path

from condensery.evals.expert_kills import kill_experts


async def test_every_run_comes_to_its_own_answer_though_its_processes_are_killed(short_dir: Path) -> None:
    outcomes = await kill_experts(short_dir, runs=10, kills=2, seed=5)
    assert outcomes.wrong == {}
    assert outcomes.left_in_store == 0
    assert outcomes.while_waiting.connections == 0
    assert outcomes.while_waiting.tasks <= outcomes.before.tasks
    assert outcomes.while_waiting.threads <= outcomes.before.threads
