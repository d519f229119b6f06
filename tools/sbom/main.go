// Sbom writes down what a Go binary is made of, as CycloneDX in JSON: the modules that the linker noted in it, with their checksums.
//
//	sbom BINARY FILE
//
// The same binary gives the same file.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(binary, file string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("read the modules of the binary: %w", err)
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	encoder := cyclonedx.NewBOMEncoder(f, cyclonedx.BOMFileFormatJSON).SetPretty(true)
	if err := encoder.Encode(billOf(info, filepath.Base(binary), sum)); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// billOf makes the bill of materials. Its serial number is made of the binary's checksum, as a UUID of version 8 (RFC 9562).
func billOf(info *debug.BuildInfo, name string, sum [32]byte) *cyclonedx.BOM {
	id := sum
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	bill := cyclonedx.NewBOM()
	bill.SerialNumber = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
	program := cyclonedx.Component{
		BOMRef: "program", Type: cyclonedx.ComponentTypeApplication, Name: name, Version: info.Main.Version,
		Hashes: &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
	}
	properties := []cyclonedx.Property{}
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" || strings.HasPrefix(s.Key, "vcs") {
			properties = append(properties, cyclonedx.Property{Name: "go:" + s.Key, Value: s.Value})
		}
	}
	program.Properties = &properties
	bill.Metadata = &cyclonedx.Metadata{Component: &program}
	parts := []cyclonedx.Component{part("std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, part(m.Path, m.Version, m.Sum))
	}
	var refs []string
	for _, p := range parts {
		refs = append(refs, p.BOMRef)
	}
	bill.Components = &parts
	bill.Dependencies = &[]cyclonedx.Dependency{{Ref: program.BOMRef, Dependencies: &refs}}
	return bill
}

// part is a module. Its sum is the one of go.sum, "h1:" and a SHA-256 of a list of its files in base64: a checksum of the module, not of a file.
func part(path, version, sum string) cyclonedx.Component {
	purl := "pkg:golang/" + strings.ReplaceAll(url.PathEscape(path), "%2F", "/") + "@" + url.PathEscape(version)
	c := cyclonedx.Component{BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: purl, Scope: cyclonedx.ScopeRequired}
	if hash, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:")); err == nil && len(hash) == sha256.Size {
		c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(hash)}}
	}
	return c
}
