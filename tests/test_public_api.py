import subprocess
import sys

import condensery


def test_every_public_name_is_there() -> None:
    for name in condensery.__all__:
        assert getattr(condensery, name) is not None
    assert set(condensery.__all__) == set(condensery._HOMES)


def test_importing_the_package_loads_nothing_heavy() -> None:
    script = (
        "import sys, condensery; print([m for m in ('torch', 'llama_index.core', 'sqlalchemy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
