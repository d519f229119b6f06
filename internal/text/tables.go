package text

// Tables holds the tables of one language. All may be left out. Words are looked up without case and without accents (text.Fold), so they
// may be written either way. Only Topic, Weather, Patterns, and what is put into texts are taken as written.
type Tables struct {
	Scripts []string // Unicode scripts whose letters give the language away: no other language here is written in them first
	Marks   string   // Latin letters with marks, and signs, that the language writes
	Names   WordList // what the language is called, in several languages
	Letters string   // letters that give the language away in a script of another language

	Stem      stemTables
	Grammar   grammarTables
	Number    numberTables
	Time      timeTables
	Question  questionTables
	Topic     topicTables
	Weather   weatherTables
	Need      needTables
	Speech    map[string]PhraseList // words by kind, which tell the models what a message is about: see package question
	Order     orderTables
	Memory    memoryTables
	Remind    remindTables
	Statement statementTables
	Recall    map[string]PhraseList // how people ask about the past of their server, by the part that words play: see package past
	Things    map[string]PhraseList // words for things by their kind, such as animals: one takes the place of another in a question
	Past      map[string]PhraseList // words by what they say about the past of a group, for the model of such questions: see package past
	Chat      map[string]PhraseList // what people say to somebody without asking for anything to be looked up, by kind, see package question. Words of now and very may stand within
	FollowUp  followUpTables        `toml:"follow_up"`
	Dependent dependentTables
	Query     queryTables
	Privacy   privacyTables
	Claim     claimTables
	Quote     quoteTables
	Framing   framingTables
	FactCheck factCheckTables `toml:"fact_check"`
	Conflict  conflictTables
	Evidence  evidenceTables
	Reuse     reuseTables
	Page      pageTables
	Clean     cleanTables
	Mood      moodTables
}

// stemTables describes the endings that a light stemmer removes from a word.
type stemTables struct {
	Endings  Rows     // for each row in turn, the longest matching ending is removed, starting at the end of a word
	Finals   WordList // pairs of letters: a final first letter becomes the second
	Shortest int      // minimum length of a stem; 3 if unset
}

// grammarTables holds the small words of a language.
type grammarTables struct {
	FunctionWords WordList            `toml:"function_words"` // words that identify the language, because they are rare in others
	Common        WordList            // other words that people use much, and in no other language
	Courtesies    WordList            // what people say in a word or two: "thanks", "hello"
	NameWords     WordList            `toml:"name_words"` // function words in names of all languages: Los Angeles, De Niro, Die Hard
	StopWords     WordList            `toml:"stop_words"` // words that carry no meaning in a search
	Negations     WordList            // "not", "never", "nobody"
	Prepositions  WordList            // prepositions that open a slot of a question: "in Berlin", "since Monday"
	Articles      WordList            // words that begin a noun
	Pronouns      map[string]WordList // by what they refer to: "he" a person, "it" a thing, "there" a place, "he's" and "it's" their owners
	SecondPerson  WordList            `toml:"second_person"` // words for the person spoken to: "you", "your"
	FirstPerson   WordList            `toml:"first_person"`  // words for the speaker in languages that need them: "I", "my"
	Contractions  map[string]WordList // by the part after the apostrophe: "ll" is "will"
	BeforeIs      WordList            `toml:"before_is"`  // words after which "'s" is "is" and not a possessive: "what's"
	ChatForms     map[string]WordList `toml:"chat_forms"` // words that chat writes as one: "whats" is "what is"
	Abbreviations WordList            // words whose dot does not end a sentence: "Dr."
	Irregular     Rows                // the forms of irregular verbs, the infinitive first: "go went gone"
}

// numberTables holds the words of numbers and quantities.
type numberTables struct {
	Words        WordList // numbers in words: "two", "hundred", "half"; not "one", which is usually an article
	Counts       Row      // one to ten with things: "a year", "two years"
	Cardinals    Row      // one to twenty
	Tens         Row      // thirty, forty, … ninety
	Hundreds     Row      // one hundred, two hundred, … where they are words of their own
	Joints       WordList // between the parts of a number: "and"
	Hundred      WordList // 100 and 1000, as in Scales, in words that mean other things in other languages
	Thousand     WordList
	Counters     Pattern             // what a number in signs counts, in scripts without spaces
	Scales       map[string]WordList // words after a number that multiply it, by factor; a billion is 1e9 only in half of the languages
	Bounds       WordList            // words that make a number a limit: "over", "least"
	AtLeast      Pattern             `toml:"at_least"` // before a minimum: "more than"
	AtMost       Pattern             `toml:"at_most"`  // before a maximum: "up to"
	Roughly      Pattern             // before an approximate number: "about"
	Units        map[string]WordList // stems of the names of a unit, by the stem that it is compared by
	Thousandfold WordList            // units of a thousand smaller ones: "kilometre"
	Dimensions   map[string]WordList // words that say what was measured, by the dimension: "high" is of height
}

