package clean

import (
	"regexp"
)

// orderly tells sentences that speak to a machine rather than to a reader. It is no defence, for any wording
// that it does not know passes: it keeps the crudest noise out of a block that is safe without it, and says in the
// record that a page tried. What it looks for is an order about orders, so that a text about a system prompt, or one
// that asks to ignore an e-mail, is none.
var orderly = regexp.MustCompile(`(?i)` +
	`\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules|guidelines|directions|directives|context|assignments?|tasks?)\b` +
	`|\b(?:forget|ignore|disregard)\b (?:about )?(?:all|everything|anything)\b(?: (?:that|of that|you|i|we|said|stated|written|that was|from))*(?: (?:was|were))? ?\b(?:before|above|previous|prior|told|said|learned|know)` +
	`|\bforget (?:about )?(?:all|everything)(?: (?:before|above|that|and)\b|\s*[.!,]|$)` +
	`|\b(?:vergiss|vergessen sie|ignoriere?n?(?: sie)?)\b[^.\n]{0,40}\b(?:alles|anweisung(?:en)?|aufgaben?|bisherigen?|vorherigen?|obigen?|zuvor|davor)\b` +
	`|\b(?:oubliez?|ignorez?)\b[^.\n]{0,30}\binstructions?\b|\b(?:olvida|ignora)\b[^.\n]{0,30}\binstrucciones\b` +
	`|\byou are now\b|\bfrom now on,? you\b|\byou will (?:now )?(?:be called|act as|pretend)\b|\b(?:act|behave|respond|answer) as (?:if you (?:are|were)|an? (?:ai|llm|language model|dan|unfiltered|interpreter|linux|python))\b` +
	`|\bi want you to act as\b|\bpretend (?:that )?(?:you are|to be)\b|\b(?:dan|developer|jailbreak|god) mode\b|\bdo anything now\b` +
	`|\bas an? (?:ai|llm|language model|assistant)\b|\bif you are an? (?:ai|llm|language model|assistant)\b` +
	`|\b(?:print|show|reveal|repeat|output|display|tell me|give me|leak)\b[^.\n]{0,40}\b(?:your|the|all|above|these|previous|initial|hidden|system)\b[^.\n]{0,20}\b(?:instructions?|system prompt|prompt(?:s| texts?)?|secrets?)\b` +
	`|\bdo not (?:tell|inform|mention)\b[^.\n]{0,30}\buser\b|\b(?:your )?new (?:instructions?|task) (?:is|are)\b|\bnew instructions?\b|\bnow new tasks follow\b` +
	`|\binstructions? (?:for|to) (?:the |all )?(?:ai|llm|assistant|model|bot)s?\b` +
	`|^\s*(?:stop\b[\s:-]*|now )(?:write|print|say|tell)\b`)

// Orders reports whether a text looks like orders to a machine. It is a hint for the record and alters no text.
func Orders(text string) bool { return orderly.MatchString(text) }
