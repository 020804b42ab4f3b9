"""The options of ``checkpoints``; apart from what they do, so that the other sub-commands start fast."""

from __future__ import annotations

import argparse


def add_arguments(commands: argparse.ArgumentParser) -> None:
    """The actions and their options."""
    actions = commands.add_subparsers(dest="action", metavar="ACTION", required=True)
    listed = actions.add_parser("list", help="list runs and checkpoints")
    listed.add_argument("--json", action="store_true", help="one checkpoint a line, as JSON")
    show = actions.add_parser("show", help="what a checkpoint holds, as JSON")
    show.add_argument("checkpoint")
    compare = actions.add_parser("compare", help="two branches or checkpoints side by side")
    compare.add_argument("a", metavar="A", help="id of a checkpoint or branch, or the name of a branch")
    compare.add_argument("b", metavar="B")
    compare.add_argument("--json", action="store_true", help="everything, as JSON")
    prune = actions.add_parser("prune", help="take checkpoints away by the rules; they can be put back in the window")
    prune.add_argument("--last", type=int, metavar="N", help="all but the last N of each branch")
    prune.add_argument("--days", type=float, help="those older than this many days")
    prune.add_argument("--megabytes", type=float, help="the oldest, above this size in all")
    prune.add_argument("--dry-run", action="store_true", help="only say what would go")
    actions.add_parser("compact", help="remove for good what was taken away, and make the file smaller")
    export = actions.add_parser("export", help="write a run or a checkpoint as a bundle, without secrets")
    export.add_argument("what", help="id of a checkpoint or branch, or the name of a branch")
    export.add_argument("-o", "--output", required=True, metavar="OUT")
    taken = actions.add_parser("import", help="add the runs of a bundle")
    taken.add_argument("bundle")
    taken.add_argument("--workflow", metavar="FILE", help="also write the workflow of the bundle to this file")
    for action in (listed, show, compare, prune, export, *(actions.choices[n] for n in ("compact",))):
        action.add_argument("file", help="the workflow file")
        action.add_argument("--store", default="default", metavar="default|PATH", help="where the runs are kept")
    taken.add_argument("--store", default="default", metavar="default|PATH", help="where the runs are kept")
