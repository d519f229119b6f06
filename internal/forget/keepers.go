package forget

import "familiar/internal/store"

// Kind is a kind of what is kept of a person, as people are told about it.
type Kind string

const (
	KindMessages Kind = "messages" // that they wrote
	KindAnswers  Kind = "answers"  // that the bot wrote to them
	KindMemories Kind = "memories" // about them, at their request, or from their messages alone
	KindNames    Kind = "names"
	KindRecords  Kind = "records"  // of their turns
	KindQuotes   Kind = "quotes"   // of them, in records of others and in what the bot wrote to others
	KindOpinions Kind = "opinions" // on replies and sources
	KindUsage    Kind = "usage"
	KindSettings Kind = "settings" // of their direct messages, and their name at settings that they chose for others
	KindPending  Kind = "pending"  // waits for an answer, or to be deleted
)

// Kinds returns all kinds in the order in which people are told about them.
func Kinds() []Kind {
	return []Kind{KindMessages, KindAnswers, KindMemories, KindNames, KindRecords, KindQuotes, KindOpinions, KindUsage, KindSettings, KindPending}
}

// inServer deletes the rows of a server.
var inServer = rules{remove(`guild_id = @server`)}

const (
	endsWithDirect = `substr(name, length(name) - length(@direct)) = '/' || @direct`
	endsWithPerson = `substr(name, length(name) - length(@person)) = '/' || @person`
)

// repeated is what was counted of a person who was forgotten on the same day before. counted is a row whose pseudonym has one of its own: a
// turn may end meanwhile.
const (
	repeated = `scope = 'person' AND id = @who AND EXISTS
	(SELECT 1 FROM usage u WHERE u.scope = 'person' AND u.id = @person AND u.day = usage.day AND u.guild_id = usage.guild_id)`
	counted = `EXISTS (SELECT 1 FROM usage u WHERE u.scope = 'person' AND u.id = @who AND u.day = usage.day AND u.guild_id = usage.guild_id)`
)

