package need

import (
	"cmp"
	"math"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// intents are the cues that stand for an intent by themselves, surest first where a question has several.
var (
	intentOrder = []turn.Intent{turn.IntentForum, turn.IntentImage, turn.IntentVideo, turn.IntentDocs, turn.IntentHowTo, turn.IntentPerson}
	intents     = text.Compile(map[string]string{
		string(turn.IntentForum): "reddit, subreddit, forum, forums, discussion thread, hacker news, stack overflow, people saying, people think about, users say, users think, users are saying, what do people, community think, opinions on, experiences with, erfahrungen mit, avis sur, opiniones sobre, форум",
		string(turn.IntentImage): "image, images, picture, pictures, photo, photos, photograph, wallpaper, gif, gifs, meme, memes, drawing of, painting of, screenshot, logo of, what does it look like, look like, bild von, bilder, foto, fotos, imagen, imagenes, imagem, immagini, картинка, картинки, фото, 画像, 写真, 图片, 照片, 사진",
		string(turn.IntentVideo): "video, videos, clip, clips, youtube, footage, trailer, teaser, watch online, stream of, livestream, vidéo, videos de, видео, 動画, 视频, 동영상",
		string(turn.IntentDocs):  "documentation, docs, docs for, docs of, api reference, man page, manual for, readme, changelog, release notes, stack trace, error message, error code, npm package, pip package, python library, golang package, go package, rust crate, config option, command line option, syntax of, api of, function signature, sdk, rfc, dokumentation, документация",
		string(turn.IntentHowTo): "how to, how do i, how do you, how can i, how can you, how should i, how do we, how would i, how would one, steps to, instructions for, instructions to, guide to, tutorial, teach me, recipe, recipes, help me make, help me cook, best way to, ways to, wie kann ich, wie macht man, wie mache ich, anleitung, rezept, comment faire, comment puis-je, recette, como hacer, como puedo, como fazer, receta, receita, come si fa, come posso, ricetta, как сделать, как приготовить, как можно, рецепт, やり方, 作り方, 仕方, 方法, 怎么做, 如何, 하는 법",
		string(turn.IntentPerson): "who, whom, whose, biography of, biography, bio of, how old is, how tall is, net worth of, married to, wife of, husband of, actor, actress, singer, which actor, which actress, which player, what player, which singer, which president, which author, what actor, what actress, " +
			"wer ist, wer war, wer hat, qui est, qui a, quien es, quien fue, quien, quem e, quem foi, quem, chi e, chi era, chi ha, wie is, кто такой, кто такая, кто, kto, 誰, 谁, 누구",
	})
)

// alsoFrom is the confidence from which a message is also of a kind that is not its likeliest.
const alsoFrom = 0.2

// Classify names what kinds of question it is, the one that decides first, with how sure that is, from 0 to 1. What a
// word says outright is not weighed; between the kinds that the examples know, the model decides.
func (m Models) Classify(n Need, s string, words []text.Word) []turn.ScoredIntent {
	heard := n.ruledIntents(s, words)
	if !m.speaksEnglish(s, words) {
		return heard
	}
	var plain, learned []turn.ScoredIntent // what words say that the model does not know, and what it says
	pictures := turn.IntentImage
	for _, in := range heard {
		switch in.Name {
		case turn.IntentFactCheck, turn.IntentForum, turn.IntentDocs:
			plain = append(plain, in)
		case turn.IntentVideo:
			pictures = turn.IntentVideo
		}
	}
	odds := m.Intent.Classify(n.hints(s, words))
	none := slices.Index(m.Intent.Classes(), nothing)
	ofSkies := skyward(n, s, words)
	for i, class := range m.Intent.Classes() {
		name := turn.Intent(class)
		switch {
		case name == turn.IntentWeather && !ofSkies: // "is it ok to drink …" has its form alone
			continue
		case i == none: // whether it is anything at all was asked before
			continue
		case class == media:
			name = pictures
		}
		learned = append(learned, turn.ScoredIntent{Name: name, Confidence: math.Round(100*odds[i]/(1-odds[none])) / 100})
	}
	slices.SortStableFunc(learned, func(a, b turn.ScoredIntent) int { return cmp.Compare(b.Confidence, a.Confidence) })
	for i := 1; i < len(learned); i++ {
		if learned[i].Confidence < alsoFrom {
			learned = learned[:i]
		}
	}
	if len(plain) > 0 && plain[0] == heard[0] {
		return append(plain, learned...)
	}
	return append(learned, plain...)
}

// skyward reports whether something in a text can be about the weather.
func skyward(n Need, s string, words []text.Word) bool {
	return slices.Contains(n.Topics, "weather") || len(outdoors.FindAll(s, words)) > 0
}

// ruledIntents goes by words that stand for an intent, surest first; there is always one.
func (n Need) ruledIntents(s string, words []text.Word) []turn.ScoredIntent {
	var all []turn.ScoredIntent
	add := func(name turn.Intent, confidence float64) {
		if !slices.ContainsFunc(all, func(in turn.ScoredIntent) bool { return in.Name == name }) {
			all = append(all, turn.ScoredIntent{Name: name, Confidence: confidence})
		}
	}
	if slices.Contains(n.Topics, "weather") {
		add(turn.IntentWeather, 0.95)
	}
	if n.Check {
		add(turn.IntentFactCheck, 0.88)
	}
	heard := intents.FindAll(s, words)
	for _, name := range intentOrder {
		if name == turn.IntentPerson && slices.Contains(n.Topics, "news") {
			break
		}
		for _, f := range heard {
			if f.Cue == string(name) && (name != turn.IntentPerson || f.From <= 3 || f.To-f.From > 1) && !(f.To-f.From == 1 && f.To < len(words) && words[f.From].Key == "docs") { // "google docs tables" is no reference
				add(name, 0.9)
			}
		}
	}
	if slices.Contains(n.Topics, "news") {
		add(turn.IntentNews, 0.9)
	}
	if slices.Contains(n.Topics, "version") {
		add(turn.IntentDocs, 0.7)
	}
	if len(all) == 0 {
		add(turn.IntentGeneral, 0.5)
	}
	return all
}
