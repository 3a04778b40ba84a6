package htmltext

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the files that the tests compare with")

func read(t testing.TB, text string, o Options) Page {
	t.Helper()
	p, err := Read(context.Background(), text, o)
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return p
}

// What is not shown is told apart, by how it is hidden, and what is shown stays.
func TestHidden(t *testing.T) {
	for _, row := range []struct{ page, kind string }{
		// By the language itself.
		{`<!-- SECRET -->`, "comment"}, {`<div hidden>SECRET</div>`, "hidden"}, {`<div hidden=until-found>SECRET</div>`, "hidden"}, {`<p aria-hidden=true>SECRET</p>`, "aria-hidden"},
		{`<template><p>SECRET</p></template>`, "template"}, {`<noscript><p>SECRET</p></noscript>`, "noscript"}, {`<dialog>SECRET</dialog>`, "dialog"}, {`<input type=hidden value=SECRET>`, "input"},
		{`<iframe>SECRET</iframe>`, "fallback"}, {`<video>SECRET</video>`, "fallback"}, {`<object>SECRET</object>`, "fallback"}, {`<svg><title>SECRET</title></svg>`, "svg"}, {`<svg><desc>SECRET</desc></svg>`, "svg"},
		{`<datalist><option>SECRET</option></datalist>`, "datalist"}, {`<div popover>SECRET</div>`, "popover"}, {`<meta name=description content="a SECRET sentence">`, "meta"},
		// By attributes.
		{`<img src=x alt="SECRET">`, "alt"}, {`<a href="/x" title="SECRET">link</a>`, "title"}, {`<p aria-label="SECRET">text</p>`, "aria-label"}, {`<input placeholder="SECRET">`, "placeholder"},
		// By style.
		{`<p style="display:none">SECRET</p>`, "style: display"}, {`<p style="DISPLAY : none !important">SECRET</p>`, "style: display"}, {`<p style="d\69splay:/**/none">SECRET</p>`, "style: display"},
		{`<p style="visibility:hidden">SECRET</p>`, "style: visibility"}, {`<p style="opacity:0">SECRET</p>`, "style: opacity"}, {`<p style="opacity:1%">SECRET</p>`, "style: opacity"}, {`<p style="filter:opacity( 0 )">SECRET</p>`, "style: opacity"},
		{`<p style="font-size:0">SECRET</p>`, "style: font-size"}, {`<p style="font-size:1px">SECRET</p>`, "style: font-size"}, {`<p style="font-size:.01em">SECRET</p>`, "style: font-size"}, {`<p style="font:0/0 a">SECRET</p>`, "style: font-size"}, {`<p style="font:1px serif">SECRET</p>`, "style: font-size"},
		{`<p style="color:transparent">SECRET</p>`, "style: color"}, {`<p style="color:rgba(0,0,0,0)">SECRET</p>`, "style: color"}, {`<p style="color:#00000000">SECRET</p>`, "style: color"},
		{`<p style="color:white">SECRET</p>`, "style: color"}, {`<font color="#fefefe">SECRET</font>`, "style: color"}, {`<div style="background:#222"><p style="color:#232323">SECRET</p></div>`, "style: color"}, {`<table bgcolor=black><tr><td style="color:#000">SECRET</td></tr></table>`, "style: color"},
		{`<p style="position:absolute;left:-9999px">SECRET</p>`, "style: position"}, {`<p style="position:fixed;top:-100em">SECRET</p>`, "style: position"}, {`<p style="text-indent:-9999px">SECRET</p>`, "style: text-indent"}, {`<p style="margin-left:-5000px">SECRET</p>`, "style: margin"},
		{`<p style="height:0;overflow:hidden">SECRET</p>`, "style: overflow"}, {`<p style="width:1px;height:1px;overflow:hidden">SECRET</p>`, "style: overflow"}, {`<p style="position:absolute;clip:rect(0 0 0 0)">SECRET</p>`, "style: clip"}, {`<p style="clip-path:inset(50%)">SECRET</p>`, "style: clip"},
		{`<p style="transform:scale(0)">SECRET</p>`, "style: transform"}, {`<p style="transform:translateX(-9999px)">SECRET</p>`, "style: transform"}, {`<p style="content-visibility:hidden">SECRET</p>`, "style: content-visibility"},
		// By a style sheet in the page.
		{`<style>.x{display:none}</style><p class="a x">SECRET</p>`, "style: display"}, {`<style>/* */ #q , p.y {color:red;visibility:hidden}</style><p class=y>SECRET</p>`, "style: visibility"}, {`<style>div.o p{font-size:0}</style><div class=o><div><p>SECRET</p></div></div>`, "style: font-size"},
		{`<style>@media screen{.z{opacity:0}}</style><p class=z>SECRET</p>`, "style: opacity"}, {`<style>@import "a";s-t{display:none}</style><s-t>SECRET</s-t>`, "style: display"}, {`<style>@charset "x";.u{display:none</style><p class=u>SECRET</p>`, "style: display"},
		// By a class of the common frameworks.
		{`<span class="sr-only">SECRET</span>`, "class"}, {`<span class="btn visually-hidden">SECRET</span>`, "class"}, {`<span class=hidden>SECRET</span>`, "class"}, {`<span class=d-none>SECRET</span>`, "class"},
		// Within what is hidden.
		{`<div hidden><!-- SECRET --></div>`, "comment"}, {`<div hidden><img alt="SECRET"></div>`, "alt"}, {`<div hidden><div><b>SECRET</b></div></div>`, "hidden"},
	} {
		p := read(t, "<p>Before.</p>"+row.page+"<p>After.</p>", Options{Whole: true, Base: "https://a.example/"})
		if !strings.Contains(p.Markdown, "Before.") || !strings.Contains(p.Markdown, "After.") || strings.Contains(p.Markdown, "SECRET") {
			t.Errorf("%s: shows %q", row.page, p.Markdown)
		}
		if !slices.ContainsFunc(p.Hidden, func(h Hidden) bool { return h.Kind == row.kind && strings.Contains(h.Text, "SECRET") }) {
			t.Errorf("%s: hides %q, want it as %s", row.page, p.Hidden, row.kind)
		}
	}
}

