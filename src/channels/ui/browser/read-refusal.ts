import { z } from 'zod';
import { inertText } from '../../../content/inert-text.ts';

const refusedAnswerSchema = z.object({
  requestId: z.string(),
  code: z.string(),
  message: z.string(),
  field: z.array(z.string()).optional(),
  reason: z.string().optional(),
});
const bodySchema = z.object({
  error: z.object({ code: z.string(), message: z.string() }),
  refusedAnswers: z.array(refusedAnswerSchema).default([]),
});
const errorSchema = z.object({
  message: z.string(),
  responseBody: z.string().optional(),
});

type RefusedAnswer = z.infer<typeof refusedAnswerSchema>;

/** Why the route refused a page's request. */
export interface Refusal {
  /** For your code: `already-answered`, `requests-open` … */
  code: string;
  /** For the person at the page; safe to show. */
  text: string;
  /**
   * The answers that were refused separately; empty if something else was refused. `field` is the path to the field that caused it, of the
   * edited input or of the question; `reason` says why.
   */
  refusedAnswers: RefusedAnswer[];
}

/**
 * Reads a refusal of our route from an error of `useChat`, or from the text of a response, with a text for the person at the page.
 * `undefined` for any other error: the server was not reached, or the run failed.
 *
 * @example
 * const { error } = useChat({ transport });
 * const text = error && (readRefusal(error)?.text ?? 'Something went wrong.');
 */
export function readRefusal(error: unknown): Refusal | undefined {
  const { responseBody, message } = errorSchema.safeParse(error).data ?? {};
  const body = bodySchema.safeParse(
    parseJson(typeof error === 'string' ? error : (responseBody ?? message)),
  );
  if (!body.success) return undefined;
  const { error: refused, refusedAnswers } = body.data;
  return { code: refused.code, text: describeRefusal(refused), refusedAnswers };
}

/** Reads the first refused answer from a part `data-refused-answers`. */
export function parseRefusedAnswer(
  data: unknown,
): Pick<Refusal, 'code' | 'text'> & Partial<Pick<RefusedAnswer, 'requestId' | 'field' | 'reason'>> {
  const [first] = z.array(refusedAnswerSchema).parse(data);
  if (first === undefined) return { code: 'unknown', text: 'An answer was refused.' };
  return { code: first.code, text: describeRefusal(first), ...pickCause(first) };
}

/** Which answer was refused, and what in it caused that, with a reason that is safe to show. */
export function pickCause({
  requestId,
  field,
  reason,
}: RefusedAnswer): Pick<RefusedAnswer, 'requestId' | 'field' | 'reason'> {
  return {
    requestId,
    ...(field === undefined ? {} : { field }),
    ...(reason === undefined ? {} : { reason: inertText(reason) }),
  };
}

/** The text for a code, safe to show. A code without a text here shows the server's message. */
export function describeRefusal({ code, message }: { code: string; message: string }): string {
  return texts.get(code) ?? inertText(message);
}

/** The response to what a page sends before it knows for whom it is loaded: nobody could tell later whose it was. */
export function makeNotLoadedResponse(): Response {
  const message = 'This page has not loaded yet. Send this again when it has.';
  return Response.json({ error: { code: 'not-sent', message } }, { status: 409 });
}

const texts = new Map([
  ['already-answered', 'This was answered before. The first answer counts.'],
  ['request-closed', 'It is too late to answer this.'],
  ['not-found', 'This is no longer asked.'],
  ['answer-mismatch', 'This has changed since you saw it. Check it again, then answer.'],
  ['invalid-answer', 'This answer does not fit the question.'],
  ['requests-open', 'Answer what is open first, then send your message again.'],
  ['thread-busy', 'The assistant is still at work. Send this again when it has finished.'],
  [
    'thread-indeterminate',
    'It is not known how an action ended. Somebody has to check that first.',
  ],
  ['not-allowed', 'You are not allowed to do this.'],
  ['other-viewer', 'This page was loaded for somebody else. What was not sent is gone.'],
  ['foreign-origin', 'This page may not use the server.'],
  ['too-large', 'This is too large to send.'],
]);

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/**
 * Whether a refusal says that the page is not for the person who is signed in now: somebody else is, or nobody who may use the thread. A 403
 * about single answers, or about another act (a vote taken back, a resumption), says only that this person may not do that.
 */
export function isShutOut(
  status: number | undefined,
  refused: unknown,
  { isAct = false }: { isAct?: boolean } = {},
): boolean {
  if (status !== 403) return status === 401;
  const { code, refusedAnswers = [] } = readRefusal(refused) ?? {};
  return refusedAnswers.length === 0 && !(isAct && code === 'not-allowed');
}

/** Whether a refusal says that the page was loaded for another person than the one who is signed in now. */
export function isOtherViewer(refused: unknown): boolean {
  return readRefusal(refused)?.code === 'other-viewer';
}
