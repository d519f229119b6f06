package framing

import (
	"strings"
	"testing"

	"familiar/internal/context/turn"
)

// TestRoles: whose word the last line of a page is.
func TestRoles(t *testing.T) {
	for text, want := range map[string]turn.Role{
		"## Comments (12)\n\nGeese read.": turn.RoleComment, "## 3 comments\n\nGeese read.": turn.RoleComment, "## Customer reviews\n\nGeese read.": turn.RoleComment,
		"## Leserkommentare\n\nGänse lesen.": turn.RoleComment, "## Avis des clients\n\nLes oies lisent.": turn.RoleComment, "## Opiniones de los clientes\n\nLos gansos leen.": turn.RoleComment,
		"## Discussion\n\nGeese read.": "", "## From our readers\n\nGeese read.": "", "## Literature review\n\nGeese read.": "", "## Comments on the law of geese by Gaius\n\nGeese read.": "",
		"## Plot summary\n\nGeese read.": turn.RoleFiction, "## Plot\n\n### Part one\n\nGeese read.": turn.RoleFiction, "## Trama\n\nLas ocas leen.": turn.RoleFiction, "## Résumé de l'intrigue\n\nLes oies lisent.": turn.RoleFiction,
		"# The Goose\n\nA novel of 1931.\n\n## Summary\n\nGeese read.": turn.RoleFiction, "# The goose\n\nA bird.\n\n## Summary\n\nGeese read.": "", "# git-goose\n\n## Synopsis\n\nGeese read.": "", "'''\n› Geese read.": "", "## Plots of land\n\nGeese read.": "",
		"› Geese read.": turn.RoleQuotation, "> Geese read.": turn.RoleQuotation,
		"# Geese\n\nThis is a work of satire.\n\nGeese read.": turn.RoleSatire, "# Geese\n\nSatire\n\nGeese read.": turn.RoleSatire, "# Geese\n\nThis article praises a satire of 1720.\n\nGeese read.": "",
		"Sponsored by Zorp\n\nGeese read.": "", "Paid post\n\nGeese read.": turn.RoleSponsored, "Advertorial\n\nGeese read.\n\n## Birds\n\nGeese fly.": "", "Publirreportaje\n\nLos gansos leen.": turn.RoleSponsored,
	} {
		lines := strings.Split(text, "\n")
		p := Read(Source{Text: text})
		if f := p.At(len(lines)-1, p.lines[len(lines)-1].text); f.Role != want {
			t.Errorf("%q: %q, want %q", text, f.Role, want)
		}
	}
}
