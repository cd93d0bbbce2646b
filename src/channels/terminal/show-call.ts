import { inertLine } from '../../content/inert-text.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import { firstUnits, lastUnits, textLines, wrap } from './fit-text.ts';
import type { Page } from './page.ts';

const longestOnOneLine = 60;
const longestInFull = 300;
const mostEntries = 20;

/** The call that would run, and nothing else: its tool, and every argument as `name: value`. */
export function showCall(
  page: Page,
  { toolName, input }: Pick<ToolCall, 'toolName' | 'input'>,
): void {
  for (const [index, line] of wrap(inertLine(toolName), page.columns - 4).entries()) {
    page.add(`${index === 0 ? '  ' : '  ┊ '}${page.paint.strong(line)}`);
  }
  if (isGroup(input)) showEntries(page, input, 4);
  else showValue(page, '', input, 4);
}

function showEntries(page: Page, group: object, indent: number): void {
  const entries = Object.entries(group);
  const isLong = page.isFolding && entries.length > mostEntries;
  for (const [name, value] of isLong ? entries.slice(0, mostEntries) : entries) {
    const label = Array.isArray(group) ? `[${name}]` : nameText(name);
    showValue(page, `${label}: `, value, indent);
  }
  if (isLong) {
    const more = `${' '.repeat(indent)}and ${entries.length - mostEntries} more `;
    page.add(page.folded(compact(group).length, more));
  }
}

function showValue(page: Page, label: string, value: unknown, indent: number): void {
  const text = compact(value);
  const room = page.columns - indent;
  if (page.isFolding && text.length > longestInFull) {
    page.addAll(continued(page, indent, `${label}${foldedValue(page, text, room - label.length)}`));
  } else if (isGroup(value) && (text.length > longestOnOneLine || text.length > room)) {
    page.addAll(continued(page, indent, label.trimEnd()));
    showEntries(page, value, Math.min(indent + 2, Math.floor(page.columns / 2)));
  } else if (typeof value === 'string' && value.includes('\n')) {
    page.addAll(continued(page, indent, label.trimEnd()));
    page.addAll(textLines(value, room, true).map((line) => ' '.repeat(indent) + line));
  } else page.addAll(continued(page, indent, `${label}${text}`));
}

/* Both ends, as what matters may stand at either. */
function foldedValue(page: Page, text: string, room: number): string {
  const note = page.folded(text.length);
  const shown = Math.max(20, room - 45);
  const end = Math.floor(shown / 3);
  return `${firstUnits(text, shown - end)} … ${lastUnits(text, end)} ${note}`;
}

function continued(page: Page, indent: number, text: string): string[] {
  const space = ' '.repeat(indent);
  return wrap(text, page.columns - indent - 2).map((line, index) =>
    index === 0 ? space + line : `${space}┊ ${line}`,
  );
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

/** JSON on one line, but for strings, where what is hidden is made visible instead of escaped as JSON would. */
function compact(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  if (Array.isArray(value)) return `[${value.map(compact).join(', ')}]`;
  const entries = Object.entries(value).map(
    ([name, item]) => `${nameText(name)}: ${compact(item)}`,
  );
  return `{${entries.join(', ')}}`;
}

/* A backslash of the text is doubled by `inertLine`, so `\"` is a quotation mark of the text and nothing else. */
function quoted(text: string): string {
  return `"${inertLine(text).replaceAll('"', '\\"')}"`;
}

/* A name that is no plain word is quoted, so that it can't hold what looks like a value. */
function nameText(name: string): string {
  return /^[\w$-]+$/.test(name) ? name : quoted(name);
}
