// Package demo plays an agent that was talked into doing harm, against the real guard in a real sandbox, and tells which layer
// stopped each attempt.
//
// Only the model's turns are recorded. It works in a home of its own and leaves nothing.
//
// Failure direction: an attempt that was not seen to be stopped counts as one that went through.
package demo
