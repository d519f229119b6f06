package factcheck

import (
	"strings"

	"familiar/internal/text"
)

// related are words of one field: where a claim says "born" and a page "her birthplace", they may speak of the same.
// A row is a field. A word may be of several.
var related = func() map[string][]int {
	fields := map[string][]int{}
	for i, row := range []string{
		"born birth birthplace native raised grew childhood hometown",
		"died death dead killed murdered assassinated suicide passed executed deceased killing murder",
		"married wife husband spouse marriage wed divorced divorce wedding engaged",
		"mother father parents parent son daughter child children family",
		"brother sister sibling siblings brothers sisters twin",
		"film movie films cinema motion picture screen",
		"book novel novels books written wrote writer author published author write",
		"song album single music record band recorded singer songs albums sang musical",
		"team club played player league joined signed traded season seasons career play",
		"baseball mlb pitcher batting outfielder pitching",
		"football nfl quarterback soccer",
		"won award awards prize winner winning champion championship victory medal oscar win",
		"king queen monarch throne reign emperor ruler ruled reigned crown prince kingdom empire",
		"war battle army military fought soldiers invasion troops soldier",
		"country nation state nationality countries",
		"city town capital located village municipality",
		"school university college educated education studied graduated student attended degree studying",
		"religion religious church catholic christian faith christianity",
		"money cost dollars million budget grossed box price earned revenue profit expensive paid",
		"rich wealthy poor poverty wealth",
		"founded established created started began formed founder creation founding",
		"ended retired retirement finished last final stopped end",
		"largest biggest greatest large big huge",
		"small smallest tiny little",
		"many several multiple numerous various different variety diverse",
		"first original initially earliest debut premiere",
		"old age aged years young",
		"disease illness sick cancer health medical infection",
		"american america united states usa",
		"british england english britain uk london",
		"german germany", "french france paris", "italian italy rome", "spanish spain", "russian russia soviet", "japanese japan",
		"chinese china", "indian india", "australian australia", "canadian canada", "european europe", "african africa",
		"popular famous known fame notable celebrated renowned",
		"critics reviews received criticism acclaimed critical praised",
		"law legal court judge lawyer illegal crime criminal prison arrested convicted jail",
		"president elected election government political party minister politician vote",
		"television tv series show episode broadcast aired",
		"named called known name nickname nicknamed titled title",
		"water ocean sea river lake", "food eat eating diet", "animal animals species dog",
		"increase increased grew rise rose more higher growth",
		"decrease decreased decline fell less lower fewer",
		"often usually commonly generally frequently common", "rare rarely seldom uncommon",
		"language languages speak spoken",
		"science scientist physics chemistry theory scientific",
		"job work worked employed occupation profession",
		"actor actress starred played role character cast starring acting",
		"director directed filmmaker",
		"weapon gun sword weapons", "color colour black white red blue green",
		"home house lived resided living residence moved",
		"friend friends friendship close",
		"success successful hit", "failure failed unsuccessful flop",
		"hate disliked hated opposed opposition against", "love loved liked", "support supported endorsed",
	} {
		for _, w := range strings.Fields(row) {
			fields[text.Stem(text.Fold(w), "en")] = append(fields[text.Stem(text.Fold(w), "en")], i)
		}
	}
	return fields
}()
