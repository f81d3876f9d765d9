"""Translations: everyday words of English in other languages, and the other way round.

Letters, bills and talk of one person are often in two languages, while an agent asks in one: "when
is my dentist appointment?" looks for "Ihr Termin beim Zahnarzt". An entry of a table has English
words that mean one thing, and the words for it in the other language. Words that are alike in both
are not here, nor those that hold a sentence together.
"""

from collections.abc import Mapping
from functools import lru_cache

from pdpp.evidence.language.stems import stems_of
from pdpp.evidence.language.tables import frequencies
from pdpp.evidence.language.terms import distinct, pieces

_GERMAN = """
    accident: unfall; accommodation: unterkunft ferienwohnung ferienhaus; account: konto;
    accountant: buchhalter buchhalterin steuerberater steuerberaterin; address: adresse anschrift;
    airport: flughafen; allergy: allergie heuschnupfen; anniversary: jahrestag hochzeitstag
    jubiläum; answer reply: antwort antworten; apartment flat: wohnung apartment; apologise
    apologize sorry: entschuldigung entschuldigen; apple: apfel äpfel; application apply: bewerbung
    bewerben antrag; appointment: termin terminbestätigung; arrival arrive: ankunft ankommen landen;
    aunt: tante; austria: österreich; baby: säugling; bag: tasche rucksack; baggage luggage
    suitcase: gepäck koffer handgepäck; bake baker bakery: backen bäcker bäckerei; basement cellar:
    keller; bath bathroom: badezimmer badewanne; beach: strand; bean: bohne; beard: bart; bed: bett;
    bee: biene; beer: bier; belgium: belgien; bell: klingel; bicycle bike: fahrrad rad; bill
    invoice: rechnung abrechnung; bird: vogel vögel; birthday: geburtstag; blood: blut; blue: blau;
    boat: schiff; book booking reservation reserve: buchung buchen buchungsbestätigung reservierung;
    book: buch bücher; boss: chef chefin; bread: brot; breakfast: frühstück; bride wedding marry
    married marriage: hochzeit heiraten trauung; bridge: brücke; brother: bruder; brussels: brüssel;
    building: gebäude; buy bought purchase: kaufen einkauf kauf; cake: kuchen torte; calendar:
    kalender; call: anruf anrufen telefonat; canada: kanada; cancel cancellation: kündigen kündigung
    stornieren stornierung absagen; candle: kerze; car: auto wagen pkw; card: karte kreditkarte;
    carpet: teppich; carry: tragen; cash: bargeld; cat: katze kater; celebrate celebration: feiern
    feier; certificate: urkunde bescheinigung zeugnis; chair: stuhl; change: änderung ändern
    wechsel; cheap: günstig billig; cheese: käse; chemist pharmacy: apotheke; child children: kinder
    tochter sohn; choir: chor; christmas: weihnachten weihnachtsfeier; church: kirche; cinema: kino;
    city town: stadt; claim: anspruch schadenmeldung erstattung; class course lesson: kurs
    unterricht; clean cleaning: putzen reinigung; clock watch: armbanduhr; clothes: kleidung
    klamotten; coat jacket: mantel jacke; coffee: kaffee; cold flu: erkältung grippe; colleague:
    kollege kollegin; cologne: köln; colour color: farbe; compensation: entschädigung; complain
    complaint: beschwerde reklamation beschweren; concert: konzert; condolence: beileid; confirm
    confirmation: bestätigung auftragsbestätigung bestätigen; congratulation congratulations:
    glückwunsch gratulation; contract agreement: vertrag mietvertrag arbeitsvertrag; cook cooking:
    kochen; copenhagen: kopenhagen; cost price: kosten preis kostet; country: land; cousin: cousine;
    cream: sahne; croatia: kroatien; cry: weinen; customer client: kunde kundin; customs: zoll; dad
    father: papa vater; damage: schaden; dance: tanzen tanz; daughter: tochter; deadline: frist
    abgabe stichtag; deliver delivery: lieferung liefern zustellung liefertermin geliefert; denmark:
    dänemark; dentist: zahnarzt zahnärzte zahnärztin; departure depart: abfahrt abflug; deposit:
    anzahlung kaution; dermatologist: hautarzt hautärztin; desk: schreibtisch; dessert: nachtisch;
    diary: tagebuch; dinner: abendessen; discount: rabatt gutschein; disease illness ill sick: krank
    krankheit krankmeldung; dish: gericht; divorce: scheidung; doctor physician: arzt ärztin
    hausarzt praxis; dog: hund; door: tür; dream: traum; dress: kleid; drink drinks beverage:
    getränk getränke trinken; drive: fahren; licence license: führerschein; due: fällig; ear:
    ohr; easter: ostern; eat: essen; egg: ei eier; electricity power: strom stromrechnung; email
    mail letter: brief post; employer: arbeitgeber; engaged engagement: verlobung verlobt; engine:
    motor; error mistake: fehler; evening: abend; exam test: prüfung klausur; exhibition:
    ausstellung; expensive: teuer; expire expiry: ablaufen verfallen gültig; face: gesicht; family:
    familie; farewell goodbye: abschied; fee: gebühr beitrag; fever: fieber; film movie: spielfilm;
    fine penalty: bußgeld strafzettel; fire: feuer brand; fish: fisch; flight fly: flug flieger
    fliegen rückflug; floor storey: stockwerk etage; flower flowers: blume blumen strauß; food:
    lebensmittel; foot: fuß füße; football soccer: fußball; forget: vergessen; france: frankreich;
    fraud: betrug; fridge refrigerator: kühlschrank; friend: freund freundin; fruit: obst;
    furniture: möbel; game: spiel; garage workshop: werkstatt; garden: garten; gas petrol fuel:
    benzin sprit tanken; geneva: genf; germany: deutschland; gift present: geschenk; girlfriend
    boyfriend: freundin freund; glass: gläser; glasses spectacles: brille; goose: gans; grandfather
    grandpa: opa großvater; grandmother grandma nan granny: oma großmutter; greece: griechenland;
    green: grün; grey gray: grau; guarantee warranty: garantie gewährleistung; guest: gast gäste;
    guitar: gitarre; hair hairdresser: haare friseur; happy: glücklich froh; headache:
    kopfschmerzen; health: gesundheit; heating: heizung; help: hilfe helfen; hike: wandern
    wanderung; holiday vacation: urlaub ferien; hospital clinic: krankenhaus klinik; hour: stunde;
    house: haus; household: haushalt; hungary: ungarn; hurt injury injured: verletzung verletzt;
    husband: ehemann; identity passport: reisepass ausweis personalausweis; increase raise rise:
    erhöhung anpassung steigt; insurance: versicherung krankenversicherung haftpflicht; insurer:
    versicherung; interview: vorstellungsgespräch bewerbungsgespräch; invitation invite: einladung
    einladen; ireland: irland; italy: italien; job position: stelle arbeit beruf; journey trip
    travel: reise; juice: saft; key: schlüssel; kitchen: küche; knee: knie; lamp light: lampe licht;
    landlady landlord: vermieter vermieterin hausverwaltung; language: sprache; late delay delayed:
    verspätung verspätet; laugh: lachen; laundry: wäsche; lawyer attorney: anwalt rechtsanwalt;
    quit resign: kündigung gekündigt; lecture: vorlesung; leg: bein; library: bibliothek
    bücherei; lift elevator: aufzug fahrstuhl; lisbon: lissabon; loan mortgage: kredit darlehen;
    lock: schloss; lost lose: verloren verlieren; love: liebe lieben; lunch: mittagessen; machine:
    maschine; manager: leiter leiterin; meat: fleisch; medicine medication drug: medikament
    medikamente tabletten; meeting: besprechung sitzung versammlung treffen; member membership:
    mitglied mitgliedschaft; message: nachricht; meter: zählerstand zähler; milan: mailand;
    milk: milch; money: geld; month: monat; moon: mond; morning: vormittag; moscow: moskau; mother
    mum mom: mama mutter; mountain: berg berge; mouth: mund; move moving mover relocation: umzug
    umziehen einziehen; munich: münchen; museum exhibition: ausstellung; music: musik; nail: nagel;
    neighbour neighbor: nachbar nachbarin; netherlands: niederlande; newspaper: zeitung; night:
    nacht nächte; noise: lärm; norway: norwegen; nurse: krankenschwester pfleger; offer quote
    estimate: angebot kostenvoranschlag; office: büro amt; onion: zwiebel; open opening: eröffnung
    öffnungszeiten; operation surgery: operation op eingriff; order: bestellung bestellen auftrag
    bestellbestätigung; oven stove: herd backofen; pain: schmerzen; paint painting: malen gemälde;
    parcel package: paket sendung päckchen; parents: eltern; parking: parkplatz parken; party: feier
    fest sommerfest; pay payment paid: zahlung zahlen bezahlen überweisung bezahlt; pension
    retirement: rente ruhestand; pepper: pfeffer; phone telephone: telefon handy telefonnummer;
    photo picture: foto fotos fotoalbum bild bilder; piano: klavier flügel; pill tablet: tablette;
    plant: pflanze pflanzen; plate: teller kennzeichen; playground: spielplatz; plumber: klempner
    installateur; poland: polen; police: polizei; potato: kartoffel; prague: prag; pregnancy
    pregnant: schwanger schwangerschaft; prescription: rezept; problem trouble: schwierigkeiten;
    profession: beruf; promotion: beförderung; property: grundstück; public: öffentlich; pupil
    student: schüler student studentin; question: frage; rabbit: kaninchen; rail train: zug bahn
    ice; rain: regen regnet; receipt: quittung beleg kassenbon; recipe: rezept; red: rot; refund
    reimbursement reimburse: erstattung rückerstattung; register registration: anmeldung ummeldung;
    rehabilitation rehab: reha; relative: verwandte; rent: miete kaltmiete warmmiete mieterhöhung;
    repair fix: reparatur reparieren; report: bericht befund; result: ergebnis befund; return:
    rückgabe rücksendung zurückgeben; romania: rumänien; roof: dach; room: zimmer raum; rubbish
    garbage trash: müll; russia: russland; sad: traurig; salary wage: gehalt lohn gehaltserhöhung;
    sausage: wurst; school teacher: lehrer lehrerin; school: schule; scotland: schottland; screen:
    bildschirm; sea ocean: meer ostsee nordsee; season: saison; seat: sitzplatz platz; sell sold:
    verkaufen verkauf; shelf: regal; shelter: tierheim; shirt: hemd; shoe shoes: schuhe schuh
    stiefel; shop store: laden geschäft filiale; shopping grocery: einkauf einkaufen; shower:
    dusche; sibling: geschwister; sign signature: unterschrift unterschreiben; sing: singen; sister:
    schwester; skin: haut; sleep: schlafen; small: klein; snow: schnee; son: sohn; song: lied; soup:
    suppe; spain: spanien; speak talk: sprechen reden; spoon: löffel; spring: frühling; stairs:
    treppe treppenhaus; stamp: briefmarke; statement: kontoauszug; station: bahnhof; stay overnight:
    übernachtung; steal stolen theft: diebstahl gestohlen geklaut; stomach: bauch magen; street:
    straße; study: studium studieren; subscription subscribe: abo abonnement; sugar: zucker; summer:
    sommer; sun sunburn: sonne sonnenbrand; surprise: überraschung; sweden: schweden; swim:
    schwimmen schwimmbad; switzerland: schweiz; table: tisch; tax: steuer steuerbescheid finanzamt
    steuererklärung; tea: tee; team: mannschaft; technician: techniker; ticket tickets: fahrkarte
    eintrittskarte karten fahrschein; tired: müde; tool: werkzeug; tooth teeth: zahn zähne; toy:
    spielzeug; transfer: überweisung; translate translation
    translator: übersetzung übersetzen übersetzer; tree: baum; trousers: hose; turkey: türkei;
    uncle: onkel; university: universität uni hochschule; vaccination vaccine: impfung; vegetable:
    gemüse; venice: venedig; vet veterinarian: tierarzt; vienna: wien; viewing: besichtigung;
    village: dorf; visit: besuch besuchen; volunteer: ehrenamt; wait: warten; wall: wand mauer;
    wallet: geldbeutel brieftasche; war: krieg; warsaw: warschau; wash washing washer: waschmaschine
    waschen; water: wasser; weather: wetter; week: woche; weight weigh: gewicht; wheel: reifen;
    wife: ehefrau; window: fenster; wine: wein; witness: trauzeugin trauzeuge zeuge; wood: holz;
    work: arbeit arbeiten; worry: sorge sorgen; year: jahr; yellow: gelb
"""

