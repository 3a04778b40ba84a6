package command

import (
	"strings"

	"hermes/internal/guard"
)

// Container engines: rows 68 to 75.
func docker() table {
	engines := func() match { return runs("docker", "podman") }
	return table{
		{
			Key:    "docker with remote daemon redirect (-H/--host)",
			Harms:  guard.Remote,
			Match:  all(runs("docker"), global("-H", "--host")),
			Why:    "talks to another machine's engine",
			Remedy: "use this machine's engine: `docker ps`",
			Hits:   []string{"docker -H ssh://prod ps", "docker --host=tcp://prod:2375 ps", "docker --log-level debug -H tcp://x ps"},
			Passes: []string{"docker ps", "docker run -h myhost alpine", "docker run --hostname x alpine"},
		},
		{
			Key:    "docker with daemon redirect (--context: alternate daemon)",
			Harms:  guard.Remote,
			Match:  all(runs("docker"), global("-c", "--context")),
			Why:    "talks to another engine",
			Remedy: "use this machine's engine: `docker ps`",
			Hits:   []string{"docker --context remote-daemon ps", "docker -c prod ps", "docker --context=prod ps"},
			Passes: []string{"docker ps", "docker run alpine sh -c ls", "docker build --build-context x=y ."},
		},
		{
			Key:    "docker context use (switches default daemon for future commands)",
			Harms:  guard.Remote,
			Match:  all(runs("docker"), sub("context", "use")),
			Why:    "makes every later docker command talk to another engine",
			Remedy: "look first: `docker context ls`",
			Hits:   []string{"docker context use prod"},
			Passes: []string{"docker context ls", "docker context show"},
		},
		{
			Key:    "podman with remote daemon redirect (--url/--connection/--identity)",
			Harms:  guard.Remote,
			Match:  all(runs("podman"), global("--url", "--connection", "--identity", "-c")),
			Why:    "talks to another engine",
			Remedy: "use this machine's engine: `podman ps`",
			Hits:   []string{"podman --url ssh://prod ps", "podman --connection=prod ps", "podman --identity k ps"},
			Passes: []string{"podman ps", "podman run x --url y"},
		},
		{
			Key:    "podman remote mode (-r/--remote: remote daemon)",
			Harms:  guard.Remote,
			Match:  all(runs("podman"), global("-r", "--remote")),
			Why:    "talks to another engine",
			Remedy: "use this machine's engine: `podman ps`",
			Hits:   []string{"podman -r ps", "podman --remote ps"},
			Passes: []string{"podman ps", "podman rm -r x"},
		},
		{
			Key:    "docker/podman daemon redirect via environment (DOCKER_HOST/CONTAINER_HOST)",
			Harms:  guard.Remote,
			Match:  either(match{on: onAssign, test: engineAssign}),
			Why:    "makes the commands talk to another engine",
			Remedy: "use this machine's engine: `docker ps`",
			Hits:   []string{"DOCKER_HOST=tcp://remote:2375 docker ps", "env CONTAINER_HOST=ssh://x podman ps", "DOCKER_CONTEXT=prod docker ps"},
			Passes: []string{"docker ps", "DOCKER_HOST= docker ps", "DOCKER_BUILDKIT=1 docker build ."},
		},
		{
			Key:    "docker compose restart/stop/kill/down (container lifecycle)",
			Harms:  guard.Host,
			Match:  either(all(engines(), sub("compose", "restart|stop|kill|down|rm")), all(runs("docker-compose", "podman-compose"), sub("restart|stop|kill|down|rm"))),
			Why:    "stops containers that others may use",
			Remedy: "look first: `docker compose ps`",
			Hits:   []string{"docker compose down", "docker-compose -f x.yml stop", "docker compose --project-name demo  down"},
			Passes: []string{"docker compose ps", "docker compose up -d", "docker-compose logs"},
		},
		{
			Key:    "docker restart/stop/kill (container lifecycle)",
			Harms:  guard.Host,
			Match:  either(all(engines(), sub("restart|stop|kill")), all(engines(), sub("container|pod", "restart|stop|kill"))),
			Why:    "stops containers that others may use",
			Remedy: "look first: `docker ps`",
			Hits:   []string{"docker stop web", "docker --log-level debug stop app", "podman kill x", "docker container restart x"},
			Passes: []string{"docker ps", "docker run --stop-timeout 3 x", "docker logs stop"},
		},
	}
}

// global holds when an option stands in front of the subcommand, with a value unless it needs none.
func global(names ...string) match {
	return when(func(c *ctx, i int) (span, bool) {
		l := c.line(i)
		for _, o := range l.opts {
			if len(l.operands) > 0 && o.arg > l.operands[0] {
				continue
			}
			if has(names, o.name) {
				return at(c.args(i)[o.arg]), true
			}
		}
		return span{}, false
	})
}

func engineAssign(c *ctx, i int) (span, bool) {
	for _, a := range c.cmd(i).Assigns {
		switch a.Name {
		case "DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST", "CONTAINER_CONNECTION":
			if strings.TrimSpace(a.Value.Text) != "" {
				return at(a.Value), true
			}
		}
	}
	return span{}, false
}
