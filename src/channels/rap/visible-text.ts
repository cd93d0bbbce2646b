/** A text as the eye has it: what is invisible, how wide its spaces are, and how its letters are composed make no difference. */
export function textAsSeen(text: string): string {
  return text
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .trim();
}
