from collectors.rows import RowsOnDemand


def test_rows_are_made_when_they_are_asked_for_and_kept_by_nobody():
    made = []

    def rows_of(table):
        made.append(table)
        return [{"table": table}]

    rows = RowsOnDemand({"a": lambda: rows_of("a"), "b": lambda: rows_of("b")})

    assert (list(rows), len(rows), made) == (["a", "b"], 2, [])
    assert rows["b"] == [{"table": "b"}]
    assert rows["b"] is not rows["b"]
    assert made == ["b"] * 3
