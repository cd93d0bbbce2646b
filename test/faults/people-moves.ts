import type { UIMessage } from 'ai';
import type { Agent, ApprovalRequestContent, ThreadStore } from 'holdpoint';
import { toUIMessages } from 'holdpoint/ui';
import { resumeThread } from 'holdpoint/worker';
import { orderText } from './asking-model.ts';
import { click, noteAnswersAtEnd } from './people-clicks.ts';
import { sendFromTab } from './send-from-tab.ts';
import type { Move, ResumeMove, SayMove } from './people-turns.ts';
import { pick, principalOf } from './pick.ts';
import { SharedOffice } from './shared-office.ts';

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
    await office.lookWhereHeld();
  }
  return { faults: await office.audit(), office };
}

async function makeMove(
  office: SharedOffice,
  move: Move,
  seen: readonly ApprovalRequestContent[],
): Promise<void> {
  if (move.type === 'deploy') return office.deploy(move.identity);
  const principal = principalOf(move);
  switch (move.type) {
    case 'say':
      return say(office, move);
    case 'click':
      return click(office, move, seen);
    case 'resume':
      return resume(office, move);
    case 'look':
      await office.act('look', principal, async () => office.get(principal, move.query));
      return;
    case 'hold':
      return office.hold(principal, async (hold) =>
        move.door === 'page'
          ? office.post(principal, { answers: [] }, hold)
          : office.postRun(principal, {}, hold),
      );
    case 'cancel': {
      const { agent, thread } = await office.open();
      await office.act('cancel', principal, async () =>
        agent.cancel(thread, 'Enough.', { principal }),
      );
      return;
    }
    case 'tab':
      return sendFromTab(office, move);
    case 'withdraw':
      return withdraw(office, move);
    case 'deliver': {
      const { agent, thread } = await office.open();
      const deferred = thread.calls.filter(({ status }) => status === 'deferred');
      const call = pick(deferred, move.nth);
      if (call === undefined) return;
      const outcome = { status: 'succeeded', output: 'seen' } as const;
      await office.act('deliver', principal, async () =>
        agent.deliver(thread, call.toolCallId, outcome, { principal }),
      );
      return;
    }
    case 'stop': {
      const { agent, thread } = await office.open();
      await office.act('stop', principal, async () =>
        move.door === 'plain'
          ? agent.stop(thread, { principal })
          : office.post(principal, { stop: true }, { agent }),
      );
    }
  }
}

async function withdraw(
  office: SharedOffice,
  move: Extract<Move, { type: 'withdraw' }>,
): Promise<void> {
  const { agent, thread } = await office.open();
  const request = pick(thread.activeApprovalRequests, move.nth);
  if (request === undefined) return;
  const { requestId } = request;
  const principal = principalOf(move);
  const isDone = await office.act('withdraw', principal, async () =>
    agent.withdraw(thread, requestId, { principal }),
  );
  if (!isDone) return;
  for (const each of office.clicks) {
    if (each.requestId === requestId && each.person === move.person) each.isWithdrawn = true;
  }
}

/** Somebody, or a worker, goes on with the turn of whoever asked. */
async function resume(office: SharedOffice, move: ResumeMove): Promise<void> {
  const { agent, thread } = await office.open();
  const principal = principalOf(move);
  const by = office.signedIn(principal);
  const act = async (work: () => Promise<unknown>) => office.act('resume', principal, work);
  switch (move.door) {
    case 'plain':
      return void (await act(async () => agent.run([], thread, by)));
    case 'stopped':
      return void (await act(async () => agent.run([], thread, { ...by, resumeStopped: true })));
    case 'page':
      return void (await act(async () => office.post(principal, { answers: [] })));
    case 'ag-ui':
      return void (await act(async () => office.postRun(principal, {})));
    case 'held':
      if (!['user', 'tool'].includes(office.history.at(-1)?.role ?? '')) return;
      if (!office.isHistoryRecorded(thread)) return;
      noteAnswersAtEnd(office, move.person);
      await office.act('send again', principal, async () =>
        office.callHeld(principal, office.history),
      );
      return;
    case 'try again': {
      const messages: UIMessage[] = await toUIMessages(thread);
      const end = messages.findLastIndex(({ role }) => role === 'user') + 1;
      const body = { trigger: 'regenerate-message', messages: messages.slice(0, end) };
      return void (await act(async () => office.post(principal, body)));
    }
    case 'worker': {
      office.now += 86_400_000;
      await office.act('resume', undefined, async () => resumeThread(agent, thread.id));
    }
  }
}

async function say(office: SharedOffice, move: SayMove): Promise<void> {
  const id = office.said.push(move.person) - 1;
  const { order: toolName } = move;
  const text = toolName === undefined ? `hello #${id}` : orderText({ ...move, toolName }, id);
  const { model } = office;
  const isHeld = move.door === 'held';
  model.failures = move.isFailing || (isHeld && move.isStopped) ? 1 : 0;
  model.isSilent = move.isStopped && !isHeld;
  model.silence = Promise.withResolvers();
  const { agent, thread } = await office.open();
  const saying = office.act('say', principalOf(move), async () =>
    send(office, move, { id, text, agent }),
  );
  const stop = async (): Promise<void> => {
    const principal = principalOf(move.stopper);
    model.isSilent = false;
    await office.act('stop', principal, async () => agent.stop(thread, { principal }));
  };
  const isSilenced = model.silence.promise.then(() => true);
  if (model.isSilent && (await Promise.race([isSilenced, saying.then(() => false)]))) await stop();
  await saying;
  /* A run behind `holdPoint` notices a stop after a second; a turn whose run has failed is stopped at once. */
  if (isHeld && move.isStopped) await stop();
  model.isSilent = false;
  model.failures = 0;
}

/** What somebody writes, sent through one of the doors. */
async function send(
  office: SharedOffice,
  move: SayMove,
  { id, text, agent }: { id: number; text: string; agent: Agent },
): Promise<void> {
  const principal = principalOf(move);
  const pending = move.interrupts ? ({ whilePending: 'cancel' } as const) : {};
  switch (move.door) {
    case 'plain': {
      const { thread } = await office.open();
      return void (await agent.stream(text, thread, { ...office.signedIn(principal), ...pending })
        .response);
    }
    case 'held': {
      office.history.push({ role: 'user', content: text });
      const before = (await office.open()).thread.revision;
      const { length } = office.history;
      try {
        return await office.callHeld(principal, office.history, pending);
      } finally {
        /* What was refused is not in the app's history. */
        if ((await office.open()).thread.revision === before) office.history.splice(length - 1, 1);
      }
    }
    case 'ag-ui': {
      const { activeRequests } = (await office.open()).thread;
      const cancelled = activeRequests.map(({ requestId }) => ({
        interruptId: requestId,
        status: 'cancelled',
      }));
      const interrupting = move.nth % 2 === 0 ? { forwardedProps: pending } : { resume: cancelled };
      const messages = [{ id: `m${id}`, role: 'user', content: text }];
      const input = { messages, ...(move.interrupts ? interrupting : {}) };
      return office.postRun(principal, input, { agent });
    }
    default: {
      const kept = move.door === 'page' ? undefined : pick(office.kept.slice(-2), move.nth);
      const earlier = kept ?? (await toUIMessages((await office.open()).thread));
      const message = { id: `m${id}`, role: 'user', parts: [{ type: 'text', text }] };
      return office.post(principal, { messages: [...earlier, message], ...pending }, { agent });
    }
  }
}
