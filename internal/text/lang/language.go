package lang

// Language holds the tables of one language. All may be left out. Words are looked up without case and without accents
// (text.Fold), so they may be written either way; only Topic, Weather, Patterns, and what is put into
// texts are taken as written.
type Language struct {
	Scripts []string // Unicode scripts whose letters give the language away: no other language here is written in them first
	Letters string   // letters that give the language away in a script of another language

	Stem      Stem
	Grammar   Grammar
	Number    Number
	Time      Time
	Question  Question
	Topic     Topic
	Weather   Weather
	Need      Need
	Speech    map[string]Phrases // words by kind, which tell the models what a message is about: see package question
	Order     Order
	Memory    Memory
	FollowUp  FollowUp `toml:"follow_up"`
	Leaning   Leaning
	Query     Query
	Privacy   Privacy
	Claim     Claim
	Quote     Quote
	Framing   Framing
	FactCheck FactCheck `toml:"fact_check"`
	Conflict  Conflict
	Evidence  Evidence
	Reuse     Reuse
	Page      Page
	Clean     Clean
}

// Stem describes the endings that a light stemmer removes from a word.
type Stem struct {
	Endings  Rows  // for each row in turn, the longest matching ending is removed, starting at the end of a word
	Finals   Words // pairs of letters: a final first letter becomes the second
	Shortest int   // minimum length of a stem; 3 if unset
}

// Grammar holds the small words of a language.
type Grammar struct {
	FunctionWords Words            `toml:"function_words"` // words that identify the language, because they are rare in others
	NameWords     Words            `toml:"name_words"`     // function words in names of all languages: Los Angeles, De Niro, Die Hard
	StopWords     Words            `toml:"stop_words"`     // words that carry no meaning in a search
	Negations     Words            // "not", "never", "nobody"
	Prepositions  Words            // prepositions that open a slot of a question: "in Berlin", "since Monday"
	Articles      Words            // words that begin a noun
	Pronouns      map[string]Words // by what they refer to: "he" a person, "it" a thing, "there" a place, "he's" and "it's" their owners
	SecondPerson  Words            `toml:"second_person"` // words for the person spoken to: "you", "your"
	FirstPerson   Words            `toml:"first_person"`  // words for the speaker in languages that need them: "I", "my"
	Contractions  map[string]Words // by the part after the apostrophe: "ll" is "will"
	BeforeIs      Words            `toml:"before_is"`  // words after which "'s" is "is" and not a possessive: "what's"
	ChatForms     map[string]Words `toml:"chat_forms"` // words that chat writes as one: "whats" is "what is"
	Abbreviations Words            // words whose dot does not end a sentence: "Dr."
	Irregular     Rows             // the forms of irregular verbs, the infinitive first: "go went gone"
}

// Number holds the words of numbers and quantities.
type Number struct {
	Words        Words            // numbers in words: "two", "hundred", "half"; not "one", which is usually an article
	Counts       Row              // one to ten with things: "a year", "two years"
	Cardinals    Row              // one to twenty
	Tens         Row              // thirty, forty, … ninety
	Scales       map[string]Words // words after a number that multiply it, by factor; a billion is 1e9 only in half of the languages
	Bounds       Words            // words that make a number a limit: "over", "least"
	AtLeast      Pattern          `toml:"at_least"` // before a minimum: "more than"
	AtMost       Pattern          `toml:"at_most"`  // before a maximum: "up to"
	Roughly      Pattern          // before an approximate number: "about"
	Units        map[string]Words // stems of the names of a unit, by the stem that it is compared by
	Thousandfold Words            // units of a thousand smaller ones: "kilometre"
	Dimensions   map[string]Words // words that say what was measured, by the dimension: "high" is of height
}

