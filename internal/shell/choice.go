package shell

// frame holds the alternatives that are being tried for one command: each variable with several values is fixed to one of
// them, and the command is expanded once for each combination.
type frame struct {
	picks []int
	sizes []int
	pos   int
	memo  map[*variable]int
	round int
	inner *frame // for commands inside
}

// next returns the frame for a command inside this one, ready for use. Frames are kept: most texts need one or two.
func (f *frame) next() *frame {
	if f == nil {
		return nil
	}
	if f.inner == nil {
		f.inner = &frame{}
	}
	return f.inner
}

func (f *frame) reset() {
	f.picks, f.sizes, f.pos, f.round = f.picks[:0], f.sizes[:0], 0, 0
	clear(f.memo)
}

// pick returns the value of v in the combination at hand.
func (e *eval) pick(v *variable) value {
	switch len(v.alts) {
	case 0:
		return value{unset: true}
	case 1:
		return v.alts[0]
	}
	f := e.frame
	if f == nil {
		return v.alts[0]
	}
	if i, ok := f.memo[v]; ok && i < len(v.alts) {
		return v.alts[i]
	}
	i := e.choose(len(v.alts))
	if f.memo == nil {
		f.memo = map[*variable]int{}
	}
	f.memo[v] = i
	return v.alts[i]
}

// choose returns which of n possibilities holds in the combination at hand.
func (e *eval) choose(n int) int {
	f := e.frame
	if f == nil || n < 2 {
		return 0
	}
	if f.pos == len(f.picks) {
		f.picks = append(f.picks, 0)
		f.sizes = append(f.sizes, n)
	}
	i := f.picks[f.pos]
	f.pos++
	return min(i, n-1)
}

// eachChoice calls fn once for each combination of alternatives that fn meets.
func (e *eval) eachChoice(fn func()) {
	saved := e.frame
	f := saved.next()
	if f == nil {
		f = &e.frames
	}
	e.frame = f
	f.reset()
	for {
		f.pos = 0
		clear(f.memo)
		fn()
		i := len(f.picks) - 1
		for i >= 0 && f.picks[i]+1 >= f.sizes[i] {
			i--
		}
		if i < 0 {
			break
		}
		f.picks[i]++
		f.picks, f.sizes = f.picks[:i+1], f.sizes[:i+1]
		if f.round++; f.round >= maxChoices {
			lo, hi := e.cur.src.span(0, len(e.cur.text))
			e.note(TooMuch, "", -1, lo, hi)
			break
		}
	}
	e.frame = saved
}
