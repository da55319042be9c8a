"""Every table Tidemark keeps, in one place: its columns, their types and meaning, and its only writer.

Columns are added, never changed in meaning. Times are UTC with millisecond resolution. A value that could not be
established is null, and the column `<name>_unknown` beside it says why.
"""

from collections.abc import Mapping, Sequence

from store.tables.audits import AUDITS
from store.tables.batch_headers import BATCH_HEADERS
from store.tables.columns import Column, Family, Table, Type
from store.tables.headers import HEADERS
from store.tables.internal_topics import INTERNAL_TOPICS
from store.tables.intervals import INTERVALS
from store.tables.log import LOG
from store.tables.metrics import METRICS
from store.tables.roll_ups import ROLL_UPS
from store.tables.sampled_ids import SAMPLED_IDS
from store.tables.samples import SAMPLES

__all__ = ["ALL", "SCHEMA_VERSION", "TABLES", "Column", "Family", "Table", "Type"]

SCHEMA_VERSION = 1

ALL: Sequence[Table] = (
    *SAMPLES,
    *BATCH_HEADERS,
    *SAMPLED_IDS,
    *INTERNAL_TOPICS,
    *ROLL_UPS,
    *INTERVALS,
    *LOG,
    *METRICS,
    *AUDITS,
    *HEADERS,
)
TABLES: Mapping[str, Table] = {table.name: table for table in ALL}
