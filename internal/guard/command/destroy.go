package command

import (
	"strings"

	"hermes/internal/guard"
)

const lookFirst = "look at what would go first: "

// destroys are rules beyond the original's table: infrastructure, cloud resources, clusters and machines that go for good.
func destroys() table {
	return table{
		{
			Key:   "destruction of managed infrastructure",
			Harms: guard.Remote,
			Match: told(
				verbs{programs: "terraform tofu terragrunt", takes: "-chdir -target -var -var-file -state", forms: []string{
					"destroy|apply|taint|force-unlock", "state rm|mv|push|replace-provider", "workspace delete", "run-all|run apply|destroy",
					"stack run apply|destroy",
					"run --all|-- apply|destroy"}},
				verbs{programs: "pulumi", takes: "-s --stack -C --cwd", forms: []string{"destroy|down|up|update|cancel|refresh", "stack rm",
					"state delete|unprotect|rename", "import"}},
				verbs{programs: "cdk cdktf", forms: []string{"destroy"}},
				verbs{programs: "serverless sls sst zappa", takes: "--stage -s", forms: []string{"remove|undeploy", "deploy remove"}},
				verbs{programs: "sam copilot eb ecs-cli eksctl amplify", forms: []string{"delete|terminate|down", "app|svc|job|env|pipeline delete",
					"cluster delete|down"}},
				verbs{programs: "packer", forms: []string{"delete"}},
				verbs{programs: "nomad", takes: "-address -namespace -region",
					forms: []string{"job|namespace|volume|node stop|purge|delete|deregister|detach|drain", "stop", "system gc"}},
				verbs{programs: "vagrant", forms: []string{"destroy", "box remove", "snapshot delete|restore"}},
				verbs{programs: "multipass limactl colima", forms: []string{"delete|purge|factory-reset"}},
				verbs{programs: "virsh", takes: "-c --connect",
					forms: []string{"destroy|undefine|vol-delete|vol-wipe|pool-delete|pool-destroy|net-destroy|net-undefine|snapshot-delete|" +
						"managedsave-remove|reset"}},
				verbs{programs: "vboxmanage", forms: []string{"unregistervm", "closemedium", "controlvm ** poweroff|reset",
					"snapshot ** delete|restore"}},
				verbs{programs: "qm pct", forms: []string{"destroy|stop|rollback|delsnapshot"}},
				verbs{programs: "lxc incus", forms: []string{"delete|rm|stop", "image|storage|network|profile|project|snapshot delete",
					"storage volume delete"}},
				verbs{programs: "govc", forms: []string{"vm.destroy|pool.destroy|datastore.rm|object.destroy|snapshot.remove"}},
			),
			Why:    "changes or destroys infrastructure that others rely on",
			Remedy: lookFirst + "`terraform plan -destroy`",
			Hits: []string{
				"terraform destroy", "terraform -chdir=prod apply -auto-approve", "tofu state rm x", "terragrunt run-all destroy",
				"pulumi destroy --yes", "cdk destroy --all", "vagrant destroy -f",
				"serverless remove --stage prod", "virsh undefine vm1",
			},
			Passes: []string{"terraform plan -destroy", "terraform state list", "pulumi preview", "terraform apply --help",
				"terraform state rm -dry-run x", "cdk deploy", "vagrant status", "lxc list"},
		},
		{
			Key:   "change by playbook",
			Harms: guard.Remote,
			Match: all(runs("ansible-playbook", "ansible-pull", "salt", "knife", "puppet"), either(
				all(runs("ansible-playbook", "ansible-pull"), not(given("--check", "-C", "--syntax-check", "--list-tasks", "--list-hosts",
					"--list-tags", "-h"))),
				told(verbs{programs: "knife", forms: []string{"** delete", "ssh"}}, verbs{programs: "puppet", dry: "--noop", forms: []string{"apply",
					"agent", "node clean|purge|deactivate"}},
					verbs{programs: "salt", forms: []string{"** cmd.run|cmd.shell|state.apply|state.highstate|system.reboot|system.shutdown|" +
						"file.remove"}}),
			)),
			Why:    "changes every machine the playbook names",
			Remedy: lookFirst + "`ansible-playbook site.yml --check`",
			Hits:   []string{"ansible-playbook teardown.yml -e target=prod", "salt '*' cmd.run 'rm -rf /srv/x'"},
			Passes: []string{"ansible-playbook site.yml --check", "ansible-playbook site.yml -C --list-tasks", "ansible-lint playbooks",
				"ansible all -m ping", "salt '*' test.ping"},
		},
		{
			Key:   "restart of other machines",
			Harms: guard.Remote,
			Match: either(
				all(runs("shutdown", "reboot", "halt", "poweroff", "init", "telinit", "systemctl"), when(onFleet), either(runs("shutdown", "reboot", "halt", "poweroff"), sub("0|6"), when(powersOff))),
				all(runs("ansible"), when(restartsModule)),
			),
			Why:    "stops every machine the inventory names",
			Remedy: "look first: `ansible all -m ping`",
			Hits:   []string{"ansible all -a reboot", "ansible prod -b -m reboot", "ansible all -m ansible.builtin.shell -a 'shutdown -r now'", "ansible web -m community.general.shutdown", "ansible all -m service -a 'name=nginx state=stopped'"},
			Passes: []string{"ansible all -m ping", "ansible all -a uptime", "ansible all -m setup", "ansible all -m service -a 'name=nginx state=started' --check"},
		},
		{
			Key:    "destruction of cloud resources",
			Harms:  guard.Remote,
			Match:  clouds(),
			Why:    "destroys or stops what runs or is kept in the cloud",
			Remedy: lookFirst + "`aws s3 ls s3://bucket --recursive`",
			Hits: []string{
				"aws s3 rb s3://prod --force", "aws --profile prod ec2 terminate-instances --instance-ids i-0",
				"aws s3 sync empty/ s3://prod --delete", "gcloud projects delete p -q",
				"az group delete -n prod --yes", "gsutil -m rm -r gs://x/**", "bq rm -r -f -d p:x", "heroku apps:destroy -a prod",
				"fly apps destroy prod", "doctl compute droplet delete web -f",
				"kubectl get x | xargs aws ec2 terminate-instances --instance-ids",
			},
			Passes: []string{
				"aws s3 ls s3://bucket --recursive", "aws ec2 describe-instances", "aws s3 rm s3://b/tmp --recursive --dryrun",
				"aws s3 cp a s3://b/a", "gcloud projects list", "az vm delete -h",
				"gcloud compute ssh web-1 --command 'rm x'", "heroku help apps:destroy", "aws cloudformation delete-stack help",
				"gsutil rsync -n -d ./site gs://x", "wrangler deploy --dry-run",
			},
		},
		{
			Key:   "change of cloud access rights",
			Harms: guard.Remote | guard.Leak,
			Match: told(
				verbs{programs: "aws", takes: awsTakes, forms: []string{
					"iam create-access-key|create-login-profile|update-login-profile|attach-*|put-*|add-user-to-group|update-assume-role-policy|" +
						"create-user|create-role|create-policy-version|set-default-policy-version|upload-*",
					"ec2 authorize-security-group-*|modify-snapshot-attribute|modify-image-attribute|associate-iam-instance-profile",
					"s3api put-bucket-acl|put-bucket-policy|put-object-acl|put-public-access-block",
					"lambda add-permission|update-function-code|update-function-configuration", "kms create-grant|put-key-policy", "rds modify-db-snapshot-attribute", "ssm send-command",
					"sts get-federation-token", "secretsmanager put-resource-policy",
					"organizations leave-organization|detach-policy", "cloudtrail update-trail|put-event-selectors", "ecr set-repository-policy",
					"sns|sqs add-permission"}},
				verbs{programs: "gcloud", takes: gcloudTakes, forms: []string{"** add-iam-policy-binding|set-iam-policy|remove-iam-policy-binding",
					"iam service-accounts keys create", "iam roles create|update"}},
				verbs{programs: "gsutil", takes: "-o -h", forms: []string{"iam ch|set", "acl ch|set", "defacl ch|set"}},
				verbs{programs: "az", forms: []string{"role assignment create", "role definition create|update", "ad ** reset|create-for-rbac",
					"keyvault set-policy", "storage ** generate-sas", "storage container set-permission"}},
				verbs{programs: "kubectl oc", takes: kubeTakes, forms: []string{"create clusterrolebinding|rolebinding|clusterrole|token",
					"adm policy add-*", "certificate approve", "set subject"}},
				verbs{programs: "vault", forms: []string{"token create", "policy write|delete", "auth enable|disable", "operator *", "write auth/*",
					"write sys/*"}},
				verbs{programs: "gh", takes: ghTakes, forms: []string{"ssh-key|gpg-key add|delete", "secret set|delete|remove",
					"repo deploy-key add|delete", "repo edit"}},
				verbs{programs: "wp", forms: []string{"user create|delete|set-role|add-role|add-cap|reset-password", "super-admin add|remove"}},
				verbs{programs: "glab", forms: []string{"ssh-key|deploy-key add|delete", "variable set|delete"}},
			),
			Why:    "gives away or takes away rights to what is kept elsewhere",
			Remedy: lookFirst + "`aws iam list-attached-user-policies --user-name x`",
			Hits: []string{
				"aws iam create-access-key --user-name admin", "gcloud projects add-iam-policy-binding p --member=user:x --role=roles/owner",
				"aws s3api put-bucket-acl --bucket b --acl public-read",
				"kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=x", "az ad app credential reset --id x",
				"gh secret set KEY -b x",
			},
			Passes: []string{"aws iam list-attached-user-policies --user-name x", "aws iam get-role --role-name r",
				"gcloud projects get-iam-policy p", "kubectl get clusterrolebinding", "gh secret list"},
		},
	}
}

