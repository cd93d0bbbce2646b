import { Refusal } from './office-client.ts';

/** Why an answer of the inbox was not taken, in words for the person. */
export function noticeOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  return 'The server was not reached. Please answer again.';
}
