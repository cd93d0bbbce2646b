import { inertLine } from '../../../content/inert-text.ts';
import { refusalWords } from '../../../content/request-text.ts';
import type { InboxEntry } from '../inbox-api.ts';
import { stateWords } from './request-words.ts';
import type { Row } from './shown-list.ts';

/** What an entry is about, as one line that is safe to show. */
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

/* Whoever opens the request reads the whole text. */
function makeTitle(text: string): string {
  const [line = ''] = text.split('\n', 1);
  const title = line.slice(0, longestTitle);
  return inertLine(title.length < text.length ? `${title.toWellFormed()} …` : text);
}

const longestTitle = 300;

/** What a row is about. */
export function describeRow({ entries }: Row): string {
  const [first] = entries;
  if (first === undefined) return '';
  if (entries.length === 1) return describeSubject(first);
  const subject = describeSubject(first);
  const isOne = entries.every((entry) => describeSubject(entry) === subject);
  return `${entries.length} × ${isOne ? subject : inertLine(first.toolName ?? 'requests')}`;
}

/** How the entries of a row ended, and how many are left; `undefined` while all are open. */
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

/** How an entry ended, and by whom; or how many have approved it. `undefined` while it is open without a vote. */
export function describeState({ state, decidedBy, votes, quorum }: InboxEntry): string | undefined {
  if (state === 'open') return votes > 0 ? `${votes} of ${quorum} approvals` : undefined;
  return decidedBy === null ? stateWords[state] : `${stateWords[state]} by ${inertLine(decidedBy)}`;
}

/** That somebody else is looking at it; `undefined` if nobody says so. */
export function describeClaim({ claim }: InboxEntry, now: number): string | undefined {
  if (claim === undefined || claim.isMine || claim.until <= now) return undefined;
  return `${inertLine(claim.by)} is looking at it`;
}

/** Why the person can't answer an entry; `undefined` if they can. */
export function explainWhyNot(entry: InboxEntry): string | undefined {
  const { rights, maySettle, kind } = entry;
  if (entry.state !== 'open') return `${describeState(entry)}.`;
  if (kind === 'lost-call' || kind === 'stuck-thread')
    return maySettle ? undefined : 'Somebody else has to settle this.';
  if (rights.mayAnswer) return undefined;
  return refusalWords[rights.refusal ?? 'not-approver'];
}

/** A title as the end of a sentence. */
export function endSentence(title: string): string {
  return /[.?!…]$/.test(title) ? title : `${title}.`;
}

/** How many of something. */
export function countWords(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
