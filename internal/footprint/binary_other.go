//go:build !linux

package footprint

func forgetBinary() {}
