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

// minConfidence is the confidence from which a message has an intent beside its likeliest.
const minConfidence = 0.2

// Classify returns the intents of an utterance, the likeliest first, with confidences from 0 to 1. There is always one.
// The rules alone find some intents, from words that stand for them; between the others the model decides.
func (m Models) Classify(n Need, u Utterance) []turn.ScoredIntent {
	byRules := n.intentsByRules(u)
	if !m.speaksEnglish(u) {
		return byRules
	}
	var plain []turn.ScoredIntent // that the model does not know
	media := turn.IntentImage
	for _, in := range byRules {
		switch in.Name {
		case turn.IntentFactCheck, turn.IntentForum, turn.IntentDocs:
			plain = append(plain, in)
		case turn.IntentVideo:
			media = turn.IntentVideo
		}
	}
	byModel := m.intentsByModel(n, u, media)
	if len(plain) > 0 && plain[0] == byRules[0] {
		return append(plain, byModel...)
	}
	return append(byModel, plain...)
}

// intentsByModel returns the likeliest intent, and those that reach minConfidence. Whether the message has any was
// decided before. media is what the class of images and videos stands for.
func (m Models) intentsByModel(n Need, u Utterance, media turn.Intent) []turn.ScoredIntent {
	var all []turn.ScoredIntent
	classes, odds := m.Intent.Classes(), m.Intent.Classify(n.features(u))
	none := slices.Index(classes, classNone)
	for i, class := range classes {
		name := turn.Intent(class)
		switch {
		case i == none, name == turn.IntentWeather && !slices.Contains(n.Topics, "weather") && !u.Has(outdoors):
			continue // "is it ok to drink …" has but the form of a question about the weather
		case class == classMedia:
			name = media
		}
		all = append(all, turn.ScoredIntent{Name: name, Confidence: math.Round(100*odds[i]/(1-odds[none])) / 100})
	}
	slices.SortStableFunc(all, func(a, b turn.ScoredIntent) int { return cmp.Compare(b.Confidence, a.Confidence) })
	for len(all) > 1 && all[len(all)-1].Confidence < minConfidence {
		all = all[:len(all)-1]
	}
	return all
}

// intentsByRules returns the intents that words stand for, surest first; there is always one.
func (n Need) intentsByRules(u Utterance) []turn.ScoredIntent {
	var all []turn.ScoredIntent
	add := func(name turn.Intent, confidence float64, found bool) {
		if found {
			all = append(all, turn.ScoredIntent{Name: name, Confidence: confidence})
		}
	}
	news := slices.Contains(n.Topics, "news")
	add(turn.IntentWeather, 0.95, slices.Contains(n.Topics, "weather"))
	add(turn.IntentFactCheck, 0.88, n.Check)
	found := u.Find(intents)
	for _, name := range intentOrder {
		add(name, 0.9, !(name == turn.IntentPerson && news) && slices.ContainsFunc(found, func(f text.Match) bool {
			return f.Cue == string(name) && u.standsForIntent(name, f)
		}))
	}
	add(turn.IntentNews, 0.9, news)
	docs := slices.ContainsFunc(all, func(in turn.ScoredIntent) bool { return in.Name == turn.IntentDocs })
	add(turn.IntentDocs, 0.7, !docs && slices.Contains(n.Topics, "version"))
	add(turn.IntentGeneral, 0.5, len(all) == 0)
	return all
}

// standsForIntent reports whether a phrase stands for an intent where it was found: no "who" far behind the beginning
// does, and no "docs" before another word, as in "google docs tables".
func (u Utterance) standsForIntent(name turn.Intent, f text.Match) bool {
	if name == turn.IntentPerson && f.From > 3 && f.To-f.From <= 1 {
		return false
	}
	return f.To-f.From != 1 || f.To == len(u.Words) || u.Words[f.From].Key != "docs"
}