// timeTables holds the words of the calendar and of times seen from now.
type timeTables struct {
	Months       Row                   // from January, as written in a date
	ShortMonths  Row                   `toml:"short_months"` // from January
	Weekdays     Row                   // from Sunday, as written
	Seasons      Row                   // from spring, as written
	Which        map[string]PhraseList // "last", "this" and "next", with %s for a weekday, a month or a season: "last %s"
	WhichDay     map[string]PhraseList `toml:"which_day"`   // the same, with %s only for a weekday
	WhichDays    Row                   `toml:"which_days"`  // weekdays for WhichDay if Weekdays is empty because of other meanings
	WhichOther   map[string]PhraseList `toml:"which_other"` // irregular phrases of this kind, by cue: "<s2" is last autumn
	Calendar     map[string]PhraseList // days, weeks, months, … by unit and distance: "d-1" is yesterday; "" only looks like one
	Now          PhraseList            // "right now"
	Since        WordList              // words after which a weekday is the last of that name: "since Monday"
	Units        map[string]WordList   // units of time, by the letters of Calendar: "d" has "day" and "days"
	PastBefore   PhraseList            `toml:"past_before"`   // before a number of past days
	PastAfter    WordList              `toml:"past_after"`    // after it: "two days ago"
	FutureBefore map[string]PhraseList `toml:"future_before"` // before a number of future days: "+", or "in", which may also give a duration
	Duration     WordList              // words with which "in" gives a duration: "how"
	Future       WordList              // words with which "in" gives a future time: "will"
	DateLinks    WordList              `toml:"date_links"`   // between day, month and year: "8th of December"
	DateLayout   string                `toml:"date_layout"`  // for time.Format, with January for the month; English if empty
	MonthLayout  string                `toml:"month_layout"` // the same for a month and its year
	Around       map[string][]string   // times around now, by the letters of Calendar. They are the one before, this, and the one after (of days two each). Then come "in %d days" and "%d days ago"
	Neighbours   map[string]PhraseList // the time before or after one that was named: "the day after"
	Kinds        WordList              // kinds of time that "what" asks for: "what year"
}

// questionTables holds the words that give a question its form.
type questionTables struct {
	Things         WordList              // question words for a person, a thing, a place or a time; they count as openings and open a Topic
	Openings       map[string]PhraseList // how a question begins, by form: "wh", "aux" (yes or no), "get" (a request)
	Leads          map[string]PhraseList // polite beginnings before that: "lead", or "ask" where they ask to be told something
	Conditions     WordList              // how a clause before the question begins: "if", "after"
	Inverted       PhraseList            // how the question after it begins, of the form "aux": "is there"
	Interrogatives PhraseList            // of the form "wh": "how many"
	Prepositions   WordList              // before a question word at the end: "located in which state"
}

// topicTables holds the words around the topic of a question, as written.
type topicTables struct {
	First      WordList   // before the topic, in addition to Question.Things: "define", "what's"
	Then       WordList   // between these and the topic: "is", "the"
	Beginnings WordList   // before the topic without a space
	Endings    WordList   // after the topic without a space
	Problems   PhraseList // how people with a problem begin: "how do I"
}

// weatherTables holds the words around the place in a question about the weather, as they are written.
type weatherTables struct {
	Before       WordList   // prepositions that a place follows
	Articles     WordList   // may begin a place's name: "La Paz", "The Hague"
	Weather      WordList   // words for weather; a place ends before them
	When         WordList   // words for time; a place ends before them
	Week         WordList   // more of these, for a day that may be a week away: "weekend", "monday"
	Filler       WordList   // the rest of the question
	Unspaced     PhraseList // all of these where words have no spaces between them, the longest first
	UnspacedWeek WordList   `toml:"unspaced_week"` // the words of Unspaced that are like Week
}

