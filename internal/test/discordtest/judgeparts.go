package discordtest

import "strings"

// Components that this bot sends. Those of other kinds are refused: their rules are to be added when one is sent.
// https://docs.discord.com/developers/components/reference
const (
	actionRow   = 1
	button      = 2
	textInput   = 4
	textDisplay = 10
	fileShown   = 13
	separator   = 14
	container   = 17
	label       = 18
)

// componentsV2 is the flag of a message whose text is in components. It cannot be removed later.
const componentsV2 = 1 << 15

// Limits of a message of components.
const (
	maxComponents = 40   // including nested ones
	maxShown      = 4000 // of all text together
)

func (p part) kind() int {
	n, _ := p.key("type").value.(float64)
	return int(n)
}

// unknown complains about a component that may not be here.
func (p part) unknown(allowed ...int) {
	p.key("type").wrong("UNION_TYPE_CHOICES", "Value of field \"type\" must be one of %v.", allowed)
}

// rows judges the components of a message without version 2: at most five rows.
func (p part) rows() {
	ids := map[string]bool{}
	for _, row := range p.key("components").list(0, 5) {
		if row.kind() != actionRow {
			row.unknown(actionRow)
			continue
		}
		row.row(ids)
	}
}

// row judges a row of one to five buttons.
func (p part) row(ids map[string]bool) (count int) {
	all := p.key("components").list(1, 5)
	for _, b := range all {
		if b.kind() != button {
			b.unknown(button)
			continue
		}
		b.button(ids)
	}
	return len(all)
}

func (p part) button(ids map[string]bool) {
	least := 0
	if p.key("emoji").value == nil {
		least = 1
	}
	p.key("label").text(least, 80)
	const link = 5
	switch style := p.key("style").number(1, link, false); {
	case style == link:
		p.key("url").address(512, "http", "https", "discord")
		if p.key("custom_id").value != nil {
			p.wrong("BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified")
		}
	default:
		p.id(ids)
		if p.key("url").value != nil {
			p.wrong("BUTTON_COMPONENT_INVALID_URL", "Only a link has a url")
		}
	}
}

func (p part) id(ids map[string]bool) {
	id := p.key("custom_id")
	id.once(ids, id.text(1, 100), "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
}

// shown judges a message of version 2.
func (p part) shown(c *call) {
	for _, old := range []string{"content", "embeds", "poll", "sticker_ids"} {
		if p.key(old).value != nil {
			p.key(old).wrong("MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "The '%s' field cannot be used when using MessageFlags.IS_COMPONENTS_V2", old)
		}
	}
	all := p.key("components").list(0, maxComponents)
	count, length := 0, 0
	ids := map[string]bool{}
	for _, each := range all {
		n, text := each.component(c, ids, false)
		count, length = count+n, length+text
	}
	if count > maxComponents {
		p.key("components").wrong("COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", "The total number of components exceeds %d", maxComponents)
	}
	if length > maxShown {
		p.key("components").wrong("COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", "The total size of displayable text exceeds %d", maxShown)
	}
}

// component judges a component of version 2. It returns how many it is, with those in it, and how much text they show.
func (p part) component(c *call, ids map[string]bool, inner bool) (count, text int) {
	count = 1
	switch p.kind() {
	case actionRow:
		return count + p.row(ids), 0
	case textDisplay:
		return count, units(p.key("content").text(1, maxShown))
	case separator:
		p.key("spacing").number(1, 2, true)
	case fileShown:
		address, _ := p.key("file").key("url").value.(string)
		name, ok := strings.CutPrefix(address, "attachment://")
		if _, sent := c.files.byName()[name]; !ok || !sent {
			p.key("file").wrong("COMPONENT_FILE_NOT_FOUND", "The file was not sent.")
		}
	case container:
		if inner {
			p.unknown(actionRow, textDisplay, fileShown, separator)
		}
		for _, each := range p.key("components").list(1, maxComponents) {
			n, more := each.component(c, ids, true)
			count, text = count+n, text+more
		}
	default:
		p.unknown(actionRow, textDisplay, fileShown, separator, container)
	}
	return count, text
}

// judgeCallback judges the first response to an interaction.
// https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object
func judgeCallback(p part, c *call) {
	data := p.key("data")
	switch kind := p.key("type").value; kind {
	case 4.0, 7.0:
		data.message(c, false, suppressEmbeds|ephemeral|silent|componentsV2)
	case 5.0:
		if flags := data.key("flags").number(0, 1<<31-1, true); flags&^ephemeral != 0 {
			data.key("flags").wrong("BASE_TYPE_CHOICES", "Only EPHEMERAL can be set here.")
		}
	case 6.0:
	case 8.0:
		if data.key("choices").value == nil {
			data.key("choices").wrong("BASE_TYPE_REQUIRED", "This field is required")
		}
		for _, choice := range data.key("choices").list(0, 25) {
			choice.choice()
		}
	case 9.0:
		data.form()
	default:
		p.key("type").oneOf(4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
	}
}

// form judges a form: one to five labels, each over a text input.
func (p part) form() {
	p.key("custom_id").text(1, 100)
	p.key("title").text(1, 45)
	ids := map[string]bool{}
	for _, l := range p.key("components").list(1, 5) {
		field := l.key("component")
		if l.kind() != label || field.kind() != textInput {
			l.unknown(label)
			continue
		}
		l.key("label").text(1, 45)
		l.key("description").text(0, 100)
		field.id(ids)
		field.key("style").number(1, 2, false)
		field.key("placeholder").text(0, 100)
		least := field.key("min_length").number(0, 4000, true)
		most := field.key("max_length").number(max(1, least), 4000, true)
		if most == 0 {
			most = 4000
		}
		field.key("value").text(0, most)
	}
}
