"""Language detection for pages and questions, by script and function words ("small words")."""

from __future__ import annotations

import functools
import re
from collections import Counter
from typing import Final

from browser.text.words import STOP_WORDS, character_pairs, stem_in, words

_SCRIPTS: Final = {
    "ja": ("\u3040", "\u30ff"),
    "ko": ("\uac00", "\ud7af"),
    "zh": ("\u4e00", "\u9fff"),
    "th": ("\u0e00", "\u0e7f"),
    "el": ("\u0370", "\u03ff"),
    "he": ("\u0590", "\u05ff"),
    "ar": ("\u0600", "\u06ff"),
    "hi": ("\u0900", "\u097f"),
}
"""Languages (ISO 639-1), each with the first and last character of a script that is mainly used for
that language.

Kana comes before Han, as Japanese uses both. (`re` takes 5 ms to compile the range of Han.)
"""


def _language_of_script(text: str, min_letters: float) -> str | None:
    """Return the language whose script has at least `min_letters` (and one) in `text`, if any."""
    if text.isascii():
        return None
    others = [letter for letter in text if letter > "\u036f"]  # not Latin
    for language, (first, last) in _SCRIPTS.items():
        count = sum(first <= letter <= last for letter in others)
        if count and count >= min_letters:
            return language
    return None


# Each language's most frequent words, without those that are also frequent in other languages.
_SMALL_WORDS_BY_LANGUAGE = {
    "en": "the and of to that is was for with this from have are not which were their",
    "de": "der die und das ist nicht mit den von ein eine auf sich auch dem für wird sind",
    "fr": "les des est dans une pour qui que sur pas avec sont cette par aux plus ses",
    "es": "los las del una por con para que como más pero sus este está ha fue muy",
    "it": "che della di il per una non sono con del dei alla nel anche più gli è",
    "pt": "não uma os dos para com mais ao pela foi são também pelo seu das em à",
    "nl": "het een van dat niet zijn voor met op ook aan werd deze door naar wordt bij",
    "pl": "nie się jest że oraz dla jak tego przez który była są ale na do od po",
    "sv": "och att det som är på för inte har med av till den var om kan sig",
}
SMALL_WORDS: Final = frozenset(" ".join(_SMALL_WORDS_BY_LANGUAGE.values()).split())
_LANGUAGES_OF_WORD = {
    word: [
        language for language, words in _SMALL_WORDS_BY_LANGUAGE.items() if word in words.split()
    ]
    for word in SMALL_WORDS
}
_UKRAINIAN = frozenset("іїєґІЇЄҐ")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_UKRAINIAN_SHARE = 0.02
_LETTERS = re.compile(r"[^\W\d_]+")
_SAMPLE_CHARS = 4_000  # enough words to decide
# A third of running text consists of small words; a list of names has few.
_MIN_SMALL_WORD_SHARE = 0.08
_MIN_WORDS = 20
_SCRIPT_SHARE = 0.1


def language_of(text: str) -> str | None:
    """Detect the language (ISO 639-1) of `text`; None if it is short or in several languages.

    The language is detected from the script or, if that is not enough, from the small words of
    running text. Questions are too short for this: use `question_language` for them.
    """
    sample = text[:_SAMPLE_CHARS]
    if language := _language_of_script(sample, int(_SCRIPT_SHARE * len(sample)) + 1):
        return language
    if len(_CYRILLIC.findall(sample)) > _SCRIPT_SHARE * len(sample):
        ukrainian = sum(letter in _UKRAINIAN for letter in sample)  # letters that Russian lacks
        return "uk" if ukrainian > _UKRAINIAN_SHARE * len(sample) else "ru"
    tokens = [word.casefold() for word in _LETTERS.findall(sample)]
    found = Counter(language for word in tokens for language in _LANGUAGES_OF_WORD.get(word, ()))
    (first, most), (_, second) = [*found.most_common(2), ("", 0), ("", 0)][:2]
    fewest = max(_MIN_SMALL_WORD_SHARE * len(tokens), 1.5 * second)
    return first if len(tokens) >= _MIN_WORDS and most >= fewest else None


