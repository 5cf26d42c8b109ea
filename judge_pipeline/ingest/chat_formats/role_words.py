"""The words by which people and tools mark who speaks, in English, Chinese, Japanese, Korean and Russian."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from judge_pipeline.ingest.chat_formats.chat import Role, plain_label

Strength = Literal["strong", "weak"]

_STRONG: dict[Role, str] = {
    "user": """user; human; you; me; user prompt; user message; user input; your message; you said; participant;
        student; developer;
        用户; 用戶; 使用者; 我; 你; 你说; 您说; 您; 人类; 提问者; 用户提问; 用户输入;
        研發者; 研发者; 开发者; 開發者; 学生; 學生; 参赛者; 參賽者;
        ユーザー; ユーザ; あなた; 自分; 私; 人間; 参加者; 選手; 生徒; 質問者;
        ユーザーの入力; ユーザー入力; あなたの発言;
        사용자; 유저; 나; 저; 나의 질문; 내 질문; 학생; 참가자; пользователь; вы; я; человек; студент; участник""",
    "assistant": """assistant; ai; ai assistant; bot; chatbot; model; agent; llm; ai response; ai answer; ai model;
        assistant response; model response; bot response;
        助手; 助理; ai助手; ai 助手; 模型; 机器人; 機器人; 大模型; 智能助手; 人工智能; ai 回答; ai回答; ai 回复; ai回复;
        模型回复; 豆包; 通义千问; 文心一言; 千问; 元宝; 智谱清言;
        アシスタント; aiアシスタント; ai アシスタント; モデル; ボット; aiの回答; aiの返答; ai 応答; ai応答;
        チャットgpt; 生成ai; 어시스턴트; 챗봇; 인공지능; ai 답변; ai 응답; ai답변; 챗gpt; 클로드; 제미나이; 모델;
        ассистент; помощник; бот; модель; нейросеть; ии; ответ ии""",
    "system": """system; system prompt; system message; 系统; 系統; 系统提示; システム; システムプロンプト; 시스템;
        система""",
    "tool": "tool; tool result; tool output; function; 工具; 工具结果; ツール; ツール結果",
}

_WEAK: dict[Role, str] = {
    "user": """prompt; my prompt; question; query; q; 提问; 提問; 问题; 問題; 问; 問; 提示词; 提示; 指令; 质问;
        質問; プロンプト; 依頼; 指示; 問い; 질문; 프롬프트; 요청; 문의; вопрос; запрос; промпт""",
    "assistant": """response; answer; reply; a; output; 回答; 答案; 答复; 回复; 答; 回應;
        応答; 返答; 返信; 答え; 出力; 답변; 응답; 대답; 답; ответ""",
    "system": "",
    "tool": "",
}

_MODEL = re.compile(
    r"(?:open\s?ai |google |anthropic |microsoft |github |meta |xai )?"
    r"(?:chat\s?gpt|gpt|claude|gemini|copilot|bing|bard|grok|llama|deepseek|mistral|mixtral|qwen|kimi|cursor|perplexity"
    r"|codex|phind|poe|doubao|ernie|glm|gemma|phi|command r|o(?=[134]\b))(?:v?\d\w*)?"
)
_MODEL_SUFFIX = re.compile(
    r"v?\d\w*|o|r\d|pro|plus|flash|lite|ultra|advanced|sonnet|opus|haiku|instant|turbo|mini|nano|large|small|medium|max"
    r"|chat|coder|code|instruct|preview|latest|thinking|reasoner|think|cli|ai|assistant|version|exp|experimental|model"
    r"|mode|bot"
)

_AROUND = re.compile(
    r"\s*(?:'s)?\s*(?:said|says|wrote|response|reply|answer|message|の発言|の回答|の返答|の応答|说|说道|回答|回复)$"
)
_NUMBER = re.compile(r"\s*(?:no\.?|nr\.?|turn|round|第)?\s*\d{1,5}\s*(?:番目|回目|回|轮|次)?$")
_ASIDE = re.compile(
    r"[(\uff08\[【].{0,120}?[)\uff09\]】]|\s[-–—|@·]\s.{0,80}$|\d{4}[-/年]\d{1,2}[-/月]\d{1,2}.{0,40}$|\d{1,2}:\d\d.{0,20}$"
)


QUESTION_WORDS = frozenset(
    plain_label(word)
    for word in ("q", "question", "提问", "提問", "问题", "問題", "问", "問", "质问", "質問", "問い", "질문", "вопрос")
)
"""Weak words for the user's side that announce a question, so that what stands under it may be the answer."""

_COLONS = ":\uff1a"
_OPENING, _CLOSING = "([{\uff08【", ")]}\uff09】"
_MAX_LABEL_CHARS = 100


class Speaker(NamedTuple):
    """Whom a label means, how surely, and the label in comparable form."""

    role: Role
    strength: Strength
    label: str


def _table(words: dict[Role, str]) -> dict[str, Role]:
    return {plain_label(word): role for role, text in words.items() for word in text.split(";") if word.strip()}


_STRONG_WORDS = _table(_STRONG)
_WEAK_WORDS = _table(_WEAK)


def speaker_of(label: str) -> Speaker | None:
    """Whom a label such as "User (10:02)", "ChatGPT said", "Prompt 3" or "用户" means; None if no speaker.

    A strong word (user, assistant, a model's name) means a speaker anywhere. A weak one (prompt, answer, Q) is also a
    usual word in answers, so that it counts only where the log uses no strong word for the same side.
    """
    if len(label) > 160:
        return None
    plain = plain_label(_ASIDE.sub(" ", label))
    for form in dict.fromkeys((plain, _AROUND.sub("", plain), _NUMBER.sub("", plain))):
        if not form:
            continue
        if form in _STRONG_WORDS:
            return Speaker(_STRONG_WORDS[form], "strong", form)
        if _is_model(form):
            return Speaker("assistant", "strong", form)
        if form in _WEAK_WORDS:
            return Speaker(_WEAK_WORDS[form], "weak", form)
    return None


def split_label(text: str) -> tuple[str, str | None]:
    """The text before and after its first colon, if that stands early and in no bracket; else all of it and None."""
    depth = 0
    for i, char in enumerate(text[:_MAX_LABEL_CHARS]):
        if char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth -= 1
        elif char in _COLONS and depth <= 0:
            return text[:i].strip(), text[i + 1 :].strip()
    return text, None


def _is_model(form: str) -> bool:
    """Whether the label is a model's name: a known family, and after it nothing but versions and variants."""
    family = _MODEL.match(form)
    if family is None:
        return False
    suffixes = re.split(r"[ .-]+", form[family.end() :])
    return all(_MODEL_SUFFIX.fullmatch(suffix) for suffix in suffixes if suffix) and form[family.end() :][:1] in " .-"
