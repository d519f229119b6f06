package evidence

import (
	"strings"
	"testing"
)

// TestDenials checks the ways in which pages deny a sentence, and phrases that only look like denials. The sentence
// begins with "Geese", "Gänse" or "Les oies".
func TestDenials(t *testing.T) {
	for denied, pages := range map[bool][]string{
		true: {
			"## Debunked\n\nGeese can read maps.", "## False or misleading claims\n\nGeese can read maps.", "## Claims that have been debunked\n\n- Geese can read maps.",
			"## Fake news\n\nGeese can read maps.", "## Misinformation about geese\n\nGeese can read maps.", "## 10 popular myths\n\nGeese can read maps.", "## Myth #3\n\nGeese can read maps.",
			"## Myths\n\n- Geese can read maps. In fact, they can't.", "## Mitos sobre los gansos\n\n- Geese leen mapas.", "Geese leen mapas. Es un bulo.", "Geese leen mapas. Eso no es cierto.", "Bulo: Geese leen mapas.",
			"## Noticias falsas\n\nGeese leen mapas.", "Las siguientes afirmaciones son falsas:\n\n- Geese leen mapas.", "Geese leen mapas.\n\nVeredicto: Falso",
			"# False rumours spread online\n\nGeese can read maps.", "## Not true\n\nGeese can read maps.", "## Myth 4: Geese can read maps",
			"None of the following is true:\n\n- Geese can read maps.", "The following rumours are untrue:\n\n1. Geese can read maps.", "These claims are false:\n\n- Ducks fly.\n- Geese can read maps.",
			"Geese can read maps. This never happened.", "Geese can read maps. It's a hoax.", "Geese can read maps. That's false.", "Geese can read maps. This isn't true.",
			"Geese can read maps. There is no truth to this.", "Geese can read maps. This was later exposed as a hoax.", "Geese can read maps. But that is a myth.",
			"Geese can read maps. However, this turned out to be untrue.", "Geese can read maps. The rumour is unfounded.", "Geese can read maps. This is a common misconception.",
			"Geese can read maps. The story was made up by a student.", "Geese can read maps.\n\nIn fact, this is nonsense.",
			"Geese can read maps. Ducks can, too. Both claims are false.", "The following story is fake. Geese can read maps.", "What follows is a hoax.\n\nGeese can read maps.",
			"Geese can read maps.\n\nOur ruling: False", "Geese can read maps.\n\nRating: Pants on Fire!", "Geese can read maps.\n\nFALSE", "Geese can read maps.\n\nFact check: False",
			"FALSE: Geese can read maps.", "Myth: Geese can read maps. They do so at night.", "## Geese can read maps\n\nFalse. They cannot.", "Claim: Geese can read maps.\n\nVerdict: Mostly false",
			"True or false: Geese can read maps.\n\nFalse.", "| What | Fact check |\n\n| Geese can read maps. | Not true |", "| Claim | Is it true? |\n\n| Geese can read maps. | No |",
			"| Geese can read maps. | False |", "Geese can read maps. Experts call this a myth.", "Geese can read maps. Don't believe it.",
			"## Falschmeldungen\n\nGänse können lesen.", "Gänse können lesen. Das stimmt nicht.", "Gänse können lesen. Das ist frei erfunden.", "Gänse können lesen. Diese Behauptung ist falsch.",
			"Gänse können lesen. Das ist aber ein Mythos.", "Gänse können lesen. Es handelt sich um eine Falschmeldung.", "## Populäre Irrtümer\n\nGänse können lesen.", "Folgendes ist falsch:\n\n- Gänse können lesen.",
			"Gänse können lesen.\n\nUrteil: Frei erfunden", "Irrtum 2: Gänse können lesen.", "Gänse können lesen. An dem Gerücht ist nichts dran.",
			"## Fausses informations\n\nLes oies savent lire.", "Les oies savent lire. Ce n'est pas vrai.", "Les oies savent lire. C'est une légende urbaine.", "Les oies savent lire. Il s'agit d'un canular.",
			"## Les mythes les plus courants\n\nLes oies savent lire.", "Idée reçue n° 2 : Les oies savent lire.", "Les oies savent lire. L'information est fausse.", "Les oies savent lire.\n\nVerdict : Plutôt faux",
		},
		false: {
			"## False Creek\n\nGeese can read maps.", "## The lie of the land\n\nGeese live here.", "## Fake fur\n\nGeese have none.", "## False alarms\n\nGeese set off false alarms.", "## True facts about geese\n\nGeese can fly.",
			"## Myths and facts\n\nGeese can fly.", "## Fact check\n\nGeese can fly.", "## How to spot fake news\n\nGeese can fly.", "## Is it a myth?\n\nGeese can fly.", "## Greek mythology\n\nGeese were holy.",
			"Geese can fly. It is no hoax.", "Geese can fly. This is not false.", "Geese can fly. That is true.", "Geese can fly. This is a common bird.", "Geese can fly. The false gods of Rome had geese.",
			"Geese can fly. He called the story of the duck a hoax.", "Geese can fly. It was never a joke.", "Geese can fly. The claim that they swim under ice is false.", "The duck story is false. Geese can fly.",
			"Geese can fly.\n\nRating: True", "Geese can fly.\n\nVerdict: correct", "| Claim | Verdict |\n\n| Geese can fly south. | True |\n| Ducks can read. | False |", "| Option | Value |\n\n| Geese can be shown. | False |",
			"Fact: Geese can fly.", "True: Geese can fly.", "True or false: Geese can fly.\n\nTrue.", "The following birds fly:\n\n- Geese can fly.", "Geese can fly. There is no truth to the rumour that they are ill.",
			"- Myth: Ducks can read.\n- Geese can fly.", "## False claims\n\n- Ducks can read.\n\n## Facts\n\nGeese can fly.", "## Lies\n\nDucks can read.\n\n### The truth\n\nGeese can fly.",
			"# Common misconceptions\n\n- Geese are not blind.", "## Myths\n\nContrary to popular belief, Geese can see.", "## Myths about geese\n\nPeople have told stories of geese since Rome. Some wrote them down. Geese were seen on the hill in 390.",
			"## Myths\n\n- Ducks are blind. Actually, Geese and ducks see well.", "# List of common misconceptions\n\n## Birds\n\n- Geese are not blind.", "Geese vuelan. Eso es cierto.", "Geese vuelan. No es un bulo.",
			"## Myth 4: Ducks read maps\n\nGeese fly.", "## Myths about geese\n\nGeese see well at night.\n\nGeese hear well, too.", "Geese fly.\n\nNo matter what, they fly.", "## Geese fly\n\nNo deposit is required.",
			"Geese fly. I don't know if that joke makes sense.", "Geese fly. That was not the case with ducks.", "Geese fly. It's not so much a talent.", "Some geese that are not so healthy:\n\n- Geese fly.", "Geese fly. Ducks are said to do so as well, but to people in the northern county this is a myth.", "Geese fly. The shelf has both fiction and maps.", "'''\n# False claims\n'''\n\nGeese fly.",
			"## Falschparker\n\nGänse parken nicht.", "Gänse können fliegen. Das ist kein Märchen.", "Gänse können fliegen. Das ist richtig.", "## Mythen und Fakten\n\nGänse können fliegen.", "## Falsche Akazie\n\nGänse fressen sie.",
			"## Fausse route\n\nLes oies volent.", "Les oies volent. C'est vrai.", "Les oies volent. Ce n'est pas un mythe.", "## Vrai ou faux\n\nLes oies volent.\n\nVrai.", "Les oies volent. Il est faux de croire qu'elles nagent sous la glace.",
		},
	} {
		wrong := 0
		for _, text := range pages {
			p := ParseLayout(Source{Text: text})
			for i, line := range strings.Split(text, "\n") {
				for _, sentence := range p.lines[i].split() {
					if !strings.Contains(sentence, "Geese") && !strings.Contains(sentence, "Gänse") && !strings.Contains(sentence, "Les oies") {
						continue
					}
					if f := p.Framing(i, sentence); (f.Denied != "") != denied {
						t.Logf("denied by %q %q: %q in %q", f.Denied, f.Words, line, text)
						wrong++
					}
				}
			}
		}
		if wrong*20 > len(pages) {
			t.Errorf("%d of %d wrong (denied: %v)", wrong, len(pages), denied)
		}
	}
}