// Time holds the words of the calendar and of times seen from now.
type Time struct {
	Months       Row                 // from January, as written in a date
	ShortMonths  Row                 `toml:"short_months"` // from January
	Weekdays     Row                 // from Sunday, as written
	Seasons      Row                 // from spring, as written
	Which        map[string]Phrases  // "last", "this" and "next", with %s for a weekday, a month or a season: "last %s"
	WhichDay     map[string]Phrases  `toml:"which_day"`   // the same, with %s only for a weekday
	WhichDays    Row                 `toml:"which_days"`  // weekdays for WhichDay if Weekdays is empty because of other meanings
	WhichOther   map[string]Phrases  `toml:"which_other"` // irregular phrases of this kind, by cue: "<s2" is last autumn
	Calendar     map[string]Phrases  // days, weeks, months, … by unit and distance: "d-1" is yesterday; "" only looks like one
	Now          Phrases             // "right now"
	Since        Words               // words after which a weekday is the last of that name: "since Monday"
	Units        map[string]Words    // units of time, by the letters of Calendar: "d" has "day" and "days"
	PastBefore   Phrases             `toml:"past_before"`   // before a number of past days
	PastAfter    Words               `toml:"past_after"`    // after it: "two days ago"
	FutureBefore map[string]Phrases  `toml:"future_before"` // before a number of future days: "+", or "in", which may also give a duration
	Duration     Words               // words with which "in" gives a duration: "how"
	Future       Words               // words with which "in" gives a future time: "will"
	DateLinks    Words               `toml:"date_links"`   // between day, month and year: "8th of December"
	DateLayout   string              `toml:"date_layout"`  // for time.Format, with January for the month; English if empty
	MonthLayout  string              `toml:"month_layout"` // the same for a month and its year
	Around       map[string][]string // times around now, by the letters of Calendar: the one before, this, the one after (of days two each); then "in %d days" and "%d days ago"
	Neighbours   map[string]Phrases  // the time before or after one that was named: "the day after"
	Kinds        Words               // kinds of time that "what" asks for: "what year"
}

// Question holds the words that give a question its form.
type Question struct {
	Things         Words              // question words for a person, a thing, a place or a time; they count as openings and open a Topic
	Openings       map[string]Phrases // how a question begins, by form: "wh", "aux" (yes or no), "get" (a request)
	Leads          map[string]Phrases // polite beginnings before that: "lead", or "ask" where they ask to be told something
	Conditions     Words              // how a clause before the question begins: "if", "after"
	Inverted       Phrases            // how the question behind it begins, of the form "aux": "is there"
	Interrogatives Phrases            // of the form "wh": "how many"
	Prepositions   Words              // before a question word at the end: "located in which state"
}

// Topic holds the words around the topic of a question, as written.
type Topic struct {
	First      Words   // before the topic, in addition to Question.Things: "define", "what's"
	Then       Words   // between these and the topic: "is", "the"
	Beginnings Words   // before the topic without a space
	Endings    Words   // after the topic without a space
	Problems   Phrases // how people with a problem begin: "how do I"
}

// Weather holds the words around the place in a question about the weather, as they are written.
type Weather struct {
	Before       Words   // prepositions that a place follows
	Articles     Words   // may begin a place's name: "La Paz", "The Hague"
	Weather      Words   // words for weather; a place ends before them
	When         Words   // words for time; a place ends before them
	Week         Words   // more of these, for a day that may be a week away: "weekend", "monday"
	Filler       Words   // the rest of the question
	Unspaced     Phrases // all of these where words have no spaces between them, the longest first
	UnspacedWeek Words   `toml:"unspaced_week"` // the words of Unspaced that are like Week
}

// Need holds the cues by which a message needs the web, or does not.
type Need struct {
	Topics       map[string]Phrases // what changes from day to day, or is looked up by its nature
	Weather      Phrases            // words that are of the weather only beside a time or a place: "storm"
	Outdoors     Phrases            // what one asks because of the weather: "umbrella"
	Times        map[string]Phrases // what says that the present counts, by how near it is
	Checks       Phrases            // a doubt that sources can settle: "is it true"
	Doubts       Words              // such a doubt at a question's end: "is the moon landing fake?"
	DoubtAdverbs Words              `toml:"doubt_adverbs"` // such a doubt within a question: "did Ada really write it?"
	Against      map[string]Phrases // what the web has no part in
	Commands     map[string]Phrases // verbs that begin an order: "device" to a device or the bot, "get" for something from the web
	Persons      map[string]Phrases // the two who talk: "you", "me", "i"
	Intents      map[string]Phrases // words that by themselves mean an intent
	Deictics     Words              // words for what only those present can see: "this"
	Here         Words              // words for the place where the speaker is
	AtPlace      Words              `toml:"at_place"`    // prepositions before a place
	GenericYou   Words              `toml:"generic_you"` // between "how" and a "you" that is anyone: "how do you"
	BotVerbs     Words              `toml:"bot_verbs"`   // behind a "you" that is the bot after all: "how do you feel"
	MakerVerbs   Words              `toml:"maker_verbs"` // what is done with a song, a book or a film: "who sings"
	Everybody    Words              // words for all who are present: "anyone", "guys"
}

