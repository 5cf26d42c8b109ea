"""Words for verdicts inside what participants wrote: "got WA on test 3", "Time Limit Exceeded", 正解でした.

Precision goes before completeness: a word that is cut out of a program or a sentence where it meant something else
does harm. So lines of code are passed over (comments in them are not), full phrases count wherever else they stand,
and short or common words (AC, RE, accepted, 正解) only where what stands beside them says that a verdict is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from judge_pipeline.ingest.comments import comment_spans
from judge_pipeline.ingest.verdicts import listed_verdict


@dataclass(frozen=True, slots=True)
class Mention:
    """A word for a verdict in a text.

    Attributes:
        start: where it begins, in characters.
        end: where it ends.
        verdict: the verdict in the closed set.
    """

    start: int
    end: int
    verdict: str


_NOT_INSIDE = r"(?<![A-Za-z0-9_])"
_NOT_GOING_ON = r"(?![A-Za-z0-9_])"


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile(f"{_NOT_INSIDE}(?:{'|'.join(patterns)}){_NOT_GOING_ON}", re.IGNORECASE)


_PHRASES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("WA", _words(r"wrong[ -]?answers?")),
    ("TLE", _words(r"time[ -]?limit[ -]?exceed(?:ed|s)?", r"idleness[ -]?limit[ -]?exceeded")),
    ("MLE", _words(r"memory[ -]?limit[ -]?exceed(?:ed|s)?")),
    ("OLE", _words(r"output[ -]?limit[ -]?exceed(?:ed|s)?")),
    ("RE", _words(r"run-?time[ -]errors?", r"run time errors?")),
    ("CE", _words(r"compil(?:e|er|ation)[ -]?errors?")),
    ("PE", _words(r"presentation[ -]?errors?")),
    ("AC", re.compile("答案正[确確](?![性率度/／与和的])|맞았습니다|полное решение", re.IGNORECASE)),
    ("WA", re.compile("不正解(?![率数])|誤答(?!率)|答案错误(?![率/／])|答案錯誤|解答错误|解答錯誤|틀렸습니다|"
                      "неправильный ответ|неверный ответ", re.I)),
    ("TLE", re.compile("(?:実行)?時間制限超過|実行時間超過|运行超时|时间超限|超出时间限制|超過時間限制|시간 ?초과|"
                       "превыше[а-я]+ (?:ограничени[а-я]+|лимит[а-я]*) (?:по )?времени", re.I)),
    ("MLE", re.compile("メモリ制限超過|内存超限|超出内存限制|超過記憶體限制|메모리 ?초과|"
                       "превыше[а-я]+ (?:ограничени[а-я]+|лимит[а-я]*) (?:по )?памяти", re.I)),
    ("OLE", re.compile("出力制限超過|输出超限|超出输出限制|출력 ?초과")),
    ("RE", re.compile("実行時エラー|ランタイムエラー|运行时?错误|執行錯誤|런타임 ?에러|"
                      "ошибка (?:исполнения|времени выполнения)", re.I)),
    ("CE", re.compile("コンパイルエラー|编译错误|編譯錯誤|컴파일 ?에러|ошибка компиляции", re.I)),
)  # fmt: skip
"""What is a verdict wherever it stands outside code."""

_SHORT = re.compile(
    r"(?<![A-Za-z0-9_.<\[/&$-])(?P<word>AC|WA|TLE|MLE|OLE|RTE|RE|CE|PE)(?:s|'s|ed)?(?![A-Za-z0-9_(\[]|\s*=|\.\w|->|&|-\w|/[A-Z]{2}[^A-Z]?C)"
)
_LOWER = re.compile(
    r"(?:\b(?:got|gets?|getting|gives?|gave|still|receiv\w+|returns?)\s+(?:an?\s+|the\s+)?(?=(?:mle|rte|wa|ac)\b)"
    r"|\b(?=tle\b))"
    r"(?P<word>tle|mle|rte|wa|ac)\b(?![(\[_.]\w|\s*=)"
)
_SURE = frozenset({"TLE", "RTE"})
_TELLING = frozenset({"TLE", "RTE", "WA", "MLE"})
_COMMON = frozenset({"RE", "CE", "PE"})
"""Words that are something else where they stand with a number."""
_ESTIMATOR = re.compile(r"likelihood|estimat", re.IGNORECASE)

_BEFORE = re.compile(
    r"(?:\b(?:tests?|cases?|subtasks?)\s*\#?\d+\s*[:.]|\b(?:got|gets?|getting|gives?|gave|giving|tag|receiv\w+|verdicts?"
    r"|results?|status|submi\w+|judg\w+|still|shows?|showed|showing|again"
    r"|instead of|returns?|returned|fails? with|failed with|avoid|cause[sd]?|causing)\b"
    r"|結果|判定|提出|ジャッジ|まだ|また|もう一度|今度|全部|一部|→|->|=>|提交|还是|仍然|显示)"
    r"[\s:：、,はがもだけ\"'“「(*]*(?:[\w\"']+\s+){0,2}[\"'“「(*]*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"^[\"'”」)*]*\s*(?:\(\d+\s*/\s*\d+\)|[x×]\s*\d|(?:on|at|in|for|with|due|because)\b\s+(?:the\s+)?(?:\w+\s+)?"
    r"(?:tests?|test ?cases?|cases?|subtasks?|samples?|#?\d)|(?:tests?|verdicts?|codes?|solutions?|submissions?)\b"
    r"|again\b|になり|になっ|になる|になら|でき|が出|が取|がで|でし|だっ|だけ|した|して|しな|する|しま|を取|取れ|取り|取る|です|判定"
    r"|のまま|のケース|ケース|が\d|数が|率|通|点|了|的|掉|一发|两发)"
)
_ALONE_BEFORE = re.compile(r"^[\W_]*(?:\d+[\W_]+)?$")
_ALONE_AFTER = re.compile(r"^(?!:)[\W_]*(?:\d[\d\s/.,a-z%()]*)?$")

_ACCEPTED = re.compile(r"(?<![A-Za-z0-9_.-])(?:accepted|Accepted|ACCEPTED)(?![A-Za-z0-9_(\[-]|\.\w|\s*=)")
_ACCEPTED_BEFORE = re.compile(
    r"(?:\b(?:solutions?|submissions?|submitted|code|programs?|attempts?|approach|it|mine|this|that|they|answers?)\b"
    r"[^.\n]{0,24}\b(?:was|is|were|are|got|gets|get|be|been|being)\s+(?:(?:finally|also|now|not|all|never|fully)\s+)?"
    r"|\b(?:(?-i:got|getting|gets?)|verdict|result|status|judg\w+|shows?|said|says)\b\s*(?:is|was|an?)?\s*[:：=]?\s*[\"'“*`「]*"
    r"|(?:結果|判定|ステータス|結果は)\s*[:：は]?\s*[\"'“*`「]*|(?:→|->|=>)\s*)$",
    re.IGNORECASE,
)
_ACCEPTED_AFTER = re.compile(
    r"^[\"'”」*`]*\s*(?:\(\s*\d+\s*/\s*\d+\s*\)|(?:on\s+)?(?:the\s+)?(?:judge|site|all|test|codeforces|atcoder"
    r"|(?:first|second|third|\w+th|next) (?:try|attempt)))"
)
_NOT_A_VERDICT_AFTER = re.compile(
    r"^\s*(?:inputs?|values?|formats?|types?|arguments?|parameters?|characters?|answers?|solutions?|that|as|by|the|and|"
    r"offer|terms|practice|into|if|when|only|extensions?|files?"
    r"|on\b(?!\s+(?:the\s+)?(?:judge|site|all|tests?|cases?|codeforces|atcoder|\w+\s+(?:try|attempt)|try|my)))\b"
)

_JAPANESE_RIGHT = re.compile(
    r"(?<!不)正解(?=でし|だっ|にな|しました|した[。、\s]|判定|と表示|が出|数\s*\d)"
    r"|(?<=結果は)正解|(?<=結果:)正解|(?<=結果: )正解|(?<=結果：)正解|(?<=判定: )正解|(?<=判定は)正解"
)
_CHINESE_SLOW = re.compile(r"(?<=还是|仍然|显示|提交|结果|又是|全部)超时|超时(?=了|的?测试点)")
_CHINESE_PASSED = re.compile(r"(?:全部|已|评测|測評|提交)通过(?!率)")
_WHOLE_LINE = re.compile(r"^[\W_\d]*(?P<word>正解|超时|通过)[\W_\d]*$")

_CODE_LINE = re.compile(
    r"[;{}]\s*(?:(?://|\#|/\*).*)?$|<<|>>|\w::\w|->\s*\w+\s*[(.=;]"
    r"|^\s*\#\s*(?:include|define|if|ifdef|ifndef|endif|pragma|undef|else)\b"
    r"|^\s*(?:def|class)\s+\w+\s*[(:]|^\s*for\s+[\w, ()]+\s+in\s+.+:\s*(?:\#.*)?$"
    r"|^\s*(?:if|elif|while)\b.*[<>=!\[(].*:\s*(?:\#.*)?$|^\s*(?:else|try|finally|except.*)\s*:\s*(?:\#.*)?$"
    r"|^\s*(?:raise|throw|assert)\s+\w+|^\s*(?:import|from\s+\S+\s+import)\s+\w+[\w., ]*$"
    r"|^\s+return\b|^\s*return\s+\S+\s*$"
    r"|^\s*[A-Za-z_][\w.]*(?:\[[^\]]*\]|,\s*[A-Za-z_]\w*)*\s*(?:[-+*/%|&^]|<<|>>|//)?=(?!=)\s*\S"
    r"|^\s*[\w.]+\(.*\)\s*(?:(?://|\#).*)?$"
)
"""A line of a program, or what is better taken for one."""
_TRAILING_COMMENT = re.compile(
    r"(?://|(?<![\w&\"'])\#(?!\s*(?:include|define|if|ifdef|ifndef|endif|pragma|undef|else)\b)|/\*)(.*)$"
)

_MAYBE = re.compile(
    r"AC|WA|TLE|MLE|OLE|RTE|RE|CE|PE|tle|mle|rte|\bwa\b|\bac\b|正解|答|超|通过|エラー|错误|錯誤|초과|에러|습니다"
    r"|(?i:accepted|answer|exceed|error|ответ|времени|памяти|ошибка|решение)"
)
"""What a line without any word for a verdict hardly holds: most lines are done with it."""


class VerdictWords:
    """Finds words for verdicts.

    Args:
        own: the contest's further words (``verdict_words`` of its settings) -> verdict. Of these, words of two letters
            or more count as phrases, in the case in which they are listed.
    """

    def __init__(self, own: Mapping[str, str] | None = None) -> None:
        words = {word.strip(): verdict for word, verdict in (own or {}).items() if re.search(r"[^\W\d_]{2}", word)}
        self._own = words
        listed = "|".join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w)))
        self._pattern = re.compile(rf"(?<![A-Za-z0-9_])(?:{listed})(?![A-Za-z0-9_])") if words else None

    def in_prompts(self, text: str) -> list[Mention]:
        """The mentions in what a participant wrote to a model: prose, with code, output and pages pasted into it."""
        return _apart(self._in_lines(text, 0))

    def in_comments(self, source: str, language: str | None) -> list[Mention]:
        """The mentions in a program's comments; elsewhere in it there are none."""
        spans = comment_spans(source, language)
        return _apart(m for start, end in spans for m in self._in_lines(source[start:end], start))

    def _in_lines(self, text: str, offset: int) -> Iterator[Mention]:
        for line in text.splitlines(keepends=True):
            if _MAYBE.search(line) or (self._pattern is not None and self._pattern.search(line)):
                start, prose = _prose(line.rstrip("\r\n"))
                for found in self._in_prose(prose):
                    yield Mention(offset + start + found.start, offset + start + found.end, found.verdict)
            offset += len(line)

    def _in_prose(self, line: str) -> Iterator[Mention]:
        if self._pattern is not None:
            for match in self._pattern.finditer(line):
                yield Mention(match.start(), match.end(), self._own[match.group()])
        for verdict, pattern in _PHRASES:
            for match in pattern.finditer(line):
                yield Mention(match.start(), match.end(), verdict)
        yield from _short_words(line)
        yield from _accepted(line)
        for verdict, pattern in (("AC", _JAPANESE_RIGHT), ("TLE", _CHINESE_SLOW), ("AC", _CHINESE_PASSED)):
            for match in pattern.finditer(line):
                yield Mention(match.start(), match.end(), verdict)
        alone = _WHOLE_LINE.match(line)
        if alone:
            yield Mention(alone.start("word"), alone.end("word"), listed_verdict(alone["word"], {}) or "UNKNOWN")


