package docker_test

import (
	"testing"
)

func TestPodman(t *testing.T)           { suite(t, podman(t), kept(), whole) }
func TestPodmanThrownAway(t *testing.T) { suite(t, podman(t), hardened(), whole) }
