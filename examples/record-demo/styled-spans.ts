/** Consecutive characters of one style. */
export interface Span {
  text: string;
  /** The names of its styles: `bold`, `italic`, `inverse`. */
  styles: string[];
}

const styleOf = new Map([
  ['1', 'bold'],
  ['3', 'italic'],
  ['7', 'inverse'],
]);

/**
 * Reads rows with SGR escape sequences, as `tmux capture-pane -e` prints them: a style lasts across rows until it is
 * reset. A style that the demo does not use is ignored.
 */
export function parseRows(rows: readonly string[]): Span[][] {
  let styles: string[] = [];
  return rows.map((row) => {
    const [first = '', ...rest] = row.split('\u001B[');
    const spans: Span[] = [{ text: first, styles }];
    for (const part of rest) {
      const end = part.indexOf('m');
      styles = part.slice(0, end).split(';').reduce(withCode, styles);
      spans.push({ text: part.slice(end + 1), styles });
    }
    return spans.filter(({ text }) => text !== '');
  });
}

function withCode(styles: string[], code: string): string[] {
  if (code === '' || code === '0') return [];
  const style = styleOf.get(code);
  return style === undefined || styles.includes(style) ? styles : [...styles, style];
}
