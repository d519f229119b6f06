package bot

// sentence is what the bot says by itself, where no model can say it.
type sentence string

const (
	noModel       sentence = "no_model"
	rateLimited   sentence = "rate_limited"
	modelDown     sentence = "model_down"
	tooSlow       sentence = "too_slow"
	noModelNote   sentence = "No model is configured, so these are the sources' own words. To let me talk: set OPENAI_API_KEY (and OPENAI_BASE_URL for another server), or start Ollama."
	foundNothing  sentence = "I looked, and found nothing that answers this."
	lookupFailed  sentence = "I wanted to look this up and could not reach the web"
	webIsOff      sentence = "I would have looked this up, but the web is switched off here"
	overCap       sentence = "I would have looked this up"
	noRoom        sentence = "I looked this up, and what I found does not fit into this conversation"
	nothingLeft   sentence = "I did not look: there was nothing in this that I may search for"
	myFault       sentence = "I wanted to look this up, and something went wrong on my side"
	mayNotRead    sentence = "I may not read that page"
	couldNotRead  sentence = "I found the place and could not read what stands there"
	onlySnippets  sentence = "I have not read the pages themselves: this is what the search says about them."
	onlyOutline   sentence = "I found nothing on that page that answers this: these are its main points."
	emptyAnswer   sentence = "My model came back with nothing to say. Try me again, or put it another way."
	cutOff        sentence = "cut off: my model's answer broke off here"
	tooLong       sentence = "cut off: the answer reached its length limit"
	answerStopped sentence = "stopped"
	tooBusy       sentence = "Too much at once: I had to skip this message. Ask me again in a moment."
	leaving       sentence = "I am being restarted and did not get to this message. Ask me again in a minute."
	outOfOrder    sentence = "I can't write my records at the moment, and I don't answer without them. Whoever runs me will find the reason in my log."
	missed        sentence = "I was away when this was written, and it is a while ago. Ask me again if it still matters."
	tooMany       sentence = "That is as many answers as I give one person in a minute. Ask me again in a moment."
	interrupted   sentence = "interrupted: I was restarted here"
	wasAway       sentence = "I was away when you wrote this."
	retracted     sentence = "The question was deleted, and my answer with it."
	quietHere     sentence = "All right, I am quiet here. Mention me and I am back."
	noThread      sentence = "I was to open a thread for this, and may not: I need the permission Create Public Threads here. Until then I answer in the channel."
	turnBroken    sentence = "Something went wrong on my side. Whoever runs me will find the reason in my log."
)

// toSeveral are sentences that tell several people the same.
var toSeveral = map[sentence]string{
	tooBusy:    "Too much at once: I had to skip messages of %s. Ask me again in a moment.",
	leaving:    "I am being restarted and did not get to messages of %s. Ask me again in a minute.",
	missed:     "I was away, and it is a while ago that %s wrote to me. Ask me again if it still matters.",
	tooMany:    "That is as many answers as I give one person in a minute: %s, ask me again in a moment.",
	outOfOrder: "I can't write my records at the moment, and I don't answer without them: %s, ask me again later. Whoever runs me will find the reason in my log.",
	turnBroken: "Something went wrong on my side when I answered %s. Whoever runs me will find the reason in my log.",
}

// say returns a sentence in the character's own words, if it has some.
func (b *Bot) say(s sentence) string {
	texts := b.Character.Texts
	switch s {
	case noModel:
		return b.Character.Fill(texts.NoModel, "")
	case rateLimited:
		return b.Character.Fill(texts.RateLimited, "")
	case modelDown:
		return b.Character.Fill(texts.ModelDown, "")
	case tooSlow:
		return b.Character.Fill(texts.TooSlow, "")
	}
	return string(s)
}
