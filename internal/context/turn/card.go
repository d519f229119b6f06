package turn

// The fields of a person's card, which says how they want to be called and spoken to.
const (
	CardName     = "name"
	CardPronouns = "pronouns"
	CardLanguage = "language"
	CardAbout    = "about"
)

// CardFields returns the fields in the order in which people are shown them.
func CardFields() []string { return []string{CardName, CardPronouns, CardLanguage, CardAbout} }