// needTables holds the cues by which a message needs the web, or does not.
type needTables struct {
	Topics        map[string]PhraseList // what changes from day to day, or is looked up by its nature
	Weather       PhraseList            // words that are of the weather only beside a time or a place: "storm"
	Outdoors      PhraseList            // what one asks because of the weather: "umbrella"
	Times         map[string]PhraseList // what says that the present counts, by how near it is
	Checks        PhraseList            // a doubt that sources can settle: "is it true"
	Doubts        WordList              // such a doubt at a question's end: "is the moon landing fake?"
	DoubtAdverbs  WordList              `toml:"doubt_adverbs"` // such a doubt within a question: "did Ada really write it?"
	Against       map[string]PhraseList // what the web has no part in
	Commands      map[string]PhraseList // verbs that begin an order: "device" to a device or the bot, "get" for something from the web
	Persons       map[string]PhraseList // the two who talk: "you", "me", "i"
	Intents       map[string]PhraseList // words that by themselves mean an intent
	Deictics      WordList              // words for what only those present can see: "this"
	Here          WordList              // words for the place where the speaker is
	AtPlace       WordList              `toml:"at_place"`    // prepositions before a place
	GenericYou    WordList              `toml:"generic_you"` // between "how" and a "you" that is anyone: "how do you"
	BotVerbs      WordList              `toml:"bot_verbs"`   // after a "you" that is the bot after all: "how do you feel"
	MakerVerbs    WordList              `toml:"maker_verbs"` // what is done with a song, a book or a film: "who sings"
	Everybody     WordList              // words for all who are present: "anyone", "guys"
	SentenceWords WordList              `toml:"sentence_words"` // words that a sentence has and a search string has not: "is", "you"
}

// orderTables holds the words of orders to search, or not to.
type orderTables struct {
	Orders        map[string]PhraseList // "search"; "dont"; "aside", which forbids a search only if it is the whole clause
	NotImperative WordList              `toml:"not_imperative"` // before a verb that is then no order: "they search"
	Before        WordList              // before an order within a sentence: "please"
	Refusals      WordList              // in a clause that refuses a search: "never search the web"
	AsksWhy       WordList              `toml:"asks_why"` // in a clause that asks why there was none: "why didn't you look it up"
	Reports       WordList              // in a clause that tells of a search: "we should look it up"
	NotSearched   WordList              `toml:"not_searched"` // after the verb of what is not an order: "search engine"
	Fillers       WordList              // before a comma at a sentence's beginning: "well,"
	Tail          WordList              // at the end of an order: "online", "for me"
}

// memoryTables holds the words of orders to remember and to forget. Their words are compared whole: "recuerdas" is no "recuerda".
type memoryTables struct {
	Leads, Asks PhraseList            // before an order or after it: "please"; before one that may be put as a question: "can you"
	Keep        PhraseList            // orders to remember, as verbs; those that are a request in themselves end with a question mark
	Forget      PhraseList            // to forget
	Delete      PhraseList            // to delete, of anything
	Change      PhraseList            // to correct, of anything
	VerbLast    bool                  `toml:"verb_last"` // whether an order ends with its verb
	Drops       bool                  // whether a statement about the speaker needs no word for them
	And, So     WordList              // between two orders: "and"; before one after a statement: "so"
	Reasons     WordList              // before what is not part of an order: "because"
	Things      WordList              // what calls a topic a thing, after its name: "the marathon thing"
	Something   WordList              // what is said in the next sentence: "can you remember something?"
	Into        PhraseList            // where something is remembered: "in your memory"
	OutOf       PhraseList            `toml:"out_of"` // from where it is forgotten
	Errands     PhraseList            // how something to do ends before "don't forget"
	Days        WordList              // the days of the week, if [time] has none
	That        WordList              // before a clause: "that"
	This        WordList              // what points at something said before: "this"
	All, Me     WordList              // "everything"; the speaker as an object: "me"
	Memory      WordList              // what a memory is called
	Known       WordList              // what "everything that you know" and "what I told you" consist of
	About       WordList              // before a topic: "about"
	Particles   PhraseList            // between what is ordered and a verb after it
	Elsewhere   WordList              // what can be deleted, but not from a memory: "message"
	Idioms      PhraseList            // what begins like an order and is none: "forget it"
	Wrong       PhraseList            // what calls something wrong; X stands for any words
	No          PhraseList            // before a correction that says what is right and what is not: "no"
	Not         PhraseList            // how these are put: X is right and Y is not
	Card        map[string]PhraseList // how people say what to call them, and how to speak of them and to them: X stands for that
	Fields      map[string]WordList   // what these are called: "nickname"
	NotNames    WordList              `toml:"not_names"` // how what follows "call me" begins if it is not a name: "tomorrow"
	Yes         WordList              // a plain yes
	Works       PhraseList            // orders to work on a text: "translate"
	Material    PhraseList            // what calls a text of the message a text: "this sentence"
	Letters     PhraseList            // how a letter begins or ends
	Starts      WordList              // how a clause begins after "remember that", where "that" may also point at a thing; none: it never does
	Own         WordList              // in words about the speaker: "I", "my"; with an apostrophe at the end, what words begin with
	Endings     WordList              // of words about the speaker
	Others      WordList              // how a clause about somebody else begins: "she"
	Told        WordList              // near the beginning of what only reminds of a conversation: "I told you"
	It          PhraseList            // how a correction begins that leans on what it corrects: "it's"
	Is          WordList              // verbs that state something: "is", "has"
	Signs       map[string]PhraseList // words that a message about the memory may have, by kind; a star stands for any ending: "notier*"
}

