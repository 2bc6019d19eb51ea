//! Characters in names that mislead whoever looks at them.

/// Whether a character makes a terminal do something else than show it: move the cursor, end the line, turn the
/// direction of writing, or take no room.
pub fn misleads(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// A name for a message: what would mislead whoever reads it or is no text is escaped, and the end of what is
/// very long is left out.
pub fn shown(name: &[u8]) -> String {
    const KEPT: usize = 400;
    let mut text = String::new();
    for chunk in name[..name.len().min(KEPT)].utf8_chunks() {
        for character in chunk.valid().chars() {
            if misleads(character) {
                text.extend(character.escape_default())
            } else {
                text.push(character)
            }
        }
        text.push_str(&chunk.invalid().escape_ascii().to_string());
    }
    if name.len() > KEPT {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_shown_neither_ends_the_line_nor_moves_the_cursor() {
        let name = b"a\x1b[2J\ntapewise: b\xe9 \xc3\xa9";
        assert_eq!(shown(name), "a\\u{1b}[2J\\ntapewise: b\\xe9 \u{e9}");
        assert_eq!(shown(&[b'x'; 500]).chars().count(), 401);
    }
}