// Order holds the words of orders to search, or not to.
type Order struct {
	Orders        map[string]Phrases // "search"; "dont"; "aside", which forbids a search only if it is the whole clause
	NotImperative Words              `toml:"not_imperative"` // before a verb that is then no order: "they search"
	Before        Words              // before an order within a sentence: "please"
	Refusals      Words              // in a clause that refuses a search: "never search the web"
	AsksWhy       Words              `toml:"asks_why"` // in a clause that asks why there was none: "why didn't you look it up"
	Reports       Words              // in a clause that tells of a search: "we should look it up"
	NotSearched   Words              `toml:"not_searched"` // behind the verb of what is no order: "search engine"
	Fillers       Words              // before a comma at a sentence's beginning: "well,"
	Tail          Words              // at the end of an order: "online", "for me"
}

// Memory holds the words of orders to remember and to forget. Their words are compared whole: "recuerdas" is no "recuerda".
type Memory struct {
	Leads   Phrases            // before an order, or behind it: "please"
	Asks    Phrases            // before an order that is put as a question: "can you"
	Orders  map[string]Phrases // what orders begin with, by what is ordered and what follows: see package remember
	Behind  map[string]Phrases // their ends, if the verb comes last
	Starts  Words              // how a clause begins behind "remember that", where "that" may also point at a thing; none: it never does
	Own     Words              // in words about the speaker: "I", "my"; with an apostrophe at the end, what words begin with
	Endings Words              // of words about the speaker
	Others  Words              // how a clause about somebody else begins: "she"
	Told    Words              // near the beginning of what only reminds of a conversation: "I told you"
	It      Phrases            // how a correction begins that leans on what it corrects: "it's"
	Is      Words              // verbs that state something: "is", "has"
}

// FollowUp holds the words of questions that lean on the one before them.
type FollowUp struct {
	Openings            map[string]Phrases // how a fragment begins: "and", or "what about", which needs no question mark
	Refresh             Phrases            // phrases that ask for something newer: "look again"
	Again               Words              // words that do so beside an order to search
	RefreshAlone        Words              `toml:"refresh_alone"`  // words that do so where they are all that is said: "update"
	BesideRefresh       Words              `toml:"beside_refresh"` // words that may accompany these: "please"
	Possessives         map[string]Words   // by whose they are, as pronouns: "his brother"
	PossessiveLink      string             `toml:"possessive_link"` // between a thing and the name that takes the place of a possessive; "'s" goes behind the name
	OwnerLink           string             `toml:"owner_link"`      // between a thing and the name of its owner, which was left out; English if empty
	PlaceLink           string             `toml:"place_link"`      // before the name that takes the place of "there"; English if empty
	Who                 Words              // question words for a person
	AnswerWho           Words              `toml:"answer_who"`        // words of Who that ask for the person, if it is none of the names in the question
	RelationalNouns     Words              `toml:"relational_nouns"`  // nouns for what is always somebody's or something's: "captain"
	DropsSubject        bool               `toml:"drops_subject"`     // whether a question needs no pronoun: "¿dónde nació?"
	StressedPronouns    Pattern            `toml:"stressed_pronouns"` // pronouns at a question's end
	InvertedPronouns    Pattern            `toml:"inverted_pronouns"` // pronouns joined to the verb before them, with what joins them
	ImpersonalVerbs     Pattern            `toml:"impersonal_verbs"`  // verbs with such a pronoun that refers to nothing
	PersonPronouns      Words              `toml:"person_pronouns"`   // pronouns that never refer to a thing
	Existentials        Words              // before a "there" that is no place: "are there"
	NameLinks           Words              `toml:"name_links"`           // between a thing and the name that it belongs to: "of"
	NameParticles       Words              `toml:"name_particles"`       // small words within names: "Lord of the Rings"
	TopicOpenings       map[string]Phrases `toml:"topic_openings"`       // behind them a question names its topic: "about", or "of", where more may follow
	PlacePrepositions   Words              `toml:"place_prepositions"`   // prepositions that can replace one another
	ArticlePrepositions map[string]Words   `toml:"article_prepositions"` // prepositions with an article in them, by the preposition: "in" has "im"
	OwnPrepositions     Words              `toml:"own_prepositions"`     // prepositions that are articles in other languages
	NotPrepositions     Words              `toml:"not_prepositions"`     // words that are prepositions in other languages only
	ProForms            Words              `toml:"pro_forms"`            // words for a thing that was named: "the one"
	Adverbs             Words              // words behind "and" that fill no slot: "and now?"
	Reactions           Words              // what people say of an answer in one word: "wow"
	Unspaced            Unspaced
}

// Leaning holds the words of a message that leans on the question before it, whatever its grammar.
type Leaning struct {
	Openings Phrases // before what takes the place of something in the question: "and", "what about"
	Endings  Phrases // behind it, where words have no spaces between them
}

