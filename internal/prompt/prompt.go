// Package prompt is the door through which text enters a model's context: what came from outside is cleaned, scanned, marked and
// wrapped, and the files that instruct agents are read, judged and put in order.
//
// It decides nothing about a text itself (see guard/taint, redact) and asks no model.
//
// Layer 6 of 8. Failure direction: what cannot be scanned enters as untrusted, or, where it would instruct, not at all.
package prompt
