// Package terminal holds the tools for commands: terminal, process, read_terminal, close_terminal.
//
// Every command passes launch, which decides. What runs on is kept by package process.
//
// Failure direction: refuse.
package terminal