// keepers is the list of everything that is kept, in the order of the walk. Records go first, because a person's answers are found by their
// turns. Summaries and answers go before the messages that they come from.
func (f *Forgetter) keepers() []keeper {
	db, traces := f.Traces.DB, f.Traces
	return []keeper{
		// Records.
		{table: "traces", kind: KindRecords, people: "author question said err record", other: "id channel_id guild_id phase lookup model character_id cost began part parts seen tokens took", optedOut: hashed,
			message: rules{do(f.redactMessages)}, person: rules{found(KindRecords, f.eraseRecords)}, server: rules{do(inGuild(traces.DeleteGuild))}, old: age(Records, traces.Prune)},
		{table: "traces", kind: KindQuotes, person: rules{do(f.redactPerson)}},
		{table: "trace_messages", other: "message_id trace_id", person: with("traces"), server: with("traces")},
		{table: "trace_quotes", other: "message_id trace_id", person: with("traces and messages"), server: with("traces")},
		{table: "trace_texts", other: "trace_id n text_id", person: with("traces"), server: with("traces")},
		{table: "texts", people: "body", other: "sum id", optedOut: nothing, message: with("traces"), person: with("traces"), server: with("traces"), old: with("traces")},
		{table: "open_records", people: "body", other: "trace_id", optedOut: nothing, message: with("traces"), person: with("traces"), server: with("traces"), old: with("traces")},
		{table: "record_parts", people: "body", other: "id", optedOut: nothing, message: with("traces"), person: with("traces"), server: with("traces"), old: with("traces")},
		{table: "trace_words", people: "question author said", optedOut: nothing, message: with("traces"), person: with("traces"), server: with("traces"), old: with("traces")},
		{table: "trace_words_progress", other: "done"},
		{table: "buttons", other: "key turn_id kind", person: with("traces"), server: with("traces")},
		{table: "opinions", key: "turn_id, by_id, verdict", kind: KindOpinions, people: "by_id", other: "turn_id guild_id verdict at", who: []string{"by_id"}, optedOut: nothing,
			person: rules{remove(`by_id = @person`)}, server: inServer, old: with("traces")},
		{table: "forgetting", kind: KindPending, people: "text", other: "message_id channel_id at", optedOut: nothing,
			message: rules{do(f.endDeletion)}, person: rules{do(f.countDeletions)}, server: because("is empty as soon as the records were gone through")},

		// Messages and what was learned from them.
		{table: "summaries", key: "channel_id", kind: KindMemories, people: "sentences", other: "channel_id guild_id last_id maker first_at last_at made messages", optedOut: nothing,
			message: with("messages"), person: rules{remove(`channel_id = @direct`), do(f.countSummaries)}, server: inServer, old: age(Messages, f.Traces.DB.Summaries.Prune)},
		{table: "messages", kind: KindAnswers, person: rules{found(KindAnswers, f.eraseAnswers)}},
		{table: "messages", kind: KindQuotes, person: rules{do(f.eraseQuotes)}},
		{table: "messages", kind: KindMessages, people: "author_id author_name text note", other: "id channel_id guild_id reply_to turn_id at own",
			who: []string{`CASE WHEN own THEN '' ELSE author_id END`}, optedOut: nothing,
			message: because("was deleted, and noted in forgetting, before the walk"), person: rules{found(KindMessages, f.eraseMessages)},
			server: rules{do(inGuild(db.Messages.DeleteGuild))}, old: age(Messages, db.Messages.Prune)},
		{table: "message_words", people: "words tags", optedOut: nothing, message: with("messages"), person: with("messages"), server: with("messages"), old: with("messages")},
		{table: "message_words_progress", other: "made due"},
		{table: "message_vectors", people: "vector", other: "place model message_id channel_id at", optedOut: nothing,
			message: with("messages"), person: with("messages"), server: with("messages"), old: with("messages")},
		{table: "memories", kind: KindMemories, people: "subject text folded by_id author_id", other: "kind scope scope_id guild_id trace_id id learned_at pinned said_at superseded supersedes",
			who: []string{"by_id", "author_id", `CASE WHEN kind = 'person' THEN subject ELSE '' END`}, optedOut: nothing,
			message: with("messages"), person: rules{found(KindMemories, f.eraseMemories)}, server: rules{do(inGuild(f.Memories.DeleteGuild))}, old: age(Memories, f.Memories.Prune)},
		{table: "memory_sources", key: "memory_id, message_id", people: "author_id", other: "message_id memory_id", who: []string{"author_id"}, optedOut: nothing,
			message: with("messages"), person: rules{change(`author_id = @person`, `author_id = ''`)}, server: with("memories"), old: with("memories")},
		{table: "memory_words", people: "words", optedOut: nothing, message: with("memories"), person: with("memories"), server: with("memories"), old: with("memories")},
		{table: "memory_vectors", people: "vector", other: "model memory_id", optedOut: nothing, message: with("memories"), person: with("memories"), server: with("memories"), old: with("memories")},
		{table: "undos", key: "turn_id", kind: KindPending, people: "person_id changes", other: "turn_id guild_id at due everything", who: []string{"person_id"}, optedOut: nothing,
			message: because("is deleted within a day, and brings nothing back whose message is gone"), person: rules{remove(`person_id = @person AND at <= @before`)}, server: inServer},
		{table: "cards", key: "person_id, field", kind: KindSettings, people: "person_id value", other: "field at", who: []string{"person_id"}, optedOut: nothing,
			message: because("is changed under /memory"), person: rules{remove(`person_id = @person AND at <= @before`)}, server: because("is of all servers")},
		{table: "reminders", key: "id", kind: KindMemories, people: "person_id text", other: "guild_id channel_id message_id language zone at begun id made", who: []string{"person_id"}, optedOut: nothing,
			message: with("messages"), person: rules{remove(`person_id = @person AND made <= @before`)}, server: inServer},
		{table: "consents", key: "user_id", kind: KindMemories, people: "user_id", other: "at", who: []string{"user_id"}, optedOut: nothing,
			person: rules{remove(`user_id = @person`)}, server: because("is given for all servers")},
		{table: "watermarks", key: "channel_id", kind: KindSettings, other: "channel_id guild_id message_id active at failures retry turns", person: rules{remove(`channel_id = @direct`)}, server: inServer},
		{table: "tallies", other: "name n"},

		// Events and posts.
		{table: "claims", key: "event_id", kind: KindPending, people: "event", other: "event_id state turn_id at", optedOut: nothing,
			message: because("the bot closes it when it withdraws the turn"), person: rules{do(f.eraseEvents)}, server: because("the bot closes it when it withdraws the turn"), old: older(Answered, `at < @limit`)},
		{table: "posts", key: "turn_id, n", people: "text", other: "turn_id message_id n", optedOut: nothing, message: with("traces"), person: with("traces and messages"), server: with("traces"),
			old: older(Answered, `NOT EXISTS (SELECT 1 FROM traces t WHERE t.id = posts.turn_id AND t.began >= @limit)`)},

		// Names, opinions and usage. Quotas need the counts of today: they stay, under the pseudonym.
		{table: "people", key: "guild_id, author_id", kind: KindNames, people: "author_id name", other: "guild_id at", who: []string{"author_id"}, optedOut: nothing,
			person: rules{remove(`author_id = @person AND at <= @before`)}, server: inServer, old: age(Names, db.People.Prune)},
		{table: "feedback", key: "character, guild_id, domain, by_id", kind: KindOpinions, people: "by_id", other: "character domain verdict url guild_id at", who: []string{"by_id"}, optedOut: nothing,
			person: rules{remove(`by_id = @person`)}, server: inServer, old: older(Feedback, `at < @limit`)},
		{table: "usage", key: "day, scope, id, guild_id", kind: KindUsage, people: "id", other: "day scope guild_id cost lookups tokens told turns", who: []string{`CASE WHEN scope = 'person' THEN id ELSE '' END`}, optedOut: hashed,
			person: rules{remove(`scope = 'person' AND id = @person AND day < @today`), remove(`scope = 'channel' AND id = @direct`), remove(repeated),
				change(`scope = 'person' AND id = @person AND NOT `+counted, `id = @who`), remove(`scope = 'person' AND id = @person AND ` + counted)},
			server: inServer, old: older(Usage, `day < @limitday`)},
		{table: "takings", key: "name, until", kind: KindUsage, people: "name", other: "until", optedOut: hashed,
			person: rules{remove(endsWithDirect), change(endsWithPerson, `name = substr(name, 1, length(name) - length(@person)) || @who`)}, server: because("is freed within a day")},
		{table: "quotas", key: "name", kind: KindUsage, people: "name", other: "period used", optedOut: hashed, person: rules{remove(endsWithDirect)}, server: because("is of all servers together")},

		// Settings.
		{table: "channels", key: "id", kind: KindSettings, other: "id mode guild_id buttons_off web_off", person: rules{remove(`id = @direct`)}, server: inServer},
		{table: "conduct", key: "channel_id", kind: KindSettings, other: "channel_id guild_id pictures chatty greets posts subscribed threads", person: rules{remove(`channel_id = @direct`)}, server: inServer},
		{table: "lore", key: "channel_id, character, entry", kind: KindSettings, other: "channel_id guild_id character entry turn_id first_turn at", person: rules{remove(`channel_id = @direct`)}, server: inServer},
		{table: "greetings", key: "channel_id, character", kind: KindSettings, other: "channel_id guild_id character number", person: rules{remove(`channel_id = @direct`)}, server: inServer},
		{table: "castings", key: "place", kind: KindSettings, people: "by_id", other: "place guild_id characters at", who: []string{"by_id"}, optedOut: unsigned,
			person: rules{remove(`place = @direct`), change(`by_id = @person`, `by_id = ''`)}, server: inServer},
		{table: "switches", key: "place, kind", kind: KindSettings, people: "by_id", other: "place kind guild_id at", who: []string{"by_id"}, optedOut: unsigned,
			person: rules{remove(`place = @direct`), change(`by_id = @person`, `by_id = ''`)}, server: inServer},
		{table: "changes", key: "id", kind: KindSettings, people: "by_id by_name", other: "guild_id channel_id kind was became at id", who: []string{"by_id"}, optedOut: unsigned,
			person: rules{remove(`by_id = @person AND guild_id = ''`), remove(`channel_id = @direct AND NOT (by_id = @person AND guild_id = '')`), change(`by_id = @person`, `by_id = '', by_name = ''`)},
			server: inServer, old: older(Changes, `at < @limit`)},
		{table: "backdrops", key: "channel_id", kind: KindSettings, people: "text by_id by_name", other: "channel_id guild_id at", who: []string{"by_id"}, optedOut: unsigned,
			person: rules{remove(`by_id = @person`), remove(`channel_id = @direct AND by_id <> @person`)}, server: inServer},
		{table: "notes", key: "key", kind: KindSettings, other: "key value", person: rules{remove(`instr(key, 'told/' || @direct || '/') = 1`)}, server: rules{remove(`key = '` + store.ServerNote + `' || @server`)}},
		{table: "own_threads", key: "thread_id", other: "thread_id guild_id at quiet", server: inServer},
		{table: "profiles", key: "guild_id", other: "guild_id profile", server: inServer},
		{table: "webhooks", key: "channel_id", other: "channel_id guild_id id token", server: inServer},

		// What people decided about their data. It names them by a keyed hash, so that it can outlast them.
		{table: "privacy_key", other: "key"},
		{table: "privacy", people: "who", other: "forgotten opted_out", optedOut: asIs, person: because("keeps what was written before from coming back"), server: because("is of all servers")},
		{table: "privacy_log", people: "who", other: "act at by_operator", optedOut: asIs, person: because("proves what was done"), server: because("is of all servers")},
		{table: "erasures", people: "person_id", other: "at by_operator", optedOut: asIs, person: because("goes when the walk is done"), server: because("is of all servers")},
		{table: "unkept_turns", key: "turn_id", other: "turn_id at", old: older(Unkept, `at < @limit`)},
		{table: "left_guilds", key: "guild_id", other: "guild_id at", server: inServer},

		// Of PostgreSQL alone: what the processes that share a bot tell each other. People are pseudonyms there.
		{table: "holdings", onServer: true, people: "person channel", other: "process id guild turns lookups tokens cost until", optedOut: hashed,
			person: because("ends with the turn"), server: because("ends with the turn")},
		{table: "rates", onServer: true, people: "name", other: "times until", optedOut: hashed, person: because("is over within a minute"), server: because("is of all servers together")},
		{table: "processes", onServer: true, other: "id host version began until"},
		{table: "shards", onServer: true, other: "number total holder fence until session seen since"},
		{table: "finishing", onServer: true, other: "shard fence holder until work"},
		{table: "starts", onServer: true, other: "bucket at budget"},
		{table: "beside", onServer: true, other: "writes"},

		// Outside the database.
		{table: "caches", person: rules{do(f.emptyCaches)}},
	}
}
