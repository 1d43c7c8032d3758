"""Common English synonyms and opposites, for telling which statement a claim talks about.

A synonym here only helps to align a claim with a statement; nothing is called supported on the
strength of one. Opposites carry more: they turn an aligned statement into its contrary.
"""

from __future__ import annotations

from agent.evidence.spelling import root

# One group a line: words that can stand for each other in a paraphrase of a plain fact.
_SYNONYMS = """
begin start commence launch onset
end finish conclude complete terminate completion
open inaugurate
shut close closure
build construct erect construction building
make produce manufacture create creation production maker producer manufacturer
found establish set founder establishment
buy purchase acquire acquisition bought takeover
get receive obtain gain
win take victory
lose loss
defeat beat
choose pick select elect appoint nominate
name call title term
show display exhibit demonstrate
prove establish confirm
find discover detect spot identify discovery
see observe visible view watch
say state declare announce report note remark
announce present unveil reveal introduce
ask request demand
help aid assist support
use employ utilize usage
need require necessary necessity rely depend
give provide supply offer
cost price expense charge fee expensive
pay fund finance
rise increase grow climb grew growth
fall drop decrease decline reduce shrink reduction fell
big large great huge major
small little minor slight tiny
fast quick rapid swift speed
old ancient elderly
new recent novel
main chief principal primary chiefly mainly mostly
important significant key
about roughly approximately around some circa nearly almost
many numerous
few handful
person people human individual inhabitant resident population
child kid youngster
man male
woman female
worker employee labourer staff workforce
boss chief head leader director manager
lead head run manage direct govern chair command charge
teach instruct train tutor teacher educate
student pupil apprentice learner
study research investigate investigation examine test experiment
scientist researcher
doctor physician
writer author
write compose draft
draw illustrate picture drawing illustration
book volume
film movie
song track
law act statute legislation
rule regulation
vote ballot
war conflict
fight battle combat
attack assault raid
army force troop
kill murder slay
die death perish dead
ill sick illness disease
live inhabit dwell reside
home house dwelling
town city settlement municipality
village hamlet
country nation state
region area district zone
land ground soil
sea ocean
river stream
road street route
ship boat vessel
train rail railway railroad
car vehicle automobile
plane aircraft airplane
ticket fare
visitor guest tourist
spectator audience
money cash fund
income revenue turnover sales
profit earnings
company firm business corporation enterprise
factory plant works mill
shop store
product good
sell sale
export abroad overseas
border frontier boundary
job post position role
work labour
marry wife husband spouse
parent father mother
brother sister sibling
prize award medal
winner champion
match game
score goal
team club side
player footballer
record document
allow permit let permission
forbid ban prohibit
stop halt cease
damage harm destroy hurt
repair mend restore fix renovate
replace substitute swap
remove withdraw
add introduce
include contain comprise consist
hold keep contain capacity
carry transport convey
move shift relocate
travel journey trip
visit tour
arrive reach come arrival
leave depart exit quit
return come
stay remain
join enter
begin origin
come originate
cause reason lead result
because owing due
effect influence impact affect consequence
change alter modify
become turn
like similar
different distinct
same identical
part share portion fraction
whole entire
top high peak summit
tall high height
long length
wide width breadth broad
deep depth
weigh weight heavy
measure size
number amount count quantity total
rate pace
yearly annual year
daily day
monthly month
weekly week
century
often frequent
usually typically generally
sometimes occasionally
before prior previously
after following subsequently
during amid
now currently present today
later afterwards
near close
far distant
free gratis
rich wealthy
poor
happy glad
hard difficult tough
easy simple
strong powerful
weak feeble
hot warm
cold cool chilly frost
dry arid drought
wet rain rainy
fire blaze burn
light lamp illuminate
dark night
water
food meal nourishment
eat feed consume
drink
tree plant
animal creature beast
bird
fish
insect
god deity
church chapel
priest clergy
king monarch ruler
queen
prince
rule reign govern
power electricity energy
machine engine device
computer
software program
data information
picture image
photo photograph
paint painting painter
art
music
musician
play perform performance
theatre stage
school
university college
member
group team organization
meeting assembly conference
minister secretary
president
party
election
government
court tribunal judge
crime offence
prison jail
police
accident crash
flood inundation
storm hurricane
earthquake quake
hill mountain
island isle
coast shore seaside
forest wood
field
garden
bridge
tower
wall
castle fortress
museum gallery
hospital clinic
drug medicine medication
patient
treat treatment therapy
cure heal
species kind type sort form
describe depict portray description
explain account
believe think consider opinion
know aware
learn discover
understand grasp
decide determine decision
plan intend scheme
try attempt effort
succeed success
fail failure
agree consent accept accord
refuse reject decline
approve pass adopt endorse approval
propose suggest proposal suggestion
criticise criticism object objection
praise laud
publish issue release publication
print
translate translation
language tongue
word term
text
letter
story tale
idea notion concept
name
design devise plan designer
invent invention develop development
improve better
worsen deteriorate
protect guard shield conserve
danger risk hazard
safe secure
public
private
famous known renowned
only sole single
first initial original
last final
next following
extend expand extension
cut reduce
spread extend
join link connect
separate divide split
send dispatch
bring carry
take
put place
lie situated located
stand
sit
run operate
go
own possess belong owner ownership
share
save rescue
lend loan borrow
owe debt
earn
spend
hire recruit
fire sack
retire resign
succeed follow replace
serve service
born birth
age old
"""