// remindTables holds the words by which people ask to be reminded at a time. All but Asks are compared without case and accents.
type remindTables struct {
	Weekdays Row                   // from Sunday, in the forms that they have in a time
	Months   Row                   // those that [time] does not have
	Numbers  Row                   // one to twelve, of hours and things; "_" stands for a space
	Ordinals Row                   // of days: "first", as they are before a month
	Asks     WordList              // after the order, they ask for what was said: "remind me what we said"
	Words    map[string]PhraseList // by their part in an order or a time: see memory/order/when.go
}

// statementTables holds the words that decide which of a person's sentences may be remembered: see package memory. A star at a phrase's
// end stands for any ending of its last word.
type statementTables struct {
	Frames     PhraseList // what follows them is not a statement of its writer: "imagine", "translate"
	Jokes      PhraseList // they take back what is before them: "just kidding"
	Qualifiers PhraseList // a sentence with one is not a plain statement of today: "if", "used to"
	People     PhraseList // nouns for people other than the speaker: "my brother"
	Bots       PhraseList // nouns for the bot
	Duties     PhraseList // beside a word for the bot they make an order of a sentence: "must", "always"
	Commands   PhraseList // they do so alone: "your rules"
	Bids       WordList   // verbs that tell the bot what to say or do: "answer". They begin a clause, or end it if verbs do
	// Determiners come before a noun or a verb and not before a name: "a", "my", "we".
	Determiners WordList
	Attributes  PhraseList            // after "my" they name what has one value at a time: "favourite"
	Private     map[string]PhraseList // words of health, belief, sex and politics
	Harmless    map[string]PhraseList // words of what may be learned of anybody, by what it is: home, work, pets, games
	Places      PhraseList            // those of Private that name a place where people may meet
	Meetings    PhraseList            // what people come together for
	Plain       WordList              // words that say nothing of anybody beside these: colours, numbers, "every week"
	Single      map[string]PhraseList // how a sentence begins that gives what has one value at a time, by what it is: "I live in". That of a birthday lacks its date, and has 0 for any number
}

