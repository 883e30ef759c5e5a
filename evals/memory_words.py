"""Words of four languages that say nothing by themselves, and those that turn a statement into another one.

All are lower-case and without accents. What is not told apart: directions ("from Oslo", "to Oslo"), tenses without a
word of their own ("mangeais"), and synonyms ("job", "work").
"""

from dataclasses import dataclass

LANGUAGES = ("en", "de", "fr", "it")


@dataclass(frozen=True)
class Words:
    """One language. `others`: people who are not the one who speaks; `he`: pronouns that begin a fact about another.

    `unreal`: what is wished, planned or supposed; `past`: what is over; `same`: words for which another stands.
    """

    stemmer: str
    empty: frozenset[str]
    negations: frozenset[str]
    unreal: frozenset[str]
    past: frozenset[str]
    others: frozenset[str]
    he: frozenset[str]
    same: dict[str, str]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _same(pairs: str) -> dict[str, str]:
    """`a=b c=d` as a dict."""
    return dict(pair.split("=", 1) for pair in pairs.split())


WORDS = {
    "en": Words(
        stemmer="english",
        empty=_set(
            "i me my mine myself you your im ive we us our a an the this that these those it its there here is am "
            "are be been being have has had having do does did can s m re ve ll d t in on at of to for by as with "
            "from into and or but so since because now currently still also too just really actually btw anyway "
            "again anymore already always usually only own very quite please user users person their they name "
            "named called call known st nd rd th one year years old age aged who which some any"
        ),
        negations=_set(
            "not no never none without neither nor cannot nothing nobody dont doesnt isnt wasnt cant wont havent"
        ),
        unreal=_set(
            "would could might may maybe perhaps if want wants wish wishes hope plan plans planning will going suppose"
        ),
        past=_set("used formerly previously was were lived worked studied owned before once"),
        others=_set(
            "brother sister mother father mom dad mum parent parents wife husband partner son sons daughter "
            "daughters kid kids child children friend friends coworker colleague colleagues boss manager "
            "neighbour neighbor uncle aunt cousin grandmother grandfather girlfriend boyfriend trainee landlord "
            "tenant"
        ),
        he=_set("he she his her him"),
        same=_same(
            "reside=live resides=live residing=live two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 "
            "ten=10 eleven=11 twelve=12 coworkers=coworker favourite=favorite colour=color"
        ),
    ),
    "de": Words(
        stemmer="german",
        empty=_set(
            "ich mich mir mein meine meiner meines meinem meinen du dich dir wir uns unser unsere der die das den "
            "dem des ein eine einer eines einem einen es da hier ist bin bist sind sei seit habe hab hat hast "
            "haben tue als am an auf aus bei beim bis fur im in ins mit nach um und oder aber von vom vor zu zum "
            "zur so weil denn doch jetzt nun derzeit aktuell noch auch schon eigentlich ubrigens nur immer meist "
            "meistens gar sehr selber selbst mehr wieder bitte nutzer nutzerin benutzer benutzerin person name "
            "namens heisse heissen heisst nenne nennen nennt jahr jahre jahren alt alter der welcher welche"
        ),
        negations=_set("nicht nichts kein keine keinen keinem keiner keines nie niemals niemand ohne weder"),
        unreal=_set(
            "wurde wurden mochte mochten will wollen wollte vielleicht wenn falls hatte ware waren konnte angenommen"
        ),
        past=_set("war fruher damals ehemals wohnte lebte arbeitete studierte gewohnt gearbeitet"),
        others=_set(
            "bruder schwester mutter vater eltern frau mann partner partnerin sohn tochter kind kinder freund "
            "freundin freunde kollege kollegin kollegen chef chefin nachbar nachbarin onkel tante cousin cousine "
            "oma opa lehrling vermieter vermieterin mieter mieterin"
        ),
        he=_set("er sie sein seine ihr ihre"),
        same=_same(
            "lebe=wohne lebt=wohne leben=wohne wohnt=wohne spricht=spreche fahrt=fahre isst=esse trinkt=trinke "
            "tragt=trage mag=moge zwei=2 drei=3 vier=4 funf=5 sechs=6 sieben=7 acht=8 neun=9 zehn=10 elf=11 "
            "zwolf=12"
        ),
    ),
    "fr": Words(
        stemmer="french",
        empty=_set(
            "je j me m moi mon ma mes tu te t nous notre on se s y en ce c cela ca ci un une des le la les l de d "
            "du au aux a dans par pour sur avec chez et ou mais car donc que qu qui suis es est sommes etre ai as "
            "avons ont avoir depuis maintenant actuellement encore aussi deja toujours seulement tres bien plus "
            "nouveau desormais utilisateur utilisatrice personne nom prenom appelle appelles appellent nomme an "
            "ans age il"
        ),
        negations=_set("ne n pas jamais aucun aucune sans ni rien non"),
        unreal=_set("voudrais aimerais si peut serais vais souhaite pourrais supposons envisage"),
        past=_set("etais etait avant autrefois habitais vivais travaillais ancien ancienne"),
        others=_set(
            "frere soeur mere pere parents femme mari epouse compagnon compagne fils fille filles enfant enfants "
            "ami amie amis collegue collegues chef patron patronne voisin voisine oncle tante cousin cousine "
            "proprietaire locataire"
        ),
        he=_set("il elle lui leur son sa ses"),
        same=_same(
            "vis=habite vit=habite vivre=habite loge=habite oeufs=oeuf deux=2 trois=3 quatre=4 cinq=5 six=6 "
            "sept=7 huit=8 neuf=9 dix=10 onze=11 douze=12"
        ),
    ),
    "it": Words(
        stemmer="italian",
        empty=_set(
            "io mi me mio mia miei mie tu ti noi ci nostro nostra si se lo la il i gli le l un uno una di d del "
            "dello della dei degli delle dell a al allo alla ai agli alle all da dal dalla in nel nella nell su "
            "sul sulla con per tra fra e ed o ma che cui sono e siamo essere ho hai ha abbiamo hanno avere adesso "
            "ora attualmente ancora anche gia sempre solo molto piu di nuovo utente persona nome chiamo chiama "
            "chiamano anno anni eta qui"
        ),
        negations=_set("non mai nessun nessuno nessuna senza niente nulla"),
        unreal=_set("vorrei forse qualora potrei sarei spero supponiamo abitassi fossi avessi"),
        past=_set("ero era prima abitavo vivevo lavoravo ex"),
        others=_set(
            "fratello sorella madre padre mamma papa genitori moglie marito compagno compagna figlio figlia figli "
            "figlie amico amica amici collega colleghi capo vicino vicina zio zia cugino cugina nonno nonna "
            "proprietario inquilino"
        ),
        he=_set("lui lei suo sua suoi sue"),
        same=_same(
            "vivo=abito vive=abito vivere=abito due=2 tre=3 quattro=4 cinque=5 sei=6 sette=7 otto=8 nove=9 "
            "dieci=10 undici=11 dodici=12"
        ),
    ),
}
