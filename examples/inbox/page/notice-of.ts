import { Refusal } from './office-client.ts';

/** What went wrong, in words for the person. */
export function noticeOf(error: unknown): string {
  if (error instanceof TypeError) return 'The connection broke. What the server knows is shown.';
  if (!(error instanceof Refusal)) return 'The assistant failed. It will try again by itself.';
  switch (error.code) {
    case 'already-answered':
      return 'This was answered before, and the first answer stands. See below “Decided”.';
    case 'request-closed':
      return 'This can’t be answered any more.';
    default:
      return `The server refused that: ${error.message}`;
  }
}