// followUpTables holds the words of questions that lean on the one before them.
type followUpTables struct {
	Openings            map[string]PhraseList // how a fragment begins: "and", or "what about", which needs no question mark
	Refresh             PhraseList            // phrases that ask for something newer: "look again"
	Again               WordList              // words that do so beside an order to search
	RefreshAlone        WordList              `toml:"refresh_alone"`  // words that do so where they are all that is said: "update"
	BesideRefresh       WordList              `toml:"beside_refresh"` // words that may accompany these: "please"
	Possessives         map[string]WordList   // by whose they are, as pronouns: "his brother"
	PossessiveLink      string                `toml:"possessive_link"` // between a thing and the name that takes the place of a possessive; "'s" goes after the name
	OwnerLink           string                `toml:"owner_link"`      // between a thing and the name of its owner, which was left out; English if empty
	PlaceLink           string                `toml:"place_link"`      // before the name that takes the place of "there"; English if empty
	Who                 WordList              // question words for a person
	AnswerWho           WordList              `toml:"answer_who"`        // words of Who that ask for the person, if it is none of the names in the question
	RelationalNouns     WordList              `toml:"relational_nouns"`  // nouns for what is always somebody's or something's: "captain"
	DropsSubject        bool                  `toml:"drops_subject"`     // whether a question needs no pronoun: "¿dónde nació?"
	StressedPronouns    Pattern               `toml:"stressed_pronouns"` // pronouns at a question's end
	InvertedPronouns    Pattern               `toml:"inverted_pronouns"` // pronouns joined to the verb before them, with what joins them
	ImpersonalVerbs     Pattern               `toml:"impersonal_verbs"`  // verbs with such a pronoun that refers to nothing
	PersonPronouns      WordList              `toml:"person_pronouns"`   // pronouns that never refer to a thing
	Existentials        WordList              // before a "there" that is not a place: "are there"
	NameLinks           WordList              `toml:"name_links"`           // between a thing and the name that it belongs to: "of"
	NameParticles       WordList              `toml:"name_particles"`       // small words within names: "Lord of the Rings"
	TopicOpenings       map[string]PhraseList `toml:"topic_openings"`       // after them a question names its topic: "about", or "of", where more may follow
	PlacePrepositions   WordList              `toml:"place_prepositions"`   // prepositions that can replace one another
	ArticlePrepositions map[string]WordList   `toml:"article_prepositions"` // prepositions with an article in them, by the preposition: "in" has "im"
	NotPrepositions     WordList              `toml:"not_prepositions"`     // words that are prepositions in other languages only
	ProForms            WordList              `toml:"pro_forms"`            // words for a thing that was named: "the one"
	Adverbs             WordList              // words after "and" that fill no slot: "and now?"
	Reactions           WordList              // what people say of an answer in one word: "wow"
	Unspaced            unspacedTables
}

// dependentTables holds the words of a message that leans on the question before it, whatever its grammar.
type dependentTables struct {
	Openings    PhraseList // before what takes the place of something in the question: "and", "what about"
	Endings     PhraseList // after it, where words have no spaces between them
	Asides      PhraseList // before another question: "by the way"
	Corrections PhraseList // before or after what was meant: "i meant"
	Pointers    PhraseList // words for what was said before: "that", "the second"
	Alike       PhraseList // beside what takes the place of something in the question, wherever it is: "instead"
}

// unspacedTables holds the particles that tell the parts of a follow-up apart where no spaces do.
type unspacedTables struct {
	Opening     Pattern // before a topic that is all that is said
	TopicEnd    Pattern `toml:"topic_end"` // after it
	Particles   string  // letters that no topic has
	TopicLink   Pattern `toml:"topic_link"` // between a topic and the rest of the question
	Pronouns    Pattern // words for what was named
	PronounLink Pattern `toml:"pronoun_link"` // after a pronoun
	Of          string  // between an owner and a thing
}

// queryTables holds the words of what becomes a query.
type queryTables struct {
	OrderLinks WordList `toml:"order_links"` // between an order to search and what is to be found: "search for"
	Courtesies Pattern  // polite endings: "please"
	Works      WordList // kinds of works, before a title: "book"
	TitleLinks WordList `toml:"title_links"` // between the kind and the title: "called"
	PageTalk   WordList `toml:"page_talk"`   // words that may be said of any page, whatever it is about: "thoughts", "worth", "summarise"
	PageWords  WordList `toml:"page_words"`  // words by which a reply means the page that the message before links to
}

// privacyTables holds the words that tell private names and numbers from others.
type privacyTables struct {
	PhoneWords        WordList `toml:"phone_words"`  // before a telephone number: "call"
	NumberNouns       WordList `toml:"number_nouns"` // before a telephone number, after one of Owners: "my number"
	Owners            WordList // "my", "her"
	PlacePrepositions WordList `toml:"place_prepositions"` // before a name that is then a place's
	BeforeIn          WordList `toml:"before_in"`          // before "in" and a name that is then a person's: "interested in Ada"
	PersonVerbs       WordList `toml:"person_verbs"`       // after a person's name: "Will is how old?"
	Auxiliaries       WordList // verbs that begin a question answered with yes or no
}

