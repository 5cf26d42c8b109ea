"""What was there before is left alone while calls are made, and only then."""

from __future__ import annotations

import gc
import weakref

import pytest

from judge_pipeline.judging.garbage import old_objects_left_alone


class Ring:
    """Garbage that only the collector can find."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.slow
def test_old_objects_are_left_alone_until_the_last_is_out_and_new_garbage_is_collected() -> None:
    frozen = gc.get_freeze_count()
    with old_objects_left_alone():
        assert gc.get_freeze_count() > frozen + 1000
        with old_objects_left_alone():
            pass
        assert gc.get_freeze_count() > frozen + 1000
        gone = weakref.ref(Ring())
        gc.collect()
        assert gone() is None
    assert gc.get_freeze_count() == 0


def test_it_ends_after_an_error_too() -> None:
    with pytest.raises(ValueError, match="x"), old_objects_left_alone():
        raise ValueError("x")
    assert gc.get_freeze_count() == 0
