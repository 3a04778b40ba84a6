package command
import "hermes/internal/guard"
func privileges() table { _ = guard.Host; return nil }
