"""Group preference, further: what each judge chooses on a set's pairs, in both orders (TRACE, section 3, step 1)."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from judge_pipeline.assets.preference import GROUP
from judge_pipeline.orchestration.partitions import judge_of, preference_set_of, set_by_judge
from judge_pipeline.orchestration.table_asset import Check, Made, NotMade, table_asset
from judge_pipeline.tables import PAIR_TEXTS, PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline.tables.pair_judging import PAIR_JUDGMENTS


def pair_judgments_asset(judges: Sequence[str], configuration_sha256: str) -> dg.AssetsDefinition:
    """The asset ``pair_judgments`` over judge x preference_set; the configuration is part of its code version."""

    @table_asset(
        PAIR_JUDGMENTS,
        group=GROUP,
        inputs=(PAIR_TEXTS, PREFERENCE_SPLITS, PREFERENCE_PAIRS),
        partitions_def=set_by_judge(judges),
        rooms=(
            "judging",
            "preference/pair_question.py",
            "preference/pair_judgments.py",
            "preference/screenshots.py",
            "preference/verdicts.py",
        ),
        kinds=("litellm", "parquet"),
        further_code_version=configuration_sha256[:16],
        resources=("spending", "launch"),
        may_wait=True,
        checks=(
            Check(
                "verified",
                "Every pair in scope has an answer in each order that was asked, once",
                remedy="launch judge_preference_set again for this partition: only the rest is asked for, without a "
                "limit where this was a pilot",
                warns=True,
            ),
        ),
    )
    def pair_judgments(
        context: dg.AssetExecutionContext, pair_texts: Any, preference_splits: Any, preference_pairs: Any
    ) -> Made | NotMade:
        """Asks only for what is not stored. Judges are shown pair_texts; labels go to a fitted baseline alone."""
        from judge_pipeline.orchestration.launch_forms import switched_off_in_a_backfill
        from judge_pipeline.orchestration.pair_judging_run import PairInputs, judge_preference_set

        if why := switched_off_in_a_backfill(context, judge_of(context)):
            return NotMade(why)
        inputs = PairInputs(pair_texts, preference_splits, preference_pairs[["pair_id", "w"]])
        return judge_preference_set(context, preference_set_of(context), judge_of(context), inputs)

    return pair_judgments
