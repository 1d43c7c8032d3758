"""Twenty events, each reported by two writers who do not copy; some quote the same words."""

# ruff: noqa: E501 - prose

REPORTS = (
    (
        'The council of Lindmark voted on Tuesday night to close the old ferry crossing at the end of June. Twelve members were for it, seven against. Mayor Hedda Brask said that "keeping two crossings for four hundred cars a day is a luxury we can no longer pay for". The bridge a mile upstream opened in May. Residents of the eastern shore had collected 1,900 signatures for the ferry.',
        'LINDMARK — After 131 years, the chain ferry will make its last trip on 30 June. A majority of the town council (12 to 7) decided so this week, despite a petition signed by 1,900 people. "Keeping two crossings for four hundred cars a day is a luxury we can no longer pay for," the mayor told reporters after the meeting. Ferryman Olof Tamm, 58, will be offered work in the harbour.',
    ),
    (
        "Researchers at Norra Mill counted 14,000 young eels on the ladder this spring, a third more than last year. The bristle-lined channel, eleven metres long, lets the animals climb past the weir. It was built in 2009 with money from a fishing fund. The team believes that the warm April brought the run forward by ten days.",
        "Eels are back in the river above the weir. That is the result of this year's count at the eel pass of Norra Mill, where biologists trap, weigh and release every animal. They got to 14,000, against 10,500 in the year before. A mild April may have helped: the first elvers arrived ten days early. The pass dates from 2009.",
    ),
    (
        "Version 4.0 of the Heron toolkit drops support for Python 3.8 and replaces the old configuration file by a single TOML file. The command line has been reorganised: what was `heron-sync` is now `heron sync`. According to the release notes, start-up is twice as fast. A migration guide is available; version 3 gets security fixes until December.",
        "I upgraded three projects to Heron 4 this weekend. The good: it starts in half the time and the subcommands finally make sense. The bad: my scripts all called heron-sync, which is gone, and the ini file has to be rewritten as TOML by hand. If you are stuck on Python 3.8 you have to stay with 3.x, for which fixes are promised until the end of the year.",
    ),
    (
        'A fire destroyed the sail loft of the Ekdahl family in Skarholm harbour on Saturday morning. Nobody was hurt. Forty firefighters kept the flames from the neighbouring smokehouse. The police suspect a faulty heater. The loft, built in 1874, was the last on the coast where sails were cut by hand. "We lost everything but the patterns," Jonas Ekdahl said.',
        'Shortly after five on Saturday a passer-by saw smoke above the harbour. When the first engine came, the Ekdahls\' sail loft was burning from end to end. It took forty men and women three hours to save the smokehouse next door. The cause is thought to be an electric heater. "We lost everything but the patterns," said the owner, whose great-grandfather put the building up in 1874.',
    ),
    (
        "The S2 storm lamp from Brask & Holm is the best lantern we tested this year. It burned for just over 20 hours on a filling and stayed alight in the wind tunnel at 90 km/h. At 640 grams it is light for its size. We would have liked a handle that does not get hot. It costs 99 euros, ten more than its predecessor.",
        "At a glance: Brask & Holm S2. Price 99 €. Weight 640 g. Burning time measured: 20 h 10 min. Verdict: solid, reliable, bright. The bail gets hot after an hour, so wear gloves. In rain and gusts the flame did not flicker. Only the price rise from 89 € leaves a sour taste.",
    ),
    (
        "Shares of Petrel Shipping fell by eleven per cent on Thursday after the company cut its forecast for the year. It now expects a profit of 40 million instead of 55 million. Chief executive Maria Lund blamed two ships that were in dock for longer than planned. Analysts at Norbank lowered their target price to 61.",
        'Two ferries in dry dock at once: that was one too many for Petrel Shipping. The Skarholm company will earn about 40 million this year, 15 million less than it had promised in spring. On the exchange the share lost a ninth of its value by noon. Lund, who took over in January, spoke of a "year of repairs".',
    ),
    (
        "How to prune an apple tree: choose a frost-free day in late winter. Remove dead and crossing branches first. Cut just above an outward-facing bud, at a slant, so that rain runs off. Never take more than a quarter of the crown in one year. Large wounds need no paint: the tree closes them by itself.",
        "Late February is pruning time in our orchard. We begin with whatever is dead, diseased or rubbing against its neighbour, and step back often. The rule of thumb is one quarter: whoever takes more gets a forest of water shoots in summer. Cuts are made over a bud that points away from the trunk. We stopped using wound sealant years ago and have seen no harm.",
    ),
    (
        "The national team beat Norland 3–1 in the qualifier at Oslo. Lisa Ek scored twice before half-time and Mona Dahl made it three from a corner in the 71st minute. The visitors' only goal came from the penalty spot. The team now leads the group with ten points from four games.",
        "Ten points, first place, and a crowd that did not want to go home: Wednesday's 3–1 was the best evening in years. Ek, back from injury, was everywhere; her second, a volley from twenty metres, will be shown for a while. Norland pulled one back by a penalty. Dahl's header after 71 minutes settled it.",
    ),
    (
        "The new law on short-term rentals comes into force on 1 January. Flats may then be let to tourists for at most 90 days a year. Owners must register with the municipality and show the number in every advertisement. Fines go up to 50,000 kroner. Rooms in a flat in which the owner lives are exempt.",
        "What changes for hosts in the new year? First, the number: every listing needs a registration number, which your municipality issues for free. Second, the limit: a whole flat may be rented out on no more than 90 nights. Third, the fine: ignoring either can cost up to 50,000 kroner. If you only let your spare room, nothing changes.",
    ),
    (
        "Comet Tamm-Lund will be visible to the naked eye from 3 to 19 October, low in the west after sunset. At its brightest, on the 9th, it should reach magnitude 1. It last came by some 4,200 years ago. Binoculars show the tail, which points away from the sun.",
        "Look west! An hour after the sun has gone down, a faint smudge will hang over the horizon in the second week of October. It is a comet that two amateurs found last year and that has not been here since the Bronze Age. The best night should be the 9th. You need a dark place and a free view; field glasses help.",
    ),
    (
        "The museum of Lindmark reopens on Sunday after four years of works. The hall of ships is now lit from the roof, and a lift leads to the second floor. Director Ida Holm has moved the eighteenth-century tower clock into the entrance, where it strikes every quarter of an hour. Admission is free on the first day.",
        "Four years, 82 million kroner and one clock: on Sunday the town gets its museum back. Visitors are greeted by the mechanism of the old tower clock, which works and can be heard in the whole house. The ships upstairs can now be reached by lift. On the opening day nobody pays. Director Holm hopes for 60,000 guests a year.",
    ),
    (
        "A study in the Journal of Coastal Medicine finds that sauna bathing twice a week lowers blood pressure by 4 mmHg on average. 214 people took part for six months. The effect was strongest in those over sixty. The authors warn that half of the participants knew what was being measured. The study was paid for by the university.",
        'Can sweating replace pills? Hardly, says the cardiologist whose team followed 214 volunteers through half a year of saunas. Their blood pressure did drop, by four points on average and a little more among pensioners. "But nobody was blinded, and half of them knew what we wanted to see." The results were published this week.',
    ),
    (
        "Bus line 14 will run every ten minutes from Monday. The operator has bought six electric buses and hired eighteen drivers. At night and on Sundays the interval stays at twenty minutes. The stop at the brewery is moved to the corner of Mill Lane while the street is rebuilt.",
        "Good news for everybody between the station and the hospital: the 14 comes twice as often as of Monday. Six battery buses make it possible. Less good: those who get off at the brewery have to walk, as the stop has been put at Mill Lane until the roadworks end. Sundays stay as they are.",
    ),
    (
        "The bakery Tamm in Harbour Street was named best of the region for the third time. The jury praised the rye bread, which rests for thirty hours before it is baked. Owner Britta Tamm, who learnt the trade from her father, employs nine people. She does not plan a second shop.",
        "Thirty hours is a long time to wait for a loaf. Britta Tamm thinks that it is the least. Her rye bread has again won over the jury of the regional prize, as it did in 2021 and 2023. Offers to open a branch in the city she turns down. There are nine of them in Harbour Street, and that is enough.",
    ),
    (
        "The harbour authority will dredge the northern channel to a depth of nine metres. Work begins in March and takes five months. Ships of up to 180 metres will then be able to enter at any tide. Environmental groups have lodged an appeal because eelgrass grows on the eastern bank.",
        "An appeal by two conservation groups may delay the deepening of the harbour's north channel. They fear for the eelgrass beds on its eastern side. If the court agrees with the port, dredgers start in March. From 7.2 the bed would be lowered to nine metres, so that coasters need no longer wait for high water.",
    ),
    (
        "To restore a backup, stop the service first. Then copy the archive to the data folder and run the restore command with the archive's name. The index is rebuilt at the next start, which takes about a minute per gigabyte. Keep the old folder until you have checked the result.",
        "Q: I lost my disk, how do I get my data back? A: Install the same version, but do not start it. Put your archive where the data should be and call restore on it. When you then start the service it indexes everything again; with 20 GB I waited for a quarter of an hour. Don't delete anything before you have looked at it.",
    ),
    (
        'The band Curlew plays its farewell concert on 12 December in the Corn Exchange. Tickets sold out within nine minutes. The four musicians, who met at school in 1998, released seven albums. Singer Mona Dahl said the end was "not a divorce but a graduation". A film of the evening will be shown in spring.',
        'Nine minutes: that is how long it took until the last ticket for Curlew\'s last concert was gone. "Not a divorce but a graduation," Dahl called the end of the band after twenty-five years and seven records. Whoever came too late can hope for the film, which is to be in cinemas before Easter.',
    ),
    (
        "The glacier on Mount Norr has lost 1.8 metres of thickness in one summer, more than in any year since measurements began in 1962. Surveyors of the mapping agency read the 24 stakes on the ice in September. At this rate the tongue will be gone by 2040. The hut below it has to be abandoned.",
        "Every September Karin Vik climbs to the Norr glacier and reads her stakes. This time she had to look for some: they lay on the rock. On average the ice is 1.8 metres thinner than a year ago, the worst figure in more than sixty years. By 2040, she reckons, she will have nothing left to measure.",
    ),
    (
        "The library lends tools from now on. Drills, sanders and a sewing machine can be borrowed for a week with a normal library card. The 60 items were donated by citizens and checked by an electrician. Whoever returns something late pays 20 kroner a day.",
        "Need a drill for two holes? Don't buy one. As of this month you can take one home from the town library, along with 59 other useful things, from ladder to sewing machine. Everything has been tested. A card is all you need; the loan period is a week, and after that it is twenty kroner for each day.",
    ),
    (
        'The court sentenced the former treasurer of the sailing club to eighteen months on probation. He had transferred 640,000 kroner to his own account between 2019 and 2022. He has paid back half of it. The judge said that "trust was his only qualification for the post, and he sold it". The sentence is final.',
        'Eighteen months, suspended: with that verdict the embezzlement at the sailing club has come to its end before the district court. 640,000 kroner had gone missing in three years, unnoticed until a new board asked for receipts. "Trust was his only qualification for the post, and he sold it," said the presiding judge. Neither side will appeal.',
    ),
)
