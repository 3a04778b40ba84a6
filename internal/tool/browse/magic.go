package browse

import (
	"bytes"
	"strings"
)

// signature is how files of a kind begin.
type signature struct {
	at         int
	begin      string
	kind       string
	extensions string // by blank, the usual one first
}

// signatures are the kinds that people send each other.
var signatures = [...]signature{
	{0, "%PDF-", "application/pdf", ".pdf"},
	{0, "\x89PNG\r\n\x1a\n", "image/png", ".png"},
	{0, "\xff\xd8\xff", "image/jpeg", ".jpg .jpeg"},
	{0, "GIF87a", "image/gif", ".gif"}, {0, "GIF89a", "image/gif", ".gif"},
	{8, "WEBP", "image/webp", ".webp"}, {8, "WAVE", "audio/wav", ".wav"}, {8, "AVI ", "video/x-msvideo", ".avi"},
	{4, "ftypavif", "image/avif", ".avif"}, {4, "ftypheic", "image/heic", ".heic"}, {4, "ftypM4A", "audio/mp4", ".m4a"}, {4, "ftypqt", "video/quicktime", ".mov"}, {4, "ftyp", "video/mp4", ".mp4 .m4v"},
	{0, "BM", "image/bmp", ".bmp"}, {0, "II*\x00", "image/tiff", ".tif .tiff"}, {0, "MM\x00*", "image/tiff", ".tif .tiff"}, {0, "\x00\x00\x01\x00", "image/x-icon", ".ico"},
	{0, "ID3", "audio/mpeg", ".mp3"}, {0, "\xff\xfb", "audio/mpeg", ".mp3"}, {0, "\xff\xf3", "audio/mpeg", ".mp3"}, {0, "OggS", "audio/ogg", ".ogg .opus .oga .ogv"}, {0, "fLaC", "audio/flac", ".flac"},
	{0, "\x1aE\xdf\xa3", "video/webm", ".webm .mkv"},
	{0, "PK\x03\x04", "application/zip", ".zip .docx .xlsx .pptx .odt .ods .odp .epub .jar .apk"}, {0, "\x1f\x8b", "application/gzip", ".gz .tgz"}, {0, "BZh", "application/x-bzip2", ".bz2"}, {0, "\xfd7zXZ\x00", "application/x-xz", ".xz"}, {0, "(\xb5/\xfd", "application/zstd", ".zst"}, {0, "7z\xbc\xaf'\x1c", "application/x-7z-compressed", ".7z"}, {0, "Rar!\x1a\x07", "application/vnd.rar", ".rar"},
	{0, "\x7fELF", "application/x-executable", ""}, {0, "MZ", "application/vnd.microsoft.portable-executable", ".exe .dll"}, {0, "\xcf\xfa\xed\xfe", "application/x-mach-binary", ""}, {0, "\xca\xfe\xba\xbe", "application/x-mach-binary", ""}, {0, "\x00asm", "application/wasm", ".wasm"},
	{0, "SQLite format 3\x00", "application/vnd.sqlite3", ".sqlite .db"}, {0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage", ".doc .xls .ppt .msi"},
}

// sniff returns what a body is by its first bytes, "" where they do not say.
func sniff(body []byte) string { return signed(body).kind }

func signed(body []byte) signature {
	for _, s := range &signatures {
		if len(body) >= s.at+len(s.begin) && string(body[s.at:s.at+len(s.begin)]) == s.begin {
			if s.at == 8 && !bytes.HasPrefix(body, []byte("RIFF")) || s.begin == "BM" && !bitmap(body) || s.begin == "MZ" && len(body) < 64 {
				continue
			}
			return s
		}
	}
	return signature{}
}

// bitmap tells whether what begins with BM is a picture: two letters may begin a text.
func bitmap(body []byte) bool {
	return len(body) > 26 && bytes.Equal(body[6:10], []byte{0, 0, 0, 0})
}

// agrees tells whether a server's word for a body is what the bytes say.
func agrees(said, is string) bool {
	said = strings.TrimPrefix(said, "x-")
	family := func(s string) string { f, _, _ := strings.Cut(s, "/"); return f }
	switch {
	case said == is, said == "", said == "application/octet-stream", said == "binary/octet-stream", said == "application/force-download":
		return true
	case family(said) == family(is) && family(is) != "application" && family(is) != "text":
		return true // image/jpg for image/jpeg, audio/x-wav
	case family(is) == "audio" && family(said) == "video", family(is) == "video" && family(said) == "audio":
		return true // one container for both
	case is == "application/ogg", is == "audio/ogg":
		return said == "application/ogg"
	case is == "application/zip":
		return strings.HasPrefix(said, "application/")
	case is == "application/gzip", is == "application/x-ole-storage":
		return strings.HasPrefix(said, "application/")
	case is == "application/vnd.microsoft.portable-executable", is == "application/x-executable":
		return strings.HasPrefix(said, "application/x-") || strings.HasPrefix(said, "application/vnd.")
	}
	return false
}
