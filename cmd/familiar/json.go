package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"familiar/internal/view"
)

// asJSON writes a value for other programs. Everything that commands print with --json is spelt alike. Names have small letters with _
// between the words. Durations are in milliseconds, and their names end in _ms. Invisible characters are \u escapes. Records in the store
// are spelt differently, and keep nanoseconds.
func asJSON(v any) (string, error) {
	b, err := json.MarshalIndent(plain(reflect.ValueOf(v)), "", "  ")
	if err != nil {
		return "", fmt.Errorf("write JSON: %w", err)
	}
	var out strings.Builder
	for _, r := range string(b) {
		switch {
		case !unseen(r):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00 // https://www.rfc-editor.org/rfc/rfc8259#section-7
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String(), nil
}

// unseen reports whether a character is invisible: a format character or a private one. The joiners of emoji and some scripts are not.
func unseen(r rune) bool {
	return r != '\u200c' && r != '\u200d' && unicode.In(r, unicode.Cf, unicode.Co)
}

// field is one name of an object with its value.
type field struct {
	name  string
	value any
}

// object is a JSON object whose names keep their order.
type object []field

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(f.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

var (
	durationType  = reflect.TypeFor[time.Duration]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
)

// plain converts a value so that encoding/json spells it as [asJSON] says.
func plain(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	if v.Type() == durationType {
		return view.Milliseconds(time.Duration(v.Int()))
	}
	if v.Type().Implements(marshalerType) || v.Type().Implements(textType) {
		return v.Interface()
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return plain(v.Elem())
	case reflect.Struct:
		return fieldsOf(v)
	case reflect.Slice, reflect.Array:
		return items(v)
	case reflect.Map:
		all := map[string]any{}
		for _, key := range v.MapKeys() {
			all[fmt.Sprint(key.Interface())] = plain(v.MapIndex(key))
		}
		return all
	}
	return v.Interface()
}

// items converts a list. A nil list becomes an empty one.
func items(v reflect.Value) any {
	if v.Type().Elem().Kind() == reflect.Uint8 { // bytes, which encoding/json writes as base64
		return v.Interface()
	}
	all := make([]any, 0, v.Len())
	for i := range v.Len() {
		all = append(all, plain(v.Index(i)))
	}
	return all
}

func fieldsOf(v reflect.Value) object {
	all := object{}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			all = append(all, fieldsOf(v.Field(i))...)
			continue
		case !f.IsExported() || name == "-":
			continue
		case strings.Contains(options, "omitempty") && isEmpty(v.Field(i)), strings.Contains(options, "omitzero") && v.Field(i).IsZero():
			continue
		}
		all = append(all, field{jsonName(f, name), plain(v.Field(i))})
	}
	return all
}

// jsonName returns the name of a field: its tag, or its Go name in small letters.
func jsonName(f reflect.StructField, tag string) string {
	name := tag
	if name == "" {
		name = snake(f.Name)
	}
	of := f.Type
	for of.Kind() == reflect.Slice || of.Kind() == reflect.Pointer || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of == durationType && !strings.HasSuffix(name, "_ms") {
		name += "_ms"
	}
	return name
}

// isEmpty reports whether encoding/json leaves a value out by omitempty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// snake writes a Go name in small letters: ChannelID becomes channel_id.
func snake(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		word := i > 0 && unicode.IsUpper(r) && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if word {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
