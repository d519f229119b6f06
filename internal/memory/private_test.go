package memory

import "testing"

// What people say of their health, belief, sex life and politics. The words are none that anybody had in mind when the tables were made.
// The bot keeps none of it by itself.
func TestPrivateUnseen(t *testing.T) {
	for _, sentence := range []string{
		"I had my appendix out in March",
		"my blood sugar is all over the place lately",
		"I'm on antidepressants since last year",
		"I go to mass every Sunday",
		"I'm a practising Buddhist",
		"I came out to my parents last summer",
		"my boyfriend and I are both guys",
		"I voted green last time",
		"I'm a member of the union party",
		"I wear a hijab",
		"I had a miscarriage",
		"I use a wheelchair",
		"I'm hiv positive",
		"I take insulin",
		"my therapist says I'm doing better",
		"I fast during Ramadan",
		"I'm trans",
		"I canvass for the Tories",
		"I hate the current president's policies",
		"ich hatte letztes Jahr einen Bandscheibenvorfall",
		"ich nehme Tabletten gegen Depressionen",
		"ich bin aus der Kirche ausgetreten",
		"ich wähle seit Jahren die Grünen",
		"ich bin lesbisch",
		"ich mache gerade eine Chemo",
		"j'ai fait une fausse couche",
		"je suis sous traitement pour l'épilepsie",
		"je vais à la mosquée le vendredi",
		"je vote à gauche",
		"soy bisexual",
		"tomo pastillas para la ansiedad",
		"voy a misa los domingos",
		"voto al PSOE",
		"sono diabetico",
		"vado in chiesa ogni domenica",
		"sou evangélico",
		"tomo remédio para pressão",
		"ik ben depressief geweest",
		"ik stem op D66",
		"jestem wierzący",
		"leczę się na depresję",
		"я хожу в церковь по воскресеньям",
		"у меня диабет",
		"я голосую за оппозицию",
		"namaz kılıyorum",
		"şeker hastasıyım",
		"うつ病の薬を飲んでいます",
		"私はゲイです",
		"우울증 약을 먹고 있어요",
		"저는 기독교인이에요",
		"我有糖尿病",
		"我是同性恋",
		"我信佛教",
		"I moved to Leeds after my breakdown",
		"I play guitar in the worship group",
		"my cat helps with my low moods",
		"nach der OP fahre ich wieder Fahrrad",
		"I have an appointment about the thing on my neck",
	} {
		if refused := fit(sentence, nil); refused == "" {
			t.Errorf("%q is kept", sentence)
		}
	}
}
