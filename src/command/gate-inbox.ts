import { z } from 'zod';
import type { createInboxHandler } from '../channels/inbox.ts';
import type { Gate } from '../channels/mcp.ts';
import { HoldpointError } from '../errors.ts';

/** Whose inbox it is, and what can run from it. */
interface GateInboxOptions {
  gate: Gate;
  principal: unknown;
  /** The servers behind this gate, as `describeServers` names them. */
  servers: string;
}

/** Names the servers behind a gate, at the end of the place of its callers. */
export function describeServers({
  name,
  upstreams,
}: {
  name: string;
  upstreams: Readonly<Record<string, unknown>>;
}): string {
  return `(${name}: ${Object.keys(upstreams).toSorted().join(', ')})`;
}

const callSchema = z.object({
  content: z.tuple([
    z.object({
      providerOptions: z.object({
        holdpoint: z.object({ gate: z.object({ place: z.string() }) }),
      }),
    }),
  ]),
});

/**
 * The options of the inbox of a gate. It shows the requests of all gates of the store with this name, and takes answers to all of them; but it
 * runs only calls of this gate's own servers: another gate's server may have tools of the same names.
 */
export function makeGateInbox({
  gate,
  principal,
  servers,
}: GateInboxOptions): Parameters<typeof createInboxHandler>[0] {
  const isOwn = async (threadId: string): Promise<boolean> => {
    const { messages } = await gate.agent.thread(threadId);
    const { data } = callSchema.safeParse(messages[0]);
    const { place } = data?.content[0].providerOptions.holdpoint.gate ?? {};
    return place?.endsWith(servers) === true;
  };
  return {
    agents: gate.agents,
    authorize: () => ({ principal }),
    /* Whoever runs the command can read and write the store. */
    maySee: () => true,
    maySettle: async ({ row: { kind, threadId } }) => kind !== 'stuck-thread' || isOwn(threadId),
    runNow: async (threadId, by) => {
      if (await isOwn(threadId)) return gate.runNow(threadId, by);
      throw new HoldpointError(
        'not-allowed',
        'The gate that serves this page is in front of other servers, so that it can not run this call. Let its client call again.',
      );
    },
  };
}
