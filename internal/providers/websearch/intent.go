package websearch

import "slices"

// The intents of a question. Backends are chosen by them.
const (
	weather   = "weather"
	person    = "person"
	news      = "news"
	factCheck = "fact_check"
	forum     = "forum"
	image     = "image"
	video     = "video"
	docs      = "docs"
	howTo     = "howto"
	general   = "general"
)

// intents are the cues that stand for an intent by themselves, surest first where a question has several.
var (
	intentOrder = []string{forum, image, video, docs, howTo, person}
	intents     = table(map[string]string{
		forum: "reddit, subreddit, forum, forums, discussion thread, hacker news, stack overflow, people saying, people think about, users say, users think, users are saying, what do people, community think, opinions on, experiences with, erfahrungen mit, avis sur, opiniones sobre, форум",
		image: "image, images, picture, pictures, photo, photos, photograph, wallpaper, gif, gifs, meme, memes, drawing of, painting of, screenshot, logo of, what does it look like, look like, bild von, bilder, foto, fotos, imagen, imagenes, imagem, immagini, картинка, картинки, фото, 画像, 写真, 图片, 照片, 사진",
		video: "video, videos, clip, clips, youtube, footage, trailer, teaser, watch online, stream of, livestream, vidéo, videos de, видео, 動画, 视频, 동영상",
		docs:  "documentation, docs for, docs of, api reference, man page, manual for, readme, changelog, release notes, stack trace, error message, error code, npm package, pip package, python library, golang package, go package, rust crate, config option, command line option, syntax of, api of, function signature, sdk, rfc, dokumentation, документация",
		howTo: "how to, how do i, how do you, how can i, how can you, how should i, how do we, how would i, how would one, steps to, instructions for, instructions to, guide to, tutorial, teach me, recipe, recipes, help me make, help me cook, best way to, ways to, wie kann ich, wie macht man, wie mache ich, anleitung, rezept, comment faire, comment puis-je, recette, como hacer, como puedo, como fazer, receta, receita, come si fa, come posso, ricetta, как сделать, как приготовить, как можно, рецепт, やり方, 方法, 怎么做, 如何, 하는 법",
		person: "who, whom, whose, biography of, biography, bio of, how old is, how tall is, net worth of, married to, wife of, husband of, actor, actress, singer, which actor, which actress, which player, what player, which singer, which president, which author, what actor, what actress, " +
			"wer ist, wer war, wer hat, qui est, qui a, quien es, quien fue, quien, quem e, quem foi, quem, chi e, chi era, chi ha, wie is, кто такой, кто такая, кто, kto, 誰, 谁, 누구",
	})
)

// classify names what kind of question it is, and how sure that is, from 0 to 1. What a word says outright is not
// weighed; between the kinds that the examples know, the model decides.
func (n need) classify(text string, words []word) (intent string, sure float64) {
	intent, sure = n.ruledIntent(text, words)
	switch intent {
	case factCheck, forum, docs:
		return intent, sure
	}
	if !speaksEnglish(text, words) {
		return intent, sure
	}
	learned, p := n.learnedIntent(text, words)
	switch {
	case learned != media:
		return learned, p
	case intent == image || intent == video:
		return intent, p
	}
	return image, p
}

// ruledIntent goes by words that stand for an intent.
func (n need) ruledIntent(text string, words []word) (intent string, sure float64) {
	switch {
	case slices.Contains(n.topics, "weather"):
		return weather, 0.95
	case n.check:
		return factCheck, 0.88
	}
	heard := intents.in(text, words)
	for _, in := range intentOrder {
		if in == person && slices.Contains(n.topics, "news") {
			break
		}
		for _, f := range heard {
			if f.cue == in && (in != person || f.from <= 3 || f.to-f.from > 1) {
				return in, 0.9
			}
		}
	}
	if slices.Contains(n.topics, "news") {
		return news, 0.9
	}
	if slices.Contains(n.topics, "version") {
		return docs, 0.7
	}
	return general, 0.5
}
