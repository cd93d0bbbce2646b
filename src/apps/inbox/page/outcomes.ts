import type { InboxEntry, InboxOutcome } from '../inbox-api.ts';
import type { InboxRefusal } from './decode-responses.ts';
import { countWords, describeSubject, describeState, endSentence } from './entry-words.ts';
import type { Answer } from './answers.ts';
import { type InboxClient, RefusedError } from './inbox-client.ts';
import type { ShownState } from './shown-state.ts';

/** Describes what the person has to do before an approval counts. */
export function describeUnseen(seen: ShownState | undefined): string {
  const missing = (seen?.missing ?? []).filter((label) => label !== '');
  const named = missing.slice(0, 3).join(', ');
  const more = missing.length > 3 ? ` and ${missing.length - 3} more` : '';
  return missing.length === 0
    ? 'Read it to the end first: Space shows the next screen.'
    : `Read it to the end first: Space shows the next screen. Left: ${named}${more}.`;
}

/** Makes the outcomes of answers that were refused together. */
export function refuseAll(entries: readonly InboxEntry[], error: unknown): InboxOutcome[] {
  const refusal: InboxRefusal =
    error instanceof RefusedError
      ? error.refusal
      : { code: 'failed', message: 'The page could not read what the server responded.' };
  return entries.map(({ requestId }) => ({ status: 'refused', requestId, error: refusal }));
}

/** Describes the recorded outcomes. */
export function describeOutcomes(outcomes: readonly InboxOutcome[]): string {
  const recorded = outcomes.flatMap((each) => (each.status === 'recorded' ? [each.entry] : []));
  const refused = outcomes.length - recorded.length;
  const [first] = recorded;
  if (first === undefined) return '';
  const how = describeState(first) ?? 'Recorded';
  const failed = refused === 0 ? '' : `, ${refused} not recorded`;
  if (recorded.length === 1 && refused === 0)
    return `${how}: ${endSentence(describeSubject(first))}`;
  return `${countWords(recorded.length, 'request')}: ${how}${failed}.`;
}

/** Describes why answers were not recorded: the first in words, the others as a number. */
export function describeRefused(
  entries: readonly InboxEntry[],
  [first, ...others]: readonly InboxOutcome[],
): string {
  const entry = entries.find(({ requestId }) => requestId === first?.requestId);
  const title = entry === undefined ? '' : `“${describeSubject(entry)}”: `;
  const message = first?.status === 'refused' ? first.error.message : '';
  const more = others.length === 0 ? '' : ` So are ${others.length} others; they are marked.`;
  return `Not recorded: ${title}${message}${more}`;
}

/* The maximum number of answers in one request to the route. */
const most = 200;

/** Sends the answers to these entries, in as many requests as they need, and collects the outcomes. One that fails refuses its part. */
export async function sendAnswers(
  client: Pick<InboxClient, 'answer'>,
  entries: readonly InboxEntry[],
  answers: readonly Answer[],
): Promise<InboxOutcome[]> {
  const outcomes: InboxOutcome[] = [];
  for (let from = 0; from < answers.length; from += most) {
    const sent = client.answer(answers.slice(from, from + most));
    const refuse = (error: unknown) => refuseAll(entries.slice(from, from + most), error);
    outcomes.push(...(await sent.catch(refuse)));
  }
  return outcomes;
}
