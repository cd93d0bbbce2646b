import type { Agent, AgentThread, ApprovalRequestContent } from 'holdpoint';
import { expect } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { childOf, type desk, requestIn } from './payment-desk.ts';

export type Desk = Awaited<ReturnType<typeof desk>>;
export type Process = Awaited<ReturnType<Desk['startProcess']>>;

/** Who answered, once where the log names them alike. */
function namesOf({ person, principal }: { person?: string | undefined; principal?: unknown }) {
  return new Set([person ?? principal, principal]);
}

/** What is recorded about answers in a thread: what was done, by whom. */
function answersIn({ events }: AgentThread): unknown[] {
  return events.flatMap((event) =>
    event.type === 'request-voted' || event.type === 'request-answered'
      ? [[event.type, ...namesOf(event), Reflect.get(event.response, 'approved')]]
      : event.type === 'vote-withdrawn'
        ? [[event.type, event.person]]
        : [],
  );
}

/** What both threads record, as a process sees it that starts now. They must say the same, and each name who really answered. */
export async function recorded(at: Desk): Promise<unknown[]> {
  const { payer, thread } = await at.startProcess();
  const child = await childOf({ payer, thread });
  const [above, below] = [thread, child].map(answersIn);
  expect(above).toEqual(below);
  expect(thread.activeRequests.map(({ requestId }) => requestId)).toEqual(
    child.activeRequests.map(({ requestId }) => requestId),
  );
  return above ?? [];
}

/** A process resumes the thread. */
export async function resume(at: Desk): Promise<void> {
  const { clerk, thread } = await at.startProcess();
  await clerk.run([], thread);
}

/** Two processes resume the thread at one moment. Nothing waits afterwards. */
export async function resumeTwice(at: Desk): Promise<void> {
  const processes = [await at.startProcess(), await at.startProcess()];
  await Promise.all(processes.map(async ({ clerk, thread }) => clerk.run([], thread)));
  const { clerk, payer, thread } = await at.startProcess();
  expect(thread.status).toBe('idle');
  expect((await childOf({ payer, thread })).status).toBe('idle');
  expect(thread.calls).toMatchObject([{ status: 'succeeded' }]);
  await clerk.run([], thread);
}

/** Somebody answers as the thread shows the request to them. */
export async function say(
  { clerk, thread }: { clerk: Agent; thread: AgentThread },
  principal: string,
  answer: (request: ApprovalRequestContent) => Parameters<Agent['respond']>[0] = (request) =>
    request.approve(),
): Promise<unknown> {
  return errorCode(clerk.respond(answer(requestIn(thread)), thread, { principal }));
}
