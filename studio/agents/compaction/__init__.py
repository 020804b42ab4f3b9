"""Making a conversation shorter before the model sees it. Nothing is deleted: groups are left out or summed up.

``groups`` is what strategies work on; the strategies are in ``strategies`` and ``summarizing``, the one around a whole
run in ``provider``. Nothing is imported here: an agent without compaction pays nothing for it.
"""