_SPANISH = """
    account: cuenta; address: dirección; airport: aeropuerto; answer reply: respuesta; apartment
    flat: piso apartamento; appointment: cita; arrival arrive: llegada llegar; baggage luggage
    suitcase: equipaje maleta; bank: banco; beach: playa; bed: cama; belgium: bélgica; bicycle bike:
    bicicleta bici; bill invoice: factura recibo; birthday: cumpleaños; book booking reservation:
    reserva reservar; book: libro; boss: jefe jefa; bread: pan; breakfast: desayuno; brother:
    hermano; buy purchase: compra comprar; cake: pastel tarta; cancel cancellation: cancelar
    cancelación; car: coche; card: tarjeta; cat: gato; celebrate celebration: fiesta celebrar;
    cheese: queso; chemist pharmacy: farmacia; child children: niño niña hijo hija; christmas:
    navidad; church: iglesia; city town: ciudad; clothes: ropa; concert: concierto; confirm
    confirmation: confirmación confirmar; contract agreement: contrato; cost price: precio coste;
    dad father: padre papá; daughter: hija; deliver delivery: entrega envío entregar; dentist:
    dentista; departure depart: salida; deposit: fianza depósito; dinner: cena; discount: descuento;
    doctor physician: médico doctora; dog: perro; door: puerta; drink: beber bebida; eat: comer;
    electricity: electricidad luz; email mail letter: correo carta; employer: empresa; england:
    inglaterra; exam: examen; family: familia; fine penalty: multa; flight fly: vuelo avión; flower:
    flor; food: comida; france: francia; friend: amigo amiga; garden: jardín; germany: alemania;
    gift present: regalo; glasses spectacles: gafas; grandfather grandpa: abuelo; grandmother
    grandma: abuela; greece: grecia; health: salud; heating: calefacción; help: ayuda ayudar;
    holiday vacation: vacaciones; house: casa; husband: marido esposo; insurance: seguro; invitation
    invite: invitación invitar; italy: italia; job work: trabajo trabajar empleo; journey trip
    travel: viaje viajar; key: llave; kitchen: cocina; landlord landlady: casero casera; language:
    idioma; late delay: retraso; lawyer: abogado abogada; library: biblioteca; lisbon: lisboa; loan
    mortgage: préstamo hipoteca; london: londres; lunch: almuerzo; marry marriage wedding: boda;
    medicine medication: medicina medicamento; meeting: reunión; message: mensaje; money: dinero;
    morning: mañana; mother mum mom: madre mamá; mountain: montaña; move moving: mudanza mudarse;
    neighbour neighbor: vecino vecina; netherlands: holanda; night: noche; offer quote estimate:
    oferta presupuesto; office: oficina; order: pedido; parcel package: paquete; party: fiesta;
    passport: pasaporte; pay payment: pago pagar; phone telephone: teléfono móvil; plumber:
    fontanero; poland: polonia; receipt: recibo; recipe: receta; refund reimbursement: reembolso
    devolución; rent: alquiler; repair fix: reparación arreglar; salary: sueldo salario nómina;
    school: escuela colegio; scotland: escocia; sell: vender venta; shoe: zapato; shop store:
    tienda; sick ill illness: enfermo enferma enfermedad; sister: hermana; son: hijo; spain: españa;
    station: estación; street: calle; subscription: suscripción; summer: verano; sweden: suecia;
    switzerland: suiza; tax: impuesto hacienda; teacher: profesor profesora; ticket: billete
    entrada; train: tren; translate translation: traducción traducir; turkey: turquía; uncle: tío;
    university: universidad; vienna: viena; visit: visita; water: agua; week: semana; wife: esposa;
    window: ventana; wine: vino; winter: invierno; year: año
"""