const (
	awsTakes    = "--profile --region --output --endpoint-url --query --color --ca-bundle --cli-read-timeout --cli-connect-timeout"
	gcloudTakes = "--project --zone --region --account --configuration --format --filter --command --location"
	kubeTakes   = "-n --namespace --context --cluster --user --kubeconfig -s --server --as --as-group --token --request-timeout -l --selector -o " +
		"--output -f --filename -k -c --container"
	ghTakes = "-R --repo --hostname"
)

// clouds holds for the command lines of clouds and hosting services that destroy, stop or empty something.
func clouds() match {
	const gone = "delete|destroy|remove|rm|terminate|purge"
	return told(
		verbs{programs: "aws", takes: awsTakes, forms: []string{
			"s3 rb|rm", "* delete-*|admin-delete-*|admin-disable-*|terminate-*|deregister-*|purge-*|remove-*|stop-*|reboot-*|batch-delete-*|" +
				"schedule-key-deletion|disable-*|reset-*|cancel-*|release-*|detach-*|revoke-*|disassociate-*|deactivate-*|retire-*|force-delete-*|" +
				"deprovision-*|abort-*|delete|untag-*"}},
		verbs{programs: "gcloud", takes: gcloudTakes, forms: []string{"** delete|destroy|reset|stop|suspend|disable|purge|rm",
			"app versions stop|migrate", "** remove-*|clear-*"}},
		verbs{programs: "gsutil", takes: "-o -h -u", forms: []string{"rm|rb|mv"}},
		verbs{programs: "bq", takes: "--project_id --dataset_id --location", forms: []string{"rm|truncate"}},
		verbs{programs: "az", dry: "-h",
			forms: []string{"** delete|purge|deallocate|stop|restart|remove|reset|delete-batch|power-off|redeploy|disable"}},
		verbs{programs: "doctl hcloud linode-cli scw ibmcloud oci openstack civo vultr-cli exo ovhcloud upctl metal eksctl rosa yc tccli " +
			"kamatera phoenixnap", dry: "-h", forms: []string{
			"** " + gone + "|reset|rebuild|*-delete|*-rm|*-destroy|*-remove|poweroff|power-off|shutdown|resource-remove|volume-rm|actions-delete"}},
		verbs{programs: "aliyun", forms: []string{"* Delete*|Release*|Stop*|Remove*|Reset*"}},
		verbs{programs: "fly flyctl", dry: "-h", takes: "-a --app -c --config", forms: []string{"destroy",
			"* destroy|delete|remove|rm|unset|kill|stop", "secrets unset", "* * destroy|delete", "scale count 0"}},
		verbs{programs: "heroku", forms: []string{"*:destroy|*:delete|*:reset|*:remove|*:clear|*:unset|*:stop|*:kill|*:rollback|*:detach|destroy|" +
			"*:uninstall|*:promote|ps:scale"}},
		verbs{programs: "vercel now", dry: "-h", forms: []string{"remove|rm|rollback", "* rm|remove|delete"}},
		verbs{programs: "netlify ntl", forms: []string{"*:delete|*:unset", "sites:*delete"}},
		verbs{programs: "wrangler", dry: "-h", forms: []string{"delete|rollback", "** delete|rm|purge", "*:*delete", "** *:delete"}},
		verbs{programs: "firebase", forms: []string{"*:delete|*:remove|*:disable|*:destroy|*:wipe|database:set|database:update"}},
		verbs{programs: "supabase", forms: []string{"db reset", "* delete|unset|restart", "db push"}},
		verbs{programs: "railway render netlify surge dokku cf platform upsun", forms: []string{"delete|down|teardown|remove", "*:destroy",
			"* delete|destroy|remove", "delete-*", "environment:delete"}},
		verbs{programs: "pscale turso neonctl neon atlas mongocli confluent ccloud cockroach redis-cloud astra aiven avn", dry: "-h",
			forms: []string{"** " + gone + "|terminate|pause|reset|power-off"}},
		verbs{programs: "b2 s3cmd s5cmd mc minio-mc", dry: "-n", forms: []string{"rm|rb|del|delete|delete-*|expire|setacl|setpolicy",
			"file|bucket delete|hide", "anonymous set", "admin ** remove|stop"}},
	).or(all(runs("aws"), told(verbs{programs: "aws", takes: awsTakes, forms: []string{"s3 sync"}}), given("--delete")),
		all(runs("gsutil"), told(verbs{programs: "gsutil", takes: "-o -h -u", dry: "-n", forms: []string{"rsync"}}), given("-d", "-rd", "-dr")),
		all(runs("gcloud"), given("--delete-unmatched-destination-objects")),
		all(runs("gcloud", "az", "doctl", "eksctl"), when(toZero)),
		all(runs("aws"), told(verbs{programs: "aws", takes: awsTakes, forms: []string{"ecs update-service", "autoscaling set-*|update-*"}}),
			when(toZero)))
}

