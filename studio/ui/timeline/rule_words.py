"""Rules of retention, and what they take away, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.checkpoints import RetentionRules
from studio.ui.paint.numbers import size_text
from studio.ui.text import tr
from studio.ui.widgets.sources import counted

if TYPE_CHECKING:
    from studio.bridge.run_upkeep import Preview


def preview_words(found: Preview) -> str:
    """What rules take away and keep, in numbers."""
    kept = found.retention
    if not kept.gone:
        return tr("These rules take nothing away: all {count} checkpoints are kept.").format(count=kept.kept)
    gone = counted(len(kept.gone), tr("1 checkpoint"), tr("{count} checkpoints"))
    text = tr("These rules take {gone} away and keep {kept}. Compacting then frees about {size}.")
    parts = [text.format(gone=gone, kept=kept.kept, size=size_text(found.freed))]
    if found.branches:
        parts.append(
            counted(len(found.branches), tr("1 branch goes as a whole."), tr("{count} branches go as a whole."))
        )
    reasons = (
        (kept.named, tr("{count} named")),
        (kept.pinned, tr("{count} pinned")),
        (kept.branch_points, tr("{count} where branches begin")),
        (kept.open_requests, tr("{count} of branches that wait")),
    )
    protected = ", ".join(words.format(count=count) for count, words in reasons if count)
    if protected:
        parts.append(tr("Protected: {list}.").format(list=protected))
    parts.append(tr("It can be put back until the file is compacted."))
    return " ".join(parts)


def rules_words(rules: RetentionRules) -> str:
    """The rules in a few words, "Keeps named, pinned, branch points and the last 20"."""
    if rules.last is None and rules.days is None and rules.megabytes is None:
        return tr("Keeps everything")
    names = [
        (rules.named, tr("named")),
        (rules.pinned, tr("pinned")),
        (rules.branch_points, tr("branch points")),
    ]
    kept = [name for on, name in names if on]
    limits = []
    if rules.last is not None:
        limits.append(tr("the last {count}").format(count=rules.last))
    if rules.days is not None:
        limits.append(tr("{days:g} days").format(days=rules.days))
    if rules.megabytes is not None:
        limits.append(tr("{size:g} MB").format(size=rules.megabytes))
    words = ", ".join((*kept, limits[0])) if not kept else f"{', '.join(kept)} {tr('and')} {', '.join(limits)}"
    how = tr("Keeps {what}") if rules.automatic else tr("Keeps everything; rules: {what}")
    return how.format(what=words)
