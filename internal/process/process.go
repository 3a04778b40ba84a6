// Package process keeps what runs on while an agent does something else: commands in the background and terminals, with what they
// printed, who owns them, and what they are watched for.
//
// It judges no command and starts none (see launch).
//
// Failure direction: refuse. Whose a process is not, does not see it; when its session ends, so does it.
package process
