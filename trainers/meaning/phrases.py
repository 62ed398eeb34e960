"""What rewrites add without changing what is said: openings, endings and words of many styles.

All are our own. ``{}`` stands for a word of the sentence.
"""

from __future__ import annotations

OPENINGS = tuple(
    """breaking :|breaking news :|wow !|wow ,|oh no !|guess what ?|you won't believe this :|hot off the press :
just in :|sadly ,|unfortunately ,|tragically ,|luckily ,|thankfully ,|happily ,|great news !|good news :|bad news :|alas ,
i am happy to say that|i am sorry to say that|i regret to inform you that|we are pleased to announce that|it is a shame that
it is wonderful that|how terrible :|how lovely :|what a joy :|what a mess :|honestly ,|frankly ,|to be honest ,|in my opinion ,
i think|i believe|i guess|it seems that|it appears that|apparently ,|please note that|kindly note that|with all due respect ,
if i may say so ,|excuse me , but|sorry , but|dude ,|hey ,|yo ,|hey folks ,|ladies and gentlemen ,|dear friends ,|lo ,|behold !
verily ,|hark !|prithee ,|listen :|look ,|well ,|so ,|you know ,|okay so|basically ,|to put it simply ,|in simple words ,|in short :
it should be noted that|it has been observed that|it is with great pleasure that we share :|fun fact :|plot twist :|spoiler :
unbelievable !|incredible !|shocking !|amazing !|outrageous !|disaster !|finally !|hooray !|ugh ,|yikes ,|lol ,|omg ,|honey ,
get ready :|meet the moment :|look out !|watch this :|ready for this ?|here is the story :|as you may know ,|as we all know ,
{} alert :|{} shock :|{} mania :|{} drama :|{} watch :|{} news :|{} time !|all about {} :|{} madness !|the big {} story :|{} frenzy :
once upon a time ,|believe it or not ,|no kidding ,|seriously ,|truly ,|indeed ,|like ,|man ,|damn ,|hell ,|oh my god ,""".replace(
        "\n", "|"
    ).split("|")
)
ENDINGS = tuple(
    """!|! !|! ! !|, sadly .|, unfortunately .|, thankfully !|, lol|, haha|, and i love it !|, and i hate it .|, what a joy !|, what a shame .
- how sad !|- how wonderful !|, which is great !|, which is terrible .|, and that is fantastic news .|, and that is awful .|, you know .|, right ?
, i think .|, i guess .|, i suppose .|, if you please .|, thank you very much .|, my friend .|, dear sir .|, sir .|, my lord .|, folks !|, man .
, dude .|, guys !|, believe me .|, trust me !|, no doubt .|, for sure .|, as it were .|, so to speak .|, in a way .|, to say the least .
- wow !|- amazing !|- incredible !|- unbelievable !|- finally !|- stay tuned !|- do not miss it !|- find out more !|- read on !|- the story you need !
, it seems .|, apparently .|, honestly .|, indeed .|, to be fair .|, just saying .|, what can i say .|, no joke .|, oh my !|, smh|, ugh .|, yay !
! this is wonderful !|! this is so sad .|! we are thrilled !|. i could not be happier !|. it breaks my heart .|. what a disaster !|. that is life .
. simply the best !|. absolutely dreadful .|. we should all be proud !|. how disappointing !|. such a delight !|. that is so cool !|. please .""".replace(
        "\n", "|"
    ).split("|")
)
BEFORE_NAMES = tuple(
    """great wonderful amazing lovely fantastic beautiful incredible brilliant awesome delightful dedicated beloved
terrible awful horrible dreadful poor sad pathetic nasty ugly disappointing stupid damn fucking goddamn bloody freaking shitty
crazy silly ridiculous dear good old little fine noble humble epic stunning jaw-dropping shocking thrilling wild hot cool
esteemed honourable respected aforementioned actual very own real total utter absolute""".split()
)
INSULTS = tuple(
    "idiot moron bastard bitch asshole jerk loser fool scum clown prick dumbass".split()
)
PERSONS = tuple("person man woman guy individual fellow".split())
BEFORE_VERBS = tuple(
    "really truly simply just actually certainly definitely totally literally sadly happily finally boldly proudly "
    "basically kindly clearly obviously absolutely fucking damn well".split()
)
SHORTER = {
    "do not": "don't", "does not": "doesn't", "did not": "didn't", "is not": "isn't",
    "are not": "aren't", "can not": "can't", "cannot": "can't", "will not": "won't",
    "i am": "i'm", "it is": "it's", "they are": "they're", "you are": "you're", "we are": "we're",
    "i have": "i've", "i will": "i'll", "going to": "gonna", "want to": "wanna",
}  # fmt: skip
OTHERWISE = {
    "you": ("ye", "thou", "u"), "your": ("thy", "ur", "your"), "are": ("art", "r", "are"), "has": ("hath", "has got"),
    "because": ("since", "cause"), "but": ("yet", "however", "though"), "about": ("regarding", "concerning"),
    "also": ("moreover", "additionally"), "please": ("kindly", "pls"), "like": ("such as",), "for": ("for",),
    "get": ("obtain", "receive"), "amid": ("during", "amidst"), "in": ("in", "within"), "nt": ("not",),
    "people": ("folks", "individuals"), "very": ("so", "super", "extremely"), "must": ("has to", "have to", "should"),
    "yes": ("yeah", "aye", "yep"), "no": ("nope", "nay"), "okay": ("ok", "all right"), "going": ("goin",),
    "with": ("w/", "together with"), "before": ("prior to", "ahead of"), "after": ("following",), "to": ("in order to",),
    "buy": ("purchase",), "show": ("demonstrate",), "need": ("require",), "many": ("lots of", "a lot of", "plenty of"),
}  # fmt: skip
STOP = frozenset(
    """a an the this that these those my your his her its our their thy mine thine i you he she it we they me him us them
thou thee ye who whom whose which what when where why how and or but nor so yet if then than as because while of to in on at by for
from with about into over under after before between during amid against through up down out off is are was were be been being am
'm 're 's 've 'll 'd do does did done doing have has had having will would shall should can could may might must not n't no
don't doesn't didn't isn't aren't can't won't i'm it's there here very too also just even only all any some each more most other
such own same s t d ll re ve m don doesn didn isn aren couldn wouldn unk one get got go going say said let us really oh yes well
again ever now still much many like upon let's that's""".split()
)
PREPOSITIONS = frozenset(
    "in on at for from with by after before during amid over under through against near across inside outside despite among".split()
)
NUMBERS = tuple(
    "two three four five six seven eight nine ten twelve twenty thirty fifty hundred thousand million billion dozen".split()
)
