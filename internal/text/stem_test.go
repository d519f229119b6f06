package text

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"testing"
)

// families are forms of the same word, by language.
var families = map[string][]string{
	"en": {"house houses", "decide decided deciding", "city cities", "run running"},
	"de": {
		"Haus Häuser Häusern Hauses", "Kind Kinder Kindern Kindes", "Katze Katzen", "Buch Bücher Büchern", "Stadt Städte Städten", "spielen spielt spielte spielten", "Wohnung Wohnungen",
		"schön schöne schöner schönes schönem schönen", "Freund Freunde Freunden", "arbeiten arbeitet arbeitete Arbeit", "Hund Hunde Hunden Hundes", "Projekt Projekte Projekten", "Urlaub Urlaube", "leben lebt lebte",
		"Lehrer Lehrern Lehrers", "Termin Termine Terminen", "Auto Autos", "Arzt Ärzte Ärzten", "kochen kocht kochte", "Gast Gäste Gästen",
	},
	"fr": {
		"maison maisons", "cheval chevaux", "manger mange mangé mangeons mangent", "petit petite petits petites", "grand grande grandes", "chat chats", "parler parle parlait parlé parlez", "travail travaux",
		"national nationale nationaux", "voiture voitures", "décider décidé décident décidée", "beau beaux", "finir finit finissent fini", "ville villes", "bateau bateaux",
	},
	"es": {
		"casa casas", "gato gatos gata gatas", "hablar habla hablamos hablaron hablando", "ciudad ciudades", "rojo roja rojos rojas", "decidir decide decidimos decidió decidido", "perro perros", "comer come comemos comido comiendo",
		"reunión reuniones", "libro libros", "amigo amiga amigos", "trabajar trabaja trabajamos trabajé", "feliz felices",
	},
	"it": {
		"casa case", "gatto gatti gatta gatte", "parlare parla parliamo parlato parlando", "città", "libro libri", "rosso rossa rossi rosse", "amico amici amica amiche", "mangiare mangia mangiato mangiamo",
		"ragazzo ragazzi ragazza ragazze", "stazione stazioni", "riunione riunioni", "dormire dorme dormito", "cane cani",
	},
	"pt": {
		"casa casas", "gato gatos gata gatas", "falar fala falamos falaram falando", "cidade cidades", "livro livros", "reunião reuniões", "animal animais", "decidir decide decidimos decidiu decidido", "trabalhar trabalha trabalhou trabalhei",
		"comer come comemos comeu", "amigo amiga amigos amigas",
	},
	"nl": {
		"huis huizen", "boek boeken", "kat katten", "werken werkt werkte", "groot grote", "stad", "hond honden", "vriend vrienden", "kinderen kind", "vergadering vergaderingen", "mooi mooie",
	},
	"pl": {
		"dom domu domy domów domem domach", "kot kota koty kotów kotem", "książka książki książkę", "miasto miasta miastach miastem", "nowy nowa nowe nowego nowej nowym", "spotkanie spotkania spotkaniu", "szkoła szkoły szkole szkołę",
		"samochód samochody samochodu", "kupić kupił kupiła kupili",
	},
	"tr": {
		"ev evler evde evden evim evimiz evlerimizden", "kitap kitaplar kitabı kitabım kitapta", "araba arabalar arabada arabam arabamız", "okul okula okulda okullar okulumuz", "kedi kediler kedim kedinin", "toplantı toplantılar toplantıda toplantıya", "iş işler işte işim",
		"gitmek gitti gidiyor gidiyorum gidecek", "almak alıyor alacak", "şehir şehirler şehirde", "oda odalar odasında", "göz gözler",
	},
	"ru": {
		"книга книги книгу книге книгой", "дом дома домов домом домах", "новый новая новое нового новой новым новые", "кошка кошки кошку кошкой", "город города городов городе", "собака собаки собаку собакой", "решить решил решила решили",
		"работать работает работал работали", "встреча встречи встречу встрече", "красивый красивая красивой", "машина машины машину машиной",
	},
	"uk": {"книга книги книгу", "новий нова нове нового", "кішка кішки кішку", "місто міста місті", "машина машини машину"},
	"sv": {"hus huset husen", "bil bilar bilen bilarna", "katt katter katten katterna", "bok boken", "hund hundar hunden", "stad staden"},
}

// strangers are unrelated words, by language.
var strangers = map[string]string{
	"de": "Haus Maus Hals Kind Kino Buch Bach Katze Kasse Hund Hand Stadt Start Auto Autor", "fr": "maison main cheval chemin chat chute ville vie", "es": "casa cosa gato gente perro perla",
	"it": "casa cosa gatto gente libro labbro cane carne", "pt": "casa coisa gato gente livro livraria cidade cinema", "nl": "huis haas kat kast boek boot", "pl": "dom dym kot koc książka księżyc",
	"tr": "ev av kitap kalem araba arkadaş okul okur kedi kadın", "ru": "книга кино дом дым кошка каша город горло", "uk": "книга кіно місто мусить", "sv": "hus hals bil bild katt karta",
}

// The forms of a word share a stem, and different words do not.
func TestFamilies(t *testing.T) {
	for language, all := range families {
		for _, family := range all {
			forms := strings.Fields(family)
			for _, form := range forms[1:] {
				if a, b := Stem(Fold(forms[0]), language), Stem(Fold(form), language); a != b {
					t.Errorf("%s: %s of %s, %s of %s", language, a, forms[0], b, form)
				}
			}
		}
		of := map[string]string{}
		for _, w := range strings.Fields(strangers[language]) {
			stem := Stem(Fold(w), language)
			if of[stem] != "" {
				t.Errorf("%s: %s of %s and of %s", language, stem, of[stem], w)
			}
			of[stem] = w
		}
	}
}

// TestIndexForm checks that the form of an index names the present endings.
func TestIndexForm(t *testing.T) {
	h := fnv.New64a()
	for _, code := range stemmed() {
		fmt.Fprintln(h, code, TablesOf(code).Stem)
	}
	if mark := strconv.FormatUint(h.Sum64(), 36); !strings.HasSuffix(IndexForm, " "+mark) {
		t.Errorf("the endings have changed: write %q into IndexForm in place of %q", mark, IndexForm)
	}
}
