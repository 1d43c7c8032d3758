"""A question's language, by its script and small words, and the queries it is turned into."""

from __future__ import annotations

import re
from collections import Counter

from browser.text import SCRIPTS, STOP_WORDS

# The words that a language cannot do without, and those that its questions begin with.
_SMALL_WORDS: dict[str, frozenset[str]] = {
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

_LETTERS_ONLY = re.compile(r"[^\W\d_]+")
# Letters that tell a language from its neighbours; they count as one small word more.
_LETTERS = {
    "de": "ß", "es": "ñ¿", "pt": "ãõ", "fr": "œç", "pl": "ąćęłńśźż", "cs": "ěřů", "sv": "å",
    "tr": "ğış", "ru": "ыэъё", "uk": "іїєґ",
}  # fmt: skip
# One small word may be a name or a borrowing (`la`, `die`); two of them are a sentence.
_ENOUGH = 2


def question_language(text: str) -> str | None:
    """The two letters of the language that a question is asked in; None where it does not tell.

    A few names or keywords tell nothing, however foreign they look.
    """
    letters = len(_LETTERS_ONLY.findall(text)) and sum(map(str.isalpha, text))
    for language, script in SCRIPTS:
        if letters and len(script.findall(text)) * 3 >= letters:
            return language
    said = [word.casefold() for word in _LETTERS_ONLY.findall(text)]
    votes = Counter({name: _votes(name, text.casefold(), said) for name in _SMALL_WORDS})
    (first, most), (_, next_most) = votes.most_common(2)
    return first if most >= _ENOUGH and most > next_most else None


def small_words(question: str) -> frozenset[str]:
    """The words without a meaning of their own in a question's language; English ones elsewhere."""
    return _SMALL_WORDS.get(question_language(question) or "en", STOP_WORDS)


def _votes(language: str, text: str, said: list[str]) -> int:
    """Small words, and one more for a telling letter elsewhere (`São` is both, and a saint)."""
    small = [word for word in said if word in _SMALL_WORDS[language]]
    for word in small:
        text = text.replace(word, "", 1)
    lettered = any(letter in text for letter in _LETTERS.get(language, ""))
    return len(small) + lettered if small else 0


# Words of questions and requests that no page that answers them needs to have.
_ASKING = frozenset(
    """according answer called define describe did do does exactly explain find give happen happened
    kind known list many me mean much name named please show sort tell there thing type use used
    using whats whos""".split()
)
# A question that speaks of so many things is rarely answered by one engine's first page.
HARD_WORDS, HARD_NAMES = 8, 2
# Ten words are as many as engines weigh; the fewer, the more pages have them all.
MOST_WORDS = 10

_QUOTED = re.compile(r"[\"“”«»„]([^\"“”«»„]{2,80})[\"“”«»„]")
_WORD = re.compile(r"[^\W_]+(?:['’.\-+#][^\W_]+)*[+#]*")
_JOINING = "of|the|de|la|le|van|von|der|den|du|da|di|del|and|for|in"
_NAME = re.compile(
    rf"[^\W\d_a-zß-ÿ][\w'’.\-]*(?:\s+(?:(?:{_JOINING})\s+)*(?:[^\W\d_a-zß-ÿ][\w'’.\-]*|\d{{1,4}}))+"
)


def keywords(question: str, most: int = MOST_WORDS) -> list[str]:
    """Give the words that carry meaning, in order, as they are written; all words if none do."""
    found = list(dict.fromkeys(_WORD.findall(question)))
    small = small_words(question)
    kept = [word for word in found if not _is_empty(word, small)]
    return (kept or found)[:most]


def quoted(question: str) -> list[str]:
    """Give what the question itself puts in quotation marks."""
    return [" ".join(phrase.split()) for phrase in _QUOTED.findall(question)]


def names(question: str) -> list[str]:
    """Give names of several words, by their capitals; a question's first word is none by itself."""
    found = []
    small = small_words(question)
    for name in _NAME.findall(question):
        parts = name.rstrip(".'’-").split()
        while parts and (_is_empty(parts[0], small) or parts[0][0].islower()):
            parts = parts[1:]
        while parts and parts[-1][0].islower():
            parts = parts[:-1]
        if len(parts) > 1:
            found.append(" ".join(parts))
    return list(dict.fromkeys(found))


def rewrites(question: str) -> list[str]:
    """Give queries to try in turn: as asked, its keywords, its names in quotes with the rest."""
    plain = " ".join(question.split())
    words = keywords(plain)
    phrases = quoted(plain) or names(plain)
    queries = [plain, " ".join(words)]
    if phrases:
        inside = {word for phrase in phrases for word in _WORD.findall(phrase)}
        rest = [word for word in words if word not in inside]
        marked = [f'"{phrase}"' for phrase in phrases]
        queries += [" ".join([*marked, *rest]), " ".join(phrases)]
    return list(dict.fromkeys(query for query in queries if query))


def is_hard(question: str) -> bool:
    """Whether a question is worth asking several engines at once: many things, or many names."""
    phrases = quoted(question) or names(question)
    return len(keywords(question, most=HARD_WORDS)) >= HARD_WORDS or len(phrases) >= HARD_NAMES


def _is_empty(word: str, small: frozenset[str]) -> bool:
    plain = word.casefold()
    short = plain.replace("'", "").replace("’", "")
    return plain in small or short in small or short in STOP_WORDS or short in _ASKING
