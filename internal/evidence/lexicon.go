package evidence

import (
	"maps"
	"sync"

	"familiar/internal/text"
)

var lexicon = text.AllTables

func union(sets ...map[string]bool) map[string]bool {
	all := map[string]bool{}
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return all
}

// The words of headings and labels.
var (
	untrue     = text.LazySet(func() text.WordList { return lexicon().Framing.Untrue })
	claims     = text.LazySet(func() text.WordList { return lexicon().Framing.Claims })
	falsehood  = text.LazySet(func() text.WordList { return lexicon().Framing.Falsehood })
	falsehoods = text.LazySet(func() text.WordList { return lexicon().Framing.Falsehoods })
	truths     = text.LazySet(func() text.WordList { return lexicon().Framing.Truths })
	received   = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.Received) })
	notSo      = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.NotSo) })
	handling   = text.LazySet(func() text.WordList { return lexicon().Framing.Handling })

	falseLabels = sync.OnceValue(func() map[string]bool { return union(falsehood(), falseAnswers()) })
	trueLabels  = sync.OnceValue(func() map[string]bool { return union(truths(), trueAnswers()) })

	comments      = text.LazySet(func() text.WordList { return lexicon().Framing.Comments })
	commentWords  = sync.OnceValue(func() map[string]bool { return union(comments(), text.Set(lexicon().Framing.BesideComments)) })
	plots         = text.LazySet(func() text.WordList { return lexicon().Framing.Plots })
	contentsWords = text.LazySet(func() text.WordList { return lexicon().Framing.Contents })
	plotWords     = sync.OnceValue(func() map[string]bool { return union(plots(), contentsWords(), fillers()) })
	works         = text.LazySet(func() text.WordList { return lexicon().Framing.Works })
	satireNames   = sync.OnceValue(func() []string { return lexicon().Framing.Satire.Fields() })
	satireWords   = text.LazySet(func() text.WordList { return lexicon().Framing.Satire })
	sponsors      = text.LazySet(func() text.WordList { return lexicon().Framing.Sponsors })
	sponsorWords  = sync.OnceValue(func() map[string]bool { return union(sponsors(), text.Set(lexicon().Framing.BesideSponsors)) })
	pageNouns     = text.LazySet(func() text.WordList { return lexicon().Framing.PageNouns })
)

// The words of verdicts and answers.
var (
	verdictColumns = text.LazySet(func() text.WordList { return lexicon().Framing.VerdictColumns })
	falseVerdicts  = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.FalseVerdicts) })
	falseAnswers   = text.LazySet(func() text.WordList { return lexicon().Framing.FalseAnswers })
	trueAnswers    = text.LazySet(func() text.WordList { return lexicon().Framing.TrueAnswers })
	noWords        = text.LazySet(func() text.WordList { return lexicon().Framing.No })
	yesNo          = sync.OnceValue(func() map[string]bool { return union(noWords(), text.Set(lexicon().Framing.Yes)) })
	trueOrFalse    = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.TrueOrFalse) })
)

// The words of sentences that refute others.
var (
	demonstratives = text.LazySet(func() text.WordList { return lexicon().Framing.Demonstratives })
	every          = text.LazySet(func() text.WordList { return lexicon().Framing.Every })
	pronouns       = text.LazySet(func() text.WordList { return lexicon().Framing.Pronouns })
	articles       = text.LazySet(func() text.WordList { return text.AllTables().Grammar.Articles })
	complements    = text.LazySet(func() text.WordList { return lexicon().Framing.Complements })
	dismissals     = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.Dismissals) })
	sayings        = sync.OnceValue(func() map[string]bool { return union(claims(), text.Set(lexicon().Framing.Sayings)) })
	following      = text.LazySet(func() text.WordList { return lexicon().Framing.Following })
	fillers        = text.LazySet(func() text.WordList { return lexicon().Framing.Fillers })
	frameOpeners   = text.LazySet(func() text.WordList { return lexicon().Framing.Openers })
	refuted        = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.Refuted) })
	nothing        = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.Nothing) })
	affirms        = text.LazySet(func() text.WordList { return lexicon().Framing.Affirms })
	corrections    = text.LazySet(func() text.WordList { return lexicon().Framing.Corrections })
)