// What is shown is not taken for hidden.
func TestShown(t *testing.T) {
	for _, page := range []string{
		`<p style="display:block">TEXT</p>`, `<p style="opacity:.9">TEXT</p>`, `<p style="font-size:10px">TEXT</p>`, `<p style="font:12px/1.5 serif">TEXT</p>`, `<p style="font:0.8em serif">TEXT</p>`, `<p style="color:#333">TEXT</p>`,
		`<p style="color:white;background:#000">TEXT</p>`, `<div style="background-color:navy"><p style="color:white">TEXT</p></div>`, `<link rel=stylesheet href=x><p style="color:white">TEXT</p>`, `<p style="position:relative;left:-2px">TEXT</p>`,
		`<p style="height:300px;overflow:hidden">TEXT</p>`, `<p style="text-indent:-2em">TEXT</p>`, `<p style="margin-left:-15px">TEXT</p>`, `<p style="transform:rotate(45deg)">TEXT</p>`, `<p aria-hidden=false>TEXT</p>`, `<dialog open>TEXT</dialog>`,
		`<div class="hidden md:block">TEXT</div>`, `<div class="d-none d-lg-block">TEXT</div>`, `<style>@media print{p{display:none}}</style><p>TEXT</p>`, `<style>p:hover{display:none} p[x]{display:none}</style><p>TEXT</p>`, `<style>.a .b{display:none}</style><p class=b>TEXT</p>`,
		`<style>.a{display:none}</style><p class=a style="display:block">TEXT</p>`, `<details><summary>More</summary>TEXT</details>`, `<ruby>TEXT<rt>x</rt></ruby>`, `<math><mi>TEXT</mi></math>`, `<p style="background:url(data:x;y) no-repeat">TEXT</p>`,
	} {
		if p := read(t, page, Options{Whole: true}); !strings.Contains(p.Markdown, "TEXT") {
			t.Errorf("%s: shows %q, hides %q", page, p.Markdown, p.Hidden)
		}
	}
}

