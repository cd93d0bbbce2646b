import type { ApprovalRequest } from '../../content/approval.ts';
import { inertLine, inertName, quoteInertLine } from '../../content/inert-text.ts';
import { longestOnOneLine, type Page, renderCompact, showCall } from './page.ts';
import { wrap } from './styled-text.ts';

/** A field in which requests differ: its name, and its value in each of them. */
interface Difference {
  name: string;
  cells: string[];
}

/**
 * Adds the fields that similar requests share once, and those that differ as a table with a row for each request: one odd amount among
 * twenty is seen there. Returns false and adds nothing if a value doesn't fit uncut on one line: then each request is shown on its own.
 */
export function addDifferences(page: Page, requests: readonly ApprovalRequest[]): boolean {
  const inputs = requests.map(({ toolCall }) => listFields(toolCall?.input));
  const [first] = requests;
  if (first?.toolCall === undefined || !inputs.every((input) => input !== undefined)) return false;
  const names = [...new Set(inputs.flatMap((input) => [...input.keys()]))];
  const fields = names.map((name) => ({
    name: inertName(name),
    cells: inputs.map((input) => (input.has(name) ? renderCompact(input.get(name)) : '(absent)')),
    hasLines: inputs.some((input) => hasSeveralLines(input.get(name))),
  }));
  const differing = fields.filter((field) => !isSame(field));
  if (differing.some(({ hasLines }) => hasLines)) return false;
  const texts = { name: 'asked as', cells: requests.map(({ text }) => quoteInertLine(text)) };
  const differences = isSame(texts) ? differing : [...differing, texts];
  const rows = renderRows(differences, { count: requests.length, columns: page.columns });
  if (rows === undefined) return false;
  const shared = names.filter((_, index) => isSame(fields[index] ?? texts));
  const input = Object.fromEntries(shared.map((name) => [name, inputs[0]?.get(name)]));
  page.add('');
  if (isSame(texts)) page.text(first.text);
  const { toolName } = first.toolCall;
  /* An empty input would look as if the calls had none. */
  if (shared.length === 0) page.facts([`  ${inertLine(toolName)}`], page.paint.strong);
  else showCall(page, { toolName, input });
  page.add('', ...rows);
  return true;
}

function listFields(input: unknown): Map<string, unknown> | undefined {
  const isRecord = typeof input === 'object' && input !== null && !Array.isArray(input);
  return isRecord ? new Map(Object.entries(input)) : undefined;
}

function hasSeveralLines(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\n');
}

function isSame({ cells }: Pick<Difference, 'cells'>): boolean {
  return cells.every((cell) => cell === cells[0]);
}

/* `undefined` if they don't fit. */
function renderRows(
  differences: readonly Difference[],
  { count, columns }: { count: number; columns: number },
): string[] | undefined {
  if (differences.length === 0) return [`  All ${count} are the same call`];
  if (differences.some(({ cells }) => cells.some(({ length }) => length > longestOnOneLine)))
    return undefined;
  /* Where lines are read one by one, perhaps aloud, each value has its name. */
  const rows = Number.isFinite(columns)
    ? alignRows(differences, count)
    : nameValues(differences, count);
  return rows.every((row) => wrap(row, columns).length === 1) ? rows : undefined;
}

function nameValues(differences: readonly Difference[], count: number): string[] {
  return Array.from({ length: count }, (_, row) => {
    const values = differences.map(({ name, cells }) => `${name}: ${cells[row]}`);
    return `  ${row + 1}. ${values.join(', ')}`;
  });
}

function alignRows(differences: readonly Difference[], count: number): string[] {
  const numbers = Array.from({ length: count }, (_, row) => `${row + 1}.`);
  const table = [{ name: '', cells: numbers }, ...differences].map(({ name, cells }) => {
    const width = Math.max(...[name, ...cells].map(({ length }) => length));
    return [name, ...cells].map((cell) => cell.padEnd(width));
  });
  return ['', ...numbers].map((_, row) =>
    `  ${table.map((cells) => cells[row]).join('  ')}`.trimEnd(),
  );
}
