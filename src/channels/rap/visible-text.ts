/** A text as people see it: without invisible characters, differences in spaces, and differences in how letters are composed. */
export function normalizeVisible(text: string): string {
  return text
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .trim();
}

/** Whether no two labels look the same. */
export function lookDifferent(labels: readonly string[]): boolean {
  return new Set(labels.map(normalizeVisible)).size === labels.length;
}