// Characters that show nothing are taken out; those that others need stay.
func TestInvisible(t *testing.T) {
	tags := func(s string) string {
		return strings.Map(func(r rune) rune { return 0xe0000 + r }, s)
	}
	for _, row := range []struct{ in, want, hidden string }{
		{"a\u200bb", "ab", "\u200b"}, {"pass" + tags("ignore all") + "word", "password", tags("ignore all")}, {"x\u202edrow\u202c", "xdrow", "\u202e\u202c"}, {"soft\u00adhyphen", "softhyphen", "\u00ad"}, {"\u3164filler", "filler", "\u3164"},
		{"a\ufe0f\ufe0e\ufe0fb", "a\ufe0fb", "\ufe0e\ufe0f"}, {"a\U000e0101\U000e0102b", "ab", "\U000e0101\U000e0102"}, {"نامه\u200cای", "نامه\u200cای", ""}, {"👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧", ""}, {"🏴" + tags("gbsct") + "\U000e007f", "🏴" + tags("gbsct") + "\U000e007f", ""}, {"❤\ufe0f", "❤\ufe0f", ""}, {"bell\a", "bell", ""}, {"日本語 Ünïcode", "日本語 Ünïcode", ""},
	} {
		got, hidden, err := Text(context.Background(), row.in)
		text := ""
		for _, h := range hidden {
			text += h.Text
		}
		if err != nil || got != row.want || text != row.hidden {
			t.Errorf("%+q: %+q, apart %+q, %v", row.in, got, text, err)
		}
	}
}

// Links lead where a reader may go; all others are only their text.
func TestLinks(t *testing.T) {
	for _, row := range []struct{ href, want string }{
		{"/x?a=1", "[go](https://a.example/x?a=1)"}, {"y", "[go](https://a.example/dir/y)"}, {"//b.example/z", "[go](https://b.example/z)"}, {"https://b.example/", "[go](https://b.example/)"}, {"mailto:x@b.example", "[go](mailto:x@b.example)"},
		{"javascript:alert(1)", "go"}, {" java\nscript:alert(1)", "go"}, {"JaVaScRiPt:x", "go"}, {"data:text/html,x", "go"}, {"vbscript:x", "go"}, {"file:///etc/passwd", "go"}, {"https://user:pass@b.example/", "go"}, {"blob:https://a.example/1", "go"}, {"https://b.example/" + strings.Repeat("x", 3000), "go"}, {"http:///nohost", "go"}, {"", "go"},
	} {
		p := read(t, `<p><a href="`+row.href+`" onclick="x()">go</a></p>`, Options{Whole: true, Base: "https://a.example/dir/page"})
		if p.Markdown != row.want {
			t.Errorf("%q: %q", row.href, p.Markdown)
		}
	}
	for page, want := range map[string]string{
		`<base href="https://b.example/up/"><a href="x">go</a>`: "[go](https://b.example/up/x)", `<base href="javascript:x"><a href="x">go</a>`: "[go](https://a.example/x)", `<base href="/deep/"><base href="/deeper/"><a href="x">go</a>`: "[go](https://a.example/deep/x)",
	} {
		if p := read(t, page, Options{Whole: true, Base: "https://a.example/"}); p.Markdown != want {
			t.Errorf("%s: %q", page, p.Markdown)
		}
	}
}

// A page that goes on by itself is told, not followed.
func TestRefresh(t *testing.T) {
	for content, want := range map[string]string{"0; url=/next": "https://a.example/next", "5;URL='https://b.example/'": "https://b.example/", "0,/x": "https://a.example/x", "30": "", "0;url=javascript:x": "", "0;url=data:text/html,x": ""} {
		if p := read(t, `<meta http-equiv=Refresh content="`+content+`"><p>x</p>`, Options{Base: "https://a.example/"}); p.Refresh != want {
			t.Errorf("%q: %q", content, p.Refresh)
		}
	}
}

