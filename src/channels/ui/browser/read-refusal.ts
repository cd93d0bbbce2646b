import { z } from 'zod';
import { refusedAnswerWords } from '../../../content/refusal-words.ts';
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

/** The route's refusal of a page's request. */
export interface Refusal {
  /** The error code: `already-answered`, `requests-open` … */
  code: string;
  /** The text for the person at the page; safe to show. */
  text: string;
  /**
   * The answers that were refused separately; empty if something else was refused. `field` is the path to the field that caused it, in the
   * edited input or the question; `reason` says why.
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

/** Picks the refused answer and its cause, with a reason that is safe to show. */
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

/** Returns the text for a code, safe to show. For a code without a text here it is the server's message. */
export function describeRefusal({ code, message }: { code: string; message: string }): string {
  return texts.get(code) ?? inertText(message);
}

/** Makes the response to a request that a page sends before it knows its viewer: nobody could tell later whose it was. */
export function makeNotLoadedResponse(): Response {
  const message = 'This page has not loaded yet. Send this again when it has.';
  return Response.json({ error: { code: 'not-sent', message } }, { status: 409 });
}

const texts = new Map<string, string>([
  ...Object.entries(refusedAnswerWords),
  ['requests-open', 'Answer what is open first, then send your message again.'],
  ['thread-busy', 'The assistant is still at work. Send this again when it has finished.'],
  [
    'thread-indeterminate',
    'It is not known how an action ended. Somebody has to check that first.',
  ],
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
 * Checks whether a refusal says that the page is not for the signed-in person: another person is signed in, or nobody who may use the
 * thread. A 403 about single answers, or about another act (withdrawing a vote, resuming), says only that this person may not do that.
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

/** Checks whether a refusal says that the page was loaded for another person than the signed-in one. */
export function isOtherViewer(refused: unknown): boolean {
  return readRefusal(refused)?.code === 'other-viewer';
}
