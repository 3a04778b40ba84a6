package audit

import "time"

// flood bounds how many refusals and look-ups are written: so many at once, and so many a second after that.
type flood struct {
	spent   float64 // of burst
	at      time.Time
	skipped uint64 // since the last record that told
}

const (
	burst     = 200
	perSecond = 2
)

// may tells whether one more may be written now, and counts it as skipped if not.
func (f *flood) may(now time.Time) bool {
	if past := now.Sub(f.at).Seconds(); past > 0 {
		f.spent = max(0, f.spent-past*perSecond)
	}
	f.at = now
	if f.spent+1 > burst {
		f.skipped++
		return false
	}
	f.spent++
	return true
}

// take returns how many were skipped, to be told now.
func (f *flood) take() uint64 {
	n := f.skipped
	f.skipped = 0
	return n
}
