// Package seccomp writes the filter that decides which system calls the commands of a sandbox may make.
//
// It makes a program for the kernel from two tables, calls refused and calls whose arguments are looked at, and does not
// install it (see native/wall). It does not know files or addresses: a filter cannot follow a pointer.
//
// Failure direction: refuse. A call that is newer than the tables does not exist, one of another architecture kills.
package seccomp

import (
	"encoding/binary"
	"slices"
)

// Options loosen or tighten the filter. The zero Options is the filter of a sandbox with a network namespace of its own.
type Options struct {
	NoInternet bool // no internet sockets at all, for a sandbox that shares the host's network namespace and shall not reach it
}

// Filter returns the program for this machine's architecture, as the kernel takes it: eight bytes an instruction. Rules is
// the number of calls, or of calls with certain arguments, that it refuses.
func Filter(o Options) (program []byte, rules int) {
	code, rules := compile(native(), o)
	for _, in := range code {
		program = binary.NativeEndian.AppendUint16(program, in.code)
		program = append(program, in.jt, in.jf)
		program = binary.NativeEndian.AppendUint32(program, in.k)
	}
	return program, rules
}

// InstructionSize is the size of one instruction in bytes.
const InstructionSize = 8

// Layout of what a filter sees of a call.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16 // eight bytes each; both architectures are little-endian, so the low word comes first
)

// What a filter answers.
const (
	allow = 0x7fff0000
	kill  = 0x80000000
	fail  = 0x00050000 // and the error number

	eperm        = 1
	enosys       = 38
	eafnosupport = 97
)

// Codes of the instructions used.
const (
	opLoad = 0x20 // word at an absolute offset
	opAnd  = 0x54
	opJump = 0x05
	opEq   = 0x15
	opGe   = 0x35
	opSet  = 0x45 // any of these bits
	opRet  = 0x06
)

type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

// architecture is what differs between machines.
type architecture struct {
	audit   uint32 // the kernel's name of it
	last    uint32 // the newest call known
	other   uint32 // a bit of the number that marks another way in, 0 for none
	refused []uint32
	missing []uint32 // answered as if the kernel did not have them, so that libraries use an older call
	looked  []look
}

// look says what of a call's arguments is refused. The rules of one call are tried in order; the first that matches decides.
type look struct {
	call  uint32
	tests []test
}

// test matches one argument's low word; all of a refusal's must match.
type test struct {
	arg  int
	mask uint32 // 0: all of it
	is   []uint32
	not  bool // matches when the masked value is none of is
	bits bool // matches when any bit of the mask is set; is stays unused
	then []test
}

// leaf is what happens from one number on.
type leaf struct {
	from uint32
	code []instruction
}

// compile makes the program: first the architecture, then a binary tree over the numbers whose leaves answer or look further.
func compile(a architecture, o Options) (code []instruction, rules int) {
	leaves, rules := a.leaves(o)
	code = []instruction{
		{opLoad, 0, 0, offsetArch},
		{opEq, 1, 0, a.audit},
		{opRet, 0, 0, kill},
		{opLoad, 0, 0, offsetNumber},
	}
	if a.other != 0 {
		code = append(code, instruction{opSet, 0, 1, a.other}, instruction{opRet, 0, 0, kill})
	}
	return append(code, tree(leaves)...), rules
}

func (a architecture) leaves(o Options) (out []leaf, rules int) {
	answers := map[uint32][]instruction{}
	for _, n := range a.refused {
		answers[n] = ret(fail | eperm)
	}
	for _, n := range a.missing {
		answers[n] = ret(fail | enosys)
	}
	rules = len(answers)
	for _, l := range append(slices.Clone(a.looked), sockets(a, o)...) {
		answers[l.call] = l.compile()
		rules += len(l.tests)
	}
	for n := range a.last + 1 {
		code, special := answers[n]
		if !special {
			code = ret(allow)
		}
		if len(out) == 0 || !slices.Equal(out[len(out)-1].code, code) {
			out = append(out, leaf{n, code})
		}
	}
	return append(out, leaf{a.last + 1, ret(fail | enosys)}), rules + 1
}

func ret(k uint32) []instruction { return []instruction{{opRet, 0, 0, k}} }

// tree writes the search for the leaf a number belongs to.
func tree(leaves []leaf) []instruction {
	if len(leaves) == 1 {
		return leaves[0].code
	}
	mid := len(leaves) / 2
	low, high := tree(leaves[:mid]), tree(leaves[mid:])
	var head []instruction
	if len(low) <= 255 {
		head = []instruction{{opGe, uint8(len(low)), 0, leaves[mid].from}}
	} else { // too far for a conditional jump
		head = []instruction{{opGe, 0, 1, leaves[mid].from}, {opJump, 0, 0, uint32(len(low))}}
	}
	return slices.Concat(head, low, high)
}

// compile writes the refusals of a call one after the other, each followed by the next, at the end: allowed.
func (l look) compile() []instruction {
	var out []instruction
	for _, t := range l.tests {
		out = append(out, t.compile(0)...)
	}
	return append(out, ret(allow)...)
}

// compile writes one test with those that must match as well. What does not match falls out at the end.
func (t test) compile(depth int) []instruction {
	body := ret(fail | eperm)
	if len(t.then) > 0 {
		body = nil
		for _, next := range t.then {
			body = append(body, next.compile(depth+1)...)
		}
	}
	out := []instruction{{opLoad, 0, 0, uint32(offsetArgs + 8*t.arg)}}
	if t.bits {
		return append(append(out, instruction{opSet, 0, uint8(len(body)), t.mask}), body...)
	}
	if t.mask != 0 {
		out = append(out, instruction{opAnd, 0, 0, t.mask})
	}
	for i, value := range t.is {
		left := uint8(len(t.is) - i - 1) // comparisons still to come
		hit, miss := left, uint8(0)
		if t.not { // one that is equal is over: past the rest and the body
			hit = left + uint8(len(body))
		} else if left == 0 {
			miss = uint8(len(body))
		}
		out = append(out, instruction{opEq, hit, miss, value})
	}
	return append(out, body...)
}
