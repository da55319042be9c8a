from kafka.record.default_records import DefaultRecordBatchBuilder

from lab.stored_batches import is_stored_twice, parse_segment, stored_batches


def batch(count, *, stamp=1_000, base_offset=0):
    builder = DefaultRecordBatchBuilder(2, 0, False, -1, -1, -1, 1_000_000)
    for number in range(count):
        builder.append(number, stamp, None, b"value", [])
    blob = bytearray(builder.build())
    blob[:8] = base_offset.to_bytes(8, "big")
    return bytes(blob)


def test_batches_are_read_in_order_up_to_the_zeros_of_a_segment_that_is_not_full(tmp_path):
    (tmp_path / "00000000000000000000.log").write_bytes(batch(1) + batch(5, base_offset=1) + bytes(500))
    (tmp_path / "00000000000000000006.log").write_bytes(batch(2, base_offset=6))

    assert [(each.base_offset, each.records) for each in stored_batches(tmp_path)] == [(0, 1), (1, 5), (6, 2)]


def test_a_batch_that_is_being_written_is_none():
    assert list(parse_segment(batch(5)[:-1])) == []


def test_a_batch_is_stored_twice_only_where_the_same_records_with_the_same_times_come_again():
    def twice(*blobs):
        return is_stored_twice(list(parse_segment(b"".join(blobs))), 5)

    assert twice(batch(1), batch(5, base_offset=1), batch(5, base_offset=6))
    assert not twice(batch(1), batch(5), batch(5, stamp=2_000))
    assert not twice(batch(5), batch(4))
    assert not twice(batch(5))
    assert not twice(batch(3), batch(2), batch(5))