// Unspaced holds the particles that tell the parts of a follow-up apart where no spaces do.
type Unspaced struct {
	Opening     Pattern // before a topic that is all that is said
	TopicEnd    Pattern `toml:"topic_end"` // behind it
	Particles   string  // letters that no topic has
	TopicLink   Pattern `toml:"topic_link"` // between a topic and the rest of the question
	Pronouns    Pattern // words for what was named
	PronounLink Pattern `toml:"pronoun_link"` // behind a pronoun
	Of          string  // between an owner and a thing
}

// Query holds the words of what becomes a query.
type Query struct {
	OrderLinks Words   `toml:"order_links"` // between an order to search and what is to be found: "search for"
	Courtesies Pattern // polite endings: "please"
	Works      Words   // kinds of works, before a title: "book"
	TitleLinks Words   `toml:"title_links"` // between the kind and the title: "called"
	PageTalk   Words   `toml:"page_talk"`   // words that may be said of any page, whatever it is about: "thoughts", "worth", "summarise"
	PageWords  Words   `toml:"page_words"`  // words by which a reply means the page that the message before links to
}

// Privacy holds the words that tell private names and numbers from others.
type Privacy struct {
	PhoneWords        Words `toml:"phone_words"`  // before a telephone number: "call"
	NumberNouns       Words `toml:"number_nouns"` // before a telephone number, behind one of Owners: "my number"
	Owners            Words // "my", "her"
	PlacePrepositions Words `toml:"place_prepositions"` // before a name that is then a place's
	BeforeIn          Words `toml:"before_in"`          // before "in" and a name that is then a person's: "interested in Ada"
	PersonVerbs       Words `toml:"person_verbs"`       // behind a person's name: "Will is how old?"
	Auxiliaries       Words // verbs that begin a question answered with yes or no
}

// Claim holds the words by which a sentence denies what a page says.
type Claim struct {
	Refutals      Phrases // phrases that call something untrue: "no evidence"
	IdleNegations Phrases `toml:"idle_negations"` // phrases with a negation that denies nothing: "not only"
	Conjunctions  Words   // words that begin another statement within a sentence
	Limits        Words   // words that turn a negation around: "not until 1937"
	CitationWords Words   `toml:"citation_words"` // words beside a citation that claim nothing: "according"
	Reporting     Words   // words by which one tells that somebody said something: "said"
}

// Quote holds the words that decide where a sentence may be cut.
type Quote struct {
	Adding  Words // words behind a comma that add something and limit nothing: "which", "and"
	Binding Words // words that bind the clauses before and behind theirs: "if", "than", "claimed"
	Leading Words // words that bind the clauses behind theirs, beside negations: "hardly", "would"
}

// Framing holds the words by which a page says what a sentence on it is, and that it is not so.
type Framing struct {
	Untrue         Words   // adjectives of headings, beside Claims: "false"
	Claims         Words   // nouns for what may be so or not: "claims"
	Falsehood      Words   // what is not so, in the singular: "myth"
	Falsehoods     Words   // … in the plural: "myths"
	Truths         Words   // what is so, in headings and labels: "facts"
	Received       Phrases // how headings of what is not so begin: "received ideas"
	NotSo          Phrases `toml:"not_so"` // in a heading, or before a list, of what is not so: "not true"
	Handling       Words   // before them in a heading that is about dealing with what is not so: "spotting"
	VerdictColumns Words   `toml:"verdict_columns"` // names of columns and of lines with verdicts: "rating"
	FalseVerdicts  Phrases `toml:"false_verdicts"`  // verdicts that deny: "mostly false"
	FalseAnswers   Words   `toml:"false_answers"`   // the first word of an answer that denies
	TrueAnswers    Words   `toml:"true_answers"`    // … that affirms
	TrueOrFalse    Phrases `toml:"true_or_false"`   // questions for them
	Yes, No        Words
	Demonstratives Words   // "this", before one of Claims or alone
	Every          Words   // "both", before one of Claims
	Pronouns       Words   // "it"
	Complements    Words   // behind "it is false" where that is said of what follows: "that"
	Dismissals     Phrases // phrases of sentences that call what was said before false: "no truth to this"
	Sayings        Words   // what may be refuted beside Claims: "picture"
	Following      Words   // "following"
	Fillers        Words   // between the subject and what is said of it: "is", "a", "completely"
	Openers        Words   // before the subject: "but", "however"
	Refuted        Phrases // what is said of what is not so: "a hoax"
	Nothing        Phrases // "none of this"
	Affirms        Words   // what is said of what is so: "true"
	Corrections    Words   // of sentences that put a claim right: "actually", "contrary"
	Comments       Words   // of headings over what users wrote
	BesideComments Words   `toml:"beside_comments"` // … that do not suffice
	Plots          Words   // of headings over the plot of a work
	Contents       Words   // … that also head other sections
	Works          Words   // works of fiction: "novel"
	Satire         Words
	Sponsors       Words // of labels for what is paid for
	BesideSponsors Words `toml:"beside_sponsors"` // … that do not suffice
	PageNouns      Words `toml:"page_nouns"`      // what a page calls itself: "article"
}

