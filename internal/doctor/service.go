package doctor

import (
	"fmt"
	"time"

	"familiar/internal/context/turn"
)

// Service is what a service said to a question, of those that the operator may choose beside the models.
type Service struct {
	ID      string // of the finding
	Model   string
	Host    string
	Setting string // what the names of its settings begin with: "EMBED"
	Does    string // "makes vectors"
	Without string // what is so as long as it does not answer, as a sentence
	Status  turn.Code
	Detail  string // what it said to a failure
	Took    time.Duration
}

// Judge says whether it does what it was chosen for.
func (s Service) Judge() Finding {
	if s.Status == turn.CodeOK {
		return Finding{ID: s.ID, State: OK, Text: fmt.Sprintf("%s at %s %s, within %s.", s.Model, s.Host, s.Does, ms(s.Took))}
	}
	return Finding{ID: s.ID, State: Failure, Text: fmt.Sprintf("%s at %s does not answer: %s. %s", s.Model, s.Host, reason(s.Status, s.Detail), s.Without), Cure: s.cure()}
}

func (s Service) cure() string {
	switch s.Status {
	case turn.CodeUnauthorized, turn.CodeBlocked:
		return fmt.Sprintf("see whether %s_API_KEY is complete, still valid, and of this server", s.Setting)
	case turn.CodeQuota, turn.CodeRateLimited:
		return fmt.Sprintf("look at the account that %s_API_KEY belongs to", s.Setting)
	case turn.CodeUnreachable, turn.CodeTimeout:
		return fmt.Sprintf("start the server there, or correct %s_BASE_URL", s.Setting)
	}
	return fmt.Sprintf("see whether %[1]s_BASE_URL is right, with its version at the end, mostly /v1, and %[1]s_MODEL a model there that %[2]s", s.Setting, s.Does)
}