// claimTables holds the words by which a sentence denies what a page says.
type claimTables struct {
	Refutals      PhraseList // phrases that call something untrue: "no evidence"
	IdleNegations PhraseList `toml:"idle_negations"` // phrases with a negation that denies nothing: "not only"
	Conjunctions  WordList   // words that begin another statement within a sentence
	Limits        WordList   // words that turn a negation around: "not until 1937"
	CitationWords WordList   `toml:"citation_words"` // words beside a citation that claim nothing: "according"
	Reporting     WordList   // words by which one tells that somebody said something: "said"
}

// quoteTables holds the words that decide where a sentence may be cut.
type quoteTables struct {
	Adding  WordList // words after a comma that add something and limit nothing: "which", "and"
	Binding WordList // words that bind the clauses before and after theirs: "if", "than", "claimed"
	Leading WordList // words that bind the clauses after theirs, beside negations: "hardly", "would"
}

// framingTables holds the words by which a page says what a sentence on it is. They may also say that it is not so.
type framingTables struct {
	Untrue         WordList   // adjectives of headings, beside Claims: "false"
	Claims         WordList   // nouns for what may be so or not: "claims"
	Falsehood      WordList   // what is not so, in the singular: "myth"
	Falsehoods     WordList   // … in the plural: "myths"
	Truths         WordList   // what is so, in headings and labels: "facts"
	Received       PhraseList // how headings of what is not so begin: "received ideas"
	NotSo          PhraseList `toml:"not_so"` // in a heading, or before a list, of what is not so: "not true"
	Handling       WordList   // before them in a heading that is about dealing with what is not so: "spotting"
	VerdictColumns WordList   `toml:"verdict_columns"` // names of columns and of lines with verdicts: "rating"
	FalseVerdicts  PhraseList `toml:"false_verdicts"`  // verdicts that deny: "mostly false"
	FalseAnswers   WordList   `toml:"false_answers"`   // the first word of an answer that denies
	TrueAnswers    WordList   `toml:"true_answers"`    // … that affirms
	TrueOrFalse    PhraseList `toml:"true_or_false"`   // questions for them
	Yes, No        WordList
	Demonstratives WordList   // "this", before one of Claims or alone
	Every          WordList   // "both", before one of Claims
	Pronouns       WordList   // "it"
	Complements    WordList   // after "it is false" where that is said of what follows: "that"
	Dismissals     PhraseList // phrases of sentences that call what was said before false: "no truth to this"
	Sayings        WordList   // what may be refuted beside Claims: "picture"
	Following      WordList   // "following"
	Fillers        WordList   // between the subject and what is said of it: "is", "a", "completely"
	Openers        WordList   // before the subject: "but", "however"
	Refuted        PhraseList // what is said of what is not so: "a hoax"
	Nothing        PhraseList // "none of this"
	Affirms        WordList   // what is said of what is so: "true"
	Corrections    WordList   // of sentences that put a claim right: "actually", "contrary"
	Comments       WordList   // of headings over what users wrote
	BesideComments WordList   `toml:"beside_comments"` // … that do not suffice
	Plots          WordList   // of headings over the plot of a work
	Contents       WordList   // … that also head other sections
	Works          WordList   // works of fiction: "novel"
	Satire         WordList
	Sponsors       WordList // of labels for what is paid for
	BesideSponsors WordList `toml:"beside_sponsors"` // … that do not suffice
	PageNouns      WordList `toml:"page_nouns"`      // what a page calls itself: "article"
}