// FactCheck holds the words of claims and of what pages say about them.
type FactCheck struct {
	Lead           Pattern // before a claim that is to be checked: "is it true that"
	Tail           Pattern // behind it: "is that true"
	Tag            Pattern // behind it and a comma: "right"
	Auxiliaries    Pattern // verbs that begin a question and no statement
	Adverbs        Pattern // adverbs of doubt: "really"
	Hearsay        Pattern // where the claim was heard: "people say that"
	Alive          Pattern // how pages begin about a person who lives
	Deaths         Words   // words for a death
	BeforeDeath    Words   `toml:"before_death"` // between a person and such a word
	Absolutes      Words   // words that allow no exception: "never", "first"
	Quantifiers    Words   // words of Absolutes for which a page allows exceptions with a hedge
	Hedges         Words   // "also", "several"
	Opposites      Rows    // words that are not true of the same, on both sides of a bar
	SemanticFields Rows    `toml:"semantic_fields"` // words of one field each: "born birthplace hometown"
}

// Conflict holds the words by which two pages speak of the same event or measure.
type Conflict struct {
	Events      map[string]Phrases // what happens to a thing a single time, by what happens
	NotHappened Words              `toml:"not_happened"` // words by which it did not, not yet, not to the whole, or once more
	NearDate    Words              `toml:"near_date"`    // before a date that is not the date of the event: "until"
	BeforeYear  Words              `toml:"before_year"`  // before a number that is then a year
	DateFillers Words              `toml:"date_fillers"` // before a date, saying nothing
	Auxiliaries Words              // between a thing and what happens to it
	Seasons     Words              // before a number that is then a year
	Breaks      Pattern            // between two statements: "but"
}

// Evidence holds the words by which a sentence may answer a question.
type Evidence struct {
	AnswerKinds  map[string]Phrases `toml:"answer_kinds"` // how a question asks for a kind of answer, by kind
	Time         Words              // words of answers of the kind "time"
	Reason       Words              // "reason"
	Definition   Words              // "definition"
	Anaphors     Words              // words that begin a sentence and refer to something before it
	Openers      Words              // words that may precede the subject of a sentence
	Associations Rows               // words of a question and, behind the colon, those that its answers have
	SummaryWords Words              `toml:"summary_words"` // words that ask for a summary and not for what it is of
}

// Reuse holds the words by which a question is the same as an earlier one, or another.
type Reuse struct {
	Neutral  Words // words that make no other question: "actually"
	Decisive Words // small words that make another question: "not", "before"
}

// Page holds the labels of web pages, in lower case.
type Page struct {
	EditMarks         Pattern `toml:"edit_marks"`         // what wikis print beside headings: "[edit]"
	ReferenceHeadings Pattern `toml:"reference_headings"` // of sections that list sources and other pages
	Interruptions     Pattern // labels within a text that are no part of it: "advertisement"
	Pointers          Pattern // before a colon and links to other pages: "read also"
	Elsewhere         Pattern // beginnings of headings over other pages and over what readers say: "related posts"
	ElsewhereWords    Words   `toml:"elsewhere_words"` // the first words of Elsewhere
	PointerWords      Words   `toml:"pointer_words"`   // the first words of Interruptions, but of advertisements in English, and of Pointers
	WallTitles        Pattern `toml:"wall_titles"`     // titles of pages that block access: "just a moment"
	ConsentAsks       Pattern `toml:"consent_asks"`    // what a notice of cookies asks for or promises
	ConsentTerms      Pattern `toml:"consent_terms"`   // what its sentences are about
	PictureCredits    Pattern `toml:"picture_credits"` // before the name of who made a picture
	PictureWords      Words   `toml:"picture_words"`   // the first words of such a line that has no colon
	Commands          Pattern // labels of buttons
}

// Clean holds the words that betray what is not to be shown.
type Clean struct {
	ReferenceLabels Pattern `toml:"reference_labels"` // before the number of a reference: "source"
	Orders          Pattern // sentences that speak to a machine
}