_FRENCH = """
    accident: sinistre; account: compte; address: adresse; airport: aéroport; answer reply: réponse
    répondre; apartment flat: appartement; appointment: rdv; arrival arrive: arrivée arriver;
    austria: autriche; baggage luggage suitcase: bagage valise; bank: banque; bed: lit; belgium:
    belgique; bicycle bike: vélo; bill invoice: facture; birthday: anniversaire; book booking
    reservation: réservation réserver; book: livre; boss: patron patronne; bread: pain; brother:
    frère; brussels: bruxelles; buy purchase: achat acheter acheté; cake: gâteau; cancel
    cancellation: annuler annulation résiliation; car: voiture; card: carte; celebrate celebration:
    fête fêter; cheese: fromage; chemist pharmacy: pharmacie; child children: enfant; christmas:
    noël; church: église; city town: ville; clothes: vêtement; coffee: café; confirm confirmation:
    confirmer; contract agreement: contrat bail; cost price: prix coût tarif; dad father: père;
    damage: dégât; daughter: fille; day: jour journée; deliver delivery: livraison livrer livré;
    dentist: dentiste; departure depart: départ; deposit: caution acompte arrhes; dinner: dîner;
    discount: remise réduction; doctor physician: médecin docteur; dog: chien; door: porte; drink:
    boire boisson; eat: manger; electricity: électricité; email mail letter: courriel courrier
    lettre; employer: employeur; england: angleterre; evening: soir soirée; exam: examen; family:
    famille; fee: frais; film movie: cinéma; fine penalty: amende; flight fly: vol avion; flower:
    fleur; food: nourriture repas; friend: ami amie copain copine; garden: jardin; geneva: genève;
    germany: allemagne; gift present: cadeau; glasses spectacles: lunettes; grandfather grandpa:
    papy; grandmother grandma: mamie; greece: grèce; health: santé; heating: chauffage; help: aide
    aider; holiday vacation: vacances congé; hospital: hôpital; hour: heure; house: maison; husband:
    mari; identity passport: passeport; insurance: assurance; insurer: assureur; invitation invite:
    inviter; italy: italie; job work: travail emploi travailler; journey trip travel: voyage; key:
    clé clef; kitchen: cuisine; landlord landlady: propriétaire; language: langue; late delay:
    retard; lawyer: avocat; library: bibliothèque; lisbon: lisbonne; loan mortgage: prêt crédit;
    london: londres; love: aimer amour; lunch: déjeuner; marry marriage wedding: mariage épouser;
    meat: viande; medicine medication: médicament ordonnance; meeting: réunion; membership: adhésion
    cotisation; money: argent; month: mois; morning: matin; mother mum mom: mère maman; mountain:
    montagne; move moving: déménagement déménager; music: musique; neighbour neighbor: voisin
    voisine; night: nuit; offer quote estimate: devis offre; office: bureau; order: commande
    commander; parcel package: colis; parents: parent; party: fête; pay payment: paiement payer payé
    virement; phone telephone: téléphone; plumber: plombier; poland: pologne; police: gendarmerie;
    receipt: reçu; recipe: recette; refund reimbursement: remboursement rembourser; rent: loyer;
    repair fix: réparation réparer; return: retour; salary: salaire; school: école; scotland:
    écosse; sea: mer; sell: vendre vente; shoe: chaussure; shop store: magasin boutique; sick ill
    illness: malade maladie; sister: sœur soeur; son: fils; spain: espagne; station: gare; street:
    rue; subscription: abonnement; summer: été; sweden: suède; switzerland: suisse; tax: impôt;
    teacher: professeur; ticket: billet; tooth: dent; translate translation translator: traduction
    traduire; turkey: turquie; uncle: oncle; vegetable: légume; venice: venise; vienna: vienne;
    visit: visite; water: eau; weather: météo; week: semaine; wife: épouse; window: fenêtre; wine:
    vin; winter: hiver; year: année
"""

