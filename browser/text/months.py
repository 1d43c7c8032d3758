"""The names of months in the languages of most pages, from Unicode's CLDR."""

from __future__ import annotations

from typing import Final

MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            """january januar januari jänner janvier enero janeiro gennaio stycznia ledna ocak
            января січня يناير jan""",
            """february februar februari février febrero fevereiro febbraio lutego února şubat
            февраля лютого فبراير feb""",
            """march märz maart mars marzo março marca března mart марта березня مارس mar mär""",
            """april avril abril aprile kwietnia dubna nisan апреля квітня أبريل apr""",
            """may mai maj mei mayo maio maggio maja května mayıs мая травня مايو""",
            """june juni juin junio junho giugno czerwca června haziran июня червня يونيو jun""",
            """july juli juillet julio julho luglio lipca července temmuz июля липня يوليو jul""",
            """august augusti augustus août agosto sierpnia srpna ağustos августа серпня أغسطس
            aug""",
            """september septembre septiembre setembro settembre września září eylül сентября
            вересня سبتمبر sep sept""",
            """october oktober octobre octubre outubro ottobre października října ekim октября
            жовтня أكتوبر oct okt""",
            """november novembre noviembre novembro listopada listopadu kasım ноября листопада
            نوفمبر nov""",
            """december dezember décembre diciembre dezembro dicembre grudnia prosince aralık
            декабря грудня ديسمبر dec dez""",
        ),
        start=1,
    )
    for name in names.split()
}
"""The number of the month by its name, in lower case and in the form that dates use."""