def _prose(line: str) -> tuple[int, str]:
    """Where the line's prose begins, and the prose: all of it, or the comment behind code, or nothing."""
    comment = re.match(
        r"\s*(?://+|#+(?!\s*(?:include|define|if|ifdef|ifndef|endif|pragma|undef|else)\b)|/\*+|\*(?!\*))\s*", line
    )
    start = comment.end() if comment else 0
    if not _is_code(line[start:]):
        return start, line[start:]
    trailing = _TRAILING_COMMENT.search(line, start)
    return (trailing.start(1), trailing[1]) if trailing and not _is_code(trailing[1]) else (0, "")


def _is_code(line: str) -> bool:
    # What tells code stands at a line's ends; the patterns would take long over the middle of a very long one.
    return bool(_CODE_LINE.search(line if len(line) <= 400 else f"{line[:300]} {line[-100:]}"))


def _is_alone(line: str, start: int, end: int) -> bool:
    return len(line) < 80 and bool(_ALONE_BEFORE.match(line[:start]) and _ALONE_AFTER.match(line[end:]))


def _short_words(line: str) -> Iterator[Mention]:
    found = list(_SHORT.finditer(line))
    kinds = {match["word"] for match in found}
    estimator = "MLE" in kinds and _ESTIMATOR.search(line)
    for match in found:
        word = match["word"]
        if word == "MLE" and estimator:
            continue
        among_others = len(kinds) > 1 and bool(kinds & _TELLING)
        if word in _SURE or among_others or _is_meant(line, match.start("word"), match.end(), word):
            yield Mention(match.start("word"), match.end("word"), listed_verdict(word, {}) or "UNKNOWN")
    for match in _LOWER.finditer(line):
        yield Mention(match.start("word"), match.end("word"), listed_verdict(match["word"], {}) or "UNKNOWN")


def _is_meant(line: str, start: int, end: int, word: str) -> bool:
    before, after = line[max(0, start - 60) : start], line[end : end + 60]
    if _is_alone(line, start, end):
        return word not in _COMMON or not re.search(r"\d", before + after)
    return bool(_BEFORE.search(before) or _AFTER.match(after))


def _accepted(line: str) -> Iterator[Mention]:
    for match in _ACCEPTED.finditer(line):
        before, after = line[max(0, match.start() - 80) : match.start()], line[match.end() : match.end() + 80]
        if _NOT_A_VERDICT_AFTER.match(after):
            continue
        alone = _is_alone(line, match.start(), match.end())
        if alone or _ACCEPTED_BEFORE.search(before) or _ACCEPTED_AFTER.match(after):
            yield Mention(match.start(), match.end(), "AC")


def _apart(mentions: Iterable[Mention]) -> list[Mention]:
    """The mentions in order without those that overlap an earlier, longer one."""
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda m: (m.start, -m.end)):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept
