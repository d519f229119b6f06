package evidence

import (
	"maps"

	"familiar/internal/text"
)

var lexicon = text.AllTables().Framing

func union(sets ...map[string]bool) map[string]bool {
	all := map[string]bool{}
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return all
}

// The words of headings and labels.
var (
	untrue     = text.Set(lexicon.Untrue)
	claims     = text.Set(lexicon.Claims)
	falsehood  = text.Set(lexicon.Falsehood)
	falsehoods = text.Set(lexicon.Falsehoods)
	truths     = text.Set(lexicon.Truths)
	received   = text.CompileOne(lexicon.Received)
	notSo      = text.CompileOne(lexicon.NotSo)
	handling   = text.Set(lexicon.Handling)

	falseLabels = union(falsehood, falseAnswers)
	trueLabels  = union(truths, trueAnswers)

	comments      = text.Set(lexicon.Comments)
	commentWords  = union(comments, text.Set(lexicon.BesideComments))
	plots         = text.Set(lexicon.Plots)
	contentsWords = text.Set(lexicon.Contents)
	plotWords     = union(plots, contentsWords, fillers)
	works         = text.Set(lexicon.Works)
	satireNames   = lexicon.Satire.Fields()
	satireWords   = text.Set(lexicon.Satire)
	sponsors      = text.Set(lexicon.Sponsors)
	sponsorWords  = union(sponsors, text.Set(lexicon.BesideSponsors))
	pageNouns     = text.Set(lexicon.PageNouns)
)

// The words of verdicts and answers.
var (
	verdictColumns = text.Set(lexicon.VerdictColumns)
	falseVerdicts  = text.CompileOne(lexicon.FalseVerdicts)
	falseAnswers   = text.Set(lexicon.FalseAnswers)
	trueAnswers    = text.Set(lexicon.TrueAnswers)
	noWords        = text.Set(lexicon.No)
	yesNo          = union(noWords, text.Set(lexicon.Yes))
	trueOrFalse    = text.CompileOne(lexicon.TrueOrFalse)
)

// The words of sentences that refute others.
var (
	demonstratives = text.Set(lexicon.Demonstratives)
	every          = text.Set(lexicon.Every)
	pronouns       = text.Set(lexicon.Pronouns)
	articles       = text.Set(text.AllTables().Grammar.Articles)
	complements    = text.Set(lexicon.Complements)
	dismissals     = text.CompileOne(lexicon.Dismissals)
	sayings        = union(claims, text.Set(lexicon.Sayings))
	following      = text.Set(lexicon.Following)
	fillers        = text.Set(lexicon.Fillers)
	frameOpeners   = text.Set(lexicon.Openers)
	refuted        = text.CompileOne(lexicon.Refuted)
	nothing        = text.CompileOne(lexicon.Nothing)
	affirms        = text.Set(lexicon.Affirms)
	corrections    = text.Set(lexicon.Corrections)
)
