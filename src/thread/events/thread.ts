import { z } from 'zod';
import { always, parentSchema } from './fields.ts';
import { type HeadDraft, makeTamperedError } from './head-draft.ts';

/* The thread itself: that it exists, and whose it is. */

/**
 * The first event of every thread. `agent` is the name of the agent that the thread belongs to. `parent` is set for a child
 * thread: it is the delegated call that the agent works on.
 */
const threadCreated = z.strictObject({
  type: z.literal('thread-created'),
  ...always,
  threadId: z.string(),
  agent: z.string().optional(),
  parent: parentSchema.optional(),
});

export function applyThreadCreated(
  event: z.infer<typeof threadCreated>,
  { head }: HeadDraft,
): void {
  if (head.created) throw makeTamperedError(event, 'the thread exists already');
  head.created = true;
  head.agent = event.agent;
  head.parent = event.parent;
}

/** The thread belongs to the agent with this name from now on; if absent, to agents without a name. */
const agentChanged = z.strictObject({
  type: z.literal('agent-changed'),
  ...always,
  agent: z.string().optional(),
});

export function applyAgentChanged(event: z.infer<typeof agentChanged>, { head }: HeadDraft): void {
  head.agent = event.agent;
}

export const lifecycleSchemas = [threadCreated, agentChanged] as const;
