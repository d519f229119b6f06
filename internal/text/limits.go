package text

// MinSentence is how long a sentence is at least, in characters: what is shorter is a heading or a crumb.
const MinSentence = 20