# Each language's function words, and the words that begin its questions.
_QUESTION_WORDS: dict[str, frozenset[str]] = {
    "en": STOP_WORDS,
    "de": frozenset(
        """aber als am an auf aus bei bin bis da das dass dem den denn der des die dies diese
        dieser durch ein eine einem einen einer eines er es für gegen gibt hat hatte
        heißt ich ihr im in ist kann man mit nach nicht noch nur ob oder sein seine sich
        sie sind so über um und unter vom von vor wann war waren warum was weil welche
        welchem welchen welcher welches wem wen wenn wer werden wessen wie wieso wieviel
        wird wo wofür woher wohin wurde wurden zu zum zur zwischen""".split()
    ),
    "fr": frozenset(
        """à au aux avec ce ces cette combien comme comment d dans de depuis des dont du
        elle elles en entre est et était été être eu il ils j je l la laquelle le lequel
        les lesquelles lesquels leur leurs lui mais ne nous on ont ou où par pas pendant
        pour pourquoi qu quand que quel quelle quelles quels qui quoi sa se ses son sont
        sous sur un une vers y""".split()
    ),
    "es": frozenset(
        """a al ante aunque como cómo con cual cuál cuales cuáles cuando cuándo cuánta
        cuántas cuánto cuántos cuya cuyo de del desde donde dónde durante e el él ella
        ellos en entre era es esta está este fue ha hasta hay la las lo los más ni no
        para pero por porque qué que quien quién quiénes se sin sobre son su sus también
        tiene un una unos y ya""".split()
    ),
    "it": frozenset(
        """a ai al alla alle anche che chi ci come con cosa cui da dal dalla dei del della
        delle di dove e è era fra fu gli ha hanno i il in la le lo ma nel nella non o
        per perché più quale quali quando quanta quanti quanto quel questa questo se si
        sono su sua sul sulla suo tra un una uno""".split()
    ),
    "pt": frozenset(
        """a ao aos as até com como da das de do dos e é ela ele em entre era essa esta
        está este foi há isso mais mas na nas não no nos o onde os ou para pela pelo por
        porque qual quais quando quanta quanto quantos que quem se sem seu são sobre sua
        também tem um uma""".split()
    ),
    "nl": frozenset(
        """aan al als bij dan dat de deze die dit door een en er had heeft het hij hoe
        hoeveel hun ik in is je kan maar met na naar niet nog of om ons ook op over te
        tegen tot uit van voor waar waarom wanneer waren was wat welk welke werd wie
        worden ze zijn zou""".split()
    ),
    "pl": frozenset(
        """a ale był była było były by co czy dla do gdzie i ile jak jaka jaki jakie jako
        jest już kiedy kim kto która które który ma na nie o od po pod przez przy się są
        ten to w we z za ze""".split()
    ),
    "sv": frozenset(
        """att av de den det dig du där efter eller en ett från för ha han har hon hur i
        inte jag kan med men mot nu när och om på sig sin som till under upp ut vad var
        varför vem vid vilka vilken vilket är över""".split()
    ),
    "cs": frozenset(
        """a ale až byl byla bylo co do i jak jaká jaké jaký je jeho jejich jsou k kde kdo
        kdy která které který na nebo než o od po pod pro proč s se si ta tak ten to u v
        ve z za že""".split()
    ),
    "tr": frozenset(
        """ama bir bu çok da daha de değil en gibi hangi hangisi için ile kaç kadar kim
        kimdir mi mı mu mü nasıl ne neden nedir nerede nereye ve veya ya zaman""".split()
    ),
    "ru": frozenset(
        """а без бы был была были было в во все вы где для до его ее если же за и из или их
        к как какая какие какой какое когда кого который кто ли между на не но о об он
        она они от по под почему при с сколько со так то у чем что чтобы это""".split()
    ),
    "uk": frozenset(
        """а або але без був була було були в від він вона вони для до з за і й із його її
        коли кого котрий на не про скільки та те ти у хто це чи чому що щоб як яка
        яке який які""".split()
    ),
}  # fmt: skip

# Letters that distinguish a language from related ones; all of them together count as one small
# word.
_DISTINCTIVE_LETTERS = {
    "de": "ß", "es": "ñ¿", "pt": "ãõ", "fr": "œç", "pl": "ąćęłńśźż", "cs": "ěřů", "sv": "å",
    "tr": "ğış", "ru": "ыэъё", "uk": "іїєґ",
}  # fmt: skip
# One small word may be part of a name or a loanword (`la`, `die`); two indicate a sentence.
_MIN_SMALL_WORDS = 2


def question_language(text: str) -> str | None:
    """Detect the language (ISO 639-1) of a question; None if it is not certain.

    A few names or keywords are not enough, even if they look like another language.
    """
    letters = len(_LETTERS.findall(text)) and sum(map(str.isalpha, text))
    if language := _language_of_script(text, letters / 3):
        return language
    tokens = [word.casefold() for word in _LETTERS.findall(text)]
    votes = Counter({name: _count_votes(name, text.casefold(), tokens) for name in _QUESTION_WORDS})
    (first, most), (_, next_most) = votes.most_common(2)
    return first if most >= _MIN_SMALL_WORDS and most > next_most else None


def small_words(question: str) -> frozenset[str]:
    """The small words of a question's language; the English ones if the language is uncertain."""
    return _QUESTION_WORDS.get(question_language(question) or "en", STOP_WORDS)


@functools.cache
def small_words_in(language: str) -> frozenset[str]:
    """The small words of a language (ISO 639-1), as `words` returns them; empty if unknown."""
    return frozenset(words(" ".join(_QUESTION_WORDS.get(language, ()))))


def stems_in(language: str, text: str) -> list[str]:
    """Return the stems of the words in `text`, in a language (ISO 639-1), without small words.

    For Korean and scripts without spaces, these are pairs of characters.
    """
    small = STOP_WORDS | small_words_in(language)
    pairs = character_pairs(text)
    paired = set("".join(pairs))
    found = [word for word in words(text) if word not in small and not paired & set(word)]
    return [stem_in(language, word) for word in found] + pairs


def foreign_small_words(question: str) -> frozenset[str]:
    """The small words of a question's language as `words` returns them; none for English."""
    language = question_language(question)
    return frozenset() if language in (None, "en") else small_words_in(language)


def _count_votes(language: str, text: str, tokens: list[str]) -> int:
    """Count small words, and add one if other words contain the language's distinctive letters."""
    small = [word for word in tokens if word in _QUESTION_WORDS[language]]
    for word in small:
        text = text.replace(word, "", 1)
    has_letter = any(letter in text for letter in _DISTINCTIVE_LETTERS.get(language, ""))
    return len(small) + has_letter if small else 0
