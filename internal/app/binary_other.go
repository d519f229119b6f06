//go:build !linux

package app

func forgetBinary() {}
