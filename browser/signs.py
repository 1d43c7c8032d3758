"""What walls say: the words by which a check, a login or a paywall is known, live or over HTTP.

A wall says little, so who asks sets a length beyond which a page is no wall, whatever it mentions.
"""

from __future__ import annotations

import re

CAPTCHA = re.compile(
    r"captcha|are you (?:a )?(?:robot|human)|i'?m not a robot|unusual traffic"
    r"|(?:type|enter) the characters|prove (?:that )?you(?:'re| are) (?:a )?human"
    r"|press (?:&|and) hold|kein roboter|ungewöhnlichen datenverkehr",
    re.IGNORECASE,
)
BOT_CHECK = re.compile(
    r"just a moment(?:\.\.\.|…|$)|checking (?:your browser|if the site connection is secure)"
    r"|verif(?:y|ying) (?:that )?you are (?:a )?human|ddos protection|pardon our interruption"
    r"|please wait while we (?:verify|check)|enable javascript and cookies to continue"
    r"|needs to review the security|browser (?:überprüft|wird geprüft)",
    re.IGNORECASE,
)
BLOCKED = re.compile(
    r"access (?:to this page )?(?:has been )?denied|request blocked|you have been blocked"
    r"|the request could not be satisfied|403 forbidden|zugriff verweigert",
    re.IGNORECASE,
)
LOGIN = re.compile(
    r"\b(?:log|sign) ?in\b|\banmelden\b|\beinloggen\b|\bse connecter\b|\biniciar sesión\b"
    r"|\bwachtwoord\b",
    re.IGNORECASE,
)
PAYWALL = re.compile(
    r"subscribe (?:now )?to (?:continue|read|keep reading|unlock)|already a subscriber"
    r"|th(?:is|e) (?:article|content|story) is (?:only )?(?:for|available to|reserved for)"
    r" (?:our |paying )?(?:subscribers|members)|(?:article|content|story) is only available to"
    r"|subscribers? only|continue reading with|to continue reading|unlock this (?:article|story)"
    r"|(?:free )?articles? (?:left|remaining)|become a member to read"
    r"|jetzt (?:weiterlesen|abonnieren)|réservé aux abonnés|nur für abonnenten",
    re.IGNORECASE,
)
NOT_FREE = re.compile(r'"isAccessibleForFree"\s*:\s*"?false', re.IGNORECASE)
