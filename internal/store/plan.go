package store

// DataKind is a kind of what is kept of a person, as they are told of it.
type DataKind string

// The kinds.
const (
	DataMessages DataKind = "messages" // what they wrote
	DataAnswers  DataKind = "answers"  // what the bot wrote to them
	DataMemories DataKind = "memories" // what is remembered of them, at their wish, or from their messages alone
	DataNames    DataKind = "names"
	DataRecords  DataKind = "records"  // of their turns
	DataQuotes   DataKind = "quotes"   // of theirs, in records of others and in what the bot wrote to them
	DataOpinions DataKind = "opinions" // of replies and of sources
	DataUsage    DataKind = "usage"
	DataSettings DataKind = "settings" // of their direct messages, and their name at what they chose for others
	DataPending  DataKind = "pending"  // what waits for an answer, or to be deleted
)

// DataKinds are all of them, in the order in which people are told.
func DataKinds() []DataKind {
	return []DataKind{DataMessages, DataAnswers, DataMemories, DataNames, DataRecords, DataQuotes, DataOpinions, DataUsage, DataSettings, DataPending}
}

// planned says what the rows of a table have of a person, and what becomes of them when the person is forgotten. Every table is in the
// plan, and a new one is a line: TestEveryTableIsInThePlan compares it with the schema.
type planned struct {
	table string
	kind  DataKind // empty: the rows are counted with those of another table
	rows  string   // condition that holds for the rows that are theirs; its parameters are those of Trail.args
	set   string   // what is changed in these rows; empty: they are deleted
	by    string   // where rows is empty: what takes care of them, or why none is anybody's
}

// The parameters are @person, their id; @who, their pseudonym; @before, @today; and @direct, the channels that they alone share with the bot.
const inDirect = ` IN (SELECT value FROM json_each(@direct))`

const withRecords = "package trace deletes it with a record"

// plan is in the order in which it is carried out, after messages and records.
var plan = []planned{
	{table: "messages", by: "Erase deletes their messages and the answers to them, and takes what they said out of other answers"},
	{table: "message_words", by: "goes with messages"},
	{table: "message_vectors", by: "goes with messages"},
	{table: "message_words_progress", by: "numbers alone"},
	{table: "claims", by: "Erase deletes those of their messages"},
	{table: "posts", by: withRecords},
	{table: "forgetting", by: "package trace empties it first"},
	{table: "people", kind: DataNames, rows: `author_id = @person AND at <= @before`},

	{table: "traces", by: "package trace deletes the records of their turns, and takes them out of others"},
	{table: "trace_messages", by: withRecords},
	{table: "trace_quotes", by: "package trace deletes it with a record, and Erase where a message was theirs"},
	{table: "trace_texts", by: withRecords},
	{table: "texts", by: withRecords + ", the last that has them"},
	{table: "open_records", by: withRecords},
	{table: "record_parts", by: withRecords},
	{table: "trace_words", by: "goes with traces"},
	{table: "trace_words_progress", by: "a number alone"},
	{table: "buttons", by: withRecords},

	{table: "memories", by: "Erase deletes what is about them or at their wish, and what rests on their messages alone"},
	{table: "memory_sources", rows: `author_id = @person`, set: `author_id = ''`}, // what is left goes with memories
	{table: "memory_words", by: "goes with memories"},
	{table: "memory_vectors", by: "goes with memories"},
	{table: "summaries", kind: DataMemories, rows: `channel_id` + inDirect}, // others go with each message that they cover
	{table: "lore", kind: DataSettings, rows: `channel_id` + inDirect},
	{table: "greetings", kind: DataSettings, rows: `channel_id` + inDirect},
	{table: "watermarks", kind: DataSettings, rows: `channel_id` + inDirect},
	{table: "tallies", by: "has no people"},
	{table: "consents", kind: DataMemories, rows: `user_id = @person`},

	{table: "feedback", kind: DataOpinions, rows: `by_id = @person`},
	{table: "opinions", kind: DataOpinions, rows: `by_id = @person`},

	// Counts of today are what quotas need: they stay, under the pseudonym.
	{table: "usage", kind: DataUsage, rows: `scope = 'person' AND id = @person AND day < @today OR scope = 'channel' AND id` + inDirect},
	{table: "usage", kind: DataUsage, rows: `scope = 'person' AND id = @person`, set: `id = @who`},
	{table: "takings", kind: DataUsage, rows: `EXISTS (SELECT 1 FROM json_each(@direct) d WHERE substr(name, -length(d.value) - 1) = '/' || d.value)`},
	{table: "takings", kind: DataUsage, rows: `substr(name, -length(@person) - 1) = '/' || @person`, set: `name = substr(name, 1, length(name) - length(@person)) || @who`},
	{table: "quotas", kind: DataUsage, rows: `EXISTS (SELECT 1 FROM json_each(@direct) d WHERE substr(name, -length(d.value) - 1) = '/' || d.value)`},

	{table: "channels", kind: DataSettings, rows: `id` + inDirect},
	{table: "conduct", kind: DataSettings, rows: `channel_id` + inDirect},
	{table: "castings", kind: DataSettings, rows: `place` + inDirect},
	{table: "castings", kind: DataSettings, rows: `by_id = @person`, set: `by_id = ''`},
	{table: "switches", kind: DataSettings, rows: `place` + inDirect},
	{table: "switches", kind: DataSettings, rows: `by_id = @person`, set: `by_id = ''`},
	{table: "changes", kind: DataSettings, rows: `by_id = @person AND guild_id = '' OR channel_id` + inDirect},
	{table: "changes", kind: DataSettings, rows: `by_id = @person`, set: `by_id = '', by_name = ''`},
	{table: "backdrops", kind: DataSettings, rows: `by_id = @person OR channel_id` + inDirect}, // its words are theirs
	{table: "notes", kind: DataSettings, rows: `EXISTS (SELECT 1 FROM json_each(@direct) d WHERE instr(key, 'told/' || d.value || '/') = 1)`},

	{table: "own_threads", by: "has no people"},
	{table: "profiles", by: "has no people"},
	{table: "webhooks", by: "has no people"},
	{table: "left_guilds", by: "has no people"},

	{table: "privacy_key", by: "of the hash alone"},
	{table: "privacy", by: "has them under the hash, so that nothing of before comes back"},
	{table: "privacy_log", by: "has them under the hash: who did what when"},
	{table: "erasures", by: "has them until they are forgotten"},
	{table: "unkept_turns", by: "ids of turns"},
}
