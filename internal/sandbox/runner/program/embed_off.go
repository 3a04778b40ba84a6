//go:build !embedrunner

package program

var embedded []byte
