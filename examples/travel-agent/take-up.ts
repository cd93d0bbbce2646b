import { setTimeout } from 'node:timers/promises';
import { type AgentThread, inertLine, type SettledOutcome, type ToolCallRecord } from 'holdpoint';
import type { Conversation } from './conversation.ts';
import { Left, type Person } from './person.ts';

/** Takes up a thread that another process may have been killed at: after that, `run([], thread)` goes on. */
export async function takeUp({ agent, thread, person }: Conversation): Promise<void> {
  await becomesFree(thread, person);
  const unknown = thread.calls.filter(({ status }) => status === 'indeterminate');
  for (const call of unknown) {
    await agent.settle(thread, call.toolCallId, await howItEnded(call, person));
  }
}

/* A run holds its thread for some seconds more than it lives. */
async function becomesFree(thread: AgentThread, person: Person): Promise<void> {
  if (thread.status === 'running') person.hears('', 'That was cut off at work. Taking it up …');
  while (thread.status === 'running') {
    if (person.signal.aborted) throw new Left();
    await setTimeout(100);
  }
}

/* Nobody but a person can know: the process ended between the start of the call and the record of its result. */
async function howItEnded(call: ToolCallRecord, person: Person): Promise<SettledOutcome> {
  const { toolName, input, idempotencyKey = '' } = call;
  person.hears(
    '',
    'This call was cut off, and whether it happened is unknown:',
    `  ${inertLine(toolName)} ${inertLine(JSON.stringify(input))}`,
    `In bookings.jsonl its key would be ${inertLine(idempotencyKey)}.`,
  );
  for (;;) {
    switch (await person.picks('How did it end?', ['It happened', 'It did not', 'Try it again'])) {
      case 'It happened':
        return {
          status: 'succeeded',
          output: { confirmation: await person.types('Its confirmation: ') },
        };
      case 'It did not':
        return { status: 'failed', error: 'The booking was cut off, and nothing was booked.' };
      case 'Try it again':
        return { status: 'retry' };
    }
  }
}
