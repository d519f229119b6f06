package reply

import (
	"flag"
	"testing"

	"familiar/internal/test/packed"
)

var update = flag.Bool("update", false, "pack the catalogues")

func TestPacked(t *testing.T) { packed.Hold(t, "catalogues.zip", *update, "*.toml", "receipts/*.toml") }
