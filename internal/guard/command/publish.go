package command

import (
	"strings"

	"hermes/internal/guard"
)

// publishes are rules beyond the original's table: what is put before others under the owner's name, or taken back.
func publishes() table {
	return table{
		{
			Key:   "publishing of a package",
			Harms: guard.Remote | guard.Leak,
			Match: told(
				verbs{programs: "npm pnpm", takes: "--prefix --registry --tag --otp -w --workspace", forms: []string{"publish|unpublish|deprecate",
					"dist-tag|dist-tags add|rm", "owner|author add|rm", "access set|grant|revoke|public|restricted", "team *", "token create|add|delete|revoke|rm|remove"}},
				verbs{programs: "yarn", forms: []string{"publish", "npm publish|tag", "owner add|remove", "tag add|remove"}},
				verbs{programs: "bun deno jsr lerna", forms: []string{"publish"}},
				verbs{programs: "changeset", forms: []string{"publish"}},
				verbs{programs: "twine", forms: []string{"upload|register"}},
				verbs{programs: "poetry hatch flit pdm uv rye maturin", forms: []string{"publish|upload"}},
				verbs{programs: "cargo", takes: "--color --config -Z -C", forms: []string{"publish|yank|owner"}},
				verbs{programs: "gem", forms: []string{"push|yank|owner"}},
				verbs{programs: "mix", forms: []string{"hex.publish|hex.retire|hex.owner"}},
				verbs{programs: "vsce ovsx", forms: []string{"publish|unpublish|delete-publisher"}},
				verbs{programs: "dart flutter pub", forms: []string{"pub publish", "publish"}},
				verbs{programs: "pod", forms: []string{"trunk push|delete|deprecate"}},
				verbs{programs: "nuget", forms: []string{"push|delete"}},
				verbs{programs: "dotnet", forms: []string{"nuget push|delete"}},
				verbs{programs: "mvn mvnw", forms: []string{"** deploy|release:perform|deploy:deploy|deploy:deploy-file|nexus-staging:release"}},
				verbs{programs: "gradle gradlew",
					forms: []string{"** publish|publishPlugins|publishAllPublicationsTo*|uploadArchives|closeAndReleaseRepository"}},
				verbs{programs: "snapcraft", forms: []string{"upload|push|release|close"}},
			).or(all(runs("semantic-release", "release-it", "np"), not(given("--dry-run", "-d", "--help", "-h", "--preview", "--version")))),
			Why:    "shows it to everyone under the owner's name, and can hardly be taken back",
			Remedy: "see what would go: `npm publish --dry-run`",
			Hits: []string{"npm publish --access public", "npm unpublish pkg --force", "npm deprecate pkg broken", "twine upload dist/*",
				"cargo publish", "cargo yank x@1.0.0", "gem yank x -v 1", "uv publish", "vsce publish"},
			Passes: []string{"npm publish --dry-run", "npm pack", "twine check dist/*", "cargo publish --dry-run", "gem build x.gemspec",
				"npm view x", "./gradlew publishToMavenLocal", "dotnet publish -c Release", "mvn package", "npm dist-tag ls", "npm token list"},
		},
		{
			Key:   "deletion or forced change at a code host",
			Harms: guard.Remote,
			Match: told(
				verbs{programs: "gh", takes: ghTakes, forms: []string{
					"repo delete|archive|rename|unarchive", "release|run|issue|label|gist|variable|codespace|project|ruleset|environment delete",
					"release delete-asset", "workflow disable", "run cancel|delete",
					"cs delete", "issue transfer"}},
				verbs{programs: "glab", takes: ghTakes, forms: []string{"repo delete|archive|transfer|mirror",
					"release|issue|mr|label|snippet|ci|pipeline|schedule delete", "alias set", "runner delete"}},
				verbs{programs: "hub tea bb", forms: []string{"delete", "release delete", "repo|repos delete|rm"}},
				verbs{programs: "az", forms: []string{"repos delete"}},
			).or(
				all(runs("gh"), told(verbs{programs: "gh", takes: ghTakes, forms: []string{"pr merge"}}), given("--admin")),
				all(runs("gh"), told(verbs{programs: "gh", takes: ghTakes, forms: []string{"repo sync"}}), given("--force")),
				all(runs("gh", "glab"), told(verbs{programs: "gh glab",
					takes: "-X --method -H --header -f -F --field --raw-field --input -q --jq --hostname -t", forms: []string{"api"}}),
					when(erasesByAPI)),
			),
			Why:    "deletes or overrides what others see",
			Remedy: "look at it first: `gh repo view org/app`",
			Hits: []string{"gh repo delete org/app --yes", "gh release delete v1.0 --yes", "gh api -X DELETE repos/org/app",
				"glab repo delete org/app -y", "gh pr merge 12 --admin --squash", "gh api --method=PUT repos/o/r/collaborators/x"},
			Passes: []string{"gh repo view org/app", "gh pr list", "gh pr create --fill", "gh pr merge 12 --squash", "gh api repos/org/app",
				"gh api -X GET search/code", "gh release view v1", "gh repo delete --help", "gh api -X POST repos/o/r/issues -f title=x"},
		},
	}
}

// erasesByAPI holds for a call that deletes or replaces.
func erasesByAPI(c *ctx, i int) (span, bool) {
	args := c.args(i)
	for k, w := range args[1:] {
		switch w.Text {
		case "DELETE", "PUT", "delete", "put":
			if p := args[k].Text; p == "-X" || p == "--method" {
				return at(w), true
			}
		case "-XDELETE", "-XPUT", "--method=DELETE", "--method=PUT":
			return at(w), true
		}
		if t := w.Text; strings.Contains(t, "mutation") && (strings.Contains(t, "delete") || strings.Contains(t, "remove")) {
			return at(w), true
		}
	}
	return span{}, false
}