// Whole pages, as they come out.
func TestGolden(t *testing.T) {
	pages, err := filepath.Glob("testdata/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatal("no page", err)
	}
	for _, name := range pages {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p := read(t, string(text), Options{Base: "https://a.example/dir/page.html"})
		var b strings.Builder
		fmt.Fprintf(&b, "title: %s\nlang: %s\npartial: %v\n\n%s\n", p.Title, p.Lang, p.Partial, p.Markdown)
		for _, h := range p.Hidden {
			fmt.Fprintf(&b, "\n[hidden, %s] %s\n", h.Kind, h.Text)
		}
		golden := strings.TrimSuffix(name, ".html") + ".md"
		if *update {
			if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// Pages that are built to take long: they are read, or refused, soon and in little memory.
func TestHostile(t *testing.T) {
	var fonts, classes strings.Builder
	for i := range 450 {
		fmt.Fprintf(&fonts, "<font a%d>", i)
	}
	for i := range 5000 {
		fmt.Fprintf(&classes, ".x{display:none;a:%d}", i)
	}
	for _, row := range []struct {
		what, page string
		refused    bool
	}{
		{"elements in elements", strings.Repeat("<div>", 100_000), true}, {"a million paragraphs", strings.Repeat("<p>", 1_000_000), true}, {"many paragraphs", strings.Repeat("<p>some text", 150_000), false},
		{"fonts that are opened again and again", "<p>" + fonts.String() + "</p>" + strings.Repeat("<p>x</p>", 100_000), true}, {"roots", strings.Repeat("<html a>", 1000) + func() string {
			var b strings.Builder
			for i := range 50_000 {
				fmt.Fprintf(&b, "<body x%d=1>", i)
			}
			return b.String()
		}(), true},
		{"attributes", "<p " + strings.Repeat("a ", 700_000) + ">", false}, {"rules", "<style>" + classes.String() + "</style><p class=x>x", true}, {"open braces", "<style>" + strings.Repeat("@media screen{", 50_000) + "</style>x", true}, {"open comment", "<style>" + strings.Repeat("/*", 100_000) + "</style>x", false},
		{"ends of nothing", strings.Repeat("</p></b>", 100_000), false}, {"tables in tables", strings.Repeat("<table><tr><td>", 100), false}, {"wide cells", "<table><tr><td>" + strings.Repeat("x", 100_000) + strings.Repeat("<tr><td>y", 20_000) + "</table>", false}, {"many cells", "<table><tr>" + strings.Repeat("<td>x", 50_000) + "</table>", false},
		{"spans", "<table><tr><td colspan=999 rowspan=999>x" + strings.Repeat("<tr><td colspan=999 rowspan=999>y", 2000) + "</table>", false}, {"lists in lists", strings.Repeat("<ul><li>", 200) + "x", false}, {"quotes in quotes", strings.Repeat("<blockquote>", 400) + strings.Repeat("x<br>", 50_000), false},
		{"one long text", strings.Repeat("*_[]()`#", 250_000), false}, {"marks", strings.Repeat("<b>x</b><i>y</i>", 40_000), false}, {"ticks", "<pre>" + strings.Repeat("`", 500_000) + "</pre>", false}, {"links", strings.Repeat(`<a href="/x">y</a> `, 50_000), false}, {"tags without end", strings.Repeat("<", 1_000_000), false}, {"an open tag", "<p " + strings.Repeat("x", 2_000_000), false},
		{"nobr", strings.Repeat("<nobr>", 100_000), false}, {"anchors in tables", strings.Repeat("<table><a>", 400), false}, {"selects", strings.Repeat("<select><option>", 50_000), false}, {"breaks", strings.Repeat("<br>", 250_000), false}, {"blanks", strings.Repeat(" \n", 1_000_000), false}, {"templates", strings.Repeat("<template>", 600), true},
	} {
		start := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		_, err := Read(ctx, row.page, Options{})
		cancel()
		if refused := errors.Is(err, ErrTooComplex); refused != row.refused || err != nil && !refused {
			t.Errorf("%s: %v", row.what, err)
		}
		t.Logf("%s: %v", row.what, time.Since(start).Round(time.Millisecond))
	}
}

// Reading ends with the context.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, "<p>x", Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Nothing that stands in a hidden place, and there alone, comes out in the markdown.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"<p>a", "<div hidden>b", "<!-- c -->", `<p style="display:none">d`, "<table><td>x<style>p{color:#fff}", "<svg><style><a title='", "<template><div><template>x", "\x00\xff<p>", "<noscript><p hidden", "<math><mi></mi><annotation-xml encoding=text/html><p>x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const mark = "zqxjkv"
		if len(text) > 1<<16 || strings.Contains(text, mark) {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		for _, hidden := range []string{"<div hidden>" + mark + "</div>", "<img alt=" + mark + ">", `<p style="display:none">` + mark + "</p>", "<!--" + mark + "-->"} {
			p, err := Read(ctx, hidden+text, Options{Whole: true, Base: "https://a.example/"})
			if err != nil {
				if !errors.Is(err, ErrTooComplex) {
					t.Fatal(err)
				}
				continue
			}
			if strings.Contains(p.Markdown, mark) {
				t.Errorf("%q is shown: %q", hidden+text, p.Markdown)
			}
			if strings.Contains(strings.ToLower(p.Markdown), "](javascript:") {
				t.Errorf("%q: %q", text, p.Markdown)
			}
		}
	})
}
