package reply

import (
	"testing"

	"familiar/internal/text"
)

// Each receipt is written in every language in which orders are understood.
func TestReceiptsInAllLanguages(t *testing.T) {
	all := []sentence{
		memoryKept, memoryChanged, memoryForgotten, memoryAsks, memoryWiped, memoryUnclear, memoryOthers, memoryUnknown, memorySecret, memoryOrder,
		memoryFull, memoryUndo, YouOptedOut, CouldNotBeSaved, goodDay, birthday, lastName,
	}
	for _, code := range text.Languages() {
		for _, s := range all {
			if ordered := text.TablesOf(code).Memory.Keep != ""; ordered && code != "en" && Receipt(code, string(s)) == string(s) {
				t.Errorf("%s: %q is not translated", code, s)
			}
		}
	}
}
