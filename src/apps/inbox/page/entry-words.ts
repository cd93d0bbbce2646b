import { inertLine } from '../../../content/inert-text.ts';
import { refusalWords } from '../../../content/refusal-words.ts';
import { renderEnded, stateWords } from '../../../view/state-words.ts';
import type { InboxEntry } from '../inbox-api.ts';
import type { Row } from './shown-list.ts';

/** Describes the subject of an entry, as one line that is safe to show. */
export function describeSubject({ kind, request, toolName, lostCall, agent }: InboxEntry): string {
  switch (kind) {
    case 'lost-call':
      return `Did ${inertLine(lostCall?.toolName ?? toolName ?? 'the call')} happen?`;
    case 'stuck-thread':
      return `${inertLine(agent ?? 'The agent')} is stuck`;
    case 'approval':
    case 'question':
      return makeTitle(request?.text ?? toolName ?? 'A request whose text is gone');
  }
}

/* The open request shows the whole text. */
function makeTitle(text: string): string {
  const [line = ''] = text.split('\n', 1);
  const title = line.slice(0, longestTitle);
  return inertLine(title.length < text.length ? `${title.toWellFormed()} …` : text);
}

const longestTitle = 300;

/** Explains why an entry that is too long for a list can't be answered with others. */
export function describeUnread(entry: InboxEntry): string {
  return `${describeSubject(entry)} has not been read, as it is long: open it alone.`;
}

/** Describes the subject of a row. */
export function describeRow({ entries }: Row): string {
  const [first] = entries;
  if (first === undefined) return '';
  if (entries.length === 1) return describeSubject(first);
  const subject = describeSubject(first);
  const isOne = entries.every((entry) => describeSubject(entry) === subject);
  return `${entries.length} × ${isOne ? subject : inertLine(first.toolName ?? 'requests')}`;
}

/** Counts the ended entries of a row by outcome, and the remaining ones; `undefined` while all are open. */
export function countEnded({ entries }: Row): string | undefined {
  const ended = entries.filter(({ state }) => state !== 'open');
  if (ended.length === 0) return undefined;
  const states = Map.groupBy(ended, ({ state }) => state);
  const words = [...states].map(
    ([state, those]) => `${those.length} ${stateWords[state].toLowerCase()}`,
  );
  const left = entries.length - ended.length;
  return [...words, ...(left === 0 ? [] : [`${left} left`])].join(', ');
}

/** Describes the end of an entry, and who decided; or the number of approvals. `undefined` while it is open without a vote. */
export function describeState({ state, decidedBy, votes, quorum }: InboxEntry): string | undefined {
  if (state === 'open') return votes > 0 ? `${votes} of ${quorum} approvals` : undefined;
  return renderEnded({ state, people: decidedBy === null ? [] : [{ person: decidedBy }] });
}

/** Explains why the person can't answer an entry; `undefined` if they can. */
export function explainWhyNot(entry: InboxEntry): string | undefined {
  const { rights, maySettle, kind } = entry;
  if (entry.state !== 'open') return `${describeState(entry)}.`;
  if (kind === 'lost-call' || kind === 'stuck-thread')
    return maySettle ? undefined : 'Somebody else has to settle this.';
  if (rights.mayAnswer) return undefined;
  return refusalWords[rights.refusal ?? 'not-approver'];
}

/** Turns a title into the end of a sentence. */
export function endSentence(title: string): string {
  return /[.?!…]$/.test(title) ? title : `${title}.`;
}

/** Writes a count with its noun. */
export function countWords(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
