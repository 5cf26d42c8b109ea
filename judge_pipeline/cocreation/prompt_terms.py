"""The words of Q_u and their TF-IDF (paper 1, eq. 26): of any language, without what we or a redactor wrote."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from judge_pipeline.cocreation.verdict_masking import PLACEHOLDER
from judge_pipeline.ingest.redaction import TOKEN

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MAX_TERMS = 20_000
"""Words that TF-IDF goes by at most: the most frequent ones."""

_SEPARATOR = re.compile(r"^----- log .*-----$", re.MULTILINE)
"""A line that ``contexts`` writes: names of logs are no words of a participant."""
# Scripts written without spaces between words: kana, Han; a pair of their characters stands for a word.
_UNSPACED = r"\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_RUN = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])\w)+")


def terms(text: str) -> list[str]:
    """The words of a text in order: NFKC, case folded; of two characters or more, and not a number alone.

    A run of kana or Han characters is taken as its pairs of adjacent characters, a single one as itself.
    """
    own = TOKEN.sub(" ", _SEPARATOR.sub(" ", text)).replace(PLACEHOLDER, " ")
    found: list[str] = []
    for run in _RUN.findall(unicodedata.normalize("NFKC", own).casefold()):
        if re.match(rf"[{_UNSPACED}]", run):
            found += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
        elif len(run) > 1 and not run.isdecimal():
            found.append(run)
    return found


def tf_idf(texts: Sequence[Sequence[str]]) -> tuple[csr_matrix, list[str]]:
    """TF-IDF of texts: rows of length 1, idf = 1 + ln((1 + n) / (1 + df)).

    Args:
        texts: the words of each as ``terms`` gives them, at least one.

    Returns:
        A sparse matrix (texts, words), and the words.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer=_as_they_are, max_features=MAX_TERMS)
    matrix = vectorizer.fit_transform(texts)
    return matrix.tocsr(), [str(name) for name in vectorizer.get_feature_names_out()]


def _as_they_are(words: Sequence[str]) -> Sequence[str]:
    return words
