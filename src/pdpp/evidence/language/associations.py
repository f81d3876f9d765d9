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
    accept admit: accept join letter offer spot
    accommodation lodge: airbnb cabin cottage hostel hotel tent
    accomplish accomplishment achieve achievement: award finish milestone pass proud win
    adopt: foster rescue shelter
    advice advise recommend recommendation suggest suggestion: advice recommend suggest tip
    afford finance fund invest: bank borrow grand lend loan save savings
    afraid fear scare: afraid fear height nervous panic scare spider terrify
    age old: birthday turn year
    album record: album label release song studio track
    allergic allergy: allergic itch sneeze
    ambition aspiration aspire dream goal: dream goal hope someday wish
    ancestor heritage inherit inheritance: ancestor grandfather grandmother old pass
    anger angry: furious mad
    animal: cat cow dog fox horse pig rabbit seal whale wild
    anniversary: anniversary married year
    announce announcement: announce news
    anxious nervous: scare stress terrify worry
    apartment home house: bedroom key move neighbor rent unpack
    apologise apologize apology: forgive sorry
    argue argument fight: argue disagree fight shout
    arrive: land
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
    boss manager: boss lead
    boyfriend girlfriend partner: couple date engage fiance together
    break: crack drop smash snap
    breakup divorce: divorce ex split
    broken: crack fix
    bully: mean noise pick tease
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
    charm luck lucky: charm fortune luck
    child children kid: baby boy daughter girl son toddler
    childhood: grow kid little young
    choir sing: choir karaoke song voice
    church: choir mass pray priest sunday
    city town: downtown move neighborhood street
    class course lesson workshop: class course enrol instructor learn lesson teacher workshop
    clothes outfit wear: costume dress jacket shirt shoe
    coach: player practice season team train
    cold hot temperature: boil cold degree freeze heat hot sweat
    collect collection: collect record stamp vinyl
    college university: campus class degree major
    commute: bus drive subway traffic train
    compete competition contest tournament: champion compete final judge match race trophy win
    composer piece: concert perform play sing
    computer laptop: keyboard screen software
    concert gig: album band crowd festival gig perform show singer stage ticket
    contract lease: contract lease sign year
    cook: bake dinner dish grill kitchen recipe roast
    cost price: buck cheap dollar expensive pay spend
    costume: costume dress halloween mask
    counselor therapist therapy: counselor mental session therapist
    coworker colleague: boss office team
    craft knit sew: hat needle pattern scarf stitch sweater wool yarn
    criticise criticism: complain
    customer: buy queue regular shop
    dance: ballet choreography recital salsa stage studio tango
    deadline: close due end until
    death die: ash funeral gone goodbye grief lose pass
    decide decision: choose decide decision pick
    decorate decoration: color hang light paint
    degree graduate graduation: ceremony college degree diploma graduate university
    delay postpone: delay late stuck wait week
    depart: fly leave
    dessert sweet: cake candy chocolate cookie pie
    destination: trip
    destroy: break chew eat ruin
    diagnose diagnosis health: blood diagnosis doctor heart hospital pain sick surgery weight
    diet healthy: eat exercise salad sugar vegetable weight
    disappoint disappointment sad upset: cry disappoint heartbroken sad upset
    dish eat food meal: bread chicken cook delicious dinner lunch pasta pizza restaurant salad
        snack soup tasty
    dislike hate: awful hate stand terrible worst
    distance far: kilometre mile walk
    doctor: appointment checkup diagnose hospital prescribe
    dog puppy: bark breed leash pup puppy tail
    drink: beer coffee juice tea water wine
    earn income salary: pay raise wage
    earthquake flood: damage water
    emigrate immigrate: country move suitcase
    emotion feel: excite grateful happy nervous overwhelm proud relieve sad thrill
    employ employee hire staff: hire join team
    employer: boss company hire job
    encourage inspiration inspire motivate motivation: believe encourage inspire motivate push
        support
    engage engagement proposal propose: fiance knee marry ring
    enjoy favorite favourite prefer: adore amazing best enjoy favorite favourite love
    enroll enrol apply application: accept application apply course form letter
    event: ceremony conference fair festival fundraiser parade party workshop
    exam test: fail grade pass score study
    excite excited: thrill wait
    exercise fitness workout: gym jog lift run swim weight yoga
    exhausted tired: sleep
    exhibit exhibition gallery: art display gallery museum painting show
    expensive: cost dollar money pay
    fail failure: lose reject
    faith religion religious spiritual: bible church god pray temple
    family: brother dad daughter husband kid mom parent sister son wife
    farewell goodbye: goodbye leave miss party
    farm: barn cow harvest tractor
    film movie: actor cinema director scene theater watch
    fire: burn flame smoke
    fish: boat catch lake rod
    flavor flavour taste: chocolate delicious lemon vanilla yummy
    flight fly: airport board plane
    flower garden plant: bloom garden grow rose seed soil tomato
    forget: forgot remember
    foster orphan: adopt child
    found founder: open
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
    greet: hello hug wave
    habit routine: always daily morning usually
    hair: braid cut dye
    happy joy: glad smile
    headache ache: hurt pain
    heirloom: grandmother old ring watch
    hike: mountain peak summit trail trek
    hobby passion: enjoy fun love
    holiday vacation: beach christmas flight travel trip
    hometown origin: born grow
    hospital: emergency nurse surgery ward
    host organise organize: arrange host throw
    hurt injure injury: ankle break fall fracture knee leg rib sprain tear twist wrist
    ill illness sick: cold cough doctor fever flu hospital
    ingredient: butter flour sugar
    instrument: drum guitar piano play violin
    internship: company intern summer
    interview: hire job offer
    introduce: drag meet
    invent: design idea
    issue problem trouble: break broken fix wrong
    jewel jewellery jewelry: bracelet earring necklace ring watch
    join: club enrol group member sign team
    language: fluent french german italian learn portuguese spanish speak
    laundry: wash
    lawyer: court judge law
    leave quit resign: leave notice quit resign
    lecture: class student teach university
    lend borrow: borrow lend lent
    length: centimetre long metre mile
    living: accountant baker chef doctor driver engineer lawyer nurse teacher vet
    lonely: alone miss
    lose: gone lost miss
    loss mourn: die funeral grief lose miss pass
    marathon race triathlon: finish medal mile run train
    marriage marry wedding: aisle bride groom honeymoon husband ring vow wife
    mayor politician: election vote
    meaning represent significance symbolize: mean remind reminder symbol
    medication medicine: doctor dose pill prescribe tablet
    meet: introduce met
    memory: remember remind
    military war: army deploy soldier veteran
    mishap mistake: drop knock spill wrong
    mood: happy sad tired
    mountain: climb hike peak summit
    move relocate: apartment box house pack
    mural: paint wall
    museum: art exhibit gallery painting
    music song: album band guitar listen piano play sing song
    nature outdoor outdoors: camp forest hike lake mountain park trail
    neighbor neighborhood neighbour: door next street
    nurse: hospital patient shift ward
    operation surgery: hospital operate recover surgeon
    opinion review: amazing awful brilliant perfect
    opportunity: chance offer
    ornament: hang shelf
    pain: ache hurt sore
    painter: brush canvas paint
    parcel package: deliver post
    parent: dad father mom mother
    party: balloon cake dance guest
    patient: hospital nurse ward
    perform performance: audience concert rehearse show solo stage
    permission: allow let
    phone: app call screen text
    photo photograph photography picture: camera lens photo picture shoot shot
    play theater theatre: act audience rehearse role stage
    poem poetry: verse write
    pool: lap lifeguard swim
    pregnancy pregnant: baby due expect
    pride proud: proud
    promote promotion: manager raise
    publish: author book magazine print
    punish punishment: ground trouble
    react reaction respond response: cry laugh scream shock surprise
    recover recovery: heal rest
    regret: sorry wish
    rehearsal rehearse: concert practise sing stage
    reject rejection: refuse return
    relationship: boyfriend couple date girlfriend love split together
    relieve relief: glad phew thank
    renovate renovation repair: build fix kitchen paint
    reptile: lizard snake turtle
    rescue: save shelter
    restaurant: dinner food menu
    retire retirement: pension
    reward: free prize
    ride: bike horse
    roommate: apartment rent share
    route: road trail
    scholarship: college full ride tuition
    school: class grade homework kid teacher
    secret: nobody
    shop store: customer open sell
    sibling: brother sister twin
    sight vision: blurry glasses
    sleep: bed insomnia nap tired
    snack: candy chip chocolate popcorn
    souvenir: brought present
    species: animal bird fish
    speech: audience podium talk
    spend: dollar money
    sport: basketball climb football row run soccer swim tennis
    staircase stair: climb floor step
    steal theft thief: gone steal stole
    storm: rain thunder wind
    study: class college degree exam school university
    subject: biology chemistry history math physics teach
    success successful: sell win
    superstition: luck
    support: encourage help listen
    surf: board wave
    swear promise: promise swear
    swim: lap pool water
    symptom: cough fever headache pain
    tattoo: ink needle
    teach teacher tutor: class lesson school student
    tease: joke laugh
    tip: advice
    tour: bus city stage travel
    toy: doll puzzle teddy
    tradition: always every year
    transport: bike bus car drive plane train tram van
    travel trip visit: abroad drive flight fly hotel vacation
    vegan vegetarian: meat plant tofu
    venue: barn church garden hall
    video: channel record upload watch youtube
    volunteer: charity community donate food help homeless shelter
    wake: alarm early morning
    weather: cold hot rain snow storm sun
    wildlife: bear bird deer fox seal whale
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
