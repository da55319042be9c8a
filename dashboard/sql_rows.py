"""The answer to a query as a table of the page: names once each, numbers in full digits, text that hides nothing."""

from collections.abc import Sequence

import pandas as pd

from dashboard.names import cut
from store.sql_door import Answer

# A browser's numbers are exact up to here.
EXACT = 2**53


def frame(answer: Answer) -> pd.DataFrame:
    """The rows under the answer's column names."""
    columns = list(zip(*answer.rows, strict=True)) or [()] * len(answer.columns)
    names = unique([cut(name) for name, _ in answer.columns])
    return pd.DataFrame(
        {name: column(values) for name, values in zip(names, columns, strict=True)}
    ).convert_dtypes()  # whole numbers stay whole beside a gap


def column(values: Sequence[object]) -> list[object]:
    """Numbers that a browser shows exactly stay numbers; everything else becomes text."""
    if all(value is None or isinstance(value, bool | float) for value in values):
        return list(values)
    if all(value is None or (isinstance(value, int) and abs(value) <= EXACT) for value in values):
        return list(values)
    return [None if value is None else cut(str(value), 400) for value in values]


def unique(names: Sequence[str]) -> list[str]:
    """The names, numbered where one stood before: two may look the same once they are cut."""
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    return [name if seen[name] == 1 else f"{name} ({number})" for number, name in enumerate(names, start=1)]