// factCheckTables holds the words of claims and of what pages say about them.
type factCheckTables struct {
	Lead           Pattern             // before a claim that is to be checked: "is it true that"
	Tail           Pattern             // after it: "is that true"
	Tag            Pattern             // after it and a comma: "right"
	Auxiliaries    Pattern             // verbs that begin a question and no statement
	Adverbs        Pattern             // adverbs of doubt: "really"
	Hearsay        Pattern             // where the claim was heard: "people say that"
	Alive          Pattern             // how pages begin about a person who lives
	Deaths         WordList            // words for a death
	BeforeDeath    WordList            `toml:"before_death"` // between a person and such a word
	Absolutes      WordList            // words that allow no exception: "never", "first"
	Quantifiers    WordList            // words of Absolutes for which a page allows exceptions with a hedge
	Hedges         WordList            // "also", "several"
	Comparisons    WordList            // words that compare, count times or say what has ended: "less", "twice", "longer"
	ComparedBy     map[string]WordList `toml:"compared_by"` // comparatives by direction, "up" or "down", and the kind of what they compare
	Every          Pattern             // before a unit: "every hour"
	Intervals      Pattern             // after a unit, for the same: "at two-hour intervals"
	Than           WordList            // between what is compared: "than"
	Synonyms       Rows                // words that may stand for one another: "built constructed"
	Measuring      WordList            // verbs that only join a thing and its amount: "measures"
	Joins          Pattern             // between two statements of a sentence: "and", "so"
	Denials        Pattern             // forms that deny, beside the negations: the endings of a verb
	Turns          map[string]Pattern  // what a statement turns on, in any of several words: "only", "no longer"
	Unreal         WordList            // words of what is planned, possible or only said: "would"
	Opposites      Rows                // words that are not true of the same, on both sides of a bar
	SemanticFields Rows                `toml:"semantic_fields"` // words of one field each: "born birthplace hometown"
}

// conflictTables holds the words by which two pages speak of the same event or measure.
type conflictTables struct {
	Events      map[string]PhraseList // what happens to a thing a single time, by what happens
	NotHappened WordList              `toml:"not_happened"` // words by which it did not, not yet, not to the whole, or once more
	NearDate    WordList              `toml:"near_date"`    // before a date that is not the date of the event: "until"
	BeforeYear  WordList              `toml:"before_year"`  // before a number that is then a year
	DateFillers WordList              `toml:"date_fillers"` // before a date, saying nothing
	Auxiliaries WordList              // between a thing and what happens to it
	Seasons     WordList              // before a number that is then a year
	Breaks      Pattern               // between two statements: "but"
}

// evidenceTables holds the words by which a sentence may answer a question.
type evidenceTables struct {
	AnswerKinds  map[string]PhraseList `toml:"answer_kinds"` // how a question asks for a kind of answer, by kind
	Time         WordList              // words of answers of the kind "time"
	Reason       WordList              // "reason"
	Definition   WordList              // "definition"
	Anaphors     WordList              // words that begin a sentence and refer to something before it
	Associations Rows                  // words of a question and, after the colon, those that its answers have
	SummaryWords WordList              `toml:"summary_words"` // words that ask for a summary and not for what it is of
}

// reuseTables holds the words by which a question is the same as an earlier one, or another.
type reuseTables struct {
	Neutral  WordList // words that make no other question: "actually"
	Decisive WordList // small words that make another question: "not", "before"
}

// pageTables holds the labels of web pages, in lower case.
type pageTables struct {
	EditMarks         Pattern  `toml:"edit_marks"`         // what wikis print beside headings: "[edit]"
	ReferenceHeadings Pattern  `toml:"reference_headings"` // of sections that list sources and other pages
	Interruptions     Pattern  // labels within a text that are not part of it: "advertisement"
	Pointers          Pattern  // before a colon and links to other pages: "read also"
	Elsewhere         Pattern  // beginnings of headings over other pages and over what readers say: "related posts"
	ElsewhereWords    WordList `toml:"elsewhere_words"` // the first words of Elsewhere
	PointerWords      WordList `toml:"pointer_words"`   // the first words of Interruptions, but of advertisements in English, and of Pointers
	WallTitles        Pattern  `toml:"wall_titles"`     // titles of pages that block access: "just a moment"
	ConsentAsks       Pattern  `toml:"consent_asks"`    // what a notice of cookies asks for or promises
	ConsentTerms      Pattern  `toml:"consent_terms"`   // what its sentences are about
	PictureCredits    Pattern  `toml:"picture_credits"` // before the name of who made a picture
	PictureWords      WordList `toml:"picture_words"`   // the first words of such a line that has no colon
	Commands          Pattern  // labels of buttons
}

// cleanTables holds the words that betray what is not to be shown.
type cleanTables struct {
	ReferenceLabels Pattern `toml:"reference_labels"` // before the number of a reference: "source"
	Orders          Pattern // sentences that speak to a machine
}

// moodTables holds how a text shows a mood, by the mood.
type moodTables struct {
	Near  map[string]WordList   // the moods that may take its place, nearest first; the keys are all moods
	Also  map[string]WordList   // other names that pictures have
	Signs map[string]WordList   // emojis
	Words map[string]PhraseList // "sighs", "thank you"
}
