import { readRefusal } from './read-refusal.ts';

/**
 * Whether a refusal says that the page is not for the person who is signed in now: somebody else is, or nobody who may use the thread. A 403
 * about single answers, or about the vote of a request, says only that this person may not do that.
 */
export function isShutOut(
  status: number | undefined,
  refused: unknown,
  { isAboutVote = false }: { isAboutVote?: boolean } = {},
): boolean {
  if (status !== 403) return status === 401;
  const { code, refusedAnswers = [] } = readRefusal(refused) ?? {};
  return refusedAnswers.length === 0 && !(isAboutVote && code === 'not-allowed');
}

/** Whether a refusal says that the page was loaded for another person than the one who is signed in now. */
export function isOtherViewer(refused: unknown): boolean {
  return readRefusal(refused)?.code === 'other-viewer';
}