# Pairs that cannot both be true of one thing in one respect.
_OPPOSITES = """
accept refuse reject decline
approve reject veto
allow forbid ban prohibit
rise fall drop decline decrease
increase decrease decline drop fall
grow shrink decline
gain lose
expand decline
open close
start stop
include exclude
support oppose
agree disagree
succeed fail
pass fail
remember forget
build demolish
create destroy
love hate
admit deny
confirm deny refute
prove disprove
strengthen weaken
improve worsen
expand contract
encourage discourage
appear disappear
connect disconnect
legal illegal
possible impossible
able unable
likely unlikely
known unknown
visible invisible
successful unsuccessful
popular unpopular
complete incomplete
safe dangerous
high low
large small
long short
wide narrow
deep shallow
fast slow
strong weak
hot cold
wet dry
rich poor
young old
more less fewer
north south
northern southern
east west
eastern western
upper lower
male female
public private
urban rural
internal external
positive negative
major minor
thick thin
healthy sick
innocent guilty
voluntary compulsory
temporary permanent
common rare
always never
everyone nobody
everything nothing
maximum minimum
majority minority
ally enemy
supporter opponent critic
keep abandon
retain remove
introduce abolish
preserve destroy
upheld overturned
praise criticise condemn
defend condemn attack
welcome oppose
welcome condemn
encourage deter
deny acknowledge
promote demote
demolish preserve
ascend descend
advance retreat
insert remove
"""

# Words of which at most one is true of a thing in one respect.
_EXCLUSIVE = """
daily weekly monthly yearly annual hourly quarterly
monday tuesday wednesday thursday friday saturday sunday
spring summer autumn winter
gold silver bronze
"""


def _groups(text: str) -> list[list[str]]:
    return [[root(word) for word in line.split()] for line in text.split("\n") if line.strip()]


def _synonym_table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for group in _groups(_SYNONYMS):
        for word in group:
            table.setdefault(word, set()).update(group)
    return {word: frozenset(group) for word, group in table.items()}


def _opposite_table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for first, *others in _groups(_OPPOSITES):
        for other in others:
            table.setdefault(first, set()).add(other)
            table.setdefault(other, set()).add(first)
    for group in _groups(_EXCLUSIVE):
        for word in group:
            table.setdefault(word, set()).update(set(group) - {word})
    return {word: frozenset(opposites) for word, opposites in table.items()}


_SAME = _synonym_table()
_AGAINST = _opposite_table()
_NONE: frozenset[str] = frozenset()


def synonyms(word: str) -> frozenset[str]:
    """Roots that can stand for this root, itself included; one step, not transitive."""
    return _SAME.get(word) or frozenset((word,))


def opposites(word: str) -> frozenset[str]:
    """Roots that say the contrary of this root."""
    return _AGAINST.get(word, _NONE)
