package evidence

// Why a sentence that was considered as evidence is not told.
const (
	DroppedBelow  = "below the best"
	DroppedKind   = "not an answer of the kind asked"
	DroppedBare   = "nothing of the question in it"
	DroppedNoted  = "the side model's notes say enough"
	DroppedSame   = "says the same as "
	DroppedCheck  = "failed check: " // and its name
	DroppedNoRoom = "no room in the block"
)

const (
	MaxDropped     = 5   // of one page
	MaxDroppedText = 160 // characters
)

// Dropped is a sentence that was considered and not told.
type Dropped struct {
	Page  int
	Text  string
	Score float64
	Why   string
}

// drop notes a sentence that was not taken. They come best first, so no more of a page are needed than are shown.
func (q *Question) drop(s *Sentence, why string) {
	if q.drops[s.Page]++; q.drops[s.Page] > MaxDropped {
		return
	}
	if why == DroppedBelow && s.traits[traitLacks] == 1 {
		why = DroppedKind
	}
	q.Dropped = append(q.Dropped, Dropped{s.Page, s.shown(), s.Score, why})
}
