package past

import "testing"

func TestAboutOwn(t *testing.T) {
	for _, message := range []string{
		"what's my birthday?",
		"when is my birthday",
		"what's my dog's name",
		"what is my favourite colour?",
		"what was my cat called again",
		"sage, what's my cat's name?",
		"who is my favourite band",
		"wie heißt mein hund?",
		"wann ist mein geburtstag",
		"comment s'appelle mon chien ?",
		"¿cómo se llama mi gato?",
		"cuál es mi color favorito?",
		"come si chiama il mio cane?",
		"qual é o nome do meu gato",
		"como se chama minha irmã?",
		"hoe heet mijn hond?",
		"jak się nazywa mój pies?",
		"как зовут мою кошку?",
		"когда мой день рождения",
		"kedimin adı ne?",
		"私の猫の名前は何？",
		"내 강아지 이름이 뭐야?",
		"我的猫叫什么？",
	} {
		if !AboutOwn(message, []string{"Sage"}) {
			t.Errorf("%q asks for what only its author can know", message)
		}
	}
	for _, message := range []string{
		"how do i fix my samsung tv",
		"where can i renew my passport",
		"what is the best food for my cat",
		"how old is my dog in human years",
		"what's the weather in my city",
		"who won my favourite game last night",
		"what time does my flight LH123 land",
		"wie repariere ich mein fahrrad",
		"was kostet mein ticket nach berlin",
		"où puis-je renouveler mon passeport",
		"qué puedo darle de comer a mi gato",
		"как вылечить мою кошку",
		"what's wrong with my pc",
		"is my password safe",
		"my dog is called rex",
		"can my dog eat grapes?",
		"kann mein hund trauben essen",
	} {
		if AboutOwn(message, []string{"Sage"}) {
			t.Errorf("%q may be looked up", message)
		}
	}
}
