package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// checkLines answers each line of the input, in order. A bad line gets an answer of its own and the rest goes on; the
// exit code tells in the end. No file but the input is read.
func checkLines(stdio *IO, o checkOptions, args []string) error {
	in, name := stdio.Stdin, "standard input"
	if len(args) == 1 {
		o.file = args[0]
	}
	if o.file != "" && o.file != "-" {
		f, err := os.Open(o.file)
		if err != nil {
			return fmt.Errorf("read %s: %w", o.file, bare(err))
		}
		defer f.Close()
		in, name = f, o.file
	}
	good, err := answerLines(in, stdio.Stdout, &asker{checkOptions: o})
	switch {
	case err != nil:
		return fmt.Errorf("read %s: %w", name, bare(err))
	case !good:
		return exitCode(exitFailed)
	}
	return nil
}

// promptReader hands on what was answered before it waits for more, so that a program at the other end of a pipe may ask
// one question at a time, and a file is answered in large blocks.
type promptReader struct {
	r     io.Reader
	flush func() error
}

func (p promptReader) Read(b []byte) (int, error) {
	if err := p.flush(); err != nil {
		return 0, err
	}
	return p.r.Read(b)
}

// answerLines returns whether all lines were good, and an error when reading or writing broke off.
func answerLines(r io.Reader, w io.Writer, a *asker) (good bool, err error) {
	out, ok := w.(*bufio.Writer)
	if !ok {
		out = bufio.NewWriterSize(w, 1<<16)
	}
	lines := bufio.NewReaderSize(promptReader{r, out.Flush}, 1<<16)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	good = true
	var long []byte
	for n := 1; ; n++ {
		line, tooLong, err := readLine(lines, &long)
		if err != nil && err != io.EOF {
			return good, err
		}
		end := err == io.EOF
		if tooLong || len(bytes.TrimSpace(line)) > 0 {
			var req request
			var answer any
			trouble := fmt.Errorf("longer than %d MiB", maxText>>20)
			if !tooLong {
				answer, trouble = a.answerLine(line, &req)
			}
			if trouble != nil {
				good = false
				answer = errorAnswer{ID: req.ID, Error: fmt.Sprintf("line %d: %s", n, trouble)}
			}
			if err := encoder.Encode(answer); err != nil {
				return good, err
			}
		}
		if end {
			return good, out.Flush()
		}
	}
}

// readLine returns the next line. What is returned lasts until the next call; tooLong means that it was skipped.
func readLine(r *bufio.Reader, long *[]byte) (line []byte, tooLong bool, err error) {
	line, err = r.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, false, err
	}
	buf := (*long)[:0]
	for {
		if len(buf) <= maxText {
			buf = append(buf, line...)
		}
		if err != bufio.ErrBufferFull {
			*long = buf
			return buf, len(buf) > maxText, err
		}
		line, err = r.ReadSlice('\n')
	}
}

// answerLine decodes one line and answers it. req keeps the id for the error.
func (a *asker) answerLine(line []byte, req *request) (any, error) {
	if !utf8.Valid(line) {
		return nil, errors.New("is not UTF-8")
	}
	if err := json.Unmarshal(line, req); err != nil {
		return nil, jsonTrouble(err)
	}
	return a.answer(req)
}

// jsonTrouble names the field that the decoder stumbled over.
func jsonTrouble(err error) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return fmt.Errorf("is a JSON %s, not an object", wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("%s: is a JSON %s, want %s", wrong.Field, wrong.Value, jsonType(wrong.Type.Kind().String()))
	case errors.As(err, &syntax):
		return fmt.Errorf("byte %d: %s", syntax.Offset, syntax.Error())
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// jsonType returns JSON's word for a kind of Go value.
func jsonType(kind string) string {
	switch kind {
	case "slice":
		return "list"
	case "map", "struct":
		return "object"
	case "bool":
		return "boolean"
	}
	return kind
}
