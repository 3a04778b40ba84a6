// Package notes holds the tools todo and memory: what an agent has to do, and what it is to remember.
//
// What is to be remembered enters later prompts, so it is scanned strictly when it is written.
//
// Failure direction: refuse. A note that instructs is not kept.
package notes
