/** A table as text: the first column to the left, the others to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const text = lines.map((line) =>
    line
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  '),
  );
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [text[0], rule, ...text.slice(1)].join('\n');
}

/** Milliseconds with three digits that matter. */
export function milliseconds(value: number): string {
  if (Number.isNaN(value)) return '-';
  return value.toFixed(value < 1 ? 3 : value < 10 ? 2 : 1);
}

/** A ratio, for tables. */
export function times(value: number): string {
  return Number.isFinite(value) ? `${value.toFixed(value < 10 ? 2 : 0)}x` : '-';
}
