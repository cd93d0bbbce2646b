import { isToolUIPart, type ModelMessage, type UIMessage } from 'ai';
import type { ApprovalRequestContent, ApprovalResponseContent, ThreadStore } from 'holdpoint';
import { answerMessage } from 'holdpoint/middleware';
import { approvalRequestSchema } from 'holdpoint/schemas';
import { toUIMessages } from 'holdpoint/ui';
import { orderText } from './asking-model.ts';
import type { ClickMove, Move, SayMove } from './people-turns.ts';
import { SharedOffice } from './shared-office.ts';
import { type Person, spellings } from './shared-people.ts';

/** Plays what people do, and returns what was broken. */
export async function playTurns(
  played: readonly Move[],
  open: () => ThreadStore,
): Promise<{ faults: string[]; office: SharedOffice }> {
  const office = new SharedOffice(open());
  const seen: ApprovalRequestContent[] = [];
  for (const move of played) {
    const { activeApprovalRequests } = (await office.open()).thread;
    for (const request of activeApprovalRequests) office.look(request);
    seen.push(...activeApprovalRequests);
    await makeMove(office, move, seen);
  }
  return { faults: await office.audit(), office };
}

async function makeMove(
  office: SharedOffice,
  move: Move,
  seen: readonly ApprovalRequestContent[],
): Promise<void> {
  switch (move.type) {
    case 'say':
      return say(office, move);
    case 'click':
      return click(office, move, seen);
    case 'withdraw': {
      const { agent, thread } = await office.open();
      const request = pick(thread.activeApprovalRequests, move.nth);
      if (request === undefined) return;
      const { requestId } = request;
      const by = { principal: principalOf(move) };
      const isDone = await office.act(async () => agent.withdraw(thread, requestId, by));
      if (!isDone) return;
      for (const each of office.clicks) {
        if (each.requestId === requestId && each.person === move.person) each.isWithdrawn = true;
      }
      return;
    }
    case 'resume': {
      const { agent, thread } = await office.open();
      await office.act(async () => agent.run([], thread, { principal: principalOf(move) }));
      return;
    }
    case 'deploy':
      office.deploy(move.identity);
  }
}

async function say(office: SharedOffice, move: SayMove): Promise<void> {
  const id = office.said.push(move.person) - 1;
  const text = move.order === undefined ? `hello #${id}` : orderText(move.order, move.euros, id);
  const principal = principalOf(move);
  office.model.failures = move.isFailing ? 1 : 0;
  const { agent, thread } = await office.open();
  if (move.door === 'plain') {
    await office.act(async () => agent.run(text, thread, { principal }));
  } else if (move.door === 'held') {
    office.history.push({ role: 'user', content: text });
    const before = thread.revision;
    const { length } = office.history;
    await office.act(async () => office.callHeld(principal, office.history));
    /* What was refused is not in the app's history. */
    if ((await office.open()).thread.revision === before) office.history.splice(length - 1, 1);
  } else {
    const kept = move.door === 'page' ? undefined : pick(office.kept.slice(-2), move.nth);
    const earlier = kept ?? (await toUIMessages(thread));
    const message = { id: `m${id}`, role: 'user', parts: [{ type: 'text', text }] };
    await office.act(async () => office.post(principal, { messages: [...earlier, message] }));
  }
  office.model.failures = 0;
}

async function click(
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
    default: {
      const { agent, thread } = await office.open();
      const shown = move.door === 'stale' ? seen : thread.activeApprovalRequests;
      const request = pick(shown, move.nth);
      if (request === undefined) return;
      const principal = principalOf(move);
      const response = answer(office, request, move);
      if (response === undefined) return;
      await office.act(async () => {
        return move.door === 'plain'
          ? agent.run(response, thread, { principal })
          : agent.respond(response, thread, { principal });
      });
      await office.act(async () => agent.run([], thread, { principal }));
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
  if (found === undefined) return;
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
  /* Nothing tells answers of one kind apart that stand together at the very end: whoever sends them gives them. */
  const end = office.history.findLastIndex(
    (each) => each.role !== message.role || !office.answers.has(each),
  );
  for (const each of office.history.slice(end + 1)) {
    const answered = office.answers.get(each);
    if (answered !== undefined) office.clicks.push({ person, ...answered });
  }
  await office.act(async () => office.callHeld(principalOf(move), office.history));
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
  await office.act(async () => office.post(principalOf(move), { messages: clicked }));
}

function principalOf({ person, form }: { person: Person; form: number }): unknown {
  return pick(spellings[person], form);
}

/* A draft is revoked by then. */
function ignoreErrors(work: () => unknown): void {
  try {
    work();
  } catch {}
}

function pick<VALUE>(values: readonly VALUE[], index: number): VALUE | undefined {
  return values[index % Math.max(1, values.length)];
}
