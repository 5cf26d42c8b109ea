"""Prompt space: participants by the words of Q_u, drawn, and held against what they solved (paper 1, Figure 11).

The drawing is for the eye. Whether nearness goes with outcome is asked of TF-IDF itself, not of drawn places.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.null_reasons import first_reason
from judge_pipeline.cocreation.prompt_terms import terms, tf_idf
from judge_pipeline.statistics.intervals import holm
from judge_pipeline.statistics.nearness import (
    N_PERMUTATIONS,
    kept_share,
    nearest_others,
    neighbour_likeness,
    permutation_test,
    similarity_likeness,
)
from judge_pipeline.statistics.score_counts import FloatArray, IntArray
from judge_pipeline.tables.prompt_space import (
    NEARNESS_STATISTICS,
    OUTCOMES,
    PLACE_STATISTICS,
    PROMPT_SPACE,
    PROMPT_SPACE_TEST,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MIN_PARTICIPANTS = 5
MAX_PARTICIPANTS = 2000
"""Of more, those with the lowest seeded hashes of their ids are taken; distances are a matrix of all pairs."""
MAX_PERPLEXITY = 30.0
MAX_K = 10
N_NEAR_TERMS = 5
MIN_USERS = 3
"""Participants who must use a word before it is named: no word of one person's own is."""


def perplexity_of(n: int) -> float:
    """The perplexity that n participants are drawn with: (n - 1) / 3, which is below n / 3, and at most 30."""
    return min(MAX_PERPLEXITY, (n - 1) / 3)


