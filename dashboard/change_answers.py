"""What changed in the window on screen."""

from collections.abc import Mapping

from dashboard import cached, change_questions, changes
from dashboard.changes import Change
from dashboard.queries import Question, Rows
from dashboard.view import View


def found(view: View) -> list[Change]:
    """The newest first."""
    return changes.newest_first(_answers(view))


def left_out(view: View) -> int:
    return changes.left_out(_answers(view))


def _answers(view: View) -> Mapping[Question, Rows]:
    return {one: cached.in_window(view, one, search=view.search) for one in change_questions.OF_THE_WINDOW}
