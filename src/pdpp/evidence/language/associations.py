"""Associations: words by which people talk of what a question asks for.

Who asks "when did Tom's dog die?" looks for "we had to say goodbye to Buster", and who asks what
somebody does against stress for "I walk by the river". These words are no synonyms, and mostly no
things of a kind either: they stand where the subject comes up in letters and talk. They lead one
way, from the asked word to the told one. Words that stand everywhere, as "make" and "like", lead to
nothing.
"""

from functools import lru_cache

from pdpp.evidence.language.word_lists import read_word_list

_TOLD = """
    accomplish accomplishment achieve achievement: award finish milestone pass proud win
    adopt: foster rescue shelter
    advice advise recommend recommendation suggest suggestion: advice recommend suggest tip
    afraid fear scare: afraid fear height nervous panic scare spider terrify
    album record: album label release song studio track
    allergic allergy: allergic itch sneeze
    ambition aspiration aspire dream goal: dream goal hope someday wish
    anger angry: furious mad
    anniversary: anniversary married year
    anxious nervous: scare stress terrify worry
    apartment home house: bedroom key move neighbor rent unpack
    argue argument fight: argue disagree fight shout
    art paint painting: artist brush canvas draw portrait sketch watercolour
    award prize: award certificate medal nominate prize trophy win
    baby: crib diaper due newborn pregnant
    bake baker bakery: bread cake cookie dough flour oven pastry
    band musician singer: album concert drummer guitar song
    beach: coast ocean sand sea surf wave
    bedtime: sleep story
    bird: nest parrot wing
    birth born: arrive baby birth born newborn
    birthday: born cake candle party turn
    boat sail: captain ferry harbor sail ship
    book novel: author chapter novel publish read story
    boyfriend girlfriend partner: couple date engage fiance together
    breakup divorce: divorce ex split
    broken: crack fix
    business: brand client company customer shop startup
    calm cope destress relax stress unwind: bath breathe calm escape meditate music peaceful
        relax therapy walk yoga
    camp: campfire marshmallow tent trail
    car: drive engine garage mechanic
    career job occupation profession: boss company hire interview office position promotion work
    cat kitten: kitten meow purr whiskers
    celebrate celebration: anniversary birthday cake champagne dinner party toast
    ceramic pottery: bowl clay glaze kiln mug pot wheel
    challenge difficulty hardship obstacle setback struggle: challenge difficult hard hurdle
        obstacle setback struggle tough
    charity: donate fundraiser homeless nonprofit raise shelter volunteer
    child children kid: baby boy daughter girl son toddler
    choir sing: choir karaoke song voice
    church: choir mass pray priest sunday
    city town: downtown move neighborhood street
    class course lesson workshop: class course enrol instructor learn lesson teacher workshop
    clothes outfit wear: costume dress jacket shirt shoe
    coach: player practice season team train
    collect collection: collect record stamp vinyl
    college university: campus class degree major
    commute: bus drive subway traffic train
    compete competition contest tournament: champion compete final judge match race trophy win
    computer laptop: keyboard screen software
    concert gig: album band crowd festival gig perform show singer stage ticket
    cook: bake dinner dish grill kitchen recipe roast
    cost price: buck cheap dollar expensive pay spend
    counselor therapist therapy: counselor mental session therapist
    craft knit sew: hat needle pattern scarf stitch sweater wool yarn
    dance: ballet choreography recital salsa stage studio tango
    death die: ash funeral gone goodbye grief lose pass
    decide decision: choose decide decision pick
    decorate decoration: color hang light paint
    degree graduate graduation: ceremony college degree diploma graduate university
    dessert sweet: cake candy chocolate cookie pie
    destroy: break chew eat ruin
    diagnose diagnosis health: blood diagnosis doctor heart hospital pain sick surgery weight
    diet healthy: eat exercise salad sugar vegetable weight
    disappoint disappointment sad upset: cry disappoint heartbroken sad upset
    dish eat food meal: bread chicken cook delicious dinner lunch pasta pizza restaurant salad
        snack soup tasty
    doctor: appointment checkup diagnose hospital prescribe
    dog puppy: bark breed leash pup puppy tail
    drink: beer coffee juice tea water wine
    earn income salary: pay raise wage
    emotion feel: excite grateful happy nervous overwhelm proud relieve sad thrill
    employer: boss company hire job
    encourage inspiration inspire motivate motivation: believe encourage inspire motivate push
        support
    engage engagement proposal propose: fiance knee marry ring
    event: ceremony conference fair festival fundraiser parade party workshop
    exam test: fail grade pass score study
    excite excited: thrill wait
    exercise fitness workout: gym jog lift run swim weight yoga
    exhausted tired: sleep
    exhibit exhibition gallery: art display gallery museum painting show
    fail failure: lose reject
    faith religion religious spiritual: bible church god pray temple
    family: brother dad daughter husband kid mom parent sister son wife
    farm: barn cow harvest tractor
    film movie: actor cinema director scene theater watch
    fire: burn flame smoke
    fish: boat catch lake rod
    flight fly: airport board plane
    flower garden plant: bloom garden grow rose seed soil tomato
    foster orphan: adopt child
    friend: buddy friend mate pal
    fundraiser raise: auction charity donate money
    funeral: ash bury casket grave
    furniture: chair couch desk table
    future: hope plan someday
    game: board chess console level player
    genre: comedy fantasy horror jazz mystery pop romance thriller
    gift present: give necklace present surprise
    grade score: exam pass percent point
    grandchild grandfather grandmother grandparent: grandma grandpa nana
    grateful thankful: appreciate thank
    hair: braid cut dye
    happy joy: glad smile
    hike: mountain peak summit trail trek
    hobby passion: enjoy fun love
    holiday vacation: beach christmas flight travel trip
    hospital: emergency nurse surgery ward
    host organise organize: arrange host throw
    hurt injure injury: ankle break fall fracture knee leg rib sprain tear twist wrist
    ill illness sick: cold cough doctor fever flu hospital
    instrument: drum guitar piano play violin
    internship: company intern summer
    interview: hire job offer
    issue problem trouble: break broken fix wrong
    join: club enrol group member sign team
    language: fluent french german italian learn portuguese spanish speak
    lawyer: court judge law
    leave quit resign: leave notice quit resign
    lonely: alone miss
    lose: gone lost miss
    loss mourn: die funeral grief lose miss pass
    marathon race triathlon: finish medal mile run train
    marriage marry wedding: aisle bride groom honeymoon husband ring vow wife
    meaning represent significance symbolize: mean remind reminder symbol
    military war: army deploy soldier veteran
    mountain: climb hike peak summit
    move relocate: apartment box house pack
    museum: art exhibit gallery painting
    music song: album band guitar listen piano play sing song
    nature outdoor outdoors: camp forest hike lake mountain park trail
    neighbor neighborhood neighbour: door next street
    nurse: hospital patient shift ward
    operation surgery: hospital operate recover surgeon
    opportunity: chance offer
    pain: ache hurt sore
    painter: brush canvas paint
    parent: dad father mom mother
    party: balloon cake dance guest
    phone: app call screen text
    photo photograph photography picture: camera lens photo picture shoot shot
    play theater theatre: act audience rehearse role stage
    poem poetry: verse write
    pool: lap lifeguard swim
    pregnancy pregnant: baby due expect
    promote promotion: manager raise
    publish: author book magazine print
    react reaction respond response: cry laugh scream shock surprise
    recover recovery: heal rest
    reject rejection: refuse return
    renovate renovation repair: build fix kitchen paint
    rescue: save shelter
    restaurant: dinner food menu
    roommate: apartment rent share
    scholarship: college full ride tuition
    school: class grade homework kid teacher
    shop store: customer open sell
    sleep: bed insomnia nap tired
    snack: candy chip chocolate popcorn
    speech: audience podium talk
    spend: dollar money
    sport: basketball climb football row run soccer swim tennis
    study: class college degree exam school university
    success successful: sell win
    support: encourage help listen
    surf: board wave
    swim: lap pool water
    tattoo: ink needle
    tour: bus city stage travel
    toy: doll puzzle teddy
    tradition: always every year
    travel trip visit: abroad drive flight fly hotel vacation
    vegan vegetarian: meat plant tofu
    video: channel record upload watch youtube
    volunteer: charity community donate food help homeless shelter
    weather: cold hot rain snow storm sun
    wildlife: bear bird deer fox
    win: beat champion final first medal trophy
    write writer: article blog book journal novel poem script story
    yoga: mat meditate pose stretch
    zoo: elephant lion monkey
"""


@lru_cache(maxsize=1)
def _associations() -> dict[str, tuple[str, ...]]:
    return read_word_list(_TOLD)


def associated_with(stem: str) -> tuple[str, ...]:
    """Return the stems of words by which people talk of a word, which is given by its stem."""
    return _associations().get(stem, ())
