package read

import "testing"

func TestChooseTrack(t *testing.T) {
	person := func(language string) track { return track{LanguageCode: language} }
	made := func(language string) track { return track{LanguageCode: language, Kind: kindASR} }
	for _, test := range []struct {
		name, wanted string
		tracks       []track
		want         track
	}{
		{"the wanted language", "de-AT", []track{person("en"), person("de"), person("fr")}, person("de")},
		{"its region does not matter", "en", []track{person("fr"), person("en-GB")}, person("en-GB")},
		{"people before machines", "de", []track{made("de"), person("fr")}, person("fr")},
		{"what is spoken", "ja", []track{person("en"), person("fr"), made("fr")}, person("fr")},
		{"English where nothing is known", "", []track{person("fr"), person("en")}, person("en")},
		{"the first otherwise", "ja", []track{person("fr"), person("it")}, person("fr")},
		{"a machine's alone", "ja", []track{made("it")}, made("it")},
	} {
		if got, ok := chooseTrack(test.tracks, test.wanted); !ok || got != test.want {
			t.Errorf("%s: got %+v", test.name, got)
		}
	}
	if got, ok := chooseTrack(nil, "en"); ok {
		t.Errorf("none: got %+v", got)
	}
}