_ITALIAN = """
    account: conto; address: indirizzo; airport: aeroporto; apartment flat: appartamento;
    appointment: appuntamento; arrival arrive: arrivo; baggage luggage suitcase: bagaglio valigia;
    beach: spiaggia; bicycle bike: bicicletta; bill invoice: fattura bolletta; birthday: compleanno;
    book: libro; booking reservation: prenotazione prenotare; bread: pane; brother: fratello; buy
    purchase: comprare acquisto; cake: torta; cancel cancellation: disdetta annullare; car:
    macchina; cat: gatto; cheese: formaggio; child children: bambino bambina figlio; christmas:
    natale; church: chiesa; city town: città; clothes: vestiti; contract agreement: contratto; cost
    price: prezzo; daughter: figlia; deliver delivery: consegna; dentist: dentista; departure
    depart: partenza; deposit: caparra cauzione; dinner: cena; discount: sconto; doctor physician:
    dottore dottoressa; dog: cane; electricity: elettricità; england: inghilterra; exam: esame;
    family: famiglia; fine penalty: multa; flight fly: volo aereo; flower: fiore; france: francia;
    friend: amico amica; garden: giardino; germany: germania; gift present: regalo; glasses
    spectacles: occhiali; grandfather grandpa: nonno; grandmother grandma: nonna; greece: grecia;
    heating: riscaldamento; holiday vacation: vacanza vacanze; hospital: ospedale; husband: marito;
    insurance: assicurazione; italy: italia; job work: lavoro; journey trip travel: viaggio; key:
    chiave; kitchen: cucina; landlord: padrone; late delay: ritardo; lawyer: avvocato; lisbon:
    lisbona; loan mortgage: mutuo prestito; london: londra; marry marriage wedding: matrimonio
    sposare; medicine medication: farmaco; meeting: riunione; membership: tessera; money: soldi;
    mother mum mom: madre; move moving: trasloco; neighbour neighbor: vicino; offer quote estimate:
    preventivo; office: ufficio; order: ordine; parcel package: pacco; paris: parigi; party: festa;
    passport: passaporto; pay payment: pagamento pagare; plumber: idraulico; receipt: ricevuta
    scontrino; recipe: ricetta; refund reimbursement: rimborso; rent: affitto; repair fix:
    riparazione; rome: roma; salary: stipendio; school: scuola; shoe: scarpe; shop store: negozio;
    sick ill illness: malato malattia; sister: sorella; spain: spagna; station: stazione;
    subscription: abbonamento; summer: estate; sweden: svezia; switzerland: svizzera; teacher:
    insegnante; ticket: biglietto; train: treno; turkey: turchia; uncle: zio; venice: venezia;
    water: acqua; week: settimana; wife: moglie; window: finestra
"""

