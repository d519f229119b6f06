package evidence

// Why a sentence that was considered as evidence is not quoted.
const (
	DroppedBelow    = "below the best"
	DroppedKind     = "not an answer of the kind asked"
	DroppedBare     = "nothing of the question in it"
	DroppedSelected = "what the side model selected says enough"
	DroppedSame     = "says the same as "
	DroppedCheck    = "failed check: " // and its name
	DroppedNoRoom   = "no room in the block"
)

const (
	MaxDropped     = 5   // on record, of one page
	MaxDroppedText = 160 // characters of each
)

// Dropped is a sentence that was considered and is not quoted.
type Dropped struct {
	Page  int // index of its page
	Text  string
	Score float64
	Why   string
}

// drop notes a sentence that is not chosen. They come best first, so no more of a page are kept than are shown.
func (q *Question) drop(s *Sentence, why string) {
	if q.drops[s.Page]++; q.drops[s.Page] > MaxDropped {
		return
	}
	if why == DroppedBelow && s.lacksKind {
		why = DroppedKind
	}
	q.Dropped = append(q.Dropped, Dropped{s.Page, s.Marked(), s.Score, why})
}
