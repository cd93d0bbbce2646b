import { z } from 'zod';

const refusedAnswerSchema = z.object({
  requestId: z.string(),
  code: z.string(),
  message: z.string(),
});
const bodySchema = z.object({
  error: z.object({ code: z.string(), message: z.string() }),
  refusedAnswers: z.array(refusedAnswerSchema).default([]),
});
const errorSchema = z.object({
  message: z.string(),
  responseBody: z.string().optional(),
});

/** Why the route refused what a page sent. */
export interface Refusal {
  /** For code: `already-answered`, `requests-open` … */
  code: string;
  /** For the person at the page. */
  text: string;
  /** The answers that were refused one by one; none where something else was refused. */
  refusedAnswers: z.infer<typeof refusedAnswerSchema>[];
}

/**
 * What an error of `useChat` says, in words for the person at the page; `undefined` where it is no refusal of our route: the server was
 * not reached, or the run failed. It takes the error, or the text of the response.
 *
 * @example
 * const { error } = useChat({ transport });
 * const text = error && (readRefusal(error)?.text ?? 'Something went wrong.');
 */
export function readRefusal(error: unknown): Refusal | undefined {
  const { responseBody, message } = errorSchema.safeParse(error).data ?? {};
  const body = bodySchema.safeParse(
    parsed(typeof error === 'string' ? error : (responseBody ?? message)),
  );
  if (!body.success) return undefined;
  const { error: refused, refusedAnswers } = body.data;
  return { code: refused.code, text: refusalText(refused), refusedAnswers };
}

/** The first of the answers that a part `data-refused-answers` lists. */
export function refusedIn(data: unknown): Pick<Refusal, 'code' | 'text'> {
  const [first = { code: 'unknown', message: 'An answer was refused.' }] = z
    .array(refusedAnswerSchema)
    .parse(data);
  return { code: first.code, text: refusalText(first) };
}

/* What has no words here is said as the server says it. */
function refusalText({ code, message }: { code: string; message: string }): string {
  return texts.get(code) ?? message;
}

const texts = new Map([
  ['already-answered', 'This was answered before. The first answer counts.'],
  ['request-closed', 'It is too late to answer this.'],
  ['unknown-request', 'This is no longer asked.'],
  ['answer-mismatch', 'This has changed since you saw it. Check it again, then answer.'],
  ['invalid-answer', 'This answer does not fit the question.'],
  ['requests-open', 'Answer what is open first, then send your message again.'],
  ['thread-busy', 'The assistant is still at work. Send this again when it has finished.'],
  [
    'thread-indeterminate',
    'It is not known how an action ended. Somebody has to check that first.',
  ],
  ['not-allowed', 'You are not allowed to do this.'],
  ['foreign-origin', 'This page may not use the server.'],
  ['too-large', 'This is too large to send.'],
]);

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
