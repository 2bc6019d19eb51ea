//! Characters in names that mislead whoever looks at them.

/// Whether a character makes a terminal do something else than show it: move the cursor, end the line, turn the
/// direction of writing, or take no room.
pub fn misleads(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}