_DUTCH = """
    account: rekening; address: adres; airport: luchthaven; apartment flat: appartement;
    appointment: afspraak; arrival arrive: aankomst; baggage luggage suitcase: bagage koffer;
    belgium: belgië; bicycle bike: fiets; bill invoice: factuur; birthday: verjaardag; book: boek;
    booking reservation: reservering boeking; boss: baas; bread: brood; brother: broer; buy
    purchase: kopen aankoop; cake: taart; cancel cancellation: annuleren opzeggen; cat: kat; cheese:
    kaas; child children: kinderen; christmas: kerst kerstmis; church: kerk; clothes: kleren;
    contract agreement: huurcontract; cost price: prijs; dad father: vader; daughter: dochter;
    deliver delivery: bezorging levering; dentist: tandarts; departure depart: vertrek; deposit:
    borg aanbetaling; dinner: avondeten; discount: korting; doctor physician: huisarts dokter; dog:
    hond; electricity: stroom; family: gezin familie; fine penalty: boete; flight fly: vlucht
    vliegtuig; flower: bloemen; france: frankrijk; friend: vriend vriendin; garden: tuin; germany:
    duitsland; gift present: cadeau; grandfather grandpa: opa; grandmother grandma: oma; greece:
    griekenland; heating: verwarming; holiday vacation: vakantie; hospital: ziekenhuis; house: huis;
    insurance: verzekering; italy: italië; job work: baan werk; journey trip travel: reis; key:
    sleutel; kitchen: keuken; landlord: huisbaas verhuurder; late delay: vertraging; lawyer:
    advocaat; loan mortgage: lening hypotheek; london: londen; marry marriage wedding: bruiloft
    trouwen; medicine medication: medicijn; meeting: vergadering; membership: lidmaatschap; money:
    geld; mother mum mom: moeder; move moving: verhuizing verhuizen; neighbour neighbor: buurman
    buurvrouw; netherlands: nederland; offer quote estimate: offerte; office: kantoor; order:
    bestelling; parcel package: pakket pakje; paris: parijs; party: feest; passport: paspoort; pay
    payment: betaling betalen; plumber: loodgieter; receipt: bon kassabon; refund reimbursement:
    terugbetaling; rent: huur; repair fix: reparatie; salary: salaris; shoe: schoenen; shop store:
    winkel; sick ill illness: ziek ziekte; spain: spanje; subscription: abonnement; summer: zomer;
    sweden: zweden; switzerland: zwitserland; tax: belasting; teacher: leraar; ticket: kaartje;
    train: trein; uncle: oom; vienna: wenen; wash washing: wasmachine; week: weken; window: raam
"""

