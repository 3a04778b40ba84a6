package egress

import "strings"

// floorName tells whether a name stands for what hands out a machine's credentials or runs it. Nothing lifts these.
func floorName(name string) bool {
	switch name {
	case "metadata", "instance-data", "rancher-metadata", "kubernetes", "kubernetes.default":
		return true
	}
	for _, top := range [...]string{
		"metadata.google.internal", "metadata.goog", "metadata.azure.internal", "instance-data.ec2.internal",
		"metadata.tencentyun.com", "kubernetes.default.svc",
	} {
		if under(name, top) {
			return true
		}
	}
	return strings.HasPrefix(name, "kubernetes.default.svc.")
}

// internalName tells whether a name is one of this machine or of its network only: looking it up outside would at best tell
// others what it is.
func internalName(name string) bool {
	if !strings.Contains(name, ".") {
		return true
	}
	for _, top := range [...]string{"localhost", "localdomain", "internal", "local", "home.arpa"} {
		if under(name, top) {
			return true
		}
	}
	return false
}

// under tells whether a name is a domain or below it.
func under(name, domain string) bool {
	rest, ok := strings.CutSuffix(name, domain)
	return ok && (rest == "" || strings.HasSuffix(rest, "."))
}
