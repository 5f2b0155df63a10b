"""Replica groups in their three spellings, and source-target pairs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xla_dialect.devices.replica_groups import (
    MAX_IDS,
    IotaGroups,
    ListedGroups,
    ReplicaGroups,
    SourceTargetPairs,
)
from xla_dialect.sharding.mesh import Iota
from xla_dialect.spelling import SpellingError


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("{}", []),
        ("{{0,2},{1,3}}", [[0, 2], [1, 3]]),
        ("{{3,1,2,0}}", [[3, 1, 2, 0]]),
        ("{{0},{1,2}}", [[0], [1, 2]]),
        ("[2,4]<=[8]", [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ("[2,2]<=[4]", [[0, 1], [2, 3]]),
        ("[2,2]<=[2,2]T(1,0)", [[0, 2], [1, 3]]),
        ("[2,4]<=[4,2]T(1,0)", [[0, 2, 4, 6], [1, 3, 5, 7]]),
        ("[4,2]<=[2,2,2]T(0,2,1)", [[0, 2], [1, 3], [4, 6], [5, 7]]),
        ("mesh['a'=2,'b'=2] {'a'}", [[0, 2], [1, 3]]),
        ("mesh['a'=2,'b'=2] {'b','a'}", [[0, 2, 1, 3]]),
        ("mesh['a'=4,'b'=2] {'a':(1)2}", [[0, 4], [1, 5], [2, 6], [3, 7]]),
        ("mesh['a'=4] {'a':(2)2,'a':(1)2}", [[0, 2, 1, 3]]),
        ("mesh['a'=2,'b'=2], device_ids=(3,2,1,0) {'a'}", [[3, 1], [2, 0]]),
        ("mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'a'}", [[0, 1], [2, 3]]),
    ],
)
def test_spelling(text: str, groups: list[list[int]]):
    """Reading and spelling are inverse; all the groups obey (RG1)."""
    found = ReplicaGroups.parse(text)
    assert str(found) == text
    assert found.fault() is None or found.is_empty
    assert [list(group) for group in found.expand()] == groups
    assert found.id_count == sum(map(len, groups))
    assert found.is_empty == (not groups)
    sizes = {len(group) for group in groups}
    assert found.size == (sizes.pop() if len(sizes) == 1 else None)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("{ {0, 1} , { 2,3 } }", "{{0,1},{2,3}}"),
        ("[ 2 , 2 ] <= [ 4 ]", "[2,2]<=[4]"),
        ("[2,2]<=[2,2]T(0,1)", "[2,2]<=[2,2]"),
        ("mesh['a'=2,'b'=2]{'a'}", "mesh['a'=2,'b'=2] {'a'}"),
        ("mesh['a'=2],device_ids=( 1,0 ){'a'}", "mesh['a'=2], device_ids=(1,0) {'a'}"),
    ],
)
def test_blanks(text: str, canonical: str):
    assert str(ReplicaGroups.parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{{0},{}}", "a group is empty"),
        ("{{}}", "a group is empty"),
        ("{{0,0}}", "2 ids are not 0 to 1"),
        ("{{0,1},{1,2}}", "4 ids are not 0 to 3"),
        ("{{1,2}}", "2 ids are not 0 to 1"),
        ("[2,4]<=[7]", "8 ids from dimensions [7]"),
        ("[0,4]<=[0]", "0 ids from dimensions [0]"),
        ("[2,2]<=[4]T(1)", "[1] is no permutation of 1 dimensions"),
        ("[1000000,100000]<=[100000000000]", f"100000000000 ids are more than {MAX_IDS}"),
        ("mesh['a'=2] {'c'}", "there is no axis 'c' in the mesh"),
        ("mesh['a'=4] {'a':(3)2}", "there is no axis 'a':(3)2 in the mesh"),
        ("mesh['a'=4] {'a':(0)2}", "there is no axis 'a':(0)2 in the mesh"),
        ("mesh['a'=12] {'a':(1)4,'a':(3)4}", "axes 'a':(1)4, 'a':(3)4 overlap"),
        ("mesh['a'=4] {'a','a'}", "axes 'a', 'a' overlap"),
        ("mesh['a'=2,'a'=2] {'a'}", "an axis is named twice, or has size 0"),
        ("mesh['a'=0] {'a'}", "an axis is named twice, or has size 0"),
        ("mesh['a'=2], device_ids=(0) {'a'}", "1 ids for 2 devices"),
        ("mesh['a'=2], device_ids=(0,2) {'a'}", "2 ids are not 0 to 1"),
        ("mesh['a'=2], device_ids=([3]T(0)) {'a'}", "2 ids from dimensions [3]"),
    ],
)
def test_fault(text: str, fault: str):
    assert ReplicaGroups.parse(text).fault() == fault


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("", "expected '{', found 'the end'", 0),
        ("{0}", "expected '{', found '0'", 1),
        ("{{0},}", "expected '{', found '}'", 5),
        ("{{0}}x", "expected nothing more, found 'x'", 5),
        ("{{-1}}", "expected a number, found '-'", 2),
        ("{{" + "1" * 30 + "}}", "expected a number, found '" + "1" * 30 + "'", 2),
        ("[2]<=[2]", "expected ',', found ']'", 2),
        ("[2,2]<[4]", "expected '<=', found '<'", 5),
        ("[2,2]<=[4", "expected ']', found 'the end'", 9),
        ("mesh['a']", "expected '=', found ']'", 8),
        ("mesh['a'=2]", "expected '{', found 'the end'", 11),
        ("mesh[a=2] {}", "expected a name in quotes, found 'a'", 5),
    ],
)
def test_misspelled(text: str, message: str, position: int):
    with pytest.raises(SpellingError) as caught:
        ReplicaGroups.parse(text)
    assert str(caught.value) == message
    assert caught.value.position == position


@given(st.text("{}[],0123 <=Tmesh'():", max_size=40))
def test_any_text_is_read_or_refused(text: str):
    try:
        found = ReplicaGroups.parse(text)
    except SpellingError as error:
        position = error.position
    else:
        assert ReplicaGroups.parse(str(found)) == found
        found.fault()
        position = 0
    assert 0 <= position <= len(text)


@given(st.data())
def test_iota_by_definition(data: st.DataObject):
    """Element [g, s] of the groups is the element of that number in the transposed array."""
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    order = data.draw(st.permutations(range(len(sizes))))
    total = 1
    for size in sizes:
        total *= size
    group_size = data.draw(st.sampled_from([n for n in range(1, total + 1) if total % n == 0]))
    groups = IotaGroups(total // group_size, group_size, Iota(tuple(sizes), tuple(order)))
    assert groups.fault() is None
    ids = []
    for number in range(total):
        index = [0] * len(sizes)
        for position in reversed(order):
            number, index[position] = divmod(number, sizes[position])
        flat = 0
        for i, size in zip(index, sizes, strict=True):
            flat = flat * size + i
        ids.append(flat)
    assert [n for group in groups.expand() for n in group] == ids
    assert ListedGroups(groups.expand()).fault() is None


def test_pairs():
    pairs = SourceTargetPairs.parse("{{0,1}, {1,2}}")
    assert str(pairs) == "{{0,1},{1,2}}"
    assert [pairs.source_of(target) for target in range(3)] == [None, 0, 1]
    assert str(SourceTargetPairs.parse("{}")) == "{}"
    with pytest.raises(SpellingError, match="expected pairs"):
        SourceTargetPairs.parse("{{0,1,2}}")