_PORTUGUESE = """
    account: conta; address: morada endereço; airport: aeroporto; apartment flat: apartamento;
    appointment: consulta marcação; arrival arrive: chegada; baggage luggage suitcase: bagagem mala;
    beach: praia; bicycle bike: bicicleta; bill invoice: fatura; birthday: aniversário; book: livro;
    booking reservation: reserva; boss: chefe; bread: pão; brother: irmão; buy purchase: comprar
    compra; cake: bolo; cancel cancellation: cancelar cancelamento; car: carro; cat: gato; cheese:
    queijo; child children: criança filho; christmas: natal; church: igreja; city town: cidade;
    clothes: roupa; contract agreement: contrato; cost price: preço; daughter: filha; deliver
    delivery: entrega; dentist: dentista; departure depart: partida saída; deposit: caução; dinner:
    jantar; discount: desconto; doctor physician: médico; dog: cão cachorro; electricity:
    eletricidade; england: inglaterra; exam: exame; family: família; fine penalty: multa; flight
    fly: voo avião; france: frança; friend: amigo amiga; garden: jardim; germany: alemanha; gift
    present: presente prenda; glasses spectacles: óculos; grandfather grandpa: avô; grandmother
    grandma: avó; greece: grécia; heating: aquecimento; holiday vacation: férias; husband: marido;
    insurance: seguro; italy: itália; job work: trabalho emprego; journey trip travel: viagem; key:
    chave; kitchen: cozinha; landlord: senhorio; late delay: atraso; lawyer: advogado; lisbon:
    lisboa; loan mortgage: empréstimo; london: londres; marry marriage wedding: casamento; medicine
    medication: medicamento remédio; meeting: reunião; money: dinheiro; mother mum mom: mãe; move
    moving: mudança; neighbour neighbor: vizinho vizinha; netherlands: holanda; offer quote
    estimate: orçamento; office: escritório; order: encomenda pedido; parcel package: pacote; party:
    festa; passport: passaporte; pay payment: pagamento pagar; plumber: canalizador encanador;
    receipt: recibo; recipe: receita; refund reimbursement: reembolso; rent: renda aluguel; repair
    fix: reparação conserto; salary: salário ordenado; school: escola; shoe: sapato; shop store:
    loja; sick ill illness: doente doença; sister: irmã; spain: espanha; station: estação;
    subscription: assinatura; summer: verão; sweden: suécia; switzerland: suíça; teacher:
    professora; ticket: bilhete; train: comboio trem; uncle: tio; water: água; week: semana; wife:
    esposa; window: janela
"""