// or widens a match by others that are tried for the same parts.
func (m match) or(others ...match) match { return either(append([]match{m}, others...)...) }

// toZero holds when an option that says how many there should be is 0.
func toZero(c *ctx, i int) (span, bool) {
	args := c.args(i)
	for k, w := range args {
		name, value, attached := cut(w.Text, '=')
		switch name {
		case "--replicas", "--desired-count", "--desired-capacity", "--max-size", "--count", "--num-nodes", "--node-count":
			if !attached && k+1 < len(args) {
				value = args[k+1].Text
			}
			if value == "0" {
				return at(w), true
			}
		}
	}
	return span{}, false
}

// clusters are rules beyond the original's table: Kubernetes, container hosts, and what keeps a cluster's state.
func clusters() table {
	return table{
		{
			Key:   "deletion of cluster objects",
			Harms: guard.Remote,
			Match: told(
				verbs{programs: "kubectl oc k kubecolor microk8s.kubectl", takes: kubeTakes, dry: "-h", forms: []string{
					"delete|drain|cordon|taint", "adm drain|cordon|taint|prune", "rollout undo|restart|pause|cancel", "kubectl delete|drain",
					"config delete-cluster|delete-context|delete-user|unset"}},
				verbs{programs: "k3s microk8s", takes: kubeTakes, forms: []string{"kubectl delete|drain|cordon", "reset",
					"etcd-snapshot delete|prune"}},
				verbs{programs: "helm helm3", takes: "-n --namespace --kube-context --kubeconfig", dry: "-h",
					forms: []string{"uninstall|delete|del|un|rollback"}},
				verbs{programs: "helmfile", takes: "-e --environment -f --file -l --selector", forms: []string{"destroy|delete"}},
				verbs{programs: "argocd", forms: []string{"app delete|rollback|terminate-op", "app delete-resource", "* rm|remove|delete"}},
				verbs{programs: "flux istioctl linkerd velero cilium kustomizer kapp ark", forms: []string{"uninstall|delete", "* delete",
					"x uninstall", "backup|restore|schedule delete"}},
				verbs{programs: "kubeadm k0s rke rke2 talosctl kops", takes: "-n --nodes --name --state", forms: []string{"reset|remove|delete",
					"token delete"}},
				verbs{programs: "kind k3d minikube ctlptl vcluster", takes: "-p --profile", forms: []string{"delete",
					"cluster|node|registry delete|rm"}},
			).or(
				runs("k3s-uninstall.sh", "k3s-agent-uninstall.sh", "rke2-uninstall.sh", "k3s-killall.sh", "rke2-killall.sh"),
				all(kube(), told(verbs{programs: "kubectl oc k", takes: kubeTakes, forms: []string{"replace"}}), given("--force"), earnest()),
				all(kube(), told(verbs{programs: "kubectl oc k", takes: kubeTakes, forms: []string{"apply"}}), given("--prune", "--force"),
					earnest()),
				all(kube(), told(verbs{programs: "kubectl oc k", takes: kubeTakes, forms: []string{"scale|autoscale"}}), when(toZero),
					earnest()),
				all(kube(), told(verbs{programs: "kubectl oc k", takes: kubeTakes, forms: []string{"patch"}}), says("finalizers", "null",
					`"op":"remove"`, `"replicas":0`, `"op": "remove"`, `"replicas": 0`), earnest()),
				all(runs("argocd"), told(verbs{programs: "argocd", forms: []string{"app sync"}}), given("--prune", "--force", "--replace")),
				all(runs("helm"), told(verbs{programs: "helm", forms: []string{"upgrade"}}), given("--force", "--force-replace", "--reset-values")),
			),
			Why:    "takes away what runs in the cluster",
			Remedy: lookFirst + "`kubectl delete -f k8s/ --dry-run=server`",
			Hits: []string{
				"kubectl delete ns prod", "kubectl -n prod delete deploy,svc -l app=web", "kubectl drain node-1 --force",
				"kubectl scale deploy web --replicas=0", "kubectl replace --force -f a.yaml",
				"helm uninstall web", "kubeadm reset -f", "kind delete clusters --all", `kubectl patch pvc d -p '{"metadata":{"finalizers":null}}'`,
				"k3s-uninstall.sh", "argocd app delete web",
			},
			Passes: []string{
				"kubectl delete -f k8s/ --dry-run=server", "kubectl get pods", "kubectl apply -f a.yaml", "kubectl scale deploy web --replicas=3",
				"helm upgrade --install web ./chart",
				"helm uninstall web --dry-run", "kubectl rollout status deploy/web", "kubectl describe node delete", "kind create cluster",
			},
		},
		{
			Key:   "deletion of containers, images or volumes",
			Harms: guard.Host,
			Match: told(
				verbs{programs: "docker podman nerdctl", takes: engineTakes, forms: []string{
					"system prune|reset", "volume rm|remove|prune", "container|network prune", "swarm leave", "stack|service|secret|config rm|remove|down",
					"node rm|remove|demote", "machine rm|reset|stop",
					"pod rm|prune", "plugin install|rm|enable", "checkpoint rm"}},
				verbs{programs: "crictl", takes: "-r --runtime-endpoint", forms: []string{"rm|rmi|rmp|stop|stopp"}},
				verbs{programs: "ctr", takes: "-n --namespace -a --address", forms: []string{"* rm|delete|del|remove|kill",
					"n|ns|namespaces rm|delete|remove"}},
				verbs{programs: "docker-machine", forms: []string{"rm|kill|stop"}},
			).or(
				all(runs("docker", "podman", "nerdctl"), told(verbs{programs: "docker podman nerdctl", takes: engineTakes, forms: []string{"rm|rmi",
					"container|image rm|remove"}}),
					when(forcedRemoval)),
				all(runs("docker", "podman", "nerdctl"), told(verbs{programs: "docker podman nerdctl", takes: engineTakes,
					forms: []string{"image prune"}}), flagLetter('a', "--all")),
			),
			Why:    "deletes containers or volumes with what they hold",
			Remedy: lookFirst + "`docker system df -v`",
			Hits: []string{
				"docker system prune -af --volumes", "docker volume rm pgdata", "docker volume prune -f", "docker rm -f $(docker ps -aq)",
				"docker swarm leave --force", "podman system reset",
				"docker image prune -a -f", "docker container rm --force web",
			},
			Passes: []string{"docker system df -v", "docker volume ls", "docker rm web", "docker rmi old:1", "docker image prune -f",
				"docker builder prune", "docker run --rm alpine true", "docker rm --help"},
		},
	}
}

