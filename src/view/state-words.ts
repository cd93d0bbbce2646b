import { inertText } from '../content/inert-text.ts';
import { renderAnswerer } from '../content/request-text.ts';
import type { requestStates } from '../content/request-state.ts';
import type { Vote } from '../content/vote.ts';

type RequestState = (typeof requestStates)[number];

/** The words for each state of a request. */
export const stateWords: Record<RequestState, string> = {
  open: 'Open',
  approved: 'Approved',
  rejected: 'Rejected',
  answered: 'Answered',
  dismissed: 'Skipped',
  expired: 'Expired',
  cancelled: 'Cancelled',
  invalidated: 'No longer valid',
  settled: 'Settled',
};

/** The words for an approved call that has not started because the agent was stopped. */
export const heldWords = 'approved, and held since the assistant was stopped';

/** The end of a request. */
interface EndedRequest {
  state: RequestState;
  /** The people who decided it, each with the person for whom they did. */
  people?: readonly Pick<Vote, 'person' | 'onBehalfOf'>[];
  reason?: string | undefined;
}

/** Renders how a request ended, by whom and why; safe to show. */
export function renderEnded({ state, people = [], reason }: EndedRequest): string {
  const names = [...new Set(people.map(renderAnswerer))].join(', ');
  const by = names === '' ? '' : ` by ${names}`;
  const why = reason === undefined ? '' : `: ${inertText(reason)}`;
  return `${stateWords[state]}${by}${why}`;
}
