"""Countries, their adjectives, and the states of federal countries that English pages name most."""

from __future__ import annotations

import re

_COUNTRIES = """\
Afghanistan|Albania|Algeria|Andorra|Angola|Argentina|Armenia|Australia|Austria|Azerbaijan
Bahamas|Bahrain|Bangladesh|Barbados|Belarus|Belgium|Belize|Benin|Bhutan|Bolivia
Bosnia and Herzegovina|Botswana|Brazil|Brunei|Bulgaria|Burkina Faso|Burundi|Cambodia|Cameroon
Canada|Cape Verde|Chad|Chile|China|Colombia|Comoros|Congo|Costa Rica|Croatia|Cuba|Cyprus
Czech Republic|Czechoslovakia|Denmark|Djibouti|Dominica|Dominican Republic|East Timor|Ecuador
Egypt|El Salvador|England|Eritrea|Estonia|Eswatini|Ethiopia|Falkland Islands|Fiji|Finland
France|Gabon|Gambia|Georgia|Germany|Ghana|Greece|Greenland|Grenada|Guatemala|Guinea|Guyana
Haiti|Honduras|Hong Kong|Hungary|Iceland|India|Indonesia|Iran|Iraq|Ireland|Israel|Italy
Ivory Coast|Jamaica|Japan|Jordan|Kazakhstan|Kenya|Kosovo|Kuwait|Kyrgyzstan|Laos|Latvia|Lebanon
Lesotho|Liberia|Libya|Liechtenstein|Lithuania|Luxembourg|Madagascar|Malawi|Malaysia|Maldives
Mali|Malta|Mauritania|Mauritius|Mexico|Moldova|Monaco|Mongolia|Montenegro|Morocco|Mozambique
Myanmar|Burma|Namibia|Nepal|Netherlands|New Zealand|Nicaragua|Niger|Nigeria|North Korea
North Macedonia|Northern Ireland|Norway|Oman|Pakistan|Palestine|Panama|Papua New Guinea
Paraguay|Peru|Philippines|Poland|Portugal|Puerto Rico|Qatar|Romania|Russia|Rwanda|Saudi Arabia
Scotland|Senegal|Serbia|Seychelles|Sierra Leone|Singapore|Slovakia|Slovenia|Somalia
South Africa|South Korea|South Sudan|Soviet Union|Spain|Sri Lanka|Sudan|Suriname|Swaziland
Sweden|Switzerland|Syria|Taiwan|Tajikistan|Tanzania|Thailand|Togo|Tonga|Trinidad and Tobago
Tunisia|Turkey|Turkmenistan|Uganda|Ukraine|United Arab Emirates|United Kingdom|United States
Uruguay|Uzbekistan|Vanuatu|Vatican City|Venezuela|Vietnam|Wales|Yemen|Yugoslavia|Zambia
Zimbabwe|U.S.|UK|USA"""

_STATES = """\
Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia
Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts
Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey
New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island
South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|West Virginia
Wisconsin|Wyoming|New South Wales|Queensland|South Australia|Tasmania|Victoria
Western Australia|Alberta|British Columbia|Manitoba|New Brunswick|Newfoundland|Nova Scotia
Ontario|Quebec|Saskatchewan|Bavaria|Hesse|Saxony|Lower Saxony|Andhra Pradesh|Assam|Bihar
Gujarat|Karnataka|Kerala|Maharashtra|Odisha|Punjab|Rajasthan|Tamil Nadu|Uttar Pradesh
West Bengal"""

_ADJECTIVES = """\
American|Argentine|Australian|Austrian|Belgian|Brazilian|British|Bulgarian|Canadian|Chinese
Colombian|Croatian|Cuban|Czech|Danish|Dutch|Egyptian|English|Estonian|Ethiopian|Filipino
Finnish|French|German|Greek|Hungarian|Icelandic|Indian|Indonesian|Iranian|Iraqi|Irish|Israeli
Italian|Jamaican|Japanese|Kenyan|Korean|Latvian|Lithuanian|Malaysian|Mexican|Moroccan|Nigerian
Norwegian|Pakistani|Peruvian|Philippine|Polish|Portuguese|Romanian|Russian|Scottish|Serbian
Slovak|Slovenian|South African|Soviet|Spanish|Swedish|Swiss|Thai|Turkish|Ukrainian|Venezuelan
Vietnamese|Welsh"""


def _set(listed: str) -> frozenset[str]:
    return frozenset(re.split(r"[|\n]", listed))


COUNTRIES = _set(_COUNTRIES)
STATES = _set(_STATES)
ADJECTIVES = _set(_ADJECTIVES)


def is_country(name: str) -> bool:
    """Whether a name, as it is written in English, is a country's."""
    return name in COUNTRIES


def is_state(name: str) -> bool:
    """Whether a name is that of a state or province of a federal country."""
    return name in STATES


def is_adjective(name: str) -> bool:
    """Whether a name only says whose (`British`, `Mexican`)."""
    return name in ADJECTIVES
