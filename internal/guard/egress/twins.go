package egress

import "strings"

// twins are letters and what they look like: for each ASCII letter those that can hardly be told from it in common fonts.
// Only what a folded name can hold is here. Letters that are merely alike are not: Москва is no imitation of "mocква".
var twins = [...]struct {
	ascii   rune
	letters string
}{
	{'a', "аɑαᴀꓮᗅᎪ"},
	{'b', "ʙᏏꓐᗷ"},
	{'c', "сϲᴄⲥᏟꓚ"},
	{'d', "ԁᴅꓓᎠᗞ"},
	{'e', "еҽᴇꓰᎬ"},
	{'f', "ꜰꓝք"},
	{'g', "ɡցᶃꓖᏀ"},
	{'h', "һհʜꓧᕼᎻ"},
	{'i', "іιɪⲓᎥ"},
	{'j', "јϳᴊյꓙᎫ"},
	{'k', "κᴋⲕꓗᏦ"},
	{'l', "ӏʟꓡᏞᒪլⵏ"},
	{'m', "ᴍꓟᎷ"},
	{'n', "ոռɴꓠ"},
	{'o', "оοօᴏⲟσⵔ𐐬ꓳ"},
	{'p', "рρᴘⲣꓑᏢᑭ"},
	{'q', "ԛզ"},
	{'r', "ᴦʀꓣᖇᎡ"},
	{'s', "ѕꜱꓢᏚƽ"},
	{'t', "ᴛꓔᎢ"},
	{'u', "υսᴜꓴᑌ"},
	{'v', "ѵνᴠꓦᐯᏙ"},
	{'w', "ԝѡᴡꓪաᎳ"},
	{'x', "хχⲭꓫᕁ×"},
	{'y', "уүγⲩꓬʏᎩ"},
	{'z', "ᴢꓜᏃ"},
}

// twin returns the ASCII character that a letter looks like, 0 if it has a shape of its own.
func twin(r rune) rune {
	if r < 0x80 {
		return r
	}
	for i := range twins {
		if strings.ContainsRune(twins[i].letters, r) {
			return twins[i].ascii
		}
	}
	return 0
}
