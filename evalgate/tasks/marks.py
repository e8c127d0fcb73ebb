"""By what tasks of other formats are found among files, where they are loaded as they are.

It stands apart from what reads them: YAML and archives take their time, and most suites have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Format that is loaded as it is -> the file that a folder of it holds; the others are imported.
IN_PLACE: Final[Mapping[str, str]] = {
    "terminal-bench": "task.yaml",
    "snapshot": "issue.md",
    "criteria": "task.json",
}
#: What a file in JSON holds that is a task by itself, of the format criteria.
CRITERIA: Final = b'"successCriteria"'
