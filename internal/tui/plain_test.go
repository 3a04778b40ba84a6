package tui

import (
	"bytes"
	"io"
	"strings"
)

func testPlain(out io.Writer, talk Talker, person bool) *plain {
	return &plain{o: Options{Out: out, Person: person}, look: Look{Wide: true, Home: "/home/ada"}, cols: 80, calls: map[string]*call{},
		in: &lineReader{r: strings.NewReader("")}, left: make(chan struct{}), talk: talk}
}

var _ bytes.Buffer
