package docker_test

// killedRole makes the test's binary a process that is killed.
const killedRole = "be-killed"

func beKilled([]string) int { return 1 }
