const blockLength = 8_000;
/* A line of this length is cut into blocks, all but the first marked as continued. */
const longestLine = 32_000;
/* The longest text after a backslash that reads as an escape. */
const escapeLength = 16;

/** A part of a long text, which is laid out and painted only when visible. */
export interface TextBlock {
  text: string;
  /** True if it begins in the middle of a line. */
  isContinued: boolean;
  /** The approximate number of lines that it takes. */
  lines: number;
}

/** Checks whether a text is shown in blocks. */
export function isLongText(text: string): boolean {
  return text.length > blockLength / 2;
}

/**
 * Cuts a long text into blocks, at line feeds where there are any, and without the line feed between two blocks. Within a long line it cuts
 * where neither an emoji nor an escape can be.
 */
export function splitBlocks(text: string): TextBlock[] {
  const blocks: TextBlock[] = [];
  let start = 0;
  let isContinued = false;
  do {
    const { end, next } = findBlockEnd(text, start);
    const block = text.slice(start, end);
    blocks.push({ text: block, isContinued, lines: estimateLines(block) });
    isContinued = next === end;
    start = next;
  } while (start < text.length);
  return blocks;
}

/* A line feed at the very end stays in the last block. */
function findBlockEnd(text: string, start: number): { end: number; next: number } {
  const all = { end: text.length, next: text.length };
  if (text.length - start <= blockLength) return all;
  const before = text.slice(start, start + blockLength).lastIndexOf('\n');
  if (before >= 0) return { end: start + before, next: start + before + 1 };
  const line = text.slice(start, start + longestLine + 1);
  const found = line.indexOf('\n');
  const length = found === -1 ? line.length : found;
  if (length <= longestLine) {
    return start + length + 1 >= text.length
      ? all
      : { end: start + length, next: start + length + 1 };
  }
  const end = findCut(text, start + blockLength);
  return { end, next: end };
}

/** Finds the first place from here on between two plain characters outside escapes; or else between any two characters. */
function findCut(text: string, from: number): number {
  for (let place = from; place < Math.min(from + blockLength, text.length); place += 1) {
    const around = text.slice(place - 1, place + 1);
    if (!/^[\w .,;:]{2}$/.test(around)) continue;
    if (!text.slice(place - escapeLength, place).includes('\\')) return place;
  }
  const isInPair = /[\uD800-\uDBFF]/.test(text.charAt(from - 1));
  return isInPair ? from + 1 : from;
}

const charactersInLine = 90;

function estimateLines(text: string): number {
  let lines = 0;
  let start = 0;
  while (start <= text.length) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    lines += Math.max(1, Math.ceil((end - start) / charactersInLine));
    start = end + 1;
  }
  return lines;
}

/** Counts the lines of a text. */
export function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