const engineTakes = "-H --host -c --context --config -l --log-level --url --connection --identity -n --namespace"

func kube() match { return runs("kubectl", "oc", "k") }

// earnest holds unless the command only shows what it would do.
func earnest() match {
	var none verbs
	return when(func(c *ctx, i int) (span, bool) { return span{}, !none.rehearses(c.args(i)) })
}

// flagLetter holds when a short option stands in a bundle, or the long one is given.
func flagLetter(short byte, long string) match {
	return when(func(c *ctx, i int) (span, bool) {
		for _, w := range c.args(i)[min(1, len(c.args(i))):] {
			t := w.Text
			if t == long || len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.IndexByte(t[1:], short) >= 0 {
				return at(w), true
			}
		}
		return span{}, false
	})
}

// forcedRemoval holds for the removal of containers or images by force, or of all there are.
func forcedRemoval(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		switch t := w.Text; {
		case t == "--force", t == "--all", len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.ContainsAny(t[1:], "af"):
			return at(w), true
		}
	}
	return span{}, false
}

// restartsModule holds for a module of ansible that stops machines or services.
func restartsModule(c *ctx, i int) (span, bool) {
	args := c.args(i)
	if c.given(i, "-C --check") {
		return span{}, false
	}
	for _, w := range c.values(i, "-m --module-name") {
		switch name := w.Text[strings.LastIndexByte(w.Text, '.')+1:]; name {
		case "reboot", "shutdown", "win_reboot", "win_shutdown":
			return at(w), true
		case "service", "systemd", "systemd_service", "win_service", "sysvinit":
			for _, a := range args {
				if strings.Contains(a.Text, "state=stopped") || strings.Contains(a.Text, "state=restarted") {
					return at(a), true
				}
			}
		case "file", "user", "win_file":
			for _, a := range args {
				if strings.Contains(a.Text, "state=absent") {
					return at(a), true
				}
			}
		}
	}
	return span{}, false
}
