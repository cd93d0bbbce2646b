import { isToolUIPart, type ModelMessage, type UIMessage } from 'ai';
import type { ApprovalRequestContent, ApprovalResponseContent } from 'holdpoint';
import { answerMessage } from 'holdpoint/middleware';
import { approvalRequestSchema } from 'holdpoint/schemas';
import { toUIMessages } from 'holdpoint/ui';
import { pick, principalOf } from './pick.ts';
import type { ClickMove } from './people-turns.ts';
import type { SharedOffice } from './shared-office.ts';
import type { Person } from './shared-people.ts';

/** Somebody answers a request, through one of the doors. */
export async function click(
  office: SharedOffice,
  move: ClickMove,
  seen: readonly ApprovalRequestContent[],
): Promise<void> {
  switch (move.door) {
    case 'page':
      return clickOnPage(office, move);
    case 'held':
    case 'held message':
      return clickInHistory(office, move);
    case 'ag-ui':
      return clickOverAgUi(office, move);
    default: {
      const { agent, thread } = await office.open();
      const shown = move.door === 'stale' ? seen : thread.activeApprovalRequests;
      const request = pick(shown, move.nth);
      if (request === undefined) return;
      const principal = principalOf(move);
      const response = answer(office, request, move);
      if (response === undefined) return;
      await office.act('answer', principal, async () => {
        return move.door === 'plain'
          ? agent.run(response, thread, office.signedIn(principal))
          : agent.respond(response, thread, { principal });
      });
      if (move.door === 'respond') return;
      await office.act('resume', principal, async () =>
        agent.run([], thread, office.signedIn(principal)),
      );
    }
  }
}

/** The answer of a person; `undefined` for an edit that can't be sent. */
function answer(
  office: SharedOffice,
  request: ApprovalRequestContent,
  move: ClickMove,
): ApprovalResponseContent | undefined {
  try {
    return makeAnswer(office, request, move);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The answer of a person, and notes that they gave it. */
function makeAnswer(
  office: SharedOffice,
  request: ApprovalRequestContent,
  { person, isYes, change, remember }: ClickMove,
): ApprovalResponseContent {
  const { requestId, toolCall } = request;
  const shown: object = Object(toolCall?.input);
  const clicked = { person, requestId, approved: isYes, remember: false, input: toolCall?.input };
  if (!isYes) {
    office.clicks.push(clicked);
    return request.reject('no');
  }
  const noteEdit = (input: unknown): void => void office.clicks.push({ ...clicked, input });
  switch (change) {
    case 'raised':
      noteEdit({ ...shown, euros: 5_000 });
      return request.approve({ edit: (draft) => Reflect.set(Object(draft), 'euros', 5_000) });
    case 'lowered':
      noteEdit({ ...shown, euros: 7 });
      return request.approve({ input: { ...shown, euros: 7 } });
    case 'null':
      noteEdit(null);
      return request.approve({ input: null });
    case 'returned':
      noteEdit({ ...shown, euros: 9 });
      return request.approve({ edit: (draft) => ({ ...Object(draft), euros: 9 }) });
    case 'async':
      noteEdit({ ...shown, euros: 11, to: 'globex' });
      return request.approve({
        edit: async (draft) => {
          Reflect.set(Object(draft), 'euros', 11);
          await Promise.resolve();
          ignoreErrors(() => Reflect.set(Object(draft), 'to', 'globex'));
        },
      });
    case undefined: {
      const asked = remember && request.remember !== undefined;
      office.clicks.push({ ...clicked, remember: asked });
      return request.approve(asked ? { remember: true } : {});
    }
  }
}

/** A click in the history of an app that calls a held model. It stays there, whatever comes of it. */
async function clickInHistory(office: SharedOffice, move: ClickMove): Promise<void> {
  const found = pick([...office.held], move.nth);
  if (found === undefined || !office.isHistoryRecorded((await office.open()).thread)) return;
  const [approvalId, request] = found;
  const { person, isYes: approved, door } = move;
  const { requestId, toolCall } = request;
  const part = {
    type: 'tool-approval-response',
    approvalId,
    approved,
    providerExecuted: true,
  } as const;
  const message: ModelMessage =
    door === 'held message'
      ? answerMessage(approved ? request.approve() : request.reject('no'))
      : { role: 'tool', content: [part] };
  office.answers.set(message, { requestId, approved, remember: false, input: toolCall?.input });
  office.history.push(message);
  noteAnswersAtEnd(office, person);
  const principal = principalOf(move);
  await office.act('answer', principal, async () => office.callHeld(principal, office.history));
}

/** Nothing tells answers of one kind apart that stand together at the very end of a history: whoever sends them gives them. */
export function noteAnswersAtEnd({ history, answers, clicks }: SharedOffice, person: Person): void {
  const role = history.at(-1)?.role;
  const end = history.findLastIndex((each) => each.role !== role || !answers.has(each));
  for (const each of history.slice(end + 1)) {
    const answered = answers.get(each);
    if (answered !== undefined) clicks.push({ person, ...answered });
  }
}

/** A click on a page, which posts what it shows. The app keeps the page's messages. */
async function clickOnPage(office: SharedOffice, move: ClickMove): Promise<void> {
  const messages = await toUIMessages((await office.open()).thread);
  const open = messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      isToolUIPart(part) && part.state === 'approval-requested' ? [part] : [],
    ),
  );
  const part = pick(open, move.nth);
  if (part === undefined) return;
  const { requestId, toolCall } = approvalRequestSchema.parse(part.approval.descriptor);
  const { person, isYes: approved } = move;
  office.clicks.push({ person, requestId, approved, remember: false, input: toolCall?.input });
  const clicked = messages.map((message) => ({
    ...message,
    parts: message.parts.map((each) =>
      each === part
        ? { ...part, state: 'approval-responded', approval: { ...part.approval, approved } }
        : each,
    ),
  }));
  office.kept.push(JSON.parse(JSON.stringify(clicked)) satisfies UIMessage[]);
  const principal = principalOf(move);
  await office.act('answer', principal, async () => office.post(principal, { messages: clicked }));
}

/** A client of AG-UI answers all open requests at once. */
async function clickOverAgUi(office: SharedOffice, move: ClickMove): Promise<void> {
  const { activeApprovalRequests } = (await office.open()).thread;
  const { person, isYes: approved } = move;
  const resume = activeApprovalRequests.map(({ requestId, toolCall }) => {
    office.clicks.push({ person, requestId, approved, remember: false, input: toolCall?.input });
    return { interruptId: requestId, status: 'resolved', payload: { approved } };
  });
  if (resume.length === 0) return;
  const principal = principalOf(move);
  await office.act('answer', principal, async () => office.postRun(principal, { resume }));
}

/* A draft is revoked by then. */
function ignoreErrors(work: () => unknown): void {
  try {
    work();
  } catch {}
}