_TABLES = {
    "de": _GERMAN,
    "es": _SPANISH,
    "fr": _FRENCH,
    "it": _ITALIAN,
    "nl": _DUTCH,
    "pt": _PORTUGUESE,
}
TRANSLATED = tuple(_TABLES)
"""The languages that are known here beside English."""
_ENGLISH_FREQUENCY = 5e-6
"""From which part of English text on a stem would mostly find a word of English: "Kind" is no kind,
and "müde" no mud."""
_SHORT = 3
"""Letters of a stem that must not be known in English at all: it may be a name, as "Kat"."""
AMBIGUOUS = frozenset(
    {"bart", "dent", "diner", "fuss", "herman", "loi", "pastel", "reunion", "termin", "wand"}
)
"""Stems that are looked for although they mean another thing in English: "Termin" is "terminal",
"dinero" is "diner", "hermano" is "Herman"."""
_TELLING = AMBIGUOUS | {"auto", "mama", "papa", "voyag"}
"""Stems that are common in English too and are looked for all the same."""


@lru_cache(maxsize=1)
def _from_english() -> Mapping[str, tuple[str, ...]]:
    """Return the stems of other languages that mean an English stem."""
    found: dict[str, list[str]] = {}
    for language in TRANSLATED:
        for heads, words in _stems(language):
            others = [word for word in words if word in _TELLING or not _is_english(word)]
            for head in heads:
                found.setdefault(head, []).extend(others)
    return {head: tuple(distinct(words)) for head, words in found.items()}


