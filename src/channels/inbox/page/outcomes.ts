import type { InboxEntry, InboxOutcome, InboxSuggestion } from '../inbox-api.ts';
import { needsSecondStep } from './answers.ts';
import type { InboxRefusal } from './decode-responses.ts';
import { countWords, describeSubject, describeState, endSentence } from './entry-words.ts';
import { RefusedError } from './inbox-client.ts';
import type { ShownState } from './shown-state.ts';

/** What happened to an answer, for the person. */
export interface OutcomeMessage {
  text: string;
  /** The rule that the person could make of what they have answered alike. */
  suggestion?: { terms: InboxSuggestion; entry: InboxEntry };
}

/** What is to be done before an approval counts. */
export function describeUnseen(seen: ShownState | undefined): string {
  const missing = (seen?.missing ?? []).filter((label) => label !== '');
  const named = missing.slice(0, 3).join(', ');
  const more = missing.length > 3 ? ` and ${missing.length - 3} more` : '';
  return missing.length === 0
    ? 'Read it to the end first: Space shows the next screen.'
    : `Read it to the end first: Space shows the next screen. Left: ${named}${more}.`;
}

/** The outcomes of answers that were refused together. */
export function refuseAll(entries: readonly InboxEntry[], error: unknown): InboxOutcome[] {
  const refusal: InboxRefusal =
    error instanceof RefusedError
      ? error.refusal
      : { code: 'failed', message: 'The page could not read what the server responded.' };
  return entries.map(({ requestId }) => ({ status: 'refused', requestId, error: refusal }));
}

/** What was recorded. */
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

/** The rule that the person could make of their answers. Never for the highest risk. */
export function findSuggestion(outcomes: readonly InboxOutcome[]): OutcomeMessage['suggestion'] {
  for (const outcome of outcomes) {
    if (outcome.status !== 'recorded' || outcome.suggestion === undefined) continue;
    if (!needsSecondStep(outcome.entry)) return { terms: outcome.suggestion, entry: outcome.entry };
  }
  return undefined;
}

/** Why answers were not recorded: the first of them in words, the others as a number. */
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
