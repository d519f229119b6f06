package memory

import "testing"

func TestBirthday(t *testing.T) {
	t.Parallel()
	for said, want := range map[string][2]int{
		"my birthday is on 3 May": {5, 3}, "My birthday is the 3rd of May, 1990": {5, 3}, "my birthday is May 3rd": {5, 3}, "my birthday's on 1990-05-03": {5, 3},
		"mein Geburtstag ist am 3. Mai": {5, 3}, "mi cumpleaños es el 3 de mayo": {5, 3}, "mon anniversaire est le 3 mai": {5, 3}, "o meu aniversário é em 3 de maio": {5, 3},
		"il mio compleanno è il 3 maggio": {5, 3}, "mijn verjaardag is op 3 mei": {5, 3}, "мой день рождения 3 мая": {5, 3},
		"私の誕生日は5月3日です": {5, 3}, "我的生日是5月3日": {5, 3}, "제 생일은 5월 3일이에요": {5, 3},
		"my birthday is 5/3": {}, "my birthday is between 3 May and 5 May": {}, "my birthday is soon": {}, "my birthday is not on 3 May": {}, "my sister's birthday is on 3 May": {}, "I met her on 3 May": {},
	} {
		month, day, ok := birthday(said)
		if got := [2]int{int(month), day}; ok != (want[1] > 0) || ok && got != want {
			t.Errorf("%q: %v, %v; want %v", said, got, ok, want)
		}
	}
}
