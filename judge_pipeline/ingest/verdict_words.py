"""The words of contest sites for each verdict, separated by semicolons: English, Japanese, Chinese, Russian, Korean.

Case, width, punctuation and numbers do not count. ``verdicts`` says how they are looked for.
"""

from __future__ import annotations

WORDS: dict[str, str] = {
    "AC": """ac; ok; accepted; accept; correct; correct answer; yes; yes accepted; solved; passed; all passed;
        success; perfect result; 正解; 正答; 正しい; 受理; アクセプト; 合格; ac 正解; 正解 ac; 通过; 答案正确; 正确;
        perfect score; all tests passed; passed system test; aceptado; aceito; accepté; 已通过; 通過; 答案正確; 正確;
        полное решение; принято; зачтено; зачтено принято; верно; правильно; правильный ответ; 맞았습니다; 정답;
        정답입니다; 맞음; 통과; 성공; 正确答案; 回答正确""",
    "WA": """wa; wrong answer; wronganswer; wrong; incorrect; incorrect answer; not accepted; not correct; failed;
        no wrong answer; no output; wrong output; rejected; reject; query limit exceeded; qle; 不正解; 誤答; 間違い;
        誤り; 答えが違う; 出力が違う; 不正解 wa; wa 不正解; 答案错误; noout; output isn t correct;
        output is not correct; failed system test; unaccepted; 错误答案; 解答错误; 错误解答; 答案錯誤; 解答錯誤;
        多种错误; неправильный ответ; неверный ответ; неверно; неправильно; 틀렸습니다; 틀림; 오답; 오답입니다; 실패;
        回答错误""",
    "TLE": """tle; tl; time limit exceeded; time limit exceed; timelimit exceeded; timelimit; time limit; timeout;
        timed out; time limit error; no time limit exceeded; time exceeded; idleness limit exceeded; ile;
        実行時間制限超過; 時間制限超過; 時間超過; タイムアウト; 実行時間超過; 実行時間オーバー; 運行超时; 运行超时;
        il; idleness limit; cpu time limit exceeded; wall time limit exceeded; wall time limit;
        real time limit exceeded; execution timed out; terminated due to timeout; time out; タイムオーバー; 时间超限;
        超出时间限制; 超时; 逾時; 超時; 超過時間限制; 執行逾時; превышено ограничение времени;
        превышено ограничение по времени; превышен предел времени; превышено ограничение времени работы;
        превышен лимит времени; превышение лимита времени; превышено время; превышено реальное время работы;
        превышено максимальное время работы; лимит времени; решение зависло;
        превышено максимальное общее время работы; 시간 초과; 시간초과; 시간 제한 초과""",
    "MLE": """mle; ml; memory limit exceeded; memory limit exceed; memorylimit; memory limit;
        no memory limit exceeded; メモリ制限超過; メモリ超過; メモリ制限オーバー; メモリ使用量超過; 内存超限;
        超出内存限制; 空间超限; 記憶體超限; 超過記憶體限制; превышено ограничение памяти;
        превышено ограничение по памяти; превышен предел памяти; превышен лимит памяти; превышение лимита памяти;
        лимит памяти; 메모리 초과; 메모리초과; 메모리 제한 초과""",
    "RE": """re; rte; runtime error; run time error; runtimeerror; run error; runtime errored; execution error;
        abnormal termination; crash; crashed; segmentation fault; no runtime error; no run time error; nzec; sigsegv;
        sigabrt; sigfpe; 実行時エラー; ランタイムエラー; 実行エラー; 异常终止; 运行时错误; sigkill; sigill; sigbus;
        non zero exit code; nonzero exit code; abort called; dangerous syscall; restricted function; invalid return;
        floating point error; floating point exception; 运行错误; 执行出错; 段错误; 非零返回; 返回非零; 浮点错误;
        執行錯誤; 執行時錯誤; 執行階段錯誤; ошибка исполнения; ошибка выполнения; ошибка во время выполнения;
        ошибка во время исполнения; ошибка времени выполнения; ошибка времени исполнения; ненулевой код возврата;
        런타임 에러; 런타임에러; 런타임 오류; 실행 오류""",
    "CE": """ce; compilation error; compile error; compiler error; compilation failed; compile failed; compileerror;
        compilationerror; compiler errored; no compile error; no compilation error; コンパイルエラー; コンパイル失敗;
        编译错误; compilation failure; 编译失败; 编译出错; 編譯錯誤; 編譯失敗; ошибка компиляции; 컴파일 에러;
        컴파일에러; 컴파일 오류""",
    "PE": """pe; ape; presentation error; output format error; format error; no presentation error;
        no output format error; presentation errored; 出力形式エラー; 出力フォーマットエラー;
        プレゼンテーションエラー; 表示エラー; 出力形式誤り; 格式错误; formatting error; 格式錯誤;
        ошибка представления; неправильный формат вывода; неверный формат вывода; нарушение формата вывода;
        ошибка формата вывода; 출력 형식이 잘못되었습니다; 출력 형식 오류; 출력형식오류""",
    "OLE": """ole; output limit exceeded; output limit exceed; output limit; outputlimit; outputlimit exceeded;
        no output limit exceeded; 出力制限超過; 出力サイズ制限超過; 出力超過; 输出超限; 超出输出限制; 輸出超限;
        превышен предел вывода; превышено ограничение вывода; превышен лимит вывода; 출력 초과; 출력초과""",
    "IE": """ie; internal error; system error; judge error; judging error; judgement failed; denial of judgement;
        security violated; security violation; 内部エラー; システムエラー; ジャッジエラー; ジャッジ側エラー;
        系统错误; judgment failed; judge failed; denial of judgment; can t be judged; cannot be judged;
        checker error; validator error; grader error; evaluation failed; input preparation crashed; check failed;
        内部错误; 系統錯誤; ошибка тестирования; ошибка проверки; внутренняя ошибка; ошибка системы;
        системная ошибка; отказ тестирования; отказ в тестировании; нарушение безопасности; 채점 오류; 시스템 오류""",
    "PARTIAL": """partial; partially accepted; partially correct; partial score; partial points; partially solved;
        partly accepted; partly correct; partial result; 部分点; 部分正解; 部分的に正解; 部分正确; partial solution;
        partial accepted; 部分通过; 部分正確; частичное решение; частично верно; частично принято; 부분 점수;
        부분점수; 부분 정답""",
    "SKIPPED": """skipped; ignored; cancelled; canceled; no too late; too late; 無視; スキップ; 対象外; 取り消し;
        キャンセル; 无效; aborted; disqualified; 跳过; 已取消; 取消; пропущено; проигнорировано; игнорируется;
        отменено; дисквалифицировано""",
    "HACKED": """hacked; successfully hacked; challenged; ハック; ハックされました; 撃墜; 被hack;
        challenge succeeded; взломано; взломан; взлом""",
    "PENDING": """wj; wr; pending; waiting; waiting for judging; waiting for judge; waiting for rejudging;
        waiting for re judging; waiting judge; waiting judging; judging; rejudging; re judging; being judged;
        not judged; not judged yet; not yet judged; unjudged; to be judged; in queue; queued; queue; queuing;
        queueing; running; running tests; compiling; testing; in progress; processing; submitted; new; received;
        started; frozen; pretests passed; ジャッジ待ち; ジャッジ中; リジャッジ待ち; リジャッジ中; 待機中; 採点待ち;
        採点中; 判定待ち; 判定中; 実行中; 実行待ち; コンパイル中; 未採点; 未判定; 審査中; 審査待ち; 処理中; 等待评测;
        评测中; 等待中; 正在评测; 排队中; 编译中; 运行中; 等待評測; 評測中; waiting for compile; waiting for run;
        in judge queue; running judging; pending judgement; pending judgment; pending review; выполняется; в очереди;
        тестируется; тестирование; компилируется; компиляция; ожидает проверки; ожидает подтверждения;
        ожидает тестирования; ожидание; проверяется; на проверке; ожидает; перетестируется; полное тестирование;
        채점 중; 채점중; 채점 준비 중; 기다리는 중; 대기 중; 대기중; 재채점을 기다리는 중; 컴파일 중""",
}
"""Verdict of the closed set -> its words."""
