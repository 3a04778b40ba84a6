//go:build !embedrunner

package program

import "embed"

var embedded embed.FS
