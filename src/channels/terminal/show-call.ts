import { inertLine, quoteInertLine } from '../../content/inert-text.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import { findDiffPaint } from './paint.ts';
import { fitTextLines, wrap } from './fit-text.ts';
import { groupPart, makeLinesPart, type Part } from './fold-parts.ts';
import type { Page } from './page.ts';

const longestOnOneLine = 60;
/* At most half of it is used for indentation; deeper values are shown on one line. */
const widestPage = 80;

/** Shows the call exactly as it would run: its tool, and every argument as `name: value`. */
export function showCall(
  page: Page,
  { toolName, input }: Pick<ToolCall, 'toolName' | 'input'>,
): void {
  const name = wrap(inertLine(toolName), page.columns - 4).map(
    (line, index) => `${index === 0 ? '  ' : '  ┊ '}${page.paint.strong(line)}`,
  );
  const parts = isGroup(input)
    ? makeEntryParts(page, input, 4)
    : [makeValuePart(page, '', input, 4)];
  page.addPart(groupPart([makeLinesPart(name, 2), ...parts], 2));
}

function makeEntryParts(page: Page, group: object, indent: number): Part[] {
  return Object.entries(group).map(([name, value]) => {
    const label = Array.isArray(group) ? `[${name}]` : nameText(name);
    return makeValuePart(page, `${label}: `, value, indent);
  });
}

function makeValuePart(page: Page, label: string, value: unknown, indent: number): Part {
  const room = page.columns - indent;
  if (typeof value === 'string' && value.includes('\n')) {
    const paint = findDiffPaint(value, page.paint);
    const space = ' '.repeat(indent);
    const lines = fitTextLines(value, room, { isBlock: true, paint }).map((line) => space + line);
    return labelPart(page, label, makeLinesPart(lines, indent), indent);
  }
  const text = renderCompact(value);
  const deeper = indent + 2;
  const isLong = text.length > longestOnOneLine || text.length > room;
  if (isGroup(value) && isLong && deeper <= Math.min(page.columns, widestPage) / 2) {
    return labelPart(page, label, groupPart(makeEntryParts(page, value, deeper), deeper), indent);
  }
  return makeLinesPart(wrapContinued(page, indent, `${label}${text}`), indent);
}

function labelPart(page: Page, label: string, part: Part, indent: number): Part {
  if (label === '') return part;
  return groupPart(
    [makeLinesPart(wrapContinued(page, indent, label.trimEnd()), indent), part],
    indent,
  );
}

function wrapContinued(page: Page, indent: number, text: string): string[] {
  const space = ' '.repeat(indent);
  return wrap(text, page.columns - indent - 2).map((line, index) =>
    index === 0 ? space + line : `${space}┊ ${line}`,
  );
}

function isGroup(value: unknown): value is object {
  return isObject(value) && Object.keys(value).length > 0;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * JSON on one line, except that strings show hidden characters as `inertLine` does instead of escaping them. Not recursive: values
 * that are nested thousands deep would overflow the stack.
 */
function renderCompact(value: unknown): string {
  let text = '';
  const ahead: Ahead[] = [{ value }];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    if (typeof next === 'string') text += next;
    else if (!isObject(next.value)) text += renderLeaf(next.value);
    else for (const part of listInside(next.value).toReversed()) ahead.push(part);
  }
  return text;
}

/* Finished text, or a value that has yet to be written. */
type Ahead = string | { value: unknown };

function listInside(group: object): Ahead[] {
  const isList = Array.isArray(group);
  const items = Object.entries(group).flatMap(([name, value], index): Ahead[] => [
    `${index === 0 ? '' : ', '}${isList ? '' : `${nameText(name)}: `}`,
    { value },
  ]);
  return isList ? ['[', ...items, ']'] : ['{', ...items, '}'];
}

function renderLeaf(value: unknown): string {
  return typeof value === 'string' ? quoteInertLine(value) : (JSON.stringify(value) ?? 'undefined');
}

/* A name that is not a plain word is quoted, so that it can't imitate a value. */
function nameText(name: string): string {
  return /^[\w$-]+$/.test(name) ? name : quoteInertLine(name);
}
