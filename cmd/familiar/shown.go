package main

import (
	"net/url"
	"regexp"
	"strings"

	"familiar/internal/otlp"
	"familiar/internal/redact"
)

// redactor knows every secret of the configuration.
func (c *config) redactor() *redact.Redactor {
	var secrets []string
	for _, v := range c.values {
		secrets = append(append(secrets, v.hidden()), v.inAddress()...)
		secrets = append(secrets, v.inHeaders()...)
	}
	return redact.New(secrets...)
}

// plain says of each secret that the redactor does not hide that it doesn't.
func (c *config) plain() []string {
	var lines []string
	for _, v := range c.values {
		if secret := v.hidden(); secret != "" && !redact.Protects(secret) {
			lines = append(lines, v.name+" is too short to be told from a common word: it is not kept out of replies, records and logs")
		}
	}
	return lines
}

// hidden is what of a value is secret: a key, or the password in a URL.
func (v value) hidden() string {
	if v.secret {
		return v.text
	}
	u, err := url.Parse(v.text)
	if err != nil {
		return ""
	}
	password, _ := u.User.Password()
	return password
}

// inAddress is what may be secret in a URL beside a password: a user's name, which may be a token, and the values of a query.
func (v value) inAddress() []string {
	u, err := url.Parse(v.text)
	if v.secret || err != nil {
		return nil
	}
	all := []string{u.User.Username()}
	for _, values := range u.Query() {
		all = append(all, values...)
	}
	return all
}

// shown is a value as it may be printed.
func (v value) shown() string {
	switch {
	case v.text == "":
		return "–"
	case v.secret:
		return "(set, hidden)"
	}
	return anyAddress.ReplaceAllStringFunc(v.text, shownAddress)
}

// anyAddress is an address in a value, or what may be meant as one: a name and a password before a host.
var anyAddress = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s,]+|[^\s,]*:[^\s,]*@[^\s,]+`)

// shownAddress is an address without a user's name, a password, the values of a query and a fragment.
func shownAddress(address string) string {
	u, err := url.Parse(address)
	switch {
	case err == nil && u.Scheme == "mailto":
		return address // whoever is to be written to
	case err != nil || u.Host == "":
		return "(no address, hidden)"
	}
	scheme, rest, _ := strings.Cut(address, "://")
	rest, fragment, _ := strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	host, path, slash := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = redact.Mask + host[i:]
	}
	shown := scheme + "://" + host
	if slash {
		shown += "/" + path
	}
	if query != "" {
		shown += "?" + queryValue.ReplaceAllString(query, "${1}"+redact.Mask)
	}
	if fragment != "" {
		shown += "#" + redact.Mask
	}
	return shown
}

// queryValue is a parameter's value with its name, if it has one.
var queryValue = regexp.MustCompile(`([^&;=]*=)?[^&;=][^&;]*`)

// inHeaders are the values of headers, each of which is secret by itself.
func (v value) inHeaders() (secrets []string) {
	if v.name != "OTEL_EXPORTER_OTLP_HEADERS" {
		return nil
	}
	headers, _ := otlp.ParseHeaders(v.text) // which has been checked
	for _, text := range headers {
		secrets = append(secrets, text)
		if _, key, found := strings.Cut(text, " "); found { // "Bearer …"
			secrets = append(secrets, strings.TrimSpace(key))
		}
	}
	return secrets
}
