import type {
  Agent,
  AgentThread,
  ApprovalRequestContent,
  ApprovalResponseContent,
} from 'holdpoint';
import { expect } from 'vitest';
import { z } from 'zod';
import { waitFor } from '../support/waiting.ts';

/** How long a test waits for what an engine does. */
export const soon = { timeout: 60_000, interval: 20 };

/** The thread once it has this status. */
export async function threadIn(
  agent: Agent,
  threadId: string,
  status: AgentThread['status'],
): Promise<AgentThread> {
  return waitFor(async () => {
    const thread = await agent.thread(threadId);
    expect(thread.status).toBe(status);
    return thread;
  }, soon);
}

/** The thread once the model has replied to its message of this number. */
export async function turnIn(agent: Agent, threadId: string, turn: number): Promise<AgentThread> {
  return waitFor(async () => {
    const thread = await agent.thread(threadId);
    expect(JSON.stringify(thread.messages.at(-1))).toContain(`Turn ${turn} is done.`);
    return thread;
  }, soon);
}

/** How many messages the user has sent. */
export function messagesIn({ messages }: AgentThread): number {
  return messages.filter(({ role }) => role === 'user').length;
}

/** Who asked, and who answered, as the log of a thread has it. */
export function peopleIn({ events }: AgentThread): unknown[] {
  return events.flatMap((event) =>
    event.type === 'message-added' || event.type === 'request-answered'
      ? [[event.type, event.principal, event.channel]]
      : [],
  );
}

/** Approves the booking of the city, or the only one. */
export function approvalIn(
  { activeApprovalRequests }: AgentThread,
  city?: string,
): ApprovalResponseContent {
  const input = z.object({ city: z.literal(city) });
  const isMeant = (request: ApprovalRequestContent): boolean =>
    city === undefined || input.safeParse(request.toolCall?.input).success;
  const request = activeApprovalRequests.find(isMeant);
  if (request === undefined) throw new Error('Nothing is asked.');
  return request.approve();
}
