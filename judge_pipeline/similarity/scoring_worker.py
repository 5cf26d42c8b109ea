"""A process that compares programs for another: started by ``scoring_pool``, which ends it."""

from __future__ import annotations

import signal
import sys
from multiprocessing.connection import Connection
from typing import cast

from judge_pipeline.similarity.program import ProgramCache
from judge_pipeline.similarity.scoring import scores_of
from judge_pipeline.similarity.tokens import Tokenizer


def main(descriptor: int, tokenizer: Tokenizer) -> None:
    """Answers each list of pairs that comes through the connection with its scores, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it decides
    connection = Connection(descriptor)
    programs = ProgramCache(tokenizer)
    try:
        while True:
            connection.send(scores_of(connection.recv(), programs))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


if __name__ == "__main__":
    main(int(sys.argv[1]), cast(Tokenizer, sys.argv[2]))