def nearest_k(n: int) -> int:
    """How many of n participants are called nearest: a fifth, from 2 to 10; below n / 2 for n of 5 and more."""
    return min(MAX_K, max(2, n // 5))


def prompt_space(contexts: pd.DataFrame, trajectories: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """The table ``prompt_space``, a row for each participant, in the order of their ids.

    t-SNE starts from the first two principal components and runs in one thread: the same texts and seed give the same
    places. Nobody has a place where fewer than 5 have words, or where all texts have the same words.

    Args:
        contexts: table PARTICIPANT_CONTEXTS, texts as judges are shown them (``making_requests.shown_contexts``).
        trajectories: table TRAJECTORIES.
        seed: of t-SNE, and of the draw where there are more than 2,000.
    """
    people = contexts[["participant", "prompt_text"]].sort_values("participant", kind="stable", ignore_index=True)
    rows = people[["participant"]].merge(solved_rates(trajectories), on="participant", how="left")
    said = [terms(str(text)) for text in people["prompt_text"]]
    rows = rows.assign(
        n_terms=[len(set(words)) for words in said],
        n_problems=rows["n_problems"].fillna(0), n_undecided=rows["n_undecided"].fillna(0),
    )  # fmt: skip
    words = rows["n_terms"].to_numpy() > 0
    taken = _drawn(rows["participant"], words, seed)
    space = _Space.of([said[at] for at in np.flatnonzero(taken)])
    places = space.places(seed) if space else None
    why = f"fewer than {MIN_PARTICIPANTS} participants have a word in Q_u" if space is None else (
        "all participants have the same words" if places is None else "")  # fmt: skip
    reasons = [
        (~words, "no word in Q_u"),
        (np.full(len(rows), bool(why)), why),
        (~taken, f"not among the {MAX_PARTICIPANTS:,} participants that were drawn"),
        (rows["solved_rate"].isna(), "no problem with a decided attempt"),
    ]
    new = dict.fromkeys(("x", "y", "perplexity", "k", "near_terms"))
    rows = rows.assign(reason=first_reason(len(rows), reasons), **new)
    if space is not None and places is not None:
        n = len(places)
        rows.loc[taken, ["x", "y"]] = places
        rows.loc[taken, "perplexity"], rows.loc[taken, "k"] = perplexity_of(n), nearest_k(n)
        rows.loc[taken, "near_terms"] = np.array(space.near_terms(nearest_k(n)), dtype=object)
    return PROMPT_SPACE.conform(rows)


def prompt_space_test(
    contexts: pd.DataFrame, space: pd.DataFrame, *, seed: int, n_permutations: int = N_PERMUTATIONS
) -> pd.DataFrame:
    """The table ``prompt_space_test``: how true the drawing is, and whether nearness goes with outcome.

    A participant's outcome, with the problems that it rests on, is dealt out among participants anew; one-sided: large
    where those who are near have like outcomes.

    Args:
        contexts: as for ``prompt_space``.
        space: the table ``prompt_space`` made of them.
        seed: of the permutations.
        n_permutations: how many.
    """
    text_of = dict(zip(contexts["participant"], contexts["prompt_text"], strict=True))
    placed, n_all = space[space["x"].notna()], len(space)
    words = _Space.of([terms(str(text_of[u])) for u in placed["participant"]])
    known = placed["solved_rate"].notna().to_numpy()
    similarity = np.zeros((0, 0)) if words is None else words.similarity[np.ix_(known, known)]
    rows = _place_rows(words, placed[["x", "y"]].to_numpy(np.float64), n_all)
    for about in OUTCOMES:
        values = placed.loc[known, "solved_rate"].to_numpy(np.float64)
        if about == "above_expected":
            values = values - placed.loc[known, "expected_rate"].to_numpy(np.float64)
        rows += _nearness_rows(about, values, similarity, n_all, seed, n_permutations)
    tested = [row for row in rows if row["p_value"] is not None]
    for row, corrected in zip(tested, holm([row["p_value"] for row in tested]), strict=True):
        row["p_holm"] = corrected
    return PROMPT_SPACE_TEST.conform(rows)


def solved_rates(trajectories: pd.DataFrame) -> pd.DataFrame:
    """Each participant's SolvedRate (eq. 28) over problems with a decided attempt, and what these let expect.

    Args:
        trajectories: table TRAJECTORIES.

    Returns:
        participant, solved_rate, n_problems, n_undecided, expected_rate; rates are NaN without a decided problem.
    """
    decided = trajectories["time_turns"].notna()
    solved = trajectories["solved"].astype("float64").where(decided)
    share = solved.groupby(trajectories["problem_id"]).transform("mean").where(decided)
    columns = {"solved_rate": solved, "n_problems": decided, "n_undecided": ~decided, "expected_rate": share}
    per = pd.DataFrame(columns).groupby(trajectories["participant"], sort=True)
    how = {"solved_rate": "mean", "n_problems": "sum", "n_undecided": "sum", "expected_rate": "mean"}
    return per.agg(how).rename_axis("participant").reset_index()


def _drawn(participants: pd.Series, words: np.ndarray, seed: int) -> np.ndarray:
    """Whose texts are compared: all who have words, or the 2,000 with the lowest hashes."""
    if words.sum() <= MAX_PARTICIPANTS:
        return words
    names = participants[words]
    hashes = names.map(lambda u: hashlib.sha256(f"{seed}\0{u}".encode("utf-8", "replace")).hexdigest())
    taken = np.zeros(len(words), dtype=bool)
    taken[hashes.sort_values(kind="stable").index[:MAX_PARTICIPANTS].to_numpy()] = True
    return taken


@dataclass(frozen=True)
class _Space:
    """Texts in the space of words; ``similarity`` is the cosine (n, n)."""

    matrix: csr_matrix
    names: list[str]
    similarity: FloatArray

    @classmethod
    def of(cls, texts: list[list[str]]) -> _Space | None:
        """None for fewer than 5 texts."""
        if len(texts) < MIN_PARTICIPANTS:
            return None
        matrix, names = tf_idf(texts)
        similarity = np.clip((matrix @ matrix.T).toarray(), 0.0, 1.0)
        np.fill_diagonal(similarity, 1.0)
        return cls(matrix, names, (similarity + similarity.T) / 2)

    @property
    def distances(self) -> FloatArray:
        return _distances(self.similarity)

    def places(self, seed: int) -> FloatArray | None:
        """Drawn places (n, 2), or None where no two texts differ."""
        from sklearn.manifold import TSNE
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        n = len(self.similarity)
        with threadpool_limits(1):
            start = _two_components(self.similarity)
            if start is None:
                return None
            drawing = TSNE(
                metric="precomputed", init=start, perplexity=perplexity_of(n), random_state=seed % 2**32, n_jobs=1
            )
            return np.asarray(drawing.fit_transform(self.distances), np.float64)

    def near_terms(self, k: int) -> list[str | None]:
        """For each text the words that it and the k nearest use more than all do, each used by 3 texts or more."""
        from scipy.sparse import csr_matrix

        n = len(self.similarity)
        together = np.column_stack([np.arange(n), nearest_others(self.distances, k)])
        weights = csr_matrix(
            (np.full(together.size, 1 / (k + 1)), together.ravel(), np.arange(0, together.size + 1, k + 1)),
            shape=(n, n),
        )
        shared = np.flatnonzero(self.matrix.getnnz(axis=0) >= MIN_USERS)
        matrix = self.matrix[:, shared]
        overall, means = np.asarray(matrix.mean(axis=0)).ravel(), (weights @ matrix).tocsr()
        found: list[str | None] = []
        for row in range(n):
            at = means.indices[means.indptr[row] : means.indptr[row + 1]]
            more = means.data[means.indptr[row] : means.indptr[row + 1]] - overall[at]
            best = [i for i in np.lexsort((at, -more))[:N_NEAR_TERMS] if more[i] > 0]
            found.append(", ".join(self.names[shared[at[i]]] for i in best) or None)
        return found


def _distances(similarity: FloatArray) -> FloatArray:
    """Euclidean distances of rows of length 1; what rounding leaves of equal texts is 0."""
    squared = 2 - 2 * similarity
    squared[squared < 1e-12] = 0.0
    return np.asarray(np.sqrt(squared), np.float64)


def _two_components(similarity: FloatArray) -> FloatArray | None:
    """The first two principal components of the rows, scaled to start t-SNE from; None where there is no spread."""
    from scipy.linalg import eigh

    n = len(similarity)
    mean = similarity.mean(axis=0)
    centred = similarity - mean[:, None] - mean[None, :] + mean.mean()
    values, vectors = eigh(centred, subset_by_index=[n - 2, n - 1])
    if values[1] < 1e-10:
        return None
    vectors = vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0))
    top = vectors[np.abs(vectors).argmax(axis=0), [0, 1]]
    vectors = vectors * np.where(top < 0, -1.0, 1.0)
    return np.asarray(vectors / vectors[:, 0].std() * 1e-4, np.float32)


def _row(statistic: str, about: str, n: int, n_all: int, **further: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("k", "value", "null_mean", "null_low", "null_high", "p_value", "p_holm", "reason"))
    return {
        "statistic": statistic,
        "about": about,
        "n": n,
        "n_left_out": n_all - n,
        "n_permutations": 0,
        **empty,
        **further,
    }


def _place_rows(space: _Space | None, places: FloatArray, n_all: int) -> list[dict[str, Any]]:
    """Trustworthiness and the share of the nearest that stay the nearest, in the drawing."""
    if space is None:
        why = "no participant has a place"
        return [_row(name, "drawn_place", 0, n_all, reason=why) for name in PLACE_STATISTICS]
    from sklearn.manifold import trustworthiness

    n = len(places)
    k = nearest_k(n)
    drawn = np.sqrt(((places[:, None, :] - places[None, :, :]) ** 2).sum(axis=2))
    kept = kept_share(nearest_others(space.distances, k), nearest_others(drawn, k))
    trust = float(trustworthiness(space.distances, places, n_neighbors=k, metric="precomputed"))
    return [
        _row("trustworthiness", "drawn_place", n, n_all, k=k, value=trust),
        _row("neighbours_kept", "drawn_place", n, n_all, k=k, value=kept, null_mean=k / (n - 1)),
    ]


def _nearness_rows(
    about: str, values: FloatArray, similarity: FloatArray, n_all: int, seed: int, n_permutations: int
) -> list[dict[str, Any]]:
    """Both tests of one outcome, or why there are none."""
    from threadpoolctl import threadpool_limits

    n = len(values)
    why = f"fewer than {MIN_PARTICIPANTS} participants have a place and a solved rate"
    if n >= MIN_PARTICIPANTS:
        why = "" if np.ptp(values) > 1e-12 else "every participant has the same outcome"
    if why:
        return [_row(name, about, n, n_all, reason=why) for name in NEARNESS_STATISTICS]
    pairs = similarity[np.triu_indices(n, 1)]
    k = nearest_k(n)
    nearest: IntArray = nearest_others(_distances(similarity), k)
    rows = []
    with threadpool_limits(1):
        for name, at, figure in (
            ("neighbour_likeness", k, neighbour_likeness(nearest)),
            ("similarity_likeness", None, similarity_likeness(similarity) if np.ptp(pairs) > 1e-12 else None),
        ):
            if figure is None:
                rows.append(_row(name, about, n, n_all, reason="every two texts are equally alike"))
                continue
            test = permutation_test(values, figure, seed=seed, n_permutations=n_permutations)
            found = {name: getattr(test, name) for name in test.__slots__}
            rows.append(_row(name, about, n, n_all, k=at, **found))
    return rows
