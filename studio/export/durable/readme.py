"""``README.md`` of an export for Durable Task."""

from __future__ import annotations

from collections.abc import Sequence

from studio.document.model import Workflow
from studio.export.source import one_line

_TEXT = """\
# {title}

{description}

Python project for Microsoft Agent Framework, written by Superstep Studio. It runs in one process, or on workers that a
Durable Task scheduler hands the nodes to: a node is an activity, a run an orchestration.

In one process:

```
pip install -e .
python -m {package}.workflow "your input"
```

On workers (variables: see `.env.example`):

```
pip install -e ".[durabletask]"
python -m {package}.worker            # on each machine, as many as needed
python -m {package}.client run "your input"
python -m {package}.client start "your input"
python -m {package}.client show RUN
python -m {package}.client answer RUN REQUEST ANSWER
python -m {package}.client outputs RUN
python -m {package}.client retry RUN  # of a failed run: its failed nodes again
```

`DURABLE_ENDPOINT` is the address of the scheduler: `http://localhost:8080` for its emulator, an `https://` address with
an Azure identity in production. `DURABLE_TASKHUB` is the task hub in it; leave it empty for a backend without hubs.
`DURABLE_ACTIVITIES` is how many nodes one worker runs at once.

`tests/test_smoke.py` builds the workflow and runs it once without a model. `tests/test_scale_out.py` runs it on two
workers, kills one in the middle of a node, and compares with one process; its backend is in memory, on this computer.

What to know:

* A node that was running on a lost worker runs again from its start, and so do its model calls and tools: what they do
  outside should be harmless when done twice.
* The name of the workflow ends with a digest of its graph. After a change of nodes, edges or conditions, start new
  workers and let the old ones finish their runs.
* Every worker needs the same code and the same version of the packages. Who can reach the scheduler can run code on the
  workers: keep it in a private network.
* One message, or one value of shared state, should stay below 1 MB; hand on big data by reference.
* There is no streaming, and there are no checkpoints: a run goes on by itself after a crash.
* An answer of another client than this one must be JSON, a text in quotes too: a bare `123` would become a number.
{differences}
Code between `# region user` and `# endregion` is yours. Lines changed elsewhere stay, too, unless
the next export changes the same ones; then it asks.
"""


def readme(workflow: Workflow, package: str, differences: Sequence[str]) -> str:
    """The text; ``differences``: sentences about what is not as in one process."""
    points = "".join(f"* {sentence}\n" for sentence in dict.fromkeys(differences))
    return _TEXT.format(
        title=one_line(workflow.name), description=workflow.description, package=package, differences=points
    )
