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
	untrue     = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Untrue) })
	claims     = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Claims) })
	falsehood  = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Falsehood) })
	falsehoods = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Falsehoods) })
	truths     = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Truths) })
	received   = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.Received) })
	notSo      = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.NotSo) })
	handling   = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Handling) })

	falseLabels = sync.OnceValue(func() map[string]bool { return union(falsehood(), falseAnswers()) })
	trueLabels  = sync.OnceValue(func() map[string]bool { return union(truths(), trueAnswers()) })

	comments      = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Comments) })
	commentWords  = sync.OnceValue(func() map[string]bool { return union(comments(), text.Set(lexicon().Framing.BesideComments)) })
	plots         = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Plots) })
	contentsWords = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Contents) })
	plotWords     = sync.OnceValue(func() map[string]bool { return union(plots(), contentsWords(), fillers()) })
	works         = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Works) })
	satireNames   = sync.OnceValue(func() []string { return lexicon().Framing.Satire.Fields() })
	satireWords   = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Satire) })
	sponsors      = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Sponsors) })
	sponsorWords  = sync.OnceValue(func() map[string]bool { return union(sponsors(), text.Set(lexicon().Framing.BesideSponsors)) })
	pageNouns     = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.PageNouns) })
)

// The words of verdicts and answers.
var (
	verdictColumns = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.VerdictColumns) })
	falseVerdicts  = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.FalseVerdicts) })
	falseAnswers   = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.FalseAnswers) })
	trueAnswers    = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.TrueAnswers) })
	noWords        = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.No) })
	yesNo          = sync.OnceValue(func() map[string]bool { return union(noWords(), text.Set(lexicon().Framing.Yes)) })
	trueOrFalse    = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.TrueOrFalse) })
)

// The words of sentences that refute others.
var (
	demonstratives = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Demonstratives) })
	every          = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Every) })
	pronouns       = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Pronouns) })
	articles       = sync.OnceValue(func() map[string]bool { return text.Set(text.AllTables().Grammar.Articles) })
	complements    = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Complements) })
	dismissals     = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.Dismissals) })
	sayings        = sync.OnceValue(func() map[string]bool { return union(claims(), text.Set(lexicon().Framing.Sayings)) })
	following      = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Following) })
	fillers        = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Fillers) })
	frameOpeners   = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Openers) })
	refuted        = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.Refuted) })
	nothing        = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.Nothing) })
	affirms        = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Affirms) })
	corrections    = sync.OnceValue(func() map[string]bool { return text.Set(lexicon().Framing.Corrections) })
)
