package app

import (
	"net/url"
	"strings"

	"familiar/internal/store"
	"familiar/internal/telemetry"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Redactor returns a redactor of every secret of the configuration.
func (c *Config) Redactor() *clean.Redactor {
	var secrets []string
	for _, v := range c.Values {
		secrets = append(append(secrets, v.hidden()), v.inAddress()...)
		secrets = append(secrets, v.inHeaders()...)
	}
	return clean.NewRedactor(secrets...)
}

// Plain lists the secrets that are too short to be hidden.
func (c *Config) Plain() []string {
	var lines []string
	for _, v := range c.Values {
		if secret := v.hidden(); secret != "" && !clean.Protects(secret) {
			lines = append(lines, v.Name+" is too short to be distinguished from a common word: it is not hidden in replies, records and logs")
		}
	}
	return lines
}

// hidden returns the secret part of a value: a key, or the password in a URL.
func (v Value) hidden() string {
	if v.Secret {
		return v.Text
	}
	u, err := url.Parse(v.Text)
	if err != nil {
		return ""
	}
	password, _ := u.User.Password()
	return password
}

// inAddress returns what else may be secret in a URL. It is the user's name, which may be a token, and the values of the query.
func (v Value) inAddress() []string {
	u, err := url.Parse(v.Text)
	if v.Secret || err != nil {
		return nil
	}
	if store.IsServer(v.Text) { // the user's name is no token, and the options are no secret
		raw, _, _ := strings.Cut(strings.TrimPrefix(v.Text[strings.Index(v.Text, "://")+3:], u.User.Username()+":"), "@")
		return []string{raw, u.Query().Get("password"), u.Query().Get("sslpassword")}
	}
	all := []string{u.User.Username()}
	for _, values := range u.Query() {
		all = append(all, values...)
	}
	return all
}

// Displayed returns the value as it may be printed.
func (v Value) Displayed() string {
	switch {
	case v.Text == "":
		return "–"
	case v.Secret:
		return "(set, hidden)"
	}
	return anyAddress.ReplaceAllStringFunc(v.Text, displayAddress)
}

// anyAddress matches an address in a value, also one without a scheme: a name and a password before a host.
var anyAddress = text.NewLazyRegexp(`[A-Za-z][A-Za-z0-9+.-]*://[^\s,]+|[^\s,]*:[^\s,]*@[^\s,]+`)

// displayAddress returns an address without user name, password, values of the query and fragment.
func displayAddress(address string) string {
	u, err := url.Parse(address)
	switch {
	case err == nil && u.Scheme == "mailto":
		return address // it is meant to be published
	case err != nil || u.Host == "":
		return "(no address, hidden)"
	}
	scheme, rest, _ := strings.Cut(address, "://")
	rest, fragment, _ := strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	host, path, slash := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = clean.Mask + host[i:]
	}
	shown := scheme + "://" + host
	if slash {
		shown += "/" + path
	}
	if query != "" {
		shown += "?" + queryValue.ReplaceAllString(query, "${1}"+clean.Mask)
	}
	if fragment != "" {
		shown += "#" + clean.Mask
	}
	return shown
}

// queryValue matches a parameter's value with its name, if it has one.
var queryValue = text.NewLazyRegexp(`([^&;=]*=)?[^&;=][^&;]*`)

// inHeaders returns the values of headers. Each is a secret of its own.
func (v Value) inHeaders() (secrets []string) {
	if v.Name != "OTEL_EXPORTER_OTLP_HEADERS" {
		return nil
	}
	headers, _ := telemetry.ParseOTLPHeaders(v.Text) // it was checked
	for _, text := range headers {
		secrets = append(secrets, text)
		if _, key, found := strings.Cut(text, " "); found { // "Bearer …"
			secrets = append(secrets, strings.TrimSpace(key))
		}
	}
	return secrets
}
