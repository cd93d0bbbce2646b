import {
  type ApprovalRequest,
  type ApprovalResponseContent,
  approve,
  reject,
} from '../../content/approval.ts';
import type { TimeReader } from '../../content/deadline-words.ts';
import { lookAlikeWarnings } from '../../content/look-alikes.ts';
import { makeRequestCard, renderCardLines } from '../../view/request-card.ts';
import type { Dialog } from './dialog.ts';
import { longestOnOneLine, type Page, renderCompact, showCall } from './page.ts';
import { approvingWord, decisionList } from './widget.ts';
import { inertLine, inertName, quoteInertLine } from '../../content/inert-text.ts';
import { wrap } from './styled-text.ts';

/** Asks about similar requests at once, showing all of their inputs; `undefined` if the person goes back. */
export async function askGroup(
  requests: readonly ApprovalRequest[],
  dialog: Dialog,
  reader: TimeReader,
): Promise<ApprovalResponseContent[] | undefined> {
  const [first] = requests;
  if (first === undefined) return undefined;
  const needsReason = first.requireReason === true;
  await dialog.show((page) => {
    page.text(`${requests.length} similar requests`, page.paint.strong);
    const lines = requests.map((request) => renderFacts(request, reader));
    const shared = renderFacts(first, reader).filter((line) =>
      lines.every((each) => each.includes(line)),
    );
    page.facts(shared);
    page.warnings(lookAlikeWarnings(requests));
    const isSharedAlone = lines.every(({ length }) => length === shared.length);
    if (isSharedAlone && addDifferences(page, requests)) {
      page.add('');
      return;
    }
    for (const [index, request] of requests.entries()) {
      const { text, toolCall } = request;
      page.add('');
      page.text(text);
      page.facts(lines[index]?.filter((line) => !shared.includes(line)) ?? []);
      if (toolCall !== undefined) showCall(page, toolCall);
    }
    page.add('');
  });
  const picked = await dialog.pick({
    ...decisionList,
    entries: [
      {
        label: `Approve all ${requests.length}`,
        words: [approvingWord],
        isYes: true,
        leadsOn: needsReason,
      },
      { label: `Reject all ${requests.length}`, words: ['reject', 'n', 'no'] },
      { label: `Reject all ${requests.length} with a reason`, leadsOn: true },
    ],
    start: 1,
    exit: 'back',
  });
  if (picked === undefined || !('index' in picked)) return undefined;
  const isYes = picked.index === 0;
  if (picked.index === 1 || (isYes && !needsReason)) {
    return requests.map((request) => (isYes ? approve(request) : reject(request)));
  }
  const prompt = isYes
    ? 'Reason for all of them: '
    : 'Reason for all of them (the agent reads it): ';
  const typed = await dialog.typeText({
    prompt,
    canGoBack: true,
    canBeEmpty: false,
    enter: 'send',
  });
  if (typed.type !== 'text') return undefined;
  const reason = typed.text;
  return requests.map((request) =>
    isYes ? approve(request, { reason }) : reject(request, reason),
  );
}

/* Facts that all requests share are shown once. Look-alikes are searched in all of them together. */
function renderFacts(request: ApprovalRequest, reader: TimeReader): string[] {
  return renderCardLines(makeRequestCard(request, { warnings: [] }), reader);
}

/** A field in which requests differ: its name, and its value in each of them. */
interface Difference {
  name: string;
  cells: string[];
}

/**
 * Adds the fields that similar requests share once, and those that differ as a table with a row for each request: one odd amount among
 * twenty is seen there. Returns false and adds nothing if a value doesn't fit uncut on one line: then each request is shown on its own.
 */
function addDifferences(page: Page, requests: readonly ApprovalRequest[]): boolean {
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
