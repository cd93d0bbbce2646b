import { isToolUIPart, type UIMessage } from 'ai';
import { z } from 'zod';

/** A thread as `GET` gives it. */
export type StoredThread = z.infer<typeof storedSchema>;

const messageSchema = z.custom<UIMessage>(
  (value) =>
    z.looseObject({ id: z.string(), parts: z.array(z.unknown()) }).safeParse(value).success,
);
const storedSchema = z.object({
  messages: z.array(messageSchema),
  status: z.string(),
  failure: z.object({ text: z.string() }).optional(),
});

/** Reads a thread from the body of a response. Throws for anything else. */
export function parseStoredThread(json: unknown): StoredThread {
  return storedSchema.parse(json);
}

/** What a request of the page holds. */
export interface Posted {
  /** The ids of the requests that it answers. */
  answers: string[];
  /** The text of the user's message in it. */
  unsaid?: string;
}

const postedSchema = z.object({
  answers: z.array(z.looseObject({ requestId: z.string() })).default([]),
  message: z.looseObject({ parts: z.array(z.unknown()) }).optional(),
});
const textSchema = z.looseObject({ type: z.literal('text'), text: z.string() });

/** What the body of a request holds. */
export function sentContent(body: unknown): Posted {
  const { answers, message } = postedSchema.parse(JSON.parse(String(body)));
  const text = textIn(message?.parts ?? []);
  return {
    answers: answers.map(({ requestId }) => requestId),
    ...(text === '' ? {} : { unsaid: text }),
  };
}

function textIn(parts: readonly unknown[]): string {
  return parts.map((part) => textSchema.safeParse(part).data?.text ?? '').join('');
}

/** The answer to an approval, as it stands in the messages of a page. */
export interface GivenApproval {
  id: string;
  approved: boolean;
  reason?: string;
}

/** The approvals among `requestIds` that the page has answered, and that no server has told it the end of. */
export function givenApprovals(
  messages: readonly UIMessage[],
  requestIds: ReadonlySet<string>,
): GivenApproval[] {
  return messages
    .flatMap(({ parts }) => parts.filter(isToolUIPart))
    .flatMap((part) => {
      if (part.state !== 'approval-responded' || !requestIds.has(part.approval.id)) return [];
      const { id, approved, reason } = part.approval;
      return [{ id, approved, ...(reason === undefined ? {} : { reason }) }];
    });
}

/** Whether a call in the messages waits for the answer to a request. */
export function isAskedIn(messages: readonly UIMessage[], requestId: string): boolean {
  return messages.some(({ parts }) =>
    parts.some(
      (part) =>
        isToolUIPart(part) && part.state === 'approval-requested' && part.approval.id === requestId,
    ),
  );
}

/** The messages with these requests asked again, as nobody has recorded their answers. */
export function askedAgain(
  messages: readonly UIMessage[],
  requestIds: readonly string[],
): UIMessage[] {
  return messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) => {
      if (!isToolUIPart(part) || part.state !== 'approval-responded') return part;
      const { approved: _approved, reason: _reason, ...approval } = part.approval;
      if (!requestIds.includes(approval.id)) return part;
      return { ...part, state: 'approval-requested' as const, approval };
    }),
  }));
}

/** The text of the last message that the page shows, where it was to be sent and the thread does not have it. */
export function lostText(
  stored: readonly UIMessage[],
  shown: readonly UIMessage[],
  text: string | undefined,
): string | undefined {
  const inThread = stored.filter(({ role }) => role === 'user');
  const onPage = shown.filter(({ role }) => role === 'user');
  const isThere = inThread.length >= onPage.length && textIn(inThread.at(-1)?.parts ?? []) === text;
  return isThere ? undefined : text;
}
