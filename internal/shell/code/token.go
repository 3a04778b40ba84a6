package code

type tkind uint8

const (
	tEOF    tkind = iota
	tIdent        // text
	tVar          // text is the name without its sigil
	tNum          // text
	tStr          // parts[n:m]
	tShell        // parts[n:m], run by a shell
	tWords        // text holds the words
	tRegex        // parts[n:m]
	tRaw          // src[n:m] is code of the same language
	tOp           // text
	tEnd          // end of a statement
	tHandle       // <FH>
)

type token struct {
	kind  tkind
	space bool // space before it
	line  bool // a line break before it
	sigil byte
	text  string
	a, b  int
	n, m  int
}

// part is a piece of an interpolated string: text, or the code in src[a:b].
type part struct {
	lit  string
	code bool
	wild bool // not known and not code either
	a, b int
}