def _is_english(stem: str) -> bool:
    """Tell whether a stem of another language would mostly find something in English texts."""
    share = frequencies("en").get(stems_of("en")[stem], 0)
    return share >= _ENGLISH_FREQUENCY or (share > 0 and len(stem) <= _SHORT)


@lru_cache(maxsize=8)
def _to_english(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return the English stems that a stem of another language means."""
    found: dict[str, list[str]] = {}
    for heads, words in _stems(language):
        for word in words:
            found.setdefault(word, []).extend(heads)
    return {word: tuple(distinct(heads)) for word, heads in found.items()}


def _entries(language: str) -> list[tuple[list[str], list[str]]]:
    """Return the folded words of each entry: those of English, and of the other language."""
    parts = (entry.split(":") for entry in _TABLES[language].split(";"))
    return [(pieces(heads), pieces(words)) for heads, words in parts]


def _stems(language: str) -> list[tuple[list[str], list[str]]]:
    """Return the stems of each entry of a table in the same way."""
    english, other = stems_of("en"), stems_of(language)
    return [(english.of(heads), other.of(words)) for heads, words in _entries(language)]


def in_other_languages(stem: str) -> tuple[str, ...]:
    """Return the stems of other languages that mean a word of English, given by its stem."""
    return _from_english().get(stem, ())


def in_english(word: str, language: str) -> tuple[str, ...]:
    """Return the English stems that mean a folded word of another language."""
    if language not in _TABLES:
        return ()
    return _to_english(language).get(stems_of(language)[word], ())


@lru_cache(maxsize=1)
def _german() -> Mapping[str, tuple[str, ...]]:
    """Return the German words that mean an English stem best, as they are written."""
    found: dict[str, list[str]] = {}
    stems = stems_of("en")
    for heads, words in _entries("de"):
        for head in heads:
            found.setdefault(stems[head], []).append(words[0])
    return {head: tuple(distinct(words)) for head, words in found.items()}


def in_german(stem: str) -> tuple[str, ...]:
    """Return the folded German words that mean an English one best, which is given by its stem."""
    return _german().get(stem, ())


def load_translations() -> None:
    """Make all tables, which takes some twenty milliseconds."""
    _from_english(), _german()
    for language in TRANSLATED:
        _to_english(language)
